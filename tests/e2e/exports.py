#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""exports.py MODE: a portmapper (TCP and UDP, port 111) with a MOUNT service that lists exports as MODE says, until it is killed.

good: two, one for two clients; nasty: with control characters, a relative path and one with NUL; short: the list breaks off; silent: the
connection is taken and nothing is said; endless: as many as go into a reply that is larger than a client should take. By root."""
import socket
import struct
import sys
import threading


def word(*numbers):
    return struct.pack(f">{len(numbers)}I", *numbers)


def text(b):
    return word(len(b)) + b + bytes(-len(b) % 4)


def export(path, *clients):
    return word(1) + text(path) + b"".join(word(1) + text(c) for c in clients) + word(0)


LISTS = {
    "good": export(b"/srv/data", b"192.0.2.0/24", b"*.example.org") + export(b"/srv/with space") + word(0),
    "nasty": export(b"/a\x1b[2J\nb") + export(b"relative") + export(b"/nul\0x") + export(b"/kept", b"\x1b]0;x\x07") + word(0),
    "short": export(b"/srv/data") + word(1, 100),
    "endless": export(b"/x") * 100000 + word(0),
}


def answer(mode, call):
    xid, _, _, program, _, procedure = struct.unpack_from(">6I", call)
    if procedure == 3 and program == 100000:
        result = word(111)  # all services are here
    elif procedure == 5 and program == 100005:
        result = LISTS[mode]
    else:
        return word(xid, 1, 0, 0, 0, 1)  # no such program
    return word(xid, 1, 0, 0, 0, 0) + result


def serve(mode, c):
    try:
        while mode != "silent" or c.recv(1 << 16):
            mark = c.recv(4, socket.MSG_WAITALL)
            if len(mark) < 4:
                break
            call = c.recv(struct.unpack(">I", mark)[0] & 0x7fffffff, socket.MSG_WAITALL)
            a = answer(mode, call)
            c.sendall(word(0x80000000 | len(a)) + a)
    except OSError:
        pass  # the client has gone
    c.close()


def datagrams(mode, u):
    while True:
        call, peer = u.recvfrom(1 << 16)
        if mode != "silent":
            u.sendto(answer(mode, call), peer)


mode = sys.argv[1]
listener = socket.create_server(("0.0.0.0", 111))
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
udp.bind(("0.0.0.0", 111))
threading.Thread(target=datagrams, args=(mode, udp), daemon=True).start()
print("ready", flush=True)
while True:
    threading.Thread(target=serve, args=(mode, listener.accept()[0]), daemon=True).start()
