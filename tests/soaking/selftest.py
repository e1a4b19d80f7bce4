# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Failures that are planted, one of each kind: what does not count them is worth nothing. A Plant is played as a fault is, and
its round must come out with at least one violation of the kind that it .expects."""
import os
import shutil
import signal
import time

from . import pattern, peers
from .faults import Fault, PowerCut, Steady
from .journal import Journal
from .processes import PYTHON, Process, Writer


class Plant(Fault):
    users = ("root",)
    protos = ("tcp",)
    versions = ("4.2",)
    sanitized = False
    expects = None


class LyingDisk(Plant, PowerCut):
    """The server's fsync does nothing and says that all is well."""
    disks = ("forgetfs",)
    expects = "lost"
    UNTRUE = "fsync,fdatasync,syncfs,sync_file_range"

    @staticmethod
    def missing(_plan):
        return None if shutil.which("strace") else "strace is not installed"

    def play(self):
        # With -D the server, and not strace, is the child that gets killed.
        self.rig.wrapper = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", f"trace={self.UNTRUE}",
                            "-e", f"inject={self.UNTRUE}:retval=0"]
        super().play()

    def populate(self, a, b):
        self.rig.write("files", a)
        self.rig.write("names", b)


class SilentLoss(Plant):
    """Data of before a loss of power is promised after it, and is not there."""
    expects = "unsaid"

    def play(self):
        self.rig.insert()
        writer = Writer(self.rig, "files", 1, self.rig.disk.export)
        self.rig.writers.append(writer)
        journal = Journal(writer.journal)
        journal.say("write", "f", 0, 4, 1)
        self.rig.cuts.append(time.monotonic())
        journal.say("sync", "f", 1, "fsync")
        self.leave(os.path.join(self.rig.disk.export, "f"))

    def leave(self, path):
        with open(path, "wb"):
            pass


class ForeignBytes(SilentLoss):
    """A file holds what nobody wrote there."""
    expects = "foreign"

    def leave(self, path):
        with open(path, "wb") as f:
            f.write(pattern.blocks(1, "f", 0, 3, 1) + pattern.block(1, "f", 7, 1))


class NoLock(Plant):
    """Two writers who should lock do not."""
    expects = "lock"

    def begin(self):
        for name in "ab":
            self.rig.write("cheater", self.rig.mount(name))

    def happen(self):
        self.rig.sleep(3)


class Crash(Plant):
    """The server ends by a signal."""
    expects = "crash"

    def happen(self):
        self.rig.server.send(signal.SIGSEGV)
        self.rig.server.child.wait()
        self.rig.server.inspect()
        self.rig.server.start()


class Hang(Plant):
    """The server never goes on."""
    expects = "hang"

    def happen(self):
        self.rig.PATIENCE = 2
        self.rig.server.send(signal.SIGSTOP)


class Growth(Plant, Steady):
    """The server's descriptors become more with each mount."""
    expects = "leak"

    def begin(self):
        self.held = []

    def cycle(self, name):
        for i in range(50):
            s = peers.connect(self.rig.server.port, "127.0.0.1")
            s.sendall(peers.call(i, peers.NFS, 3, 0))
            peers.receive(s)
            self.held.append(s)
        return super().cycle(name)


class Unkillable(Plant):
    """A process waits in a sync that nothing interrupts."""
    disks = ("forgetfs",)
    expects = "unkillable"

    def play(self):
        self.rig.insert(self.disk())
        self.rig.disk.say("hold")
        path = os.path.join(self.rig.disk.export, "f")
        p = Process(self.rig, "waiter")
        p.launch([PYTHON, "-c", f"import os; os.fsync(os.open({path!r}, os.O_RDWR | os.O_CREAT, 0o666))"])
        while "waiting=1" not in self.rig.disk.ask("show"):
            self.rig.sleep(0.05)
        p.kill(2)
        self.rig.disk.say("release")
        p.child.wait()


PLANTS = {"lying-disk": LyingDisk, "silent-loss": SilentLoss, "foreign-bytes": ForeignBytes, "no-lock": NoLock, "crash": Crash,
          "hang": Hang, "growth": Growth, "unkillable": Unkillable}
