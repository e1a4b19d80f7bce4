# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
actions: small things that programs do to files, timed: python3 actions.py ACTION FOLDER COUNT prints the seconds that
each file took, a line each.

A program of its own, because it may have to be killed. An action is a generator that yields after each file.
"""
import mmap
import os
import sys
import time


def tree(folder, count):
    """Reads every file below folder."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                yield from tree(entry.path, count)
            else:
                read(entry.path)
                yield


def each(act):
    def action(folder, count):
        for i in range(count):
            act(os.path.join(folder, f"f{i}"))
            yield
    return action


def read(path):
    fd = os.open(path, os.O_RDONLY)
    while os.read(fd, 65536):
        pass
    os.close(fd)


def create(path, flags=0):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o644)
    os.write(fd, b"12345")
    os.close(fd)


def absent(path):
    try:
        os.stat(path + ".absent")
    except FileNotFoundError:
        return
    raise FileExistsError(path)


def list_long(folder, count):
    for name in os.listdir(folder):
        os.lstat(os.path.join(folder, name))
        yield


BLOCK = 4096


def write_blocks(folder, count):
    fd = os.open(os.path.join(folder, "written"), os.O_WRONLY | os.O_CREAT, 0o644)
    for _ in range(count):
        os.write(fd, bytes(BLOCK))
        yield
    os.close(fd)


def hit_blocks(folder, count):
    """Blocks that the kernel has dropped, but the daemon may have; first without the kernel's read-ahead."""
    fd = os.open(os.path.join(folder, "data"), os.O_RDONLY)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
    os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_RANDOM)
    for i in range(count):
        os.pread(fd, BLOCK, i * BLOCK)
        yield
    os.close(fd)


def miss_blocks(folder, count):
    fd = os.open(os.path.join(folder, "data"), os.O_RDONLY | os.O_DIRECT)
    block = mmap.mmap(-1, BLOCK)
    for i in range(count):
        os.preadv(fd, [block], (i * 7919 % count) * BLOCK)
        yield
    os.close(fd)


ACTIONS = {
    "tree": tree,
    "create": each(create),
    "create-excl": each(lambda path: create(path, os.O_EXCL)),
    "read": each(read),
    "stat": each(os.stat),
    "unlink": each(os.unlink),
    "rename": each(lambda path: os.rename(path, path + ".new")),
    "mkdir": each(lambda path: os.mkdir(path + ".dir")),
    "absent": each(absent),
    "list": list_long,
    "write-4k": write_blocks,
    "hit-4k": hit_blocks,
    "miss-4k": miss_blocks,
}


def main():
    action, folder, count = sys.argv[1:]
    seconds, last = [], time.monotonic()
    for _ in ACTIONS[action](folder, int(count)):
        now = time.monotonic()
        seconds.append(now - last)
        last = now
    print("\n".join(f"{s:.6f}" for s in seconds))


main()
