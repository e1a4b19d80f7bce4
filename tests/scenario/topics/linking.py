# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Hard links and symbolic links."""
from scenario import *


@scenario
def hard(s):
    write_file("a", b"data")
    s.call("link", os.link, "a", "b")
    s.lstat("count of a", "a")
    s.lstat("count of b", "b")
    s.show("same inode", os.stat("a").st_ino == os.stat("b").st_ino)
    s.call("link over what is there", os.link, "a", "b")
    s.call("link to itself", os.link, "a", "a")
    s.call("link of what is missing", os.link, "no", "c")
    s.call("link into what is missing", os.link, "a", "no/c")
    os.mkdir("d")
    s.call("link of a directory", os.link, "d", "e")
    s.call("link into a directory", os.link, "a", "d/a")
    fd = s.open("open", "b", os.O_RDWR)
    s.call("write by one name", os.write, fd, b"more data")
    s.call("read by another", read_file, "d/a")
    s.call("chmod by one name", os.chmod, "a", 0o600)
    s.lstat("seen by another", "b")
    s.call("unlink", os.unlink, "a")
    s.fstat("count now", fd)
    s.call("unlink again", os.unlink, "d/a")
    s.fstat("count then", fd)
    s.lstat("by its last name", "b")


@scenario
def many(s):
    write_file("f")
    for i in range(50):
        os.link("f", f"l{i}")
    s.lstat("count", "f", "nlink")
    for i in range(0, 50, 2):
        os.unlink(f"l{i}")
    s.lstat("count then", "l1", "nlink")
    s.call("entries", lambda: len(os.listdir(".")))


@scenario
def links_of_links(s):
    write_file("f", b"x")
    os.symlink("f", "sym")
    s.call("hard link of a symlink", lambda: os.link("sym", "hard", follow_symlinks=False))
    s.lstat("it is", "hard", "type nlink size")
    s.call("it leads to", os.readlink, "hard")
    s.call("hard link through a symlink", lambda: os.link("sym", "deep", follow_symlinks=True))
    s.lstat("that is", "deep", "type nlink size")
    s.lstat("and the file", "f", "type nlink size")


@scenario
def of_special_files(s):
    os.mkfifo("p")
    s.call("link", os.link, "p", "q")
    s.lstat("both", "q", "type nlink")
    s.call("unlink", os.unlink, "p")
    s.lstat("one", "q", "type nlink")


@scenario
def symbolic(s):
    write_file("f", b"data")
    s.call("symlink", os.symlink, "f", "l")
    s.lstat("is", "l", "type mode size")
    s.call("readlink", os.readlink, "l")
    s.call("read through", read_file, "l")
    s.call("stat through", lambda: Word(describe(os.stat("l"))))
    s.call("symlink over what is there", os.symlink, "g", "l")
    s.call("symlink over a file", os.symlink, "g", "f")
    s.call("empty target", os.symlink, "", "e")
    s.call("in what is missing", os.symlink, "x", "no/l")
    s.call("readlink of a file", os.readlink, "f")
    s.call("readlink of a directory", os.readlink, ".")
    s.call("readlink of what is missing", os.readlink, "no")
    s.call("odd target", os.symlink, b"a\nb\xff//../\x01", "odd")
    s.call("read back", os.readlink, b"odd")
    s.call("unlink", os.unlink, "l")
    s.call("the file stays", read_file, "f")


@scenario
def lengths(s):
    for n in (1, 59, 60, 63, 64, 255, 256, 1023, 1024, 1025, 4000, 4095):
        target = ("x" * 99 + "/") * (n // 100) + "y" * (n % 100)
        s.call(f"make {n}", os.symlink, target, f"l{n}")
        s.lstat(f"size {n}", f"l{n}", "type size")
        s.show(f"read {n}", os.path.lexists(f"l{n}") and os.readlink(f"l{n}") == target)
    s.call("make 4096", os.symlink, "x" * 4096, "l4096")


def readlink_into(path, size):
    room = ctypes.create_string_buffer(size + 1)
    n = c_call("readlink", os.fsencode(path), room, size)
    return room.raw[:n]


@scenario
def small_buffers(s):
    os.symlink("0123456789", "l")
    for n in (1, 5, 9, 10, 11, 100):
        s.call(f"readlink into {n}", readlink_into, "l", n)
    s.call("readlink into 0", readlink_into, "l", 0)


@scenario
def loops(s):
    os.symlink("a", "a")
    os.symlink("c", "b")
    os.symlink("b", "c")
    s.call("open of a loop", read_file, "a")
    s.call("stat of a loop", os.stat, "b")
    s.lstat("lstat of a loop", "b", "type size")
    s.call("create through a loop", write_file, "b")
    s.call("walk through a loop", os.stat, "a/x")
    write_file("end", b"there")
    os.symlink("end", "s0")
    for i in range(1, 41):
        os.symlink(f"s{i - 1}", f"s{i}")
    s.call("40 links", read_file, "s39")
    s.call("41 links", read_file, "s40")


@scenario
def ways(s):
    """Targets that lead up, down and out."""
    os.makedirs("d/e")
    write_file("d/f", b"f")
    os.symlink("../f", "d/e/up")
    os.symlink("d/e/up", "down")
    os.symlink(os.path.join(os.getcwd(), "d"), "whole")
    os.symlink("/dev/null", "out")
    os.symlink("d/e/..", "dots")
    s.call("up", read_file, "d/e/up")
    s.call("down and up", read_file, "down")
    s.call("absolute", read_file, "whole/f")
    s.call("out", read_file, "out")
    s.call("dots", os.listdir, "dots")
    s.call("through a file", os.stat, "d/f/x")
    os.chdir("whole/e")
    s.call("after chdir through a link", read_file, "../f")
    s.call("where", lambda: os.path.basename(os.getcwd()))
