# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
Runs what tests/check is asked for. A line for each job; what a failing one printed; at the end whether
the tests ran that doc/conformance.md names, how long the jobs took, what was skipped and why, what failed
and how to run it alone, and the count.

The short check also runs on machines that do other work beside it. A few jobs that fail there are run
again, alone, and the second run counts. The list at the end names them, because each may be a fault that
is seldom seen. A sanitizer's report is never run again. --all runs no job again.
"""
import argparse
import collections
import os
import shlex
import signal
import sys

import build
import conformance
import job as jobs
from pool import Pool
from suites import SUITES

LONGEST = 20000  # characters of a failing job that are shown
AGAIN = 3  # jobs that are run again at most: more failures are no accident


class Count:
    def __init__(self, verbose, todo):
        self.verbose = verbose
        self.conformance = conformance.Run(todo)
        self.passed = self.failed = 0
        self.skips = collections.defaultdict(list)  # reason: titles
        self.bad = []
        self.first = []  # results of jobs that are to be run again
        self.steady = True  # no job is run again from now on
        self.seconds = {}  # title: how long it took

    def add(self, result):
        """Prints what came of a job, and counts it, unless the job is to be run again."""
        title, skipped = result.job.title, len(result.skips)
        self.seconds[title] = self.seconds.get(title, 0) + result.seconds
        if result.failed and not self.steady and not result.reported and not title.startswith("build "):
            self.first.append(result)
            self.show(result, "failed, and is to run again alone")
            return
        self.conformance.add(result)
        self.passed += result.passed
        self.failed += result.failed
        for test, reason in result.skips:
            self.skips[reason].append(f"{title}: {test}")
        counts = f"{result.passed} passed" + (f", {result.failed} failed" if result.failed else "") + \
            (f", {skipped} skipped" if skipped else "")
        self.show(result, counts)
        if result.failed:
            self.bad.append(title)
            print(f"    again: {again(title)}", flush=True)

    def show(self, result, counts):
        verdict = "not ok" if result.failed else "ok"
        print(f"{verdict} - {result.job.title}: {counts} ({result.seconds} s)")
        if result.failed or self.verbose:
            lines = [line for line in result.text.splitlines() if self.verbose or not line.startswith("ok ")]
            text = "    " + "\n    ".join(lines)
            if len(text) > LONGEST:  # the names of all failures, and the end
                print("".join(f"    {line}\n" for line in lines if line.startswith("not ok ")), end="")
            print(text[-LONGEST:])
        sys.stdout.flush()

    def second_runs(self):
        """The titles of the jobs that are to be run again. If too many have failed, their first runs count."""
        self.steady = True
        if len(self.first) > AGAIN:
            for result in self.first:
                self.add(result)
            self.first = []
        return [result.job.title for result in self.first]

    def conform(self):
        """Prints what came of the tests that doc/conformance.md names; one that should have run and did not is a failure."""
        count, wrong = self.conformance.judge()
        self.passed += bool(count["ok"]) and not wrong
        self.failed += count["did not run"]
        print(f"{'not ok' if wrong else 'ok'} - conformance: {count['ok']} tests of requirements passed, "
              f"{count['skip']} skipped, {count['another']} not in this run")
        for line in wrong:
            print(f"    {line}")

    def times(self):
        """Prints how long each kind of job took in all, and the longest jobs. Jobs run beside each other."""
        kinds = collections.Counter()
        for title, seconds in self.seconds.items():
            kinds[" ".join(title.split()[:2]).rstrip(",")] += seconds
        print("\nSeconds of all jobs: " + ", ".join(f"{kind} {n}" for kind, n in kinds.most_common(12)))
        print("The longest:")
        for title, seconds in collections.Counter(self.seconds).most_common(8):
            print(f"  {seconds:4} {title}")

    def close(self):
        self.conform()
        if len(self.seconds) > 20:
            self.times()
        if self.skips:
            print("\nSkipped:")
        for reason, titles in sorted(self.skips.items()):
            print(f"  {reason}: {len(titles)}")
            for title in titles:
                print(f"    {title}")
        if self.first:
            print("\nFailed at first, run again alone:")
        for result in self.first:
            print(f"  {result.job.title}: {'failed again' if result.job.title in self.bad else 'passed'}")
        if self.bad:
            print("\nFailed; each can be run again alone:")
        for title in self.bad:
            print(f"  {again(title)}")
        skipped = sum(len(titles) for titles in self.skips.values())
        print(f"\n{self.passed} passed, {self.failed} failed, {skipped} skipped")
        return 0 if self.passed and not self.failed else 1


def again(title):
    if title.startswith("build "):
        return f"meson compile -C {shlex.quote(build.path(title[6:]))}"
    return f"tests/check --only {shlex.quote(title)}"


def parse():
    p = argparse.ArgumentParser(prog="tests/check", usage=argparse.SUPPRESS, add_help=False)
    p.add_argument("--all", action="store_true")
    p.add_argument("--no-vm", action="store_true")
    p.add_argument("--jobs", type=int, default=(os.cpu_count() or 1) * 2)
    p.add_argument("--verbose", action="store_true")
    p.add_argument("--list", action="store_true")
    p.add_argument("--only")
    p.add_argument("suites", nargs="*")
    options = p.parse_args()
    for name in options.suites:
        if name not in SUITES:
            p.error(f"no suite is called {name}")
    return options


def jobs_of(everything, names):
    return [job for name in names for job in SUITES[name](everything)]


def wanted(options):
    names = [n for n in SUITES if n in options.suites] or list(SUITES)
    if options.no_vm:
        names = [n for n in names if n != "vm"]
    if options.only is None:
        return jobs_of(options.all, names)
    named = {job.title: job for job in jobs_of(False, SUITES) + jobs_of(True, SUITES)}
    if options.only not in named:
        sys.exit(f"tests/check: no test is called {options.only!r}: see tests/check --list")
    return [named[options.only]]


def main():
    options = parse()
    todo = wanted(options)
    if options.list:
        print("\n".join(job.title for job in todo))
        return 0
    count = Count(options.verbose or options.only is not None, todo)
    count.steady = options.all or options.only is not None
    os.chdir(build.ROOT)
    Pool(max(options.jobs, 1), count.add).run(todo)
    titles = count.second_runs()
    if titles:
        Pool(1, count.add).run(job for job in wanted(options) if job.title in titles)
    return count.close()


def interrupted(number, frame):
    jobs.end_all()
    sys.exit(128 + number)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, interrupted)
    signal.signal(signal.SIGTERM, interrupted)
    sys.exit(main())
