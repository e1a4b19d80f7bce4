# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""A program that writes, reads, locks and renames below a directory, and checks each byte.

connections.py DIRECTORY ROUNDS [FILE]: so many rounds, which begin to count once FILE is there. Prints the longest round."""
import fcntl
import os
import random
import sys
import time

BLOCK = 4096
FILE_BLOCKS = 2048
LARGE = 1 << 20


def pattern(block, version):
    return (b"%08d %08d " % (block, version)) * (BLOCK // 18 + 1)


class Checked:
    """A file under an exclusive lock, and the version of each of its blocks."""

    def __init__(self, path):
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        fcntl.lockf(self.fd, fcntl.LOCK_EX)
        self.version = [0] * FILE_BLOCKS
        os.pwrite(self.fd, b"".join(pattern(b, 0)[:BLOCK] for b in range(FILE_BLOCKS)), 0)

    def write(self, version):
        block = random.randrange(FILE_BLOCKS)
        os.pwrite(self.fd, pattern(block, version)[:BLOCK], block * BLOCK)
        self.version[block] = version

    def check(self, block, n=1):
        got = os.pread(self.fd, n * BLOCK, block * BLOCK)
        want = b"".join(pattern(b, self.version[b])[:BLOCK] for b in range(block, block + n))
        assert got == want, "block %d: %r, not %r" % (block, got[:18], want[:18])

    def drop(self):
        """Has the next reads ask the server."""
        os.fsync(self.fd)
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)


def one_round(directory, checked, large, i):
    checked.write(i)
    checked.check(random.randrange(FILE_BLOCKS))
    name = os.path.join(directory, "file-%d" % (i % 7))
    with open(name + ".new", "wb") as f:
        f.write(large[:i * 9973 % LARGE])
    os.rename(name + ".new", name)
    if i % 10 == 0:
        with open(name, "rb") as f:
            assert f.read() == large[:i * 9973 % LARGE], name
        checked.drop()
        checked.check(0, FILE_BLOCKS)


def main(directory, rounds, begin=None):
    checked = Checked(os.path.join(directory, "checked"))
    large = os.urandom(LARGE)
    longest = i = left = 0
    while left < rounds:
        i += 1
        if begin is None or os.path.exists(begin):
            left += 1
        before = time.monotonic()
        one_round(directory, checked, large, i)
        longest = max(longest, time.monotonic() - before)
    print("%d rounds, the longest took %.2f s" % (i, longest))
    for i in range(7):
        os.unlink(os.path.join(directory, "file-%d" % i))
    assert set(os.listdir(directory)) <= {"checked", "recalled"}


main(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
