#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Locks between processes, on one mount or on two of the same directory.
#     locks.py list              the names of the cases
#     locks.py CASE DIR1 DIR2    exit status 0: passed
#     locks.py hold FILE TYPE START LEN     locks, says so, and holds until standard input ends
import errno
import fcntl
import os
import select
import signal
import socket
import struct
import sys
import threading
import time

R, W, U = fcntl.F_RDLCK, fcntl.F_WRLCK, fcntl.F_UNLCK
OFD_GETLK, OFD_SETLK, OFD_SETLKW = 36, 37, 38
FLOCK = "hhqqixxxx"


def lock_op(fd, cmd, kind, start, length):
    arg = struct.pack(FLOCK, kind, os.SEEK_SET, start, length, 0)
    return struct.unpack(FLOCK, fcntl.fcntl(fd, cmd, arg))


class Actor:
    """A process that does as told, one command after the other."""

    def __init__(self, path, flags=os.O_RDWR):
        self.sock, child = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            for a in actors:
                a.sock.close()
            self.sock.close()
            try:
                self.serve(child)
            finally:
                os._exit(0)
        child.close()
        actors.append(self)
        if path:
            assert self.do("open", path, flags) >= 0

    def serve(self, sock):
        signal.signal(signal.SIGUSR1, self.interrupted)
        fds = []
        while True:
            words = sock.recv(4096).decode()
            if not words:
                return
            cmd, *args = eval(words)
            try:
                if cmd == "open":
                    fds.append(os.open(*args))
                    res = len(fds) - 1
                elif cmd == "close":
                    os.close(fds[args[0]])
                    res = 0
                elif cmd == "dup":
                    fds.append(os.dup(fds[args[0]]))
                    res = len(fds) - 1
                elif cmd == "flock":
                    res = fcntl.flock(fds[args[0]], args[1])
                elif cmd == "lock":
                    res = lock_op(fds[args[0]], *args[1:])
                elif cmd == "pread":
                    res = os.pread(fds[args[0]], args[1], args[2])
                elif cmd == "pwrite":
                    res = os.pwrite(fds[args[0]], args[1], args[2])
                elif cmd == "exit":
                    return
            except OSError as e:
                res = -e.errno
            except Interrupted:
                res = -errno.EINTR
            sock.send(repr(res).encode())

    def interrupted(self, number, frame):
        raise Interrupted

    def start(self, *words):
        self.sock.send(repr(words).encode())

    def ended(self, seconds):
        return bool(select.select([self.sock], [], [], seconds)[0])

    def result(self, seconds=30):
        assert self.ended(seconds), "no answer"
        return eval(self.sock.recv(4096).decode())

    def do(self, *words):
        self.start(*words)
        return self.result()

    def try_lock(self, kind, start, length, fd=0):
        """0, or a negative errno"""
        res = self.do("lock", fd, fcntl.F_SETLK, kind, start, length)
        return res if isinstance(res, int) else 0

    def wait_lock(self, kind, start, length, fd=0):
        self.start("lock", fd, fcntl.F_SETLKW, kind, start, length)

    def granted(self, seconds=30):
        return isinstance(self.result(seconds), tuple)

    def kill(self, sig=signal.SIGKILL):
        os.kill(self.pid, sig)
        if sig == signal.SIGKILL:
            self.reap()

    def reap(self, seconds=10):
        until = time.monotonic() + seconds
        while os.waitpid(self.pid, os.WNOHANG)[0] == 0:
            assert time.monotonic() < until, "the process does not end"
            time.sleep(0.01)
        actors.remove(self)
        self.sock.close()

    def exit(self):
        self.start("exit")
        self.reap()


class Interrupted(Exception):
    pass


actors = []
EAGAIN, EBADF, EINTR = -errno.EAGAIN, -errno.EBADF, -errno.EINTR


def equal(a, b):
    assert a == b, "%r is not %r" % (a, b)


def fresh(dirs, name="file", content=b"x" * 1000):
    with open(os.path.join(dirs[0], name), "wb") as f:
        f.write(content)
    return [os.path.join(d, name) for d in dirs]


def on_kernels_client(path):
    dev = os.stat(path).st_dev
    number = "%d:%d" % (os.major(dev), os.minor(dev))
    with open("/proc/self/mountinfo") as f:
        mounts = [line.split() for line in f]
    return any(m[2] == number and m[m.index("-") + 1].startswith("nfs") for m in mounts)


FAR = 1 << 40


def keep_owner(fd, path, number):
    """For who locks again right after an unlock, below FAR. The kernel's client gives an owner back
    when it holds nothing (FREE_STATEID) and may name the next one the same. Where its LOCK overtakes
    that, the kernel's server grants it, and then drops it with the old one. Who keeps a byte of his
    own keeps the owner."""
    if on_kernels_client(path):
        lock_op(fd, fcntl.F_SETLK, W, FAR + number, 1)


def shared_and_exclusive(dirs):
    paths = fresh(dirs)
    a, b = Actor(paths[0]), Actor(paths[1])
    equal(a.try_lock(W, 0, 10), 0)
    equal(b.try_lock(W, 5, 10), EAGAIN)
    equal(b.try_lock(R, 9, 1), EAGAIN)
    equal(b.try_lock(W, 10, 10), 0)
    equal(a.try_lock(W, 0, 0), EAGAIN)
    equal(b.try_lock(U, 0, 0), 0)
    equal(a.try_lock(R, 0, 10), 0)  # a downgrade
    equal(b.try_lock(R, 0, 10), 0)
    equal(a.try_lock(W, 0, 10), EAGAIN)  # no upgrade while others read
    equal(b.try_lock(U, 0, 10), 0)
    equal(a.try_lock(W, 0, 10), 0)
    equal(a.try_lock(U, 0, 0), 0)
    equal(b.try_lock(W, 0, 0), 0)


def getlk(dirs):
    paths = fresh(dirs)
    a, b = Actor(paths[0]), Actor(paths[1])
    equal(b.do("lock", 0, fcntl.F_GETLK, W, 0, 0)[0], U)
    equal(a.try_lock(W, 100, 50), 0)
    got = b.do("lock", 0, fcntl.F_GETLK, R, 0, 0)
    equal(got[:4], (W, os.SEEK_SET, 100, 50))
    if dirs[0] == dirs[1]:  # of another machine's process nobody tells
        equal(got[4], a.pid)
    equal(a.do("lock", 0, fcntl.F_GETLK, W, 0, 0)[0], U)  # its own is not in the way
    equal(b.do("lock", 0, fcntl.F_GETLK, W, 150, 0)[0], U)
    equal(a.try_lock(U, 0, 0), 0)
    equal(a.try_lock(R, 7, 0), 0)
    equal(b.do("lock", 0, fcntl.F_GETLK, R, 0, 0)[0], U)
    equal(b.do("lock", 0, fcntl.F_GETLK, W, 0, 0)[:4], (R, os.SEEK_SET, 7, 0))


def ranges_split(dirs):
    paths = fresh(dirs)
    a, b = Actor(paths[0]), Actor(paths[1])
    equal(a.try_lock(W, 0, 100), 0)
    equal(a.try_lock(U, 40, 20), 0)
    equal(b.try_lock(W, 40, 20), 0)
    equal(b.try_lock(W, 39, 1), EAGAIN)
    equal(b.try_lock(W, 60, 1), EAGAIN)
    equal(a.try_lock(R, 10, 10), 0)
    equal(b.try_lock(R, 10, 10), 0)
    equal(b.try_lock(R, 9, 1), EAGAIN)
    equal(b.try_lock(R, 20, 1), EAGAIN)
    equal(b.try_lock(U, 0, 0), 0)
    equal(a.try_lock(W, 0, 0), 0)  # all of it again, in one
    equal(b.try_lock(R, 1 << 40, 1), EAGAIN)
    equal(a.try_lock(U, 1, 0), 0)
    equal(b.try_lock(W, 1, 0), 0)
    equal(b.try_lock(R, 0, 1), EAGAIN)


def high_offsets(dirs):
    top = (1 << 63) - 1
    paths = fresh(dirs)
    a, b = Actor(paths[0]), Actor(paths[1])
    equal(a.try_lock(W, top - 10, 5), 0)
    equal(b.try_lock(W, top - 5, 1), 0)
    equal(b.try_lock(W, top - 6, 1), EAGAIN)
    equal(b.try_lock(R, top, 1), 0)
    equal(b.try_lock(W, 0, 0), EAGAIN)
    got = b.do("lock", 0, fcntl.F_GETLK, R, 1 << 62, 0)
    equal(got[:4], (W, os.SEEK_SET, top - 10, 5))
    equal(a.try_lock(U, 0, 0), 0)
    equal(b.try_lock(W, 0, 0), 0)
    equal(a.try_lock(R, top, 1), EAGAIN)


def handed_over_in_order(dirs):
    """Waiters of one mount get the lock in the order in which they asked."""
    for n in (0, 1):
        paths = fresh(dirs)
        holder = Actor(paths[0])
        equal(holder.try_lock(W, 0, 0), 0)
        waiters = []
        for i in range(4):
            w = Actor(paths[n])
            w.wait_lock(W, i, 50)
            assert not w.ended(0.3)
            waiters.append(w)
        equal(holder.try_lock(U, 0, 0), 0)
        for i, w in enumerate(waiters):
            assert w.granted(), (n, i)
            assert not any(x.ended(0.2) for x in waiters[i + 1:])
            if i % 2:
                equal(w.try_lock(U, 0, 0), 0)
            else:
                w.exit()


def readers_together(dirs):
    paths = fresh(dirs)
    holder = Actor(paths[0])
    equal(holder.try_lock(W, 0, 0), 0)
    readers = [Actor(paths[i % 2]) for i in range(4)]
    for r in readers:
        r.wait_lock(R, 0, 10)
    assert not any(r.ended(0.1) for r in readers)
    equal(holder.try_lock(U, 0, 0), 0)
    for r in readers:
        assert r.granted()


def killed_waiter(dirs):
    paths = fresh(dirs)
    holder, waiter, next_one = Actor(paths[0]), Actor(paths[1]), Actor(paths[1])
    equal(holder.try_lock(W, 0, 10), 0)
    waiter.wait_lock(W, 0, 10)
    assert not waiter.ended(0.3)
    next_one.wait_lock(W, 0, 10)
    assert not next_one.ended(0.1)
    waiter.kill()
    equal(holder.try_lock(U, 0, 10), 0)
    assert next_one.granted()
    equal(next_one.try_lock(U, 0, 0), 0)
    equal(holder.try_lock(W, 0, 0), 0)


def interrupted_waiter(dirs):
    paths = fresh(dirs)
    holder, waiter = Actor(paths[0]), Actor(paths[1])
    equal(holder.try_lock(W, 0, 10), 0)
    equal(waiter.try_lock(R, 20, 10), 0)
    waiter.wait_lock(W, 0, 30)
    assert not waiter.ended(0.3)
    waiter.kill(signal.SIGUSR1)
    equal(waiter.result(), EINTR)
    equal(holder.try_lock(U, 0, 0), 0)
    equal(holder.try_lock(W, 0, 20), 0)  # nothing of what was not granted is there
    equal(holder.try_lock(R, 20, 10), 0)
    equal(holder.try_lock(W, 20, 10), EAGAIN)  # and what was is


def released_by_close(dirs):
    paths = fresh(dirs)
    a, b = Actor(paths[0]), Actor(paths[1])
    equal(a.try_lock(W, 0, 10), 0)
    other = a.do("open", paths[0], os.O_RDONLY)
    equal(a.do("close", other), 0)  # any close of the file lets all go
    equal(b.try_lock(W, 0, 0), 0)
    equal(b.try_lock(U, 0, 0), 0)
    dup = a.do("dup", 0)
    equal(a.try_lock(W, 0, 10, dup), 0)
    equal(a.do("close", dup), 0)
    equal(b.try_lock(W, 0, 0), 0)


def released_by_exit(dirs):
    paths = fresh(dirs)
    b = Actor(paths[1])
    for how in ("exit", "kill"):
        a = Actor(paths[0])
        equal(a.try_lock(W, 0, 10), 0)
        b.wait_lock(W, 0, 10)
        assert not b.ended(0.2)
        getattr(a, how)()
        assert b.granted()
        equal(b.try_lock(U, 0, 0), 0)
        a = Actor(paths[0])
        equal(a.do("flock", 0, fcntl.LOCK_EX), None)
        b.start("flock", 0, fcntl.LOCK_SH)
        assert not b.ended(0.2)
        getattr(a, how)()
        equal(b.result(), None)
        equal(b.do("flock", 0, fcntl.LOCK_UN), None)


def flock_whole_files(dirs):
    nb = fcntl.LOCK_NB
    paths = fresh(dirs)
    a, b = Actor(paths[0]), Actor(paths[1])
    equal(a.do("flock", 0, fcntl.LOCK_EX), None)
    equal(b.do("flock", 0, fcntl.LOCK_SH | nb), EAGAIN)
    b.start("flock", 0, fcntl.LOCK_SH)
    assert not b.ended(0.3)
    equal(a.do("flock", 0, fcntl.LOCK_SH), None)
    equal(b.result(), None)
    equal(a.do("flock", 0, fcntl.LOCK_EX | nb), EAGAIN)
    equal(b.do("flock", 0, fcntl.LOCK_UN), None)
    equal(a.do("flock", 0, fcntl.LOCK_EX | nb), None)
    # it belongs to the open file: another descriptor of the same does not let it go
    other, dup = a.do("open", paths[0], os.O_RDWR), a.do("dup", 0)
    equal(a.do("flock", other, fcntl.LOCK_EX | nb), EAGAIN)
    equal(a.do("close", other), 0)
    equal(a.do("close", 0), 0)
    equal(b.do("flock", 0, fcntl.LOCK_EX | nb), EAGAIN)
    equal(a.do("close", dup), 0)
    equal(b.do("flock", 0, fcntl.LOCK_EX), None)


def open_file_locks(dirs):
    paths = fresh(dirs)
    a, b = Actor(paths[0]), Actor(paths[1])
    second = a.do("open", paths[0], os.O_RDWR)
    equal(a.do("lock", 0, OFD_SETLK, W, 0, 10)[0], W)
    equal(a.do("lock", second, OFD_SETLK, W, 0, 10), EAGAIN)
    equal(b.do("lock", 0, OFD_SETLK, R, 0, 10), EAGAIN)
    equal(b.try_lock(R, 0, 10), EAGAIN)
    equal(b.do("lock", 0, OFD_GETLK, W, 0, 0)[:4], (W, os.SEEK_SET, 0, 10))
    equal(a.do("close", second), 0)
    equal(b.try_lock(R, 0, 10), EAGAIN)
    b.start("lock", 0, OFD_SETLKW, W, 5, 1)
    assert not b.ended(0.2)
    equal(a.do("close", 0), 0)
    equal(b.result()[0], W)


# On one mount a closed file's lock is nobody's when close(2) has returned.
def free_after_close(dirs):
    nb = fcntl.LOCK_NB
    path = fresh(dirs)[0]
    a, b = Actor(None), Actor(path)
    for n in range(100):
        fd = a.do("open", path, os.O_RDWR)
        if n % 2:
            equal(a.do("flock", fd, fcntl.LOCK_EX | nb), None)
            equal(b.do("flock", 0, fcntl.LOCK_SH | nb), EAGAIN)
            equal(a.do("close", fd), 0)
            equal(b.do("flock", 0, fcntl.LOCK_SH | nb), None)
            equal(b.do("flock", 0, fcntl.LOCK_UN), None)
        else:
            equal(a.do("lock", fd, OFD_SETLK, W, 0, 10)[0], W)
            equal(b.try_lock(R, 0, 10), EAGAIN)
            equal(a.do("close", fd), 0)
            equal(b.try_lock(R, 0, 10), 0)
            equal(b.try_lock(U, 0, 10), 0)


def as_it_is_open(dirs):
    paths = fresh(dirs)
    r, w = Actor(paths[0], os.O_RDONLY), Actor(paths[1], os.O_WRONLY)
    equal(r.try_lock(W, 0, 1), EBADF)
    equal(w.try_lock(R, 0, 1), EBADF)
    equal(r.try_lock(R, 0, 1), 0)
    equal(w.try_lock(W, 1, 1), 0)
    equal(w.try_lock(W, 0, 1), EAGAIN)
    equal(r.try_lock(U, 0, 0), 0)
    equal(w.try_lock(U, 0, 0), 0)
    equal(r.do("flock", 0, fcntl.LOCK_EX | fcntl.LOCK_NB), EBADF)
    equal(w.do("flock", 0, fcntl.LOCK_SH | fcntl.LOCK_NB), EBADF)
    equal(r.do("flock", 0, fcntl.LOCK_SH | fcntl.LOCK_NB), None)
    equal(w.do("flock", 0, fcntl.LOCK_EX | fcntl.LOCK_NB), EAGAIN)


def through_another_open(dirs):
    """A process locks through two opens of different access: one lock owner."""
    paths = fresh(dirs)
    a, b = Actor(paths[0], os.O_RDONLY), Actor(paths[1])
    writer = a.do("open", paths[0], os.O_WRONLY)
    equal(a.try_lock(R, 0, 10), 0)
    equal(a.try_lock(W, 5, 10, writer), 0)
    equal(b.try_lock(R, 0, 5), 0)
    equal(b.try_lock(R, 5, 1), EAGAIN)
    equal(a.do("lock", 0, fcntl.F_GETLK, R, 0, 0)[0], U)
    equal(a.do("pwrite", writer, b"new", 0), 3)
    equal(a.do("close", 0), 0)
    equal(b.try_lock(W, 0, 0), 0)


def counting(dirs):
    """Read, add one, write, under a lock: caches of two mounts agree."""
    paths = fresh(dirs, "counter", b"%08d" % 0)
    rounds, procs = 60, 6
    pids = []
    for i in range(procs):
        pid = os.fork()
        if pid == 0:
            fd = os.open(paths[i % 2], os.O_RDWR)
            keep_owner(fd, paths[i % 2], i)
            for n in range(rounds):
                if i < procs - 2:
                    fcntl.lockf(fd, fcntl.LOCK_EX, 4, 2)
                else:  # other bytes with it
                    fcntl.lockf(fd, fcntl.LOCK_EX, FAR)
                value = int(os.pread(fd, 100, 0)) + 1
                os.pwrite(fd, b"%08d" % value, 0)
                fcntl.lockf(fd, fcntl.LOCK_UN, FAR)
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        equal(os.waitpid(pid, 0)[1], 0)
    for path in paths:
        with open(path) as f:
            equal(int(f.read()), rounds * procs)


def append_under(dirs, lock):
    """Records at the end of a file whose size others change."""
    paths = fresh(dirs, "log", b"")
    pids = []
    for i in range(4):
        pid = os.fork()
        if pid == 0:
            fd = os.open(paths[i % 2], os.O_RDWR)
            if lock is not fcntl.flock:  # which is of all bytes
                keep_owner(fd, paths[i % 2], i)
            for n in range(40):
                lock(fd, fcntl.LOCK_EX)
                end = os.fstat(fd).st_size
                os.pwrite(fd, b"%d %03d\n" % (i, n), end)
                lock(fd, fcntl.LOCK_UN)
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        equal(os.waitpid(pid, 0)[1], 0)
    with open(paths[1]) as f:
        lines = f.read().splitlines()
    equal(sorted(lines), sorted("%d %03d" % (i, n) for i in range(4) for n in range(40)))


def appending(dirs):
    append_under(dirs, lambda fd, how: fcntl.lockf(fd, how, FAR))


def appending_flock(dirs):
    append_under(dirs, fcntl.flock)


def many_owners(dirs):
    paths = fresh(dirs)
    them = [Actor(paths[i % 2]) for i in range(24)]
    for i, a in enumerate(them):
        equal(a.try_lock(W, i, 1), 0)
    for i, a in enumerate(them):
        equal(a.try_lock(R, (i + 1) % 24, 1), EAGAIN)
    for a in them[1:]:
        a.exit()
    equal(them[0].try_lock(W, 0, 0), 0)


def many_ranges(dirs):
    paths = fresh(dirs)
    a, b = Actor(paths[0]), Actor(paths[1])
    for i in range(200):
        equal(a.try_lock(W if i % 2 else R, i * 3, 2), 0)
    equal(b.try_lock(R, 0, 2), 0)
    equal(b.try_lock(R, 3, 1), EAGAIN)
    equal(b.try_lock(W, 2, 1), 0)
    equal(a.try_lock(U, 0, 0), 0)
    equal(b.try_lock(W, 0, 0), 0)


def threads_of_one_process(dirs):
    """One thread waits; another one of the same process is not in its way, and lets others go on."""
    paths = fresh(dirs)
    b, c = Actor(paths[1]), Actor(paths[1])
    equal(b.try_lock(W, 0, 10), 0)
    fd = os.open(paths[0], os.O_RDWR)
    lock_op(fd, fcntl.F_SETLK, W, 20, 10)
    t = threading.Thread(target=lock_op, args=(fd, fcntl.F_SETLKW, W, 0, 10))
    t.start()
    time.sleep(0.3)
    assert t.is_alive()
    c.wait_lock(W, 20, 10)
    assert not c.ended(0.2)
    lock_op(fd, fcntl.F_SETLK, U, 20, 10)
    assert c.granted()
    c.exit()
    equal(b.try_lock(U, 0, 10), 0)
    t.join(30)
    assert not t.is_alive()
    equal(b.try_lock(R, 0, 1), EAGAIN)
    os.close(fd)
    equal(b.try_lock(W, 0, 0), 0)


def sqlite_two_writers(dirs):
    import sqlite3
    fresh(dirs, "two.db", b"")
    db = sqlite3.connect(os.path.join(dirs[0], "two.db"))
    db.execute("pragma journal_mode = delete")
    with db:
        db.execute("create table t (who integer, n integer)")
    db.close()
    pids = []
    for i in range(2):
        pid = os.fork()
        if pid == 0:
            path = os.path.join(dirs[i], "two.db")
            keep_owner(os.open(path, os.O_RDWR), path, i)
            db = sqlite3.connect(path, timeout=60)
            for n in range(25):
                with db:
                    db.execute("begin immediate")
                    last = db.execute("select count(*) from t").fetchone()[0]
                    db.execute("insert into t values (?, ?)", (i, last))
            db.close()
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        equal(os.waitpid(pid, 0)[1], 0)
    for d in dirs:
        db = sqlite3.connect(os.path.join(d, "two.db"))
        equal(db.execute("pragma integrity_check").fetchone()[0], "ok")
        equal([r[0] for r in db.execute("select n from t order by n")], list(range(50)))
        db.close()


CASES = [shared_and_exclusive, getlk, ranges_split, high_offsets, handed_over_in_order,
         readers_together, killed_waiter, interrupted_waiter, released_by_close, released_by_exit,
         flock_whole_files, open_file_locks, free_after_close, as_it_is_open, through_another_open, counting,
         appending, appending_flock, many_owners, many_ranges, threads_of_one_process, sqlite_two_writers]


def hold(path, kind, start, length):
    fd = os.open(path, os.O_RDWR)
    lock_op(fd, fcntl.F_SETLKW, {"r": R, "w": W}[kind], int(start), int(length))
    print("held", flush=True)
    sys.stdin.read()


def main(argv):
    if argv[1] == "list":
        print("\n".join(c.__name__ for c in CASES))
    elif argv[1] == "hold":
        hold(*argv[2:])
    else:
        try:
            {c.__name__: c for c in CASES}[argv[1]](argv[2:4])
        finally:
            for a in list(actors):
                os.kill(a.pid, signal.SIGKILL)
                os.waitpid(a.pid, 0)


main(sys.argv)
