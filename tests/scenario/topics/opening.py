# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""open(2): flags, modes and types."""
import socket

from scenario import *

RO, WO, RW, CREAT, EXCL, TRUNC = os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_CREAT, os.O_EXCL, os.O_TRUNC


@scenario
def creating(s):
    s.open("without O_CREAT", "f", RW)
    s.open("O_CREAT", "f", RW | CREAT, 0o640)
    s.lstat("made", "f")
    s.open("O_CREAT of what is there", "f", RW | CREAT, 0o600)
    s.lstat("mode stays", "f")
    s.open("O_EXCL of what is there", "f", RW | CREAT | EXCL)
    s.open("O_EXCL", "g", WO | CREAT | EXCL, 0o604)
    s.lstat("made with O_EXCL", "g")
    os.symlink("g", "link")
    os.symlink("nowhere", "dangling")
    s.open("O_EXCL on a symlink", "link", RW | CREAT | EXCL)
    s.open("O_EXCL on a dangling symlink", "dangling", RW | CREAT | EXCL)
    s.open("O_CREAT through a dangling symlink", "dangling", RW | CREAT)
    s.lstat("made through it", "nowhere")
    s.open("O_CREAT in what is missing", "no/f", RW | CREAT)
    s.open("O_CREAT below a file", "f/f", RW | CREAT)
    s.open("O_CREAT of a directory", ".", RO | CREAT)
    s.open("O_CREAT with a slash at the end", "h/", RW | CREAT)


@scenario
def modes_of_creation(s):
    for mode in (0, 0o111, 0o444, 0o777, 0o1777, 0o4755, 0o2755, 0o6777):
        fd = s.open(f"create {mode:o}", f"f{mode:o}", RW | CREAT | EXCL, mode)
        s.lstat(f"mode {mode:o}", f"f{mode:o}", "mode size")
        s.call(f"write {mode:o}", os.write, fd, b"data")
        s.call(f"read {mode:o}", os.pread, fd, 10, 0)
        s.call(f"truncate {mode:o}", os.ftruncate, fd, 2)
        s.fstat(f"then {mode:o}", fd, "size")


@scenario(root=True)
def created_unreadable(s):
    u = s.peer(USER)
    for mode in (0, 0o200, 0o400, 0o044):
        fd = u.open(f"create {mode:o}", f"f{mode:o}", RW | CREAT | EXCL, mode)
        u.call(f"write {mode:o}", os.write, fd, b"data")
        u.call(f"read {mode:o}", os.pread, fd, 10, 0)
        u.call(f"fchmod {mode:o}", os.fchmod, fd, mode)
        u.call(f"write again {mode:o}", os.pwrite, fd, b"more", 2)
        u.call(f"truncate {mode:o}", os.ftruncate, fd, 5)
        u.call(f"fsync {mode:o}", os.fsync, fd)
        u.call(f"open to read {mode:o}", open_quietly, f"f{mode:o}", RO)
        u.call(f"open to write {mode:o}", open_quietly, f"f{mode:o}", WO)
        u.call(f"open O_CREAT {mode:o}", open_quietly, f"f{mode:o}", RW | CREAT)
        u.call(f"close {mode:o}", os.close, fd)
        s.call(f"root reads {mode:o}", read_file, f"f{mode:o}")


@scenario
def truncating(s):
    write_file("f", b"0123456789")
    s.open("O_RDONLY O_TRUNC", "f", RO | TRUNC)
    s.lstat("is empty", "f", "size")
    write_file("f", b"0123456789")
    fd = s.open("O_RDWR O_TRUNC", "f", RW | TRUNC)
    s.fstat("is empty too", fd, "size")
    s.call("write", os.write, fd, b"abc")
    other = s.open("O_TRUNC under an open file", "f", WO | TRUNC)
    s.fstat("seen by the other", fd, "size")
    s.call("write on", os.write, fd, b"def")
    s.call("contents", read_file, "f")
    s.call("O_CREAT O_TRUNC", write_file, "f", b"xy")
    s.call("contents now", read_file, "f")
    s.close(other)
    s.open("O_TRUNC of a directory", ".", RO | TRUNC)


@scenario
def appending(s):
    one = s.open("open", "f", WO | CREAT | os.O_APPEND)
    two = s.open("open again", "f", WO | os.O_APPEND)
    s.call("write one", os.write, one, b"one")
    s.call("write two", os.write, two, b"two")
    s.call("write one again", os.write, one, b"three")
    s.call("seek", os.lseek, two, 0, 0)
    s.call("write two after seek", os.write, two, b"four")
    s.call("position", os.lseek, two, 0, os.SEEK_CUR)
    s.call("pwrite goes to the end", os.pwrite, one, b"five", 0)
    s.call("contents", read_file, "f")
    s.call("truncate", os.truncate, "f", 3)
    s.call("write after truncate", os.write, one, b"six")
    s.call("contents then", read_file, "f")


@scenario
def directories_and_links(s):
    os.mkdir("d")
    write_file("f")
    os.symlink("f", "to-f")
    os.symlink("d", "to-d")
    s.open("directory", "d", RO)
    s.open("O_DIRECTORY", "d", RO | os.O_DIRECTORY)
    s.open("O_DIRECTORY of a file", "f", RO | os.O_DIRECTORY)
    s.open("O_DIRECTORY of a symlink to a file", "to-f", RO | os.O_DIRECTORY)
    s.open("O_DIRECTORY of a symlink to a directory", "to-d", RO | os.O_DIRECTORY)
    s.open("O_DIRECTORY O_NOFOLLOW of a symlink", "to-d", RO | os.O_DIRECTORY | os.O_NOFOLLOW)
    s.open("directory to write", "d", WO)
    s.open("directory to read and write", "d", RW)
    s.open("O_NOFOLLOW", "f", RO | os.O_NOFOLLOW)
    s.open("O_NOFOLLOW of a symlink", "to-f", RO | os.O_NOFOLLOW)
    s.open("O_CREAT O_NOFOLLOW of a symlink", "to-f", RW | CREAT | os.O_NOFOLLOW)
    s.open("file with a slash", "f/", RO)
    s.open("file with a dot", "f/.", RO)
    s.open("symlink with a slash", "to-d/", RO)
    s.open("symlink to a file with a slash", "to-f/", RO)
    s.open("empty name", "", RO)


@scenario
def path_only(s):
    write_file("f", b"data")
    os.symlink("f", "link")
    fd = s.open("O_PATH", "f", os.O_PATH)
    s.call("read", os.read, fd, 1)
    s.call("write", os.write, fd, b"x")
    s.fstat("fstat", fd)
    s.call("fchmod", os.fchmod, fd, 0o600)
    s.call("reopened", read_file, f"/proc/self/fd/{fd}")
    link = s.open("O_PATH of a symlink", "link", os.O_PATH | os.O_NOFOLLOW)
    s.fstat("is", link, "type size")
    s.call("readlink of it", lambda: os.readlink("", dir_fd=link))
    d = s.open("O_PATH of a directory", ".", os.O_PATH | os.O_DIRECTORY)
    s.open("openat from it", "f", RO, dir_fd=d)
    s.call("list it", os.listdir, d)
    s.call("fchdir to it", os.fchdir, d)
    os.unlink("f")
    s.fstat("after unlink", fd, "type size")


@scenario
def unnamed(s):
    fd = s.open("O_TMPFILE", ".", RW | os.O_TMPFILE, 0o600)
    s.fstat("is", fd, "type mode nlink size")
    s.call("write", os.write, fd, b"data")
    s.call("read", os.pread, fd, 9, 0)
    s.call("give it a name", lambda: os.link(f"/proc/self/fd/{fd}", "named", follow_symlinks=True))
    s.exists("named", "named")
    s.call("entries", os.listdir, ".")


@scenario
def access_modes(s):
    write_file("f", b"0123456789")
    r, w = s.open("to read", "f", RO), s.open("to write", "f", WO)
    s.call("write to r", os.write, r, b"x")
    s.call("read from w", os.read, w, 1)
    s.call("truncate r", os.ftruncate, r, 1)
    s.call("truncate w", os.ftruncate, w, 5)
    s.call("fallocate r", fallocate, r, 0, 0, 10)
    s.call("fsync r", os.fsync, r)
    s.call("fsync w", os.fsync, w)
    s.call("chmod", os.chmod, "f", 0o400)
    s.call("w still writes", os.write, w, b"ab")
    s.call("r sees", os.pread, r, 10, 0)
    s.open("mode 3", "f", 3)


@scenario(root=True)
def permission(s):
    u, o = s.peer(USER), s.peer(OTHER)
    for mode in (0o600, 0o640, 0o200, 0o400, 0o000, 0o006, 0o060, 0o066):
        name = f"f{mode:o}"
        write_file(name, b"data")
        os.chown(name, USER, GROUP)
        os.chmod(name, mode)
        for who, p in (("owner", u), ("other", o)):
            for what, flags in (("r", RO), ("w", WO), ("rw", RW), ("trunc", RO | TRUNC), ("creat", WO | CREAT)):
                p.call(f"{mode:o} {who} {what}", open_quietly, name, flags)
        s.lstat(f"{mode:o} after", name)
    os.mkdir("closed", 0o700)
    write_file("closed/f")
    u.call("in a closed directory", open_quietly, "closed/f", RO)
    u.call("what is not in a closed directory", open_quietly, "closed/g", RO)
    u.call("create in a closed directory", open_quietly, "closed/g", RW | CREAT)
    u.call("list a closed directory", os.listdir, "closed")
    os.chmod("closed", 0o711)
    u.call("in a directory to pass", open_quietly, "closed/f", RO)
    u.call("list a directory to pass", os.listdir, "closed")
    u.call("create in a directory to pass", open_quietly, "closed/g", RW | CREAT)
    os.chmod("closed", 0o744)
    u.call("stat in a directory to list", lstat_line, "closed/f")
    u.call("list a directory to list", os.listdir, "closed")


@scenario
def every_type(s):
    os.mkfifo("fifo")
    with socket.socket(socket.AF_UNIX) as sock:
        sock.bind("socket")
    s.open("fifo to read without waiting", "fifo", RO | os.O_NONBLOCK)
    s.open("socket", "socket", RW)
    s.open("O_PATH of a socket", "socket", os.O_PATH)
    w = s.open("fifo to write without waiting", "fifo", WO | os.O_NONBLOCK)
    s.call("write into it", os.write, w, b"x")


@scenario
def many_descriptors(s):
    """One file by many descriptors, closed in another order."""
    write_file("f", b"data")
    fds = [os.open("f", RW if i % 2 else RO) for i in range(100)]
    for fd in fds[::2] + fds[1::4]:
        os.close(fd)
    left = fds[3::4]
    s.call("write", os.write, left[0], b"DATA")
    s.call("read", os.read, left[-1], 10)
    for fd in left:
        os.close(fd)
    s.call("contents", read_file, "f")


@scenario
def duplicates(s):
    fd = s.open("open", "f", RW | CREAT)
    two = os.dup(fd)
    s.call("write", os.write, fd, b"0123456789")
    s.call("they share the position", os.lseek, two, 0, os.SEEK_CUR)
    s.close(fd)
    s.call("write by the other", os.write, two, b"abc")
    os.close(two)
    s.call("write after close", os.write, two, b"x")
    s.call("close after close", os.close, two)
    s.call("contents", read_file, "f")


@scenario
def limits_of_flags(s):
    write_file("f", b"d" * 8192)
    fd = s.open("O_DIRECT", "f", RO | os.O_DIRECT)
    s.close(fd)
    fd = s.open("O_SYNC", "f", WO | os.O_SYNC)
    s.call("write", os.write, fd, b"sync")
    fd = s.open("O_DSYNC O_APPEND", "f", WO | os.O_DSYNC | os.O_APPEND)
    s.call("append", os.write, fd, b"end")
    s.lstat("size", "f", "size")
    s.open("O_NOATIME", "f", RO | os.O_NOATIME)
    s.open("O_NONBLOCK of a file", "f", RO | os.O_NONBLOCK)
