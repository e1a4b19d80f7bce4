# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Makes, moves and removes names in DIR until STOP exists, and says which operation failed that
# cannot have failed: nothing else uses DIR. Exit status 1: there was one.

import os
import sys


def make(path):
    """As tar makes a file; the same name is made again in the next round but one."""
    fd = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)
    os.write(fd, b"data")
    os.close(fd)


def rounds(top, stop, tell):
    """One round makes and removes one name of each kind; returns (operations, errors)."""
    count = errors = 0
    n = 0

    def do(what, *args):
        nonlocal count, errors
        count += 1
        try:
            what(*args)
        except OSError as e:
            errors += 1
            tell(f"{what.__name__} {' '.join(args)}: {e.strerror}")

    while not os.path.exists(stop):
        n += 1
        d, s, f = (os.path.join(top, f"{kind}{n}") for kind in "dsf")
        g = os.path.join(top, f"g{n % 2}")
        if n > 2:
            do(os.unlink, g)
        do(make, g)
        do(os.mkdir, d)
        do(os.symlink, "to " + d, s)
        do(os.mkfifo, f)
        do(os.link, f, f + "l")
        do(os.rename, f, f + "r")
        do(os.rename, f + "r", s)
        do(os.rename, d, d + "r")
        do(os.unlink, f + "l")
        do(os.unlink, s)
        do(os.rmdir, d + "r")
    for g in ("g0", "g1"):
        do(os.unlink, os.path.join(top, g))
    return count, errors


def main():
    top, stop = sys.argv[1:]
    count, errors = rounds(top, stop, lambda line: print(line, flush=True))
    left = os.listdir(top)
    print(f"{count} operations, {errors} failed, left: {' '.join(left) or 'nothing'}")
    sys.exit(1 if errors or left or not count else 0)


main()
