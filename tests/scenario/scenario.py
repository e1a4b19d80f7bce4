# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""What scenarios are written with.

A scenario is a function that takes Steps and works in an empty directory of its own, which is its
current directory. Each step prints one line, "topic/scenario: step: result"; the result is an errno's name or what a
call returned, put so that it is the same wherever the same thing has happened: no inode or device numbers, no
absolute times. Names of steps are unique in their scenario.

A Peer is another process, forked from this one: it does what it is told, as whichever user, and the
step prints what became of it.
"""
import ctypes
import errno
import hashlib
import os
import pickle
import shutil
import signal
import socket
import stat
import struct
import sys
import time

TICK = 0.03  # longer than the coarsest clock that file systems stamp files by
USER, GROUP = 4242, 4242
OTHER, OTHER_GROUP = 4243, 4243
EXTRA_GROUP = 4300

scenarios = []


def scenario(function=None, *, root=False):
    """Makes a function a scenario; root: only the super-user can do it."""

    def add(f):
        scenarios.append((f, root))
        return f

    return add(function) if function else add


def error_name(e):
    return errno.errorcode.get(e.errno, str(e.errno))


def show(value):
    """A result as one canonical line."""
    if value is None:
        return "ok"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, bytes):
        if len(value) <= 64:
            return ascii(value)
        return f"{len(value)} bytes, md5 {hashlib.md5(value).hexdigest()}"
    if isinstance(value, str):
        return ascii(value) if len(value) <= 64 else show(os.fsencode(value))
    if isinstance(value, (list, tuple, set, frozenset)):
        items = sorted(value) if isinstance(value, (set, frozenset)) else value
        return "[" + " ".join(show(i) for i in items) + "]"
    return str(value)


def outcome(function, args, kwargs):
    """(line, value): what became of a call."""
    try:
        value = function(*args, **kwargs)
        return show(value), value
    except OSError as e:
        return error_name(e), None
    except (EOFError, ValueError, OverflowError) as e:
        return type(e).__name__, None


TYPES = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFLNK: "symlink",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "char",
    stat.S_IFBLK: "block",
}


def describe(st, fields="type mode nlink size uid gid"):
    """The fields of a stat result that two file systems can agree on. The size and link count of a
    directory are the file system's own business."""
    out = []
    for field in fields.split():
        if field == "type":
            out.append(TYPES.get(stat.S_IFMT(st.st_mode), "unknown"))
        elif field == "mode":
            out.append("%04o" % stat.S_IMODE(st.st_mode))
        elif field == "rdev":
            out.append("%d:%d" % (os.major(st.st_rdev), os.minor(st.st_rdev)))
        elif field == "size" and stat.S_ISDIR(st.st_mode):
            continue
        else:
            out.append("%s=%d" % (field, getattr(st, "st_" + field)))
    return " ".join(out)


def lstat_line(path, fields="type mode nlink size uid gid"):
    return describe(os.lstat(path), fields)


class Word(str):
    """A result to be printed as it is."""


def read_file(path):
    fd = os.open(path, os.O_RDONLY)
    try:
        out = []
        while piece := os.read(fd, 1 << 20):
            out.append(piece)
        return b"".join(out)
    finally:
        os.close(fd)


def write_file(path, data=b"", flags=os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode=0o644):
    fd = os.open(path, flags, mode)
    try:
        while data:
            data = data[os.write(fd, data):]
    finally:
        os.close(fd)


class Peer:
    """Another process. begin() has it start something that may block, end() waits for the result."""

    def __init__(self, steps, uid=None, gid=None, groups=(), cwd=None):
        sys.stdout.flush()
        self.steps = steps
        self.busy = None
        self.channel, other = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            self.channel.close()
            try:
                signal.alarm(0)
                if uid is not None:
                    os.setgroups(groups)
                    os.setresgid(gid, gid, gid)
                    os.setresuid(uid, uid, uid)
                if cwd is not None:
                    os.chdir(cwd)
                self.serve(other)
            finally:
                os._exit(0)
        other.close()

    @staticmethod
    def serve(channel):
        with channel.makefile("rwb") as f:
            while head := f.read(4):
                function, args, kwargs = pickle.loads(f.read(struct.unpack("I", head)[0]))
                reply = pickle.dumps(outcome(function, args, kwargs))
                f.write(struct.pack("I", len(reply)) + reply)
                f.flush()

    def begin(self, step, function, *args, **kwargs):
        self.busy = step
        message = pickle.dumps((function, args, kwargs))
        self.channel.sendall(struct.pack("I", len(message)) + message)

    def receive(self, size):
        data = b""
        while len(data) < size:
            piece = self.channel.recv(size - len(data))
            if not piece:
                return None
            data += piece
        return data

    def end(self):
        step, self.busy = self.busy, None
        try:
            head = self.receive(4)
        except ConnectionError:
            head = None
        if head is None:
            _, status = os.waitpid(self.pid, 0)
            self.pid = 0
            died = os.WIFSIGNALED(status)
            self.steps.say(step, "died of " + signal.Signals(os.WTERMSIG(status)).name if died else "ended")
            return None
        line, value = pickle.loads(self.receive(struct.unpack("I", head)[0]))
        self.steps.say(step, line)
        return value

    def call(self, step, function, *args, **kwargs):
        self.begin(step, function, *args, **kwargs)
        return self.end()

    def open(self, step, path, flags=os.O_RDONLY, mode=0o666):
        """The descriptor in that process."""
        self.begin(step, open_quietly, path, flags, mode)
        fd = self.end()
        return -1 if fd is None else fd

    def waits(self, step, seconds=0.3):
        """Prints whether what was begun is still under way."""
        self.channel.settimeout(seconds)
        try:
            self.channel.recv(1, socket.MSG_PEEK)
            self.steps.say(step, "no")
        except TimeoutError:
            self.steps.say(step, "yes")
        finally:
            self.channel.settimeout(None)

    def kill(self):
        if self.pid:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0
        self.channel.close()


class Descriptor(int):
    """Descriptors are numbered as it happens: a result shows only that there is one."""

    def __str__(self):
        return "ok"


def open_quietly(path, flags, mode=0o666, dir_fd=None):
    return Descriptor(os.open(path, flags, mode, dir_fd=dir_fd))


class Steps:
    def __init__(self, title, second=None):
        self.title = title
        self.second = second  # the same directory through another mount, or None
        self.seen = set()
        self.peers = []
        self.fds = []

    def say(self, step, line):
        if step in self.seen:
            raise RuntimeError(f"{self.title}: two steps are called {step}")
        self.seen.add(step)
        sys.stdout.write(f"{self.title}: {step}: {line}\n")

    def show(self, step, value):
        self.say(step, value if isinstance(value, Word) else show(value))

    def call(self, step, function, *args, **kwargs):
        """Prints what became of a call and returns its value, None if it failed."""
        line, value = outcome(function, args, kwargs)
        self.say(step, value if isinstance(value, Word) else line)
        return value

    def ok(self, step, function, *args, **kwargs):
        """As call, for a value that does not matter."""
        line, value = outcome(function, args, kwargs)
        self.say(step, line if value is None else "ok")
        return value

    def open(self, step, path, flags=os.O_RDONLY, mode=0o666, dir_fd=None):
        """A descriptor that is closed with the scenario; -1 if it failed."""
        fd = self.call(step, open_quietly, path, flags, mode, dir_fd)
        if fd is None:
            return -1
        self.fds.append(int(fd))
        return int(fd)

    def close(self, fd):
        if fd in self.fds:
            self.fds.remove(fd)
            os.close(fd)

    def lstat(self, step, path, fields="type mode nlink size uid gid"):
        return self.call(step, lambda: Word(lstat_line(path, fields)))

    def fstat(self, step, fd, fields="type mode nlink size uid gid"):
        return self.call(step, lambda: Word(describe(os.fstat(fd), fields)))

    def eventually(self, step, function, wanted, seconds=5):
        """As call, but gives a client the time to finish what close(2) does not wait for."""
        end = time.monotonic() + seconds
        while outcome(function, (), {})[1] != wanted and time.monotonic() < end:
            time.sleep(TICK)
        return self.call(step, function)

    def exists(self, step, path):
        self.call(step, os.path.lexists, path)

    def changed(self, step, path, function, *args, **kwargs):
        """Does something and prints which of path's times it made later (or earlier)."""
        before = os.lstat(path) if isinstance(path, str) else os.fstat(path)
        time.sleep(TICK)
        line, value = outcome(function, args, kwargs)
        if value is None and line != "ok":
            self.say(step, line)
            return value
        after = os.lstat(path) if isinstance(path, str) else os.fstat(path)
        moved = []
        for field in ("atime", "mtime", "ctime"):
            was, now = getattr(before, f"st_{field}_ns"), getattr(after, f"st_{field}_ns")
            if was != now:
                moved.append(field + (" later" if now > was else " earlier"))
        self.say(step, ", ".join(moved) or "no time changed")
        return value

    def peer(self, uid=None, gid=None, groups=(), cwd=None):
        p = Peer(self, uid, uid if gid is None and uid is not None else gid, groups, cwd)
        self.peers.append(p)
        return p

    def finish(self):
        for p in self.peers:
            p.kill()
        for fd in self.fds:
            try:
                os.close(fd)
            except OSError:
                pass  # the scenario has closed it


def run_scenario(topic, function, base, second):
    name = function.__name__
    path = os.path.join(base, topic, name)
    os.umask(0o022)
    os.makedirs(path)
    os.chmod(path, 0o777)
    os.chdir(path)
    steps = Steps(f"{topic}/{name}", second and os.path.join(second, topic, name))
    try:
        function(steps)
    except Exception as e:  # a scenario that cannot go on is a result like any other
        steps.say("broken off", f"{type(e).__name__}: {error_name(e) if isinstance(e, OSError) else e}")
    finally:
        steps.finish()
        os.chdir("/")
        sys.stdout.flush()


def run_topic(topic, base, second):
    """All scenarios that the topic's module has registered, in the order of its file."""
    for function, root in scenarios:
        if root and os.getuid():
            continue
        run_scenario(topic, function, base, second)
    shutil.rmtree(os.path.join(base, topic), ignore_errors=True)


# --- calls that os lacks ---

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100
UTIME_NOW, UTIME_OMIT = (1 << 30) - 1, (1 << 30) - 2
RENAME_NOREPLACE, RENAME_EXCHANGE, RENAME_WHITEOUT = 1, 2, 4
KEEP_SIZE, PUNCH_HOLE, COLLAPSE_RANGE, ZERO_RANGE, INSERT_RANGE, UNSHARE_RANGE = 1, 2, 8, 16, 32, 64


class Timespec(ctypes.Structure):
    _fields_ = [("sec", ctypes.c_long), ("nsec", ctypes.c_long)]


def c_call(name, *args):
    ctypes.set_errno(0)
    result = getattr(libc, name)(*args)
    if result == -1:
        raise OSError(ctypes.get_errno(), name)
    return result


def renameat2(old, new, flags):
    c_call("renameat2", AT_FDCWD, os.fsencode(old), AT_FDCWD, os.fsencode(new), flags)


def fallocate(fd, mode, offset, length):
    c_call("fallocate", fd, mode, ctypes.c_long(offset), ctypes.c_long(length))


def utimensat(path, atime, mtime, flags=0):
    """Times are (seconds, nanoseconds)."""
    times = (Timespec * 2)(Timespec(*atime), Timespec(*mtime))
    c_call("utimensat", AT_FDCWD, os.fsencode(path), times, flags)


def syncfs(fd):
    c_call("syncfs", fd)
