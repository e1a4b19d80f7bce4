# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""What one round is played with: a disk, a server on it, mounts, writers, proxies; and their end. All is below
.work, and nothing is left of it."""
import glob
import os
import random
import shutil
import signal
import time

from . import journal
from .disk import Disk
from .ganesha import Ganesha
from .judge import Violation, judge
from .knfsd import Knfsd
from .processes import NOBODY, Mount, Process, Server, Writer, tail, wait_until
from .proxy import Proxy

SERVERS = {"rnfs-serve": Server, "ganesha": Ganesha, "knfsd": Knfsd}
SANITIZER = "halt_on_error=1:exitcode=99:detect_leaks=1:print_stacktrace=1:allocator_may_return_null=1:log_path="


class Rig:
    LEASE = 3
    PATIENCE = 45  # seconds that an operation may take once nothing hinders it any more

    def __init__(self, plan, work, binaries, code):
        self.plan, self.work, self.binaries, self.code = plan, work, binaries, code
        self.proto, self.vers, self.seed = plan.proto, plan.vers, plan.key
        self.random = random.Random(plan.key)
        self.uid = NOBODY if plan.user == "nobody" and os.geteuid() == 0 else os.geteuid()
        self.reports = os.path.join(work, "reports")
        os.makedirs(self.reports)
        os.chmod(self.reports, 0o1777)
        os.chmod(work, 0o755 if self.uid == os.geteuid() else 0o777)
        sanitizers = SANITIZER + os.path.join(self.reports, "report")
        self.env = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "HOME": work, "TMPDIR": work,
                    "ASAN_OPTIONS": sanitizers, "UBSAN_OPTIONS": sanitizers}
        self.violations, self.notes = [], []
        self.wrapper = []      # a command that the server is run by
        self.cuts = []         # when the power was lost
        self.mounts, self.writers, self.proxies, self.peers = [], [], [], []
        self.judged = True     # whether promises about data hold in this round
        self.disk = None
        self.server = SERVERS[plan.server](self)

    def binary(self, name):
        return os.path.join(self.binaries, "sanitized" if self.plan.sanitized else "plain", name)

    def as_user(self, *command):
        """The command, run as whom the daemons and the server run as."""
        if self.uid == os.geteuid():
            return [*command]
        return ["setpriv", f"--reuid={self.uid}", f"--regid={self.uid}", "--clear-groups", *command]

    def tool(self, name):
        return os.path.join(self.binaries, "plain", name)

    def violation(self, kind, amount, text):
        self.violations.append(Violation(kind, amount, text))

    def note(self, text):
        self.notes.append(text)

    # Building up

    def insert(self, disk=None):
        """Puts the disk in."""
        self.disk = disk or Disk(os.path.join(self.work, "disk"))
        self.disk.prepare(self.uid)

    def mount(self, name, proxied=False, options=(), limits=None, tries=1):
        port = self.server.port
        if proxied:
            self.proxies.append(Proxy(port, f"{self.seed}/{name}"))
            port = self.proxies[-1].port
        m = Mount(self, name)
        m.limits = limits or {}
        self.mounts.append(m)
        if not any(m.start(port, *options) for _ in range(tries)):
            m.inspect()
            raise RuntimeError(f"{m.title} is not mounted: {tail(m.log)}")
        return m

    def write(self, kind, mount):
        w = Writer(self, kind, len(self.writers) + 1, mount.top)
        self.writers.append(w)
        w.start()
        return w

    def going(self, seconds=20):
        """Waits until each writer has done something."""
        def all_go():
            return all(len(journal.read(w.journal)) > 3 or not w.alive for w in self.writers)
        return wait_until(all_go, seconds)

    def sleep(self, least, most=None):
        time.sleep(self.random.uniform(least, most or least))

    # What happens to it

    def restart(self, pause=0.0):
        """kill -9 of the server, and its return."""
        self.server.kill()
        time.sleep(pause)
        self.server.start()

    def lose_power(self, pause=0.0):
        """The same with the loss of all that was not synced; what was promised is looked for at once."""
        self.server.kill()
        self.cuts.append(time.monotonic())
        journals = self.journals()
        self.disk.cut()
        self.judge(journals)
        time.sleep(pause)
        self.server.start()

    def journals(self):
        return [(w.number, journal.read(w.journal)) for w in self.writers]

    def judge(self, journals):
        if self.judged:
            known = {v.text for v in self.violations}
            found = judge(journals, self.disk.export, self.cuts, self.server.sync_names)
            self.violations += [v for v in found if v.text not in known]

    def clear(self, mount):
        """Removes all that is in a mount; what was promised about it is judged no more."""
        self.judged = False
        remover = Process(self, "rm")
        remover.launch(["find", mount.top, "-mindepth", "1", "-delete"])
        remover.ends(self.PATIENCE)

    # Its end

    def finish_writers(self, seconds=None):
        """The fault is over: each finishes in bounded time."""
        for w in self.writers:
            w.stop()
        for w in self.writers:
            if w.alive and not wait_until(lambda: not w.alive, seconds or self.PATIENCE):
                w.ends(0)
            elif w.child:
                w.meant.add(-signal.SIGBUS)  # is how a mapping tells of an error
                w.inspect()

    def settle(self):
        """Everything ends as it should, and is judged by what a last loss of power leaves."""
        for p in self.peers:
            p.stop()
        self.finish_writers()
        for m in self.mounts:
            m.stop()
        journals = self.journals()
        self.server.stop()
        if self.disk and self.disk.forgets:
            self.disk.cut()
        self.judge(journals)
        self.read_reports()

    def read_reports(self):
        for report in sorted(glob.glob(os.path.join(self.reports, "*"))):
            with open(report, errors="replace") as f:
                text = f.read()
            lines = [line for line in text.splitlines() if "ERROR" in line or "error:" in line or "SUMMARY" in line]
            frames = [line.split(" in ")[-1] for line in text.splitlines() if line.lstrip().startswith("#")]
            kind = "leak" if "LeakSanitizer" in text else "crash"
            self.violation(kind, 1, " | ".join(lines[:2] + frames[:6])[:900])

    def remove(self):
        """Whatever is left is ended, whether or not the round came to its end."""
        for p in self.peers:
            p.running = False
        for process in [*self.mounts, *self.writers, self.server]:
            process.kill(5)
        for m in self.mounts:
            m.detach("-z")
        for p in self.proxies:
            p.stop()
        if self.disk:
            self.disk.remove()

    def figures(self):
        """What was done in it: promises, calls, the longest wait."""
        kept = lost = 0
        longest, title = 0.0, ""
        for _, lines in self.journals():
            for _, what, *v in lines:
                if what in ("sync", "only", "kept") or what == "did" and v[0] == 0:
                    kept += 1
                elif what in ("told", "bad"):
                    lost += 1
                elif what == "took" and v[1] > longest:
                    longest, title = v[1], v[0]
        return {"kept": kept, "refused": lost, "longest": longest, "of": title}


def copy_binaries(build, to, paths):
    os.makedirs(to)
    for path in paths:
        shutil.copy2(os.path.join(build, path), to)
