# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Programs that check each answer and each byte on a mount whose daemon is killed again and again.

survive.py KIND DIRECTORY STOP: works in the directory, which must not exist, until the file STOP exists. Exits with 0 if every call
was answered as on a mount whose daemon lives. KIND is names, data, append, stream, locks or database.
survive.py shared DIRECTORY STOP: counts, beside the same on another mount.
survive.py delegated | stranger DIRECTORY GO: the same in steps, which wait for files in the directory GO; and on another mount."""
import fcntl
import mmap
import os
import random
import sqlite3
import subprocess
import sys
import time

FILE = 1 << 20


def names(rounds):
    """Each name is made, moved, linked and removed once: a second execution would fail."""
    for i in rounds:
        os.mkdir(f"d{i}")
        fd = os.open(f"d{i}/new", os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o640)
        os.write(fd, b"%d" % i)
        os.link(f"d{i}/new", f"d{i}/link")
        os.rename(f"d{i}/new", f"d{i}/moved")
        os.symlink(f"to {i}", f"d{i}/symbolic")
        assert os.readlink(f"d{i}/symbolic") == f"to {i}"
        os.chmod(f"d{i}/link", 0o600)
        assert sorted(os.listdir(f"d{i}")) == ["link", "moved", "symbolic"]
        st = os.fstat(fd)
        assert (st.st_nlink, st.st_mode & 0o777) == (2, 0o600), st
        os.unlink(f"d{i}/link")
        os.unlink(f"d{i}/symbolic")
        os.unlink(f"d{i}/moved")
        os.write(fd, b" open")
        assert os.fstat(fd).st_size == len(b"%d open" % i)
        os.close(fd)
        try:
            os.rmdir(f"d{i}")
        except OSError:
            print("left:", os.listdir(f"d{i}"), file=sys.stderr)
            raise
        try:
            os.mkdir("stays")
        except FileExistsError:
            assert i, "the first one was told that the directory exists"
        else:
            assert not i


def data(rounds):
    """One file against a model: writes, cuts, a mapping, direct I/O."""
    rand, model = random.Random(4), bytearray()
    fd = os.open("file", os.O_RDWR | os.O_CREAT, 0o600)
    direct = os.open("file", os.O_RDWR | os.O_DIRECT)
    page = mmap.mmap(-1, 1 << 16)
    for i in rounds:
        off, size = rand.randrange(FILE), rand.choice((10, 4096, 70000, 300000))
        kind = rand.randrange(10)
        if kind < 6:
            piece = rand.randbytes(size)
            assert os.pwrite(fd, piece, off) == size, "a short count of pwrite"
            model[len(model):] = bytes(max(0, off - len(model)))
            model[off:off + size] = piece
        elif kind == 6:
            os.ftruncate(fd, off)
            model = model[:off] + bytes(max(0, off - len(model)))
        elif kind == 7 and len(model) >= mmap.PAGESIZE:
            with mmap.mmap(fd, len(model)) as m:
                at = rand.randrange(len(model) - 8)
                m[at:at + 8] = model[at:at + 8] = rand.randbytes(8)
                m.flush()
        elif kind == 8:
            at = rand.randrange(FILE >> 16) << 16
            page[:] = piece = rand.randbytes(1 << 16)
            assert os.pwrite(direct, page, at) == 1 << 16, "a short count of direct I/O"
            model[len(model):] = bytes(max(0, at - len(model)))
            model[at:at + (1 << 16)] = piece
        else:
            os.fsync(fd)
        got = os.pread(fd, size, off)
        assert got == model[off:off + size], f"round {i}: {len(got)} bytes at {off} differ"
    os.close(fd)
    with open("file", "rb") as f:
        assert f.read() == model


def append(rounds):
    """Two processes append lines to a file: each line is there once, and whole."""
    others = [subprocess.Popen([sys.executable, __file__, f"appender{k}", ".", sys.argv[3]]) for k in range(2)]
    assert [p.wait() for p in others] == [0, 0]
    with open("lines", encoding="ascii") as f:
        lines = f.read().splitlines()
    for k in range(2):
        mine = [line for line in lines if line.startswith(f"{k} ")]
        with open(f"count{k}", encoding="ascii") as f:
            count = int(f.read())
        assert mine == [f"{k} {i} {'x' * (i % 500)}" for i in range(count)], f"{len(mine)} lines of {count}"
    assert len(lines) == sum(int(open(f"count{k}", encoding="ascii").read()) for k in range(2))


def appender(k, rounds):
    fd = os.open("lines", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    n = 0
    for i in rounds:
        line = b"%d %d %s\n" % (k, i, b"x" * (i % 500))
        if k == 1:
            fcntl.lockf(fd, fcntl.LOCK_EX)
        assert os.write(fd, line) == len(line), "a short count of an append"
        if k == 1:
            fcntl.lockf(fd, fcntl.LOCK_UN)
        n += 1
    os.close(fd)
    with open(f"count{k}", "w", encoding="ascii") as f:
        f.write(str(n))


def stream(rounds):
    """Large files, written and read from end to end."""
    piece = random.Random(5).randbytes(1 << 20)
    for i in rounds:
        fd = os.open(f"large{i % 3}", os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600)
        for k in range(16):
            assert os.write(fd, piece[k:] + piece[:k]) == len(piece), "a short count of write"
        if i % 2:
            os.fsync(fd)
        for k in range(16):
            assert os.pread(fd, len(piece), k << 20) == piece[k:] + piece[:k], f"MiB {k} differs"
        os.close(fd)
        with open(f"large{i % 3}", "rb") as f:
            for k in range(16):
                assert f.read(1 << 20) == piece[k:] + piece[:k], f"MiB {k} differs, read anew"


def locks(rounds):
    """Two processes count in one file under a lock: no step is lost."""
    with open("counter", "w", encoding="ascii") as f:
        f.write("0")
    others = [subprocess.Popen([sys.executable, __file__, f"counter{k}", ".", sys.argv[3]]) for k in range(2)]
    assert [p.wait() for p in others] == [0, 0]
    with open("counter", encoding="ascii") as f:
        total = int(f.read())
    assert total == sum(int(open(f"steps{k}", encoding="ascii").read()) for k in range(2)), total


def shared(where, rounds):
    """Counts in a file under a lock, and reads a line that another mount has appended. Another mount does the same."""
    os.chdir(where)
    fd = os.open("shared", os.O_RDWR)
    n = 0
    for i in rounds:
        fcntl.lockf(fd, fcntl.LOCK_EX)
        value = int(os.pread(fd, 20, 0))
        assert os.pwrite(fd, b"%d" % (value + 1), 0) > 0
        with open("told", "r+b", buffering=0) as f:
            assert int(f.read()) == value, "a write before the lock is not there"
            f.seek(0)
            f.write(b"%d" % (value + 1))
        fcntl.lockf(fd, fcntl.LOCK_UN)
        n += 1
        time.sleep(0.01 if i % 8 else 0.2)
    os.close(fd)
    print(n)


def counter(k, rounds):
    fd = os.open("counter", os.O_RDWR)
    n = 0
    for i in rounds:
        fcntl.lockf(fd, fcntl.LOCK_EX)
        value = int(os.pread(fd, 20, 0))
        assert os.pwrite(fd, b"%d" % (value + 1), 0) > 0
        fcntl.lockf(fd, fcntl.LOCK_UN)
        n += 1
    os.close(fd)
    with open(f"steps{k}", "w", encoding="ascii") as f:
        f.write(str(n))


def database(rounds):
    c = sqlite3.connect("database", timeout=60)
    c.execute("create table t (k integer primary key, v blob)")
    n = 0
    for i in rounds:
        with c:
            c.execute("insert into t values (?, ?)", (i, bytes([i % 256]) * 5000))
        if i % 50 == 49:
            with c:
                c.execute("delete from t where k < ?", (i - 30,))
        n = i + 1
    c.close()
    c = sqlite3.connect("database", timeout=60)
    assert c.execute("pragma integrity_check").fetchone()[0] == "ok"
    rows = dict(c.execute("select k, v from t"))
    assert all(v == bytes([k % 256]) * 5000 for k, v in rows.items())
    assert n - 1 in rows


def waits(go, step):
    """The daemon is killed, or another mount looks at the files."""
    open(os.path.join(go, step), "w", encoding="ascii").close()
    while os.path.exists(os.path.join(go, step)):
        time.sleep(0.05)


def delegated(where, go):
    """A file that is delegated to write is open several times, and locked, without a word to the server."""
    path = os.path.join(where, "delegated")
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    os.write(fd, b"one\n")
    os.close(fd)
    fds = [os.open(path, os.O_RDWR) for _ in range(3)]
    fcntl.lockf(fds[0], fcntl.LOCK_EX, 10, 0)
    os.pwrite(fds[0], b"two\n", 4)
    waits(go, "one")
    assert os.pread(fds[1], 100, 0) == b"one\ntwo\n"
    fds.append(os.open(path, os.O_RDWR))
    os.pwrite(fds[3], b"three\n", 8)
    pid = os.fork()
    if not pid:
        try:
            fcntl.lockf(os.open(path, os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
        except BlockingIOError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0, "another process got the lock"
    waits(go, "two")
    os.pwrite(fds[2], b"four\n", 14)
    assert os.fstat(fds[0]).st_size == 19
    waits(go, "three")
    with open(path, "rb") as f:
        assert f.read() == b"one\ntwo\nthree\nfour\nstranger\n"
    fcntl.lockf(fds[0], fcntl.LOCK_UN, 10, 0)
    for fd in fds:
        os.close(fd)


def stranger(where, _):
    """Another client finds all data, and the lock."""
    with open(os.path.join(where, "delegated"), "r+b", buffering=0) as f:
        assert f.read() == b"one\ntwo\nthree\nfour\n"
        try:
            fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 0)
        except BlockingIOError:
            pass
        else:
            assert False, "another client got the lock"
        f.write(b"stranger\n")


def until_stop(stop):
    i = 0
    while i < 3 or not os.path.exists(stop):
        yield i
        i += 1


def main():
    kind, where, stop = sys.argv[1:]
    if kind in ("delegated", "stranger"):
        return {"delegated": delegated, "stranger": stranger}[kind](where, stop)
    rounds = until_stop(stop)
    if kind == "shared":
        return shared(where, rounds)
    if kind[:-1] in ("appender", "counter"):
        return {"appender": appender, "counter": counter}[kind[:-1]](int(kind[-1]), rounds)
    os.mkdir(where)
    os.chdir(where)
    {"names": names, "data": data, "append": append, "stream": stream, "locks": locks, "database": database}[kind](rounds)


if __name__ == "__main__":
    sys.argv[3] = os.path.abspath(sys.argv[3])
    __file__ = os.path.abspath(__file__)
    main()
