# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Modes: chmod(2), umask(2), set-ID bits and who inherits them."""
import subprocess

from scenario import *


@scenario
def changing(s):
    write_file("f")
    os.mkdir("d")
    os.symlink("f", "l")
    for mode in (0, 0o400, 0o644, 0o755, 0o777, 0o1644, 0o4755, 0o2755, 0o6711, 0o7777):
        s.call(f"file {mode:o}", os.chmod, "f", mode)
        s.lstat(f"file is {mode:o}", "f", "mode")
        s.call(f"dir {mode:o}", os.chmod, "d", mode)
        s.lstat(f"dir is {mode:o}", "d", "mode")
    os.chmod("f", 0o644)
    s.call("through a symlink", os.chmod, "l", 0o600)
    s.lstat("the file", "f", "mode")
    s.lstat("the symlink", "l", "mode")
    s.call("missing", os.chmod, "no", 0o644)
    s.call("below a file", os.chmod, "f/x", 0o644)
    fd = s.open("open", "f", os.O_RDONLY)
    s.call("fchmod", os.fchmod, fd, 0o640)
    s.fstat("is", fd, "mode")
    os.mkfifo("p")
    s.call("fifo", os.chmod, "p", 0o600)
    s.lstat("fifo is", "p", "type mode")


@scenario
def masks(s):
    for mask in (0, 0o022, 0o027, 0o077, 0o777, 0o111):
        os.umask(mask)
        write_file(f"f{mask:o}", mode=0o666)
        os.mkdir(f"d{mask:o}", 0o777)
        os.mkfifo(f"p{mask:o}", 0o666)
        os.symlink("x", f"l{mask:o}")
        for n in "fdpl":
            s.lstat(f"{mask:o} {n}", f"{n}{mask:o}", "type mode")
    os.umask(0o022)


@scenario(root=True)
def by_others(s):
    u, o = s.peer(USER, groups=[EXTRA_GROUP]), s.peer(OTHER)
    write_file("f")
    u.call("not mine", os.chmod, "f", 0o777)
    os.chown("f", USER, GROUP)
    u.call("mine", os.chmod, "f", 0o640)
    o.call("another's", os.chmod, "f", 0o777)
    s.lstat("is", "f")
    u.call("setuid", os.chmod, "f", 0o4755)
    s.lstat("setuid is", "f", "mode")
    u.call("setgid of my group", os.chmod, "f", 0o2755)
    s.lstat("setgid is", "f", "mode")
    os.chown("f", USER, EXTRA_GROUP)
    u.call("setgid of my other group", os.chmod, "f", 0o2755)
    s.lstat("setgid is then", "f", "mode")
    os.chown("f", USER, OTHER_GROUP)
    os.chmod("f", 0o644)
    u.call("setgid of a group not mine", os.chmod, "f", 0o2755)
    s.lstat("setgid is gone", "f", "mode")
    u.call("sticky file", os.chmod, "f", 0o1644)
    s.lstat("sticky is", "f", "mode")
    os.mkdir("d")
    os.chown("d", USER, OTHER_GROUP)
    u.call("setgid directory of a group not mine", os.chmod, "d", 0o2755)
    s.lstat("directory is", "d", "mode")


@scenario(root=True)
def setgid_directories(s):
    u = s.peer(USER)
    os.mkdir("d")
    os.chown("d", 0, EXTRA_GROUP)
    os.chmod("d", 0o2777)
    u.call("file", write_file, "d/f")
    u.call("directory", os.mkdir, "d/e", 0o755)
    u.call("fifo", os.mkfifo, "d/p", 0o644)
    u.call("symlink", os.symlink, "x", "d/l")
    u.call("file with setgid", write_file, "d/g", mode=0o2755)
    u.call("file with setgid, no group x", write_file, "d/h", mode=0o2745)
    u.call("in the directory below", write_file, "d/e/f")
    for n in ("f", "e", "p", "l", "g", "h", "e/f"):
        s.lstat(f"is {n}", f"d/{n}", "type mode uid gid")
    write_file("d/r")
    s.lstat("root's", "d/r", "mode uid gid")
    u.call("moved in", write_file, "m")
    u.call("rename", os.rename, "m", "d/m")
    s.lstat("is m", "d/m", "mode uid gid")
    os.chmod("d", 0o777)
    u.call("file without", write_file, "d/w")
    s.lstat("is w", "d/w", "mode uid gid")


@scenario(root=True)
def set_id_cleared(s):
    u = s.peer(USER)

    def fresh(mode):
        write_file("f", b"0123456789")
        os.chown("f", 0, GROUP)
        os.chmod("f", mode)

    for mode in (0o6777, 0o2767, 0o4766, 0o2777, 0o1666):
        fresh(mode)
        fd = u.open(f"{mode:o} open", "f", os.O_RDWR)
        u.call(f"{mode:o} read", os.pread, fd, 1, 0)
        s.lstat(f"{mode:o} after read", "f", "mode")
        u.call(f"{mode:o} write", os.pwrite, fd, b"x", 0)
        s.lstat(f"{mode:o} after write", "f", "mode")
        fresh(mode)
        u.call(f"{mode:o} ftruncate", os.ftruncate, fd, 3)
        s.lstat(f"{mode:o} after ftruncate", "f", "mode")
        fresh(mode)
        u.call(f"{mode:o} truncate", os.truncate, "f", 3)
        s.lstat(f"{mode:o} after truncate", "f", "mode")
        fresh(mode)
        u.call(f"{mode:o} O_TRUNC", write_file, "f", b"x")
        s.lstat(f"{mode:o} after O_TRUNC", "f", "mode")
        fresh(mode)
        write_file("f", b"root", os.O_WRONLY)
        s.lstat(f"{mode:o} after root wrote", "f", "mode")
        u.call(f"{mode:o} close", os.close, fd)
        os.unlink("f")


@scenario(root=True)
def set_id_asked_for_alone(s):
    """By programs that ask for nothing but the mode, as stat -c %a does."""
    u = s.peer(USER)
    write_file("from", b"0123456789")

    def mode():
        return subprocess.run(["stat", "-c", "%a", "f"], stdout=subprocess.PIPE).stdout.decode()

    for step, change in (
        ("write", lambda fd, other: (os.pwrite, fd, b"x", 0)),
        ("posix_fallocate", lambda fd, other: (os.posix_fallocate, fd, 0, 8192)),
        ("copy_file_range", lambda fd, other: (os.copy_file_range, other, fd, 10)),
        ("ftruncate", lambda fd, other: (os.ftruncate, fd, 3)),
    ):
        write_file("f", b"0123456789")
        os.chmod("f", 0o6777)
        s.call(f"{step}: before", mode)
        fd = u.open(f"{step}: open", "f", os.O_RDWR)
        other = u.open(f"{step}: open the other", "from")
        u.call(step, *change(fd, other))
        s.call(f"{step}: after", mode)
        u.call(f"{step}: close", os.close, fd)
        u.call(f"{step}: close the other", os.close, other)
        os.unlink("f")
