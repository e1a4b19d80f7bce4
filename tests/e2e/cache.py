# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""cache.py STEP MOUNT OTHER: what the programs do in tests/e2e/cache."""
import fcntl
import mmap
import os
import random
import struct
import sys
import threading

MIB = 1 << 20
PAGE = mmap.PAGESIZE
RW = os.O_RDWR | os.O_CREAT
a, b = sys.argv[2:]  # where the first and the second daemon are mounted


def pattern(size, seed):
    return random.Random(seed).randbytes(size)


def make(name, size, seed):
    """A file made by the other mount. Returns its bytes."""
    data = pattern(size, seed)
    with open(f"{b}/{name}", "wb") as f:
        f.write(data)
    return data


def forget(fd):
    """The kernel drops its pages of the file."""
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)


def read_all(fd, size):
    return b"".join(os.pread(fd, 1 << 17, off) for off in range(0, size, 1 << 17))


def forward():
    data = make("forward", 8 * MIB, 1)
    fd = os.open(f"{a}/forward", os.O_RDONLY)
    assert read_all(fd, 8 * MIB) == data
    os.close(fd)


def again():
    data = make("again", 2 * MIB, 2)
    fd = os.open(f"{a}/again", os.O_RDONLY)
    for _ in range(10):
        assert read_all(fd, 2 * MIB) == data
        forget(fd)
    os.close(fd)


def scattered():
    data = make("scattered", 64 * MIB, 3)
    fd = os.open(f"{a}/scattered", os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    dice = random.Random(4)
    for _ in range(200):
        off = dice.randrange(1, 64 * MIB // PAGE) * PAGE
        assert os.pread(fd, PAGE, off) == data[off : off + PAGE]
    os.close(fd)


def backward():
    data = make("backward", 8 * MIB, 7)
    fd = os.open(f"{a}/backward", os.O_RDONLY)
    for off in range(8 * MIB - (1 << 16), -1, -(1 << 16)):
        assert os.pread(fd, 1 << 16, off) == data[off : off + (1 << 16)], off
    os.close(fd)


def strided():
    """200 pages, equally far from each other, forward and then others backward."""
    data = make("strided", 64 * MIB, 8)
    fd = os.open(f"{a}/strided", os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    step = 160 * PAGE
    for off in [*range(PAGE, 100 * step, step), *range(101 * step, step, -step)]:
        assert os.pread(fd, PAGE, off) == data[off : off + PAGE], off
    os.close(fd)


def reopened():
    for turn in range(20):
        data = make("reopened", MIB + turn * 1000, turn)
        with open(f"{a}/reopened", "rb") as f:
            assert f.read() == data
        fd = os.open(f"{b}/reopened", os.O_RDWR)
        os.pwrite(fd, b"changed", turn * 50000)
        os.close(fd)
        with open(f"{a}/reopened", "rb") as f:
            got = f.read()
        assert got[turn * 50000 :][:7] == b"changed", turn


def locked():
    """A counter on each of many pages, which only its lock's holder reads and writes."""
    make("locked", MIB, 5)
    os.truncate(f"{b}/locked", 0)
    os.truncate(f"{b}/locked", MIB)

    def work(mount):
        fd = os.open(f"{mount}/locked", os.O_RDWR)
        for turn in range(40):
            fcntl.lockf(fd, fcntl.LOCK_EX)
            for page in range(0, 256, 16):
                n = struct.unpack("Q", os.pread(fd, 8, page * PAGE))[0]
                os.pwrite(fd, struct.pack("Q", n + 1), page * PAGE)
            os.fsync(fd)
            fcntl.lockf(fd, fcntl.LOCK_UN)
        os.close(fd)
        os._exit(0)

    children = []
    for mount in (a, b):
        pid = os.fork()
        if not pid:
            try:
                work(mount)
            finally:
                os._exit(1)
        children.append(pid)
    for pid in children:
        assert os.waitpid(pid, 0)[1] == 0
    fd = os.open(f"{a}/locked", os.O_RDONLY)
    for page in range(0, 256, 16):
        assert struct.unpack("Q", os.pread(fd, 8, page * PAGE))[0] == 80, page
    os.close(fd)


class Exercise:
    """A file of up to MOST bytes, larger than the cache, beside the same bytes in memory."""

    MOST = 20 * MIB

    def __init__(self, path):
        self.fd = os.open(path, RW)
        self.second = os.open(path, os.O_RDWR)
        self.append = os.open(path, os.O_WRONLY | os.O_APPEND)
        self.source = os.open(path + ".source", RW)
        self.given = pattern(MIB, 6)
        os.pwrite(self.source, self.given, 0)
        self.data = bytearray()

    def put(self, off, piece):
        if off > len(self.data):
            self.data.extend(bytes(off - len(self.data)))
        self.data[off : off + len(piece)] = piece

    def step(self, dice):
        off = dice.randrange(len(self.data) + 1)
        size = dice.choice((1, 100, PAGE, 50000, 200000, MIB))
        what = dice.randrange(14)
        fd = dice.choice((self.fd, self.second))
        if what < 5:
            assert os.pread(fd, size, off) == bytes(self.data[off : off + size]), (off, size)
        elif what < 7:  # a stream, from somewhere on
            for at in range(off, min(off + 3 * MIB, len(self.data)), 1 << 17):
                assert os.pread(fd, 1 << 17, at) == bytes(self.data[at : at + (1 << 17)]), at
        elif what < 9:
            off = min(off + dice.choice((0, 0, 100000)), self.MOST)
            piece = dice.randbytes(min(size, self.MOST - off))
            assert os.pwrite(fd, piece, off) == len(piece)
            self.put(off, piece)
        elif what == 9:
            if len(self.data) + size < self.MOST:
                piece = dice.randbytes(size)
                assert os.write(self.append, piece) == size
                self.put(len(self.data), piece)
        elif what == 10:
            os.ftruncate(fd, off)
            del self.data[off:]
        elif what == 11 and self.data:
            with mmap.mmap(fd, 0, prot=mmap.PROT_READ) as m:
                assert m[off : off + size] == bytes(self.data[off : off + size]), (off, size)
        elif what == 12:
            n = os.copy_file_range(self.source, fd, min(size, self.MOST - off) or 1, 0, off) if off < self.MOST else 0
            self.put(off, self.given[:n])
        else:
            forget(fd)


def exercise():
    seed = random.randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    e = Exercise(f"{a}/exercise")
    for n in range(600):
        try:
            e.step(dice)
        except AssertionError:
            print("step", n)
            raise
    os.fsync(e.fd)
    with open(f"{b}/exercise", "rb") as f:  # and the other mount finds the same
        assert f.read() == bytes(e.data)


def readers():
    """Four files, together larger than the cache, and two readers of each that begin at different places."""
    datas = [make(f"readers{i}", 6 * MIB, 10 + i) for i in range(4)]
    wrong = []

    def work(i, start):
        fd = os.open(f"{a}/readers{i}", os.O_RDONLY)
        for turn in range(2):
            for k in range(48):
                off = (start + k) % 48 << 17
                if os.pread(fd, 1 << 17, off) != datas[i][off : off + (1 << 17)]:
                    wrong.append((i, off))
            forget(fd)
        os.close(fd)

    all_ = [threading.Thread(target=work, args=(i, start)) for i in range(4) for start in (0, 20)]
    for t in all_:
        t.start()
    for t in all_:
        t.join()
    assert not wrong, wrong


def by_sends():
    """Requests that one Send answers each: past the cache, and by steps, which it keeps in pieces. b is what is exported."""
    piece = 64 << 10
    data = make("sends", 16 * MIB, 17)
    direct = os.open(f"{a}/sends", os.O_RDONLY | os.O_DIRECT)
    block = mmap.mmap(-1, piece)
    for n in (piece, PAGE):
        for off in range(0, 100 * n, n):
            assert os.preadv(direct, [memoryview(block)[:n]], off) == n
            assert block[:n] == data[off:off + n]
    fd = os.open(f"{a}/sends", os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    for _ in range(3):
        for off in range(0, 16 * MIB, 4 * piece):
            assert os.pread(fd, piece, off) == data[off:off + piece]
        forget(fd)
    os.close(fd)
    os.close(direct)


globals()[sys.argv[1]]()
