# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""A peer that is no NFS server. Prints its port, then misbehaves as told:

silent: accepts and never says a word     http: answers like a web server
close:  accepts and closes                full: its backlog is full, so a SYN is never answered
"""
import select
import socket
import sys
import time

mode = sys.argv[1]
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(0 if mode == "full" else 16)
address = listener.getsockname()
held = []
full = mode != "full"
while not full:  # until one is left without an answer
    filler = socket.socket()
    filler.setblocking(False)
    filler.connect_ex(address)
    held.append(filler)
    full = not select.select([], [filler], [], 0.5)[1]
print(address[1], flush=True)
while mode == "full":
    time.sleep(1)
while True:
    peer, _ = listener.accept()
    if mode == "close":
        peer.close()
        continue
    held.append(peer)
    if mode == "http":
        peer.recv(1)
        peer.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n" + b"x" * 200)
