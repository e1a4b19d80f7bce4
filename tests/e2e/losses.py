#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# What a program is told of lost data, for tests/e2e/losses: losses.py CASE PATH [PATH-ON-ANOTHER-MOUNT].
# A line on descriptor 7 asks for a server that has forgotten what was not committed; one on 8 says that
# it is there.
import errno
import mmap
import os
import sys


def told(want, fn, *args):
    """fn() fails with want, or with 0 does not."""
    got = 0
    try:
        fn(*args)
    except OSError as e:
        got = e.errno
    names = [errno.errorcode.get(e, "no error") for e in (got, want)]
    assert got == want, "%s%s: %s, not %s" % (fn.__name__, args, *names)


def told_once(want, *fds):
    for fd in fds:
        told(want, os.fsync, fd)
    for fd in fds:
        told(0, os.fsync, fd)
        told(0, os.close, os.dup(fd))


def rw(path, flags=0):
    return os.open(path, os.O_RDWR | os.O_CREAT | flags, 0o644)


def put(fd, data):
    """Unstable: what stands at the beginning may be all of a small file, which is written to stay."""
    assert os.pwrite(fd, data, 1) == len(data)


def lose():
    os.write(7, b"now\n")
    assert os.read(8, 100) == b"done\n"


def two_with_a_loss(path):
    """The file, opened twice; what was written through the first is lost."""
    first, second = rw(path), rw(path)
    put(first, b"before\n")
    lose()
    return first, second


def openers(path, _):
    told_once(errno.EIO, *two_with_a_loss(path))


def dup(path, _):
    first, second = two_with_a_loss(path)
    for _ in range(2):
        told(errno.EIO, os.close, os.dup(first))
    told(errno.EIO, os.close, os.dup(second))
    told_once(errno.EIO, first, second)


def fork(path, _):
    first, second = two_with_a_loss(path)
    if os.fork() == 0:
        os._exit(0)
    os.wait()
    told(errno.EIO, os.close, os.dup(first))
    told_once(errno.EIO, first, second)


def system(path, _):
    first, second = two_with_a_loss(path)
    os.set_inheritable(first, True)
    assert os.system("true") == 0
    told_once(errno.EIO, first, second)


def mapping(path, _):
    first, second = two_with_a_loss(path)
    mmap.mmap(first, 6, access=mmap.ACCESS_READ).close()
    told_once(errno.EIO, first, second)


def write(path, _):
    first, second = two_with_a_loss(path)
    os.write(first, b"after\n")  # the server's verifier is another now
    told(errno.EIO, os.close, os.dup(first))
    told_once(errno.EIO, second, first)


def reopened(path, _):
    first, second = two_with_a_loss(path)
    told(errno.EIO, os.close, os.dup(second))
    late = rw(path)
    told(0, os.close, os.dup(late))
    told_once(errno.EIO, late, first, second)
    told_once(0, rw(path))


def last_close(path, _):
    if os.fork() == 0:
        fd = rw(path)
        put(fd, b"before\n")
        lose()
        os._exit(0)
    os.wait()
    told_once(errno.EIO, rw(path))
    told_once(0, rw(path))


def mounts(path, path2):
    first, second = rw(path), rw(path2)
    put(first, b"one\n")
    put(second, b"two\n")
    lose()
    told_once(errno.EIO, first, second)


def synchronous(path, _):
    for flag in os.O_SYNC, os.O_DSYNC:
        fd = rw(path, flag)
        assert os.pwrite(fd, b"x" * 3000000, 0) == 3000000
        told(0, os.close, fd)
    fd, second = rw(path), rw(path, os.O_SYNC)
    assert os.pwritev(fd, [b"here to stay"], 0, os.RWF_DSYNC) == 12
    assert os.pwritev(fd, [b"here to stay"], 12, os.RWF_SYNC) == 12
    assert os.pwrite(second, b"here to stay", 24) == 12
    lose()
    told_once(0, fd, second)


def commit(path):
    first, second = rw(path), rw(path)
    put(first, b"before")
    told(errno.ENOSPC, os.fsync, first)
    told(errno.ENOSPC, os.close, os.dup(second))
    told(errno.ENOSPC, os.fsync, second)
    for fd in first, second:
        told(0, os.fsync, fd)
        told(0, os.close, fd)


def reserve(path):
    first, second = rw(path), rw(path)
    os.posix_fallocate(first, 0, 10000)
    told_once(errno.ENOSPC, first, second)


def page(path):
    first, second = rw(path), rw(path)
    os.ftruncate(first, 4096)
    m = mmap.mmap(first, 4096)
    m[0] = 1
    if os.fork() == 0:
        os._exit(0)  # which writes the page, and the kernel tells this close of it
    os.wait()
    told(errno.ENOSPC, os.close, os.dup(second))
    told(errno.ENOSPC, os.close, os.dup(first))
    told_once(errno.ENOSPC, first, second)


globals()[sys.argv[1]](*sys.argv[2:])
