# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""fcntl(2) locks, of processes and of descriptors, and flock(2)."""
import fcntl

from scenario import *

R, W, U = fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK
KIND = {R: "read", W: "write", U: "none"}
FORMAT = "hhqqi4x"  # struct flock of 64-bit Linux
RW = os.O_RDWR | os.O_CREAT


def lock(fd, kind, start=0, length=0, command=fcntl.F_SETLK, whence=0):
    fcntl.fcntl(fd, command, struct.pack(FORMAT, kind, whence, start, length, 0))


def test(fd, kind, start=0, length=0, command=fcntl.F_GETLK):
    """What stands in the way, without the process's number."""
    t, _, at, size, pid = struct.unpack(
        FORMAT, fcntl.fcntl(fd, command, struct.pack(FORMAT, kind, 0, start, length, 0))
    )
    if t == U:
        return "nothing"
    return f"{KIND[t]} {at} {size}" + (" by a descriptor" if pid == -1 else "")


def close(fd):
    os.close(fd)


@scenario
def whole_file(s):
    fd = s.open("open", "f", RW)
    p = s.peer()
    other = p.open("open by the other", "f", os.O_RDWR)
    s.call("write lock", lock, fd, W)
    p.call("write lock of the other", lock, other, W)
    p.call("read lock of the other", lock, other, R)
    p.call("what is in the way", test, other, W)
    s.call("to a read lock", lock, fd, R)
    p.call("read lock beside it", lock, other, R)
    p.call("write lock beside it", lock, other, W)
    s.call("write lock over both", lock, fd, W)
    s.call("unlock", lock, fd, U)
    p.call("write lock then", lock, other, W)
    s.call("what is in my way", test, fd, R)
    p.call("unlock of the other", lock, other, U)
    s.call("nothing is in my way", test, fd, W)


@scenario
def ranges(s):
    fd = s.open("open", "f", RW)
    os.write(fd, b"x" * 100)
    p = s.peer()
    other = p.open("open by the other", "f", os.O_RDWR)
    s.call("lock 10-19", lock, fd, W, 10, 10)
    p.call("lock 0-9", lock, other, W, 0, 10)
    p.call("lock 20-29", lock, other, W, 20, 10)
    p.call("lock 19", lock, other, W, 19, 1)
    p.call("test 0-100", test, other, W, 0, 100)
    p.call("lock beyond the end of the file", lock, other, W, 1000, 10)
    s.call("what starts at 15", test, fd, W, 15, 10)
    s.call("unlock 13-15", lock, fd, U, 13, 3)
    p.call("in the gap", test, other, W, 13, 3)
    p.call("before the gap", test, other, W, 12, 1)
    p.call("after the gap", test, other, W, 16, 100)
    s.call("read lock of the middle", lock, fd, R, 11, 1)
    p.call("a read lock there", lock, other, R, 11, 1)
    p.call("a read lock beside", lock, other, R, 10, 1)
    s.call("from the end of the file", lock, fd, W, -5, 5, fcntl.F_SETLK, 2)
    p.call("which is", test, other, W, 60, 0)
    s.call("unlock all", lock, fd, U)
    p.call("the rest is free", test, other, W, 16, 50)


@scenario
def limits(s):
    fd = s.open("open", "f", RW)
    p = s.peer()
    other = p.open("open by the other", "f", os.O_RDWR)
    s.call("up to 2^63-1", lock, fd, W, 2**63 - 2, 1)
    p.call("there", test, other, W, 2**63 - 10, 0)
    s.call("from 5 to the end", lock, fd, W, 5, 0)
    p.call("to the end", test, other, W, 0, 0)
    s.call("negative start", lock, fd, W, -1, 1)
    s.call("overflow", lock, fd, W, 2**63 - 1, 2)
    s.call("negative length", lock, fd, W, 4, -2)
    p.call("which is", test, other, W, 0, 4)
    s.call("bad type", lock, fd, 9)
    r = s.open("open to read", "f", os.O_RDONLY)
    w = s.open("open to write", "f", os.O_WRONLY)
    s.call("write lock of what is open to read", lock, r, W, 100, 1)
    s.call("read lock of what is open to write", lock, w, R, 100, 1)


@scenario
def closing(s):
    """Any close of the file by a process drops its locks."""
    fd = s.open("open", "f", RW)
    again = s.open("open again", "f", os.O_RDWR)
    p = s.peer()
    other = p.open("open by the other", "f", os.O_RDWR)
    s.call("lock", lock, fd, W)
    p.call("held", test, other, W)
    s.close(again)
    p.call("after the close of another descriptor", test, other, W)
    s.call("lock again", lock, fd, W)
    q = s.peer()
    q.call("a child has none of it", test, fd, W)
    q.call("close by the child", close, fd)
    p.call("still held", test, other, W)
    s.close(fd)
    p.call("after close", test, other, W)


@scenario
def killed(s):
    fd = s.open("open", "f", RW)
    p = s.peer()
    other = p.open("open by the other", "f", os.O_RDWR)
    p.call("lock by the other", lock, other, W)
    s.call("held", test, fd, W)
    p.kill()
    s.eventually("after it was killed", lambda: test(fd, W), "nothing")
    s.call("lock", lock, fd, W)


@scenario
def waiting(s):
    fd = s.open("open", "f", RW)
    p = s.peer()
    other = p.open("open by the other", "f", os.O_RDWR)
    s.call("lock", lock, fd, W)
    p.begin("the other gets it", lock, other, W, 0, 0, fcntl.F_SETLKW)
    p.waits("the other waits")
    s.call("unlock", lock, fd, U)
    p.end()
    s.call("now it is in the way", test, fd, W)


def lock_until_alarm(fd):
    def ring(number, frame):
        raise InterruptedError(errno.EINTR, "alarm")

    signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, 0.3)
    lock(fd, W, 0, 0, fcntl.F_SETLKW)


@scenario
def interrupted(s):
    fd = s.open("open", "f", RW)
    p = s.peer()
    other = p.open("open by the other", "f", os.O_RDWR)
    s.call("lock", lock, fd, W)
    p.call("the other is interrupted", lock_until_alarm, other)
    s.call("unlock", lock, fd, U)
    s.call("the other has nothing", test, fd, W)
    p.call("the other locks", lock, other, W)


@scenario
def deadlock(s):
    fd = s.open("open", "f", RW)
    p = s.peer()
    other = p.open("open by the other", "f", os.O_RDWR)
    s.call("lock 1", lock, fd, W, 1, 1)
    p.call("the other locks 2", lock, other, W, 2, 1)
    s.call("unlock 1", lock, fd, U, 1, 1)
    p.call("the other gets 1", lock, other, W, 1, 1, fcntl.F_SETLKW)


@scenario
def of_descriptors(s):
    """Locks of open file descriptions."""
    one, two = s.open("one", "f", RW), s.open("two", "f", os.O_RDWR)
    OFD = fcntl.F_OFD_SETLK
    s.call("lock one", lock, one, W, 0, 10, OFD)
    s.call("lock two", lock, two, W, 0, 10, OFD)
    s.call("two elsewhere", lock, two, W, 10, 10, OFD)
    s.call("what is in the way of two", test, two, W, 0, 5, fcntl.F_OFD_GETLK)
    s.call("a lock of the process", lock, two, W, 0, 1)
    s.call("test by the process", test, two, W, 0, 1)
    p = s.peer()
    p.call("a child has it", lock, one, R, 0, 10, OFD)
    s.call("then two reads", lock, two, R, 0, 10, OFD)
    s.close(one)
    p.call("the child closes", close, one)
    s.call("then two writes", lock, two, W, 0, 10, OFD)


@scenario
def flocks(s):
    one, two = s.open("one", "f", RW), s.open("two", "f", os.O_RDWR)
    NB = fcntl.LOCK_NB
    s.call("exclusive", fcntl.flock, one, fcntl.LOCK_EX | NB)
    s.call("exclusive of two", fcntl.flock, two, fcntl.LOCK_EX | NB)
    s.call("shared of two", fcntl.flock, two, fcntl.LOCK_SH | NB)
    s.call("to shared", fcntl.flock, one, fcntl.LOCK_SH | NB)
    s.call("shared beside it", fcntl.flock, two, fcntl.LOCK_SH | NB)
    s.call("to exclusive beside it", fcntl.flock, one, fcntl.LOCK_EX | NB)
    s.call("unlock two", fcntl.flock, two, fcntl.LOCK_UN)
    s.call("to exclusive", fcntl.flock, one, fcntl.LOCK_EX | NB)
    p = s.peer()
    p.call("a child shares it", fcntl.flock, one, fcntl.LOCK_EX | NB)
    fd = p.open("a child opens", "f", os.O_RDWR)
    p.call("which is another", fcntl.flock, fd, fcntl.LOCK_EX | NB)
    p.begin("and gets it", fcntl.flock, fd, fcntl.LOCK_EX)
    p.waits("when it waits")
    s.call("unlock", fcntl.flock, one, fcntl.LOCK_UN)
    p.end()
    s.call("not mine then", fcntl.flock, two, fcntl.LOCK_SH | NB)
    p.call("the child closes", close, fd)
    s.call("mine then", fcntl.flock, two, fcntl.LOCK_SH | NB)


@scenario
def flock_modes(s):
    write_file("f")
    r, w = s.open("to read", "f", os.O_RDONLY), s.open("to write", "f", os.O_WRONLY)
    NB = fcntl.LOCK_NB
    s.call("exclusive of what is open to read", fcntl.flock, r, fcntl.LOCK_EX | NB)
    s.call("unlock", fcntl.flock, r, fcntl.LOCK_UN)
    s.call("shared of what is open to write", fcntl.flock, w, fcntl.LOCK_SH | NB)
    s.call("unlock that", fcntl.flock, w, fcntl.LOCK_UN)
    d = s.open("directory", ".", os.O_RDONLY)
    s.call("of a directory", fcntl.flock, d, fcntl.LOCK_EX | NB)
    s.call("process's lock of a directory", lock, d, R)


@scenario
def flock_and_fcntl(s):
    one = s.open("one", "f", RW)
    p = s.peer()
    two = p.open("two", "f", os.O_RDWR)
    s.call("flock", fcntl.flock, one, fcntl.LOCK_EX | fcntl.LOCK_NB)
    p.call("fcntl of the other", lock, two, W)
    p.call("unlock of the other", lock, two, U)


@scenario
def leases(s):
    write_file("f")
    fd = s.open("open", "f", os.O_RDONLY)
    s.ok("get", fcntl.fcntl, fd, fcntl.F_GETLEASE)


@scenario
def unlinked(s):
    fd = s.open("open", "f", RW)
    p = s.peer()
    other = p.open("open by the other", "f", os.O_RDWR)
    s.call("lock", lock, fd, W)
    os.unlink("f")
    p.call("the other", lock, other, W)
    s.call("lock more", lock, fd, W, 100, 10)
    s.call("unlock", lock, fd, U)
    p.call("the other then", lock, other, W)


@scenario
def data_with_locks(s):
    """A counter in a file, passed between processes under a lock."""
    write_file("n", b"0")
    a, b = s.peer(), s.peer()
    fa, fb = a.open("one opens", "n", os.O_RDWR), b.open("two opens", "n", os.O_RDWR)
    a.begin("one counts", count, fa, 25)
    b.begin("two counts", count, fb, 25)
    a.end()
    b.end()
    s.call("sum", read_file, "n")


def count(fd, times):
    for _ in range(times):
        lock(fd, W, 0, 0, fcntl.F_SETLKW)
        n = int(os.pread(fd, 20, 0)) + 1
        os.pwrite(fd, b"%d" % n, 0)
        lock(fd, U)
