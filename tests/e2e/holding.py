# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""holding.py STEP MOUNT OTHER EXPORT: what tests/e2e/holding does. MOUNT has files delegated to it to write, OTHER wants them."""
import fcntl
import os
import sqlite3
import sys
import threading
import time

from soon import gone, soon

step, mnt, other, export = sys.argv[1:]
FILES = [f"file{i}" for i in range(10)]


def content(i):
    return bytes([i]) * (i * 1000 + 1)


def put(path, data, flags=os.O_TRUNC):
    fd = os.open(path, os.O_WRONLY | flags)
    os.write(fd, data)
    os.close(fd)


def get(path):
    with open(path, "rb") as f:
        return f.read()


def fresh(name, data=b"old"):
    """A file that MOUNT has just made, and holds."""
    if os.path.exists(f"{mnt}/{name}"):
        os.unlink(f"{mnt}/{name}")
    fd = os.open(f"{mnt}/{name}", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
    os.close(os.dup(fd))  # that waits until its times are set, which the mount does behind our back
    assert os.write(fd, data) == len(data)
    return fd


def make():
    for i, name in enumerate(FILES):
        fd = fresh(name, content(i))
        os.close(fd)
        assert os.stat(f"{mnt}/{name}").st_size == len(content(i))


def again():
    for i, name in enumerate(FILES):
        for flags in (os.O_RDWR, os.O_RDONLY, os.O_WRONLY, os.O_RDWR | os.O_APPEND):
            fd = os.open(f"{mnt}/{name}", flags)
            assert os.fstat(fd).st_size == len(content(i))
            if not flags & os.O_WRONLY:
                assert os.pread(fd, 1 << 20, 0) == content(i)
            os.close(fd)


def sizes():
    fd = fresh("sizes", b"")
    for i in range(1, 20):
        os.write(fd, b"x" * 1000)
        assert os.stat(f"{other}/sizes").st_size == i * 1000
    os.ftruncate(fd, 500)
    assert os.stat(f"{other}/sizes").st_size == 500
    os.fsync(fd)
    assert os.stat(f"{other}/sizes").st_size == 500
    os.close(fd)
    os.stat(f"{mnt}/sizes")


def sizes_again():
    os.close(os.open(f"{mnt}/sizes", os.O_RDWR))


def reads():
    """What is not closed yet, too: who opens the file elsewhere sees what was written before."""
    for i in range(3):
        fd = fresh(f"reads{i}", b"")
        for k in range(i + 1):
            os.write(fd, b"%d" % k * 100000)
        assert get(f"{other}/reads{i}") == b"".join(b"%d" % k * 100000 for k in range(i + 1))
        os.close(fd)


def writes():
    fd = fresh("writes", b"old" * 1000)
    put(f"{other}/writes", b"new", 0)
    assert os.pread(fd, 6, 0) == b"newold"
    os.pwrite(fd, b"last", 3)
    os.close(fd)
    assert get(f"{other}/writes")[:9] == b"newlastld"
    assert len(get(f"{export}/writes")) == 3000


def appends():
    fd = fresh("appends")
    put(f"{other}/appends", b"new", os.O_APPEND)
    assert os.fstat(fd).st_size == 6
    os.close(fd)
    assert get(f"{mnt}/appends") == b"oldnew"


def cuts():
    fd = fresh("cuts", b"x" * 10000)
    os.truncate(f"{other}/cuts", 100)
    assert os.fstat(fd).st_size == 100
    os.write(fd, b"y")  # where it was
    os.close(fd)
    assert get(f"{other}/cuts") == b"x" * 100 + bytes(9900) + b"y"


def replaces():
    os.close(fresh("replaces"))
    os.close(fresh("by", b"another file"))
    os.rename(f"{other}/by", f"{other}/replaces")
    assert get(f"{mnt}/replaces") == b"another file"


def removes():
    fd = fresh("removes")
    os.unlink(f"{other}/removes")
    os.close(fd)
    try:
        get(f"{mnt}/removes")
        raise AssertionError("it is still there")
    except FileNotFoundError:
        pass


def beside():
    fd = fresh("beside", b"")
    os.write(fd, b"b" * 100000)
    assert get(f"{export}/beside") == b"b" * 100000
    os.close(fd)


def beside_names():
    """What breaks no lease, by programs beside the server, also after the mount has changed the like; what was written stays."""
    fds = [fresh(name) for name in ("mode", "times", "linked", "moved")]
    os.fchmod(fds[0], 0o600)
    os.chmod(f"{export}/mode", 0o751)
    soon(lambda: os.stat(f"{mnt}/mode").st_mode & 0o777 == 0o751)
    os.utime(fds[1], (1000, 1000))
    os.utime(f"{export}/times", (2000, 2000))
    soon(lambda: os.stat(f"{mnt}/times").st_mtime == 2000)
    os.link(f"{export}/linked", f"{export}/linked2")
    soon(lambda: os.stat(f"{mnt}/linked").st_nlink == 2)
    os.close(fds[3])
    os.rename(f"{export}/moved", f"{export}/moved away")
    soon(lambda: gone(f"{mnt}/moved"))
    assert get(f"{mnt}/moved away") == b"old"
    for fd in fds[:3]:
        assert os.write(fd, b"er") == 2
        os.close(fd)
    for name in ("mode", "times", "linked2"):
        assert get(f"{export}/{name}") == b"older"


def goes_on():
    fd = fresh("goes_on", b"")
    stop = threading.Event()
    written = [0]

    def writer():
        while not stop.is_set():
            os.write(fd, b"%07d\n" % written[0])
            written[0] += 1
    t = threading.Thread(target=writer)
    t.start()
    while written[0] < 1000:
        time.sleep(0.01)
    for i in range(5):
        at_least = written[0] if i == 0 else 1000  # afterwards it is not delegated any more
        assert get(f"{other}/goes_on")[:at_least * 8] == b"".join(b"%07d\n" % k for k in range(at_least))
    stop.set()
    t.join()
    os.close(fd)
    assert len(get(f"{other}/goes_on")) == written[0] * 8


def many_open():
    os.close(fresh("many_rw"))
    fds = [os.open(f"{mnt}/many_rw", os.O_RDWR) for _ in range(50)]
    for i, fd in enumerate(fds):
        os.pwrite(fd, b"%02d" % i, i * 2)
    assert get(f"{other}/many_rw") == b"".join(b"%02d" % i for i in range(50))
    for i, fd in enumerate(fds):
        os.pwrite(fd, b"%02d" % (50 + i), i * 2)
        os.close(fd)
    assert get(f"{other}/many_rw") == b"".join(b"%02d" % (50 + i) for i in range(50))


def locks():
    os.close(fresh("locks"))
    fd = os.open(f"{mnt}/locks", os.O_RDWR)
    fcntl.lockf(fd, fcntl.LOCK_EX, 10)
    os.pwrite(fd, b"new", 0)
    there = os.open(f"{other}/locks", os.O_RDWR)
    try:
        fcntl.lockf(there, fcntl.LOCK_EX | fcntl.LOCK_NB, 10)
        raise AssertionError("it is not locked any more")
    except BlockingIOError:
        pass
    fcntl.lockf(there, fcntl.LOCK_EX | fcntl.LOCK_NB, 10, 10)
    os.pwrite(fd, b"NEW", 0)
    fcntl.lockf(fd, fcntl.LOCK_UN, 10)
    fcntl.lockf(there, fcntl.LOCK_EX, 10)
    assert os.pread(there, 100, 0) == b"NEW"
    os.close(there)
    os.close(fd)


def awaited():
    """The other mount gets it when it is unlocked here, and both see what the other has written."""
    os.close(fresh("awaited", b"0"))
    fd = os.open(f"{mnt}/awaited", os.O_RDWR)
    flocked = os.open(f"{mnt}/awaited", os.O_RDWR)
    fcntl.flock(flocked, fcntl.LOCK_SH)
    fcntl.flock(flocked, fcntl.LOCK_UN)
    fcntl.lockf(fd, fcntl.LOCK_EX)
    os.pwrite(fd, b"here", 0)
    result = []

    def there():
        with open(f"{other}/awaited", "r+b", buffering=0) as f:
            fcntl.lockf(f, fcntl.LOCK_EX)
            result.append(f.read())
            f.write(b"there")
    t = threading.Thread(target=there)
    t.start()
    time.sleep(0.5)
    assert not result
    os.pwrite(fd, b"last", 0)
    fcntl.lockf(fd, fcntl.LOCK_UN)
    t.join()
    assert result == [b"last"], result
    fcntl.lockf(fd, fcntl.LOCK_EX)
    assert os.pread(fd, 100, 0) == b"lastthere"
    os.close(fd)
    os.close(flocked)


def locked():
    os.close(fresh("locked", b"x" * 10000))
    locked_again()  # the first lock since it is delegated has what is cached dropped
    locked_again()


def locked_again():
    fd = os.open(f"{mnt}/locked", os.O_RDWR)
    for i in range(50):
        fcntl.lockf(fd, fcntl.LOCK_EX, 100, i * 100)
        assert os.pread(fd, 100, i * 100) == b"x" * 100
        fcntl.lockf(fd, fcntl.LOCK_SH, 100, i * 100)
        fcntl.lockf(fd, fcntl.LOCK_UN, 100, i * 100)
        fcntl.flock(fd, fcntl.LOCK_EX)
        fcntl.flock(fd, fcntl.LOCK_UN)
    os.close(fd)


def sqlite():
    """Two count up in one database, and each alone in between, so that it is delegated again."""
    at = [sqlite3.connect(f"{d}/sqlite", timeout=60, isolation_level=None, check_same_thread=False) for d in (mnt, other)]
    at[0].execute("create table t (who int, n int)")
    at[0].execute("insert into t values (0, 0), (1, 0)")

    def up(who, times):
        for _ in range(times):
            at[who].execute("begin immediate")
            at[who].execute("update t set n = n + 1 where who = ?", (who,))
            at[who].execute("commit")
    up(0, 20)
    both = [threading.Thread(target=up, args=(who, 10)) for who in (0, 1)]
    for t in both:
        t.start()
    for t in both:
        t.join()
    up(1, 5)
    for c in at:
        assert c.execute("select n from t order by who").fetchall() == [(30,), (15,)]
        assert c.execute("pragma integrity_check").fetchone() == ("ok",)
        c.close()


def rights():
    """A file that only its maker may write, and one that he may not either when he has closed it."""
    for mode in (0o444, 0o400):
        fd = os.open(f"{mnt}/rights", os.O_RDWR | os.O_CREAT | os.O_EXCL, mode)
        os.write(fd, b"mine")
        os.close(fd)
        if os.geteuid():
            for flags in (os.O_RDWR, os.O_WRONLY):
                try:
                    os.close(os.open(f"{mnt}/rights", flags))
                    raise AssertionError("it is opened to write")
                except PermissionError:
                    pass
        assert get(f"{mnt}/rights") == b"mine"
        os.chmod(f"{mnt}/rights", 0o600)
        os.close(os.open(f"{mnt}/rights", os.O_RDWR))
        os.unlink(f"{mnt}/rights")


def remove():
    for _ in range(20):
        os.close(fresh("remove", b"r" * 100000))
        os.unlink(f"{mnt}/remove")
    fd = fresh("remove")
    os.unlink(f"{mnt}/remove")
    os.write(fd, b"more")
    assert os.pread(fd, 100, 0) == b"oldmore"
    os.close(fd)
    for _ in range(300):  # nobody waits for the last close to remove what is left
        left = [n for n in os.listdir(export) if "remove" in n or n.startswith(".")]
        if not left:
            return
        time.sleep(0.1)
    raise AssertionError(left)


def restart():
    """Before: some on the server and not committed, some not even sent, open and closed."""
    fd = fresh("restart", b"")
    os.write(fd, b"a" * (3 << 20))
    closed = fresh("restart_closed", b"c" * (3 << 20))
    os.close(closed)
    os.write(fd, b"b")
    locked = fresh("restart_locked")  # nobody knows of that lock
    fcntl.lockf(locked, fcntl.LOCK_EX)
    os.write(locked, b"er")
    print("ready", flush=True)
    sys.stdin.readline()
    there = os.open(f"{other}/restart_locked", os.O_RDWR)
    try:
        fcntl.lockf(there, fcntl.LOCK_EX | fcntl.LOCK_NB)
        raise AssertionError("the lock is lost")
    except BlockingIOError:
        pass
    os.write(locked, b"!")
    os.close(locked)
    fcntl.lockf(there, fcntl.LOCK_EX)
    assert os.pread(there, 100, 0) == b"older!"
    os.close(there)
    os.write(fd, b"c")
    assert get(f"{other}/restart") == b"a" * (3 << 20) + b"bc"
    assert get(f"{other}/restart_closed") == b"c" * (3 << 20)
    os.write(fd, b"d")
    os.close(fd)
    assert get(f"{other}/restart")[-3:] == b"bcd"


def last():
    for i in range(5):
        os.close(fresh(f"last{i}", b"l" * (i << 20)))


def last_is_there():
    for i in range(5):
        assert get(f"{export}/last{i}") == b"l" * (i << 20)


def write_alone():
    for name in FILES[:3]:
        put(f"{other}/{name}", b"a", 0)


globals()[step]()
