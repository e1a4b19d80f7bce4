# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Removing: unlink(2), rmdir(2), what stays usable; mkdir(2), names and their limits."""
from scenario import *


@scenario
def files(s):
    write_file("f")
    os.mkdir("d")
    os.symlink("d", "l")
    s.call("unlink", os.unlink, "f")
    s.call("unlink again", os.unlink, "f")
    s.call("unlink of a directory", os.unlink, "d")
    s.call("unlink with a slash", os.unlink, "d/")
    s.call("unlink of a symlink", os.unlink, "l")
    s.exists("the directory stays", "d")
    s.call("unlink of the empty name", os.unlink, "")
    s.call("unlink of dot", os.unlink, ".")
    write_file("f")
    s.call("unlink of a file with a slash", os.unlink, "f/")
    s.call("unlink below a file", os.unlink, "f/x")


@scenario
def directories(s):
    os.makedirs("d/e")
    write_file("f")
    os.symlink("d", "l")
    s.call("rmdir of a full one", os.rmdir, "d")
    s.call("rmdir", os.rmdir, "d/e")
    s.call("rmdir again", os.rmdir, "d/e")
    s.call("rmdir of a file", os.rmdir, "f")
    s.call("rmdir of a symlink", os.rmdir, "l")
    s.call("rmdir of a symlink with a slash", os.rmdir, "l/")
    s.call("rmdir of dot", os.rmdir, "d/.")
    s.call("rmdir of dot dot", os.rmdir, "d/..")
    s.call("rmdir with a slash", os.rmdir, "d/")
    s.call("rmdir of what is missing", os.rmdir, "no")
    s.call("left", lambda: sorted(os.listdir(".")))


@scenario
def open_file(s):
    fd = s.open("open", "f", os.O_RDWR | os.O_CREAT)
    s.call("write", os.write, fd, b"data")
    s.call("unlink", os.unlink, "f")
    s.exists("name", "f")
    s.fstat("fstat", fd)
    s.call("read", os.pread, fd, 10, 0)
    s.call("write on", os.write, fd, b"more")
    s.call("truncate", os.ftruncate, fd, 6)
    s.call("chmod", os.fchmod, fd, 0o600)
    s.call("utime", os.utime, fd, ns=(10**18, 10**18))
    s.fstat("fstat then", fd)
    s.call("fsync", os.fsync, fd)
    s.open("a new file of that name", "f", os.O_RDWR | os.O_CREAT | os.O_EXCL)
    s.call("the new file is empty", read_file, "f")
    s.call("the old one reads", os.pread, fd, 10, 0)
    s.call("reopen by /proc", read_file, f"/proc/self/fd/{fd}")
    s.close(fd)
    s.eventually("left", lambda: os.listdir("."), ["f"])


@scenario
def open_file_with_links(s):
    fd = s.open("open", "a", os.O_RDWR | os.O_CREAT)
    os.link("a", "b")
    os.link("a", "c")
    for n in "abc":
        s.call(f"unlink {n}", os.unlink, n)
        s.fstat(f"count after {n}", fd, "nlink")
        s.call(f"write after {n}", os.write, fd, n.encode())
    s.call("read", os.pread, fd, 10, 0)


@scenario
def open_twice(s):
    a = s.open("one", "f", os.O_RDWR | os.O_CREAT)
    b = s.open("two", "f", os.O_RDWR)
    p = s.peer()
    c = p.open("another process", "f", os.O_RDWR)
    os.unlink("f")
    s.call("write", os.write, a, b"data")
    s.close(a)
    s.call("read by two", os.read, b, 10)
    s.close(b)
    p.call("read by the other process", os.read, c, 10)
    p.call("write by the other process", os.write, c, b"end")
    p.call("close", os.close, c)
    s.exists("name", "f")


@scenario
def tree_with_open_files(s):
    """The directory of an unlinked open file: NFS keeps the file there under another name."""
    os.mkdir("d")
    fd = s.open("open", "d/f", os.O_RDWR | os.O_CREAT)
    os.unlink("d/f")
    s.call("rmdir while open", os.rmdir, "d")
    s.close(fd)
    s.call("rmdir after", os.rmdir, "d")
    s.exists("directory", "d")


@scenario
def current_directory(s):
    top = os.getcwd()
    os.mkdir("d")
    os.chdir("d")
    s.call("rmdir of the cwd", os.rmdir, top + "/d")
    s.call("getcwd", os.getcwd)
    s.call("list", os.listdir, ".")
    s.call("create", write_file, "f")
    s.call("mkdir", os.mkdir, "e")
    s.call("stat of a name", os.stat, "f")
    s.call("up", lambda: sorted(os.listdir("..")))
    s.call("chdir up", os.chdir, "..")
    s.call("where", lambda: os.getcwd() == top)


@scenario
def open_directory(s):
    os.mkdir("d")
    write_file("d/f")
    fd = s.open("open", "d", os.O_RDONLY | os.O_DIRECTORY)
    os.unlink("d/f")
    os.rmdir("d")
    s.call("list", os.listdir, fd)
    s.call("create in it", open_quietly, "g", os.O_RDWR | os.O_CREAT, 0o666, fd)
    s.call("look up in it", open_quietly, "g", os.O_RDONLY, 0, fd)
    os.mkdir("d")
    write_file("d/new")
    s.call("a new one of that name", os.listdir, "d")


@scenario
def making(s):
    s.call("mkdir", os.mkdir, "d", 0o750)
    s.lstat("is", "d", "type mode nlink uid gid")
    s.call("mkdir again", os.mkdir, "d")
    write_file("f")
    s.call("mkdir over a file", os.mkdir, "f")
    os.symlink("nowhere", "l")
    s.call("mkdir over a dangling symlink", os.mkdir, "l")
    s.call("mkdir in what is missing", os.mkdir, "no/d")
    s.call("mkdir below a file", os.mkdir, "f/d")
    s.call("mkdir with a slash", os.mkdir, "e/")
    s.call("mkdir of dot", os.mkdir, "d/.")
    s.call("mkdir of the empty name", os.mkdir, "")
    for mode in (0, 0o777, 0o1777, 0o2755, 0o4755):
        s.call(f"mkdir {mode:o}", os.mkdir, f"m{mode:o}", mode)
        s.lstat(f"mode {mode:o}", f"m{mode:o}", "mode")
    for i in range(20):
        os.mkdir(f"d/{i}")
    s.lstat("links of a directory of directories", "d", "nlink")
    for i in range(15):
        os.rmdir(f"d/{i}")
    s.lstat("links of it then", "d", "nlink")


@scenario
def long_names(s):
    for n in (254, 255, 256, 1000):
        name = "n" * n
        s.call(f"file of {n}", write_file, name)
        s.call(f"unlink of {n}", os.unlink, name)
        s.call(f"directory of {n}", os.mkdir, name)
        s.call(f"rmdir of {n}", os.rmdir, name)
        s.call(f"symlink of {n}", os.symlink, "x", name)
        s.call(f"stat of {n}", lambda: os.lstat(name) and None)
        s.call(f"fifo of {n}", os.mkfifo, name + "")
    write_file("f")
    s.call("link to 256", os.link, "f", "m" * 256)
    s.call("utf-8 name of 255 bytes", write_file, "\u00e4" * 127 + "x")
    s.call("utf-8 name of 256 bytes", write_file, "\u00e4" * 128)
    s.call("path of 4095", lambda: os.stat("./" * 2047 + "f") and None)
    s.call("path of 4096", lambda: os.stat("./" * 2047 + "./f") and None)


@scenario
def odd_names(s):
    names = [b"new\nline", b"\xff\xfe", b" ", b"  lead", b"trail ", b"tab\t", b"\x01\x7f", "äö漢".encode(),
             b"\xc3", b"a\\b", b"*?[]", b"-rf", b"'\"", b"~", b"...", b".hidden", b"%s%n", b"a:b", b"$x`y`"]
    for n in names:
        s.call(f"create {n!r}", write_file, n, n)
        s.call(f"read {n!r}", read_file, n)
    s.call("listed", lambda: show(sorted(os.listdir(b"."))) == show(sorted(names)))
    for n in names:
        s.call(f"rename {n!r}", os.rename, n, n + b"2")
        s.call(f"unlink {n!r}", os.unlink, n + b"2")
    s.call("left", lambda: os.listdir("."))
    write_file("Case")
    s.exists("other case", "case")
    write_file("\u00e9")
    s.exists("other normal form", "e\u0301")


@scenario
def deep(s):
    top = os.open(".", os.O_RDONLY)
    names = []
    for i in range(200):
        os.mkdir("directory-of-some-length")
        os.chdir("directory-of-some-length")
    s.call("at the bottom", write_file, "f", b"deep")
    s.show("getcwd is longer than PATH_MAX", len(os.getcwd()) > 4096)
    s.call("read", read_file, "f")
    s.call("stat by a short way", lambda: Word(lstat_line("../directory-of-some-length/f")))
    for _ in range(200):
        os.chdir("..")
    s.show("up again", os.path.samestat(os.stat("."), os.fstat(top)))
    os.fchdir(top)
    os.close(top)
    s.call("remove all", shutil.rmtree, "directory-of-some-length")
    s.call("left", os.listdir, ".")


@scenario(root=True)
def sticky(s):
    u, o = s.peer(USER), s.peer(OTHER)
    os.mkdir("t")
    os.chmod("t", 0o1777)
    u.call("create", write_file, "t/u", b"u")
    u.call("mkdir", os.mkdir, "t/ud")
    o.call("create another", write_file, "t/o", b"o")
    o.call("unlink not mine", os.unlink, "t/u")
    o.call("rmdir not mine", os.rmdir, "t/ud")
    o.call("rename not mine", os.rename, "t/u", "t/x")
    o.call("rename over not mine", os.rename, "t/o", "t/u")
    u.call("unlink mine", os.unlink, "t/u")
    u.call("rmdir mine", os.rmdir, "t/ud")
    s.call("root unlinks", os.unlink, "t/o")
    os.mkdir("closed")
    write_file("closed/f")
    os.chown("closed/f", USER, GROUP)
    u.call("mine in a directory that is not", os.unlink, "closed/f")
