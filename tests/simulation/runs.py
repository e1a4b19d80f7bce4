# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Runs of the simulator: command lines, and what became of a run."""
import os
import re
import subprocess
from dataclasses import dataclass, field, replace

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.environ.get("BUILD", os.path.join(os.path.dirname(TESTS), "build"))
SIM = os.environ.get("SIM", os.path.join(BUILD, "tests/simulation/sim"))
LIMIT = 300  # seconds for one run, on any machine


@dataclass(frozen=True)
class Run:
    seed: int
    pct: bool = False
    crowd: str = ""
    schedule: int = 0  # 0: by the seed
    without: str = ""

    def words(self):
        words = ["--pct"] * self.pct
        for name in ("crowd", "schedule", "without"):
            value = getattr(self, name)
            words += [f"--{name}", str(value)] if value else []
        return words

    def again(self):
        return " ".join(["tests/sim", "--seed", str(self.seed)] + self.words())

    def leaving_out(self, pieces):
        return replace(self, without=",".join(pieces))


@dataclass
class End:
    """How a run has ended. kind: the first line of a failure without its numbers; "": it has not failed."""
    status: int
    text: str
    kind: str = field(init=False)

    def __post_init__(self):
        self.kind = kind_of(self.text, self.status) if self.status else ""

    def steps(self):
        m = re.search(r"step (\d+),|(\d+) steps", self.text)
        return int(m[1] or m[2]) if m else 0

    def simulated_ms(self):
        m = re.search(r"(\d+) ms", self.text)
        return int(m[1]) if m else 0

    def pieces(self):
        """Those that have begun: (kind, number, number)."""
        found = re.findall(r"^piece (\w+) (\d+) (\d+)$", self.text, re.M)
        return [(kind, int(a), int(b)) for kind, a, b in found]


def kind_of(text, status):
    m = re.search(r"^seed \d+, step \d+, \d+ ms: (.*)$", text, re.M)
    if not m:
        lines = text.splitlines()
        return f"status {status}" if status < 0 or not lines else re.sub(r"\d+", "N", lines[0])
    return re.sub(r"\d+", "N", re.sub(r"\b(0x)?[0-9a-f]{2,}\b", "N", m[1]))


def play(run, flags=(), limit=LIMIT, sim=SIM):
    command = [sim] + run.words() + list(flags) + [str(run.seed)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=limit)
    except subprocess.TimeoutExpired:
        return End(1, f"seed {run.seed}: the run has not ended after {limit} s")
    return End(done.returncode, done.stdout + done.stderr)


def with_names(text):
    """Addresses of the program in stacks become functions."""
    places = sorted(set(re.findall(r"/sim\(\+(0x[0-9a-f]+)\)", text)))
    if not places:
        return text
    done = subprocess.run(["addr2line", "-f", "-s", "-e", SIM] + places, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    names = {p: f"{lines[2 * i]} at {lines[2 * i + 1]}" for i, p in enumerate(places) if 2 * i + 1 < len(lines)}
    return re.sub(r"\S*/sim\(\+(0x[0-9a-f]+)\)\S*", lambda m: f"    {names.get(m[1], m[1])}", text)
