# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""mmap(2): shared and private, with write(2), truncate(2), msync(2)."""
import mmap

from scenario import *

PAGE = 4096
SHARED, PRIVATE = mmap.MAP_SHARED, mmap.MAP_PRIVATE
READ, WRITE = mmap.PROT_READ, mmap.PROT_WRITE
RW = os.O_RDWR | os.O_CREAT


def map_file(fd, size, flags=SHARED, prot=READ | WRITE, offset=0):
    return mmap.mmap(fd, size, flags=flags, prot=prot, offset=offset)


def touch(fd, size, at, value=None):
    """For a peer: maps, and reads or writes one byte."""
    m = map_file(fd, size)
    if value is None:
        return m[at]
    m[at] = value
    return None


@scenario
def shared(s):
    write_file("f", b"a" * 3 * PAGE)
    fd = s.open("open", "f", os.O_RDWR)
    m = map_file(fd, 3 * PAGE)
    s.show("read", m[:4])
    m[0:5] = b"hello"
    s.call("read(2) sees it", os.pread, fd, 8, 0)
    os.pwrite(fd, b"WORLD", PAGE)
    s.show("write(2) is seen", m[PAGE : PAGE + 6])
    m[2 * PAGE] = ord("z")
    s.call("msync", m.flush)
    m.close()
    s.close(fd)
    s.call("contents", read_file, "f")
    p = s.peer()
    p.call("contents for another", read_file, "f")


@scenario
def after_close(s):
    write_file("f", b"a" * PAGE)
    fd = os.open("f", os.O_RDWR)
    m = map_file(fd, PAGE)
    os.close(fd)
    m[10:13] = b"xyz"
    s.show("read", m[8:14])
    s.call("msync", m.flush)
    s.call("by read(2)", lambda: read_file("f")[8:14])
    m[20:23] = b"XYZ"
    m.close()
    s.call("after munmap", lambda: read_file("f")[8:24])


@scenario
def unlinked(s):
    write_file("f", b"a" * PAGE)
    fd = os.open("f", os.O_RDWR)
    m = map_file(fd, PAGE)
    os.close(fd)
    s.call("unlink", os.unlink, "f")
    s.show("read", m[:4])
    m[0:4] = b"gone"
    s.call("msync", m.flush)
    s.show("read again", m[:6])
    m.close()
    s.eventually("left", lambda: os.listdir("."), [])


@scenario
def private(s):
    write_file("f", b"a" * PAGE)
    fd = s.open("open", "f", os.O_RDONLY)
    m = map_file(fd, PAGE, PRIVATE)
    m[0:3] = b"own"
    s.show("own", m[:5])
    s.call("the file", os.pread, fd, 5, 0)
    s.ok("shared and writable of a read-only file", map_file, fd, PAGE)
    r = map_file(fd, PAGE, SHARED, READ)
    s.show("shared to read", r[:3])
    w = s.open("open to write only", "f", os.O_WRONLY)
    s.ok("map of a write-only file", map_file, w, PAGE, SHARED, READ)


@scenario
def between_processes(s):
    write_file("f", b"a" * PAGE)
    fd = s.open("open", "f", os.O_RDWR)
    m = map_file(fd, PAGE)
    p = s.peer()
    other = p.open("the other opens", "f", os.O_RDWR)
    p.call("the other writes", touch, other, PAGE, 7, ord("!"))
    s.show("seen", m[6:9])
    m[8] = ord("?")
    p.call("the other sees", touch, other, PAGE, 8)
    p.call("by read(2)", os.pread, other, 3, 7)


@scenario
def beyond_the_end(s):
    fd = s.open("open", "f", RW)
    os.write(fd, b"x" * 100)
    m = map_file(fd, 100)
    big = s.peer()
    big.call("read in the last page", touch_over, fd, 200)
    p = s.peer()
    p.call("read behind the last page", touch_over, fd, PAGE + 1)
    os.ftruncate(fd, 3 * PAGE)
    s.peer().call("read after growing", touch_over, fd, PAGE + 1)
    p = s.peer()
    p.call("map", hold, fd, 3 * PAGE)
    os.ftruncate(fd, 10)
    p.call("the kept page after the cut", held, 5)
    p.call("zeros after the cut", held, 50)
    p.call("behind the cut", held, 2 * PAGE)


kept = None


def hold(fd, size):
    global kept
    kept = map_file(fd, size)
    kept[0:4] = b"kept"
    return kept[size - 1]


def held(at):
    return kept[at]


def touch_over(fd, at):
    """Python maps no more than the file has: map by hand."""
    libc.mmap.restype = ctypes.c_void_p
    base = libc.mmap(None, ctypes.c_size_t(8 * PAGE), READ, SHARED, fd, ctypes.c_long(0))
    return ctypes.cast(base, ctypes.POINTER(ctypes.c_ubyte))[at]


@scenario
def tail(s):
    """What is written to the last page behind the end does not get into the file."""
    fd = s.open("open", "f", RW)
    os.write(fd, b"x" * 10)
    p = s.peer()
    p.call("write behind the end", poke, fd, 20)
    os.ftruncate(fd, 30)
    s.call("contents", read_file, "f")


def poke(fd, at):
    libc.mmap.restype = ctypes.c_void_p
    base = libc.mmap(None, ctypes.c_size_t(PAGE), READ | WRITE, SHARED, fd, ctypes.c_long(0))
    ctypes.cast(base, ctypes.POINTER(ctypes.c_ubyte))[at] = 0x41
    libc.munmap(ctypes.c_void_p(base), ctypes.c_size_t(PAGE))


@scenario
def holes(s):
    fd = s.open("open", "f", RW)
    os.ftruncate(fd, 16 * PAGE)
    m = map_file(fd, 16 * PAGE)
    m[5 * PAGE : 5 * PAGE + 3] = b"in!"
    s.call("msync", m.flush)
    s.call("read", os.pread, fd, 8, 5 * PAGE)
    s.call("zeros", os.pread, fd, 8, 9 * PAGE)
    m.close()
    s.lstat("size", "f", "size")


@scenario
def times(s):
    write_file("f", b"x" * PAGE)
    fd = s.open("open", "f", os.O_RDWR)
    m = map_file(fd, PAGE)

    def write():
        m[0] = 65
        m.flush()

    s.changed("write by map", "f", write)
    s.changed("read by map", "f", lambda: m[100] and None)


@scenario
def big(s):
    size = 3 << 20
    fd = s.open("open", "f", RW)
    os.ftruncate(fd, size)
    m = map_file(fd, size)
    data = bytes(range(256)) * (size // 256)
    m[:] = data
    m.flush()
    m.close()
    s.show("read(2) gives it", read_file("f") == data)
    m = map_file(fd, size, SHARED, READ)
    s.show("a map gives it", m[:] == data)


@scenario(root=True)
def of_an_executable(s):
    shutil.copy("/bin/true", "t")
    fd = s.open("open", "t", os.O_RDONLY)
    m = map_file(fd, PAGE, PRIVATE, READ | mmap.PROT_EXEC)
    s.show("mapped to execute", m[1:4])
