#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""silent.py HOW ADDRESS PORT: a host that is no server. HOW is silent: connections get no answer, as behind a firewall;
or rude: they are made and closed at once. Prints a line once it is there, and stays until standard input ends."""
import os
import select
import socket
import sys

how, address, port = sys.argv[1:]
family = socket.AF_INET6 if ":" in address else socket.AF_INET
listener = socket.socket(family)
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind((address, int(port)))
listener.listen(0 if how == "silent" else 16)
full = []
if how == "silent":  # the kernel drops connections when the queue is full
    for _ in range(3):
        full.append(socket.socket(family))
        full[-1].setblocking(False)
        full[-1].connect_ex((address, int(port)))
        select.select([], [full[-1]], [], 1)
print("there", flush=True)
while True:
    ready = select.select([sys.stdin] + ([listener] if how == "rude" else []), [], [])[0]
    if sys.stdin in ready and not os.read(0, 1):
        break
    if listener in ready:
        listener.accept()[0].close()
