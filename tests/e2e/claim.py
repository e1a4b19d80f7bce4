# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""claim.py PROTO PORT UID AS: connects as user UID and asks in the name of user AS, over NFSv3, whether
the file /file may be read. Exit status 0: it may and says "secret"; 3: it may not.

Over iwarp the messages are inline RPC-over-RDMA in DDP untagged segments, see MPA."""
import os
import socket
import struct
import sys


class Tcp:
    def __init__(self, port, source=None):
        self.s = socket.socket()
        self.s.settimeout(20)
        if source:
            self.s.bind((source, 0))
        self.s.connect(("127.0.0.1", port))

    def exactly(self, n):
        got = b""
        while len(got) < n:
            more = self.s.recv(n - len(got))
            if not more:
                raise EOFError("the server closed the connection")
            got += more
        return got

    def send(self, xid, rpc):
        self.s.sendall(struct.pack(">I", 0x80000000 | len(rpc)) + rpc)

    def receive(self):
        (mark,) = struct.unpack(">I", self.exactly(4))
        return self.exactly(mark & 0x7fffffff)


class Iwarp(Tcp):
    """MPA revision 1 without markers and CRC; each call in one segment."""
    def __init__(self, port, source=None):
        super().__init__(port, source)
        self.s.sendall(b"MPA ID Req Frame" + bytes([0, 1, 0, 0]))
        head = self.exactly(20)
        if head[:16] != b"MPA ID Rep Frame" or head[16] & 0x20:
            raise EOFError("the server rejected the connection")
        self.exactly(struct.unpack(">H", head[18:20])[0])
        self.msn = 0
        self.sink = 0  # bytes of the Write chunk that calls offer

    def send(self, xid, rpc):
        self.msn += 1
        # RDMA_MSG, 60 credits; no Read chunks, a Write chunk if something is to be written, no Reply chunk
        chunk = struct.pack(">IIIIQ", 1, 1, 0x1234, self.sink, 0) if self.sink else b""
        header = struct.pack(">IIIII", xid, 1, 60, 0, 0) + chunk + struct.pack(">II", 0, 0)
        # DDP: untagged, last, version 1; RDMAP: version 1, Send; queue 0, MSN, offset 0
        ddp = bytes([0x41, 0x43]) + struct.pack(">IIII", 0, 0, self.msn, 0) + header + rpc
        fpdu = struct.pack(">H", len(ddp)) + ddp
        fpdu += b"\0" * (-len(fpdu) % 4) + b"\0\0\0\0"
        self.s.sendall(fpdu)

    def receive(self):
        message = b""
        while True:
            head = self.exactly(2)
            (n,) = struct.unpack(">H", head)
            ddp = self.exactly(n)
            self.exactly(-(n + 2) % 4 + 4)
            message += ddp[18:]
            if ddp[0] & 0x40:
                return message[28:]


def send_call(c, xid, prog, vers, proc, args, uid):
    cred = struct.pack(">IIIII", 0, 0, uid, uid, 0)  # stamp, no machine name, no groups
    rpc = struct.pack(">IIIIIIII", xid, 0, 2, prog, vers, proc, 1, len(cred)) + cred
    c.send(xid, rpc + struct.pack(">II", 0, 0) + args)


def call(c, xid, prog, vers, proc, args, uid):
    send_call(c, xid, prog, vers, proc, args, uid)
    reply = c.receive()
    if struct.unpack(">III", reply[:12]) != (xid, 1, 0):
        raise ValueError("refused: %r" % reply)
    (verf,) = struct.unpack(">I", reply[16:20])
    body = reply[20 + verf:]
    if body[:4] != b"\0\0\0\0":
        raise ValueError("accept_stat: %r" % body[:4])
    return body[4:]


def opaque(b):
    return struct.pack(">I", len(b)) + b + b"\0" * (-len(b) % 4)


def take_fh(b):
    (n,) = struct.unpack(">I", b[:4])
    return b[4:4 + n]


def root(c, uid):
    b = call(c, 1, 100005, 3, 1, opaque(b"/"), uid)
    return take_fh(b[4:]) if b[:4] == b"\0\0\0\0" else None


def lookup(c, directory, name, uid):
    b = call(c, 2, 100003, 3, 3, opaque(directory) + opaque(name), uid)
    return take_fh(b[4:]) if b[:4] == b"\0\0\0\0" else None


def read(c, fh, uid):
    b = call(c, 3, 100003, 3, 6, opaque(fh) + struct.pack(">QI", 0, 100), uid)
    return b if b[:4] == b"\0\0\0\0" else None


if __name__ == "__main__":
    proto, port, owner, claimed = sys.argv[1], *map(int, sys.argv[2:5])
    os.setgroups([])
    os.setgid(owner)
    os.setuid(owner)
    conn = (Tcp if proto == "tcp" else Iwarp)(port)
    top = root(conn, claimed)
    fh = top and lookup(conn, top, b"file", claimed)
    data = fh and read(conn, fh, claimed)
    if not data or b"secret" not in data:
        sys.exit(3)
