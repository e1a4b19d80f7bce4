# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""What a block of a file holds: who wrote it, where, and the how-manieth time, so that any block that is
found tells whether it is the one that was acknowledged."""
import struct
import zlib

BLOCK = 4096  # a page: two mounts that map one file write whole pages
CELL = struct.Struct("<4sIIIQ8x")  # magic, writer, file, block, generation
MAGIC = b"soak"
CELLS = BLOCK // CELL.size
EMPTY = bytes(BLOCK)


def file_number(name):
    return zlib.crc32(name.encode())


def block(writer, name, index, generation):
    return CELL.pack(MAGIC, writer, file_number(name), index, generation) * CELLS


def blocks(writer, name, index, count, generation):
    return b"".join(block(writer, name, index + i, generation) for i in range(count))


def generations(data, writer, name, index):
    """The generations that this block is made of: {0} where nothing was written yet, more than one if it is
    torn, and None among them where bytes are not this writer's for this place."""
    if data == EMPTY[:len(data)]:
        return {0}
    found = set()
    for at in range(0, len(data), CELL.size):
        cell = data[at:at + CELL.size]
        if len(cell) < CELL.size:
            found.add(None)
        elif cell == EMPTY[:CELL.size]:
            found.add(0)
        elif CELL.unpack(cell)[:4] == (MAGIC, writer, file_number(name), index):
            found.add(CELL.unpack(cell)[4])
        else:
            found.add(None)
    return found
