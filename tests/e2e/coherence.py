# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Many processes on two mounts of one export, each of which knows what it must see at least.
    coherence.py CASE MOUNT OTHER ROUNDS [SEED [EXPORT]]
What is compared is never a time: a process notes what has been promised (a file closed, a lock
released, a name made) before it looks itself. Exit status 0: everybody saw that.
When a file of turns is not as it should be, the output says where it is wrong (in the pages of this
mount, on the server, whose directory EXPORT is), and which steps led there."""
import collections
import fcntl
import mmap
import multiprocessing
import os
import random
import struct
import sys
import time
import traceback

case, mount, other = sys.argv[1:4]
ROUNDS = int(sys.argv[4])
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else 1
EXPORT = sys.argv[6] if len(sys.argv) > 6 else None
CROWD = int(os.environ.get("CROWD", 6))
shared = mmap.mmap(-1, 1 << 22)  # of all processes
at_work = multiprocessing.get_context("fork")


class Word:
    """A number that all processes see."""

    def __init__(self, n):
        self.at = 8 * n

    def get(self):
        return struct.unpack_from("q", shared, self.at)[0]

    def set(self, value):
        struct.pack_into("q", shared, self.at, value)


STOP, PROMISED, DONE = Word(0), Word(1), Word(2)
MODEL = 4096  # of `shared`, from there on: a file as it should be
MODEL_SIZE = Word(3)
DIFFERS = Word(4)  # a file of turns did, and each player is to print its steps


def put(path, data, flags=os.O_CREAT | os.O_TRUNC):
    fd = os.open(path, os.O_WRONLY | flags, 0o644)
    os.write(fd, data)
    os.close(fd)


def processes(*work):
    """Runs each (function, argument...) in a process of its own. The first ones end by themselves, and
    the others when those have: they look at STOP."""
    def run(function, *arguments):
        try:
            function(*arguments)
        except BaseException as e:
            print("#", case, function.__name__, arguments, "seed", SEED, "".join(
                traceback.format_exception(e)).replace("\n", "\n# "), flush=True)
            STOP.set(1)
            os._exit(1)
        os._exit(0)
    children = [at_work.Process(target=run, args=w) for w in work]
    for c in children:
        c.start()
    leads = [c for c, w in zip(children, work) if getattr(w[0], "leads", False)]
    for c in leads:
        c.join()
    STOP.set(1)
    for c in children:
        c.join()
    if any(c.exitcode for c in children):
        sys.exit(1)


def leads(function):
    function.leads = True
    return function


# --- a file that grows -------------------------------------------------------------------------
RECORD = 97


def record(i):
    return (b"%08d " % i * (RECORD // 9 + 1))[:RECORD]


@leads
def grower_in_place(path):
    """Record i says i. All are written at close."""
    for i in range(1, ROUNDS + 1):
        if STOP.get():
            return
        fd = os.open(path, os.O_RDWR)
        os.pwrite(fd, record(i), (i - 1) * RECORD)
        os.close(fd)
        PROMISED.set(i)


def looks_at(path, how):
    """Whoever opens sees all that was closed before, and no size goes back from open to open."""
    last = 0
    kept = os.open(path, os.O_RDONLY)
    while not STOP.get():
        least = PROMISED.get() * RECORD
        if how == "stat":
            size = os.stat(path).st_size
        elif how == "fstat":
            size = os.fstat(kept).st_size
        elif how == "list":
            size = last
            for e in os.scandir(os.path.dirname(path)):
                if e.name == os.path.basename(path):
                    size = os.stat(path).st_size
        else:
            fd = os.open(path, os.O_RDONLY)
            size = os.fstat(fd).st_size
            assert size >= least, "open: size %d, but %d were closed" % (size, least)
            if how == "map" and size:
                with mmap.mmap(fd, size, prot=mmap.PROT_READ) as m:
                    data = m[:]
            else:
                data = os.read(fd, 1 << 20)
            assert len(data) >= least, "%d bytes read, but %d were closed" % (len(data), least)
            for i in range(0, least // RECORD):
                assert data[i * RECORD:(i + 1) * RECORD] == record(i + 1), "record %d: %r" % (
                    i + 1, data[i * RECORD:i * RECORD + 20])
            os.close(fd)
        # (of two answers under way at once the kernel keeps the first, so stat(2) alone may go back)
        assert size >= last or how not in ("open", "map"), "%s: size %d after %d" % (how, size, last)
        last = size
    os.close(kept)


def grows():
    path = os.path.join(mount, "grows")
    os.mkdir(path)
    for i in range(60):
        put(os.path.join(path, "beside%d" % i), b"x")
    path = os.path.join(path, "file")
    put(path, b"")
    time.sleep(0.01)
    crowd = [(looks_at, path, how) for how in ("open", "open", "map", "open", "stat", "fstat", "list")]
    processes((grower_in_place, path.replace(mount, other)), *crowd)


# --- turns -------------------------------------------------------------------------------------
MOST = int(os.environ.get("MOST", 300000))
STEPS_KEPT = 60


def compared(found, should):
    """Where found differs, in words: up to 5 ranges."""
    if found == should:
        return "%d bytes, as they should be" % len(found)
    both = min(len(found), len(should))
    words, at = [], 0
    while at < both and len(words) < 5:
        if found[at] == should[at]:
            at += 1
            continue
        end = at
        while end < both and found[end:end + 8] != should[end:end + 8]:
            end += 1
        words.append("[%d, %d)%s" % (at, end, " zeros" if not any(found[at:end]) else ""))
        at = end
    return "%d bytes, %d should be; wrong: %s" % (len(found), len(should), ", ".join(words) or "the end")


class Turn:
    """What one process does with the file when it is its turn; the model is in `shared`."""

    def __init__(self, path, dice, direct):
        self.path, self.dice, self.direct = path, dice, direct
        self.fd = None
        self.steps_done = collections.deque(maxlen=STEPS_KEPT)

    def log(self, step, *arguments):
        self.steps_done.append((time.monotonic(), step) + arguments)

    def print_steps(self):
        for at, *step in self.steps_done:
            print("# %.6f %d %s" % (at, os.getpid(), " ".join(map(str, step))), flush=True)

    def evidence(self):
        """While the turn lasts. Nothing is closed: a lock may end with it."""
        should = self.model(0, 2 * MOST)
        there = self.path.replace(mount, other) if self.path.startswith(mount) else self.path.replace(other, mount)
        block = mmap.mmap(-1, 1 << 20)
        for words, path in (("directly, this mount", self.path), ("directly, the other mount", there)):
            n = os.preadv(os.open(path, os.O_RDONLY | os.O_DIRECT), [block], 0)
            print("# read", words + ":", compared(block[:n], should))
        print("# read once more:", compared(os.pread(self.fd, 2 * MOST, 0), should))
        if EXPORT:
            os.fsync(self.fd)
            with open(self.path.replace(mount, EXPORT).replace(other, EXPORT), "rb") as f:
                print("# on the server:", compared(f.read(), should), flush=True)

    def model(self, off, n):
        size = MODEL_SIZE.get()
        end = min(off + n, size)
        return shared[MODEL + off:MODEL + end] if end > off else b""

    def note(self, off, piece):
        size = MODEL_SIZE.get()
        if off > size:
            shared[MODEL + size:MODEL + off] = bytes(off - size)
        shared[MODEL + off:MODEL + off + len(piece)] = piece
        if off + len(piece) > size:
            MODEL_SIZE.set(off + len(piece))

    def piece(self):
        n = self.dice.choice((1, 100, 4096, self.dice.randrange(1, min(60000, MOST))))
        return self.dice.randrange(MOST - n), self.dice.randbytes(n)

    def differs(self, what, off, found, should):
        at = next((i for i, (a, b) in enumerate(zip(found, should)) if a != b), min(len(found), len(should)))
        print("# %.6f %d" % (time.monotonic(), os.getpid()), what, "at", off, compared(found, should))
        DIFFERS.set(1)
        self.evidence()
        raise AssertionError("%s at %d: %d bytes instead of %d, not the same from %d on (of %d): %r, not %r" % (
            what, off, len(found), len(should), off + at, MODEL_SIZE.get(), found[at:at + 8], should[at:at + 8]))

    def write(self):
        off, piece = self.piece()
        self.log("write", off, off + len(piece))
        assert os.pwrite(self.fd, piece, off) == len(piece)
        self.note(off, piece)

    def read(self):
        off, n = self.dice.randrange(MOST), self.dice.randrange(1, 100000)
        self.log("read", off, off + n)
        found, should = os.pread(self.fd, n, off), self.model(off, n)
        if found != should:
            self.differs("read", off, found, should)

    def read_all(self):
        found, should = os.pread(self.fd, 2 * MOST, 0), self.model(0, 2 * MOST)
        if found != should:
            self.differs("read", 0, found, should)

    def size(self):
        size, should = os.fstat(self.fd).st_size, MODEL_SIZE.get()
        assert size == should, "fstat: size %d, not %d" % (size, should)

    def size_by_name(self):
        size, should = os.stat(self.path).st_size, MODEL_SIZE.get()
        assert size == should, "stat: size %d, not %d" % (size, should)

    def truncate(self):
        size = self.dice.randrange(MOST)
        self.log("truncate", size, "of", MODEL_SIZE.get())
        os.ftruncate(self.fd, size)
        was = MODEL_SIZE.get()
        if size > was:
            shared[MODEL + was:MODEL + size] = bytes(size - was)
        MODEL_SIZE.set(size)

    def append(self):
        piece = self.dice.randbytes(self.dice.randrange(1, 5000))
        self.log("append", len(piece), "at", MODEL_SIZE.get())
        fd = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        if MODEL_SIZE.get() + len(piece) < MOST + 100000:
            os.write(fd, piece)
            self.note(MODEL_SIZE.get(), piece)
        os.close(fd)

    def mapped(self):
        size = MODEL_SIZE.get()
        if not size:
            return
        with mmap.mmap(self.fd, size) as m:
            off = self.dice.randrange(size)
            piece = self.dice.randbytes(min(self.dice.randrange(1, 20000), size - off))
            self.log("mapped", off, off + len(piece))
            found, should = m[off:off + len(piece)], self.model(off, len(piece))
            if found != should:
                self.differs("mapped", off, found, should)
            m[off:off + len(piece)] = piece
            m.flush()
            self.note(off, piece)

    def punch(self):
        off, n = self.dice.randrange(MOST), self.dice.randrange(1, 50000)
        self.log("punch", off, off + n)
        try:
            os_fallocate(self.fd, 3, off, n)
        except OSError as e:
            if e.errno in (95, 38):
                return
            raise
        size = MODEL_SIZE.get()
        end = min(off + n, size)
        if end > off:
            shared[MODEL + off:MODEL + end] = bytes(end - off)

    def write_direct(self):
        off, n = self.dice.randrange(MOST // 4096) * 4096, self.dice.choice((4096, 8192, 65536))
        block = mmap.mmap(-1, n)
        self.log("write_direct", off, off + n)
        block.write(self.dice.randbytes(n))
        fd = os.open(self.path, os.O_RDWR | os.O_DIRECT)
        assert os.pwritev(fd, [block], off) == n
        self.note(off, block[:])
        os.close(fd)

    def read_direct(self):
        block = mmap.mmap(-1, 65536)
        off = self.dice.randrange(MOST // 4096) * 4096
        fd = os.open(self.path, os.O_RDONLY | os.O_DIRECT)
        n = os.preadv(fd, [block], off)
        found, should = block[:n], self.model(off, 65536)
        if found != should:
            self.differs("read directly", off, found, should)
        os.close(fd)

    def steps(self):
        return [self.write] * 5 + [self.read] * 4 + [self.read_all, self.size, self.size_by_name, self.truncate, self.append,
                                                    self.mapped, self.punch, self.write_direct, self.read_direct]

    def play(self):
        for _ in range(self.dice.randrange(1, 5)):
            step = self.dice.choice(self.steps())
            try:
                step()
            except AssertionError as e:
                raise AssertionError("%s: %s" % (step.__name__, e)) from None


class Locked(Turn):
    """The turn is a lock on the file, which stays open: of the process, which ends with any descriptor
    of the file that it closes, or of the descriptor."""

    def steps(self):
        some = [self.write] * 5 + [self.read] * 4 + [self.read_all, self.size, self.truncate, self.punch]
        return some + ([self.mapped, self.append, self.write_direct, self.read_direct] if SEED % 2 else [])

    def play(self):
        if self.fd is None:
            self.fd = os.open(self.path, os.O_RDWR)
        lock = fcntl.flock if SEED % 2 else fcntl.lockf
        lock(self.fd, fcntl.LOCK_EX)
        self.log("locked")
        super().play()
        self.log("unlocks")
        lock(self.fd, fcntl.LOCK_UN)


class Opened(Turn):
    """The turn begins with an open and ends with the close."""

    def play(self):
        self.fd = os.open(self.path, os.O_RDWR)
        self.log("opened")
        super().play()
        self.log("closes")
        os.close(self.fd)


def os_fallocate(fd, mode, off, n):
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.fallocate(fd, mode, ctypes.c_long(off), ctypes.c_long(n)):
        raise OSError(ctypes.get_errno(), "fallocate")


@leads
def player(kind, path, number, turn):
    dice = random.Random(SEED * 1000 + number)
    me = kind(path, dice, number % 2)
    for i in range(ROUNDS):
        if STOP.get():
            break
        try:
            if turn is None:
                me.play()
            else:
                with turn:
                    me.play()
        except AssertionError as e:
            me.print_steps()
            raise AssertionError("turn %d of %d (%s): %s" % (i, number, path, e)) from None
    if DIFFERS.get():
        me.print_steps()


def disturbs(path):
    """Whoever looks without a turn sees this or that, but keeps caches busy."""
    while not STOP.get():
        try:
            os.stat(path)
            fd = os.open(path, os.O_RDONLY)
            os.pread(fd, 100000, 0)
            os.fstat(fd)
            os.pread(fd, 100000, 200000)
            os.close(fd)
            os.listdir(os.path.dirname(path))
        except FileNotFoundError:
            pass


def play(kind, turn):
    path = os.path.join(mount, "turns")
    put(path, b"")
    there = path.replace(mount, other)
    work = [(player, kind, (path, there)[i % 2], i, turn) for i in range(CROWD)]
    processes(*work, (disturbs, path), (disturbs, there))


def locked():
    play(Locked, None)


def opened():
    play(Opened, at_work.Lock())


# --- who wakes up late -------------------------------------------------------------------------
@leads
def resizes(path, there):
    dice = random.Random(SEED)
    for i in range(5 * ROUNDS):
        if STOP.get():
            return
        size = dice.randrange(1, MOST)
        fd = os.open(there, os.O_RDWR)
        os.ftruncate(fd, size)
        os.close(fd)
        off = dice.randrange(size)
        fd = os.open(path, os.O_RDONLY)
        found = len(os.pread(fd, MOST, off))
        os.close(fd)
        assert found == size - off, "turn %d: %d bytes at %d of %d" % (i, found, off, size)


def looks_late(path):
    """Handles an answer only when nobody else wants the processor: what it was told is old then."""
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    while not STOP.get():
        os.stat(path)


def late():
    path = os.path.join(mount, "late")
    put(path, b"")
    processes((resizes, path, path.replace(mount, other)), *[(looks_late, path)] * CROWD)


# --- names -------------------------------------------------------------------------------------
@leads
def namer(root, number):
    """Owns the names that begin with its number, in two directories."""
    dice = random.Random(SEED * 1000 + number)
    dirs = [os.path.join(root, d) for d in ("one", "two")]
    mine = {}  # (directory, name) -> content
    for i in range(ROUNDS):
        if STOP.get():
            return
        d = dice.choice(dirs)
        what = dice.choice(("make", "make", "remove", "rename", "rename", "replace", "list", "list", "look", "absent", "link", "write", "mkdir"))
        files = [k for k in mine if mine[k] is not None]
        name = (d, "%d.%d" % (number, dice.randrange(12)))
        path = os.path.join(*name)
        try:
            if what == "make" and name not in mine:
                assert not os.path.exists(path) or dice.random() < 2, "it is there"
                data = b"%d" % i * dice.randrange(1, 500)
                put(path, data, os.O_CREAT | os.O_EXCL)
                mine[name] = data
                assert os.stat(path).st_size == len(data), "size"
            elif what == "mkdir" and name not in mine:
                os.mkdir(path)
                mine[name] = None
                assert os.listdir(path) == []
            elif what == "remove" and mine:
                name = dice.choice(list(mine))
                path = os.path.join(*name)
                if mine.pop(name) is None:
                    os.rmdir(path)
                else:
                    os.unlink(path)
                assert not os.path.lexists(path), "it is still there"
            elif what in ("rename", "replace") and files:
                old = dice.choice(files)
                if name in mine and (mine[name] is None or what == "rename" or name == old):
                    continue
                os.rename(os.path.join(*old), path)
                mine[name] = mine.pop(old)
                assert not os.path.lexists(os.path.join(*old)), "the old name is still there"
                assert os.stat(path).st_size == len(mine[name]), "size"
            elif what == "link" and files and name not in mine:
                old = dice.choice(files)
                os.link(os.path.join(*old), path)
                os.unlink(os.path.join(*old))
                mine[name] = mine.pop(old)
            elif what == "list":
                for d in dirs:
                    found = sorted(n for n in os.listdir(d) if n.startswith("%d." % number))
                    should = sorted(n for e, n in mine if e == d)
                    assert found == should, "listed %s, not %s" % (found, should)
                    with os.scandir(d) as it:
                        for e in it:
                            if (d, e.name) in mine:
                                assert e.is_dir() == (mine[d, e.name] is None), e.name
            elif what == "look" and files:
                name = dice.choice(files)
                with open(os.path.join(*name), "rb") as f:
                    data = f.read()
                assert data == mine[name], "%r, not %r" % (data[:20], mine[name][:20])
            elif what == "write" and files:
                name = dice.choice(files)
                before = os.stat(os.path.join(*name))
                put(os.path.join(*name), b"+" * 100, os.O_APPEND)
                mine[name] += b"+" * 100
                after = os.stat(os.path.join(*name))
                assert after.st_size == len(mine[name]), "size %d, not %d" % (after.st_size, len(mine[name]))
                assert after.st_mtime_ns >= before.st_mtime_ns, "mtime went back"
            elif what == "absent" and name not in mine:
                assert not os.path.lexists(path), "it is there"
        except (AssertionError, OSError) as e:
            raise AssertionError("round %d of %d: %s %s: %s %s" % (i, number, what, name, type(e).__name__, e)) from None


def passer_by(root):
    """Changes the directories on the other mount, and lists them."""
    i = 0
    while not STOP.get():
        for d in ("one", "two"):
            path = os.path.join(root, d, "x.%d.%d" % (os.getpid(), i % 5))
            put(path, b"x")
            os.listdir(os.path.dirname(path))
            os.rename(path, path + "~")
            os.unlink(path + "~")
        i += 1
        time.sleep(0.002)


def names():
    for d in ("one", "two"):
        os.mkdir(os.path.join(mount, d))
        for i in range(40):
            put(os.path.join(mount, d, "beside%d" % i), b"x")
    crowd = [(namer, mount, i) for i in range(CROWD)]
    processes(*crowd, (passer_by, other))


# --- names of others ---------------------------------------------------------------------------
@leads
def maker(root):
    """Makes, replaces and removes name i; what is promised of it is 4 * i + 1, 2, 3."""
    for i in range(ROUNDS):
        if STOP.get():
            return
        path = os.path.join(root, "theirs.%d" % i)
        put(path, b"first")
        tell(i, 1)
        put(path + "~", b"second!")
        os.rename(path + "~", path)
        tell(i, 2)
        os.unlink(path)
        tell(i, 3)


def tell(i, n):
    """Goes on when all have looked."""
    PROMISED.set(4 * i + n)
    while any(Word(16 + k).get() != 4 * i + n for k in range(CROWD)) and not STOP.get():
        time.sleep(0.0001)


def sees(root, number):
    while not STOP.get():
        said = PROMISED.get()
        if Word(16 + number).get() == said or said <= 0:
            time.sleep(0.0001)
            continue
        i, n = divmod(said, 4)
        path = os.path.join(root, "theirs.%d" % i)
        try:
            fd = os.open(path, os.O_RDONLY)
            found, size = os.read(fd, 100), os.fstat(fd).st_size
            os.close(fd)
        except FileNotFoundError:
            found, size = None, 0
        should = {1: b"first", 2: b"second!", 3: None}[n]
        assert found == should and size == len(should or b""), "name %d, step %d: %r, %d bytes" % (i, n, found, size)
        Word(16 + number).set(said)


def makes_too(root):
    """Own names beside, so that the directory is one of which all is known."""
    i = 0
    while not STOP.get():
        path = os.path.join(root, "ours.%d.%d" % (os.getpid(), i % 7))
        put(path, b"x")
        os.unlink(path)
        os.listdir(root)
        i += 1


def theirs():
    path = os.path.join(mount, "theirs")
    os.mkdir(path)
    PROMISED.set(-1)
    crowd = [(sees, path, i) for i in range(CROWD)]
    processes((maker, path.replace(mount, other)), *crowd, (makes_too, path))


# --- one file, one mount -----------------------------------------------------------------------
def appender(path, number):
    """Appends records of its own; none is lost, and none comes twice."""
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    for i in range(ROUNDS):
        if STOP.get():
            return
        os.write(fd, b"%03d %06d %03d\n" % (number, i, number))
        assert os.fstat(fd).st_size >= 15 * (i + 1), "size"
    os.close(fd)


appender.leads = True


def reader(path):
    """No byte that was there goes, or is another."""
    had = b""
    fd = os.open(path, os.O_RDONLY)
    while not STOP.get():
        os.fstat(fd)
        data = os.pread(fd, 1 << 22, 0)
        assert data.startswith(had), "%d bytes after %d" % (len(data), len(had))
        assert b"\0" not in data, "a hole at %d of %d" % (data.index(0), len(data))
        had = data


def appends():
    path = os.path.join(mount, "appends")
    put(path, b"")
    there = path.replace(mount, other)
    both = os.environ.get("BOTH")
    processes(*[(appender, there if both and i % 2 else path, i) for i in range(CROWD)], *([] if both else [(reader, path), (reader, path)]))
    with open(path, "rb") as f:
        lines = f.read().splitlines()
    should = {b"%03d %06d %03d" % (k, i, k) for k in range(CROWD) for i in range(ROUNDS)}
    assert len(lines) == len(should) and set(lines) == should, "%d records, of %d" % (len(lines), len(should))


def piecewise(path, number):
    """Writes its own 100 bytes of each 1000, over and over, and reads them back."""
    dice = random.Random(SEED * 1000 + number)
    fd = os.open(path, os.O_RDWR)
    had = {}
    most = 0
    for i in range(ROUNDS * 4):
        if STOP.get():
            return
        k = dice.randrange(2000)
        off = k * 1000 + number * 100
        if dice.random() < 0.5:
            piece = (b"%d.%d." % (number, i) * 40)[:100]
            assert os.pwrite(fd, piece, off) == 100
            had[k] = piece
            most = max(most, off + 100)
        elif had:
            k = dice.choice(list(had))
            found = os.pread(fd, 100, k * 1000 + number * 100)
            assert found == had[k], "piece %d of %d: %r, not %r" % (k, number, found[:20], had[k][:20])
        size = os.fstat(fd).st_size if i % 2 else os.stat(path).st_size
        assert size >= most, "size %d, but %d were written" % (size, most)
        if dice.random() < 0.02:
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        if dice.random() < 0.02:
            os.close(fd)
            fd = os.open(path, os.O_RDWR | (os.O_DSYNC if dice.random() < 0.2 else 0))
    for k, piece in had.items():
        found = os.pread(fd, 100, k * 1000 + number * 100)
        assert found == piece, "piece %d of %d at the end: %r" % (k, number, found[:20])
    os.close(fd)


piecewise.leads = True


def pieces():
    path = os.path.join(mount, "pieces")
    put(path, b"")
    processes(*[(piecewise, path, i) for i in range(min(CROWD, 10))], (disturbs, path))


shared[:64] = bytes(64)
{c.__name__: c for c in (grows, locked, opened, late, names, theirs, appends, pieces)}[case]()
