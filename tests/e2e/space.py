#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
#
# What the shell's tools cannot do for tests/e2e/space: space.py COMMAND ARGUMENT...
import errno
import os
import sys


def extents(path):
    """Prints where data is, as SEEK_DATA and SEEK_HOLE tell."""
    fd = os.open(path, os.O_RDONLY)
    size, pos = os.fstat(fd).st_size, 0
    while pos < size:
        try:
            data = os.lseek(fd, pos, os.SEEK_DATA)
        except OSError as e:
            assert e.errno == errno.ENXIO, e
            break
        pos = os.lseek(fd, data, os.SEEK_HOLE)
        print(data, pos)
    for whence in os.SEEK_DATA, os.SEEK_HOLE:
        try:
            print("found something at", os.lseek(fd, size, whence))
        except OSError as e:
            assert e.errno == errno.ENXIO, e


def stored(path):
    """What a program has stored through a mapping is data, also where the server has a hole."""
    import mmap
    fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    os.ftruncate(fd, 1 << 20)
    with mmap.mmap(fd, 1 << 20) as m:
        m[600000] = 1
        assert os.lseek(fd, 0, os.SEEK_DATA) <= 600000
        m[0] = 1
        assert os.lseek(fd, 0, os.SEEK_HOLE) > 0
        assert os.lseek(fd, 0, os.SEEK_DATA) == 0
        expect(errno.ENXIO, os.lseek, fd, 700000, os.SEEK_DATA)
        m[1000000] = 1
        assert os.lseek(fd, 700000, os.SEEK_DATA) <= 1000000
    os.close(fd)


def copy(src, dst, src_off="0", dst_off="0", count=None):
    """copy_file_range() until there is no more."""
    src_off, dst_off = int(src_off), int(dst_off)
    left = int(count) if count else os.stat(src).st_size - src_off
    fin, fout = os.open(src, os.O_RDONLY), os.open(dst, os.O_WRONLY | os.O_CREAT, 0o644)
    while left:
        n = os.copy_file_range(fin, fout, left, src_off, dst_off)
        assert 0 < n <= left, n
        left, src_off, dst_off = left - n, src_off + n, dst_off + n
    os.fsync(fout)


def expect(want, fn, *args):
    try:
        fn(*args)
    except OSError as e:
        assert e.errno == want, (fn, args[1:2], e, errno.errorcode[want])
    else:
        raise AssertionError((fn, args[1:2], "no error", errno.errorcode[want]))


def values(path, largest):
    """Values of every size come back, whatever room there is for them."""
    sizes = 0, 1, 3, 4, 255, 1000, 4095, 4096, 65535, 65536
    for size in [s for s in sizes if s <= int(largest)]:
        value = os.urandom(size)
        os.setxattr(path, "user.v", value)
        assert os.getxattr(path, "user.v") == value, size
    os.removexattr(path, "user.v")
    expect(errno.ENODATA, os.getxattr, path, "user.v")
    expect(errno.ENODATA, os.removexattr, path, "user.v")


def flags(path):
    os.setxattr(path, "user.f", b"1", os.XATTR_CREATE)
    expect(errno.EEXIST, os.setxattr, path, "user.f", b"2", os.XATTR_CREATE)
    os.setxattr(path, "user.f", b"3", os.XATTR_REPLACE)
    assert os.getxattr(path, "user.f") == b"3"
    os.removexattr(path, "user.f")
    expect(errno.ENODATA, os.setxattr, path, "user.f", b"4", os.XATTR_REPLACE)
    assert "user.f" not in os.listxattr(path)


def many(path, count):
    """Many names, some of them long."""
    names = ["user." + ("%d." % i).ljust(1 + i * 250 // int(count), "x") for i in range(int(count))]
    for n in names:
        os.setxattr(path, n, n[:9].encode())
    assert sorted(n for n in os.listxattr(path) if n.startswith("user.")) == sorted(names)
    for n in names:
        assert os.getxattr(path, n) == n[:9].encode()
        os.removexattr(path, n)


def sizes(path):
    """How the C library is told what room is needed."""
    import ctypes
    c = ctypes.CDLL(None, use_errno=True)
    p = path.encode()
    os.setxattr(path, "user.s", b"12345")
    buf = ctypes.create_string_buffer(65536)
    assert c.getxattr(p, b"user.s", None, 0) == 5
    assert c.getxattr(p, b"user.s", buf, 5) == 5 and buf.raw[:5] == b"12345"
    assert c.getxattr(p, b"user.s", buf, 4) == -1 and ctypes.get_errno() == errno.ERANGE
    n = c.listxattr(p, None, 0)
    assert n >= 7 and c.listxattr(p, buf, n) == n and b"user.s\0" in buf.raw[:n]
    assert c.listxattr(p, buf, n - 1) == -1 and ctypes.get_errno() == errno.ERANGE
    assert c.listxattr(p, buf, 1) == -1 and ctypes.get_errno() == errno.ERANGE
    os.removexattr(path, "user.s")


def not_ours(path):
    """What the protocol does not carry."""
    for name in "security.capability", "system.posix_acl_access":
        expect(errno.EOPNOTSUPP, os.getxattr, path, name)
    expect(errno.ENODATA, os.getxattr, path, "user.gone")
    # the kernel hides these from all but the super-user, who is then told the truth
    root = os.geteuid() == 0
    expect(errno.EOPNOTSUPP if root else errno.ENODATA, os.getxattr, path, "trusted.x")
    expect(errno.EOPNOTSUPP if root else errno.EPERM, os.setxattr, path, "trusted.x", b"1")


def no_xattrs(path):
    """Where there are none at all; twice, as the kernel remembers."""
    for _ in 1, 2:
        expect(errno.EOPNOTSUPP, os.getxattr, path, "user.x")
        expect(errno.EOPNOTSUPP, os.setxattr, path, "user.x", b"1")
        expect(errno.EOPNOTSUPP, os.removexattr, path, "user.x")
        assert [n for n in os.listxattr(path) if n.startswith("user.")] == []


globals()[sys.argv[1]](*sys.argv[2:])
