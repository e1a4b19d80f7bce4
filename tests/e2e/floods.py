# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""floods.py PROTO PORT ATTACK [COUNT]: takes as much of a server as it can. Says "ready" when it has, and
keeps it until its standard input ends.

unread    COUNT connections ask for a megabyte 60 times each and read nothing
nlm       COUNT hosts lock a byte each, over one connection, which is closed then
polite    COUNT connections make a call each and stay
half      COUNT connections never say a word
fresh     COUNT client IDs, not confirmed
clients   COUNT client IDs, each with as large a session as there is
ranges    one host locks COUNT bytes apart from each other

With SOURCES=N in the environment connections come from N addresses of this machine in turn, and clients
from a connection of each; with FLOOD_AS=UID they are that user's.
"""
import os
import struct
import sys

from claim import Iwarp, Tcp, call, lookup, opaque, root, send_call

proto, port, attack = sys.argv[1], int(sys.argv[2]), sys.argv[3]
count = int(sys.argv[4]) if len(sys.argv) > 4 else 1
if "FLOOD_AS" in os.environ:
    as_user = int(os.environ["FLOOD_AS"])
    os.setgroups([])
    os.setgid(as_user)
    os.setuid(as_user)
me = os.getuid()
sources = int(os.environ.get("SOURCES", 0))
held = []


def dial():
    n = len(held) % sources if sources else 0
    source = "127.0.%d.%d" % (1 + n // 250, 1 + n % 250) if sources else None
    c = (Tcp if proto == "tcp" else Iwarp)(port, source)
    held.append(c)
    return c


def file_handle(c):
    return lookup(c, root(c, me), b"file", me)


def unread(c, fh):
    """Until the server takes no more."""
    c.sink = 1 << 20
    c.s.settimeout(0.3)
    try:
        for xid in range(60):
            send_call(c, 100 + xid, 100003, 3, 6, opaque(fh) + struct.pack(">QI", 0, 1 << 20), me)
    except OSError:
        pass


def nlm_lock(c, fh, host, offset):
    lock = opaque(host) + opaque(fh) + opaque(b"owner") + struct.pack(">IQQ", 7, offset, 1)
    args = opaque(b"cookie") + struct.pack(">II", 0, 0) + lock + struct.pack(">II", 0, 0)
    call(c, 9, 100021, 4, 2, args, me)


def compound(c, op, args):
    """The result of one operation of NFSv4.1, or None if it failed."""
    b = call(c, 5, 100003, 4, 1, struct.pack(">IIII", 0, 1, 1, op) + args, me)
    if b[:4] != bytes(4):
        return None
    return b[20:]


def exchange_id(c, owner):
    args = b"verifier" + opaque(owner) + struct.pack(">III", 0, 0, 0)
    return compound(c, 42, args)


def create_session(c, b):
    clientid, seq = b[:8], b[8:12]
    channel = struct.pack(">IIIIIII", 0, 1 << 20, 1 << 20, 4096, 64, 128, 0)
    back = struct.pack(">IIIIIII", 0, 4096, 4096, 0, 2, 1, 0)
    compound(c, 43, clientid + seq + struct.pack(">I", 0) + channel + back + struct.pack(">III", 0x40000000, 1, 0))


def clients(confirm):
    conns = [dial() for _ in range(max(sources, 1))]
    for i in range(count):
        c = conns[i % len(conns)]
        b = exchange_id(c, b"flood %d" % i)
        if b and confirm:
            create_session(c, b)


def many(fn):
    for _ in range(count):
        try:
            fn(dial())
        except (EOFError, OSError):
            pass  # it is the server's right


if attack == "unread":
    handle = file_handle(dial())
    many(lambda c: unread(c, handle))
elif attack == "nlm":
    conn = dial()
    handle = file_handle(conn)
    for n in range(count):
        nlm_lock(conn, handle, b"host%d" % n, 1000 + n * 2)
    conn.s.close()
elif attack == "ranges":
    conn = dial()
    handle = file_handle(conn)
    for n in range(count):
        nlm_lock(conn, handle, b"host", 1000 + n * 2)
elif attack == "polite":
    many(lambda c: call(c, 1, 100003, 3, 0, b"", me))
elif attack == "half":
    import socket
    for _ in range(count):
        s = socket.socket()
        s.settimeout(5)
        held.append(s)
        try:
            s.connect(("127.0.0.1", port))
        except OSError:
            pass
else:
    clients(attack == "clients")
print("ready", flush=True)
sys.stdin.read()
