# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""The programs that work on the mounts. Each runs until SIGTERM, then ends in good order: what is open is
synced and closed, and the journal says so.

    python3 -m soaking.writers KIND NUMBER DIRECTORY JOURNAL SEED

What the journal says (file names are relative to the directory):

    write FILE BLOCK COUNT GENERATION   is about to be written; a generation is used once in a file
    bad FILE GENERATION                 the write of it failed or is in doubt
    sync FILE GENERATION HOW            all good writes so far, up to this generation, are acknowledged
    only FILE GENERATION HOW            this one is (O_SYNC)
    told FILE GENERATION HOW ERRNO      something up to this generation may be lost, and this writer knows
    stale FILE BLOCK FOUND WANTED       read back, and an acknowledged generation was not there
    do OPERATION NAME OTHER, did ERRNO  a change of a directory, and how it ended (0: well)
    record FILE SLOT TEXT, kept TEXT    a record is about to be written under a lock; it is acknowledged
    line FILE TEXT, kept TEXT           the same, at the end of a log
    held, free                          a lock is
    took TITLE SECONDS                  the longest call so far
    begins, opened COUNT                nobody is promised anything by these
    done                                all is closed
"""
import errno
import fcntl
import mmap
import os
import random
import signal
import sys
import time

from . import pattern
from .journal import Journal

RECORD = 64  # bytes of one in a counter

UNSYNCED = 2  # exit status of a child

stopping = False


def stop(*_):
    global stopping
    stopping = True


class Writer:
    def __init__(self, number, directory, journal, seed):
        self.number, self.directory = number, directory
        self.journal = Journal(journal)
        self.random = random.Random(seed)

    def path(self, name):
        return os.path.join(self.directory, name)

    def timed(self, call, *arguments):
        return self.journal.timed(call.__name__, call, *arguments)

    def pause(self):
        time.sleep(self.random.expovariate(200))

    def run(self):
        self.journal.say("begins")
        self.begin()
        while not stopping:
            self.step()
            self.pause()
        self.end()
        self.journal.say("done")

    def begin(self):
        pass

    def end(self):
        pass


class File:
    """A file of which this writer owns the blocks from first on; one open file description, and at
    times a second one for O_SYNC."""

    def __init__(self, writer, name, first, count):
        self.writer, self.name, self.first, self.count = writer, name, first, count
        self.journal, self.random = writer.journal, writer.random
        self.generation = 0
        self.acked = {}  # block: generation
        self.pending = {}
        self.fd = None

    def open(self):
        try:
            self.fd = self.writer.timed(os.open, self.writer.path(self.name), os.O_RDWR | os.O_CREAT, 0o644)
        except OSError:
            self.fd = None
        return self.fd is not None

    def issue(self, index, count):
        """The data of the next generation, whose coming is noted."""
        self.generation += 1
        self.journal.say("write", self.name, index, count, self.generation)
        return pattern.blocks(self.writer.number, self.name, index, count, self.generation)

    def wrote(self, index, count):
        for i in range(index, index + count):
            self.pending[i] = self.generation

    def bad(self):
        self.journal.say("bad", self.name, self.generation)

    def extent(self, most):
        count = self.random.randint(1, min(most, self.count))
        return self.first + self.random.randrange(self.count - count + 1), count

    def put(self, fd, data, index):
        """True if all of it was taken."""
        try:
            return self.writer.timed(os.pwrite, fd, data, index * pattern.BLOCK) == len(data)
        except OSError:
            return False

    def synced(self, how):
        self.journal.say("sync", self.name, self.generation, how)
        self.acked.update(self.pending)
        self.pending.clear()

    def told(self, how, error):
        self.journal.say("told", self.name, self.generation, how, errno.errorcode.get(error, error))
        self.pending.clear()

    def write(self):
        index, count = self.extent(32)
        if self.put(self.fd, self.issue(index, count), index):
            self.wrote(index, count)
        else:
            self.bad()

    def write_dup(self):
        """The close of the copy is nobody's to look at, as in a shell's redirection."""
        index, count = self.extent(16)
        fd = os.dup(self.fd)
        good = self.put(fd, self.issue(index, count), index)
        try:
            self.writer.timed(os.close, fd)
        except OSError:
            pass
        if good:
            self.wrote(index, count)
        else:
            self.bad()

    def in_child(self, work):
        """A forked process does it: what it made of it, 0 if all is well. Its end closes all that it inherited."""
        child = os.fork()
        if child == 0:
            status = 1
            try:
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                status = work()
            finally:
                os._exit(status)
        return os.waitstatus_to_exitcode(self.writer.timed(os.waitpid, child, 0)[1])

    def write_forked(self):
        index, count = self.extent(16)
        data = self.issue(index, count)
        if self.in_child(lambda: 0 if self.put(self.fd, data, index) else 1) == 0:
            self.wrote(index, count)
        else:
            self.bad()

    def fork_only(self):
        self.in_child(lambda: 0)

    def write_mapped(self):
        """In a child, since what is wrong with a mapping is told by SIGBUS. msync(2) acknowledges."""
        index, count = self.extent(8)
        data = self.issue(index, count)
        sync = self.random.random() < 0.5

        def store():
            with mmap.mmap(self.fd, (self.first + self.count) * pattern.BLOCK) as mapping:
                mapping[index * pattern.BLOCK:(index + count) * pattern.BLOCK] = data
                try:
                    if sync:
                        mapping.flush()
                except OSError:
                    return UNSYNCED
            return 0

        status = self.in_child(store)
        if status:
            self.bad()
            if status == UNSYNCED:  # which is a sync of the file as any other, of the same open file description
                self.told("msync", errno.EIO)
            return
        self.wrote(index, count)
        if sync:
            self.journal.say("only", self.name, self.generation, "msync")
            self.acked.update(dict.fromkeys(range(index, index + count), self.generation))

    def write_sync(self):
        index, count = self.extent(8)
        try:
            fd = self.writer.timed(os.open, self.writer.path(self.name), os.O_RDWR | os.O_SYNC)
        except OSError:
            return
        good = self.put(fd, self.issue(index, count), index)
        if good:
            self.journal.say("only", self.name, self.generation, "O_SYNC")
            self.acked.update(dict.fromkeys(range(index, index + count), self.generation))
            for i in range(index, index + count):
                self.pending.pop(i, None)
        else:
            self.bad()
        try:
            self.writer.timed(os.close, fd)
        except OSError:
            pass

    def sync(self):
        how = self.random.choice((os.fsync, os.fsync, os.fdatasync))
        try:
            self.writer.timed(how, self.fd)
        except OSError as e:
            self.told(how.__name__, e.errno)
        else:
            self.synced(how.__name__)

    def close(self):
        fd, self.fd = self.fd, None
        try:
            self.writer.timed(os.close, fd)
        except OSError as e:
            self.told("close", e.errno)
        else:
            self.synced("close")

    def reopen(self):
        self.close()
        self.open()

    def look(self):
        """What was acknowledged must be read, and what came later may be."""
        index, _ = self.extent(1)
        try:
            data = self.writer.timed(os.pread, self.fd, pattern.BLOCK, index * pattern.BLOCK)
        except OSError:
            return
        found = pattern.generations(data.ljust(pattern.BLOCK, b"\0"), self.writer.number, self.name, index)
        wanted = self.acked.get(index, 0)
        if any(g is None or g < wanted for g in found):
            self.journal.say("stale", self.name, index, sorted(-1 if g is None else g for g in found), wanted)

    STEPS = ((write, 40), (write_dup, 8), (write_forked, 6), (fork_only, 4), (write_mapped, 8),
             (write_sync, 8), (sync, 14), (reopen, 6), (look, 6))


class Files(Writer):
    """Files of its own."""
    shared = False

    def begin(self):
        if self.shared:
            size = 64
            self.files = [File(self, f"shared{i}", self.number * size, size) for i in range(2)]
        else:
            self.files = [File(self, f"w{self.number}-{i}", 0, 256) for i in range(3)]

    def step(self):
        file = self.random.choice(self.files)
        if file.fd is None:
            file.open()
        else:
            steps, weights = zip(*File.STEPS)
            self.random.choices(steps, weights)[0](file)
            if file.fd is not None and not self.size_holds(file):
                file.reopen()

    def size_holds(self, file):
        """A file that has become shorter cannot be mapped; it is set to its whole size when it is new."""
        try:
            end = (file.first + file.count) * pattern.BLOCK
            if os.fstat(file.fd).st_size < end:
                file.issue(file.first + file.count - 1, 1)
                last = pattern.block(self.number, file.name, file.first + file.count - 1, file.generation)
                if file.put(file.fd, last, file.first + file.count - 1):
                    file.wrote(file.first + file.count - 1, 1)
                else:
                    file.bad()
            return True
        except OSError:
            return False

    def end(self):
        for file in self.files:
            if file.fd is not None:
                file.sync()
                file.close()


class Shared(Files):
    """The same files as every other Shared: each must hear of the loss of what it wrote."""
    shared = True


class Names(Writer):
    """Changes of directories. A name is used for one thing only, and no more once it is in doubt."""

    def begin(self):
        self.serial = 0
        self.known = {}  # name: kind
        self.base = f"n{self.number}"
        self.steps = {"mkdir": 2, "create": 6, "symlink": 2, "link": 2, "rename": 5, "remove": 3,
                      "rmdir": 1, "chmod": 2, "sync": 2}
        self.attempt("mkdir", self.base, None, lambda: os.mkdir(self.path(self.base)))

    def attempt(self, operation, name, other, call):
        self.journal.say("do", operation, name, other)
        error = 0
        try:
            self.journal.timed(operation, call)
        except OSError as e:
            error = e.errno
        self.journal.say("did", errno.errorcode.get(error, error) if error else 0)
        return error == 0

    def fresh(self):
        self.serial += 1
        return f"{self.base}/{self.serial}"

    def pick(self, *kinds):
        names = [n for n, k in self.known.items() if k in kinds]
        return self.random.choice(names) if names else None

    def step(self):
        operation = self.random.choices(list(self.steps), list(self.steps.values()))[0]
        getattr(self, operation)()

    def make(self, operation, kind, call, other=None):
        name = self.fresh()
        if self.attempt(operation, name, other, lambda: call(self.path(name))):
            self.known[name] = kind

    def mkdir(self):
        self.make("mkdir", "directory", os.mkdir)

    def create(self):
        self.make("create", "file", lambda p: os.close(os.open(p, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o644)))

    def symlink(self):
        self.make("symlink", "symlink", lambda p: os.symlink("to/" + os.path.basename(p), p))

    def link(self):
        old = self.pick("file")
        if old:
            self.make("link", "file", lambda p: os.link(self.path(old), p), old)

    def rename(self):
        old = self.pick("file", "symlink", "directory")
        if old:
            kind = self.known.pop(old)
            self.make("rename", kind, lambda p: os.rename(self.path(old), p), old)

    def remove(self):
        name = self.pick("file", "symlink")
        if name:
            del self.known[name]
            self.attempt("remove", name, None, lambda: os.unlink(self.path(name)))

    def rmdir(self):
        name = self.pick("directory")
        if name:
            del self.known[name]
            self.attempt("rmdir", name, None, lambda: os.rmdir(self.path(name)))

    def chmod(self):
        name = self.pick("file")
        if name:
            mode = self.random.choice((0o600, 0o640, 0o644, 0o755))
            self.attempt("chmod", name, mode, lambda: os.chmod(self.path(name), mode))

    def sync(self):
        def fsync():
            fd = os.open(self.path(self.base), os.O_RDONLY | os.O_DIRECTORY)
            try:
                os.fsync(fd)
            finally:
                os.close(fd)
        self.attempt("fsync", self.base, None, fsync)


class Counter(Writer):
    """Under a lock: finds the first free slot of the file, writes a record there, syncs. Two records for one
    slot mean that somebody wrote without the lock. One that loses its lock hears of it by an error."""
    cheats = False

    def begin(self):
        self.serial, self.fd = 0, None
        self.whole_file = self.random.random() < 0.5

    def lock(self, fd, how):
        if self.cheats:
            return
        if self.whole_file:
            fcntl.lockf(fd, how)
        else:
            fcntl.lockf(fd, how, 1, 0)

    def step(self):
        try:
            if self.fd is None:
                self.fd = self.timed(os.open, self.path("counter"), os.O_RDWR | os.O_CREAT, 0o644)
            self.journal.timed("lock", self.lock, self.fd, fcntl.LOCK_EX)
            self.journal.say("held")
            self.add()
            self.journal.timed("unlock", self.lock, self.fd, fcntl.LOCK_UN)
            self.journal.say("free")
        except OSError:
            self.journal.say("free")
            self.end()

    def add(self):
        slot = os.fstat(self.fd).st_size // RECORD
        time.sleep(self.random.choice((0, 0, 0.01, 0.3)))
        self.serial += 1
        text = f"{self.number}.{self.serial}"
        self.journal.say("record", "counter", slot, text)
        record = text.ljust(RECORD - 1).encode() + b"\n"
        if self.timed(os.pwrite, self.fd, record, slot * RECORD) != RECORD:
            raise OSError(errno.EIO, "short")
        self.timed(os.fsync, self.fd)
        self.journal.say("kept", text)

    def end(self):
        if self.fd is not None:
            fd, self.fd = self.fd, None
            try:
                self.timed(os.close, fd)
            except OSError:
                pass


class Cheater(Counter):
    """Does not lock: for the self-test."""
    cheats = True


class Lines(Counter):
    """Appends to a log that others append to, under a lock."""

    def step(self):
        try:
            if self.fd is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
                self.fd = self.timed(os.open, self.path("log"), flags, 0o644)
            self.journal.timed("lock", self.lock, self.fd, fcntl.LOCK_EX)
            self.add()
            self.journal.timed("unlock", self.lock, self.fd, fcntl.LOCK_UN)
        except OSError:
            self.end()

    def add(self):
        self.serial += 1
        text = f"{self.number}.{self.serial}." + "x" * self.random.randrange(200)
        self.journal.say("line", "log", text)
        # Before it, too: what was taken of somebody's line when the disk was full may have no end.
        if self.timed(os.write, self.fd, f"\n{text}\n".encode()) != len(text) + 2:
            raise OSError(errno.EIO, "short")
        self.timed(os.fsync, self.fd)
        self.journal.say("kept", text)


class Opens(Writer):
    """Holds many files open; to be refused is no harm."""

    def begin(self):
        self.open = []

    def step(self):
        if len(self.open) < 300 and self.random.random() < 0.9:
            name = self.path(f"o{self.number}-{self.random.randrange(400)}")
            try:
                self.open.append(self.timed(os.open, name, os.O_RDWR | os.O_CREAT, 0o644))
            except OSError:
                pass
        elif self.open:
            self.put(self.open.pop(self.random.randrange(len(self.open))))

    def put(self, fd):
        try:
            os.write(fd, b"x")
        except OSError:
            pass
        try:
            self.timed(os.close, fd)
        except OSError:
            pass

    def pause(self):
        time.sleep(0.001)

    def end(self):
        self.journal.say("opened", len(self.open))
        for fd in self.open:
            self.put(fd)


class Walker(Writer):
    """Looks at everything, minds nothing: for rounds in which messages are mutated."""

    def step(self):
        name = self.path(f"x{self.random.randrange(6)}")
        step = self.random.choice((self.put, self.get, self.list, self.turn, self.lock))
        try:
            self.timed(step, name)
        except (OSError, ValueError):
            pass

    def pause(self):
        time.sleep(0.001)

    def put(self, name):
        with open(name, "ab", buffering=0) as f:
            f.write(bytes(self.random.choice((10, 5000, 200000))))
            os.fsync(f.fileno())

    def get(self, name):
        with open(name, "rb") as f:
            f.read(1 << 20)
        os.getxattr(name, "user.x")

    def list(self, _):
        for entry in os.scandir(self.directory):
            entry.stat(follow_symlinks=False)
        os.statvfs(self.directory)

    def turn(self, name):
        os.setxattr(name, "user.x", b"y")
        os.rename(name, name + ".moved")
        os.symlink("x", name)
        os.readlink(name)
        os.unlink(name)
        os.mkdir(name + ".dir")
        os.rmdir(name + ".dir")

    def lock(self, name):
        with open(name, "ab") as f:
            fcntl.lockf(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.truncate(name, 4096)


KINDS = {kind.__name__.lower(): kind for kind in
         (Files, Shared, Names, Counter, Cheater, Lines, Opens, Walker)}


def main():
    kind, number, directory, journal, seed = sys.argv[1:]
    signal.signal(signal.SIGTERM, stop)
    KINDS[kind](int(number), directory, journal, seed).run()


if __name__ == "__main__":
    main()
