# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""A program that holds files, locks, mappings and places in directories of a mount while its daemon is replaced, and checks all.

upgrade.py RNFS MOUNT EXPORT UPGRADES [DIRECTORY]: EXPORT is the directory on the server, of the mount or of DIRECTORY in it.
Prints the longest wait that the daemons tell of."""
import fcntl
import mmap
import os
import re
import signal
import subprocess
import sys

PAGE = mmap.PAGESIZE
NAMES = 3000


def denied(path, lock):
    """Does another process fail to lock the file?"""
    program = "import fcntl, sys\nf = open(sys.argv[1], 'r+')\ntry:\n    fcntl.%s(f, fcntl.LOCK_EX | fcntl.LOCK_NB)\nexcept OSError:\n    sys.exit(3)" % lock
    status = subprocess.run([sys.executable, "-c", program, path], timeout=60).returncode
    assert status in (0, 3), status
    return status == 3


def waiter(path, lock):
    """Another process, which waits for a lock of the file."""
    program = "import fcntl, sys\nf = open(sys.argv[1], 'r+')\nprint('waits', flush=True)\nfcntl.%s(f, fcntl.LOCK_EX)\nprint('has it', flush=True)" % lock
    p = subprocess.Popen([sys.executable, "-c", program, path], stdout=subprocess.PIPE, text=True)
    assert p.stdout.readline() == "waits\n"
    return p


class Held:
    def __init__(self, mount, export):
        self.mount, self.export = mount, export
        self.n = 0
        self.both = open(self.path("both"), "w+b", buffering=0)
        self.both.write(b"both 0\n")
        self.append = os.open(self.path("append"), os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.removed = open(self.path("removed"), "w+b", buffering=0)
        os.unlink(self.path("removed"))
        self.replaced = open(self.path("replaced"), "w+b", buffering=0)
        open(self.path("replacing"), "w").close()
        os.rename(self.path("replacing"), self.path("replaced"))
        self.mapped = open(self.path("mapped"), "w+b", buffering=0)
        self.mapped.truncate(4 * PAGE)
        self.map = mmap.mmap(self.mapped.fileno(), 4 * PAGE)
        os.mkdir(self.path("names"))
        for i in range(NAMES):
            open(self.path("names/%d" % i), "w").close()
        os.mkdir(self.path("here"))
        os.chdir(self.path("here"))
        self.locked = open(self.path("locked"), "w+b", buffering=0)
        fcntl.lockf(self.locked, fcntl.LOCK_EX, 10, 0)
        fcntl.lockf(self.locked, fcntl.LOCK_EX, 10, 100)
        self.flocked = open(self.path("flocked"), "w+b", buffering=0)
        fcntl.flock(self.flocked, fcntl.LOCK_EX)
        self.waiters = [waiter(self.path("locked"), "lockf"), waiter(self.path("flocked"), "flock")]
        self.killed = waiter(self.path("locked"), "lockf")

    def path(self, name):
        return os.path.join(self.mount, name)

    def on_server(self, name):
        with open(os.path.join(self.export, name), "rb") as f:
            return f.read()

    def begin_listing(self):
        """The kernel asks for some hundred entries at a time."""
        self.listing = os.scandir(self.path("names"))
        self.listed = [next(self.listing).name for _ in range(10)]

    def check(self):
        self.n += 1
        text = b"both %d\n" % self.n
        self.both.seek(0)
        assert self.both.read() == b"both %d\n" % (self.n - 1)
        os.pwrite(self.both.fileno(), text, 0)
        os.fsync(self.both.fileno())
        assert self.on_server("both") == text
        os.write(self.append, text)
        for f in (self.removed, self.replaced):
            f.write(text)
            f.seek(0)
            assert f.read().count(b"\n") == self.n
        assert os.fstat(self.removed.fileno()).st_nlink == 0
        silly = [name for name in os.listdir(self.export) if name.startswith(".nfs")]
        assert len(silly) == 2, silly
        self.map[0:len(text)] = text
        self.map[3 * PAGE:3 * PAGE + len(text)] = text
        self.map.flush()
        assert self.on_server("mapped")[3 * PAGE:3 * PAGE + len(text)] == text
        self.listed += [entry.name for entry in self.listing]
        assert sorted(self.listed) == sorted(str(i) for i in range(NAMES))
        with open("in %d" % self.n, "w") as f:
            f.write("x" * self.n)
        assert sorted(os.listdir(".")) == sorted("in %d" % (i + 1) for i in range(self.n))
        self.check_others()
        assert denied(self.path("locked"), "lockf") and denied(self.path("flocked"), "flock")
        assert [p.poll() for p in self.waiters] == [None, None]

    def check_others(self):
        """The file was changed on the server while it was open here, and after it was read."""
        with open(self.path("other"), "w") as f:
            f.write("mine %d" % self.n)
        self.other = open(self.path("other"))
        assert self.other.read() == "mine %d" % self.n
        self.other_is_next = "theirs, number %d" % self.n

    def changed_by_another(self):
        with open(os.path.join(self.export, "other"), "w") as f:
            f.write(self.other_is_next)
        self.other.close()
        with open(self.path("other")) as f:
            got = f.read()
            # Ganesha believes its own cache for a minute
            assert got == self.other_is_next or os.environ.get("SERVER") == "ganesha", (got, self.other_is_next)

    def end(self):
        assert self.on_server("append") == b"".join(b"both %d\n" % (i + 1) for i in range(self.n))
        for f in (self.both, self.removed, self.replaced, self.mapped):
            f.close()
        os.close(self.append)
        self.map.close()
        assert self.killed.poll() is None
        self.killed.terminate()
        assert self.killed.wait(60) == -signal.SIGTERM
        fcntl.lockf(self.locked, fcntl.LOCK_UN)
        fcntl.flock(self.flocked, fcntl.LOCK_UN)
        assert [(p.stdout.read(), p.wait(60)) for p in self.waiters] == [("has it\n", 0)] * 2
        assert not denied(self.path("locked"), "lockf") and not denied(self.path("flocked"), "flock")
        self.locked.close()
        self.flocked.close()
        os.chdir("/")


def upgrade(rnfs, mount):
    p = subprocess.run([rnfs, "upgrade", mount], capture_output=True, text=True, timeout=120)
    assert p.returncode == 0, p.stderr
    return int(re.search(r"waited for (\d+) ms", p.stdout).group(1))


def main(rnfs, mount, export, upgrades, directory="."):
    held = Held(os.path.join(mount, directory), export)
    longest = 0
    for _ in range(int(upgrades)):
        held.begin_listing()
        longest = max(longest, upgrade(rnfs, mount))
        held.check()
        longest = max(longest, upgrade(rnfs, mount))
        held.changed_by_another()
    held.end()
    print("requests waited for %d ms at most" % longest)


main(*sys.argv[1:])
