# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""The processes of a round: the server, the daemon of a mount, a writer. Each knows which end was meant; any
other is a crash, and a wait without end a hang."""
import os
import re
import resource
import signal
import subprocess
import time

from .judge import Violation

NOBODY = 65534
PYTHON = "/usr/bin/python3"


def wait_until(condition, seconds, step=0.02):
    """condition()'s first true value, or its last one."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value or time.monotonic() > end:
            return value
        time.sleep(step)


def tail(path, lines=20):
    try:
        with open(path, errors="replace") as f:
            return "".join(f.readlines()[-lines:])
    except OSError:
        return ""


def ended(pid):
    """Whether a process is gone, or waits for its parent to notice; its parent may at any moment."""
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def where(pid):
    """In which call of the kernel a process waits."""
    found = []
    try:
        tasks = sorted(os.listdir(f"/proc/{pid}/task"))
    except OSError:
        return "nothing: it is gone"
    for task in tasks:
        for source in ("stack", "wchan"):  # the latter for those who may not read the former
            try:
                with open(f"/proc/{pid}/task/{task}/{source}") as f:
                    found.append(" ".join(line.split()[-1].split("+")[0] for line in f.read().splitlines()[:6]))
                break
            except OSError:
                pass
    return "; ".join(found)


class Process:
    """A child. .violations: what is wrong with how it went. at_user: who it runs as."""
    title = "process"

    def __init__(self, rig, title):
        self.rig, self.title = rig, title
        self.child = None
        self.meant = set()  # ends that somebody here brought about
        self.log = os.path.join(rig.work, title.replace(" ", "-") + ".log")

    def launch(self, command, limits=None, env=None, stdout=None):
        def set_limits():
            for what, value in (limits or {}).items():
                resource.setrlimit(what, (value, value))
        with open(self.log, "ab") as log:
            self.child = subprocess.Popen(self.rig.as_user(*command), stdin=subprocess.DEVNULL, stdout=stdout or log, stderr=log,
                                          cwd=self.rig.work, env={**self.rig.env, **(env or {})}, preexec_fn=set_limits)

    pid = property(lambda self: self.child.pid)
    alive = property(lambda self: self.child is not None and self.child.poll() is None)

    def send(self, sig):
        if self.alive:
            self.child.send_signal(sig)

    def strike(self):
        """kill -9, without waiting for what comes of it."""
        if self.alive:
            self.meant.add(-signal.SIGKILL)
            self.send(signal.SIGKILL)
            self.send(signal.SIGCONT)

    def kill(self, seconds=10):
        """kill -9, which must end it."""
        if self.child is None:
            return
        self.strike()
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.rig.violation("unkillable", 1, f"{self.title} goes on {seconds} s after kill -9, in {where(self.pid)}")

    def ends(self, seconds):
        """Waits for its end of its own accord; False, and it is killed, if it does not come."""
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            self.rig.violation("hang", 1, f"{self.title} has not ended after {seconds} s; it waits in {where(self.pid)}")
            self.kill()
            return False
        return self.inspect()

    def inspect(self):
        """Whether it runs, or ended as it was meant to."""
        code = self.child.poll() if self.child else None
        if code is None or code == 0 or code in self.meant:
            return True
        self.meant.add(code)  # said once
        how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
        self.rig.violation("crash", 1, f"{self.title} ended by {how}: {tail(self.log, 5).strip()[-600:]}")
        return False

    def limit_memory(self, room):
        """Its address space may grow by so much; None: as it likes."""
        soft = "unlimited" if room is None else str(int(open(f"/proc/{self.pid}/statm").read().split()[0]) * resource.getpagesize() + room)
        subprocess.run(self.rig.as_user("prlimit", f"--pid={self.pid}", f"--as={soft}:"), check=True)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def resident(self):
        with open(f"/proc/{self.pid}/statm") as f:
            return int(f.read().split()[1]) * resource.getpagesize()


class Server(Process):
    """rnfs-serve on the rig's disk; the same port after each start."""
    sync_names = True

    def __init__(self, rig):
        super().__init__(rig, "server")
        self.port = 0
        self.options = []
        self.limits = {}

    def start(self):
        out = self.log + ".out"
        with open(out, "wb") as stdout:
            self.launch([*self.rig.wrapper, self.rig.binary("rnfs-serve"), "--proto", self.rig.proto, "--listen", f"127.0.0.1:{self.port}",
                         "--no-root-squash", "--lease", str(self.rig.LEASE), "--handle-key",
                         os.path.join(self.rig.disk.state, "handle-key"), *self.options, self.rig.disk.export],
                        self.limits, stdout=stdout)
        found = wait_until(lambda: re.search(r" on \S+:(\d+)", tail(out)) or not self.alive, 30)
        if not found or found is True:
            self.inspect()
            raise RuntimeError(f"the server does not start: {tail(self.log)}")
        self.port = int(found.group(1))

    def stop(self):
        if self.alive:
            self.send(signal.SIGCONT)
            self.send(signal.SIGTERM)
            self.ends(30)


class Mount(Process):
    """A daemon and what it mounts."""

    def __init__(self, rig, name):
        super().__init__(rig, "mount " + name)
        self.top = os.path.join(rig.work, "mnt-" + name)
        self.limits = {}

    def start(self, port, *options, seconds=30):
        os.makedirs(self.top, exist_ok=True)
        if os.geteuid() == 0:
            os.chown(self.top, self.rig.uid, self.rig.uid)
        options = [f"proto={self.rig.proto}", f"port={port}", f"vers={self.rig.vers}", "timeo=30", "connect_timeout=5", *options]
        state = os.path.join(self.rig.work, "state-" + self.title.split()[-1])
        self.launch([self.rig.binary("rnfs"), "-f", "-o", ",".join(options), "127.0.0.1:/", self.top],
                    self.limits, {"XDG_STATE_HOME": state})
        wait_until(lambda: self.mounted() or not self.alive, seconds)
        return self.mounted()

    def mounted(self):
        with open("/proc/self/mounts") as f:
            return any(line.split()[1] == self.top and " fuse" in line for line in f)

    def detach(self, *options):
        command = self.rig.as_user("fusermount3", "-u", *options, self.top)
        return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0

    def stop(self, seconds=30):
        """Unmounts; the daemon is to end well."""
        if self.alive:
            self.send(signal.SIGCONT)
            if not wait_until(self.detach, 5, 0.2):
                self.detach("-z")
            self.ends(seconds)
        elif self.mounted():
            self.detach("-z")


class Writer(Process):
    """One of soaking/writers.py, at work in a directory of a mount."""

    def __init__(self, rig, kind, number, directory):
        super().__init__(rig, f"{kind} {number}")
        self.kind, self.number, self.directory = kind, number, directory
        self.journal = os.path.join(rig.work, f"journal-{number}")

    def start(self):
        self.launch([PYTHON, "-m", "soaking.writers", self.kind, str(self.number), self.directory, self.journal,
                     f"{self.rig.seed}/{self.number}"], {resource.RLIMIT_CORE: 0}, {"PYTHONPATH": self.rig.code})

    def stop(self):
        """It must finish what it is at."""
        self.send(signal.SIGTERM)
