# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""access(2) and faccessat(2)."""
from scenario import *

WANTS = {"F": os.F_OK, "R": os.R_OK, "W": os.W_OK, "X": os.X_OK, "RW": os.R_OK | os.W_OK, "RWX": 7}


def all_access(path):
    """What of WANTS is allowed, by the real and by the effective user."""
    one = " ".join(n for n, w in WANTS.items() if os.access(path, w))
    two = " ".join(n for n, w in WANTS.items() if os.access(path, w, effective_ids=True))
    return Word(one if one == two else f"{one}, effectively {two}")


def access_errno(path, want):
    c_call("access", os.fsencode(path), want)


@scenario(root=True)
def matrix(s):
    u, g, o = s.peer(USER), s.peer(OTHER, groups=[GROUP]), s.peer(OTHER)
    for kind in ("file", "dir"):
        for mode in (0, 0o400, 0o200, 0o100, 0o040, 0o020, 0o010, 0o004, 0o002, 0o001, 0o070, 0o644, 0o755, 0o777):
            name = f"{kind}{mode:o}"
            if kind == "file":
                write_file(name)
            else:
                os.mkdir(name)
            os.chown(name, USER, GROUP)
            os.chmod(name, mode)
            s.call(f"{name} root", lambda: Word(all_access(name).replace(" ", "")))
            for who, p in (("owner", u), ("group", g), ("other", o)):
                p.call(f"{name} {who}", all_access, name)


@scenario(root=True)
def errors(s):
    u = s.peer(USER)
    os.mkdir("closed", 0o700)
    write_file("closed/f")
    write_file("f")
    os.symlink("no", "dangling")
    s.call("missing", access_errno, "no", os.F_OK)
    s.call("dangling", access_errno, "dangling", os.F_OK)
    s.call("below a file", access_errno, "f/x", os.F_OK)
    s.call("bad mode", access_errno, "f", 64)
    s.call("execute as root", access_errno, "f", os.X_OK)
    s.call("name too long", access_errno, "n" * 256, os.F_OK)
    u.call("in a closed directory", access_errno, "closed/f", os.F_OK)
    u.call("closed directory", access_errno, "closed", os.R_OK)
    u.call("closed directory, to pass", access_errno, "closed", os.X_OK)
    u.call("chdir into a closed directory", os.chdir, "closed")
    u.call("write", access_errno, "f", os.W_OK)
    os.chmod("f", 0o666)
    u.call("write then", access_errno, "f", os.W_OK)
    os.chmod("closed", 0o755)
    u.call("opened directory", access_errno, "closed/f", os.R_OK)
    os.chmod("closed", 0o700)
    u.call("closed again", access_errno, "closed/f", os.R_OK)


def as_real(path):
    """Real user USER, effective user root."""
    os.setresuid(USER, 0, 0)
    try:
        return [os.access(path, os.R_OK), os.access(path, os.R_OK, effective_ids=True)]
    finally:
        os.setresuid(0, 0, 0)


@scenario(root=True)
def real_and_effective(s):
    write_file("f")
    os.chmod("f", 0o600)
    p = s.peer()
    p.call("root's file", as_real, "f")
    os.chown("f", USER, GROUP)
    p.call("the user's file", as_real, "f")
