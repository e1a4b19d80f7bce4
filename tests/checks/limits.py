# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
limits: what an ordinary user of a common system has.

tests/tools/limited sets the limits of processes. Here a control group of 128 MiB is made for each job. Only
daemons enter it (RNFS_GROUP, in tests/e2e/lib.sh and tests/bench/rig.py): the limit is to be the daemon's, not
the compiler's or the server's. tests/e2e/limits shows that a job has all of this.
"""
import os
import time

USER = 65534  # nobody
GROUP = 128 << 20
SANITIZED = 8  # times that: a sanitizer keeps several bytes for each of the program's


def write(text, *path):
    """To a file of a control group. In another file system there is none, and none is made."""
    fd = os.open(os.path.join(*path), os.O_WRONLY)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def read(*path):
    with open(os.path.join(*path), encoding="ascii") as f:
        return f.read()


def mounted(kind, controller=None):
    """Where control groups are mounted: of version 1 ("cgroup") with that controller, or of version 2 ("cgroup2")."""
    for line in read("/proc/self/mountinfo").splitlines():
        place, system = (part.split() for part in line.split(" - "))
        if system[0] == kind and (not controller or controller in system[2].split(",")):
            return place[4]
    raise OSError(f"no {controller or ''} {kind} is mounted")


def own_group(top, controller=None):
    """The folder below top of this process's group. A container may see its group as top, but its path as the machine has it."""
    for line in read("/proc/self/cgroup").splitlines():
        _, names, path = line.split(":", 2)
        if (controller or "") in names.split(","):
            folder = os.path.join(top, path.strip("/"))
            return folder if os.path.isdir(folder) else top
    raise OSError(f"this process has no group in {top}")


class Limits:
    """Those of one job."""

    def __init__(self, number, sanitized=False):
        self.most = GROUP * (SANITIZED if sanitized else 1)
        self.name = f"rnfs-check.{os.getpid()}.{number}"
        self.made = []  # folders, the first made first
        self.daemon = self.others = None  # groups: that of daemons, that in which the job begins
        self.wrong = None  # why there is no group
        for make in (self._version_1, self._version_2):
            try:
                make()
                self.wrong = None
                return
            except OSError as wrong:
                self.end()
                self.daemon = self.others = None
                self.wrong = wrong

    def _mkdir(self, *path):
        folder = os.path.join(*path)
        os.mkdir(folder)
        self.made.append(folder)
        return folder

    def _version_1(self):
        daemon = self._mkdir(own_group(mounted("cgroup", "memory"), "memory"), self.name)
        write(str(self.most), daemon, "memory.limit_in_bytes")
        os.chown(os.path.join(daemon, "cgroup.procs"), USER, -1)
        self.daemon = daemon

    def _version_2(self):
        """A process may go from one group to another if its user may write to the one above both. A group with processes can
        give its groups no controller, but for the first of all: so ours is made where groups have that of memory already."""
        first = mounted("cgroup2")
        base = own_group(first)
        while base != first and "memory" not in read(base, "cgroup.subtree_control").split():
            base = os.path.dirname(base)
        if "memory" not in read(base, "cgroup.subtree_control").split():
            write("+memory", base, "cgroup.subtree_control")
        top = self._mkdir(base, self.name)
        write("+memory", top, "cgroup.subtree_control")
        daemon, others = self._mkdir(top, "daemon"), self._mkdir(top, "others")
        write(str(self.most), daemon, "memory.max")
        for folder in self.made:
            os.chown(os.path.join(folder, "cgroup.procs"), USER, -1)
        self.daemon, self.others = daemon, others

    def command(self, command, env):
        """The command that runs `command` by the user within the limits; env is its environment."""
        if self.daemon:
            env["RNFS_GROUP"] = self.daemon
        return ["tests/tools/limited", self.others or "", *command]

    def end(self):
        """Removes the groups. A daemon that is still ending has a moment."""
        for folder in reversed(self.made):
            for _ in range(50):
                try:
                    os.rmdir(folder)
                    break
                except OSError:
                    time.sleep(0.1)
        self.made = []
