# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""A program with a locked file that reads and writes in steps, and checks each byte.

replication.py FILE DIRECTORY: makes DIRECTORY/ready when the file is written and safe, waits for DIRECTORY/read, reads all of it from
the server, makes DIRECTORY/was-read, waits for DIRECTORY/write, writes and checks once more, and ends."""
import fcntl
import os
import sys
import time

SIZE = 1 << 20


def wait_for(path):
    while not os.path.exists(path):
        time.sleep(0.05)


def touch(path):
    open(path, "w").close()


def check(fd, data):
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    got = b"".join(os.pread(fd, SIZE // 4, at) for at in range(0, SIZE, SIZE // 4))
    assert got == data, "other data"


def main(path, steps):
    data = os.urandom(SIZE)
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.lockf(fd, fcntl.LOCK_EX)
    os.pwrite(fd, data, 0)
    os.fsync(fd)
    touch(steps + "/ready")
    wait_for(steps + "/read")
    check(fd, data)
    touch(steps + "/was-read")
    wait_for(steps + "/write")
    data = data[:SIZE // 2] + os.urandom(SIZE // 2)
    os.pwrite(fd, data[SIZE // 2:], SIZE // 2)
    os.fsync(fd)
    check(fd, data)
    fcntl.lockf(fd, fcntl.LOCK_UN)
    os.close(fd)
    with open(path, "rb") as f:
        assert f.read() == data, "other data after the close"


main(*sys.argv[1:])
