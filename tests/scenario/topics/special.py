# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""FIFOs, sockets, devices."""
import select
import socket

from scenario import *


@scenario
def fifo(s):
    s.call("mkfifo", os.mkfifo, "p", 0o640)
    s.lstat("is", "p", "type mode nlink size")
    s.call("again", os.mkfifo, "p")
    s.call("open to write without a reader", open_quietly, "p", os.O_WRONLY | os.O_NONBLOCK)
    p = s.peer()
    p.begin("reader opens", open_quietly, "p", os.O_RDONLY)
    p.waits("reader waits")
    w = s.open("writer opens", "p", os.O_WRONLY)
    fd = p.end()
    p.begin("reader reads", os.read, int(fd), 100)
    p.waits("reader waits for data")
    s.call("write", os.write, w, b"through the fifo")
    p.end()
    s.close(w)
    p.call("reader reads the end", os.read, int(fd), 100)
    s.lstat("is then", "p", "type mode nlink size")
    s.call("rename", os.rename, "p", "q")
    s.call("unlink", os.unlink, "q")


@scenario
def unix_socket(s):
    a = socket.socket(socket.AF_UNIX)
    s.call("bind", a.bind, "sock")
    s.lstat("is", "sock", "type mode nlink size")
    s.call("bind again", socket.socket(socket.AF_UNIX).bind, "sock")
    s.call("listen", a.listen, 1)
    b = socket.socket(socket.AF_UNIX)
    s.call("connect", b.connect, "sock")
    c, _ = a.accept()
    s.call("send", b.send, b"hello")
    s.call("receive", c.recv, 10)
    s.call("open", open_quietly, "sock", os.O_RDWR)
    for x in (a, b, c):
        x.close()
    s.call("connect to a closed one", socket.socket(socket.AF_UNIX).connect, "sock")
    s.call("unlink", os.unlink, "sock")
    s.call("connect to none", socket.socket(socket.AF_UNIX).connect, "sock")


@scenario(root=True)
def devices(s):
    for name, kind, dev in (
        ("null", stat.S_IFCHR, os.makedev(1, 3)),
        ("zero", stat.S_IFCHR, os.makedev(1, 5)),
        ("big", stat.S_IFCHR, os.makedev(300, 70000)),
        ("block", stat.S_IFBLK, os.makedev(7, 3)),
    ):
        s.call(f"mknod {name}", os.mknod, name, kind | 0o622, dev)
        s.lstat(f"{name} is", name, "type mode rdev uid gid")
    s.call("read null", read_file, "null")
    fd = s.open("open zero", "zero", os.O_RDWR)
    s.call("read zero", os.read, fd, 4)
    s.call("write zero", os.write, fd, b"x")
    u = s.peer(USER)
    u.call("mknod by another", os.mknod, "mine", stat.S_IFCHR | 0o666, os.makedev(1, 3))
    u.call("mkfifo by another", os.mkfifo, "fifo")
    u.call("mknod of a file by another", os.mknod, "file", stat.S_IFREG | 0o640)
    s.lstat("file is", "file")


@scenario
def mknod_of_files(s):
    s.call("file", os.mknod, "f", stat.S_IFREG | 0o604)
    s.lstat("file is", "f")
    s.call("file without type", os.mknod, "g", 0o600)
    s.lstat("it is", "g")
    s.call("over what is there", os.mknod, "f", stat.S_IFREG | 0o600)
    s.call("directory", os.mknod, "d", stat.S_IFDIR | 0o755)
    s.call("socket", os.mknod, "s", stat.S_IFSOCK | 0o600)
    s.lstat("socket is", "s", "type mode")
    s.call("in what is missing", os.mknod, "no/f", stat.S_IFREG | 0o600)


@scenario
def readiness(s):
    write_file("f", b"data")
    fd = s.open("open", "f", os.O_RDWR)
    p = select.poll()
    p.register(fd, select.POLLIN | select.POLLOUT)
    s.call("poll of a file", lambda: [e for _, e in p.poll(0)])
    e = select.epoll()
    s.call("epoll of a file", e.register, fd, select.EPOLLIN)
