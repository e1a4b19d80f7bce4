# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Where the server keeps its export and its state: export/ and state/ below .top. A Disk that .forgets can lose
its power: cut() brings it back with what had been synced, and nothing else."""
import fcntl
import os
import shutil
import struct
import subprocess
import time

FS_IOC_SHUTDOWN = 0x8004587D
NOLOGFLUSH = 2


def run(*command):
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


class Disk:
    """A directory."""
    forgets = False

    def __init__(self, top):
        self.top = top
        os.makedirs(top, exist_ok=True)

    export = property(lambda self: os.path.join(self.top, "export"))
    state = property(lambda self: os.path.join(self.top, "state"))

    def prepare(self, uid):
        for d in (self.top, self.export, self.state):
            os.makedirs(d, exist_ok=True)
            os.chmod(d, 0o755)
            if os.geteuid() == 0:
                os.chown(d, uid, uid)
        for d in (self.export, self.state, self.top):
            fd = os.open(d, os.O_RDONLY)
            os.fsync(fd)
            os.close(fd)

    def remove(self):
        shutil.rmtree(self.top, ignore_errors=True)


class Ext4(Disk):
    """ext4 on a loop device in memory. Its shutdown, as of xfstests, is the loss of power: nothing more is written,
    and what was neither synced nor in the journal is gone. It commits by itself only after minutes."""
    forgets = True
    OPTIONS = "loop,commit=300,noauto_da_alloc"

    def __init__(self, top, megabytes=256):
        super().__init__(top)
        self.memory = top + ".memory"
        self.image = os.path.join(self.memory, "image")
        os.makedirs(self.memory, exist_ok=True)
        run("mount", "-t", "tmpfs", "-o", f"size={megabytes + 16}m", "tmpfs", self.memory)
        with open(self.image, "wb") as f:
            f.truncate(megabytes << 20)
        run("mkfs.ext4", "-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,nodiscard", self.image)
        self.mount()

    def mount(self):
        run("mount", "-t", "ext4", "-o", self.OPTIONS, self.image, self.top)

    def cut(self):
        fd = os.open(self.top, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, FS_IOC_SHUTDOWN, struct.pack("I", NOLOGFLUSH))
        finally:
            os.close(fd)
        self.unmount()
        self.mount()

    def unmount(self):
        for _ in range(100):
            if subprocess.run(["umount", self.top], stderr=subprocess.DEVNULL).returncode == 0:
                return
            time.sleep(0.1)
        run("umount", self.top)

    def remove(self):
        subprocess.run(["umount", "-l", self.top], stderr=subprocess.DEVNULL)
        subprocess.run(["umount", "-l", self.memory], stderr=subprocess.DEVNULL)
        super().remove()
        shutil.rmtree(self.memory, ignore_errors=True)

    @staticmethod
    def missing():
        """Why there can be none here, or None."""
        if os.geteuid() != 0:
            return "only root can make a block device of a file"
        if not os.path.exists("/dev/loop-control"):
            return "there are no loop devices here"
        if not shutil.which("mkfs.ext4"):
            return "mkfs.ext4 is not installed"
        return None


class Forgetful(Disk):
    """tests/tools/forgetfs: what was not synced itself is gone, whatever a journal would have taken along. It can also
    fail to sync."""
    forgets = True

    def __init__(self, top, program, megabytes=256):
        super().__init__(top)
        self.program = program
        run(program, top)
        self.say(f"size={megabytes << 20}")

    def say(self, command):
        run(self.program, self.top, command)

    def ask(self, command):
        return subprocess.run([self.program, self.top, command], check=True, capture_output=True, text=True).stdout

    def cut(self):
        self.say("cut")

    def fail_next_sync(self, error):
        self.say(f"fail={error}")

    def remove(self):
        for how in ("-u", "-uz"):
            if subprocess.run(["fusermount3", how, self.top], stderr=subprocess.DEVNULL).returncode == 0:
                break
        super().remove()
