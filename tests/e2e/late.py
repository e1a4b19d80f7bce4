#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# What follows a change of a file that a killed process has left under way.
#     late.py CASE DIR SECOND EXPORT LOG
# DIR and SECOND are two mounts of EXPORT. The server holds the first call back that changes the
# file, and says so in LOG. Exit status 0: the file is at last what the changes made of it that came
# after the kill.
import fcntl
import os
import signal
import sys
import time

OLD, NEW = b"old" * 100, b"new" * 100
HELD_S = 4  # the server has executed by then what it holds back


def write(path, flags, data):
    fd = os.open(path, os.O_WRONLY | os.O_SYNC | flags)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)


def write_locked(path, data):
    fd = os.open(path, os.O_RDWR | os.O_SYNC)
    fcntl.lockf(fd, fcntl.LOCK_EX)
    os.write(fd, data)
    os.close(fd)


# what the killed process does, what is done after it, with which mount, and what is there then
CASES = {
    "overwrite": (lambda p: write(p, 0, OLD), lambda p: write(p, 0, NEW), 0, [NEW]),
    "append": (lambda p: write(p, os.O_APPEND, OLD), lambda p: write(p, os.O_APPEND, NEW), 0, [NEW, OLD + NEW]),
    "locked": (lambda p: write_locked(p, OLD), lambda p: write_locked(p, NEW), 1, [NEW]),
    "open": (lambda p: os.open(p, os.O_WRONLY | os.O_TRUNC), lambda p: write(p, 0, NEW), 0, [NEW]),
    "create": (lambda p: os.open(p, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), lambda p: write(p, os.O_CREAT, NEW), 0, [NEW]),
    "truncate": (lambda p: os.truncate(p, 0), lambda p: write(p, 0, NEW), 0, [NEW]),
}


def main(case, first, second, export, log):
    before, after, who, good = CASES[case]
    there = os.path.join(export, case)
    if case != "create":
        with open(there, "wb"):
            pass
    pid = os.fork()
    if pid == 0:
        before(os.path.join(first, case))
        os._exit(1)
    while "fault: request" not in open(log).read():
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if not os.WIFSIGNALED(status):
        sys.exit("it has ended before it was killed")
    after(os.path.join((first, second)[who], case))
    time.sleep(HELD_S)
    with open(there, "rb") as f:
        found = f.read()
    if found not in good:
        sys.exit(f"the file is {found[:10]!r}..., {len(found)} bytes")


main(*sys.argv[1:])
