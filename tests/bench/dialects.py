# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
dialects: versions of RPC-over-RDMA side by side with version 1, by operations of nfsproto without FUSE, near and far.

Far is a relay that holds back all that passes for half of a time each way (tests/bench/relay). Latency is that of one
operation at a time, throughput that of 16. What an operation takes on the wire is read by rnfs-wire in what the relay
has captured, as the difference of a run of one operation and of one of many: what a connection costs is not in it.
"""
import os
import re

from cases import MIB, Case, Row
from rig import Relay, Server

OTHERS = {"2": 0.98, "2-2016": None, "2-rtr": None, "1-legacy": None}
SIZES = {"512": 512, "4k": 4096, "64k": 65536, "1m": MIB}
DELAYS = (0, 0.1, 1, 10)  # ms
DEPTHS = {"latency": 1, "throughput": 16}
FILE = 64 * MIB
SPARSE = 1024 * MIB  # whose end no run reaches: a pass begins and ends with operations of its own


def server(b, version):
    """That speaks the one version; each lives until the end of the run."""
    known = b.__dict__.setdefault("dialect_servers", {})
    if version not in known:
        known[version] = Server(b.rig, b.export, versions=version)
    return known[version]


def port(b, version, delay):
    ways = b.__dict__.setdefault("dialect_ways", {})
    if delay and (version, delay) not in ways:
        ways[version, delay] = Relay(b.rig, server(b, version).port["iwarp"], delay)
    return ways[version, delay].port if delay else server(b, version).port["iwarp"]


def bench(b, version, at, shape, size, depth, options, file=FILE):
    name = f"dialect-{file}.dat"
    b.make_data(name, file, holes=file == SPARSE)
    command = [b.rig.program("tests/bench/bench-nfs"), "-p", "iwarp", "-P", str(at), "-r", version, "-b", str(size), "-q", str(depth),
               "-s", str(file), *options, shape, "127.0.0.1", name if shape == "read" else f"dialect-{version}.dat"]
    return b.result(command)


def speed(version, shape, name, kind, delay):
    def measure(b, case):
        seconds = ("-t", str(max(b.set.seconds / 2, delay * 0.05)))

        def side(which):
            return lambda: bench(b, which, port(b, which, delay), shape, SIZES[name], DEPTHS[kind], seconds)["rate"]
        return Row(case, **b.turns(value=side(version), bound=side("1")), turns=b.set.runs, of="version 1")
    far = f", {delay:g} ms away" if delay else ""
    Case(f"dialect-{version}-{shape}-{name}-{delay:g}ms-{kind}", "dialects", f"{kind} of {shape.upper()}, {name}, version {version}{far}",
         measure, "B/s" if SIZES[name] >= 65536 else "/s", OTHERS[version])


SUMMARY = re.compile(r"> \S+ (\d+) Sends, (\d+) RDMA Writes of \d+ bytes, (\d+) RDMA Reads")


def on_the_wire(version, shape, name):
    """Sends of both ends, RDMA Writes and Reads for an operation."""
    def counted(b, seconds):
        capture = b.rig.path("capture")
        relay = Relay(b.rig, server(b, version).port["iwarp"], 0, capture)
        ops = bench(b, version, relay.port, shape, SIZES[name], 1, ("-t", str(seconds)), SPARSE)["ops"]
        relay.end()
        text = b.rig.run([b.rig.program("contrib/rnfs-wire/rnfs-wire"), "--brief", "--dialect", version.removesuffix("-rtr"), capture], 120)
        os.unlink(capture)
        return [sum(int(found) for found in column) for column in zip(*SUMMARY.findall(text))] + [ops]

    def measure(b, case):
        one, many = counted(b, 1e-6), counted(b, 0.1)
        ops = many[3] - one[3]
        sends, writes, reads = [(m - o) / ops if ops else 0 for m, o in zip(many[:3], one[:3])]
        return Row(case, sends, turns=1, note=f"{writes:.2f} RDMA Writes, {reads:.2f} RDMA Reads, of {ops:.0f} operations")
    Case(f"dialect-{version}-{shape}-{name}-wire", "dialects", f"messages of both ends for a {shape.upper()}, {name}, version {version}",
         measure, "trips", None, least=False)


for shape in ("read", "write"):
    for name in SIZES:
        for version in ("1", *OTHERS):
            on_the_wire(version, shape, name)
        for delay in DELAYS:
            for kind in DEPTHS:
                for version in OTHERS:
                    speed(version, shape, name, kind, delay)
