# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Times: utimensat(2), and what else sets them."""
from scenario import *


def times_of(path):
    st = os.lstat(path)
    return Word(f"{st.st_atime_ns} {st.st_mtime_ns}")


@scenario
def setting(s):
    write_file("f")
    for name, a, m in (
        ("nanoseconds", (1000000000, 123456789), (1100000000, 987654321)),
        ("zero", (0, 0), (0, 0)),
        ("one nanosecond", (0, 1), (1, 999999999)),
        ("before 1970", (-1, 0), (-1000000, 5)),
        ("1901", (-(2**31), 0), (-(2**31), 0)),
        ("2038", (2**31 - 1, 0), (2**31, 0)),
        ("2106", (2**32 - 1, 0), (2**32 - 1, 999999999)),
    ):
        s.call(name, utimensat, "f", a, m)
        s.call(name + " is", times_of, "f")
    s.call("bad nanoseconds", utimensat, "f", (0, 10**9), (0, 0))
    s.call("negative nanoseconds", utimensat, "f", (0, -1), (0, 0))
    s.call("missing", utimensat, "no", (0, 0), (0, 0))
    os.mkdir("d")
    s.call("directory", utimensat, "d", (5, 6), (7, 8))
    s.call("directory is", times_of, "d")
    os.symlink("f", "l")
    s.call("symlink", utimensat, "l", (1, 2), (3, 4), 0x100)
    s.call("symlink is", times_of, "l")
    s.call("through the symlink", utimensat, "l", (9, 9), (9, 9))
    s.call("through it is", times_of, "f")
    fd = s.open("open", "f", os.O_RDONLY)
    s.call("by descriptor", os.utime, fd, ns=(10**18 + 1, 10**18 + 2))
    s.call("by descriptor is", times_of, "f")


@scenario
def omitting(s):
    write_file("f")
    utimensat("f", (1000, 1), (2000, 2))
    s.call("mtime alone", utimensat, "f", (0, UTIME_OMIT), (3000, 3))
    s.call("mtime is", times_of, "f")
    s.call("atime alone", utimensat, "f", (4000, 4), (0, UTIME_OMIT))
    s.call("atime is", times_of, "f")
    s.changed("neither", "f", utimensat, "f", (0, UTIME_OMIT), (0, UTIME_OMIT))
    s.changed("atime now", "f", utimensat, "f", (0, UTIME_NOW), (0, UTIME_OMIT))
    s.changed("mtime now", "f", utimensat, "f", (0, UTIME_OMIT), (0, UTIME_NOW))
    s.changed("both now", "f", utimensat, "f", (0, UTIME_NOW), (0, UTIME_NOW))
    s.changed("atime now, mtime set", "f", utimensat, "f", (0, UTIME_NOW), (5000, 5))
    s.call("now is the time", lambda: abs(os.lstat("f").st_atime - time.time()) < 30)
    s.changed("no times given", "f", os.utime, "f")


@scenario(root=True)
def by_others(s):
    u, o = s.peer(USER), s.peer(OTHER)
    write_file("f")
    os.chown("f", USER, GROUP)
    for mode in (0o600, 0o644, 0o666, 0o000):
        os.chmod("f", mode)
        u.call(f"{mode:o} owner sets", utimensat, "f", (1, 1), (2, 2))
        u.call(f"{mode:o} owner now", os.utime, "f")
        u.call(f"{mode:o} owner one of them now", utimensat, "f", (0, UTIME_NOW), (0, UTIME_OMIT))
        o.call(f"{mode:o} other sets", utimensat, "f", (1, 1), (2, 2))
        o.call(f"{mode:o} other now", os.utime, "f")
        o.call(f"{mode:o} other one of them now", utimensat, "f", (0, UTIME_NOW), (0, UTIME_OMIT))
        o.call(f"{mode:o} other neither", utimensat, "f", (0, UTIME_OMIT), (0, UTIME_OMIT))
    os.mkdir("closed", 0o700)
    write_file("closed/f")
    o.call("in a closed directory", os.utime, "closed/f")


def append(path, data):
    write_file(path, data, os.O_WRONLY | os.O_APPEND)


@scenario
def of_a_file(s):
    write_file("f", b"0123456789")
    s.changed("write", "f", append, "f", b"x")
    s.changed("open to write", "f", append, "f", b"")
    s.changed("truncate", "f", os.truncate, "f", 5)
    s.changed("truncate to the same", "f", os.truncate, "f", 5)
    s.changed("O_TRUNC", "f", write_file, "f", b"")
    s.changed("O_TRUNC of the empty", "f", write_file, "f", b"")
    s.changed("chmod", "f", os.chmod, "f", 0o600)
    s.changed("chmod to the same", "f", os.chmod, "f", 0o600)
    s.changed("link", "f", os.link, "f", "g")
    s.changed("unlink of a link", "f", os.unlink, "g")
    s.changed("open", "f", lambda: os.close(os.open("f", os.O_RDONLY)))
    s.changed("stat", "f", lambda: os.stat("f") and None)
    fd = s.open("open it", "f", os.O_RDWR)
    s.changed("ftruncate", fd, os.ftruncate, fd, 7)
    s.changed("write of a descriptor", fd, os.write, fd, b"abc")
    s.changed("fsync", fd, os.fsync, fd)
    s.changed("chmod of an open file", fd, os.chmod, "f", 0o640)
    os.unlink("f")
    s.changed("write of an unlinked file", fd, os.write, fd, b"abc")


@scenario
def written(s):
    """A time set after writing must stay, although the data may not have left yet."""
    fd = s.open("open", "f", os.O_RDWR | os.O_CREAT)
    os.write(fd, b"data")
    utimensat("f", (1000, 1), (2000, 2))
    s.call("set while dirty", times_of, "f")
    s.close(fd)
    s.call("after close", lambda: Word(str(os.stat("f").st_mtime_ns)))
    fd = s.open("open again", "f", os.O_RDWR)
    s.call("opened", lambda: Word(str(os.stat("f").st_mtime_ns)))
    os.pwrite(fd, b"x", 0)
    s.show("written again", os.fstat(fd).st_mtime_ns > 2000 * 10**9 + 2)
    os.utime(fd, ns=(3 * 10**9, 4 * 10**9))
    os.fsync(fd)
    s.call("set and synced", lambda: Word(str(os.fstat(fd).st_mtime_ns)))


@scenario
def of_a_directory(s):
    os.mkdir("d")
    os.mkdir("x")
    s.changed("create", "d", write_file, "d/f")
    s.changed("create what is there", "d", write_file, "d/f")
    s.changed("write into a file", "d", append, "d/f", b"x")
    s.changed("chmod of a file", "d", os.chmod, "d/f", 0o600)
    s.changed("rename in it", "d", os.rename, "d/f", "d/g")
    s.changed("link", "d", os.link, "d/g", "d/h")
    s.changed("unlink", "d", os.unlink, "d/h")
    s.changed("mkdir", "d", os.mkdir, "d/e")
    s.changed("create below", "d", write_file, "d/e/f")
    s.changed("symlink", "d", os.symlink, "x", "d/l")
    s.changed("mkfifo", "d", os.mkfifo, "d/p")
    s.changed("rename out", "d", os.rename, "d/g", "x/g")
    s.changed("rename in", "d", os.rename, "x/g", "d/g")
    s.changed("rename out, the other", "x", os.rename, "d/g", "x/g")
    s.changed("rmdir of a full one", "d", os.rmdir, "d/e")
    os.unlink("d/e/f")
    s.changed("rmdir", "d", os.rmdir, "d/e")
    s.changed("failed create", "d", os.mkdir, "d/l")
    s.changed("chmod", "d", os.chmod, "d", 0o700)
    s.changed("renamed itself", "d", os.rename, "x", "y")


@scenario
def order(s):
    """Later events have later times, on whatever clock they are measured."""
    for i, name in enumerate("abc"):
        write_file(name, name.encode())
        time.sleep(TICK)
    st = [os.stat(n) for n in "abc"]
    s.show("mtimes rise", st[0].st_mtime_ns < st[1].st_mtime_ns < st[2].st_mtime_ns)
    s.show("a new file's times are one", [len({x.st_mtime_ns, x.st_ctime_ns}) for x in st])
    append("a", b"x")
    s.show("the first is the last", os.stat("a").st_mtime_ns > st[2].st_mtime_ns)
    st = os.stat("a")
    s.show("ctime is mtime", st.st_ctime_ns == st.st_mtime_ns)
    os.chmod("a", 0o600)
    now = os.stat("a")
    s.show("chmod leaves mtime", now.st_mtime_ns == st.st_mtime_ns)
    s.show("chmod moves ctime", now.st_ctime_ns >= st.st_ctime_ns)
    s.show("near the clock", abs(now.st_ctime - time.time()) < 60)
