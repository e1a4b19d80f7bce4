# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Programs on a mount whose daemon is killed, on a kernel that sends no request again. There the calls that were under
way may fail with EIO. Such a call is done again, and the error of the second one tells whether the first one was
executed. Any other error or answer ends the program.

survive.py names|stream|lock DIRECTORY NOTES: works in the directory, which must exist, until the file NOTES/stop
exists. NOTES has the files KIND.rounds (the number of complete rounds) and KIND.failed (a line for each failed call).
survive.py verify names|stream DIRECTORY ROUNDS: are all files as those programs have left them?
survive.py free FILE: can this process lock the file?"""
import errno
import fcntl
import os
import random
import sys
import time

KEPT = 6
PIECE = 1 << 18
PIECES = 16
BYTES = random.Random(5).randbytes(PIECE)
KIND, WHERE, LAST = (sys.argv[1:] + [""] * 3)[:3]


def note(what, text):
    with open(f"{LAST}/{KIND}.{what}", "a", encoding="ascii") as f:
        f.write(text)


def note_rounds(n):
    """The case reads the file at any time, and must not find it empty."""
    with open(f"{LAST}/{KIND}.new", "w", encoding="ascii") as f:
        f.write(f"{n}\n")
    os.replace(f"{LAST}/{KIND}.new", f"{LAST}/{KIND}.rounds")


def call(function, *args, executed=()):
    """The call's answer. executed: the error of a call that is done again, if it has had its effect the first time."""
    again = False
    while True:
        try:
            return function(*args)
        except OSError as e:
            if again and executed and isinstance(e, executed):
                return None
            if e.errno != errno.EIO:
                raise
            note("failed", f"{time.monotonic():.3f} {function.__name__} {str(args[0])[:40]}\n")
            again = True


def content(i, k=0):
    """Of the file of a round, or of one piece of the large file."""
    if not k:
        return BYTES[:1 + i * 7919 % 50000][::-1] + b"%d" % i
    at = (i * PIECES + k) * 61 % PIECE
    return BYTES[at:] + BYTES[:at]


def write_all(fd, data, at):
    done = 0
    while done < len(data):
        done += call(os.pwrite, fd, data[done:], at + done)


def read_all(fd, length, at):
    data = b""
    while len(data) < length:
        piece = call(os.pread, fd, length - len(data), at + len(data))
        assert piece, f"the file ends at {at + len(data)}"
        data += piece
    return data


def close(fd):
    """close(2) gives the descriptor back, with whatever answer."""
    try:
        os.close(fd)
    except OSError as e:
        if e.errno != errno.EIO:
            raise
        note("failed", f"{time.monotonic():.3f} close\n")


def names(i):
    """A file and a directory are made, moved and, some rounds later, removed."""
    data = content(i)
    call(os.mkdir, f"d{i}", executed=FileExistsError)
    fd = call(os.open, f"d{i}/new", os.O_CREAT | os.O_RDWR, 0o640)
    write_all(fd, data, 0)
    call(os.fsync, fd)
    call(os.link, f"d{i}/new", f"d{i}/link", executed=FileExistsError)
    call(os.rename, f"d{i}/new", f"d{i}/moved", executed=FileNotFoundError)
    assert read_all(fd, len(data), 0) == data, f"round {i}: other data"
    assert call(os.fstat, fd).st_nlink == 2
    close(fd)
    assert sorted(call(os.listdir, f"d{i}")) == ["link", "moved"], f"round {i}: other names"
    fd = call(os.open, f"d{i}/link", os.O_RDONLY)
    assert read_all(fd, len(data), 0) == data, f"round {i}: other data after it was opened again"
    close(fd)
    if i >= KEPT:
        for name in ("link", "moved"):
            call(os.unlink, f"d{i - KEPT}/{name}", executed=FileNotFoundError)
        call(os.rmdir, f"d{i - KEPT}", executed=FileNotFoundError)


def stream(i):
    """A large file is written, part of it before an fsync(2), and read."""
    fd = call(os.open, f"large{i % 2}", os.O_CREAT | os.O_RDWR | os.O_TRUNC, 0o640)
    for k in range(PIECES):
        write_all(fd, content(i, k + 1), k * PIECE)
        if k % 4 == 3:
            call(os.fsync, fd)
    for k in range(PIECES):
        assert read_all(fd, PIECE, k * PIECE) == content(i, k + 1), f"round {i}: other data in piece {k}"
    close(fd)


def lock(i, held=[]):
    """One lock is held in all rounds, and bytes are written under the lock."""
    if not held:
        held.append(call(os.open, "lock", os.O_CREAT | os.O_RDWR, 0o666))
        call(fcntl.lockf, held[0], fcntl.LOCK_EX)
    write_all(held[0], b"%8d" % i, i % 100 * 8)
    call(os.fsync, held[0])
    time.sleep(0.1)


def verify(kind, where, rounds):
    os.chdir(where)
    if kind == "stream":
        for i in range(rounds - 2, rounds):
            with open(f"large{i % 2}", "rb") as f:
                assert f.read() == b"".join(content(i, k + 1) for k in range(PIECES)), f"other data of round {i}"
        return
    kept = range(max(0, rounds - KEPT), rounds)
    assert sorted(os.listdir(".")) == sorted(f"d{i}" for i in kept), os.listdir(".")
    for i in kept:
        assert sorted(os.listdir(f"d{i}")) == ["link", "moved"]
        for name in ("link", "moved"):
            with open(f"d{i}/{name}", "rb") as f:
                assert f.read() == content(i), f"other data of round {i}"


def main():
    if KIND == "verify":
        return verify(WHERE, sys.argv[3], int(sys.argv[4]))
    if KIND == "free":
        with open(WHERE, "r+b") as f:
            try:
                fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                sys.exit("locked by another process")
        return None
    note("failed", "")
    os.chdir(WHERE)
    i = 0
    while i < 2 or not os.path.exists(f"{LAST}/stop"):
        {"names": names, "stream": stream, "lock": lock}[KIND](i)
        i += 1
        note_rounds(i)
    return None


main()
