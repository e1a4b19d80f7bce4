#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Processes on one mount that get in each other's way: what none of them would see on a local file system.
#     races.py CASE DIR      exit status 0: passed
import collections
import errno
import os
import sys
import time

SECONDS = 2


def attempt(counts, what, call, *args):
    try:
        result = call(*args)
        counts[what + " ok"] += 1
        return result
    except OSError as e:
        counts[f"{what} {errno.errorcode[e.errno]}"] += 1


def against(disturb, work):
    """Runs disturb() in another process again and again, and work(counts) here."""
    pid = os.fork()
    if pid == 0:
        try:
            while True:
                disturb()
        except OSError as e:
            print(e, flush=True)
        finally:
            os._exit(1)  # only work() ends it
    counts = collections.Counter()
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        work(counts)
    ended, _ = os.waitpid(pid, os.WNOHANG)
    if not ended:
        os.kill(pid, 9)
        os.waitpid(pid, 0)
    print(*sorted(counts.items()))
    assert not ended, "the other process failed"
    return counts


def reader(path):
    def work(counts):
        fd = attempt(counts, "open", os.open, path, os.O_RDONLY)
        if fd is not None:
            attempt(counts, "fstat", os.fstat, fd)
            attempt(counts, "read", os.read, fd, 100)
            os.close(fd)

    return work


def renamed(top):
    """A file that is renamed to and fro can be opened by the name that it has, or has not."""
    path = f"{top}/renamed"
    open(path, "w").close()

    def disturb():
        os.rename(path, path + ".other")
        os.rename(path + ".other", path)

    counts = against(disturb, reader(path))
    assert counts["open ok"] and not set(counts) - {"open ok", "open ENOENT", "fstat ok", "read ok"}


def replaced(top):
    """What has been opened stays usable when another file takes its name at that moment."""
    path = f"{top}/replaced"

    def disturb():
        with open(path + ".new", "w") as f:
            f.write("something")
        os.rename(path + ".new", path)

    disturb()
    counts = against(disturb, reader(path))
    assert counts["open ok"] and counts["open ok"] == counts["fstat ok"] == counts["read ok"]


if __name__ == "__main__":
    {f.__name__: f for f in (renamed, replaced)}[sys.argv[1]](sys.argv[2])
