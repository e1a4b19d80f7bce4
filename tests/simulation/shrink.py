# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Makes the run of a failure smaller: leaves out rounds of programs, events of the weather, rare faults, options and
switches of threads, as long as a run fails in the same way (delta debugging: Zeller, Hildebrandt, TSE 2002).

A run without a piece is another run, in which threads meet at other moments. So each attempt plays several schedules, and
is a success if one of these fails."""
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from runs import LIMIT, play

SCHEDULES = 12  # that an attempt plays at most
FEW = 4  # the same, for pieces of which most can stay
LONGER = 2  # times as many steps as the failure took so far: then an attempt's run ends
FAULTS = ("network", "disk", "kernel")
PARTS = 16  # into which the steps of a run are cut


def leave_out(name, kept):
    """All pieces of the name, but those whose numbers are in the ranges, from A up to but not B."""
    begin = 0
    for a, b in sorted(kept):
        if a > begin:
            yield f"{name}{begin}" if a == begin + 1 else f"{name}{begin}-{a - 1}"
        begin = max(b, begin)
    yield f"{name}{begin}-" if begin else name.rstrip(":")


def single(numbers):
    return [(n, n + 1) for n in numbers]


class Kept:
    """What a run still has: pairs (program, round), numbers of weather, faults, options, and ranges of steps in which
    threads are switched (None: in all)."""

    def __init__(self, pieces):
        self.rounds = sorted({(a, b) for kind, a, b in pieces if kind == "program"})
        self.weather = sorted({a for kind, a, _ in pieces if kind == "weather"})
        self.options = sorted({a for kind, a, _ in pieces if kind == "option"})
        self.faults = list(FAULTS)
        self.steps = None

    def with_(self, name, items):
        other = Kept([])
        other.__dict__.update(self.__dict__)
        setattr(other, name, items)
        return other

    def without(self):
        programs = sorted({p for p, _ in self.rounds})
        out = [*leave_out("program", single(programs))]
        for p in programs:
            out += leave_out(f"program{p}:", single(r for q, r in self.rounds if q == p))
        out += leave_out("weather", single(self.weather))
        out += leave_out("option", single(self.options))
        out += [fault for fault in FAULTS if fault not in self.faults]
        return out + [*leave_out("switch", self.steps)] if self.steps is not None else out

    def size(self):
        programs = len({p for p, _ in self.rounds})
        switches = "" if self.steps is None else f", switches in {sum(b - a for a, b in self.steps)} steps"
        return (f"{len(self.rounds)} rounds of {programs} programs, {len(self.weather)} events of the weather, "
                f"{len(self.options)} options, faults: {' '.join(self.faults) or 'none'}{switches}")


class Shrinker:
    def __init__(self, run, seconds, jobs, say):
        self.end_at = time.monotonic() + seconds
        self.jobs = jobs
        self.say = say
        self.run = run
        self.pool = ThreadPoolExecutor(jobs)
        began = time.monotonic()
        self.end = play(run, ["--pieces"])
        self.limit = min(LIMIT, 5 + 20 * (time.monotonic() - began))
        self.kind = self.end.kind
        self.attempts = 0
        self.schedules = SCHEDULES

    def is_late(self):
        return time.monotonic() > self.end_at

    def fails(self, run):
        most = LONGER * self.end.steps() + 5000
        end = play(run, ["--pieces", "--steps", str(most)], self.limit)
        return (run, end) if end.kind == self.kind else None

    def first_failure(self, run):
        """Of the run in several schedules: (run, its end), or None. Priorities of --pct change at few points of a long
        run, none of which may be in a small one: the others choose threads in both ways."""
        own = self.run.schedule or self.run.seed
        runs = [run] + [replace(run, schedule=1 + (own * 31 + 7919 * i) % 99991, pct=run.pct and i % 2 == 0)
                        for i in range(1, self.schedules)]
        for i in range(0, len(runs), self.jobs):
            if self.is_late():
                return None
            for found in self.pool.map(self.fails, runs[i:i + self.jobs]):
                if found:
                    return found
        return None

    def attempt(self, kept):
        self.attempts += 1
        found = self.first_failure(self.run.leaving_out(kept.without()))
        if not found:
            return False
        self.run, self.end = found
        self.kept = kept
        return True

    def reduce(self, name, items, make):
        """Tries to do with few of the items; make(items): what is kept then."""
        before = len(items)
        n = 2
        if items and self.attempt(make([])):
            items = []
        while len(items) > 1 and not self.is_late():
            chunk = max(1, len(items) // n)
            for at in range(0, len(items), chunk):
                rest = items[:at] + items[at + chunk:]
                if rest and self.attempt(make(rest)):
                    items = rest
                    n = max(2, n - 1)
                    break
            else:
                if chunk == 1:
                    break
                n = min(len(items), 2 * n)
        if before > len(items):
            self.say(f"{name}: {len(items)} of {before} are left, step {self.end.steps()}")

    def reduce_attribute(self, name):
        self.reduce(name, getattr(self.kept, name), lambda items: self.kept.with_(name, items))

    def reduce_programs(self):
        def make(programs):
            return self.kept.with_("rounds", [r for r in self.kept.rounds if r[0] in programs])
        self.reduce("programs", sorted({p for p, _ in self.kept.rounds}), make)

    def reduce_switches(self):
        """Threads are switched in few steps; then in the fewer halves of these."""
        steps = max(self.end.steps(), 1)
        parts = [(steps * i // PARTS, steps * (i + 1) // PARTS + (i + 1 == PARTS)) for i in range(PARTS)]
        while not self.is_late():
            self.reduce("parts with switches", parts, lambda items: self.kept.with_("steps", items))
            parts = self.kept.steps
            if not parts or max(b - a for a, b in parts) < 8:
                break
            parts = [half for a, b in parts for half in ((a, (a + b) // 2), ((a + b) // 2, b)) if half[0] < half[1]]

    def shorten(self):
        """Of some schedules the one that fails first."""
        best = self.end.steps()
        for i in range(3 * SCHEDULES):
            if self.is_late():
                return
            found = self.fails(replace(self.run, schedule=1 + i))
            if found and found[1].steps() < best:
                self.run, self.end = found
                best = self.end.steps()

    def shrink(self):
        self.kept = Kept(self.end.pieces())
        self.say(f"from {self.kept.size()}, step {self.end.steps()}")
        if not self.attempt(self.kept):
            self.say("the failure does not come again without what came after it")
            return self.run
        while not self.is_late():
            before = self.kept.size()
            self.reduce_attribute("weather")
            self.reduce_programs()
            self.reduce_attribute("faults")
            self.reduce_attribute("rounds")
            self.schedules = FEW
            self.reduce_attribute("options")
            self.schedules = SCHEDULES
            if self.kept.size() == before:
                break
        self.shorten()
        self.reduce_switches()
        self.say(f"to {self.kept.size()}, step {self.end.steps()}, by {self.attempts} attempts")
        return self.run
