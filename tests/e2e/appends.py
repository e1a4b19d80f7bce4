#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Appending to files that others append to, truncate and read.
#     appends.py list | list-slow         the names of the cases, and of those for a server that is slow to write
#     appends.py CASE DIR1 DIR2 EXPORT    exit status 0: passed
# DIR1 and DIR2 are two mounts of EXPORT, a directory of this machine.
import ctypes
import fcntl
import mmap
import os
import sys
import threading

APPEND = os.O_WRONLY | os.O_APPEND


def equal(a, b):
    if a != b:
        raise AssertionError("%.200r is not %.200r" % (a, b))


def get(path):
    with open(path, "rb") as f:
        return f.read()


class Log:
    """A file that is there, empty, and its three paths."""

    def __init__(self, dirs, name):
        self.here, self.there, self.home = (os.path.join(d, name) for d in dirs)
        with open(self.here, "wb"):
            pass
        self.text = b""

    def open(self, flags=APPEND):
        return [os.open(p, flags) for p in (self.here, self.there)]

    def put(self, fd, line):
        equal(os.write(fd, line), len(line))
        self.text += line

    def put_at_home(self, line):
        with open(self.home, "ab") as f:
            f.write(line)
        self.text += line

    def check(self):
        for path in (self.home, self.here, self.there):
            equal(get(path), self.text)
            equal(os.stat(path).st_size, len(self.text))


def lines_in_turn(dirs, before, after):
    log = Log(dirs, "turns")
    fds = log.open()
    for i in range(40):
        fd = fds[i % 2]
        before(fd)
        log.put(fd, b"line %d of mount %d\n" % (i, i % 2))
        after(fd)
    for fd in fds:
        os.close(fd)
    log.check()


def turns_with_lock(dirs):
    def after(fd):
        os.fsync(fd)
        fcntl.lockf(fd, fcntl.LOCK_UN)

    lines_in_turn(dirs, lambda fd: fcntl.lockf(fd, fcntl.LOCK_EX), after)


def turns(dirs):
    lines_in_turn(dirs, lambda fd: None, lambda fd: None)


def turns_opened_anew(dirs):
    log = Log(dirs, "anew")
    for i in range(30):
        fd = os.open((log.here, log.there)[i % 2], APPEND)
        log.put(fd, b"%d\n" % i)
        os.close(fd)
    log.check()


def crowd(dirs, take, release):
    log = Log(dirs, "crowd")
    pids = []
    for who in range(6):
        pid = os.fork()
        if pid == 0:
            fd = os.open((log.here, log.there)[who % 2], APPEND)
            for n in range(30):
                take(fd)
                os.write(fd, b"%d %03d %s\n" % (who, n, b"x" * (who * 7)))
                release(fd)
            os._exit(0)
        pids.append(pid)
    for pid in pids:
        equal(os.waitpid(pid, 0)[1], 0)
    want = sorted(b"%d %03d %s" % (w, n, b"x" * (w * 7)) for w in range(6) for n in range(30))
    for path in (log.home, log.here, log.there):
        equal(sorted(get(path).splitlines()), want)


def crowd_with_lockf(dirs):
    crowd(dirs, lambda fd: fcntl.lockf(fd, fcntl.LOCK_EX),
          lambda fd: fcntl.lockf(fd, fcntl.LOCK_UN))


def crowd_with_flock(dirs):
    crowd(dirs, lambda fd: fcntl.flock(fd, fcntl.LOCK_EX),
          lambda fd: fcntl.flock(fd, fcntl.LOCK_UN))


def crowd_of_one_mount(dirs):
    """Without a lock: one machine's appends are in order anyhow."""
    crowd((dirs[0], dirs[0], dirs[2]), lambda fd: None, lambda fd: None)


def end_sought_under_lock(dirs):
    log = Log(dirs, "sought")
    fds = log.open(os.O_RDWR)
    for i in range(40):
        fd = fds[i % 2]
        fcntl.lockf(fd, fcntl.LOCK_EX)
        equal(os.lseek(fd, 0, os.SEEK_END), len(log.text))
        equal(os.fstat(fd).st_size, len(log.text))
        log.put(fd, b"line %d\n" % i)
        fcntl.lockf(fd, fcntl.LOCK_UN)
    log.check()


def end_sought_after_open(dirs):
    log = Log(dirs, "reopened")
    for i in range(20):
        fd = os.open((log.here, log.there)[i % 2], os.O_RDWR)
        equal(os.lseek(fd, 0, os.SEEK_END), len(log.text))
        log.put(fd, b"line %d\n" % i)
        os.close(fd)
    log.check()


def truncated(dirs, cut):
    """logrotate's copytruncate."""
    log = Log(dirs, "truncated")
    fd = log.open()[0]
    for i in range(10):
        for n in range(50):
            log.put(fd, b"before %d %d\n" % (i, n))
        os.fsync(fd)
        log.check()
        cut(log)
        log.text = b""
        log.put(fd, b"after %d\n" % i)
        log.check()


def truncated_at_the_server(dirs):
    truncated(dirs, lambda log: os.truncate(log.home, 0))


def truncated_by_another_mount(dirs):
    truncated(dirs, lambda log: os.truncate(log.there, 0))


def lines_of_others_live(dirs):
    log = Log(dirs, "others")
    here, there = log.open()
    for i in range(10):
        log.put(here, b"here %d\n" % i)
        log.put_at_home(b"at the server, a longer line %d\n" % i)
        log.put(here, b"here again %d\n" % i)
        log.put(there, b"there %d\n" % i)
        log.put_at_home(b"s\n")
        log.put(there, b"there again %d\n" % i)
    log.check()


def large(dirs):
    """Longer than what the kernel and the server take at once."""
    log = Log(dirs, "large")
    here, there = log.open()
    for i in range(3):
        log.put_at_home(b"home %d\n" % i)
        log.put(here, b"".join(b"%015d\n" % n for n in range(200000 + i)))
        log.put(there, b"there %d\n" % i)
    log.check()


def direct(dirs):
    log = Log(dirs, "direct")
    here, there = log.open(APPEND | os.O_DIRECT)[0], log.open()[1]
    buf = mmap.mmap(-1, 5 << 20)
    for i in range(3):
        log.put(there, b"%08d" % i * 512)
        buf[:] = b"".join(b"%d %013d\n" % (i, n) for n in range(len(buf) // 16))
        equal(os.write(here, buf), len(buf))
        log.text += buf[:]
    log.check()


def flag_set_later(dirs):
    log = Log(dirs, "later")
    fd = os.open(log.here, os.O_RDWR)
    log.put(fd, b"first\n")
    os.fsync(fd)  # it is gathered until then
    log.put_at_home(b"somebody else\n")
    fcntl.fcntl(fd, fcntl.F_SETFL, os.O_APPEND)
    log.put(fd, b"second\n")
    log.check()
    log.put_at_home(b"and again\n")
    fcntl.fcntl(fd, fcntl.F_SETFL, 0)
    os.pwrite(fd, b"FIRST", 0)
    os.fsync(fd)
    log.text = b"FIRST" + log.text[5:]
    log.check()


def readers(dirs):
    """Who has read the file here, and keeps it open, sees it as it is."""
    log = Log(dirs, "readers")
    for n in range(300):
        log.put_at_home(b"line %d\n" % n)
    fd, reads = log.open()[0], os.open(log.here, os.O_RDONLY)
    for i in range(20):
        equal(os.pread(reads, 1 << 20, 0), log.text)
        log.put_at_home(b"of the server %d\n" % i)
        log.put(fd, b"appended %d\n" % i)
        equal(os.fstat(reads).st_size, len(log.text))
        equal(os.pread(reads, 1 << 20, 0), log.text)
        os.truncate(log.home, len(log.text) - 100)
        log.text = log.text[:-100]
        log.put(fd, b"appended again %d\n" % i)
        equal(os.lseek(reads, 0, os.SEEK_END), len(log.text))
        equal(os.pread(reads, 1 << 20, 0), log.text)
    m = mmap.mmap(reads, 0, prot=mmap.PROT_READ)
    equal(m[:], log.text)


def same_size_and_time(dirs):
    """As the kernel believes the file to be, but for what is in it."""
    log = Log(dirs, "same")
    fd, reads = log.open()[0], os.open(log.here, os.O_RDONLY)
    for i in range(10):
        log.put_at_home(b"0123456789" * 10)
        equal(os.read(os.open(log.here, os.O_RDONLY), 1 << 20), log.text)
        seen = os.stat(log.here)
        os.truncate(log.home, len(log.text) - 10)
        log.text = log.text[:-10]
        log.put(fd, b"abcdefghij")
        log.put_at_home(b"ABCDEFGHIJ")
        os.utime(log.home, ns=(seen.st_atime_ns, seen.st_mtime_ns))
        equal(os.pread(reads, 1 << 20, 0), log.text)
        log.check()


def shared_with_a_child(dirs):
    log = Log(dirs, "child")
    here, there = log.open()
    for i in range(10):
        pid = os.fork()
        if pid == 0:
            os.write(here, b"child %d\n" % i)
            os._exit(0)
        equal(os.waitpid(pid, 0)[1], 0)
        log.text += b"child %d\n" % i
        log.put(there, b"other mount %d\n" % i)
        log.put(here, b"parent %d\n" % i)
        log.put(os.dup(here), b"by a copy %d\n" % i)
    log.check()


def mapped_pages_stay(dirs):
    """What is written through a mapping of such a descriptor goes where it was mapped."""
    log = Log(dirs, "mapped")
    fd = os.open(log.here, os.O_RDWR | os.O_APPEND)
    log.put(fd, b"0123456789" * 1000)
    with mmap.mmap(fd, 10000) as m:
        m[20:24] = b"MMAP"
        m[9000:9004] = b"page"
        m.flush()
    log.text = log.text[:20] + b"MMAP" + log.text[24:9000] + b"page" + log.text[9004:]
    log.check()
    log.put(fd, b"end\n")
    log.check()


def as_it_is_mapped(fd, size):
    """What the kernel has in the first page, without that it asks for attributes as at a read."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    return ctypes.string_at(libc.mmap(None, ctypes.c_size_t(4096), mmap.PROT_READ, mmap.MAP_SHARED, fd, ctypes.c_long(0)), size)


def read_beside(dirs, flags, at):
    """The page that is written to is dropped, for somebody has touched the file, and read again, before the server has written."""
    log = Log(dirs, "beside%d" % at)
    log.put_at_home(b"a" * 165)
    reads = os.open(log.here, os.O_RDONLY)
    equal(os.pread(reads, 4096, 0), log.text)
    fd = os.open(log.here, os.O_WRONLY | flags)
    writer = threading.Thread(target=os.pwrite, args=(fd, b"b" * 15, at))
    writer.start()
    for _ in range(8):
        os.utime(log.home)
        with open(log.here, "rb") as f, mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ) as m:
            equal(m[:15], b"a" * 15)
        writer.join(0.05)
    writer.join()
    log.text = log.text[:at] + b"b" * 15 + log.text[at + 15:]
    equal(as_it_is_mapped(reads, len(log.text)), log.text)
    log.check()


def read_beside_an_append(dirs):
    read_beside(dirs, os.O_APPEND, 165)


def read_beside_a_synchronous_write(dirs):
    read_beside(dirs, os.O_DSYNC, 100)


SLOW = [read_beside_an_append, read_beside_a_synchronous_write]
CASES = [turns_with_lock, turns, turns_opened_anew, crowd_with_lockf, crowd_with_flock,
         crowd_of_one_mount, end_sought_under_lock, end_sought_after_open,
         truncated_at_the_server, truncated_by_another_mount, lines_of_others_live, large, direct,
         flag_set_later, readers, same_size_and_time, shared_with_a_child, mapped_pages_stay]

if sys.argv[1] == "list":
    print(*(c.__name__ for c in CASES))
elif sys.argv[1] == "list-slow":
    print(*(c.__name__ for c in SLOW))
else:
    {c.__name__: c for c in CASES + SLOW}[sys.argv[1]](sys.argv[2:5])
