# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""The Linux kernel's server in the virtual machine of tests/vm, which is booted once and used by one round after the other.
Its disk is seen by a copy, which is made whenever it is to be judged."""
import os
import shutil
import signal
import subprocess

from .disk import FS_IOC_SHUTDOWN, NOLOGFLUSH, Disk
from .processes import Server

VM = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "vm")
EXPORT = "/srv/export"
START = "rpc.nfsd --rdma=20049 8"
SHUTDOWN = f"import fcntl, os, struct; fcntl.ioctl(os.open('{EXPORT}', 0), {FS_IOC_SHUTDOWN}, struct.pack('I', {NOLOGFLUSH}))"


def guest(command, **more):
    return subprocess.run([os.path.join(VM, "guest"), command], check=True, stdin=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, **more)


def place(variable):
    """What tests/vm/paths.sh or the guest's list of ports calls so."""
    script = f"source {VM}/paths.sh; [ ! -e $OUT/ports ] || source $OUT/ports; PID=$(guest_pid); echo ${variable}"
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True).stdout.strip()


def boot():
    subprocess.run([os.path.join(VM, "boot")], check=True, stdin=subprocess.DEVNULL)


def halt():
    subprocess.run([os.path.join(VM, "stop")], stdin=subprocess.DEVNULL)


class GuestDisk(Disk):
    forgets = True

    def prepare(self, _uid):
        os.makedirs(self.export, exist_ok=True)
        guest(f"rpc.nfsd 0; rm -rf {EXPORT}/*; sync", stdout=subprocess.DEVNULL)

    def cut(self):
        """The server has been stopped."""
        guest(f'exportfs -f; python3 -c "{SHUTDOWN}"; umount {EXPORT} && mount /dev/vda {EXPORT}', stdout=subprocess.DEVNULL)
        shutil.rmtree(self.export)
        os.makedirs(self.export)
        tar = guest(f"tar -C {EXPORT} -S -cf - .", stdout=subprocess.PIPE).stdout
        subprocess.run(["tar", "-C", self.export, "-xf", "-"], input=tar, check=True)


class Knfsd(Server):
    def __init__(self, rig):
        super().__init__(rig)
        self.up = False

    pid = property(lambda self: int(place("PID")))
    alive = property(lambda self: self.up)

    def start(self):
        lease = self.rig.LEASE
        self.port = int(place("TCP_PORT" if self.rig.proto == "tcp" else "IWARP_PORT"))
        guest(f"cd /proc/fs/nfsd; echo {lease} > nfsv4leasetime; echo {lease} > nfsv4gracetime; {START}", stdout=subprocess.DEVNULL)
        self.up = True

    def send(self, sig):
        """The whole guest stands still, or goes on."""
        os.kill(self.pid, sig)

    def kill(self, seconds=10):
        if self.up:
            self.send(signal.SIGCONT)
            guest("rpc.nfsd 0", stdout=subprocess.DEVNULL, timeout=60)
        self.up = False

    stop = kill

    def inspect(self):
        return True
