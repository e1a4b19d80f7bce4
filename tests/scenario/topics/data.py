# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Reading and writing: offsets, sizes, holes, the end of a file."""
import resource

from scenario import *

RW = os.O_RDWR | os.O_CREAT


def pattern(n, seed=1):
    return (hashlib.sha256(bytes([seed])).digest() * (n // 32 + 1))[:n]


@scenario
def plain(s):
    fd = s.open("open", "f", RW)
    s.call("read of nothing", os.read, fd, 10)
    s.call("write", os.write, fd, b"hello world")
    s.call("read at the end", os.read, fd, 10)
    s.call("pread", os.pread, fd, 5, 6)
    s.call("pread over the end", os.pread, fd, 100, 6)
    s.call("pread behind the end", os.pread, fd, 1, 100)
    s.call("pwrite", os.pwrite, fd, b"W", 6)
    s.call("position", os.lseek, fd, 0, os.SEEK_CUR)
    s.call("seek to the end", os.lseek, fd, -3, os.SEEK_END)
    s.call("read there", os.read, fd, 10)
    s.call("seek before the start", os.lseek, fd, -1, os.SEEK_SET)
    s.call("seek with a bad whence", os.lseek, fd, 0, 99)
    s.call("write of nothing", os.write, fd, b"")
    s.call("read of no bytes", os.read, fd, 0)
    s.call("negative offset", os.pread, fd, 1, -1)
    s.call("negative offset to write", os.pwrite, fd, b"x", -1)
    s.fstat("size", fd, "size")


@scenario
def vectors(s):
    fd = s.open("open", "f", RW)
    s.call("writev", os.writev, fd, [b"one", b"", b"two", b"three" * 1000])
    one, two = bytearray(4), bytearray(4)
    os.lseek(fd, 0, 0)
    s.call("readv", os.readv, fd, [one, two])
    s.show("what it read", bytes(one + two))
    s.call("pwritev", os.pwritev, fd, [b"ab", b"cd"], 4094)
    s.call("preadv over the end", os.preadv, fd, [bytearray(4000), bytearray(4000)], 10)
    s.call("pread of it", os.pread, fd, 10, 4090)
    s.call("contents", read_file, "f")


@scenario
def odd_places(s):
    data = bytearray()
    fd = s.open("open", "f", RW)
    for n, (at, size) in enumerate(
        [(0, 100), (4095, 2), (4097, 8191), (65535, 65537), (1, 1), (1048575, 3), (300001, 123457)]
    ):
        piece = pattern(size, n)
        if len(data) < at + size:
            data.extend(bytes(at + size - len(data)))
        data[at : at + size] = piece
        s.call(f"write {size} at {at}", os.pwrite, fd, piece, at)
        s.show(f"read back {size} at {at}", os.pread(fd, size, at) == piece)
    s.show("all is as written", read_file("f") == bytes(data))
    s.fstat("size", fd, "size")


@scenario
def holes(s):
    fd = s.open("open", "f", RW)
    s.call("write far", os.pwrite, fd, b"end", 1 << 20)
    s.call("zeros before", os.pread, fd, 64, 1000)
    s.call("truncate up", os.ftruncate, fd, 3 << 20)
    s.call("zeros after", os.pread, fd, 64, 2 << 20)
    s.call("truncate into the data", os.ftruncate, fd, (1 << 20) + 1)
    s.call("truncate up again", os.ftruncate, fd, (1 << 20) + 8)
    s.call("the cut is zero", os.pread, fd, 64, 1 << 20)
    s.fstat("size", fd, "size")
    s.call("write behind the end", os.pwrite, fd, b"x", (1 << 20) + 5000)
    s.call("contents", read_file, "f")


@scenario
def cut_and_grow(s):
    """What was cut off must never come back, whatever the page it was in."""
    fd = s.open("open", "f", RW)
    for size in (1, 4095, 4096, 4097, 10000, 65536):
        os.pwrite(fd, b"x" * 100000, 0)
        os.ftruncate(fd, size)
        os.ftruncate(fd, 100000)
        data = read_file("f")
        s.show(f"cut at {size}", [data[:size] == b"x" * size, data[size:] == bytes(100000 - size)])
    os.ftruncate(fd, 0)
    os.pwrite(fd, b"z", 99999)
    s.show("cut to nothing", read_file("f") == bytes(99999) + b"z")


@scenario
def far(s):
    """Beyond 4 GiB, and to the end of what an offset can say."""
    fd = s.open("open", "f", RW)
    for at in (2**31 - 1, 2**31, 2**32 - 2, 2**32, 5 * 2**30 + 1, 2**40):
        s.call(f"write at {at}", os.pwrite, fd, b"data", at)
        s.call(f"read at {at}", os.pread, fd, 10, at)
        s.fstat(f"size after {at}", fd, "size")
    s.call("zeros between", os.pread, fd, 8, 3 * 2**30)
    s.call("truncate to 4 GiB and 1", os.ftruncate, fd, 2**32 + 1)
    s.fstat("size then", fd, "size")
    s.call("write at 2^63-1", os.pwrite, fd, b"x", 2**63 - 1)
    s.call("write of two at 2^63-2", os.pwrite, fd, b"xy", 2**63 - 2)
    s.call("read at 2^63-1", os.pread, fd, 1, 2**63 - 1)
    s.call("read at 2^63-2", os.pread, fd, 1, 2**63 - 2)
    s.call("seek to 2^63-1", os.lseek, fd, 2**63 - 1, 0)
    s.call("seek by one more", os.lseek, fd, 1, os.SEEK_CUR)
    s.call("truncate to -1", os.ftruncate, fd, -1)
    s.call("size at last", lambda: os.fstat(fd).st_size)


@scenario
def truncation(s):
    write_file("f", b"0123456789")
    s.call("truncate", os.truncate, "f", 5)
    s.call("contents", read_file, "f")
    s.call("longer", os.truncate, "f", 8)
    s.call("contents longer", read_file, "f")
    s.call("to the same", os.truncate, "f", 8)
    s.call("negative", os.truncate, "f", -1)
    s.call("missing", os.truncate, "g", 0)
    s.call("of a directory", os.truncate, ".", 0)
    os.symlink("f", "link")
    s.call("through a symlink", os.truncate, "link", 2)
    s.call("contents at last", read_file, "f")


@scenario(root=True)
def truncation_by_others(s):
    write_file("f", b"0123456789")
    os.chmod("f", 0o644)
    u = s.peer(USER)
    u.call("not mine", os.truncate, "f", 1)
    os.chown("f", USER, GROUP)
    os.chmod("f", 0o400)
    u.call("mine but read-only", os.truncate, "f", 1)
    os.chmod("f", 0o200)
    u.call("mine and write-only", os.truncate, "f", 4)
    s.call("contents", read_file, "f")


@scenario
def size_limit(s):
    """RLIMIT_FSIZE."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    p = s.peer()
    fd = p.open("open", "f", RW)
    p.call("limit", resource.setrlimit, resource.RLIMIT_FSIZE, (10000, 10000))
    p.call("write over it", os.write, fd, b"x" * 20000)
    p.call("write behind it", os.write, fd, b"x")
    p.call("truncate behind it", os.ftruncate, fd, 20000)
    p.call("truncate below it", os.ftruncate, fd, 5000)
    s.lstat("size", "f", "size")


@scenario
def two_descriptors(s):
    a, b = s.open("one", "f", RW), s.open("two", "f", RW)
    s.call("write by one", os.write, a, b"abcdef")
    s.call("read by two", os.read, b, 10)
    s.call("write by two", os.pwrite, b, b"XY", 2)
    s.call("read by one", os.pread, a, 10, 0)
    s.call("truncate by two", os.ftruncate, b, 3)
    s.call("one reads less", os.pread, a, 10, 0)
    s.fstat("one sees the size", a, "size")
    p = s.peer()
    p.call("another process reads", read_file, "f")
    p.call("another process writes", write_file, "f", b"other")
    s.call("read by one then", os.pread, a, 10, 0)


@scenario
def big(s):
    """Large enough for several requests and chunks."""
    data = pattern(5 * 1048576 + 13)
    s.call("write", write_file, "f", data)
    s.show("read", read_file("f") == data)
    fd = s.open("open", "f", os.O_RDONLY)
    s.call("one read over the end", lambda: len(os.pread(fd, 8 << 20, 1000)))
    s.show("a piece across requests", os.pread(fd, 2 << 20, 1048570) == data[1048570 : 1048570 + (2 << 20)])


@scenario
def direct(s):
    import mmap

    room = mmap.mmap(-1, 65536)
    room.write(pattern(65536))
    fd = s.open("open", "f", RW | os.O_DIRECT)
    s.call("write", os.pwrite, fd, room, 0)
    back = mmap.mmap(-1, 65536)
    s.call("read", os.preadv, fd, [back], 0)
    s.show("is the same", back[:] == room[:])
    s.call("read at the end", os.preadv, fd, [back], 65536 - 4096)
    s.call("read behind the end", os.preadv, fd, [back], 65536)
    plain_fd = s.open("open without", "f", os.O_RDWR)
    s.call("cached read", os.pread, plain_fd, 8, 0)
    s.call("cached write", os.pwrite, plain_fd, b"cached!!", 4096)
    s.call("direct read of it", os.preadv, fd, [memoryview(back)[:4096]], 4096)
    s.show("which is", back[:8])
    room[:8] = b"directly"
    s.call("direct write", os.pwritev, fd, [memoryview(room)[:4096]], 8192)
    s.call("cached read of it", os.pread, plain_fd, 8, 8192)


@scenario
def syncing(s):
    fd = s.open("open", "f", RW)
    s.call("write", os.write, fd, b"data")
    s.call("fsync", os.fsync, fd)
    s.call("fdatasync", os.fdatasync, fd)
    s.call("syncfs", lambda: syncfs(fd) and None)
    s.call("sync_file_range", lambda: c_call("sync_file_range", fd, ctypes.c_long(0), ctypes.c_long(4), 7) and None)
    d = s.open("directory", ".", os.O_RDONLY)
    s.call("fsync of a directory", os.fsync, d)
    s.call("fdatasync of a directory", os.fdatasync, d)
    s.call("syncfs of a directory", lambda: syncfs(d) and None)
    s.call("write to a directory", os.write, d, b"x")
    s.call("read of a directory", os.read, d, 10)
    s.call("advise", os.posix_fadvise, fd, 0, 0, os.POSIX_FADV_DONTNEED)
    s.call("read after that", os.pread, fd, 10, 0)


@scenario
def not_seekable(s):
    os.mkfifo("p")
    fd = s.open("open", "p", os.O_RDWR)
    s.call("seek", os.lseek, fd, 0, 0)
    s.call("pread", os.pread, fd, 1, 0)
    s.call("truncate", os.ftruncate, fd, 0)
    s.call("truncate by name", os.truncate, "p", 0)
    s.call("fsync", os.fsync, fd)
