# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Owners: chown(2) by the super-user, the owner and others, supplementary groups."""
from scenario import *


@scenario(root=True)
def by_root(s):
    write_file("f")
    os.mkdir("d")
    os.symlink("f", "l")
    s.call("file", os.chown, "f", USER, GROUP)
    s.lstat("file is", "f")
    s.call("user alone", os.chown, "f", OTHER, -1)
    s.lstat("user is", "f")
    s.call("group alone", os.chown, "f", -1, OTHER_GROUP)
    s.lstat("group is", "f")
    s.call("neither", os.chown, "f", -1, -1)
    s.lstat("still is", "f")
    s.call("through a symlink", os.chown, "l", 1, 2)
    s.lstat("through it", "f", "uid gid")
    s.lstat("symlink is", "l", "uid gid")
    s.call("lchown", os.lchown, "l", 3, 4)
    s.lstat("symlink is then", "l", "uid gid")
    s.lstat("and the file", "f", "uid gid")
    s.call("directory", os.chown, "d", USER, GROUP)
    s.lstat("directory is", "d", "mode uid gid")
    s.call("large numbers", os.chown, "f", 4000000000, 4000000001)
    s.lstat("large are", "f", "uid gid")
    s.call("nobody", os.chown, "f", 65534, 65534)
    s.lstat("nobody's", "f", "uid gid")
    s.call("missing", os.chown, "no", 1, 1)
    fd = s.open("open", "f", os.O_RDONLY)
    s.call("fchown", os.fchown, fd, 7, 8)
    s.fstat("fchown is", fd, "uid gid")


@scenario(root=True)
def set_id(s):
    for mode in (0o6755, 0o6644, 0o2745, 0o7777):
        write_file("f")
        os.chmod("f", mode)
        s.call(f"{mode:o} chown by root", os.chown, "f", USER, GROUP)
        s.lstat(f"{mode:o} is", "f", "mode uid gid")
        os.chmod("f", mode)
        s.call(f"{mode:o} chown to the same", os.chown, "f", USER, GROUP)
        s.lstat(f"{mode:o} is then", "f", "mode")
        os.chmod("f", mode)
        u = s.peer(USER, groups=[EXTRA_GROUP])
        u.call(f"{mode:o} chgrp by the owner", os.chown, "f", -1, EXTRA_GROUP)
        s.lstat(f"{mode:o} is at last", "f", "mode uid gid")
        os.unlink("f")
    os.mkdir("d")
    os.chmod("d", 0o6755)
    s.call("directory", os.chown, "d", USER, GROUP)
    s.lstat("directory is", "d", "mode")


@scenario(root=True)
def by_others(s):
    u, o = s.peer(USER, groups=[EXTRA_GROUP, 4301]), s.peer(OTHER)
    u.call("create", write_file, "f", b"x")
    s.lstat("is", "f")
    u.call("give away", os.chown, "f", OTHER, -1)
    u.call("to oneself", os.chown, "f", USER, -1)
    u.call("to a group of mine", os.chown, "f", -1, EXTRA_GROUP)
    s.lstat("is of a group of mine", "f")
    u.call("to my second group", os.chown, "f", USER, 4301)
    u.call("to a group not mine", os.chown, "f", -1, OTHER_GROUP)
    u.call("neither", os.chown, "f", -1, -1)
    o.call("another's", os.chown, "f", OTHER, OTHER_GROUP)
    o.call("another's to its owner", os.chown, "f", USER, -1)
    o.call("neither of another's", os.chown, "f", -1, -1)
    u.call("symlink", os.symlink, "f", "l")
    u.call("lchown to my group", os.lchown, "l", -1, EXTRA_GROUP)
    s.lstat("symlink is", "l", "uid gid")
    s.lstat("is at last", "f")


@scenario(root=True)
def groups(s):
    """What a supplementary group opens, and up to the sixteen that AUTH_SYS carries."""
    write_file("f", b"data")
    os.chown("f", 0, 5015)
    os.chmod("f", 0o660)
    os.mkdir("d")
    os.chown("d", 0, 5015)
    os.chmod("d", 0o770)
    none = s.peer(USER)
    one = s.peer(USER, groups=[5015])
    many = s.peer(USER, groups=list(range(5000, 5016)))
    main = s.peer(USER, gid=5015)
    for name, p in (("no group", none), ("one group", one), ("sixteen groups", many), ("main group", main)):
        p.call(f"{name}: read", read_file, "f")
        p.call(f"{name}: write", write_file, "f", name.encode(), os.O_WRONLY | os.O_TRUNC)
        p.call(f"{name}: create", write_file, f"d/{name}")
        p.call(f"{name}: list", count_of, "d")
        p.call(f"{name}: access", os.access, "f", os.R_OK | os.W_OK)
    s.lstat("made by the main group", "d/main group", "uid gid")
    s.lstat("made by one group", "d/one group", "uid gid")


@scenario(root=True)
def kept_by_descriptor(s):
    """What was opened stays open, whatever its mode, owner and directory become."""
    write_file("f", b"data")
    os.chmod("f", 0o666)
    u = s.peer(USER)
    fd = u.open("open", "f", os.O_RDWR)
    os.chmod("f", 0o600)
    u.call("read", os.pread, fd, 10, 0)
    u.call("write", os.pwrite, fd, b"DATA", 0)
    u.call("truncate", os.ftruncate, fd, 2)
    u.call("fsync", os.fsync, fd)
    u.call("open again", open_quietly, "f", os.O_RDONLY)
    u.call("fchmod", os.fchmod, fd, 0o777)
    u.call("close", os.close, fd)
    s.call("contents", read_file, "f")
    s.lstat("is", "f")


@scenario(root=True)
def passed_on(s):
    """A descriptor that root opened, used by another."""
    write_file("f", b"secret")
    os.chmod("f", 0o600)
    fd = s.open("open", "f", os.O_RDWR)
    d = s.open("open directory", ".", os.O_RDONLY)
    u = s.peer(USER)
    u.call("read", os.pread, fd, 10, 0)
    u.call("write", os.pwrite, fd, b"S", 0)
    u.call("fstat", size_of, fd)
    u.call("ftruncate", os.ftruncate, fd, 3)
    u.call("fchmod", os.fchmod, fd, 0o666)
    u.call("futimens", os.utime, fd)
    u.call("list", os.listdir, d)
    s.call("contents", read_file, "f")


@scenario(root=True)
def beside_a_reader(s):
    """One who may only read opens, syncs and closes a file that is being written: its writer's error that is not."""
    write_file("f", b"data")
    os.chmod("f", 0o644)
    fd = s.open("open", "f", os.O_RDWR)
    u = s.peer(USER)
    for n, what in enumerate((os.fsync, os.close)):
        s.call("write", os.pwrite, fd, b"%d" % n, n)
        s.fstat("fstat", fd, "size")
        reader = u.open("open to read", "f", os.O_RDONLY)
        u.call(what.__name__, what, reader)
        s.call("writer's fsync", os.fsync, fd)
    s.call("contents", read_file, "f")


def size_of(fd):
    return os.fstat(fd).st_size


def count_of(path):
    return len(os.listdir(path))
