# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
clients: beside the programs that users have instead, each as it comes: sshfs on the same folder (--sshfs), and fuse-nfs at the same server
(--fuse-nfs). An sshd of this run's own serves the folder on loopback, so the figures of sshfs have the cost of encryption in them, as its users
have. Debian has no fuse-nfs; it is measured if it is in PATH.
"""
import getpass
import os
import shutil
import socket
import subprocess

from cases import Case, Row
from rig import Mount, Trouble


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Sshfs(Mount):
    """sshfs, with its usual options, on a folder that an sshd shows."""

    def __init__(self, rig, folder, server):
        for program in ("sshfs", "/usr/sbin/sshd", "ssh-keygen"):
            if not shutil.which(program):
                raise Trouble(f"{program} is not installed")
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)  # sshd insists
        keys = rig.new_folder("keys")
        os.chmod(keys, 0o700)
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", f"{keys}/{name}"], check=True)
        port = free_port()
        rig.start(["/usr/sbin/sshd", "-D", "-e", "-f", "/dev/null", "-p", str(port), "-h", f"{keys}/host",
                   "-o", "ListenAddress=127.0.0.1", "-o", f"AuthorizedKeysFile={keys}/user.pub", "-o", "StrictModes=no",
                   "-o", "PermitRootLogin=yes", "-o", "PidFile=none", "-o", "Subsystem=sftp internal-sftp"], rig.path("sshd"))
        super().__init__(rig, "sshfs", [
            "sshfs", "-f", "-p", str(port), "-o", f"IdentityFile={keys}/user,StrictHostKeyChecking=no,UserKnownHostsFile=/dev/null",
            "-o", "ConnectionAttempts=10", f"{getpass.getuser()}@127.0.0.1:{folder}", "MOUNTPOINT"])


class FuseNfs(Mount):
    """fuse-nfs, over NFSv3 and TCP; it goes into the background."""

    def __init__(self, rig, folder, server):
        if not shutil.which("fuse-nfs"):
            raise Trouble("fuse-nfs is not installed")
        port = server.port["tcp"]
        super().__init__(rig, "fuse-nfs", ["fuse-nfs", "-n", f"nfs://{server.address}/?version=3&nfsport={port}&mountport={port}", "-m", "MOUNTPOINT"])

    def goes_on(self):
        return self.process.poll() in (None, 0)


def beside(client, group):
    """The same five cases for each client."""
    def case(name, what, shape, options=(), unit="/s"):
        data = shape in ("read", "write", "rand")

        def measure(b, case):
            size = ("-s", b.set.size) if data else ("-n", str(b.set.files))
            source = b.make_data("clients.dat", b.set.bytes) if data else None
            stale = ("-k", source) if shape in ("read", "rand") else ()

            def side(mount):
                path = os.path.join(mount.folder, "clients.dat" if data else "")
                return lambda: b.file(shape, path, *size, *options, *stale)["rate"]
            return Row(case, **b.turns(value=side(b.mount), bound=side(b.client(client))), turns=b.set.runs, of=group)
        Case(f"{group}-{name}", group, f"{what}; beside {group}", measure, unit)

    case("read", "sequential read, 1 MiB, cold", "read", unit="B/s")
    case("write", "sequential write, 1 MiB, with fsync", "write", unit="B/s")
    case("rand-d16", "random read, 4 KiB, 16 at a time", "rand", ("-b", "4K", "-d", "-q", "16"))
    case("create", "files created and closed", "create")
    case("unlink", "files removed", "unlink")


beside(Sshfs, "sshfs")
beside(FuseNfs, "fuse-nfs")
