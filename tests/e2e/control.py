# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
control.py: looks at what commands print about a mount, and is a peer of a daemon's socket that means harm.

    control.py state MOUNT             the state that `rnfs list --json` on standard input tells of MOUNT
    control.py holds EXPRESSION        exits with 0 if the Python expression holds for s, the JSON on standard input
    control.py metrics                 holds standard input against the rules of Prometheus's text format
    control.py flood SOCKET SECONDS    connections, requests and lines without end
    control.py mute SOCKET N FILE      N connections that say nothing and N that read nothing, until FILE is gone
    control.py refused SOCKET          exits with 0 if the daemon says that this user may not ask
"""
import json
import os
import re
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


def holds(expression):
    s = json.load(sys.stdin)
    if eval(expression, {"s": s}):
        return 0
    print(json.dumps(s, indent=1))
    return 1


HEAD = re.compile(r"# (HELP|TYPE) (rnfs_[a-z_]+) (.+)")
SAMPLE = re.compile(r'(rnfs_[a-z_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\n"])*",?)*)\} (\d+(?:\.\d+)?)')
LABEL = re.compile(r'([a-z_]+)="((?:[^"\\]|\\.)*)"')
UNITS = ("_total", "_seconds", "_bytes", "_info", "rpc_calls_under_way", "credits", "session_slots", "inodes", "open_files", "connections", "_up")


def metrics():
    kinds, helps, samples = {}, {}, {}
    text = sys.stdin.buffer.read().decode("utf-8")  # strictly
    assert text.endswith("\n")
    for line in text[:-1].split("\n"):
        if head := HEAD.fullmatch(line):
            known = helps if head[1] == "HELP" else kinds
            assert head[2] not in known, line
            known[head[2]] = head[3]
            continue
        sample = SAMPLE.fullmatch(line)
        assert sample, line
        labels = dict(LABEL.findall(sample[2]))
        assert "mountpoint" in labels, line
        base = re.sub("_(bucket|sum|count)$", "", sample[1])
        name = base if kinds.get(base) == "histogram" else sample[1]
        assert name in kinds and name == list(kinds)[-1] and name in helps, line
        key = (sample[1], labels.pop("le", None), tuple(labels.items()))
        assert key not in samples, line
        samples[key] = float(sample[3])
    for name, kind in kinds.items():
        assert kind in ("counter", "gauge", "histogram") and name.endswith(UNITS), name
        assert (kind == "counter") == name.endswith("_total"), name
        if kind != "histogram":
            continue
        for labels in {k[2] for k in samples if k[0] == name + "_count"}:
            buckets = [(float(k[1]), n) for k, n in samples.items() if k[0] == name + "_bucket" and k[2] == labels]
            assert buckets == sorted(buckets) and [n for _, n in buckets] == sorted(n for _, n in buckets), (name, labels)
            assert buckets[-1] == (float("inf"), samples[name + "_count", None, labels]), (name, labels)
            assert samples[name + "_sum", None, labels] >= 0
    assert any(k[0] == "rnfs_request_duration_seconds_count" and n for k, n in samples.items())
    print(len(samples), "samples")


def flood(path, seconds):
    end = time.monotonic() + float(seconds)
    lines = [b"x" * 100000, b"hello\n" * 1000, b"\0\n", b"stat\n", b"trace\n", b"top interval_ms=100\n", b"\n", b"hello" + b" " * 500 + b"\n"]
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
