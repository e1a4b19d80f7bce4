#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""The messages of tests/unit/contrib/rnfs-wire/wire-vecs.h as a capture, and what two programs have read in it.

make VECS PCAP: writes a capture, two connections for each message of version 2: one with the message in one segment of a
Send, one with it in two.
compare VECS WORDS FIELDS: WORDS is what rnfs-wire has printed, FIELDS what tshark has, separated by bars: the number of the
connection, header type of 2019, procedure of 2016, and what marks a header that is wrong."""
import re
import struct
import sys

MPA_REQUEST = b"MPA ID Req Frame\x00\x01\x00\x00"
MPA_REPLY = b"MPA ID Rep Frame\x00\x01\x00\x00"


def vectors(path):
    """(dialect, verdict, bytes, whether the dialect is not found by itself) of version 2."""
    with open(path) as f:
        text = f.read()
    macros = dict(re.findall(r"^#define ([A-Z]\w*)[ \t]+([^\\\n(]+)$", text, re.MULTILINE))

    def words(body):
        for item in body.replace("\n", " ").split(","):
            item = item.strip()
            if item in macros and "," in macros[item]:
                yield from words(macros[item])
            else:
                yield eval(item, {}, {"XID": int(macros["XID"], 0)})  # pylint: disable=eval-used

    for hit in re.finditer(r"\{HEADER_(\w+), HEADER_(\w+),(.*?)\},\n\t(?=\{)", text, re.DOTALL):
        body = re.search(r"WORDS\(([^)]*)\)", hit[3])
        message = b"".join(struct.pack(">I", word) for word in words(body[1]))
        if hit[1].startswith("V2") and message[4:8] == b"\0\0\0\2":
            yield hit[1], hit[2], message, ".found" in hit[3]


def segment(message, offset, last, number):
    ulpdu = struct.pack(">BBIIII", 0x41 if last else 0x01, 0x43, 0, 0, number, offset) + message
    return struct.pack(">H", len(ulpdu)) + ulpdu + bytes(-(len(ulpdu) + 2) % 4) + bytes(4)


class Capture:
    def __init__(self, path):
        self.file = open(path, "wb")
        self.file.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, 101))
        self.time = 0

    def packet(self, ports, seqs, flags, data):
        """From the first of each pair."""
        self.time += 1
        tcp = struct.pack(">HHIIBBHHH", *ports, seqs[0], seqs[1], 0x50, flags, 65535, 0, 0) + data
        ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0, b"\x7f\0\0\1", b"\x7f\0\0\1")
        size = len(ip) + len(tcp)
        self.file.write(struct.pack("<IIII", self.time, 0, size, size) + ip + tcp)

    def connection(self, port, messages):
        """Packets from the client, after those that make the connection."""
        ends, back = (port, 20049), (20049, port)
        self.packet(ends, (100, 0), 0x02, b"")
        self.packet(back, (200, 101), 0x12, b"")
        self.packet(ends, (101, 201), 0x10, b"")
        self.packet(ends, (101, 201), 0x18, MPA_REQUEST)
        self.packet(back, (201, 121), 0x18, MPA_REPLY)
        seq = 121
        for message in messages:
            self.packet(ends, (seq, 221), 0x18, message)
            seq += len(message)


def make(vecs, path):
    capture = Capture(path)
    for i, (_, _, message, _) in enumerate(vectors(vecs)):
        half = max(16, len(message) // 8 * 4)  # a header is known by its beginning
        capture.connection(40000 + 2 * i, [segment(message, 0, True, 1)])
        capture.connection(40001 + 2 * i, [segment(message[:half], 0, False, 1), segment(message[half:], half, True, 1)])
    capture.file.close()


def compare(vecs, words, fields):
    ours, theirs, failed = {}, {}, 0
    with open(words) as f:
        for line in f:
            hit = re.match(r"\S+ 127.0.0.1:(\d+) > [^ ]+: (version.*)", line)
            if hit:
                ours[int(hit[1]) - 40000] = hit[2]
    with open(fields) as f:
        for line in f:
            stream, htype, proc, *wrong = line.rstrip("\n").split("|")
            if htype or proc:
                wrong, guessed, lua = wrong[:2], wrong[2], wrong[3]
                theirs[int(stream)] = ("2016" if proc else "2019", any(wrong), bool(guessed), lua)
    expected = list(vectors(vecs))
    for i in range(2 * len(expected)):
        dialect, verdict, message, lost = expected[i // 2]
        if verdict == "UNKNOWN":
            continue
        us, them = ours.get(i, "nothing"), theirs.get(i, ("nothing", True, False, ""))
        good = us.endswith(", wrong") == them[1] == (verdict == "WRONG") and not them[3]
        # the error of the form that all versions have is of no text
        if verdict == "OK" and not lost and not (len(message) == 28 and message[12:20] == b"\0\0\0\4\0\0\0\1"):
            good = good and ("2016" in us) == (them[0] == "2016") == (dialect == "V2_2016")
            good = good and ("guessed" in us) == them[2]
        if not good:
            failed += 1
            print(f"connection {i} ({dialect}, {verdict}) {message.hex()}:\n  rnfs-wire: {us}\n  dissector: {them}")
    print(f"{len(expected)} messages, {failed} differences")
    return failed or len(expected) < 40


if __name__ == "__main__":
    sys.exit(bool(make(*sys.argv[2:]) if sys.argv[1] == "make" else compare(*sys.argv[2:])))
