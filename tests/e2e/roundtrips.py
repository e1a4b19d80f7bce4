# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""roundtrips.py STEP MOUNT EXPORT: what the programs do in tests/e2e/roundtrips, each step to ten files."""
import os
import sys
import time

step, mnt, export = sys.argv[1:]
FILES = [f"{mnt}/dir/{i}" for i in range(10)]


# Folders that others have made, each with ten files of the names of FILES.
FOLDERS = ("read", "create", "exclusive", "mkdir", "unlink", "rename", "one")


def unknown(folder):
    """The names in it. The folder is listed beside the first three, by whichever of its processes the machine runs first: that is
    to be there for the others."""
    for i in range(10):
        if i == 3:
            time.sleep(0.3)
        yield f"{mnt}/unknown.{folder}/{i}"


def unknown_folders():
    """They are known, but no name in them."""
    for folder in FOLDERS:
        assert os.path.isdir(f"{mnt}/unknown.{folder}")


def unknown_one():
    """One name of very many."""
    os.stat(f"{mnt}/unknown.one/1234")


def unknown_read():
    for path in unknown("read"):
        with open(path, "rb") as f:
            assert f.read() == b"hello"


def unknown_create():
    for path in unknown("create"):
        put(path + ".new", os.O_CREAT)


def unknown_exclusive():
    for path in unknown("exclusive"):
        put(path + ".new", os.O_CREAT | os.O_EXCL)


def unknown_mkdir():
    for path in unknown("mkdir"):
        os.mkdir(path + ".new")


def unknown_unlink():
    for path in unknown("unlink"):
        os.unlink(path)


def unknown_rename():
    for path in unknown("rename"):
        os.rename(path, path + ".new")


def make_directory():
    os.mkdir(f"{mnt}/dir")


def put(path, flags):
    fd = os.open(path, os.O_WRONLY | flags, 0o644)
    os.write(fd, b"hello")
    os.close(fd)


def create():
    for path in FILES:
        put(path, os.O_CREAT)


def exclusive():
    for path in FILES:
        put(path + "x", os.O_CREAT | os.O_EXCL)


def untar():
    """As tar does it for an ordinary user."""
    for path in FILES:
        fd = os.open(path + ".tar", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(fd, b"hello")
        os.utime(fd, (1000000000, 1000000000))
        os.close(fd)
    for path in FILES:
        st = os.stat(path + ".tar")
        assert st.st_mtime == 1000000000 and st.st_size == 5


def untar_root():
    """As tar does it for root, who sets owner and mode too."""
    for path in FILES:
        fd = os.open(path + ".root", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        os.write(fd, b"hello")
        os.utime(fd, (1000000000, 1000000000))
        os.fchown(fd, os.getuid(), os.getgid())
        os.fchmod(fd, 0o644)
        os.close(fd)


def checkout():
    """As git does it."""
    for path in FILES:
        fd = os.open(path + ".git", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(fd, b"hello")
        assert os.fstat(fd).st_size == 5
        os.close(fd)


def rsync():
    """As rsync does it."""
    for path in FILES:
        fd = os.open(path + ".sync.tmp", os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
        os.fchmod(fd, 0o600)
        os.write(fd, b"hello")
        os.close(fd)
        assert os.stat(path + ".sync.tmp").st_size == 5
        os.utime(path + ".sync.tmp", (1000000000, 1000000000))
        os.chmod(path + ".sync.tmp", 0o644)
        os.rename(path + ".sync.tmp", path + ".sync")


def overwrite():
    for path in FILES:
        put(path, os.O_TRUNC)


def read():
    for path in FILES:
        fd = os.open(path, os.O_RDONLY)
        assert os.read(fd, 100) == b"hello"
        os.close(fd)


def links():
    """Symbolic links, read and followed again and again; one is then made anew with another target."""
    for i in range(10):
        os.symlink(f"to {i}", f"{mnt}/dir/link{i}")
    for _ in range(3):
        for i in range(10):
            assert os.readlink(f"{mnt}/dir/link{i}") == f"to {i}"
    os.symlink("0", f"{mnt}/dir/new link")
    os.rename(f"{mnt}/dir/new link", f"{mnt}/dir/link0")
    assert os.readlink(f"{mnt}/dir/link0") == "0"
    os.stat(f"{mnt}/dir/link0")
    os.stat(f"{mnt}/dir/link0")


def tree():
    """Each file of a directory, as grep -r does."""
    for name in sorted(os.listdir(f"{mnt}/tree")):
        with open(f"{mnt}/tree/{name}", "rb") as f:
            assert len(f.read()) == int(name)


def large():
    """A directory whose names come in several answers."""
    assert len(os.listdir(f"{mnt}/large")) == 2000


def writes():
    """Four writes to a file."""
    for path in FILES:
        fd = os.open(path, os.O_WRONLY)
        for i in range(4):
            os.pwrite(fd, b"x", i)
        os.close(fd)


def nothing():
    """Opened for writing, and closed."""
    for path in FILES:
        os.close(os.open(path, os.O_WRONLY))


def many_writes():
    """A hundred writes to one file."""
    fd = os.open(FILES[0], os.O_WRONLY)
    for i in range(100):
        os.pwrite(fd, b"x", i)
    os.close(fd)


def remove():
    for path in FILES:
        os.unlink(path)


def remove_beside_open():
    """While another file is open."""
    fd = os.open(f"{mnt}/dir/other", os.O_WRONLY | os.O_CREAT)
    for path in FILES:
        os.unlink(path + "x")
    os.close(fd)


def parts():
    for path in FILES:
        put(path + ".part", os.O_CREAT)
        put(path + ".whole", os.O_CREAT)


def rename_beside_open():
    """As editors and rsync do it."""
    fd = os.open(f"{mnt}/dir/open", os.O_WRONLY | os.O_CREAT)
    for path in FILES:
        os.rename(path + ".part", path + ".whole")
        os.rename(path + ".whole", path + ".new")
    os.close(fd)


def remove_replaced():
    """Somebody else has given the name to a file that is open here: it becomes a silly one."""
    put(f"{mnt}/dir/a", os.O_CREAT)
    put(f"{mnt}/dir/b", os.O_CREAT)
    fd = os.open(f"{mnt}/dir/b", os.O_RDONLY)
    os.rename(f"{export}/dir/b", f"{export}/dir/a")
    os.unlink(f"{mnt}/dir/a")
    assert any(name.startswith(".nfs") for name in os.listdir(f"{export}/dir"))
    assert os.read(fd, 100) == b"hello"
    os.close(fd)


globals()[step]()
