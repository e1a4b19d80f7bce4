# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
scaling: more jobs (--jobs), larger files and folders (--scale), and a daemon that has just been started (--cold).
"""
import os
import shutil
import time

from cases import Case, Row
from rig import Null, Rnfs
from table import short

# --- jobs ----------------------------------------------------------------------------------------


def jobs(name, what, shape, options=(), unit="/s"):
    """The rate of 16 jobs over that of 4. Noted: the rate of 1, and what 16 over 4 is on the file system that does nothing."""
    data = shape in ("read", "write", "rand")
    leaf = "jobs.dat" if data else ""

    def measure(b, case):
        size = ("-s", b.set.size) if data else ("-n", str(b.set.files))
        source = b.make_data("jobs.dat", b.set.bytes) if data else None
        stale = ("-k", source) if shape in ("read", "rand") else ()

        def side(n, mount, *more):
            return lambda: b.file(shape, os.path.join(mount.folder, leaf), "-j", str(n), *size, *options, *more)["rate"]
        found = b.turns(one=side(1, b.mount, *stale), bound=side(4, b.mount, *stale), value=side(16, b.mount, *stale),
                        null=side(16, b.null), null_four=side(4, b.null))
        one, null_four = found.pop("one"), found.pop("null_four")
        return Row(case, **found, of="4 jobs", turns=b.set.runs,
                   note=f"1 job: {short(one, unit)}; N, 16 to 4: {found['null'] / null_four:.2f}")
    Case("jobs-" + name, "jobs", f"{what}; 16 jobs against 4", measure, unit, 1.0)


jobs("read", "sequential read, 1 MiB, cold, each its part of the file", "read", unit="B/s")
jobs("write", "sequential write, 1 MiB, with fsync, each its part of the file", "write", unit="B/s")
jobs("rand", "random read, 4 KiB, O_DIRECT, each its part of the file", "rand", ("-b", "4K", "-d"))
jobs("create", "files created and closed in one folder", "create")
jobs("unlink", "files removed from one folder", "unlink")

# --- size ----------------------------------------------------------------------------------------


def folder_rate(b, count, action):
    """Files a second: of all that is in a folder of count files, listed with attributes, or of count that are made."""
    name = f"folder-{action}.{count}"
    path = os.path.join(b.export, name)
    os.mkdir(path)
    try:
        if action == "list":
            for i in range(count):
                os.close(os.open(os.path.join(path, f"f{i}"), os.O_CREAT | os.O_WRONLY, 0o644))
            began = time.monotonic()
            b.rig.run(["ls", "-lU", os.path.join(b.mount.folder, name)], 900)
            return count / (time.monotonic() - began)
        return b.file("create", os.path.join(b.mount.folder, name), "-n", str(count), seconds=600, limit=900)["rate"]
    finally:
        shutil.rmtree(path)


def folders(name, what, action):
    def measure(b, case):
        found = b.turns(value=lambda: folder_rate(b, b.set.scale_files, action), bound=lambda: folder_rate(b, b.set.scale_files // 100, action))
        return Row(case, **found, turns=b.set.runs, of=f"{b.set.scale_files // 100}")
    Case("scale-" + name, "scale", what, measure, "/s", 0.8)


def large(name, what, shape):
    """The rate over a file of 8 times the size."""
    def measure(b, case):
        def side(size):
            path = f"large.{size}"
            b.make_data(path, size, holes=shape == "write")
            return lambda: b.file(shape, os.path.join(b.mount.folder, path), "-s", str(size), "-1", limit=600)["rate"]
        row = Row(case, **b.turns(value=side(8 * b.set.scale_bytes), bound=side(b.set.scale_bytes)), turns=b.set.runs, of="an eighth")
        for size in (b.set.scale_bytes, 8 * b.set.scale_bytes):
            os.unlink(os.path.join(b.export, f"large.{size}"))
        return row
    Case("scale-" + name, "scale", what, measure, "B/s", 0.9)


folders("list", "entries listed with attributes in a folder of 100 times the files", "list")
folders("create", "files created in a folder, until it has 100 times the files", "create")
large("read", "sequential read of a file of 8 times the size", "read")
large("write", "sequential write, with fsync, of a file of 8 times the size", "write")

# --- the beginning -------------------------------------------------------------------------------


def cold(name, what, least, figure, unit):
    """figure(b, mount): called with a function that makes a new mount, once for each turn and side."""
    def measure(b, case):
        b.make_data("cold.dat", b.set.bytes)

        def side(make):
            return lambda: figure(b, make)
        found = b.turns(lambda turn: turn["null"], value=side(lambda: Rnfs(b.rig, b.server, b.set.proto, b.set.options)),
                        null=side(lambda: Null(b.rig, None, b.null_options())))
        return Row(case, **found, of="N", turns=b.set.runs)
    Case("cold-" + name, "cold", what, measure, unit, least)


def mount_time(b, make):
    began = time.monotonic()
    mount = make()
    seconds = time.monotonic() - began
    mount.end()
    return seconds


def first_read(b, make):
    mount = make()
    if isinstance(mount, Null):
        mount.read_ahead(b.mount.read_ahead())
    rate = b.file("read", os.path.join(mount.folder, "cold.dat"), "-s", b.set.size, "-1")["rate"]
    mount.end()
    return rate


cold("mount", "from the command to a mount that answers", None, mount_time, "s")
cold("read", "the first file that a new daemon reads", None, first_read, "B/s")
