# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Peers that are no good: clients that flood a server or send it garbage, a server that answers with it."""
import os
import random
import select
import socket
import struct
import threading
import time

NFS, MOUNT, NLM = 100003, 100005, 100021
MPA_REQUEST = b"MPA ID Req Frame" + bytes([0, 1]) + struct.pack(">H", 0)


def call(xid, program, version, procedure, body=b""):
    """One RPC over TCP, with AUTH_SYS of root."""
    cred = struct.pack(">II", 0, 4) + b"soak" + struct.pack(">III", 0, 0, 0)
    message = struct.pack(">IIIIII", xid, 0, 2, program, version, procedure)
    message += struct.pack(">II", 1, len(cred)) + cred + struct.pack(">II", 0, 0) + body
    return struct.pack(">I", 0x80000000 | len(message)) + message


def over_iwarp(record, number):
    """The same as the number-th message, from 1 on, of an iWARP connection: RPC-over-RDMA in an untagged DDP
    segment in an FPDU without CRC (RFC 8166, 5041, 5044)."""
    message = struct.pack(">4sIIIIII", record[4:8], 1, 64, 0, 0, 0, 0) + record[4:]
    segment = struct.pack(">BBIIII", 0x41, 0x43, 0, 0, number, 0) + message
    return struct.pack(">H", len(segment)) + segment + bytes(-(len(segment) + 2) % 4) + bytes(4)


def opaque(data):
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


def mount_root(port, address):
    """The handle of the export's root, by MOUNT over TCP."""
    with connect(port, address) as s:
        s.settimeout(5)
        s.sendall(call(1, MOUNT, 3, 1, opaque(b"/")))
        answer = receive(s)
        (status,) = struct.unpack_from(">I", answer, 24)
        if status:
            raise OSError(status, "MOUNT")
        (size,) = struct.unpack_from(">I", answer, 28)
        return answer[32:32 + size]


def receive(s):
    def exactly(n):
        data = b""
        while len(data) < n:
            piece = s.recv(n - len(data))
            if not piece:
                raise OSError("closed")
            data += piece
        return data
    (mark,) = struct.unpack(">I", exactly(4))
    return exactly(mark & 0x7FFFFFFF)


def connect(port, address):
    s = socket.socket()
    try:
        s.bind((address, 0))
        s.settimeout(5)
        s.connect(("127.0.0.1", port))
    except OSError:
        s.close()
        raise
    return s


class Peer(threading.Thread):
    """Does its work again and again until .stop()."""
    protos = ("tcp", "iwarp")

    def __init__(self, port, proto, seed, address="127.0.0.2"):
        super().__init__(daemon=True)
        self.port, self.proto, self.address = port, proto, address
        self.random = random.Random(seed)
        self.running = True
        self.did = 0
        self.held = []

    def run(self):
        while self.running:
            try:
                self.work()
                self.did += 1
            except OSError:
                time.sleep(0.05)
        for s in self.held:
            s.close()

    def stop(self):
        self.running = False
        self.join(10)


class Unread(Peer):
    """Connections, each of which asks a lot and never reads an answer."""
    most = 60

    def work(self):
        if len(self.held) >= self.most:
            for s in self.held:
                self.push(s)
            time.sleep(0.05)
            return
        s = connect(self.port, self.address)
        self.held.append(s)
        s.setblocking(False)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        if self.proto == "iwarp":
            s.send(MPA_REQUEST)
            select.select([s], [], [], 5)
            s.recv(64)
            body = opaque(bytes(28))
            for i in range(64):
                s.send(over_iwarp(call(i, NFS, 3, 1, body), i + 1))
        self.push(s)

    def push(self, s):
        try:
            while self.proto == "tcp" and select.select([], [s], [], 0)[1]:
                s.send(self.request() * 16)
        except BlockingIOError:
            pass
        except OSError:
            self.held.remove(s)
            s.close()

    def request(self):
        """READDIRPLUS, or READ, of the root."""
        if not hasattr(self, "root"):
            self.root = mount_root(self.port, self.address)
        body = opaque(self.root) + bytes(16) + struct.pack(">II", 65536, 1 << 20)
        return call(self.random.randrange(1 << 32), NFS, 3, 17, body)


class Connections(Peer):
    """As many polite connections as it gets, which do nothing."""
    most = 400

    def work(self):
        if len(self.held) < self.most:
            self.held.append(connect(self.port, self.address))
        else:
            time.sleep(0.05)


class Locks(Peer):
    """NLM locks by the thousand, on a connection that then goes."""
    protos = ("tcp",)

    def work(self):
        root = mount_root(self.port, self.address)
        with connect(self.port, self.address) as s:
            for i in range(1024):
                owner = struct.pack(">QI", i, self.random.randrange(1 << 32))
                lock = opaque(b"flood%d" % (i % 7)) + opaque(root) + opaque(owner) + struct.pack(">iQQ", i, i, 1)
                body = opaque(struct.pack(">I", i)) + struct.pack(">II", 0, 1) + lock + struct.pack(">II", 0, 0)
                s.sendall(call(i + 1, NLM, 4, 2, body))
            s.settimeout(1)
            try:
                for _ in range(1024):
                    receive(s)
            except OSError:
                pass


class Calls(Peer):
    """Reads its answers, but asks without a pause."""

    def work(self):
        with connect(self.port, self.address) as s:
            if self.proto == "tcp":
                root = mount_root(self.port, self.address)
                for _ in range(20):
                    s.sendall(b"".join(call(self.random.randrange(1 << 32), NFS, 3, 1, opaque(root)) for _ in range(64)))
                    for _ in range(64):
                        receive(s)
            else:
                s.sendall(MPA_REQUEST)
                s.recv(64)
                s.sendall(b"".join(over_iwarp(call(i, NFS, 3, 1, opaque(bytes(28))), i + 1) for i in range(32)))
                s.recv(65536)


class Garbage(Peer):
    """A client that sends what is none of its business: noise, headers with wild lengths, half-true calls."""

    def work(self):
        with connect(self.port, self.address) as s:
            s.settimeout(0.3)
            try:
                if self.proto == "iwarp" and self.random.random() < 0.7:
                    s.sendall(MPA_REQUEST)
                    s.recv(64)
                for _ in range(self.random.randrange(1, 6)):
                    s.sendall(self.noise())
                s.recv(4096)
            except OSError:
                pass

    def noise(self):
        r = self.random
        kind = r.randrange(5)
        if kind == 0:
            return r.randbytes(r.choice((1, 20, 300, 5000)))
        if kind == 1:
            return struct.pack(">I", r.choice((0, 0x80000000, 0xFFFFFFFF, 0x7FFFFFFF, 0x80000004))) + r.randbytes(40)
        body = bytearray(call(r.randrange(1 << 32), r.choice((NFS, MOUNT, NLM, 0x40000000)), r.choice((1, 3, 4)),
                              r.randrange(24), r.randbytes(4 * r.randrange(60))))
        if kind == 2:
            for _ in range(r.randrange(1, 5)):
                body[r.randrange(4, len(body))] = r.randrange(256)
        if kind == 3:
            at = 4 * r.randrange(1, len(body) // 4)
            body[at:at + 4] = struct.pack(">I", r.choice((0, 1, 0xFFFFFFFF, 0x7FFFFFFF, 65536)))
        if self.proto == "iwarp":  # an untagged DDP segment in an FPDU, with or without a true length
            frame = bytearray(over_iwarp(body, r.choice((1, 1, 1, 0, 2))))
            if r.random() < 0.7:
                frame[r.randrange(min(len(frame), 60))] = r.randrange(256)
            return bytes(frame)
        return bytes(body)


class BadServer:
    """Accepts, and answers whatever comes with noise of nearly the right form."""

    def __init__(self, proto, seed):
        self.proto, self.random = proto, random.Random(seed)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                s, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(s,), daemon=True).start()

    def answer(self, s):
        r = self.random
        try:
            with s:
                if self.proto == "iwarp" and s.recv(4096):
                    s.sendall(b"MPA ID Rep Frame" + bytes([r.choice((0, 0x40)), 1]) + struct.pack(">H", r.choice((0, 0, 4))))
                while True:
                    asked = s.recv(65536)
                    if not asked:
                        return
                    reply = asked[4:8] + struct.pack(">IIIII", 1, 0, 0, 0, r.choice((0, 0, 0, 1, 5)))
                    reply += struct.pack(">I", r.choice((0, 0, 10008, 70))) + os.urandom(4 * r.randrange(100))
                    s.sendall(struct.pack(">I", 0x80000000 | len(reply)) + reply if r.random() < 0.9 else os.urandom(300))
        except OSError:
            pass

    def stop(self):
        self.listener.close()


FLOODS = {c.__name__.lower(): c for c in (Unread, Connections, Locks, Calls)}
