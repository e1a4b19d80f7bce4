#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# What programs meet while a server is silent for longer than the kernel waits for an answer.
#     patience.py calls SERVER MOUNT SMALL LIVE USER OTHER CONTROL
# SERVER is the process ID of the server of MOUNT and of SMALL, which has little memory. It is stopped
# until the kernel has looked at each mount once after the bound, and has ended CONTROL. LIVE, which is
# USER's, and OTHER are mounts of a server that answers. Prints a line for each call: its name, and the
# errno that it failed with, or done. Each piece of MOUNT/writer has the number of its write.
#     patience.py control FOLDER
# makes a FUSE mount that answers nothing but INIT, and leaves a process behind that keeps it.
import ctypes
import errno
import fcntl
import mmap
import os
import signal
import struct
import sys
import threading
import time

from kills import BLOCK, Child, cases, libc, opened

LOOK_S = 15  # the kernel looks so often, and the bound is no longer
CLOSED = 300  # files; the kernel has 128 RELEASEs under way and keeps the others
CROWD = 24  # READs and WRITEs of a MiB in SMALL, which has 16
# Not played here; for a page fault the kernel asks several times, one after the other.
OTHERS = ("killed_with_data", "killed_with_lock", "killed_with_many", "threads", "threads_without_leader", "fault")
found = []  # lines


def name_of(error):
    return errno.errorcode.get(error, str(error))


def outcome(call, *arguments):
    try:
        call(*arguments)
    except OSError as e:
        return name_of(e.errno)
    return "done"


class Process(Child):
    """One of the cases, by a user."""

    def __init__(self, name, folder, user=0):
        self.user = user
        super().__init__(name, folder)

    def run(self):
        prepare, call = cases[self.name]
        try:
            os.setgroups([])
            os.setresgid(self.user, self.user, self.user)
            os.setresuid(self.user, self.user, self.user)
            signal.signal(signal.SIGALRM, lambda *_: None)
            state = prepare(self.path) if prepare else None
            os.write(self.said[1], b"r")
            os.read(self.go[0], 1)
            os.write(self.said[1], b"g")
            signal.alarm(2)  # a signal that is handled, as INTERRUPT tells the daemon
            os.write(self.said[1], outcome(call, self.path, state).encode())
        finally:
            os._exit(0)

    def end(self, until):
        if self.gone(until):
            found.append(f"{self.name} {os.read(self.said[0], 100).decode() or 'ended'}")
        else:
            found.append(f"{self.name} waits: {self.where()}")
            os.kill(self.pid, signal.SIGKILL)


class Thread(threading.Thread):
    def __init__(self, name, call, *arguments):
        super().__init__(daemon=True)
        self.name, self.result, self.call, self.arguments = name, "waits", call, arguments

    def run(self):
        self.result = outcome(self.call, *self.arguments)

    def end(self, until):
        self.join(max(0, until - time.monotonic()))
        found.append(f"{self.name} {self.result}")


def in_own_folder(name, mount):
    """One of kills.py's. No two of these wait for each other in the kernel."""
    folder = os.path.join(mount, name)
    os.mkdir(folder)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(b"a" * 4 * BLOCK)
        os.fsync(f.fileno())
        os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return Process(name, folder)


# --- a daemon that does not answer ---------------------------------------------------------------


def control(folder):
    device = os.open("/dev/fuse", os.O_RDWR)
    data = f"fd={device},rootmode=40000,user_id=0,group_id=0".encode()
    if libc.mount(b"control", folder.encode(), b"fuse", 0, data):
        raise OSError(ctypes.get_errno(), "mount")
    unique = struct.unpack_from("<Q", os.read(device, 1 << 17), 8)[0]
    init = struct.pack("<IIIIHHIIHHIIH22x", 7, 31, 0, 0, 0, 0, 4096, 1, 0, 0, 0, 0, 0)
    os.write(device, struct.pack("<IiQ", 16 + len(init), 0, unique) + init)
    if os.fork() == 0:
        os.setsid()
        os.closerange(0, 3)  # for which the shell waits
        signal.pause()


# --- the calls -----------------------------------------------------------------------------------


def page_aligned(size):
    m = mmap.mmap(-1, size)
    m.write(b"x" * size)
    return m


def crowd(small):
    """Threads with READs and WRITEs that there is no memory for, and one whose call is not read behind those."""
    for i in range(CROWD):
        path = os.path.join(small, f"crowd{i}")
        with open(path, "wb") as f:
            f.truncate(1 << 20)
        fd = os.open(path, os.O_RDWR | os.O_DIRECT)
        yield Thread("crowd-read", os.preadv, fd, [page_aligned(1 << 20)], 0)
        yield Thread("crowd-write", os.pwritev, fd, [page_aligned(1 << 20)], 0)
    yield Thread("crowd-behind", os.statvfs, small)


class Writer:
    """Writes and syncs a file before the silence, in it, and after."""

    def __init__(self, mount):
        self.fd, self.number = os.open(os.path.join(mount, "writer"), os.O_RDWR | os.O_CREAT, 0o644), 0

    def write(self):
        os.pwrite(self.fd, f"writer{self.number}".encode() * 1000, self.number * BLOCK)
        self.number += 1
        return outcome(os.fsync, self.fd)


def closes(mount):
    """Closes many files at once."""
    folder = os.path.join(mount, "closes")
    os.mkdir(folder)
    return [os.open(os.path.join(folder, str(i)), os.O_WRONLY | os.O_CREAT) for i in range(CLOSED)]


def lock(path, fd):
    fcntl.lockf(fd, fcntl.LOCK_EX)


cases["locked"] = (opened(os.O_RDWR), lock)


def calls(server, mount, small, live, user, other, control_folder):
    server, user = int(server), int(user)
    names = [name for name in cases if name not in OTHERS + ("locked",)]
    writer, fds = Writer(mount), closes(mount)
    held = os.open(os.path.join(other, "locked"), os.O_RDWR)
    fcntl.lockf(held, fcntl.LOCK_EX)
    found.append(f"written-before {writer.write()}")
    processes = [in_own_folder(name, mount) for name in names] + [Process("locked", live, user)]
    threads = [Thread("control", os.stat, os.path.join(control_folder, "name")), *crowd(small)]
    os.kill(server, signal.SIGSTOP)
    silent = time.monotonic()
    for t in threads:
        t.start()
    for p in processes:
        p.begin()
    for fd in fds:
        os.close(fd)
    found.append(f"written-in-silence {writer.write()}")
    threads[0].join(60)
    time.sleep(max(0, silent + 2 * LOOK_S + 2 - time.monotonic()))
    for w in threads + processes:
        w.end(time.monotonic() + 2)
    os.kill(server, signal.SIGCONT)
    found.append(f"written-after {writer.write()}")
    fcntl.lockf(held, fcntl.LOCK_UN)
    found.append(f"holder {outcome(fcntl.lockf, held, fcntl.LOCK_EX | fcntl.LOCK_NB)}")
    fcntl.lockf(held, fcntl.LOCK_UN)
    last = Process("locked", live, user)
    last.begin()
    last.end(time.monotonic() + 60)
    print("\n".join(found))


{"calls": calls, "control": control}[sys.argv[1]](*sys.argv[2:])
