#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# Processes that wait for a server that does not answer any more, and are killed.
#     kills.py DIR SIGNAL STOP [CASE...]
# Each case is a process of its own that makes itself ready in DIR, or $CROWD of them; then the
# command STOP is run, then each begins its call. When all wait the command $THEN is run, and they
# get SIGNAL. One is gone when its parent has reaped it. Exit status 0: all are.
import ctypes
import fcntl
import mmap
import os
import signal
import subprocess
import sys
import threading
import time

GONE_S = float(os.environ.get("GONE_S", 90))  # who is not gone by then will never be
BLOCK = 1 << 16
libc = ctypes.CDLL(None, use_errno=True)
cases = {}


def case(prepare=None):
    def add(fn):
        cases[fn.__name__] = (prepare, fn)
        return fn

    return add


def opened(flags):
    def prepare(path):
        return os.open(path, flags)

    return prepare


def written(path):  # with data that the server has and has not committed
    fd = os.open(path, os.O_RDWR)
    os.write(fd, b"x" * BLOCK)
    return fd


def locked(path):
    fd = written(path)
    fcntl.lockf(fd, fcntl.LOCK_EX)
    return fd


def page():
    m = mmap.mmap(-1, BLOCK)
    m.write(b"y" * BLOCK)
    return m


@case(opened(os.O_RDONLY))
def read(path, fd):
    os.pread(fd, 4096, 0)


@case(opened(os.O_RDONLY | os.O_DIRECT))
def read_direct(path, fd):
    os.preadv(fd, [mmap.mmap(-1, BLOCK)], 0)


@case(opened(os.O_RDWR))
def write(path, fd):
    os.write(fd, b"x" * BLOCK)


@case(opened(os.O_RDWR | os.O_DIRECT))
def write_direct(path, fd):
    os.pwritev(fd, [page()], 0)


@case(opened(os.O_RDWR | os.O_SYNC))
def write_sync(path, fd):
    os.write(fd, b"x" * BLOCK)


@case(opened(os.O_RDWR | os.O_APPEND))
def append(path, fd):
    os.write(fd, b"x" * 100)


@case(opened(os.O_RDONLY))
def fault(path, fd):
    return mmap.mmap(fd, 4096, prot=mmap.PROT_READ)[0]


@case(written)
def close(path, fd):
    os.close(fd)


@case(locked)
def close_locked(path, fd):
    os.close(fd)


@case(written)
def killed_with_data(path, fd):  # waits at its end only
    signal.pause()


@case(locked)
def killed_with_lock(path, fd):
    signal.pause()


@case(lambda path: [written(path) for _ in range(20)])
def killed_with_many(path, fds):
    signal.pause()


@case(written)
def exits(path, fd):  # the kernel drops signals that come now
    os._exit(0)


@case(written)
def fsync(path, fd):
    os.fsync(fd)


@case()
def stat(path, _):
    os.stat(path)


@case()
def look_up(path, _):
    os.path.exists(path + ".new")


@case()
def open_(path, _):
    os.open(path, os.O_RDWR)


@case()
def create(path, _):
    os.open(path + ".new", os.O_RDWR | os.O_CREAT)


@case()
def make_directory(path, _):
    os.mkdir(path + ".new")


@case()
def make_link(path, _):
    os.symlink("to", path + ".new")


@case()
def rename(path, _):
    os.rename(path, path + ".new")


@case()
def remove(path, _):
    os.unlink(path)


@case()
def listing(path, _):
    os.listdir(os.path.dirname(path))


@case()
def statfs(path, _):
    os.statvfs(path)


@case()
def truncate(path, _):
    os.truncate(path, 1)


@case()
def mode(path, _):
    os.chmod(path, 0o600)


@case(opened(os.O_RDWR))
def allocate(path, fd):
    os.posix_fallocate(fd, 0, 1 << 20)


@case(opened(os.O_RDWR))
def seek(path, fd):
    os.lseek(fd, 0, os.SEEK_HOLE)


@case(opened(os.O_RDWR))
def copy(path, fd):
    os.copy_file_range(fd, fd, 100, 0, 4096)


@case()
def attribute(path, _):
    os.getxattr(path, "user.a")


@case(opened(os.O_RDWR))
def lock(path, fd):
    fcntl.lockf(fd, fcntl.LOCK_EX)


@case(locked)
def unlock(path, fd):
    fcntl.lockf(fd, fcntl.LOCK_UN)


@case(opened(os.O_RDWR))
def flock(path, fd):
    fcntl.flock(fd, fcntl.LOCK_EX)


@case(opened(os.O_RDWR))
def test_lock(path, fd):
    fcntl.fcntl(fd, fcntl.F_GETLK, b"\0" * 32)


def held_by_another(path):
    fd, ready = os.open(path, os.O_RDWR), os.pipe()
    if os.fork() == 0:
        libc.prctl(1, signal.SIGKILL)  # with its parent
        fcntl.lockf(fd, fcntl.LOCK_EX)
        os.write(ready[1], b"r")
        signal.pause()
    os.read(ready[0], 1)
    return fd


@case(held_by_another)
def wait_for_lock(path, fd):
    fcntl.lockf(fd, fcntl.LOCK_EX)


def four_files(path):
    return [os.open(path, f) for f in (os.O_RDONLY, os.O_RDWR)] + [written(path), locked(path)]


def together(path, fds, calls):
    for c in calls:
        threading.Thread(target=c, daemon=True).start()


@case(four_files)
def threads(path, fds):
    together(path, fds, [lambda: read(path, fds[0]), lambda: write(path, fds[1]),
                         lambda: fsync(path, fds[2]), lambda: stat(path, None)])
    unlock(path, fds[3])


@case(four_files)
def threads_without_leader(path, fds):
    together(path, fds, [lambda: read(path, fds[0]), lambda: write(path, fds[1]),
                         lambda: fsync(path, fds[2]), lambda: stat(path, None)])
    libc.syscall(60 if os.uname().machine == "x86_64" else 93, 0)  # exit(2), this thread alone


class Child:
    def __init__(self, name, directory):
        self.name = name
        self.path = os.path.join(directory, name)
        self.go, self.said = os.pipe(), os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: it does not outlive this program
            self.run()
        os.close(self.said[1])
        if not os.read(self.said[0], 1):  # ready
            sys.exit(f"{name} could not make itself ready")

    def run(self):
        prepare, call = cases[self.name.split(".")[0]]
        for s in (signal.SIGINT, signal.SIGTERM):
            signal.signal(s, signal.SIG_DFL)
        try:
            state = prepare(self.path) if prepare else None
            os.write(self.said[1], b"r")
            os.read(self.go[0], 1)
            os.write(self.said[1], b"g")
            call(self.path, state)
        except OSError as e:
            print("#", self.name, e, flush=True)
        os._exit(1)

    def begin(self):
        os.write(self.go[1], b"g")
        os.read(self.said[0], 1)

    def tasks(self):
        for t in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{t}/stat") as f:
                    yield t, f.read().rsplit(")", 1)[1].split()[0]
            except (FileNotFoundError, ProcessLookupError):  # it has just ended
                pass

    def wait_blocked(self):  # no thread of it runs
        while any(state == "R" for _, state in self.tasks()):
            time.sleep(0.01)

    def gone(self, until):
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                return True
            if time.monotonic() > until:
                return False
            time.sleep(0.01)

    def where(self):
        out = []
        for t, state in self.tasks():
            try:
                with open(f"/proc/{self.pid}/task/{t}/wchan") as f:
                    out.append(f"{t}: {state} {f.read()}")
            except OSError:
                out.append(f"{t}: {state}")
        return ", ".join(out)


def main(directory, sig, stop, names):
    names = [f"{n}.{i}" for n in names or cases
             for i in range(int(os.environ.get("CROWD", 1)))]
    for n in names:
        fd = os.open(os.path.join(directory, n), os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        os.write(fd, b"a" * (4 * BLOCK))
        os.fsync(fd)
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)  # or it is read from the kernel's cache
        os.close(fd)
    children = [Child(n, directory) for n in names]
    subprocess.run(stop, shell=True, check=True)
    for c in children:
        c.begin()
    for c in children:
        c.wait_blocked()
    subprocess.run(os.environ.get("THEN", "true"), shell=True, check=True)
    for c in children:
        os.kill(c.pid, getattr(signal, sig))
    until = time.monotonic() + GONE_S
    stuck = [c for c in children if not c.gone(until)]
    for c in stuck:
        print(f"{c.name} is still there: {c.where()}", flush=True)
    return len(stuck) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]))
