#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Processes on one mount that get in each other's way: what none of them would see on a local file system.
#     races.py CASE DIR [EXPORT]      exit status 0: passed. EXPORT: the same directory on the server
import collections
import ctypes
import errno
import os
import sys
import time

SECONDS = 2
GETDENTS64 = {"x86_64": 217, "aarch64": 61}.get(os.uname().machine)


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


def renamed(top, _):
    """A file that is renamed to and fro can be opened by the name that it has, or has not."""
    path = f"{top}/renamed"
    open(path, "w").close()

    def disturb():
        os.rename(path, path + ".other")
        os.rename(path + ".other", path)

    counts = against(disturb, reader(path))
    assert counts["open ok"] and not set(counts) - {"open ok", "open ENOENT", "fstat ok", "read ok"}


def replaced(top, _):
    """What has been opened stays usable when another file takes its name at that moment."""
    path = f"{top}/replaced"

    def disturb():
        with open(path + ".new", "w") as f:
            f.write("something")
        os.rename(path + ".new", path)

    disturb()
    counts = against(disturb, reader(path))
    assert counts["open ok"] and counts["open ok"] == counts["fstat ok"] == counts["read ok"]


def names_at(fd):
    """The next few names in a directory: getdents64(2), which Python calls for more than a server sends."""
    buf = ctypes.create_string_buffer(4096)
    n = ctypes.CDLL(None).syscall(ctypes.c_long(GETDENTS64), fd, buf, ctypes.c_size_t(len(buf)))
    at = 0
    while at < n:
        size = int.from_bytes(buf.raw[at + 16:at + 18], sys.byteorder)
        yield buf.raw[at + 19:at + size].split(b"\0")[0].decode()
        at += size


def removed(top, export):
    """A name that was removed while its directory is being listed is gone, though it may be listed."""
    names = ["%04d" % i + "x" * 80 for i in range(400)]
    os.mkdir(f"{export}/removed")
    for name in names:
        open(f"{export}/removed/{name}", "w").close()
    fd = os.open(f"{top}/removed", os.O_RDONLY)
    gone = set(names[1::2]) - set(names_at(fd))
    for name in gone:
        os.unlink(f"{top}/removed/{name}")
    listed = found = 0
    while part := list(names_at(fd)):
        for name in gone & set(part):
            listed += 1
            found += os.path.exists(f"{top}/removed/{name}")
    print("listed", listed, "found", found)
    assert not found


if __name__ == "__main__":
    {f.__name__: f for f in (renamed, replaced, removed)}[sys.argv[1]](sys.argv[2], sys.argv[-1])
