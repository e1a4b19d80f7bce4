# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
delays: servers whose replies come late, and what an action costs in round trips.

Each reply is held back for the same time, whatever else is under way (rnfs-serve --fault delay=TIME:reply). So time tells
how many of the calls that a file costs waited for each other: a round trip takes at least the delay, and the whole
delays that fit into its time are counted, which is exact as long as all that the processors have to do for a file takes
less than one more; on a busy machine --trip-ms has to be longer. It is never more than the calls. How many calls there were, one after the other or side by
side, waited for or not, and of which operations, is the mount's own count.

These mounts have the kernel's own read-ahead, 128 KiB, which an ordinary user cannot change.
"""
import os
import sys

from cases import Case, Row, Wire

# --- rates ---------------------------------------------------------------------------------------


def late(name, milliseconds, target, what, shape, options=(), unit="B/s"):
    def measure(b, case):
        size = b.set.late_bytes

        def side(delay):
            leaf = f"late-{delay}.dat" if shape == "write" else "late.dat"
            source = b.make_data(leaf, size)
            stale = () if shape == "write" else ("-k", source)

            def once():
                return b.file(shape, os.path.join(b.late(delay).folder, leaf), "-s", str(size), *options, *stale,
                              seconds=b.set.late_seconds, limit=300)["rate"]
            once()  # what is mapped for the first time costs more
            return once
        return Row(case, **b.turns(value=side(milliseconds), bound=side(0)), turns=b.set.runs, of="no delay")
    Case(name, "", what, measure, unit, target)


for ms, least in ((1, 0.9), (10, 0.8)):
    late(f"late-{ms}ms-read", ms, least, f"sequential read, 1 MiB, cold, replies {ms} ms late", "read")
    late(f"late-{ms}ms-write", ms, least, f"sequential write, 1 MiB, with fsync, replies {ms} ms late", "write")
    late(f"late-{ms}ms-write-4k", ms, least, f"sequential write, 4 KiB, fsync at the end, replies {ms} ms late", "write", ("-b", "4K"), "/s")

# --- round trips ---------------------------------------------------------------------------------

FOLDERS, EACH = 4, 25  # of the tree


def make_files(folder, count):
    os.makedirs(folder, exist_ok=True)
    for i in range(count):
        with open(os.path.join(folder, f"f{i}"), "wb") as f:
            f.write(b"x" * (1 + i * 997 % 4096))


def make_tree(folder, _):
    os.mkdir(folder)
    for i in range(FOLDERS):
        make_files(os.path.join(folder, f"d{i}"), EACH)


def make_folder(folder, _):
    os.mkdir(folder)


def act(b, action, mount, name, count):
    """Seconds for each file."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "actions.py")
    out = b.rig.run([sys.executable, script, action, os.path.join(mount.folder, name), str(count)], 120 + count * b.set.trip_ms / 50)
    return [float(line) for line in out.split()]


def trips(name, most, what, action, make, before=(), count=20):
    """make(folder, count) readies the folder in the export; before: actions done through the mount and not counted."""
    name = "trips-" + name

    def measure(b, case):
        delay, pause = b.set.trip_ms / 1000, 0.1 + b.set.trip_ms / 250
        mount, seconds, wires = b.late(b.set.trip_ms), [], []
        for turn in range(b.set.trip_runs):
            folder = f"{name}.{turn}"
            make(os.path.join(b.export, folder), count)
            for earlier in before:
                act(b, earlier, mount, folder, count)
            if action != "absent":  # what is not there is not remembered for long
                mount.settled(pause)
            wires.append(Wire(mount))
            seconds += act(b, action, mount, folder, count)
            mount.settled(pause)
            wires[-1].end()
        n, all_calls = len(seconds), sum(w.found["calls"] for w in wires)
        waits = min(sum(int(s / delay) for s in seconds), all_calls)
        calls = {op: sum(w.found[op] for w in wires) / n for w in wires for op in w.found if op.isupper()}
        return Row(case, waits / n, calls=all_calls / n, turns=b.set.trip_runs,
                   note=f"{sum(seconds) / n / delay:.2f} delays; " + " ".join(f"{op} {c:.2f}" for op, c in calls.items() if c))
    Case(name, "", what, measure, "trips", most, least=False)


trips("tree", 1.1, "round trips for each small file of a tree, read for the first time", "tree", make_tree)
trips("tree-again", 1.0, "the same again, unchanged", "tree", make_tree, before=("tree",))
trips("create", 2.0, "round trips of create, write 5 bytes, close", "create", make_folder)
trips("create-excl", None, "the same with O_EXCL", "create-excl", make_folder)
trips("read", 1.1, "round trips of open, read, close", "read", make_files)
trips("unlink", 1.0, "round trips of unlink, after the file was made", "unlink", make_folder, before=("create",))
trips("absent", 0.0, "round trips for a name that is not there, again", "absent", make_folder, before=("absent",), count=10)
trips("stat", None, "round trips of the first stat of a file", "stat", make_files)
trips("rename", None, "round trips of rename", "rename", make_files)
trips("mkdir", None, "round trips of mkdir", "mkdir", make_folder)
trips("list", None, "round trips for each entry of a folder, listed with attributes", "list", make_files, count=100)
