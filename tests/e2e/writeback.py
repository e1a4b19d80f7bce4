# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Writes that are gathered: writeback.py CASE MOUNT EXPORT [ARGUMENT...].
import fcntl
import mmap
import os
import random
import sys
import time

mount, export = sys.argv[2:4]
name = os.path.join(mount, "written")
home = os.path.join(export, "written")
SIZE = 3 << 20
LOST = 1 << 20  # even a daemon with little memory keeps so much without a COMMIT, which would make it safe


def at_home():
    with open(home, "rb") as f:
        return f.read()


def expect(found, should):
    if found == should:
        return
    at = next((i for i, (a, b) in enumerate(zip(found, should)) if a != b), min(len(found), len(should)))
    sys.exit("%d bytes instead of %d, not the same from %d on" % (len(found), len(should), at))


def stream():
    """4 KiB at a time."""
    data = os.urandom(4 << 20)
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for off in range(0, len(data), 4096):
        os.write(fd, data[off:off + 4096])
    os.fsync(fd)
    expect(at_home(), data)


def locked():
    """A transaction, as a data base writes it: under a lock, page after page."""
    data = os.urandom(400 << 10)
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    fcntl.lockf(fd, fcntl.LOCK_EX)
    for off in range(0, len(data), 4096):
        os.pwrite(fd, data[off:off + 4096], off)
    fcntl.lockf(fd, fcntl.LOCK_UN)
    expect(at_home(), data)
    os.close(fd)


def restarted():
    """The server loses what it has not synced, and starts again: nobody notices."""
    data = bytearray(os.urandom(LOST))
    fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.write(fd, data)
    dice = random.Random(1)
    for i in range(200):
        off, piece = dice.randrange(LOST - 5000), os.urandom(dice.randrange(1, 5000))
        os.pwrite(fd, piece, off)
        data[off:off + len(piece)] = piece
    end = time.monotonic() + 60
    while os.stat(home).st_size < LOST and time.monotonic() < end:
        time.sleep(0.1)
    time.sleep(1.5)  # the rest
    print("cut", flush=True)
    sys.stdin.readline()
    for i in range(50):
        off, piece = dice.randrange(LOST - 5000), os.urandom(dice.randrange(1, 5000))
        os.pwrite(fd, piece, off)
        data[off:off + len(piece)] = piece
    os.fsync(fd)
    os.close(fd)
    expect(at_home(), data)


def mapped():
    """Times that are set after a store through a mapping stay; a later store sets them to now."""
    past = 1000000000
    for way in (lambda fd: fd, lambda fd: name):
        fd = os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.write(fd, b"-" * 20000)
        m = mmap.mmap(fd, 20000)
        m[0:1] = m[10000:10001] = b"1"
        os.utime(way(fd), (past, past))
        if os.stat(name).st_mtime != past:
            sys.exit("the times were not set")
        m.flush()
        os.fsync(fd)
        if os.stat(name).st_mtime != past or os.stat(home).st_mtime != past:
            sys.exit("the pages were written after the times were set")
        expect(at_home(), b"1" + b"-" * 9999 + b"1" + b"-" * 9999)
        m[1:2] = b"2"
        m.close()
        os.close(fd)
        if os.stat(name).st_mtime == past:
            sys.exit("a store did not set the times")
        expect(at_home()[:3], b"12-")


def copied():
    """A program copies a tree, with times, while the server is killed now and then: between files, before
    times are set, before a file is closed whose times are set."""
    os.mkdir(os.path.join(mount, "tree"))
    files = {}

    def cut():
        print("cut", flush=True)
        sys.stdin.readline()

    for i in range(60):
        path = "tree/%d" % i
        files[path] = os.urandom(random.Random(i).choice((10, 5000, 300000, 2000000)))
        with open(os.path.join(mount, path), "xb" if i % 2 else "wb", buffering=0) as f:
            for off in range(0, len(files[path]), 131072):
                f.write(files[path][off:off + 131072])
            if i in (20, 41):
                cut()
            os.utime(f.fileno(), (1000000000 + i, 1000000000 + i))
            if i in (30, 51):
                cut()
        if i == 10:
            cut()
    for i, (path, data) in enumerate(files.items()):
        with open(os.path.join(export, path), "rb") as f:
            if int(os.fstat(f.fileno()).st_mtime) != 1000000000 + i:
                sys.exit("%s has another time: %s" % (path, os.fstat(f.fileno()).st_mtime))
            expect(f.read(), data)


def synced():
    """Is killed after this."""
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.write(fd, b"s" * 100000)
    os.fsync(fd)
    os.write(fd, b"u" * 100000)


def full():
    """The disk has less room than is written."""
    small = os.open(name + ".small", os.O_WRONLY | os.O_CREAT)
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    told = None
    try:
        for i in range(40):
            os.write(fd, b"x" * (1 << 20))
    except OSError as e:
        told = e.errno
    try:
        os.fsync(fd)
    except OSError as e:
        told = told or e.errno
    if told != 28:
        sys.exit("told %s" % told)
    try:
        os.close(fd)
    except OSError:
        pass
    # times are set all the same, and that data is lost is told by who closes
    os.write(small, b"x" * 300000)
    os.utime(small, (1000000000, 1000000000))
    if os.stat(home + ".small").st_mtime != 1000000000:
        sys.exit("the times were not set")
    try:
        os.close(small)
        sys.exit("close tells nothing")
    except OSError as e:
        if e.errno != 28:
            sys.exit("close tells %s" % e.errno)
    os.truncate(name, 0)
    with open(name, "wb") as f:  # there is room again
        f.write(b"fits" * 1000)
    expect(at_home(), b"fits" * 1000)


class Model:
    """The file as it should be."""

    def __init__(self, path, dice):
        self.path, self.dice, self.data = path, dice, bytearray()
        self.fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        self.most = 600000

    def piece(self):
        dice = self.dice
        off = dice.randrange(self.most)
        return off, os.urandom(dice.choice((1, 7, 100, 4096, 10000, dice.randrange(1, 150000))))

    def put(self, off, piece):
        if len(self.data) < off:
            self.data.extend(bytes(off - len(self.data)))
        self.data[off:off + len(piece)] = piece

    def write(self):
        off, piece = self.piece()
        os.pwrite(self.fd, piece, off)
        self.put(off, piece)

    def append(self):
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        piece = os.urandom(self.dice.randrange(1, 3000))
        os.write(fd, piece)
        self.put(len(self.data), piece)
        os.close(fd)

    def sync_write(self):
        off, piece = self.piece()
        fd = os.open(self.path, os.O_WRONLY | os.O_DSYNC)
        os.pwrite(fd, piece, off)
        self.put(off, piece)
        os.close(fd)

    def read(self):
        off, n = self.dice.randrange(self.most), self.dice.randrange(1, 200000)
        expect(os.pread(self.fd, n, off), bytes(self.data[off:off + n]))

    def forget(self):
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)

    def truncate(self):
        size = self.dice.randrange(self.most)
        os.ftruncate(self.fd, size)
        del self.data[size:]
        self.data.extend(bytes(size - len(self.data)))

    def mapped(self):
        if not self.data:
            return
        with mmap.mmap(self.fd, len(self.data)) as m:
            off = self.dice.randrange(len(self.data))
            piece = os.urandom(min(self.dice.randrange(1, 20000), len(self.data) - off))
            expect(m[off:off + len(piece)], bytes(self.data[off:off + len(piece)]))
            m[off:off + len(piece)] = piece
            self.put(off, piece)
            if self.dice.random() < 0.5:
                m.flush()

    def stat(self):
        size = os.stat(self.path).st_size
        if size != len(self.data):
            sys.exit("size %d, not %d" % (size, len(self.data)))

    def fsync(self):
        os.fsync(self.fd)
        expect(open(os.path.join(export, os.path.basename(self.path)), "rb").read(), self.data)

    def reopen(self):
        os.close(self.fd)
        self.fd = os.open(self.path, os.O_RDWR)

    def rename(self):
        os.rename(self.path, self.path + "~")
        os.rename(self.path + "~", self.path)


def exercise():
    """As fsx does."""
    seed = int(sys.argv[4])
    dice = random.Random(seed)
    m = Model(name + str(seed), dice)
    steps = [m.write] * 8 + [m.read] * 4 + [m.append, m.sync_write, m.forget, m.truncate, m.mapped, m.mapped,
                                            m.stat, m.fsync, m.reopen, m.rename]
    for i in range(1500):
        step = dice.choice(steps)
        try:
            step()
        except SystemExit as e:
            sys.exit("seed %d, step %d, %s: %s" % (seed, i, step.__name__, e))
    m.fsync()


{c.__name__: c for c in (stream, locked, restarted, mapped, copied, synced, full, exercise)}[sys.argv[1]]()
