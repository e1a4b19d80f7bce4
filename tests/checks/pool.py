# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
pool: runs jobs side by side.

It has a number of places; a job takes as many as its weight says. The builds are made one after the
other, in the order in which jobs first name them, and a job starts when its builds are there. The jobs
of a build that failed are not run; the build is the failure.
"""
import itertools
import queue
import shutil
import threading
import time

import build
import job as jobs
from limits import Limits


class Pool:
    def __init__(self, places, report):
        """report(result) is called once for each job and build that has ended."""
        self.places = places
        self.report = report
        self.events = queue.SimpleQueue()
        self.built = set()
        self.public = {}
        self.numbers = itertools.count(1)  # of jobs by an ordinary user
        self.no_group = set()  # reasons that have been told

    def run(self, todo):
        """Runs all of todo, as far as the builds go."""
        todo = list(todo)
        names = list(dict.fromkeys(name for j in todo for name in j.builds))
        threading.Thread(target=self._build_all, args=(names,), daemon=True).start()
        free, running, builds = self.places, 0, len(names)
        try:
            while todo or running or builds:
                job = next((j for j in todo if self.built.issuperset(j.builds)
                            and min(j.weight, self.places) <= free), None)
                if job:
                    todo.remove(job)
                    free -= min(job.weight, self.places)
                    running += 1
                    threading.Thread(target=self._run, args=(job,), daemon=True).start()
                    continue
                what, result = self.events.get()
                if what == "build":
                    builds -= 1
                    if result.failed:
                        todo = [j for j in todo if result.job.build not in j.builds]
                    else:
                        self.built.add(result.job.build)
                else:
                    running -= 1
                    free += min(result.job.weight, self.places)
                self.report(result)
        finally:
            for folder in self.public.values():
                shutil.rmtree(folder, ignore_errors=True)

    def _build_all(self, names):
        for name in names:
            result = jobs.Result(jobs.Job(f"build {name}", [], name))
            begun = time.monotonic()
            wrong = build.make(name)
            result.seconds = round(time.monotonic() - begun)
            if wrong is None:
                self.public[name] = build.publish(name)
                result.passed = 1
            else:
                result.failed, result.text = 1, wrong + "\n"
            self.events.put(("build", result))

    def _run(self, job):
        limits = Limits(next(self.numbers), job.build in build.SANITIZED) if job.user else None
        if limits:
            job.command = limits.command(in_copy(job, self.public[job.build]), job.env)
        try:
            result = jobs.run(job)
        except OSError as wrong:
            result = jobs.Result(job, failed=1, text=f"{wrong}\n")
        if limits:
            limits.end()
            if limits.wrong and str(limits.wrong) not in self.no_group:  # once for all jobs
                self.no_group.add(str(limits.wrong))
                result.skips.append(("a control group of 128 MiB for daemons of ordinary users",
                                     f"none can be made here: {limits.wrong}"))
        self.events.put(("job", result))


def in_copy(job, folder):
    """The command of job in a copy of the checkout."""
    return ["env", "-C", "/", f"BUILD={folder}/build", "TMPDIR=/tmp", f"{folder}/{job.command[0]}"] + job.command[1:]
