# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
limits: what an ordinary user of a common system has.

tests/tools/limited sets the limits of processes. Here a control group of 128 MiB is made for each job. Only
daemons enter it (tests/e2e/lib.sh, RNFS_GROUP): the limit is to be the daemon's, not the compiler's or the
server's.
"""
import os
import time

USER = 65534  # nobody
GROUP = 128 << 20
ROOT = "/sys/fs/cgroup"


def write(text, *path):
    with open(os.path.join(*path), "w", encoding="ascii") as f:
        f.write(text)


def own_group(controller):
    """The path of this process's group: of version 1 with that controller, or of version 2 (None)."""
    with open("/proc/self/cgroup", encoding="ascii") as f:
        for line in f:
            _, names, path = line.rstrip("\n").split(":", 2)
            if names == (controller or "") or (controller and controller in names.split(",")):
                return path.strip("/")
    return None


class Limits:
    """Those of one job."""

    def __init__(self, number):
        self.name = f"rnfs-check.{os.getpid()}.{number}"
        self.made = []  # folders, the first made first
        self.daemon = self.others = None  # groups: that of daemons, that in which the job begins
        self.wrong = None  # why there is no group
        for make in (self._version_1, self._version_2):
            try:
                make()
                return
            except (OSError, TypeError) as wrong:
                self.end()
                self.daemon = self.others = None
                self.wrong = wrong

    def _mkdir(self, *path):
        folder = os.path.join(*path)
        os.mkdir(folder)
        self.made.append(folder)
        return folder

    def _version_1(self):
        daemon = self._mkdir(ROOT, "memory", own_group("memory"), self.name)
        write(str(GROUP), daemon, "memory.limit_in_bytes")
        os.chown(os.path.join(daemon, "cgroup.procs"), USER, -1)
        self.daemon = daemon

    def _version_2(self):
        """A process may go from one group to another if its user may write to the one above both."""
        base = os.path.join(ROOT, own_group(None))
        top = self._mkdir(base, self.name)
        if not os.path.exists(os.path.join(top, "memory.max")):
            write("+memory", base, "cgroup.subtree_control")
        write("+memory", top, "cgroup.subtree_control")
        daemon, others = self._mkdir(top, "daemon"), self._mkdir(top, "others")
        write(str(GROUP), daemon, "memory.max")
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
