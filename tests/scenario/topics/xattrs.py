# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Extended attributes."""
from scenario import *


def names(path):
    """Those of users: NFS shows its ACLs by a name as well."""
    return sorted(n for n in os.listxattr(path) if n.startswith("user."))


@scenario
def user(s):
    write_file("f")
    s.call("list of none", names, "f")
    s.call("get of none", os.getxattr, "f", "user.a")
    s.call("set", os.setxattr, "f", "user.a", b"value")
    s.call("get", os.getxattr, "f", "user.a")
    s.call("list", names, "f")
    s.call("set empty", os.setxattr, "f", "user.empty", b"")
    s.call("get empty", os.getxattr, "f", "user.empty")
    s.call("set binary", os.setxattr, "f", "user.bin", bytes(range(256)))
    s.call("get binary", os.getxattr, "f", "user.bin")
    s.call("list three", lambda: names("f"))
    s.call("replace", os.setxattr, "f", "user.a", b"other", os.XATTR_REPLACE)
    s.call("replace what is missing", os.setxattr, "f", "user.b", b"x", os.XATTR_REPLACE)
    s.call("create", os.setxattr, "f", "user.b", b"x", os.XATTR_CREATE)
    s.call("create what is there", os.setxattr, "f", "user.a", b"x", os.XATTR_CREATE)
    s.call("get replaced", os.getxattr, "f", "user.a")
    s.call("remove", os.removexattr, "f", "user.a")
    s.call("remove again", os.removexattr, "f", "user.a")
    s.call("get removed", os.getxattr, "f", "user.a")
    s.call("list then", lambda: names("f"))


@scenario
def sizes(s):
    write_file("f")
    for n in (1, 255, 4096, 30000, 65536):
        s.call(f"set {n}", os.setxattr, "f", "user.x", b"x" * n)
        s.call(f"get {n}", lambda: len(os.getxattr("f", "user.x")))
    s.call("set 65537", os.setxattr, "f", "user.x", b"x" * 65537)
    s.call("longest name", os.setxattr, "f", "user." + "n" * 250, b"x")
    s.call("name too long", os.setxattr, "f", "user." + "n" * 251, b"x")
    s.call("empty name", os.setxattr, "f", "user.", b"x")
    room = ctypes.create_string_buffer(8)
    s.call("small buffer", c_call, "getxattr", b"f", b"user.x", room, ctypes.c_size_t(8))
    s.call("size alone", c_call, "getxattr", b"f", b"user." + b"n" * 250, None, ctypes.c_size_t(0))
    s.call("small list", c_call, "listxattr", b"f", room, ctypes.c_size_t(8))


@scenario
def kinds(s):
    os.mkdir("d")
    os.mkfifo("p")
    os.symlink("d", "l")
    s.call("directory", os.setxattr, "d", "user.a", b"dir")
    s.call("get of it", os.getxattr, "d", "user.a")
    s.call("fifo", os.setxattr, "p", "user.a", b"x")
    s.call("symlink", lambda: os.setxattr("l", "user.a", b"x", follow_symlinks=False))
    s.call("through a symlink", os.setxattr, "l", "user.b", b"through")
    s.call("list", lambda: names("d"))
    s.call("missing", os.setxattr, "no", "user.a", b"x")
    fd = s.open("open", "d", os.O_RDONLY)
    s.call("by descriptor", os.getxattr, fd, "user.b")
    s.call("no prefix", os.setxattr, "d", "plain", b"x")
    s.call("unknown prefix", os.setxattr, "d", "other.a", b"x")


@scenario
def effects(s):
    write_file("f", b"data")
    s.changed("set", "f", os.setxattr, "f", "user.a", b"x")
    s.changed("get", "f", lambda: os.getxattr("f", "user.a") and None)
    s.changed("remove", "f", os.removexattr, "f", "user.a")
    os.setxattr("f", "user.kept", b"kept")
    s.call("rename", os.rename, "f", "g")
    s.call("kept by rename", os.getxattr, "g", "user.kept")
    os.link("g", "h")
    s.call("by another link", os.getxattr, "h", "user.kept")
    os.chmod("g", 0o600)
    s.call("kept by chmod", os.getxattr, "g", "user.kept")
    p = s.peer()
    p.call("set by another process", os.setxattr, "h", "user.kept", b"new")
    s.call("seen", os.getxattr, "g", "user.kept")


@scenario
def many(s):
    write_file("f")
    for i in range(40):
        os.setxattr("f", f"user.attribute{i}", b"x" * i)
    s.call("list", lambda: len(names("f")))
    s.call("values", lambda: sum(len(os.getxattr("f", n)) for n in names("f")))


@scenario(root=True)
def by_others(s):
    u, o = s.peer(USER), s.peer(OTHER)
    write_file("f")
    os.chown("f", USER, GROUP)
    os.chmod("f", 0o640)
    u.call("owner sets", os.setxattr, "f", "user.a", b"x")
    u.call("owner gets", os.getxattr, "f", "user.a")
    o.call("other sets", os.setxattr, "f", "user.a", b"y")
    o.call("other gets", os.getxattr, "f", "user.a")
    o.call("other removes", os.removexattr, "f", "user.a")
    os.chmod("f", 0o644)
    o.call("other gets then", os.getxattr, "f", "user.a")
    o.call("other sets then", os.setxattr, "f", "user.a", b"y")
    os.chmod("f", 0o440)
    u.call("owner sets when read-only", os.setxattr, "f", "user.a", b"z")
    u.call("trusted by a user", os.setxattr, "f", "trusted.a", b"x")
