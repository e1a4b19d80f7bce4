#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Data that the server has and may lose, for tests/e2e/unstable: unstable.py CASE PATH PATH-ON-ANOTHER-MOUNT
# PATH-OF-THE-SERVER. A line on descriptor 7 asks for a restart of the server; one on 8 says that it is there.
import errno
import os
import sys
import time

SIZE = 1 << 20
path, other, home = sys.argv[2:5]


def restart():
    os.write(7, b"now\n")
    assert os.read(8, 100) == b"done\n"


def wait_for(what, is_so):
    end = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < end, "not within a minute: " + what
        time.sleep(0.02)


def at_home():
    with open(home, "rb") as f:
        return f.read()


def written(data):
    """A file that stays open; its data is at the server, and no program has asked for it to be safe."""
    fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o644)
    assert os.pwrite(fd, data, 0) == len(data)
    wait_for("the data is at the server", lambda: at_home() == data)
    return fd


def replace(data):
    fd = os.open(other, os.O_RDWR)
    assert os.pwrite(fd, data, 0) == len(data)
    os.fsync(fd)
    os.close(fd)


def sync(fd, *may_fail):
    try:
        os.fsync(fd)
    except OSError as e:
        assert e.errno in may_fail, "fsync: %s" % e


def stays(should):
    found = at_home()
    assert found == should, "%d bytes, %r..., instead of %d, %r..." % (len(found), found[:1], len(should), should[:1])


def read():
    fd = written(b"1" * SIZE)
    replace(b"2" * SIZE)
    wait_for("the other one's data is read", lambda: os.pread(os.open(path, os.O_RDONLY), 1, 0) == b"2")
    time.sleep(1)  # the COMMIT is answered
    restart()
    sync(fd)
    stays(b"2" * SIZE)


def overwritten():
    fd = written(b"1" * SIZE)
    replace(b"2" * SIZE)
    restart()
    sync(fd, errno.EIO)
    stays(b"2" * SIZE)
    sync(fd)


def truncated():
    fd = written(b"1" * SIZE)
    os.truncate(other, 10)
    restart()
    sync(fd, errno.EIO)
    stays(b"1" * 10)
    sync(fd)


def alone():
    fd = written(b"1" * SIZE)
    restart()
    sync(fd)
    stays(b"1" * SIZE)


def itself():
    fd = written(b"1" * SIZE)
    time.sleep(11)
    replace(b"2" * SIZE)
    restart()
    sync(fd)
    stays(b"2" * SIZE)


globals()[sys.argv[1]]()
