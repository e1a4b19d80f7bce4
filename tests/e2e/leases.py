#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# A lock that is lost because its holder's daemon was stopped for longer than the lease: what is
# read and written under it fails, from the very first request on.
#     leases.py KIND FIRST DIR1 DIR2 EXPORT DAEMON
# KIND: posix, ofd, flock; FIRST: what the holder on DIR1 does first; DAEMON: of DIR1, its process
# ID. A rival on DIR2 waits for the lock and gets it once the lease is over.
import errno
import fcntl
import mmap
import os
import signal
import struct
import sys

SIZE = 1 << 16
OFD_GETLK, OFD_SETLK, OFD_SETLKW = 36, 37, 38
kind, first, dir1, dir2, export, daemon = sys.argv[1:7]


def record(cmd, fd, what):
    arg = struct.pack("hhqqixxxx", what, os.SEEK_SET, 0, 0, 0)
    return struct.unpack("hhqqixxxx", fcntl.fcntl(fd, cmd, arg))


def lock(fd, wait=True):
    nb = 0 if wait else fcntl.LOCK_NB
    if kind == "posix":
        fcntl.lockf(fd, fcntl.LOCK_EX | nb)
    elif kind == "flock":
        fcntl.flock(fd, fcntl.LOCK_EX | nb)
    else:
        record(OFD_SETLKW if wait else OFD_SETLK, fd, fcntl.F_WRLCK)


def unlock(fd):
    if kind == "posix":
        fcntl.lockf(fd, fcntl.LOCK_UN)
    elif kind == "flock":
        fcntl.flock(fd, fcntl.LOCK_UN)
    else:
        record(OFD_SETLK, fd, fcntl.F_UNLCK)


def fails(call):
    try:
        call()
    except OSError as e:
        assert e.errno == errno.EIO, e
        return
    raise AssertionError("it did not fail")


def content(name):
    with open(os.path.join(export, name), "rb") as f:
        return f.read()


def held(name):
    path = os.path.join(dir1, name)
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.write(fd, b"m" * SIZE)
    os.fsync(fd)
    lock(fd)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)  # what is read comes from the server
    return fd


def taken(name):  # by the rival; once the lease is over
    fd = os.open(os.path.join(dir2, name), os.O_RDWR)
    lock(fd)
    os.pwrite(fd, b"r" * SIZE, 0)
    os.fsync(fd)
    return fd


def mapped(m):
    m[0:4] = b"mine"
    m.flush()


a, free = held("taken"), held("free")
second = os.open(os.path.join(dir1, "taken"), os.O_RDWR)
m = mmap.mmap(a, SIZE)
m[0]
tries = {
    "write": lambda: os.pwrite(a, b"mine", 0),
    "read": lambda: os.pread(a, 4096, SIZE // 2),
    "mmap": lambda: mapped(m),
    "truncate": lambda: os.ftruncate(a, 10),
    "other": lambda: os.pwrite(second, b"mine", 100),
}
os.kill(int(daemon), signal.SIGSTOP)
try:
    b = taken("taken")
finally:
    os.kill(int(daemon), signal.SIGCONT)

fails(tries[first])
for name in tries:
    if name != "mmap":  # its pages are gone by now: that is a SIGBUS
        fails(tries[name])
assert content("taken") == b"r" * SIZE
if kind != "flock":
    assert record(OFD_GETLK if kind == "ofd" else fcntl.F_GETLK, a, fcntl.F_WRLCK)[0] == fcntl.F_WRLCK
# what nobody else has asked for is lost, too: nobody knows
fails(lambda: os.pwrite(free, b"mine", 0))
assert content("free") == b"m" * SIZE

# it stays lost when the rival has gone
unlock(b)
fails(tries["write"])
assert content("taken") == b"r" * SIZE
m.close()

for fd, name in ((a, "taken"), (free, "free")):  # once unlocked all is as ever
    unlock(fd)
    lock(fd)
    assert os.pwrite(fd, b"again", 0) == 5 and os.pread(fd, 5, 0) == b"again"
    os.fsync(fd)
    assert content(name)[:5] == b"again"
try:
    lock(b, False)
except OSError as e:
    assert e.errno in (errno.EAGAIN, errno.EACCES), e
else:
    raise AssertionError("both hold it")
