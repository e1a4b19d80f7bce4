# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Two clients of one server: what one does through DIR, seen by the other through DIR2.

What NFS promises is close-to-open: who opens a file after another has closed it sees what that one wrote.
Names and attributes may be cached for a while; so here nobody asks for a name before it is there, and
whoever asks again opens first."""
import fcntl
import mmap

from locking import lock, test
from scenario import *

RW = os.O_RDWR | os.O_CREAT
scenarios.clear()  # those of locking


def size_of(path):
    """The size as close-to-open promises it."""
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.fstat(fd).st_size
    finally:
        os.close(fd)


def append(path, data):
    write_file(path, data, os.O_WRONLY | os.O_APPEND)


def mode_of(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        return Word("%04o" % stat.S_IMODE(os.fstat(fd).st_mode))
    finally:
        os.close(fd)


def or_stale(function, *args):
    """Data of a file that another client has removed: from a cache, from a server that keeps it, or not at all."""
    try:
        function(*args)
    except OSError as e:
        if e.errno != errno.ESTALE:
            raise
    return "the data or ESTALE"


@scenario
def close_to_open(s):
    b = s.peer(cwd=s.second)
    write_file("f", b"one")
    b.call("b reads", read_file, "f")
    b.call("b writes", write_file, "f", b"second")
    s.call("a reads", read_file, "f")
    for i in range(6):
        (write_file if i % 2 else lambda *x: b.call(f"b writes {i}", write_file, *x))("f", b"%d" % i * 6)
        s.call(f"a reads {i}", read_file, "f")
        b.call(f"b reads {i}", read_file, "f")
    b.call("b makes it longer", append, "f", b" and more")
    s.call("a sees the size", size_of, "f")
    s.call("a cuts it", os.truncate, "f", 2)
    b.call("b sees the size", size_of, "f")
    b.call("b reads it", read_file, "f")


@scenario
def grown(s):
    """A size that has just been asked for must not be what an open believes."""
    b = s.peer(cwd=s.second)
    write_file("f", b"one")
    for i in range(3):
        os.stat("f")
        b.call(f"b appends {i}", append, "f", b" more")
        s.call(f"a reads {i}", read_file, "f")
        os.stat("f")
        b.call(f"b appends again {i}", append, "f", b" still")
        s.call(f"a appends {i}", append, "f", b" end")
        os.stat("f")
        b.call(f"b cuts {i}", os.truncate, "f", 5)
        s.call(f"a sees the size {i}", size_of, "f")
        os.stat("f")
        b.call(f"b appends at last {i}", append, "f", b"!")
        s.call(f"a maps {i}", map_read, "f", 5, 1)


@scenario
def large(s):
    b = s.peer(cwd=s.second)
    data = bytes(range(256)) * 5000
    write_file("f", data)
    b.call("b reads", read_file, "f")
    other = data[::-1]
    b.call("b writes", write_file, "f", other)
    s.show("a reads", read_file("f") == other)
    with open("f", "r+b") as f:
        f.seek(600000)
        f.write(b"patched")
    b.call("b reads again", read_file, "f")


@scenario
def in_both_hands(s):
    """Both have it open; what is written and synced is there for who opens anew."""
    b = s.peer(cwd=s.second)
    fd = s.open("a opens", "f", RW)
    os.write(fd, b"from a")
    os.fsync(fd)
    other = b.open("b opens", "f", os.O_RDWR)
    b.call("b reads", os.pread, other, 20, 0)
    b.call("b writes", os.pwrite, other, b"B", 5)
    b.call("b syncs", os.fsync, other)
    s.call("a opens anew and reads", read_file, "f")
    os.pwrite(fd, b"A", 5)
    os.fsync(fd)
    b.call("b opens anew and reads", read_file, "f")


@scenario
def appending(s):
    b = s.peer(cwd=s.second)
    write_file("f")
    for i in range(4):
        append("f", b"a%d" % i)
        b.call(f"b appends {i}", append, "f", b"b%d" % i)
    s.call("contents", read_file, "f")


@scenario
def exclusive(s):
    b = s.peer(cwd=s.second)
    b.call("b creates", write_file, "f", b"b", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    s.call("a fails to", write_file, "f", b"a", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    b.call("b makes a directory", os.mkdir, "d")
    s.call("a fails to make it", os.mkdir, "d")
    b.call("b makes a symlink", os.symlink, "x", "l")
    s.call("a fails to make that", os.symlink, "y", "l")
    s.call("a removes it", os.unlink, "l")
    b.call("b cannot", os.unlink, "l")
    s.call("a renames", os.rename, "f", "g")
    b.call("b cannot rename", os.rename, "f", "h")
    b.call("b reads by the new name", read_file, "g")


@scenario
def names(s):
    b = s.peer(cwd=s.second)
    for i in range(5):
        write_file(f"f{i}")
    os.mkdir("d")
    b.call("b lists", lists, ".")
    b.call("b creates in the directory", write_file, "d/x", b"x")
    s.call("a reads it", read_file, "d/x")
    s.call("a lists it", lists, "d")
    s.call("a cannot remove the directory", os.rmdir, "d")
    b.call("b empties it", os.unlink, "d/x")
    s.call("a removes it", os.rmdir, "d")
    b.call("b cannot create in it", write_or_gone, "d/y")


def lists(path):
    return sorted(os.listdir(path))


def write_or_gone(path):
    try:
        write_file(path)
    except OSError as e:
        return "gone" if e.errno in (errno.ENOENT, errno.ESTALE) else error_name(e)
    return "made"


@scenario
def renamed_while_open(s):
    b = s.peer(cwd=s.second)
    write_file("f", b"before")
    fd = s.open("a opens", "f", os.O_RDWR)
    b.call("b renames", os.rename, "f", "g")
    s.call("a reads", os.pread, fd, 10, 0)
    s.call("a writes", os.pwrite, fd, b"AFTER!", 0)
    s.call("a syncs", os.fsync, fd)
    b.call("b reads", read_file, "g")
    s.close(fd)
    s.call("a reads by the new name", read_file, "g")


@scenario
def removed_while_open(s):
    b = s.peer(cwd=s.second)
    write_file("f", b"x" * 100000)
    fd = s.open("a opens", "f", os.O_RDWR)
    b.call("b removes", os.unlink, "f")
    s.call("a reads", or_stale, os.pread, fd, 10, 50000)
    s.call("a writes", or_stale, write_and_sync, fd)
    s.call("a stats", or_stale, os.fstat, fd)
    b.call("b makes another", write_file, "f", b"another")
    s.call("a reads that", read_file, "f")
    s.call("a closes", or_stale, s.close, fd)


def write_and_sync(fd):
    os.pwrite(fd, b"y", 10)
    os.fsync(fd)


@scenario
def replaced_while_open(s):
    b = s.peer(cwd=s.second)
    write_file("f", b"old")
    fd = s.open("a opens", "f", os.O_RDONLY)
    b.call("b writes another", write_file, "new", b"newer")
    b.call("b puts it in its place", os.rename, "new", "f")
    s.call("a reads the old", or_stale, os.pread, fd, 10, 0)
    s.call("a opens anew and reads", read_file, "f")


@scenario
def rotated(s):
    """A log that another client moves away: who appends then must find the new one."""
    b = s.peer(cwd=s.second)
    write_file("log", b"1")
    append("log", b"2")
    b.call("b moves it", os.rename, "log", "log.1")
    b.call("b makes another", write_file, "log", b"new ")
    s.call("a appends", append, "log", b"3")
    s.call("a reads", read_file, "log")
    b.call("b reads", read_file, "log")
    b.call("b reads the old", read_file, "log.1")
    b.call("b moves again", os.rename, "log", "log.2")
    b.call("b moves the old back", os.rename, "log.1", "log")
    s.call("a reads what is there now", read_file, "log")
    fd = s.open("a opens", "log")
    b.call("b appends", append, "log", b"4")
    s.call("a reopens by its descriptor", read_file, f"/proc/self/fd/{fd}")
    b.call("b renames what is open", os.rename, "log", "log.3")
    s.call("a reopens by its descriptor again", read_file, f"/proc/self/fd/{fd}")


@scenario
def current_directory_gone(s):
    b = s.peer(cwd=s.second)
    os.mkdir("d")
    p = s.peer()
    p.call("a process of a goes there", os.chdir, "d")
    b.call("b removes it", os.rmdir, "d")
    p.call("create there", write_or_gone, "f")
    p.call("mkdir there", mkdir_or_gone, "e")
    s.call("a makes it again", os.mkdir, "d")
    s.call("and uses it", write_file, "d/f", b"new")
    b.call("b reads", read_file, "d/f")


def mkdir_or_gone(path):
    try:
        os.mkdir(path)
    except OSError as e:
        return "gone" if e.errno in (errno.ENOENT, errno.ESTALE) else error_name(e)
    return "made"


@scenario
def maps(s):
    b = s.peer(cwd=s.second)
    write_file("f", b"a" * 8192)
    b.call("b reads", read_file, "f")
    fd = os.open("f", os.O_RDWR)
    m = mmap.mmap(fd, 8192)
    m[0:4] = b"MAP!"
    m[5000:5004] = b"also"
    m.flush()
    m.close()
    os.close(fd)
    b.call("b reads what was mapped", read_file, "f")
    b.call("b writes by a map", map_write, "f", 100, b"from b")
    s.call("a reads", read_file, "f")
    s.call("a reads by a map", map_read, "f", 100, 6)


def map_write(path, at, data):
    fd = os.open(path, os.O_RDWR)
    m = mmap.mmap(fd, 0)
    m[at : at + len(data)] = data
    m.flush()
    m.close()
    os.close(fd)


def map_read(path, at, size):
    fd = os.open(path, os.O_RDONLY)
    m = mmap.mmap(fd, 0, prot=mmap.PROT_READ)
    data = m[at : at + size]
    m.close()
    os.close(fd)
    return data


@scenario
def attributes(s):
    b = s.peer(cwd=s.second)
    write_file("f", b"x")
    b.call("b changes the mode", os.chmod, "f", 0o640)
    s.call("a sees it", mode_of, "f")
    s.call("a changes the mode", os.chmod, "f", 0o604)
    b.call("b sees it", mode_of, "f")
    b.call("b sets times", os.utime, "f", (10**9, 10**9))
    s.call("a sees them", time_of, "f")


def time_of(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        return os.fstat(fd).st_mtime_ns
    finally:
        os.close(fd)


@scenario(root=True)
def permission_taken(s):
    b, u = s.peer(cwd=s.second), s.peer(USER, cwd=s.second)
    write_file("f", b"x")
    u.call("the user reads", read_file, "f")
    s.call("a takes it away", os.chmod, "f", 0o600)
    b.call("b sees it", mode_of, "f")
    u.call("the user cannot read", read_file, "f")
    s.call("a gives it back", os.chmod, "f", 0o644)
    b.call("b sees that", mode_of, "f")
    u.call("the user reads again", read_file, "f")


@scenario
def locks(s):
    R, W, U = fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK
    b = s.peer(cwd=s.second)
    fd = s.open("a opens", "f", RW)
    os.write(fd, b"x" * 100)
    os.fsync(fd)
    other = b.open("b opens", "f", os.O_RDWR)
    s.call("a locks", lock, fd, W, 10, 20)
    b.call("b cannot", lock, other, W, 15, 1)
    b.call("b sees why", test, other, R, 0, 100)
    b.call("b locks beside", lock, other, W, 30, 10)
    s.call("a sees that", test, fd, W, 25, 10)
    s.call("a unlocks a piece", lock, fd, U, 15, 5)
    b.call("b locks it", lock, other, W, 15, 5)
    s.call("a cannot have it back", lock, fd, W, 10, 20)
    b.call("b unlocks all", lock, other, U)
    s.call("a reads under a lock", lock, fd, R, 0, 0)
    b.call("b too", lock, other, R, 0, 0)
    b.call("but does not write", lock, other, W, 0, 1)
    s.close(fd)
    b.call("after a has closed", lock, other, W, 0, 1)


@scenario
def lock_waits(s):
    W, U = fcntl.F_WRLCK, fcntl.F_UNLCK
    b = s.peer(cwd=s.second)
    fd = s.open("a opens", "f", RW)
    other = b.open("b opens", "f", os.O_RDWR)
    s.call("a locks", lock, fd, W)
    b.begin("b gets it", lock, other, W, 0, 0, fcntl.F_SETLKW)
    b.waits("b waits")
    s.call("a unlocks", lock, fd, U)
    b.end()
    s.call("a cannot have it", lock, fd, W)
    b.kill()
    s.eventually("after b was killed", lambda: test(fd, W), "nothing", 20)


@scenario
def flocks(s):
    b = s.peer(cwd=s.second)
    fd = s.open("a opens", "f", RW)
    other = b.open("b opens", "f", os.O_RDWR)
    s.call("a locks", fcntl.flock, fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    b.call("b cannot", fcntl.flock, other, fcntl.LOCK_SH | fcntl.LOCK_NB)
    s.call("a unlocks", fcntl.flock, fd, fcntl.LOCK_UN)
    b.call("b shares", fcntl.flock, other, fcntl.LOCK_SH | fcntl.LOCK_NB)
    s.call("a shares", fcntl.flock, fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    b.call("b cannot have it alone", fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    s.close(fd)
    b.call("b has it alone", flock_soon, other)


def flock_soon(fd):
    """The other's close may have returned before its lock is gone."""
    for _ in range(100):
        try:
            return fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(TICK)
    return "never"


@scenario
def counter(s):
    """Data passed back and forth under a lock, without closing: a lock is as good as an open."""
    write_file("n", b"0")
    a, b = s.peer(), s.peer(cwd=s.second)
    fa, fb = a.open("a opens", "n", os.O_RDWR), b.open("b opens", "n", os.O_RDWR)
    for i in range(5):
        a.call(f"a counts {i}", count, fa)
        b.call(f"b counts {i}", count, fb)
    s.call("sum", read_file, "n")


def count(fd):
    lock(fd, fcntl.F_WRLCK, 0, 0, fcntl.F_SETLKW)
    n = int(os.pread(fd, 20, 0)) + 1
    os.pwrite(fd, b"%d" % n, 0)
    lock(fd, fcntl.F_UNLCK)
    return n
