# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
cases: what a case is, what came of it, and what cases share: the export, servers and mounts that they use.

A case is measured in several turns; in each turn all sides of it are measured once, one after the other, in an order that
moves on by one each time. A figure is the median of its side. A ratio is the median of the turns' ratios: what slows the
machine down for a while slows the sides of one turn alike.
"""
import functools
import os
import statistics
from dataclasses import dataclass

from rig import Load, Null, Rnfs, Server, Trouble

CASES = {}  # name: Case, in the order in which they are run
MIB = 1 << 20


@dataclass
class Case:
    name: str
    group: str  # "" is always run, the others when they are asked for
    what: str
    measure: object  # called with (Bench, Case); returns a Row
    unit: str = "/s"  # of the figures: B/s, /s, s, trips
    target: float = None
    least: bool = True  # the target is the least ratio; else the most of the mount's own figure

    def __post_init__(self):
        assert self.name not in CASES
        CASES[self.name] = self


@dataclass
class Row:
    case: Case
    value: float  # the mount's own
    null: float = None  # N: the file system that does nothing
    nfs: float = None  # T: nfsproto without FUSE
    bound: float = None  # what value is compared with
    of: str = ""  # what that is
    wire: float = None  # bytes on the wire for each byte of the program's
    calls: float = None  # RPCs for each action
    ratios: list = None  # of each turn, value / bound
    others: float = None  # share of the processors that went to others
    turns: int = 0
    note: str = ""

    @property
    def ratio(self):
        """How fast it is beside the bound."""
        if not self.ratios or not all(self.ratios):
            return None
        return statistics.median(1 / r if self.case.unit == "s" else r for r in self.ratios)

    @property
    def met(self):
        """Whether the target is met; None without one."""
        figure = self.ratio if self.case.least else self.value
        if self.case.target is None or figure is None:
            return None
        return figure >= self.case.target if self.case.least else figure <= self.case.target


def both(n, t=None):
    """H: the rate of a thing that takes the time of both, since they share the processors. Without T: N."""
    return n if t is None else 1 / (1 / n + 1 / t) if n and t else 0


class Bench:
    """A run: its settings, and what is started when the first case needs it."""

    def __init__(self, rig, settings):
        self.rig, self.set = rig, settings

    @functools.cached_property
    def export(self):
        return self.rig.new_folder("export")

    @functools.cached_property
    def server(self):
        return Server(self.rig, self.export, ("iwarp", "tcp"))

    @functools.cached_property
    def mount(self):
        return Rnfs(self.rig, self.server, self.set.proto, self.set.options)

    @functools.cached_property
    def null(self):
        return Null(self.rig, self.mount, self.null_options())

    @functools.lru_cache(maxsize=None)
    def client(self, program):
        """Another client's mount of the same folder (clients.py)."""
        return program(self.rig, self.export, self.server)

    def mount_options(self):
        return dict(w.split("=", 1) for w in self.set.options.split(",") if "=" in w)

    def null_options(self):
        """nullfs's for those of the mount's that it has too."""
        words = self.mount_options()
        return ["-w", words.get("workers", "2"), "-t", words.get("actimeo", "1")] + (["-c"] if self.set.null_writeback else [])

    @functools.lru_cache(maxsize=None)
    def late(self, milliseconds):
        """A mount from a server whose replies come late; of the same export."""
        fault = f"delay={milliseconds}ms:reply" if milliseconds else None
        server = Server(self.rig, self.export, (self.set.proto,), fault)
        mount = Rnfs(self.rig, server, self.set.proto, self.set.options)
        mount.read_ahead(128)
        return mount

    def file(self, shape, path, *options, seconds=None, limit=0):
        """bench-file's result as numbers by name."""
        command = [self.rig.program("tests/bench/bench-file"), "-t", str(seconds or self.set.seconds), *options, shape, path]
        return self.result(command, limit)

    def nfs(self, shape, *options):
        """bench-nfs's, at the server that the mount uses."""
        command = [self.rig.program("tests/bench/bench-nfs"), "-p", self.set.proto, "-P", str(self.server.port[self.set.proto]),
                   "-t", str(self.set.seconds), *options, shape, self.server.address, "bench.dat" if shape in ("read", "rand") else "t"]
        if version := self.mount_options().get("vers"):
            command[1:1] = ["-v", version]
        return self.result(command)

    def result(self, command, limit=0):
        """limit: seconds that it may take beside those of --seconds and --limit."""
        words = self.rig.run(command, self.set.seconds + self.set.limit + limit).split()
        return {name: float(value) for name, value in (word.split("=") for word in words)}

    def profile(self, name, work):
        """Where daemon and server spend their time while work(seconds) is done, to the file of that name."""
        if not self.set.profile:
            return
        os.makedirs(self.set.profile, exist_ok=True)
        seconds, data = max(3, self.set.seconds), self.rig.path("perf")
        perf = self.rig.start(["perf", "record", "-q", "-F", "2000", "-e", "cpu-clock", "-o", data, "-p",
                               f"{self.mount.process.pid},{self.server.process.pid}", "--", "sleep", str(seconds)], data + ".log")
        work(seconds + 0.5)
        perf.wait(60)
        self.rig.end(perf)
        if not os.path.exists(data):
            with open(data + ".log", encoding="utf-8", errors="replace") as f:
                raise Trouble(f"perf record: {f.read()}")
        with open(os.path.join(self.set.profile, name + ".txt"), "w", encoding="utf-8") as f:
            for sort in ("comm,dso", "comm,dso,sym"):
                f.write(self.rig.run(["perf", "report", "-i", data, "--stdio", "-q", "--percent-limit", "0.5", "-s", sort], 120))
        os.unlink(data)

    def turns(self, bound_of=None, **sides):
        """Measures each side, a function that returns a number, in each turn. Without a side "bound", bound_of makes that of a
        turn from its other figures. The medians by name, the turns' ratios, and the load of others."""
        found, names, load = [], list(sides), Load(self.rig)
        for turn in range(self.set.runs):
            figures = {name: sides[name]() for name in names[turn % len(names):] + names[:turn % len(names)]}
            found.append(figures | {"bound": bound_of(figures)} if bound_of else figures)
        return {name: statistics.median(figures[name] for figures in found) for name in found[0]} | {
            "ratios": [f["value"] / f["bound"] if f["bound"] else 0 for f in found], "others": load.others()}

    def make_data(self, name, size, holes=False):
        """A file in the export that has at least size bytes, made there and not through a mount."""
        path = os.path.join(self.export, name)
        if not os.path.exists(path) or os.path.getsize(path) < size:
            with open(path, "wb") as f:
                if not holes:
                    block = os.urandom(MIB)
                    for _ in range(-(-size // MIB)):
                        f.write(block)
                f.truncate(size)
            os.chmod(path, 0o666)
        return path


class Wire:
    """What a mount has done from the making of this to its end(): its statistics' growth by name, in found."""

    def __init__(self, mount):
        self.mount, self.before, self.found = mount, mount.statistics(), {}

    def end(self):
        now = self.mount.statistics()
        self.found = {name: value - self.before.get(name, 0) for name, value in now.items()}
        return self

    def sum(self, *names):
        return sum(self.found.get(name, 0) for name in names)

    def moved(self):
        """Bytes of data, however they travelled."""
        return self.sum("placed", "copied", "exposed", "pulled_up")
