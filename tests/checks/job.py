# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
job: one test program, which prints TAP, and what came of it.

A program that prints no test, or ends with an error although no test failed, counts as one failure,
and so does a report of a sanitizer, whatever the tests said.
"""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field

TEST = re.compile(r"^(not ok|ok) \d+(.*)$")
TOO_LONG = 124  # the exit status of a job that was ended
SKIP = re.compile(r"# SKIP ?(.*)$")

running = set()  # process groups of jobs, which a signal from the terminal does not reach


@dataclass
class Job:
    title: str
    command: list
    build: str  # the name of the build that it tests
    env: dict = field(default_factory=dict)
    limit: int = 300  # seconds after which it is hung
    weight: int = 1  # places of the pool that it takes
    user: bool = False  # run by an ordinary user
    also: tuple = ()  # names of other builds that it takes

    @property
    def builds(self):
        return (self.build, *self.also)


@dataclass
class Result:
    job: Job
    passed: int = 0
    failed: int = 0
    skips: list = field(default_factory=list)  # (test, reason)
    tests: list = field(default_factory=list)  # (test, "ok", "not ok" or "skip")
    seconds: int = 0
    text: str = ""  # what it printed
    reported: bool = False  # a sanitizer has found a fault


def sanitizer_env(reports):
    """The daemon has no terminal: reports go to files."""
    common = f"exitcode=99:log_path={reports}/report"
    return {
        "ASAN_OPTIONS": f"detect_leaks=1:halt_on_error=1:{common}",
        "UBSAN_OPTIONS": f"print_stacktrace=1:halt_on_error=1:{common}",
        "TSAN_OPTIONS": f"second_deadlock_stack=1:halt_on_error=1:{common}",
    }


def judge(result, status, reports):
    """Fills in what the TAP in result.text and the exit status say."""
    for line in result.text.splitlines():
        test = TEST.match(line)
        if not test:
            continue
        skip = SKIP.search(line)  # cmocka calls a skipped test "not ok"
        name = test[2].split("# SKIP")[0].strip(" -")
        result.tests.append((name, "skip" if skip else test[1]))
        if skip:
            result.skips.append((name, skip[1].strip() or "no reason given"))
        elif test[1] == "ok":
            result.passed += 1
        else:
            result.failed += 1
    if reports:
        result.failed += 1
        result.reported = True
        result.text += f"not ok - a sanitizer's report\n{reports}"
    elif not result.failed and (status or not result.passed + len(result.skips)):
        result.failed = 1
        what = "it took too long" if status == TOO_LONG else f"exit status {status}"
        result.text += f"not ok - {what}\n"


def read_reports(folder):
    """What the sanitizers wrote, each report cut off after some 60 lines."""
    text = ""
    for name in sorted(os.listdir(folder)):
        with open(os.path.join(folder, name), errors="replace") as report:
            text += "".join(report.readlines()[:60])
    return text


def stuck(session):
    """Where the processes of a session wait, and the daemons, which have sessions of their own."""
    text = ""
    for pid in sorted((n for n in os.listdir("/proc") if n.isdigit()), key=int):
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
                name, rest = f.read().split("(", 1)[1].rsplit(")", 1)
            if int(rest.split()[3]) != session and name not in ("rnfs", "rnfs-serve"):
                continue
            with open(f"/proc/{pid}/wchan", encoding="ascii") as f:
                text += f"# {pid} {name}: {rest.split()[0]} {f.read()}\n"
            if name == "rnfs" and shutil.which("gdb"):
                text += "".join(f"#   {line}\n" for line in subprocess.run(
                    ["gdb", "-p", pid, "-batch", "-ex", "thread apply all bt 6"], timeout=60, check=False,
                    capture_output=True, text=True).stdout.splitlines() if line.startswith(("#", "Thread")))
        except (OSError, ValueError, subprocess.TimeoutExpired):
            pass  # it has ended, or is another user's
    return text


def run(job):
    """Runs job to its end. A Result."""
    result, began = Result(job), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="rnfs-check.") as folder:
        os.chmod(folder, 0o1777)
        env = os.environ | sanitizer_env(folder) | {"CMOCKA_MESSAGE_OUTPUT": "TAP"} | job.env
        with tempfile.TemporaryFile() as out:
            with subprocess.Popen(job.command, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                  stderr=subprocess.STDOUT, start_new_session=True) as process:
                running.add(process.pid)
                status, where = wait(process, job.limit)
                running.discard(process.pid)
            out.seek(0)
            result.text = out.read().decode(errors="replace")
        judge(result, status, read_reports(folder))
        result.text += where
    result.seconds = int(time.monotonic() - began)
    return result


def end_all():
    """Ends the jobs that run: the check was interrupted."""
    for group in list(running):
        try:
            os.killpg(group, signal.SIGTERM)
        except ProcessLookupError:
            pass


def wait(process, limit):
    """The exit status of a process that may take limit seconds, and where it was stuck if it took longer."""
    try:
        return process.wait(limit), ""
    except subprocess.TimeoutExpired:
        where = stuck(process.pid)
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(10)
            break
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass
    return TOO_LONG, where
