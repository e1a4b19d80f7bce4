# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""changes.py STEP MOUNT OTHER: what the programs do in tests/e2e/changes."""
import fcntl
import mmap
import os
import struct
import sys
import threading
import time

PAGE = mmap.PAGESIZE
RW = os.O_RDWR | os.O_CREAT
a, b = sys.argv[2:]  # where the first and the second daemon are mounted, but for the last two


def make(name, pages):
    """A file of that many pages, each of another letter, made by the other mount."""
    with open(f"{b}/{name}", "wb") as f:
        f.write(b"".join(bytes([97 + i % 26]) * PAGE for i in range(pages)))


def patch(name, page, data):
    """The other mount writes, and has it on the server."""
    fd = os.open(f"{b}/{name}", os.O_RDWR)
    os.pwrite(fd, data, page * PAGE)
    os.close(fd)


def direct(fd, page):
    """Reads a page past all caches: one READ."""
    buf = mmap.mmap(-1, PAGE)
    assert os.preadv(fd, [buf], page * PAGE) == PAGE
    return bytes(buf)


def write():
    for _ in range(5):
        fd = os.open(f"{a}/w", RW)
        for page in range(30):
            os.pwrite(fd, bytes([65 + page % 26]) * PAGE, page * PAGE)
            assert os.pread(fd, PAGE, page * PAGE)[:1] == bytes([65 + page % 26])
        os.fsync(fd)
        os.pread(fd, 10 * PAGE, 0)
        os.close(fd)
    with open(f"{a}/w", "rb") as f:
        assert len(f.read()) == 30 * PAGE


def threads():
    fd = os.open(f"{a}/t", RW)
    plain = os.open(f"{a}/t", os.O_RDWR | os.O_DIRECT)

    def work(first):
        mine = mmap.mmap(-1, PAGE)
        mine[:] = bytes([65 + first]) * PAGE
        for i in range(40):
            os.pwritev(plain, [mine], (first + 4 * i) * PAGE)
            os.pwrite(fd, b"x", (first + 4 * (i // 2)) * PAGE)
            os.pread(fd, 3 * PAGE, i * PAGE)

    all_ = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in all_:
        t.start()
    for t in all_:
        t.join()
    os.fsync(fd)
    direct(plain, 3)
    os.close(plain)
    os.close(fd)


def otherwise():
    name = f"{a}/o"
    fd = os.open(name, RW | os.O_APPEND)
    other = os.open(name, os.O_RDWR | os.O_DIRECT)
    for i in range(5):
        os.write(fd, b"line\n" * PAGE)
        direct(other, 1)
        os.ftruncate(fd, (4 - i % 2) * PAGE)
        direct(other, 1)
        os.chmod(name, 0o600 + i)
        direct(other, 1)
        os.rename(name, f"{a}/o{i}")
        name = f"{a}/o{i}"
        direct(other, 1)
        os.utime(name)
        direct(other, 1)
        os.link(name, f"{a}/l{i}")
        direct(other, 1)
        os.unlink(f"{a}/l{i}")
        direct(other, 1)
    os.close(other)
    os.close(fd)


def keep():
    """Pages that are there before and after a write elsewhere in the file."""
    make("k", 64)
    fd = os.open(f"{a}/k", os.O_RDWR)
    m = mmap.mmap(fd, 64 * PAGE, prot=mmap.PROT_READ)
    with open(f"/proc/self/fd/{fd}", "rb") as f:  # one READ
        f.read()
    for page in range(10):
        os.pwrite(fd, b"ours", page * PAGE)
    assert all(m[page * PAGE : page * PAGE + 4] == (b"ours" if page < 10 else bytes([97 + page % 26]) * 4) for page in range(64))
    m.close()
    os.close(fd)


def read():
    make("r", 600)
    fd = os.open(f"{a}/r", os.O_RDONLY)
    plain = os.open(f"{a}/r", os.O_RDONLY | os.O_DIRECT)
    assert os.pread(fd, 4, 0) == b"aaaa"
    patch("r", 0, b"theirs")
    time.sleep(1.1)  # over NFSv4 a READ brings attributes once a second
    direct(plain, 500)
    got = os.pread(fd, 6, 0)
    assert got == b"theirs", got
    os.close(fd)
    os.close(plain)


def write_notices():
    make("n", 600)
    fd = os.open(f"{a}/n", os.O_RDWR)
    assert os.pread(fd, 4, 0) == b"aaaa"
    patch("n", 0, b"theirs")
    os.pwrite(fd, b"ours", 500 * PAGE)
    os.stat(f"{a}/n")  # it is sent
    got = os.pread(fd, 6, 0)
    assert got == b"theirs", got
    os.close(fd)


def commit():
    make("c", 600)
    fd = os.open(f"{a}/c", os.O_RDWR)
    assert os.pread(fd, 4, 0) == b"aaaa"
    os.pwrite(fd, b"ours", 500 * PAGE)
    assert os.pread(fd, 4, 0) == b"aaaa"
    patch("c", 0, b"theirs")
    os.fsync(fd)
    got = os.pread(fd, 6, 0)
    assert got == b"theirs", got
    os.close(fd)


def end():
    """The end that somebody else has moved is seen under a lock, though one process has asked for attributes before, and hears of
    it late, and another opens the file meanwhile. Answers with attributes or data take a second; b is what is exported."""
    with open(f"{b}/e", "wb") as f:
        f.write(b"x" * 100)
    fd = os.open(f"{a}/e", os.O_RDWR)
    assert os.pread(fd, 1000, 0) == b"x" * 100
    early = threading.Thread(target=os.fstat, args=(fd,))
    early.start()
    time.sleep(0.1)
    os.truncate(f"{b}/e", 200)
    fcntl.flock(fd, fcntl.LOCK_EX)
    beside = threading.Thread(target=os.open, args=(f"/proc/self/fd/{fd}", os.O_RDONLY))
    beside.start()
    time.sleep(0.3)
    got = os.pread(fd, 1000, 0)
    early.join()
    beside.join()
    assert got == b"x" * 100 + bytes(100), len(got)


def behind():
    """The same, where others have read behind it, from a map, before anybody knew that: the kernel would take it that the file ends
    where the first has read, and had what the second has read."""
    with open(f"{b}/b", "wb") as f:
        f.write(b"x" * 300000)
    fd = os.open(f"{a}/b", os.O_RDWR)
    m = mmap.mmap(fd, 300000, prot=mmap.PROT_READ)
    m.madvise(mmap.MADV_RANDOM)
    os.truncate(f"{b}/b", 100)
    fcntl.flock(fd, fcntl.LOCK_EX)
    for at in (290000, 200000):
        if not os.fork():
            m[at]
            os._exit(0)
        time.sleep(0.3)
    got = os.pread(fd, 1000, 200000)
    os.wait()
    os.wait()
    assert not got, len(got)


def astray():
    """Who appends where the kernel did not expect the end sees it, though another process has asked for attributes before and hears
    of it between. Attributes alone take a second; b is what is exported."""
    with open(f"{b}/a", "wb") as f:
        f.write(b"x" * 100)
    look = os.open(f"{a}/a", os.O_RDONLY)
    assert os.pread(look, 1000, 0) == b"x" * 100
    os.truncate(f"{b}/a", 200)
    fd = os.open(f"{a}/a", os.O_RDWR | os.O_APPEND)
    early = threading.Thread(target=os.fstat, args=(look,))
    early.start()
    time.sleep(0.3)
    os.write(fd, b"y" * 10)
    time.sleep(0.3)
    got = os.pread(fd, 1000, 0)
    early.join()
    assert got == b"x" * 100 + bytes(100) + b"y" * 10, len(got)


def writes_slowly(fd, source, locks, report):
    """Two pages, of which the kernel gets the second a while after it has filled its own page with the first."""
    if locks:
        fcntl.lockf(fd, fcntl.LOCK_EX)
    os.write(report, b"begins")
    assert os.pwritev(fd, [b"w" * PAGE, source], 0) == 2 * PAGE
    os.write(report, struct.pack("d", time.monotonic()))
    os._exit(os.EX_OK)  # which closes and unlocks it


def cut():
    """Another client has cut the file, and a process here hears of that while another one writes. The kernel would clear the end of
    the page that is being written. Answers with data take a while; b is what is exported. An answer is not held back for long, so what
    has taken longer proves nothing."""
    proves = 0
    for i in range(60):
        name, slow, locks = f"cut{i}", f"slow{i}", i % 2
        for path, letter in ((name, b"x"), (slow, b"y")):
            with open(f"{b}/{path}", "wb") as f:
                f.write(letter * 3 * PAGE)
        fd = os.open(f"{a}/{name}", os.O_RDWR)
        assert os.fstat(fd).st_size == 3 * PAGE
        source = mmap.mmap(os.open(f"{a}/{slow}", os.O_RDWR), PAGE, prot=mmap.PROT_READ)
        os.truncate(f"{b}/{name}", 1000)
        reported, report = os.pipe()
        child = os.fork()
        if not child:
            if not locks:
                fd = os.open(f"{a}/{name}", os.O_RDWR)
            writes_slowly(fd, source, locks, report)
        assert os.read(reported, 6) == b"begins"
        while True:
            with open(f"/proc/{child}/stat") as f:
                if f.read().rsplit(")", 1)[1].split()[0] in "DZ":  # it waits for the page, or is late
                    break
        began = time.monotonic()
        os.stat(f"{a}/{name}")
        took = struct.unpack("d", os.read(reported, 8))[0] - began
        assert os.waitpid(child, 0)[1] == 0
        os.close(fd)
        if took > 0.15:
            continue
        with open(f"{b}/{name}", "rb") as f:
            got = f.read()
        assert got == b"w" * PAGE + b"y" * PAGE, (i, len(got), got.find(b"\0"))
        proves += 1
        if proves == 10:
            return
    assert proves, "this machine is too slow for the test"


globals()[sys.argv[1]]()
