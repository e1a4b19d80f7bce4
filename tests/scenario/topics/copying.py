# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Copying in the kernel: sendfile(2), splice(2), copy_file_range(2); holes and fallocate(2)."""
import socket

from scenario import *

RW = os.O_RDWR | os.O_CREAT
DATA = bytes(range(256)) * 1200  # 300 KiB


@scenario
def sendfile(s):
    write_file("a", DATA)
    a, b = s.open("source", "a"), s.open("target", "b", RW)
    s.call("to a file", os.sendfile, b, a, 0, 300000)
    s.show("is the same", read_file("b") == DATA[:300000])
    s.call("over the end", os.sendfile, b, a, len(DATA) - 10, 100)
    s.call("behind the end", os.sendfile, b, a, len(DATA), 100)
    one, two = socket.socketpair()
    s.call("to a socket", os.sendfile, one.fileno(), a, 1000, 5000)
    s.show("received", two.recv(10000) == DATA[1000:6000])
    one.close()
    two.close()


@scenario
def splice(s):
    write_file("a", DATA)
    a, b = s.open("source", "a"), s.open("target", "b", RW)
    r, w = os.pipe()
    s.call("into a pipe", os.splice, a, w, 30000, 100)
    s.call("out of it", os.splice, r, b, 30000, None, 0)
    s.show("is the same", read_file("b") == DATA[100:30100])
    s.call("into a pipe at the position", os.splice, a, w, 4096)
    s.call("position", os.lseek, a, 0, os.SEEK_CUR)
    s.call("out of it behind the end", os.splice, r, b, 4096, None, 50000)
    s.show("is there", os.pread(b, 4096, 50000) == DATA[:4096])
    s.lstat("size", "b", "size")
    os.write(w, b"piped")
    s.call("pipe to a file", os.splice, r, b, 100, None, 10)
    s.call("the file has it", os.pread, b, 5, 10)
    os.close(r)
    os.close(w)


@scenario
def copy_file_range(s):
    write_file("a", DATA)
    a, b = s.open("source", "a"), s.open("target", "b", RW)
    s.call("all", os.copy_file_range, a, b, len(DATA), 0, 0)
    s.show("is the same", read_file("b") == DATA)
    s.call("a piece to elsewhere", os.copy_file_range, a, b, 70001, 33, 500003)
    s.show("the piece is the same", os.pread(b, 70001, 500003) == DATA[33 : 33 + 70001])
    s.lstat("size", "b", "size")
    s.call("behind the end", os.copy_file_range, a, b, 100, len(DATA) + 5, 0)
    s.call("over the end", os.copy_file_range, a, b, 1000, len(DATA) - 10, 0)
    s.call("of nothing", os.copy_file_range, a, b, 0, 0, 0)
    s.call("within one file", os.copy_file_range, b, b, 1000, 0, 400000)
    s.show("within is the same", os.pread(b, 1000, 400000) == os.pread(b, 1000, 0))
    s.call("over itself", os.copy_file_range, b, b, 1000, 0, 500)
    r = s.open("target to read", "b", os.O_RDONLY)
    s.call("to what is open to read", os.copy_file_range, a, r, 10, 0, 0)
    w = s.open("source to write", "a", os.O_WRONLY)
    s.call("from what is open to write", os.copy_file_range, w, b, 10, 0, 0)
    ap = s.open("target to append", "b", os.O_WRONLY | os.O_APPEND)
    s.call("to what is open to append", os.copy_file_range, a, ap, 10, 0, 0)
    d = s.open("directory", ".", os.O_RDONLY)
    s.call("from a directory", os.copy_file_range, d, b, 10, 0, 0)


@scenario
def copy_of_fresh_data(s):
    """What has been written and not yet sent must be in the copy."""
    a, b = s.open("source", "a", RW), s.open("target", "b", RW)
    os.write(a, b"before")
    os.write(b, b"xxxxxxxxxxxx")
    s.call("copy", os.copy_file_range, a, b, 6, 0, 3)
    s.call("target has", os.pread, b, 20, 0)
    os.pwrite(a, b"BEF", 0)
    s.call("copy again", os.copy_file_range, a, b, 6, 0, 3)
    s.call("target again", os.pread, b, 20, 0)


@scenario
def seek_hole(s):
    fd = s.open("open", "f", RW)
    s.call("data in nothing", os.lseek, fd, 0, os.SEEK_DATA)
    s.call("hole in nothing", os.lseek, fd, 0, os.SEEK_HOLE)
    os.write(fd, b"x" * 1000)
    s.call("data at the start", os.lseek, fd, 0, os.SEEK_DATA)
    s.call("data in data", os.lseek, fd, 10, os.SEEK_DATA)
    s.call("hole at the end", os.lseek, fd, 0, os.SEEK_HOLE)
    s.call("data behind the end", os.lseek, fd, 1000, os.SEEK_DATA)
    s.call("hole behind the end", os.lseek, fd, 2000, os.SEEK_HOLE)
    s.call("negative", os.lseek, fd, -5, os.SEEK_DATA)
    s.call("position", os.lseek, fd, 0, os.SEEK_CUR)


@scenario
def seek_in_sparse(s):
    fd = s.open("open", "f", RW)
    os.pwrite(fd, b"x" * 65536, 0)
    os.pwrite(fd, b"x" * 65536, 4 << 20)
    os.ftruncate(fd, 8 << 20)
    os.fsync(fd)
    s.call("first hole", os.lseek, fd, 0, os.SEEK_HOLE)
    s.call("data after it", os.lseek, fd, 65536, os.SEEK_DATA)
    s.call("second hole", os.lseek, fd, 4 << 20, os.SEEK_HOLE)
    s.call("data after that", os.lseek, fd, (4 << 20) + 65536, os.SEEK_DATA)


@scenario
def allocate(s):
    fd = s.open("open", "f", RW)
    s.call("allocate", fallocate, fd, 0, 0, 100000)
    s.lstat("size", "f", "size")
    s.call("zeros", os.pread, fd, 8, 5000)
    s.call("keeping the size", fallocate, fd, KEEP_SIZE, 0, 200000)
    s.lstat("size kept", "f", "size")
    s.call("of nothing", fallocate, fd, 0, 0, 0)
    s.call("negative", fallocate, fd, 0, -1, 10)
    s.call("posix_fallocate", os.posix_fallocate, fd, 0, 150000)
    s.lstat("size then", "f", "size")
    os.write(fd, b"data")
    s.call("over data", fallocate, fd, 0, 0, 10)
    s.call("data stays", os.pread, fd, 4, 0)
    r = s.open("open to read", "f", os.O_RDONLY)
    s.call("of what is open to read", fallocate, r, 0, 0, 10)
    d = s.open("open directory", ".", os.O_RDONLY)
    s.call("of a directory", fallocate, d, 0, 0, 10)


@scenario
def punch(s):
    fd = s.open("open", "f", RW)
    os.write(fd, b"x" * 100000)
    s.call("punch without keeping the size", fallocate, fd, PUNCH_HOLE, 0, 10)
    s.call("punch", fallocate, fd, PUNCH_HOLE | KEEP_SIZE, 10000, 50001)
    data = os.pread(fd, 100000, 0)
    s.show("zeros", data.count(b"\0"))
    s.show("where", data.find(b"\0"))
    s.call("behind the end", fallocate, fd, PUNCH_HOLE | KEEP_SIZE, 200000, 10)
    s.lstat("size", "f", "size")
    s.show("by another", read_file("f") == data)


@scenario
def other_modes(s):
    fd = s.open("open", "f", RW)
    os.write(fd, b"x" * 20000)
    for name, mode in (("zero", ZERO_RANGE), ("collapse", COLLAPSE_RANGE), ("insert", INSERT_RANGE), ("unshare", UNSHARE_RANGE)):
        s.call(name, fallocate, fd, mode, 4096, 4096)
        s.lstat(f"{name}: size", "f", "size")
    s.call("unknown", fallocate, fd, 1 << 20, 0, 10)


@scenario
def clone(s):
    import fcntl

    write_file("a", DATA)
    a, b = s.open("source", "a"), s.open("target", "b", RW)
    s.call("FICLONE", fcntl.ioctl, b, 0x40049409, a)
    s.lstat("size", "b", "size")
    range_ = struct.pack("qQQQ", a, 0, 4096, 8192)
    s.ok("FICLONERANGE", fcntl.ioctl, b, 0x4020940D, range_)


@scenario
def copy_by_tools(s):
    import subprocess

    write_file("a", DATA)
    os.utime("a", ns=(10**18, 10**18))
    s.call("cp", lambda: subprocess.call(["cp", "-p", "a", "b"]))
    s.show("the same", read_file("b") == DATA)
    s.call("time kept", lambda: os.stat("b").st_mtime_ns)
    s.call("cp --sparse", lambda: subprocess.call(["cp", "--sparse=always", "a", "c"]))
    s.show("the same again", read_file("c") == DATA)
    s.call("cp --reflink", lambda: subprocess.call(["cp", "--reflink=auto", "a", "d"]))
    s.show("and again", read_file("d") == DATA)
