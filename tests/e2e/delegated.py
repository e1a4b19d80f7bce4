# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""delegated.py STEP MOUNT OTHER EXPORT: what tests/e2e/delegated does. MOUNT is delegated files, OTHER changes them."""
import fcntl
import mmap
import os
import sys
import threading
import time

from soon import gone, soon

step, mnt, other, export = sys.argv[1:]
FILES = [f"file{i}" for i in range(10)]


def fresh(name, content=b"old", held=True):
    """A file that nobody has had delegated or has changed lately, and that MOUNT has read."""
    put(f"{export}/{name}", content, os.O_CREAT | os.O_TRUNC)  # a mount may not have closed it at once
    if held:
        assert get(name) == content
        assert get(name) == content


def get(name, flags=0):
    fd = os.open(f"{mnt}/{name}", os.O_RDONLY | flags)
    try:
        return os.read(fd, 1 << 20)
    finally:
        os.close(fd)


def put(path, content, flags=os.O_TRUNC):
    fd = os.open(path, os.O_WRONLY | flags)
    os.write(fd, content)
    os.close(fd)


def read():
    for i, name in enumerate(FILES):
        if not os.path.exists(f"{export}/{name}"):
            put(f"{export}/{name}", b"x" * (i * 1000 + 1), os.O_CREAT)
    for i, name in enumerate(FILES):
        assert len(get(name)) == i * 1000 + 1


def look():
    for i, name in enumerate(FILES):
        assert os.stat(f"{mnt}/{name}").st_size == i * 1000 + 1
        assert os.access(f"{mnt}/{name}", os.R_OK)


def direct():
    for i, name in enumerate(FILES):
        fd = os.open(f"{mnt}/{name}", os.O_RDONLY | os.O_DIRECT)
        assert len(os.read(fd, 65536)) == i * 1000 + 1
        os.close(fd)


def long_after():
    time.sleep(2.5)


def seen(name, content):
    assert os.stat(f"{mnt}/{name}").st_size == len(content)
    assert get(name) == content


def write():
    fresh("write")
    put(f"{other}/write", b"new", 0)
    seen("write", b"new")


def append():
    fresh("append")
    put(f"{other}/append", b"new", os.O_APPEND)
    seen("append", b"oldnew")


def cut():
    fresh("cut", b"x" * 10000)
    fd = os.open(f"{other}/cut", os.O_RDWR)
    os.ftruncate(fd, 100)
    os.close(fd)
    seen("cut", b"x" * 100)


def truncate_path():
    fresh("truncate")
    os.truncate(f"{other}/truncate", 1)
    seen("truncate", b"o")


def chmod():
    fresh("chmod")
    os.chmod(f"{other}/chmod", 0o751)
    assert os.stat(f"{mnt}/chmod").st_mode & 0o777 == 0o751
    seen("chmod", b"old")


def replace():
    fresh("replace")
    fresh("by", b"another file", held=False)
    os.rename(f"{other}/by", f"{other}/replace")
    assert get("replace") == b"another file"


def remove():
    fresh("remove")
    fd = os.open(f"{mnt}/remove", os.O_RDONLY)
    os.unlink(f"{other}/remove")
    assert os.fstat(fd).st_nlink == 0 or os.fstat(fd)
    os.close(fd)
    try:
        get("remove")
        raise AssertionError("it is still there")
    except OSError:
        pass


def link():
    fresh("link")
    os.link(f"{other}/link", f"{other}/link2")
    assert os.stat(f"{mnt}/link").st_nlink == 2


def beside():
    fresh("beside")
    put(f"{export}/beside", b"new", 0)
    seen("beside", b"new")


def beside_names():
    """What breaks no lease, by programs beside the server."""
    for name in ("mode", "replaced", "unlinked", "linked", "moved"):
        fresh(name)
    os.chmod(f"{export}/mode", 0o751)
    soon(lambda: os.stat(f"{mnt}/mode").st_mode & 0o777 == 0o751)
    put(f"{export}/new", b"another file", os.O_CREAT)
    os.rename(f"{export}/new", f"{export}/replaced")
    soon(lambda: get("replaced") == b"another file")
    os.unlink(f"{export}/unlinked")
    soon(lambda: gone(f"{mnt}/unlinked"))
    os.link(f"{export}/linked", f"{export}/linked2")
    soon(lambda: os.stat(f"{mnt}/linked").st_nlink == 2)
    os.rename(f"{export}/moved", f"{export}/elsewhere")
    soon(lambda: gone(f"{mnt}/moved"))


def many_open():
    fresh("many")
    fds = [os.open(f"{mnt}/many", os.O_RDONLY) for _ in range(100)]
    put(f"{other}/many", b"new", 0)
    for fd in fds:
        assert os.pread(fd, 100, 0) == b"new"
        os.close(fd)


def open_stays():
    fresh("open", b"o" * 8192)
    fd = os.open(f"{mnt}/open", os.O_RDONLY)
    m = mmap.mmap(fd, 8192, prot=mmap.PROT_READ)
    assert m[:1] == b"o"
    fcntl.lockf(fd, fcntl.LOCK_SH)
    put(f"{other}/open", b"n" * 8192, 0)
    assert os.pread(fd, 8192, 0) == b"n" * 8192
    other_fd = os.open(f"{other}/open", os.O_RDWR)
    try:
        fcntl.lockf(other_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        raise AssertionError("it is not locked any more")
    except BlockingIOError:
        pass
    os.close(fd)
    fcntl.lockf(other_fd, fcntl.LOCK_EX)
    os.close(other_fd)


def own():
    fresh("own")
    reader = os.open(f"{mnt}/own", os.O_RDONLY)
    for i in range(20):
        content = b"own %d" % i * (i + 1)
        put(f"{mnt}/own", content)
        assert os.stat(f"{mnt}/own").st_size == len(content)
        assert os.pread(reader, 1000, 0) == content
        assert get("own") == content
    os.chmod(f"{mnt}/own", 0o640)
    assert os.stat(f"{mnt}/own").st_mode & 0o777 == 0o640
    os.rename(f"{mnt}/own", f"{mnt}/own2")
    assert get("own2") == content
    os.unlink(f"{mnt}/own2")
    assert os.pread(reader, 1000, 0) == content
    os.close(reader)


def turns():
    """Each reads what the other has just written."""
    fresh("turns")
    for i in range(20):
        put(f"{other}/turns", b"other %d" % i)
        seen("turns", b"other %d" % i)
        put(f"{mnt}/turns", b"mount %d" % i)
        with open(f"{other}/turns", "rb") as f:
            assert f.read() == b"mount %d" % i
        seen("turns", b"mount %d" % i)


def crowd():
    """What anybody reads is never older than what was there when he opened the file."""
    fresh("crowd", b"%08d" % 0)
    written = [0]
    wrong = []

    def reader():
        while not stop.is_set():
            at_least = written[0]
            got = int(get("crowd"))
            if got < at_least:
                wrong.append((got, at_least))
    stop = threading.Event()
    threads = [threading.Thread(target=reader) for _ in range(16)]
    for t in threads:
        t.start()
    end = time.monotonic() + 15  # where the machine is slow
    for i in range(1, 400):
        put(f"{other}/crowd", b"%08d" % i, 0)
        written[0] = i
        if time.monotonic() > end:
            break
    stop.set()
    for t in threads:
        t.join()
    assert not wrong, wrong


def before_restart():
    fresh("restart1")
    fresh("restart2")


def after_restart():
    """What was delegated is, or is asked for again; a change is seen in any case."""
    read()
    put(f"{other}/restart1", b"new", 0)
    assert get("restart1") == b"new"
    put(f"{other}/restart2", b"newer", 0)
    seen("restart2", b"newer")


def change_alone():
    for name in FILES[:3]:
        put(f"{other}/{name}", b"a", 0)


globals()[step]()
