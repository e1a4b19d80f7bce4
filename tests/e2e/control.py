# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
control.py: looks at what commands print about a mount, and is a peer of a daemon's socket that means harm.

    control.py state MOUNT             the state that `rnfs list --json` on standard input tells of MOUNT
    control.py flood SOCKET SECONDS    connections, requests and lines without end
    control.py mute SOCKET N FILE      N connections that say nothing and N that read nothing, until FILE is gone
    control.py refused SOCKET          exits with 0 if the daemon says that this user may not ask
"""
import json
import os
import socket
import sys
import time


def connect(path):
    s = socket.socket(socket.AF_UNIX)
    s.connect(path)
    s.settimeout(10)
    return s


def send(s, line):  # the daemon may have hung up
    try:
        s.send(line)
    except OSError:
        pass


def state(mount):
    states = {m["mountpoint"]: m["state"] for m in json.load(sys.stdin)}
    print(states.get(mount, "none"))


def flood(path, seconds):
    end = time.monotonic() + float(seconds)
    lines = [b"x" * 100000, b"hello\n" * 1000, b"\0\n", b"stat\n", b"trace\n", b"top interval=1\n", b"\n", b"hello" + b" " * 500 + b"\n"]
    held = []
    n = 0
    while time.monotonic() < end:
        s = connect(path)
        s.setblocking(False)
        held.append(s)
        send(s, lines[n % len(lines)])
        n += 1
        if len(held) > 100:
            held.pop(0).close()
    print(n, "connections")


def mute(path, count, file):
    held = []
    for _ in range(int(count)):
        for line in (b"", b"trace\n"):
            s = connect(path)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
            send(s, line)
            held.append(s)
    open(file, "w").close()
    while os.path.exists(file):
        time.sleep(0.05)


def refused(path):
    try:
        s = connect(path)
        send(s, b"hello\n")
        answer = s.recv(1000)
    except OSError as e:
        sys.exit(str(e))
    print(answer)
    return not answer.startswith(b"error only the user")


if __name__ == "__main__":
    sys.exit(globals()[sys.argv[1]](*sys.argv[2:]))
