# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""The faults, each a class: what it needs, and how a round with it goes. A round begins with an empty rig and ends when
the fault is over and all could work again; settling and judging is not its business."""
import contextlib
import errno
import os
import resource
import shutil
import signal
import subprocess
import time

from . import journal, peers
from .disk import Disk, Ext4, Forgetful
from .knfsd import GuestDisk
from .processes import Mount, ended, tail, wait_until, where

DATA = ("files", "shared", "names", "counter", "lines")


class Fault:
    sanitized = None         # True: always, False: never, None: at times
    disks = ("plain",)       # or ext4, forgetfs: those that can lose their power
    users = ("root", "nobody")
    versions = ("4.2", "4.2", "3", "4.1")
    protos = ("tcp", "iwarp")

    def __init__(self, rig, seconds):
        self.rig, self.seconds = rig, seconds
        self.random = rig.random

    megabytes = 256

    @staticmethod
    def missing(plan):
        """Why the round cannot be played here, or None."""
        return Ext4.missing() if plan.disk == "ext4" else None

    def disk(self):
        top, kind = os.path.join(self.rig.work, "disk"), self.rig.plan.disk
        if kind == "ext4":
            return Ext4(top, self.megabytes)
        if kind == "guest":
            return GuestDisk(top)
        return Forgetful(top, self.rig.tool("forgetfs"), self.megabytes) if kind == "forgetfs" else Disk(top)

    def play(self):
        self.rig.insert(self.disk())
        self.rig.server.start()
        self.begin()
        self.rig.going()
        if self.rig.writers:
            self.rig.note(", ".join(f"{w.title} on {os.path.basename(w.directory)}" for w in self.rig.writers))
        self.end = time.monotonic() + self.seconds
        self.happen()

    def left(self):
        return self.end - time.monotonic()

    def begin(self):
        """Two mounts and a few writers."""
        a, b = self.rig.mount("a", self.proxied), self.rig.mount("b", self.proxied)
        self.populate(a, b)

    proxied = False

    def populate(self, a, b):
        kinds = self.random.sample(DATA, self.random.randint(1, 3))
        for kind in kinds:
            self.rig.write(kind, a)
            if kind in ("shared", "counter", "lines"):
                self.rig.write(kind, self.random.choice((a, b)))

    def happen(self):
        raise NotImplementedError


class PowerCut(Fault):
    """The server dies with all that it had not synced, and comes back."""

    disks = ("ext4", "forgetfs")

    def happen(self):
        for _ in range(self.random.randint(1, 2)):
            self.rig.sleep(self.seconds / 4, self.seconds / 2)
            self.rig.lose_power(self.random.choice((0, 0.3, 1)))
        self.rig.sleep(1)


class SyncFails(Fault):
    """The disk fails to sync, at times; later its power goes, and with it what should have been synced."""
    disks = ("forgetfs",)

    def happen(self):
        while self.left() > self.seconds / 3:
            self.rig.sleep(0.1, 1)
            self.rig.disk.fail_next_sync(self.random.choice((errno.EIO, errno.ENOSPC)))
        self.rig.sleep(0.5)
        self.rig.lose_power()
        self.rig.sleep(1)


class Restart(Fault):
    """The server dies and comes back; its machine does not."""

    def happen(self):
        while self.left() > 0:
            self.rig.sleep(0.3, 3)
            self.rig.restart(self.random.choice((0, 0.2, self.rig.LEASE)))
        self.rig.sleep(1)


class BadLink(Fault):
    """The server's own faults: answers and connections that get lost in the middle of a message."""

    def play(self):
        actions = self.random.sample(("close-mid", "close", "close:request", "drop", "drop:request", "truncate", "delay=300ms"), 2)
        self.rig.server.options = ["--fault", ",".join(
            f"{a}:prob={self.random.choice((1, 2, 4))}:seed={self.random.randrange(1 << 16)}:count=30" for a in actions)]
        super().play()

    def begin(self):
        mounts = [self.rig.mount(name, tries=5) for name in "ab"]  # an answer that is cut off may end a mount at once
        self.populate(*mounts)

    def happen(self):
        self.rig.sleep(self.seconds)
        # What a lost answer costs is a time-out each: they have had their share, now all is well.
        self.rig.server.options = []
        self.rig.restart()


class Cut(Fault):
    """Connections end anywhere in a message, from outside."""
    proxied = True

    def happen(self):
        while self.left() > 0:
            self.rig.sleep(0.05, 1)
            self.random.choice(self.rig.proxies).cut()


class HalfOpen(Fault):
    """A link falls silent, and nobody is told."""
    proxied = True

    def happen(self):
        for _ in range(2):
            self.rig.sleep(self.seconds / 4)
            for proxy in self.random.sample(self.rig.proxies, self.random.randint(1, 2)):
                proxy.fall_silent()
        self.rig.sleep(self.seconds / 4)


class ServerStops(Fault):
    """The server stands still for a while."""

    def happen(self):
        while self.left() > 0:
            self.rig.sleep(0.2, 1)
            self.rig.server.send(signal.SIGSTOP)
            self.rig.sleep(0.2, self.random.choice((0.5, 5)))
            self.rig.server.send(signal.SIGCONT)
        self.rig.sleep(0.5)


class DaemonStops(Fault):
    """A daemon stands still for longer than its lease, and nobody else wants its locks."""
    rival = False

    def begin(self):
        self.a = self.rig.mount("a")
        self.b = self.rig.mount("b")
        for kind in ("counter", "lines", self.random.choice(("files", "names"))):
            self.rig.write(kind, self.a)
            if self.rival and kind in ("counter", "lines"):
                self.rig.write(kind, self.b)

    def happen(self):
        holder = self.rig.writers[0]
        for _ in range(max(1, int(self.seconds // 8))):
            # A moment at which the lock is held, most of the time.
            seen = len(journal.read(holder.journal))
            wait_until(lambda: any(line[1] == "held" for line in journal.read(holder.journal)[seen:]), 5, 0.005)
            self.a.send(signal.SIGSTOP)
            self.rig.sleep(self.rig.LEASE + 1, 2 * self.rig.LEASE + 1)
            self.a.send(signal.SIGCONT)
            self.rig.sleep(1, 2)


class DaemonStopsRival(DaemonStops):
    """The same, and another mount takes the locks meanwhile."""
    rival = True


class DaemonDies(Fault):
    """A daemon is killed; what it held must not be held for ever."""

    def begin(self):
        self.a, self.b = self.rig.mount("a"), self.rig.mount("b")
        for kind in ("counter", "lines", "files"):
            self.rig.write(kind, self.a)
        self.rig.write("counter", self.b)

    def happen(self):
        self.rig.sleep(self.seconds / 3)
        self.a.kill()
        for w in self.rig.writers[:3]:
            w.kill()
        self.a.detach("-z")
        if not self.a.start(self.rig.server.port):
            self.rig.violation("hang", 1, f"not mounted again after the daemon was killed: {tail(self.a.log, 5)}")
            return
        # The other mount's writer goes on once the lease is over, or the newcomer has been heard.
        rival = self.rig.writers[3]
        seen = len(journal.read(rival.journal))

        def goes_on():
            return sum(line[1] == "kept" for line in journal.read(rival.journal)[seen:]) > 2
        if not wait_until(goes_on, self.rig.PATIENCE):
            self.rig.violation("hang", 1, "a lock of a daemon that was killed is still held for others")


class DiskFull(Fault):
    """The server's disk has no room left."""

    disks = ("ext4", "ext4", "forgetfs")
    megabytes = 24

    def happen(self):
        ballast = os.path.join(self.rig.disk.export, "ballast")
        while self.left() > 0:
            self.fill(ballast, self.random.choice((0, 100, 2000)) * 1024)
            self.rig.sleep(1, 2)
            if self.random.random() < 0.3:
                self.rig.lose_power()
            with open(ballast, "wb"):
                pass
            self.rig.sleep(0.3, 1)
        os.unlink(ballast)

    def fill(self, path, spare):
        try:
            with open(path, "wb") as f:
                room = shutil.disk_usage(path).free - spare
                while room > 0:
                    room -= f.write(bytes(min(room, 1 << 20)))
        except OSError:
            pass


class Limits(Fault):
    """A limit is reached, by the daemon or by the server. Being refused is no harm; everything else is."""
    what, values = None, ()

    def play(self):
        if self.random.random() < 0.5:
            self.rig.server.limits = {self.what: self.random.choice(self.values)}
            self.mount_limits = {}
        else:
            self.mount_limits = {self.what: self.random.choice(self.values)}
        super().play()

    def begin(self):
        a = self.rig.mount("a", limits=self.mount_limits)
        for kind in ("opens", "files", "names"):
            self.rig.write(kind, a)

    def happen(self):
        self.rig.sleep(self.seconds)


class Nofile(Limits):
    """RLIMIT_NOFILE."""
    what, values = resource.RLIMIT_NOFILE, (48, 64, 100)


class Memlock(Limits):
    """RLIMIT_MEMLOCK."""
    what, values = resource.RLIMIT_MEMLOCK, (0, 65536)


class Memory(Limits):
    """The address space of the server or of the daemon may not grow any more."""
    sanitized = False

    def play(self):
        self.mount_limits = {}
        Fault.play(self)

    def happen(self):
        victim = self.random.choice((self.rig.server, self.rig.mounts[0]))
        victim.limit_memory(self.random.choice((0, 1 << 20, 20 << 20)))
        newcomer = Mount(self.rig, "newcomer")  # for which the server has no memory, perhaps
        self.rig.mounts.append(newcomer)
        newcomer.meant.add(1)
        newcomer.start(self.rig.server.port, seconds=2)
        self.rig.sleep(self.seconds * 0.7)
        victim.limit_memory(None)
        newcomer.stop()
        self.rig.sleep(self.seconds * 0.3)


class Mutated(Fault):
    """What passes between the two is mutated; what comes of it may be anything but a crash, a hang or a leak."""
    sanitized = True
    proxied = True
    way = ()

    def play(self):
        self.rig.judged = False
        super().play()

    def begin(self):
        a = self.rig.mount("a", True)
        for _ in range(3):
            self.rig.write("walker", a)

    def happen(self):
        for way in self.way:
            self.rig.proxies[0].mutate[way] = self.random.choice((0.005, 0.03, 0.2))
        self.rig.sleep(self.seconds)
        for way in self.way:
            self.rig.proxies[0].mutate[way] = 0.0
        self.rig.note(f"{self.rig.proxies[0].mutated} mutations")
        # What it sent before may have left answers out: new links have none missing.
        self.rig.proxies[0].cut()


class MutatedCalls(Mutated):
    """Mutated on the way to the server."""
    way = ("up",)


class MutatedAnswers(Mutated):
    """Mutated on the way to the client."""
    way = ("down",)


class GarbageClient(Fault):
    """Somebody sends the server garbage; a mount goes on working."""
    sanitized = True
    peers = (peers.Garbage,)

    def begin(self):
        self.populate(self.rig.mount("a"), self.rig.mount("b"))

    def happen(self):
        for i in range(2):
            p = peers.Garbage(self.rig.server.port, self.rig.proto, f"{self.rig.seed}/{i}")
            self.rig.peers.append(p)
            p.start()
        self.rig.sleep(self.seconds)
        for p in self.rig.peers:
            p.stop()
        self.rig.note(f"{sum(p.did for p in self.rig.peers)} pieces of garbage")


class GarbageServer(Fault):
    """A server answers with garbage: the mount fails, or what is done in it."""
    sanitized = True

    def play(self):
        self.rig.judged = False
        self.rig.insert()
        bad = peers.BadServer(self.rig.proto, self.rig.seed)
        end, tries = time.monotonic() + self.seconds, 0
        while time.monotonic() < end:
            m = Mount(self.rig, f"{tries}")
            self.rig.mounts.append(m)
            m.start(bad.port, "soft", "timeo=2", "retrans=1", seconds=self.rig.random.choice((0.5, 2)))
            if m.alive:
                m.meant.update((1, -signal.SIGTERM))
                m.send(signal.SIGTERM)
                m.ends(self.rig.PATIENCE)
            else:
                m.meant.add(1)
                m.inspect()
            tries += 1
        bad.stop()
        self.rig.note(f"{tries} mounts of it")


class Flood(Fault):
    """One peer floods the server while a mount works; the longest wait of the mount is what counts."""

    def begin(self):
        a = self.rig.mount("a")
        for kind in ("files", "names"):
            self.rig.write(kind, a)

    def happen(self):
        kind = self.random.choice([k for k in sorted(peers.FLOODS) if self.rig.proto in peers.FLOODS[k].protos])
        for i in range(2):
            p = peers.FLOODS[kind](self.rig.server.port, self.rig.proto, f"{self.rig.seed}/{i}")
            self.rig.peers.append(p)
            p.start()
        self.rig.sleep(self.seconds / 2)
        began = time.monotonic()
        m = Mount(self.rig, "newcomer")
        self.rig.mounts.append(m)
        if not m.start(self.rig.server.port):
            self.rig.violation("hang", 1, f"no new mount during a flood of {kind}: {tail(m.log, 3)}")
            m.kill()
        self.rig.note(f"flood of {kind}: {sum(p.did for p in self.rig.peers)} rounds, a new mount took "
                      f"{time.monotonic() - began:.1f} s")
        self.rig.sleep(self.seconds / 2)
        for p in self.rig.peers:
            p.stop()


class Killed(Fault):
    """Processes that wait for a dead server are killed; the mount goes on afterwards."""

    def happen(self):
        self.rig.sleep(0.5, 2)
        dead = self.random.random() < 0.5
        if dead:
            self.rig.server.kill()
        else:
            self.rig.server.send(signal.SIGSTOP)
        self.rig.sleep(1)  # for each to come to its next call
        killed = self.rig.writers[:]
        children = self.kill_all(killed)
        if dead:
            self.rig.server.start()
        else:
            self.rig.server.send(signal.SIGCONT)
        for w in killed:
            w.kill(self.rig.PATIENCE)
        if not wait_until(lambda: all(map(ended, children)), self.rig.PATIENCE):
            self.rig.violation("unkillable", 1, "a child goes on after kill -9, with the server back")
        self.populate(*self.rig.mounts[:2])
        self.rig.going(self.rig.PATIENCE)
        self.rig.sleep(1)

    def kill_all(self, writers):
        """With their children: they would otherwise be nobody's. All at once: who waits in the kernel for
        another's write to the same file, which no signal ends, is let go when that one is."""
        children = [int(pid) for w in writers for pid in
                    subprocess.run(["pgrep", "-P", str(w.pid)], capture_output=True, text=True).stdout.split()]
        for w in writers:
            w.strike()
        for pid in children:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for w in writers:
            self.must_be_gone(w.title, w.pid, lambda: not w.alive)
        for pid in children:
            self.must_be_gone("a child", pid, lambda: ended(pid))
        return children

    def must_be_gone(self, title, pid, gone):
        if wait_until(gone, 10):
            return
        at = where(pid)
        if "wait_for_writeback" in at or "folio_wait" in at:  # rnfs(8), hard
            self.rig.note(f"{title} waits for pages of a mapping until the server is back")
        else:
            self.rig.violation("unkillable", 1, f"{title} goes on 10 s after kill -9, in {at}")


STREAMS = 64  # directories that rnfs-serve keeps open at most, to go on with listings


class Steady(Fault):
    """No fault: mounts come and go, and what the server keeps must not grow with them."""
    sanitized = False

    def begin(self):
        pass

    def cycle(self, name):
        m = self.rig.mount(name)
        for kind in ("names", "opens", "counter"):
            self.rig.write(kind, m)
        self.rig.going()
        self.rig.sleep(0.3)
        self.rig.finish_writers()
        self.rig.clear(m)
        m.stop()
        return self.rig.server.descriptors(), self.rig.server.resident()

    def happen(self):
        figures = []
        while len(figures) < 4 or self.left() > 0:
            figures.append(self.cycle(f"m{len(figures)}"))
        (files, memory), (last_files, last_memory) = figures[1], figures[-1]
        self.rig.note(f"{len(figures)} mounts: descriptors {files} to {last_files}, "
                      f"memory {memory >> 20} to {last_memory >> 20} MiB")
        if last_files > files + 16 + STREAMS:
            self.rig.violation("leak", last_files - files, f"descriptors of the server: {[f for f, _ in figures]}")
        if last_memory > memory + (16 << 20):
            self.rig.violation("leak", last_memory - memory, f"memory of the server: {[m for _, m in figures]}")


FAULTS = {"power-cut": PowerCut, "sync-fails": SyncFails, "restart": Restart, "bad-link": BadLink, "cut": Cut,
          "half-open": HalfOpen, "server-stops": ServerStops, "daemon-stops": DaemonStops, "daemon-stops-rival": DaemonStopsRival,
          "daemon-dies": DaemonDies, "disk-full": DiskFull, "nofile": Nofile, "memlock": Memlock, "memory": Memory,
          "mutated-calls": MutatedCalls, "mutated-answers": MutatedAnswers, "garbage-client": GarbageClient,
          "garbage-server": GarbageServer, "flood": Flood, "killed": Killed, "steady": Steady}
