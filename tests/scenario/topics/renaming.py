# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""rename(2) and renameat2(2)."""
from scenario import *


def make(name, kind):
    if kind == "file":
        write_file(name, name.encode())
    elif kind == "empty":
        os.mkdir(name)
    elif kind == "full":
        os.mkdir(name)
        write_file(name + "/in")
    elif kind == "symlink":
        os.symlink("target", name)
    elif kind == "fifo":
        os.mkfifo(name)


KINDS = ("file", "empty", "full", "symlink", "fifo", "nothing")


def kind_of(name):
    if not os.path.lexists(name):
        return "nothing"
    if os.path.isdir(name) and not os.path.islink(name):
        return "full" if os.listdir(name) else "empty"
    return lstat_line(name, "type")


@scenario
def matrix(s):
    for a in KINDS:
        for b in KINDS:
            old, new = f"{a}-{b}.a", f"{a}-{b}.b"
            make(old, a)
            make(new, b)
            s.call(f"{a} over {b}", os.rename, old, new)
            s.show(f"{a} over {b}, then", f"{kind_of(old)}, {kind_of(new)}")


@scenario
def flags(s):
    for name, flag in (("noreplace", RENAME_NOREPLACE), ("exchange", RENAME_EXCHANGE)):
        for a, b in (("file", "nothing"), ("file", "file"), ("file", "full"), ("nothing", "file"), ("full", "empty")):
            old, new = f"{name}-{a}-{b}.a", f"{name}-{a}-{b}.b"
            make(old, a)
            make(new, b)
            s.call(f"{name} {a} {b}", renameat2, old, new, flag)
            s.show(f"{name} {a} {b}, then", f"{kind_of(old)}, {kind_of(new)}")
    make("x", "file")
    s.call("both flags", renameat2, "x", "y", RENAME_NOREPLACE | RENAME_EXCHANGE)
    s.call("unknown flag", renameat2, "x", "y", 1 << 10)


@scenario
def to_itself(s):
    write_file("f", b"data")
    os.mkdir("d")
    s.call("file", os.rename, "f", "f")
    s.call("directory", os.rename, "d", "d")
    s.call("file by another way", os.rename, "f", "./d/../f")
    s.call("contents", read_file, "f")
    os.link("f", "g")
    s.call("hard links of one file", os.rename, "f", "g")
    s.exists("first name", "f")
    s.exists("second name", "g")
    s.lstat("count", "g", "nlink")
    s.call("noreplace on a hard link", renameat2, "f", "g", RENAME_NOREPLACE)


@scenario
def impossible(s):
    os.makedirs("d/e/f")
    write_file("x")
    s.call("into its child", os.rename, "d", "d/e/g")
    s.call("into its grandchild", os.rename, "d", "d/e/f/g")
    s.call("into itself", os.rename, "d", "d/g")
    s.call("over its parent", os.rename, "d/e", "d")
    s.call("over its grandparent", os.rename, "d/e/f", "d")
    s.call("dot", os.rename, "d/.", "y")
    s.call("dot dot", os.rename, "d/e/..", "y")
    s.call("onto dot", os.rename, "x", ".")
    s.call("directory onto dot", os.rename, "d", ".")
    s.call("missing", os.rename, "no", "y")
    s.call("empty", os.rename, "", "y")
    s.call("to empty", os.rename, "x", "")
    s.call("into what is missing", os.rename, "x", "no/y")
    s.call("below a file", os.rename, "d", "x/y")
    s.call("of what is below a file", os.rename, "x/y", "z")
    s.call("file with a slash", os.rename, "x/", "y")
    s.call("file to a name with a slash", os.rename, "x", "y/")
    s.call("directory to a name with a slash", os.rename, "d", "y/")
    s.call("name too long", os.rename, "x", "n" * 256)
    s.call("longest name", os.rename, "x", "n" * 255)
    s.call("other file system", os.rename, "n" * 255, "/proc/self/x")


@scenario
def across_directories(s):
    os.makedirs("a/sub")
    os.mkdir("b")
    write_file("a/f", b"f")
    s.lstat("a has", "a", "type nlink")
    s.call("file", os.rename, "a/f", "b/g")
    s.call("contents", read_file, "b/g")
    s.call("directory", os.rename, "a/sub", "b/sub")
    s.lstat("a then has", "a", "type nlink")
    s.lstat("b then has", "b", "type nlink")
    s.call("up from a moved directory", lambda: sorted(os.listdir("b/sub/..")))
    os.chdir("b/sub")
    os.rename("../../b", "../../c")
    s.call("cwd moved", lambda: os.getcwd().split("/")[-2:])
    s.call("file from there", read_file, "../g")


@scenario
def open_files(s):
    write_file("a", b"aaaa")
    write_file("b", b"bbbb")
    a, b = s.open("a", "a", os.O_RDWR), s.open("b", "b", os.O_RDWR)
    s.call("rename over an open file", os.rename, "a", "b")
    s.call("moved file reads", os.pread, a, 10, 0)
    s.call("replaced file reads", os.pread, b, 10, 0)
    s.call("replaced file writes", os.pwrite, b, b"BB", 0)
    s.call("replaced file reads again", os.pread, b, 10, 0)
    s.fstat("replaced file", b, "type size nlink")
    s.fstat("moved file", a, "type size nlink")
    s.call("by name", read_file, "b")
    s.close(b)
    s.close(a)
    s.eventually("left", lambda: os.listdir("."), ["b"])
    c = s.open("open", "b", os.O_RDWR)
    s.call("rename of an open file", os.rename, "b", "c")
    s.call("write into it", os.write, c, b"cc")
    s.call("read by its new name", read_file, "c")


@scenario
def replaced_directory(s):
    os.mkdir("a")
    write_file("a/f")
    os.mkdir("b")
    fd = s.open("open the old one", "b", os.O_RDONLY)
    s.call("rename over it", os.rename, "a", "b")
    s.call("list", os.listdir, "b")
    s.fstat("the old one", fd, "type")
    s.call("create in the old one", open_quietly, "x", os.O_RDWR | os.O_CREAT, 0o666, fd)


@scenario
def round_and_round(s):
    """The names that the cache has must follow."""
    for n in "abc":
        write_file(n, n.encode())
    for i in range(10):
        os.rename("a", "t")
        os.rename("b", "a")
        os.rename("c", "b")
        os.rename("t", "c")
    s.call("contents", lambda: [read_file(n) for n in "abc"])
    s.call("names", lambda: sorted(os.listdir(".")))
    s.exists("the name between", "t")


@scenario(root=True)
def by_others(s):
    u = s.peer(USER)
    os.mkdir("mine", 0o755)
    os.mkdir("free")
    os.chmod("free", 0o777)
    os.mkdir("sticky")
    os.chmod("sticky", 0o1777)
    for d in ("mine", "free", "sticky"):
        write_file(f"{d}/root", b"r")
        os.mkdir(f"{d}/dir")
        write_file(f"{d}/user", b"u")
        os.chown(f"{d}/user", USER, GROUP)
    u.call("in a directory not to write", os.rename, "mine/user", "mine/x")
    u.call("out of it", os.rename, "mine/user", "free/x")
    u.call("another's file", os.rename, "free/root", "free/root2")
    u.call("another's directory to elsewhere", os.rename, "free/dir", "sticky/dir2")
    u.call("another's file in a sticky directory", os.rename, "sticky/root", "sticky/x")
    u.call("over another's in a sticky directory", os.rename, "sticky/user", "sticky/root")
    u.call("one's own in a sticky directory", os.rename, "sticky/user", "sticky/mine")
    u.call("into a sticky directory", os.rename, "free/user", "sticky/user")
    s.call("names", lambda: [sorted(os.listdir(d)) for d in ("mine", "free", "sticky")])
