# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
others: beside what users have instead: libnfs over TCP (--libnfs), a FUSE file system that passes all on to the exported folder
(--passthrough), and TCP on a link with small packets (--mtu).
"""
import os
import shutil
import time

from cases import Case, Row
from rig import Mount, Rnfs, Server, Trouble, until

# --- libnfs --------------------------------------------------------------------------------------


def libnfs(name, least, what, shape, options=(), nfs=(), unit="/s"):
    """The mount's rate and libnfs's, at one server."""
    data = shape in ("read", "write", "rand")

    def measure(b, case):
        program = b.rig.program("tests/bench/bench-libnfs")
        if not os.path.exists(program):
            raise Trouble("bench-libnfs was not built: libnfs-dev is missing")
        size = ("-s", b.set.size) if data else ("-n", str(b.set.files))
        source = b.make_data("libnfs.dat", b.set.bytes) if data else None
        stale = ("-k", source) if shape in ("read", "rand") else ()
        path = os.path.join(b.mount.folder, "libnfs.dat" if data else "")
        command = [program, "-P", str(b.server.port["tcp"]), "-t", str(b.set.seconds), *size, *nfs, shape, b.server.address,
                   "libnfs.dat" if data else "libnfs"]
        return Row(case, **b.turns(value=lambda: b.file(shape, path, *size, *options, *stale)["rate"],
                                   bound=lambda: b.result(command)["rate"]), turns=b.set.runs, of="libnfs")
    Case("libnfs-" + name, "libnfs", what, measure, unit, least)


SYNC, ASYNC = ("-S",), ("-q", "4")
libnfs("read", 3, "sequential read, 1 MiB, cold; libnfs's synchronous calls", "read", nfs=SYNC, unit="B/s")
libnfs("write", 3, "sequential write, 1 MiB, with fsync; libnfs's synchronous calls", "write", nfs=SYNC, unit="B/s")
libnfs("rand-d16", 10, "random read, 4 KiB, 16 at a time; libnfs's synchronous calls, one at a time", "rand", ("-b", "4K", "-d", "-q", "16"),
       ("-b", "4K", *SYNC))
libnfs("create", 5, "files created and closed; libnfs's synchronous calls", "create")
libnfs("unlink", 5, "files removed; libnfs's synchronous calls", "unlink")
libnfs("read-async", None, "sequential read, 1 MiB, cold; libnfs's asynchronous calls, 4 at a time", "read", nfs=ASYNC, unit="B/s")
libnfs("write-async", None, "sequential write, 1 MiB, with fsync; libnfs's asynchronous calls, 4 at a time", "write", nfs=ASYNC, unit="B/s")
libnfs("rand-async", None, "random read, 4 KiB, 16 at a time; libnfs's asynchronous calls, 16 at a time", "rand",
       ("-b", "4K", "-d", "-q", "16"), ("-b", "4K", "-q", "16"))

# --- a pass-through file system ------------------------------------------------------------------


class Pass(Mount):
    def __init__(self, rig, folder, shared):
        super().__init__(rig, "pass", [rig.program("tests/bench/passfs"), "-f", *(["-a"] if shared else []), folder, "MOUNTPOINT"])


class Pair:
    """rnfs and a pass-through file system on one export, for other users than root too."""

    def __init__(self, b):
        self.shared = os.geteuid() == 0
        options = ",".join(o for o in (b.set.options, "allow_other" if self.shared else "") if o)
        self.rnfs = Rnfs(b.rig, b.server, b.set.proto, options)
        self.passed = Pass(b.rig, b.export, self.shared)


def pair(b):
    if not hasattr(b, "pair"):
        b.pair = Pair(b)
    return b.pair


def as_user(words):
    """As somebody other than root, which some programs insist upon."""
    return ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words] if os.geteuid() == 0 else words


def passthrough(name, what, command, ready=None, needs=None, rate=None):
    """Seconds of command(b, folder), a list of words; ready is what is done before in that folder, untimed. rate, if given,
    finds a rate in what the program says instead."""
    def measure(b, case):
        program = needs or name
        if not shutil.which(program):
            raise Trouble(f"{program} is not installed")
        count = 0

        def side(mount):
            def once():
                nonlocal count
                count += 1
                folder = f"pass-{name}.{count}"
                os.mkdir(os.path.join(b.export, folder))
                os.chmod(os.path.join(b.export, folder), 0o777)
                path = os.path.join(mount.folder, folder)
                if ready:
                    b.rig.run(ready(b, path), 900)
                began = time.monotonic()
                said = b.rig.run(command(b, path), 900, env={"HOME": b.rig.folder})
                figure = rate(said) if rate else time.monotonic() - began
                shutil.rmtree(path)  # through the mount, which forgets the files then
                return figure
            return once
        p = pair(b)
        return Row(case, **b.turns(value=side(p.rnfs), bound=side(p.passed)), turns=b.set.runs, of="passfs")
    Case("pass-" + name, "passthrough", what, measure, "B/s" if rate else "s", 0.8)


def archive(b):
    path = os.path.join(b.rig.folder, "tree.tar")
    if not os.path.exists(path):
        b.rig.run(["tar", "cf", path, "-C", b.set.tree, "."], 300)
    return path


def repository(b):
    """A repository of the tree, in one pack."""
    path = os.path.join(b.rig.folder, "repository")
    if not os.path.exists(path):
        git = ["git", "-C", path, "-c", "user.name=bench", "-c", "user.email=bench@localhost"]
        b.rig.run(["cp", "-r", b.set.tree, path], 300)
        b.rig.run([*git, "init", "-q"], 60)
        b.rig.run([*git, "add", "-A"], 600)
        b.rig.run([*git, "commit", "-q", "-m", "tree"], 600)
        b.rig.run([*git, "gc", "-q"], 600)
    return path


def untar(b, path):
    return ["tar", "xf", archive(b), "--no-same-owner", "-C", path]


def throughput(said):
    return float(said.rsplit("Throughput", 1)[1].split()[0]) * 1e6


passthrough("untar", "tar x of a tree of files (--tree)", untar, needs="tar")
passthrough("tar", "tar c of it", lambda b, path: ["sh", "-c", f"tar cf - -C {path} . | cat > /dev/null"], untar, needs="tar")
passthrough("rm", "rm -r of it", lambda b, path: ["sh", "-c", f"rm -r {path}/*"], untar)
passthrough("rsync", "rsync -a of the tree", lambda b, path: ["rsync", "-a", b.set.tree + "/", path])
passthrough("clone", "git clone of a repository with the tree",
            lambda b, path: ["git", "clone", "-q", "file://" + repository(b), path + "/clone"], needs="git")
passthrough("initdb", "PostgreSQL's initdb", lambda b, path: as_user(["initdb", "-A", "trust", "-D", path + "/db"]))
passthrough("dbench", "dbench with 4 clients",
            lambda b, path: ["dbench", "-t", str(max(10, int(b.set.seconds))), "-D", path, "4"], rate=throughput)

# --- a link with small packets -------------------------------------------------------------------


class Link:
    """Two network namespaces with a pair of virtual Ethernet devices between them; within: words before a command."""

    ADDRESS = "192.0.2.%d"

    def __init__(self, rig, mtu):
        if os.geteuid() != 0:
            raise Trouble("network namespaces take root")
        self.within = []
        pids = []
        for _ in range(2):
            process = rig.start(["unshare", "--net", "sleep", "infinity"], os.devnull)
            space = f"/proc/{process.pid}/ns/net"
            until(lambda space=space: os.readlink(space) != os.readlink("/proc/self/ns/net"), 10, "a network namespace")
            pids.append(process.pid)
            self.within.append(("nsenter", f"--net={space}"))
        rig.run([*self.within[0], "ip", "link", "add", "end1", "type", "veth", "peer", "name", "end2", "netns", str(pids[1])])
        for i, within in enumerate(self.within, 1):
            rig.run([*within, "ip", "address", "add", self.ADDRESS % i + "/24", "dev", f"end{i}"])
            rig.run([*within, "ip", "link", "set", f"end{i}", "mtu", str(mtu), "up"])


def link(b, name):
    """The mount of that name over the link, one of iwarp, crc (iwarp with CRCs) and tcp."""
    if not hasattr(b, "linked"):
        b.ends = Link(b.rig, b.set.mtu or 1500)
        b.link_server = Server(b.rig, b.export, ("iwarp", "tcp"), address=Link.ADDRESS % 1, within=b.ends.within[0])
        b.linked = {}
    if name not in b.linked:
        options = ",".join(o for o in (b.set.options, "mpa_crc" if name == "crc" else "") if o)
        b.linked[name] = Rnfs(b.rig, b.link_server, "tcp" if name == "tcp" else "iwarp", options, b.ends.within[1])
    return b.linked[name]


def mtu(name, what, shape, options=(), unit="/s", ours="iwarp"):
    data = shape in ("read", "write", "rand")

    def measure(b, case):
        size = ("-s", b.set.size) if data else ("-n", str(b.set.files))
        source = b.make_data("link.dat", b.set.bytes)
        stale = ("-k", source) if shape in ("read", "rand") else ()

        def side(which):
            path = os.path.join(link(b, which).folder, "link.dat" if data else "")
            return lambda: b.file(shape, path, *size, *options, *stale)["rate"]
        return Row(case, **b.turns(value=side(ours), bound=side("tcp")), turns=b.set.runs, of="tcp", note=f"MTU {b.set.mtu or 1500}")
    Case("mtu-" + name, "mtu", f"{what}; iwarp against tcp on a link of that MTU", measure, unit, 0.9 if ours == "iwarp" else None)


mtu("read", "sequential read, 1 MiB, cold", "read", unit="B/s")
mtu("write", "sequential write, 1 MiB, with fsync", "write", unit="B/s")
mtu("rand-d1", "random read, 4 KiB, 1 at a time", "rand", ("-b", "4K", "-d"))
mtu("rand-d16", "random read, 4 KiB, 16 at a time", "rand", ("-b", "4K", "-d", "-q", "16"))
mtu("create", "files created and closed", "create")
mtu("read-crc", "sequential read, 1 MiB, cold, with CRCs", "read", unit="B/s", ours="crc")
mtu("write-crc", "sequential write, 1 MiB, with fsync, with CRCs", "write", unit="B/s", ours="crc")
