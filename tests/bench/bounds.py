# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
bounds: rates without delay, beside what FUSE and what NFS alone allow.

N is the file system that does nothing, T the same operations by nfsproto without FUSE; all share the processors, so
that H = 1 / (1 / N + 1 / T) bounds a mount that remembers nothing. What is answered from the daemon's cache, and
what is gathered before it is sent, is compared with N.

Cold: before each pass over the file it is changed at the server, so that no cache's contents are good. That it
worked is seen by the column wire: 1 where all data was fetched, 0 where none was.
"""
import os

from cases import Case, Row, Wire, both


def bound(name, target, what, shape, file=(), nfs=None, cold=False, warm=False, unit="/s"):
    """nfs: options of bench-nfs; without them N alone is the bound. cold, warm: the data, when the pass begins."""
    data = shape in ("read", "write", "rand")

    def measure(b, case):
        size = ("-s", b.set.size) if data else ("-n", str(b.set.files))
        name = ("written.dat" if shape == "write" else "bench.dat") if data else ""
        if data:
            b.file("read", os.path.join(b.mount.folder, name), *size, "-1")  # makes the file, and fills the cache
        moved = []

        def mount(seconds=None):
            if warm:
                b.file("read", os.path.join(b.mount.folder, name), *size, "-1")
            wire = Wire(b.mount)
            stale = ("-k", os.path.join(b.export, name)) if cold else ()
            result = b.file(shape, os.path.join(b.mount.folder, name), *size, *file, *stale, seconds=seconds)
            if data:
                moved.append(wire.end().moved() / max(result["bytes"], 1))
            return result["rate"]

        sides = {"value": mount, "null": lambda: b.file(shape, os.path.join(b.null.folder, name), *size, *file)["rate"]}
        if nfs is not None:
            sides["nfs"] = lambda: b.nfs(shape, *size, *nfs)["rate"]
        b.profile(case.name, mount)
        moved.clear()
        row = Row(case, **b.turns(lambda found: both(found["null"], found.get("nfs")), **sides), turns=b.set.runs,
                  of="H" if nfs is not None else "N")
        row.wire = sorted(moved)[len(moved) // 2] if moved else None
        return row
    Case(name, "", what, measure, unit, target)


bound("read", 0.9, "sequential read, 1 MiB, buffered, cold", "read", nfs=("-q", "4"), cold=True, unit="B/s")
bound("read-direct", 0.9, "sequential read, 1 MiB, O_DIRECT, 4 at a time, cold", "read", ("-d", "-q", "4"), ("-q", "4"), cold=True, unit="B/s")
bound("write", 0.85, "sequential write, 1 MiB, fsync after each pass", "write", nfs=("-q", "4"), unit="B/s")
bound("rand-d1", 0.9, "random read, 4 KiB, O_DIRECT, 1 at a time", "rand", ("-b", "4K", "-d"), ("-b", "4K"))
bound("rand-d16", 0.8, "random read, 4 KiB, O_DIRECT, 16 at a time", "rand", ("-b", "4K", "-d", "-q", "16"), ("-b", "4K", "-q", "16"))
bound("write-4k", 0.8, "sequential write, 4 KiB, fsync after each pass", "write", ("-b", "4K"))
bound("hit-d1", 0.95, "random read, 4 KiB, in the daemon's cache, 1 at a time", "rand", ("-b", "4K"), warm=True)
bound("hit-d16", 0.95, "random read, 4 KiB, in the daemon's cache, 16 threads", "rand", ("-b", "4K", "-j", "16"), warm=True)
bound("hit-1m", 0.95, "sequential read, 1 MiB, in the daemon's cache", "read", warm=True, unit="B/s")
bound("create", 0.6, "files created and closed", "create", nfs=())
bound("unlink", 0.6, "files removed", "unlink", nfs=())


def copied(name, most, what, shape, counters, of, options=()):
    def measure(b, case):
        path = os.path.join(b.mount.folder, "written.dat" if shape == "write" else "bench.dat")
        b.file("read", path, "-s", b.set.size, "-1")
        wire = Wire(b.mount)
        stale = () if shape == "write" else ("-k", os.path.join(b.export, "bench.dat"))
        b.file(shape, path, "-s", b.set.size, *options, *stale)
        wire.end()
        return Row(case, wire.sum(*counters) / max(wire.sum(of), 1), turns=1)
    Case(name, "", what, measure, "copies", most, least=False)


copied("copied-read", 0, "bytes copied by the daemon for each byte read", "read", ("copied",), "read")
copied("copied-write", 1, "bytes copied by the daemon for each byte written, 1 MiB", "write", ("small", "pulled_up"), "written")
copied("copied-write-4k", 1, "bytes copied by the daemon for each byte written, 4 KiB", "write", ("small", "pulled_up"), "written",
       ("-b", "4K"))
