# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
rig: servers, mounts and programs of a benchmark run, and their end.

Whatever happens, nothing is left behind. A server that ends before its mount makes a hard mount wait for ever, so mounts go
first, and each is asked, then detached, then aborted at the kernel (/sys/fs/fuse/connections, root only), which frees
every process that waits in it. Each program has a limit of time; when it is over, the mounts are aborted before the program
is waited for, since a process that waits in the kernel does not die of SIGKILL. This process never touches a file of a mount
itself.
"""
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
STATISTIC = re.compile(r"(\w+)=(\d+)(?:B|\b)")
TICK = os.sysconf("SC_CLK_TCK")


class Trouble(Exception):
    """A sentence for the user."""


def until(condition, seconds, what):
    end = time.monotonic() + seconds
    while not (value := condition()):
        if time.monotonic() > end:
            raise Trouble(f"{what}: not within {seconds} s")
        time.sleep(0.02)
    return value


def mounted_device(path):
    """MAJOR:MINOR of what is mounted on path, or None."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        for line in f:
            words = line.split()
            if words[4] == path:
                return words[2]
    return None


def processor_time(pid):
    """Seconds that a process has used so far."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            words = f.read().rsplit(")", 1)[1].split()
    except OSError:
        return 0.0
    return (int(words[11]) + int(words[12])) / TICK


def machine_time():
    """Seconds that all processors together were busy with, whoever it was for."""
    with open("/proc/stat", encoding="utf-8") as f:
        words = [int(w) for w in f.readline().split()[1:9]]
    return (sum(words) - words[3] - words[4]) / TICK


class Load:
    """How busy others have kept the machine since it was made: a share of all its processors."""

    def __init__(self, rig):
        self.rig, self.began = rig, time.monotonic()
        self.before = self.now()

    def now(self):
        t = os.times()
        ours = sum(t[:4]) + sum(processor_time(p.pid) for p in self.rig.processes)
        return machine_time() - ours

    def others(self):
        elapsed = max(time.monotonic() - self.began, 1e-9)
        return max(0.0, (self.now() - self.before) / elapsed / os.cpu_count())


class Rig:
    def __init__(self, build, base=None):
        self.build = build
        if base is None:  # what is measured is rnfs, not the disk below the server
            base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.folder = os.path.realpath(tempfile.mkdtemp(prefix="rnfs-bench.", dir=base))
        os.chmod(self.folder, 0o755)
        self.processes, self.mounts, self.count = [], [], 0

    def __enter__(self):
        for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(s, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
        return self

    def __exit__(self, *_):
        for s in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            signal.signal(s, signal.SIG_IGN)
        for mount in list(self.mounts):
            mount.end()
        for process in self.processes[::-1]:
            self.end(process)
        shutil.rmtree(self.folder, ignore_errors=True)

    def program(self, name):
        return os.path.join(self.build, name)

    def path(self, name):
        """A new name in the folder of this run."""
        self.count += 1
        return os.path.join(self.folder, f"{name}.{self.count}")

    def new_folder(self, name):
        path = self.path(name)
        os.mkdir(path)
        return path

    def start(self, command, log):
        """A program that lives until end(). Its output goes to the file log."""
        with open(log, "wb") as f:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=f, stderr=subprocess.STDOUT, start_new_session=True)
        self.processes.append(process)
        return process

    def end(self, process, grace=10):
        if process not in self.processes:
            return
        for how in (process.terminate, process.kill):
            if process.poll() is None:
                how()
                try:
                    process.wait(grace)
                except subprocess.TimeoutExpired:
                    continue
        self.processes.remove(process)

    def run(self, command, seconds=60, cwd=None, env=None):
        """A program's standard output. Trouble if it fails or takes longer."""
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
                                       cwd=cwd, env=os.environ | (env or {}))
            try:
                status = process.wait(seconds)
            except BaseException as e:
                self.free(process)
                if isinstance(e, subprocess.TimeoutExpired):
                    raise Trouble(f"{os.path.basename(command[0])} took more than {seconds} s: {' '.join(command)}") from None
                raise
            out.seek(0)
            err.seek(0)
            if status:
                raise Trouble(f"{' '.join(command)}: status {status}\n{err.read().decode(errors='replace')[-2000:]}")
            return out.read().decode(errors="replace")

    def free(self, process):
        """Ends a program that has been running for too long, with all that it has started."""
        for step in range(3):
            if step == 1:
                for mount in self.mounts:
                    mount.abort()
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except OSError:
                pass
            try:
                process.wait(3)
                return
            except subprocess.TimeoutExpired:
                pass


class Server:
    """rnfs-serve on a folder; port[proto] tells where. within: words that come before its command."""

    def __init__(self, rig, folder, protos=("iwarp",), fault=None, address="127.0.0.1", within=(), versions=None):
        self.rig, self.folder, self.address, self.port = rig, folder, address, {}
        log = rig.path("serve")
        command = [*within, rig.program("contrib/serve/rnfs-serve"), "--proto", ",".join(protos), "--no-root-squash", "--async"]
        for _ in protos:
            command += ["--listen", f"{address}:0"]
        command += ["--fault", fault] if fault else []
        command += ["--rdma-versions", versions] if versions else []
        self.process = rig.start(command + [folder], log)

        def ready():
            with open(log, encoding="utf-8", errors="replace") as f:
                text = f.read()
            if self.process.poll() is not None:
                raise Trouble(f"the server did not start: {text}")
            found = re.findall(r" on \S*:(\d+) \((\w+)\)", text)
            return found if len(found) == len(protos) else None
        self.port = {proto: int(port) for port, proto in until(ready, 30, "the server's start")}

    def end(self):
        self.rig.end(self.process)


class Relay:
    """A longer way to a server's port: late by so many milliseconds, half of it each way; what passes is captured, if a file is named."""

    def __init__(self, rig, port, milliseconds=0, capture=None):
        self.rig, log = rig, rig.path("relay")
        command = [rig.program("tests/bench/relay"), "-d", str(milliseconds * 500)] + (["-w", capture] if capture else [])
        self.process = rig.start(command + [str(port)], log)

        def ready():
            if self.process.poll() is not None:
                raise Trouble("the relay did not start")
            with open(log, encoding="utf-8") as f:
                return f.read().strip()
        self.port = int(until(ready, 30, "the relay's start"))

    def end(self):
        self.rig.end(self.process)


class Mount:
    """A FUSE file system on a new folder, by a program that stays in the foreground, or of which goes_on() tells."""

    def __init__(self, rig, name, command):
        self.rig, self.folder, self.log, self.device = rig, rig.new_folder(name), rig.path("log"), None
        self.process = rig.start([c if c != "MOUNTPOINT" else self.folder for c in command], self.log)
        rig.mounts.append(self)

        def ready():
            if not self.goes_on():
                raise Trouble(f"{name} did not start: {self.said()}")
            return mounted_device(self.folder)
        self.device = until(ready, 60, f"the mount of {name}")
        rig.run(["stat", self.folder], 60)

    def goes_on(self):
        return self.process.poll() is None

    def said(self):
        with open(self.log, encoding="utf-8", errors="replace") as f:
            return f.read()

    def read_ahead(self, kilobytes=None):
        """The kernel's read-ahead of the mount; root alone may set it."""
        path = f"/sys/class/bdi/{self.device}/read_ahead_kb"
        if kilobytes is not None and os.access(path, os.W_OK):
            with open(path, "w", encoding="utf-8") as f:
                f.write(f"{kilobytes}\n")
        with open(path, encoding="utf-8") as f:
            return int(f.read())

    def abort(self):
        if not self.device:
            return
        path = f"/sys/fs/fuse/connections/{self.device.split(':')[1]}/abort"
        try:
            with open(path, "w", encoding="utf-8") as f:
                f.write("1\n")
        except OSError:
            pass

    def end(self):
        """Unmounts: as users do, or, if that fails, whatever is lost by it."""
        if self not in self.rig.mounts:
            return
        for how in (["-u"], ["-u", "-z"]):
            if mounted_device(self.folder):
                subprocess.run(["timeout", "-k", "1", "10", "fusermount3", *how, self.folder], check=False,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.abort()
        self.rig.end(self.process)
        self.rig.mounts.remove(self)


class Rnfs(Mount):
    """The daemon, mounted from a server."""

    def __init__(self, rig, server, proto="iwarp", options="", within=()):
        words = f"proto={proto},port={server.port[proto]}" + (f",{options}" if options else "")
        group = os.environ.get("RNFS_GROUP")  # a control group that the daemon is to enter (tests/checks/limits.py)
        enter = ["sh", "-c", 'echo $$ > "$0/cgroup.procs" && exec "$@"', group] if group else []
        super().__init__(rig, "rnfs", [*within, *enter, rig.program("fs/rnfs"), "-f", "-o", words, f"{server.address}:/", "MOUNTPOINT"])

    def statistics(self):
        """The daemon's counters by name; those of operations in capitals, and what failed of them in NAME_failed."""
        lines = self.said().count("requests=")
        self.process.send_signal(signal.SIGUSR1)
        until(lambda: self.process.poll() is not None or self.said().count("requests=") > lines and self.said().endswith("\n"),
              30, "the daemon's statistics")
        line = [line for line in self.said().splitlines() if "requests=" in line][-1]
        return {name: int(value) for name, value in STATISTIC.findall(line)}

    def settled(self, pause):
        """Statistics once no call has been made for a while: what is done in the background is done."""
        last, now = None, self.statistics()
        while last != now["calls"]:
            last = now["calls"]
            time.sleep(pause)
            now = self.statistics()
        return now


class Null(Mount):
    """The file system that does nothing, mounted as other is."""

    def __init__(self, rig, other=None, options=()):
        super().__init__(rig, "null", [rig.program("tests/bench/nullfs"), "-f", *options, "MOUNTPOINT"])
        if other:
            self.read_ahead(other.read_ahead())
