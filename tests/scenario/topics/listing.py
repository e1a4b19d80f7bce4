# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Directories: listing while they change, positions, types, size, times."""
from scenario import *


ENTRIES = int(os.environ.get("RNFS_SCENARIO_ENTRIES", "3000"))  # of a big directory


class Dirent(ctypes.Structure):
    _fields_ = [("ino", ctypes.c_ulong), ("off", ctypes.c_long), ("reclen", ctypes.c_ushort),
                ("type", ctypes.c_ubyte), ("name", ctypes.c_char * 256)]


libc.opendir.restype = libc.readdir.restype = ctypes.c_void_p
libc.telldir.restype = ctypes.c_long


class Stream:
    """opendir(3) and what belongs to it."""

    def __init__(self, path):
        self.d = ctypes.c_void_p(libc.opendir(os.fsencode(path)))
        if not self.d:
            raise OSError(ctypes.get_errno(), path)

    def read(self):
        ctypes.set_errno(0)
        p = libc.readdir(self.d)
        if p:
            return Dirent.from_address(p)
        if ctypes.get_errno():
            raise OSError(ctypes.get_errno(), "readdir")
        return None

    def rest(self):
        names = []
        while e := self.read():
            names.append(os.fsdecode(e.name))
        return names

    def tell(self):
        return libc.telldir(self.d)

    def seek(self, where):
        libc.seekdir(self.d, ctypes.c_long(where))

    def rewind(self):
        libc.rewinddir(self.d)

    def close(self):
        libc.closedir(self.d)


def fill(count, prefix="f"):
    for i in range(count):
        os.close(os.open(f"{prefix}{i}", os.O_WRONLY | os.O_CREAT))


@scenario
def small(s):
    s.call("empty", os.listdir, ".")
    d = Stream(".")
    s.call("dots", lambda: set(d.rest()))
    d.close()
    fill(3)
    os.mkdir("d")
    os.symlink("x", "l")
    os.mkfifo("p")
    s.call("names", lambda: sorted(os.listdir(".")))
    s.call("missing", os.listdir, "no")
    s.call("of a file", os.listdir, "f0")


@scenario
def types(s):
    fill(1)
    os.mkdir("dir")
    os.symlink("x", "link")
    os.mkfifo("fifo")
    d = Stream(".")
    names = {1: "fifo", 4: "dir", 8: "file", 10: "link", 0: "unknown"}
    found = {}
    inodes = {}
    while e := d.read():
        found[e.name.decode()] = names.get(e.type, e.type)
        inodes[e.name.decode()] = e.ino
    d.close()
    s.show("d_type", [f"{k}={found[k]}" for k in sorted(found)])
    s.show("d_ino is st_ino", [inodes[k] == os.lstat(k).st_ino for k in sorted(inodes) if k != ".."])
    s.call("walk", lambda: [sorted(x) for x in next(os.walk("."))[1:]])


@scenario
def big(s):
    n = ENTRIES
    fill(n, "a-name-of-some-length-")
    names = os.listdir(".")
    s.show("every name once", [len(names), len(set(names))])
    with os.scandir(".") as it:
        s.show("sizes", sum(e.stat().st_size for e in it))
    d = Stream(".")
    first = [d.read().name for _ in range(n // 3)]
    at = d.tell()
    rest = d.rest()
    s.show("by telldir: all", len(first) + len(rest))
    d.seek(at)
    s.show("seekdir gives the rest again", d.rest() == rest)
    d.rewind()
    s.show("rewinddir gives all again", len(d.rest()))
    d.close()
    for i in range(0, n, 2):
        os.unlink(f"a-name-of-some-length-{i}")
    names = os.listdir(".")
    s.show("half of it", [len(names), len(set(names))])


@scenario
def removing_while_reading(s):
    """What rm -r does: every name must come once although those before it are gone."""
    fill(ENTRIES // 3)
    d = Stream(".")
    seen = []
    while e := d.read():
        name = e.name.decode()
        if name[0] != ".":
            seen.append(name)
            os.unlink(name)
    d.close()
    s.show("seen", [len(seen), len(set(seen))])
    s.call("left", os.listdir, ".")


@scenario
def creating_while_reading(s):
    """What was there at the start must come exactly once; what is new may come or not."""
    fill(ENTRIES // 4)
    d = Stream(".")
    seen = []
    n = 0
    while e := d.read():
        seen.append(e.name.decode())
        if len(seen) % 2 and n < 300:
            os.close(os.open(f"new{n}", os.O_WRONLY | os.O_CREAT))
            n += 1
    d.close()
    old = [x for x in seen if x[0] == "f"]
    s.show("old names", [len(old), len(set(old))])
    s.show("no name twice", len(seen) == len(set(seen)))
    s.call("then", lambda: len(os.listdir(".")))


@scenario
def positions(s):
    fill(100)
    d = Stream(".")
    spots = []
    while True:
        at = d.tell()
        e = d.read()
        if not e:
            break
        spots.append((at, e.name))
    right = 0
    for at, name in reversed(spots):
        d.seek(at)
        right += d.read().name == name
    s.show("every position leads to its entry", right == len(spots) == 102)
    d.close()


@scenario
def rewinding(s):
    fill(3)
    d = Stream(".")
    d.rest()
    write_file("new")
    os.unlink("f0")
    d.rewind()
    s.call("after rewinddir", lambda: sorted(d.rest()))
    d.close()
    fd = s.open("open", ".", os.O_RDONLY)
    s.call("by descriptor", lambda: sorted(os.listdir(fd)))
    os.unlink("f1")
    os.lseek(fd, 0, 0)
    s.call("by descriptor after lseek", lambda: sorted(os.listdir(fd)))


@scenario
def seen_at_once(s):
    """What this machine changes, it sees at once, whatever it has cached."""
    for i in range(5):
        s.exists(f"no {i}", f"f{i}")
        write_file(f"f{i}", b"x" * i)
        s.lstat(f"size {i}", f"f{i}", "size")
        s.call(f"names {i}", lambda: len(os.listdir(".")))
    for i in range(5):
        os.unlink(f"f{i}")
        s.exists(f"gone {i}", f"f{i}")
        s.call(f"names without {i}", lambda: len(os.listdir(".")))
    os.mkdir("d")
    s.call("a new directory", os.listdir, "d")
    os.rmdir("d")
    s.exists("a directory gone", "d")
    write_file("d", b"file now")
    s.lstat("another type by that name", "d", "type size")


@scenario
def link_counts(s):
    os.mkdir("d")
    s.lstat("new", "d", "nlink")
    os.mkdir("d/e")
    s.lstat("with one", "d", "nlink")
    write_file("d/f")
    s.lstat("with a file", "d", "nlink")
    os.mkdir("x")
    os.rename("x", "d/x")
    s.lstat("with one moved in", "d", "nlink")
    os.rename("d/x", "y")
    s.lstat("with one moved out", "d", "nlink")
    os.rmdir("d/e")
    s.lstat("with none", "d", "nlink")


@scenario
def other_processes(s):
    p = s.peer()
    p.call("create", write_file, "f")
    s.call("seen", os.listdir, ".")
    s.call("unlink", os.unlink, "f")
    p.call("not seen", os.listdir, ".")
    p.call("mkdir", os.mkdir, "d")
    s.call("create in it", write_file, "d/f", b"x")
    p.call("read", read_file, "d/f")
