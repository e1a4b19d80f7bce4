# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Compares what the writers were promised with what the server's disk holds.

It is asked twice: after each loss of power, before the server starts again, and at the end. It goes by the
journals alone; a promise whose line is missing was not made. What a call that failed has done is in doubt
and may be there or not."""
import os
import re
import stat
from collections import Counter, namedtuple

from . import pattern
from .writers import RECORD

Violation = namedtuple("Violation", "kind amount text")


class Claims:
    """Of one writer, about one file: which generation each block must have at least."""

    def __init__(self):
        self.issued = {}   # generation: (first block, count, time)
        self.good = {}     # the same, not yet acknowledged, nor told to be in doubt
        self.acked = {}    # block: (generation, time of writing, of the promise, how)

    def write(self, when, first, count, generation):
        self.issued[generation] = self.good[generation] = (first, count, when)

    def bad(self, generation):
        self.good.pop(generation, None)

    def promise(self, when, generation, how):
        first, count, wrote = self.good.pop(generation)
        for block in range(first, first + count):
            if self.acked.get(block, (0,))[0] < generation:
                self.acked[block] = (generation, wrote, when, how)

    def sync(self, when, generation, how):
        for g in sorted(g for g in self.good if g <= generation):
            self.promise(when, g, how)

    def only(self, when, generation, how):
        if generation in self.good:
            self.promise(when, generation, how)

    def told(self, generation):
        for g in [g for g in self.good if g <= generation]:
            del self.good[g]


def lost_blocks(number, lines, disk, cuts):
    """Violations of one writer's files. cuts: when the power was lost: data of before that, promised only
    afterwards, was lost without a word."""
    files = {}
    for when, what, *v in lines:
        claims = files.setdefault(v[0], Claims()) if what in ("write", "bad", "sync", "only", "told") else None
        if what == "write":
            claims.write(when, *v[1:])
        elif what == "bad":
            claims.bad(v[1])
        elif what == "sync":
            claims.sync(when, *v[1:])
        elif what == "only":
            claims.only(when, *v[1:])
        elif what == "told":
            claims.told(v[1])
        elif what == "stale":
            yield Violation("lost", pattern.BLOCK, f"writer {number}: {v[0]} block {v[1]} was read as {v[2]}, "
                            f"acknowledged was {v[3]}")
    for name, claims in files.items():
        yield from compare_blocks(number, name, claims, disk, cuts)


def compare_blocks(number, name, claims, disk, cuts):
    last = max(claims.issued, default=0)
    try:
        fd = os.open(os.path.join(disk, name), os.O_RDONLY)
    except FileNotFoundError:
        if claims.acked:
            yield Violation("lost", len(claims.acked) * pattern.BLOCK, f"writer {number}: {name} is gone")
        return
    with os.fdopen(fd, "rb") as f:
        written = {b for first, count, _ in claims.issued.values() for b in range(first, first + count)}
        for block in sorted(written):
            f.seek(block * pattern.BLOCK)
            data = f.read(pattern.BLOCK).ljust(pattern.BLOCK, b"\0")
            found = pattern.generations(data, number, name, block)
            wanted, wrote, promised, how = claims.acked.get(block, (0, 0, 0, "nothing"))
            if any(g is None or g > last for g in found):
                yield Violation("foreign", pattern.BLOCK, f"writer {number}: {name} block {block} holds bytes "
                                "that nobody wrote there")
            elif min(found) < wanted:
                unsaid = any(wrote < cut < promised for cut in cuts)
                yield Violation("unsaid" if unsaid else "lost", pattern.BLOCK,
                                f"writer {number}: {name} block {block} is of generation {sorted(found)}; "
                                f"{wanted} was acknowledged by {how}")


def lost_names(number, lines, disk):
    """Each change of a directory is promised by its return: the server's exports are sync."""
    known, gone, doubtful, doing = {}, set(), set(), None
    for _, what, *v in lines:
        if what == "do":
            doing = v
            doubtful.update(n for n in v[1:] if isinstance(n, str))
        elif what == "did" and doing:
            operation, name, other = doing
            doing = None
            if v[0] == 0:
                apply_change(operation, name, other, known, gone)
                doubtful.difference_update(n for n in (name, other) if isinstance(n, str))
    for name, wanted in known.items():
        if name in doubtful:
            continue
        found = describe(os.path.join(disk, name))
        if found is None or any(found[k] != v for k, v in wanted.items()):
            yield Violation("lost", 1, f"writer {number}: {name} is {found}, not {wanted}")
    for name in gone - doubtful - set(known):
        if describe(os.path.join(disk, name)):
            yield Violation("lost", 1, f"writer {number}: {name} was removed or renamed, and is there again")


def apply_change(operation, name, other, known, gone):
    if operation in ("mkdir", "create"):
        known[name] = {"kind": "directory" if operation == "mkdir" else "file"}
    elif operation == "symlink":
        known[name] = {"kind": "symlink", "target": "to/" + os.path.basename(name)}
    elif operation == "link":
        known[name] = dict(known.get(other, {"kind": "file"}))
        known[name].pop("mode", None)  # is the other's too, and may be changed by its name
    elif operation == "rename":
        known[name] = known.pop(other, {})
        gone.add(other)
    elif operation in ("remove", "rmdir"):
        known.pop(name, None)
        gone.add(name)
    elif operation == "chmod":
        for entry in known.values():
            entry.pop("mode", None)  # of its other names; which they are is not kept
        known.setdefault(name, {})["mode"] = other


def describe(path):
    try:
        st = os.lstat(path)
    except FileNotFoundError:
        return None
    kinds = {stat.S_IFDIR: "directory", stat.S_IFLNK: "symlink", stat.S_IFREG: "file"}
    kind = kinds.get(stat.S_IFMT(st.st_mode), "other")
    return {"kind": kind, "mode": stat.S_IMODE(st.st_mode),
            "target": os.readlink(path) if kind == "symlink" else None}


def lost_records(journals, disk):
    """Of all counters and logs together: what was kept must be there, once."""
    issued, kept, lines = {}, [], False
    for number, journal in journals:
        for _, what, *v in journal:
            if what in ("record", "line"):
                issued[v[-1]] = (number, v)
            elif what == "kept":
                kept.append(v[0])
    for name in sorted({v[0] for _, v in issued.values()}):
        try:
            with open(os.path.join(disk, name), "rb") as f:
                data = f.read()
        except FileNotFoundError:
            data = b""
        # Where what was in doubt is not there, or a part of it, there may be a hole.
        pieces = [p.decode(errors="replace") for p in re.split(rb"[ \n\0]+", data) if p]
        doubtful = set(issued) - set(kept)
        found = Counter(part for piece in pieces for part in parts(piece, issued, doubtful))
        yield from compare_records(name, data, found, issued, [k for k in kept if issued[k][1][0] == name])


def parts(piece, issued, doubtful):
    """A record that a write cut short stands before the next one with nothing between them."""
    if piece in issued:
        return [piece]
    for cut in range(1, len(piece)):
        if piece[cut:] in issued and any(d.startswith(piece[:cut]) for d in doubtful):
            return [piece[:cut], piece[cut:]]
    return [piece]


def compare_records(name, data, found, issued, kept):
    for text in kept:
        number, (_, *slot, _) = issued[text]
        if found[text] == 1:
            continue
        where = data[slot[0] * RECORD:(slot[0] + 1) * RECORD].decode(errors="replace").strip("\0 \n") if slot else ""
        if where in issued:
            yield Violation("lock", 1, f"writer {number}: slot {slot[0]} of {name} holds {where}, {text} was kept there")
        else:
            yield Violation("lost", len(text), f"writer {number}: {text[:20]} was kept in {name}, and is there {found[text]} times")
    doubtful = set(issued) - set(kept)
    for piece in found:
        if piece not in issued and not any(d.startswith(piece) or d.endswith(piece) for d in doubtful):
            yield Violation("foreign", len(piece), f"{name} holds {piece[:60]!r}")


def judge(journals, disk, cuts, names=True):
    """journals: [(writer's number, lines)]. names: whether changes of directories are promised."""
    found = []
    for number, lines in journals:
        found += lost_blocks(number, lines, disk, cuts)
        if names:
            found += lost_names(number, lines, disk)
    return found + list(lost_records(journals, disk))
