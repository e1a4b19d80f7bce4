# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""A TCP proxy between a mount and its server, for what happens to links: it falls silent, cuts in the middle of a
message, mutates what passes."""
import random
import socket
import struct
import threading


class Proxy:
    """.mutate: how often a piece is mutated on its way ("up": to the server, "down": to the client)."""

    def __init__(self, port, seed):
        self.random = random.Random(seed)
        self.target = port
        self.mutate = {"up": 0.0, "down": 0.0}
        self.mutated = 0
        self.lock = threading.Lock()
        self.silent = set()  # connections on which nothing moves any more
        self.pairs = []
        self.open = True
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while self.open:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.target), 5)
                far.settimeout(None)
            except OSError:
                near.close()
                continue
            for s in (near, far):
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            pair = (near, far)
            with self.lock:
                self.pairs.append(pair)
            for source, sink, way in ((near, far, "up"), (far, near, "down")):
                threading.Thread(target=self.pump, args=(pair, source, sink, way), daemon=True).start()

    def pump(self, pair, source, sink, way):
        try:
            while True:
                piece = source.recv(65536)
                if pair in self.silent:
                    return  # and leaves both ends open
                if not piece:
                    break
                sink.sendall(self.mutation(piece, way))
        except OSError:
            pass
        if pair not in self.silent:
            self.close(pair)

    def mutation(self, piece, way):
        with self.lock:
            if self.random.random() >= self.mutate[way]:
                return piece
            self.mutated += 1
            piece = bytearray(piece)
            at = self.random.randrange(min(len(piece), 400) if self.random.random() < 0.7 else len(piece))
            how = self.random.choice(("bit", "byte", "word", "word", "cut", "double", "swap"))
            if how == "bit":
                piece[at] ^= 1 << self.random.randrange(8)
            elif how == "byte":
                piece[at] = self.random.randrange(256)
            elif how == "word":
                at &= ~3
                value = self.random.choice((0, 1, 2, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 4096, 0xFFFFFFFC))
                piece[at:at + 4] = struct.pack(">I", value)
            elif how == "cut":
                del piece[at:at + self.random.choice((1, 4, 16))]
            elif how == "double":
                piece[at:at] = piece[at:at + self.random.choice((4, 8, 64))]
            else:
                piece[at:at + 8] = piece[at:at + 8][::-1]
            return bytes(piece)

    def close(self, pair, abruptly=False):
        with self.lock:
            if pair in self.pairs:
                self.pairs.remove(pair)
        for s in pair:
            try:
                if abruptly:
                    s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            s.close()

    def fall_silent(self):
        """The links of now are dead from here on, and neither end is told; new ones work."""
        with self.lock:
            self.silent.update(self.pairs)
            return len(self.pairs)

    def cut(self):
        with self.lock:
            pairs = list(self.pairs)
        for pair in pairs:
            self.close(pair, self.random.random() < 0.5)

    def stop(self):
        self.open = False
        try:
            self.listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.listener.close()
        self.cut()
