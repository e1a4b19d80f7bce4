# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""statfs(2), walks by descriptors, passing descriptors on, executing, errors of paths."""
import resource
import socket
import subprocess

from scenario import *


@scenario
def file_system(s):
    st = os.statvfs(".")
    s.show("blocks", st.f_blocks > 0 and st.f_bfree <= st.f_blocks and st.f_bavail <= st.f_bfree)
    s.show("files", st.f_ffree <= st.f_files)
    s.show("longest name", st.f_namemax)
    s.show("block size is a power of two", st.f_frsize & (st.f_frsize - 1) == 0 and st.f_frsize >= 512)
    write_file("f", b"x" * 100000)
    fd = s.open("open", "f")
    two = os.fstatvfs(fd)
    s.show("the same by descriptor", (two.f_blocks * two.f_frsize, two.f_namemax) == (st.f_blocks * st.f_frsize, st.f_namemax))
    s.call("of what is missing", os.statvfs, "no")
    s.call("pathconf name", os.pathconf, ".", "PC_NAME_MAX")
    s.call("pathconf path", os.pathconf, ".", "PC_PATH_MAX")
    os.sync()
    s.show("a file has blocks", os.stat("f").st_blocks >= 100000 // 512)
    os.truncate("f", 0)
    s.call("an empty file has none", lambda: os.stat("f").st_blocks)


@scenario
def identity(s):
    write_file("f")
    os.mkdir("d")
    st, d, dot, up = os.stat("f"), os.stat("d"), os.stat("d/."), os.stat("d/..")
    s.show("one device", st.st_dev == d.st_dev == up.st_dev)
    s.show("dot is the directory", os.path.samestat(d, dot))
    s.show("dot dot is above", os.path.samestat(up, os.stat(".")))
    s.show("inodes differ", st.st_ino != d.st_ino)
    os.rename("f", "d/g")
    s.show("rename keeps the inode", os.stat("d/g").st_ino == st.st_ino)
    s.call("inode of the listing", lambda: next(os.scandir("d")).inode() == st.st_ino)


@scenario
def by_descriptor(s):
    os.makedirs("a/b/c")
    write_file("a/b/f", b"f")
    a = s.open("a", "a", os.O_RDONLY | os.O_DIRECTORY)
    b = s.open("b in a", "b", os.O_RDONLY | os.O_DIRECTORY, dir_fd=a)
    f = s.open("f in b", "f", os.O_RDWR, dir_fd=b)
    s.call("read", os.read, f, 10)
    s.call("rename a", os.rename, "a", "z")
    s.open("f in b still", "f", os.O_RDWR, dir_fd=b)
    s.call("mkdir", lambda: os.mkdir("n", dir_fd=b))
    s.call("stat", lambda: Word(describe(os.stat("n", dir_fd=b), "type mode")))
    s.call("link", lambda: os.link("f", "g", src_dir_fd=b, dst_dir_fd=a))
    s.call("rename to a", lambda: os.rename("f", "h", src_dir_fd=b, dst_dir_fd=a))
    s.call("unlink", lambda: os.unlink("g", dir_fd=a))
    s.call("rmdir", lambda: os.rmdir("n", dir_fd=b))
    s.call("list", lambda: sorted(os.listdir(a)))
    s.call("readlink of none", lambda: os.readlink("h", dir_fd=a))
    s.call("below a file", lambda: os.stat("x", dir_fd=f))
    s.call("fchdir", os.fchdir, b)
    s.call("where", lambda: os.getcwd().split("/")[-2:])
    s.call("fchdir to a file", os.fchdir, f)
    s.call("up", lambda: sorted(os.listdir("../..")))
    s.call("by /proc", read_file, f"/proc/self/fd/{f}")


@scenario
def passing(s):
    """A descriptor over a socket, to a process that could not open the file itself."""
    write_file("f", b"data")
    os.chmod("f", 0o600)
    fd = s.open("open", "f", os.O_RDWR)
    one, two = socket.socketpair()
    p = s.peer(*((USER,) if os.getuid() == 0 else ()))
    socket.send_fds(one, [b"x"], [fd])
    s.close(fd)
    p.call("read by the receiver", receive_and_read, two.fileno())
    s.call("contents", read_file, "f")
    one.close()
    two.close()


def receive_and_read(number):
    with socket.socket(fileno=number) as sock:
        _, fds, _, _ = socket.recv_fds(sock, 1, 1)
    data = os.pread(fds[0], 10, 0)
    os.pwrite(fds[0], b"DATA", 0)
    os.close(fds[0])
    return data


def run(*argv):
    return subprocess.call(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


@scenario
def executing(s):
    write_file("script", b"#!/bin/sh\nexit 7\n", mode=0o755)
    shutil.copy("/bin/true", "binary")
    write_file("plain", b"#!/bin/sh\nexit 3\n", mode=0o644)
    write_file("bad", b"#!/no/such/interpreter\n", mode=0o755)
    write_file("junk", b"junk", mode=0o755)
    os.mkdir("d")
    s.call("script", run, "./script")
    s.call("binary", run, "./binary")
    s.call("not executable", run, "./plain")
    s.call("no interpreter", run, "./bad")
    s.call("not a program", run, "./junk")
    s.call("directory", run, "./d")
    s.call("missing", run, "./no")
    p = subprocess.Popen(["./script"])
    p.wait()
    sleeper = shutil.which("sleep")
    shutil.copy(sleeper, "sleeper")
    p = subprocess.Popen(["./sleeper", "60"])
    s.call("write to what is running", open_quietly, "sleeper", os.O_WRONLY)
    s.call("unlink what is running", os.unlink, "sleeper")
    s.call("it goes on", p.poll)
    p.kill()
    p.wait()
    fd = s.open("open to write", "binary", os.O_WRONLY)
    s.call("run what is open to write", run, "./binary")
    s.close(fd)
    s.call("run it then", run, "./binary")


@scenario(root=True)
def executing_by_others(s):
    shutil.copy("/bin/true", "b")
    u = s.peer(USER)
    for mode in (0o700, 0o711, 0o755, 0o744, 0o001):
        os.chmod("b", mode)
        u.call(f"{mode:o}", run, "./b")
    os.chmod("b", 0o600)
    s.call("root without any x", run, "./b")


@scenario
def paths(s):
    write_file("f")
    os.mkdir("d")
    s.call("missing", os.stat, "no")
    s.call("below a file", os.stat, "f/x")
    s.call("below what is missing", os.stat, "no/x")
    s.call("file with a slash", os.stat, "f/")
    s.call("empty", os.stat, "")
    s.call("name too long", os.stat, "n" * 256)
    s.call("name too long below", os.stat, "d/" + "n" * 256)
    s.call("path too long", os.stat, "x/" * 2048)
    s.call("many slashes", lambda: os.stat("d" + "/" * 1000) and None)
    s.call("chdir to a file", os.chdir, "f")
    s.call("chdir to what is missing", os.chdir, "no")
    s.call("list of a file", os.listdir, "f")
    s.call("NUL in a name", os.stat, "a\0b")
    s.call("unlink across", os.unlink, "d/../f")
    s.call("link across file systems", os.link, "/proc/self/status", "x")
    s.call("read of a directory", read_file, "d")
    s.call("write of a directory", write_file, "d")
    s.call("bad descriptor", os.fstat, 9999)


@scenario
def descriptors_run_out(s):
    write_file("f")
    p = s.peer()
    p.call("limit", resource.setrlimit, resource.RLIMIT_NOFILE, (20, 20))
    p.call("open until it fails", open_many)
    p.call("open then", open_quietly, "f", os.O_RDONLY)


def open_many():
    fds = []
    try:
        while True:
            fds.append(os.open("f", os.O_RDONLY))
    except OSError as e:
        for fd in fds:
            os.close(fd)
        return error_name(e)


@scenario
def ioctls(s):
    import fcntl

    write_file("f", b"data")
    fd = s.open("open", "f")
    os.read(fd, 1)
    s.ok("FS_IOC_GETFLAGS", fcntl.ioctl, fd, 0x80086601, bytearray(8))
    s.call("terminal", os.isatty, fd)
    s.call("FIONREAD", lambda: struct.unpack("i", fcntl.ioctl(fd, 0x541B, bytes(4)))[0])
    s.call("unknown", fcntl.ioctl, fd, 0xDEAD)
    s.ok("FIGETBSZ", fcntl.ioctl, fd, 2, bytearray(4))


@scenario
def programs(s):
    """Small things that programs are made of."""
    import sqlite3

    def database():
        db = sqlite3.connect("db")
        db.execute("create table t (n integer)")
        with db:
            db.executemany("insert into t values (?)", [(i,) for i in range(50)])
        total = db.execute("select sum(n) from t").fetchone()[0]
        db.close()
        return total

    s.call("sqlite", database)
    s.call("its files", lambda: sorted(os.listdir(".")))
    s.call("tar", run, "tar", "-cf", "a.tar", "db")
    os.mkdir("out")
    s.call("untar", run, "tar", "-C", "out", "-xf", "a.tar")
    s.show("the same", read_file("out/db") == read_file("db"))
