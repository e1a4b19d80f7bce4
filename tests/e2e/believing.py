# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""The steps of tests/e2e/believing: believing.py STEP MOUNT OTHER. Both are the same export; what the
step counts is done on MOUNT."""
import errno
import os
import subprocess
import sys
import time

step, mount, other = sys.argv[1:]


def here(name):
    return os.path.join(mount, name)


def there(name):
    return os.path.join(other, name)


def exists(path):
    try:
        os.lstat(path)
        return True
    except FileNotFoundError:
        return False


def absent(path):
    assert not exists(path), path


def write(path, data, flags=0):
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | flags, 0o644)
    os.write(fd, data)
    os.close(fd)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def fails(error, function, *args):
    try:
        function(*args)
    except OSError as e:
        assert e.errno == error, e
        return
    raise AssertionError(f"{function} {args} did not fail")


def eventually(test, before=lambda: None):
    """In time: before each try something may be done that shows it."""
    end = time.monotonic() + 60
    while True:
        before()
        if test():
            return
        assert time.monotonic() < end, "it is not seen"
        time.sleep(0.05)


def missing():
    for _ in range(100):
        absent(here("missing"))


def present():
    for _ in range(100):
        assert exists(here("listed"))


def missing_all():
    for i in range(100):
        absent(here(f"missing.{i}"))


def made_in_directory():
    os.mkdir(here("made here"))
    for i in range(10):
        absent(here(f"made here/{i}"))
        write(here(f"made here/{i}"), b"x")
        os.rename(here(f"made here/{i}"), here(f"made here/{i}.moved"))
        absent(here(f"made here/{i}"))
    for i in range(10):
        os.unlink(here(f"made here/{i}.moved"))
        absent(here(f"made here/{i}.moved"))


def made_in_directory_elsewhere():
    for name in "abcdef":
        absent(here("made here/" + name))
    for name in "abcd":
        write(there("made here/" + name), b"theirs")
    os.symlink("a", there("made here/e"))
    fails(errno.EEXIST, os.open, here("made here/a"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    fails(errno.EEXIST, os.mkdir, here("made here/b"))
    fails(errno.EEXIST, os.symlink, "x", here("made here/c"))
    for name in "de":  # e stands for a
        with open(here("made here/" + name), "ab") as f:
            f.write(b", ours")
    assert read(there("made here/a")) == read(there("made here/d")) == b"theirs, ours"
    for name in "abcde":
        eventually(lambda: exists(here("made here/" + name)))


def missed():
    os.mkdir(there("missed"))
    for i in range(100):
        write(there(f"missed/{i}"), b"x")
    eventually(lambda: exists(here("missed")), look_up)


def misses():
    for i in range(10):
        absent(here(f"missed/no.{os.getpid()}.{i}"))


def not_missed():
    for i in range(100):
        assert exists(here(f"missed/{i}"))


def removed():
    for _ in range(3):
        os.mknod(here("removed"))
        os.unlink(here("removed"))
        absent(here("removed"))


def moved():
    for i in range(3):
        os.mknod(here("moved.lock"))
        os.rename(here("moved.lock"), here(f"moved.{i}"))
        absent(here("moved.lock"))


def made():
    makers = {
        "file": lambda p: write(p, b"x"),
        "exclusive": lambda p: write(p, b"x", os.O_EXCL),
        "directory": os.mkdir,
        "symlink": lambda p: os.symlink("x", p),
        "fifo": os.mkfifo,
        "node": os.mknod,
        "hard": lambda p: os.link(here("made.from"), p),
        "renamed": lambda p: os.rename(here("made.from"), p),
    }
    write(here("made.from"), b"from")
    for name, make in makers.items():
        path = here("made." + name)
        absent(path)
        make(path)
        assert exists(path), name
    absent(here("made.from"))


def made_elsewhere():
    for name in "abcdefg":
        absent(here("else." + name))
    for name in "abcde":
        write(there("else." + name), b"theirs")
    os.mkdir(there("else.f"))
    fails(errno.EEXIST, os.open, here("else.a"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    fails(errno.EEXIST, os.mkdir, here("else.b"))
    fails(errno.EEXIST, os.symlink, "x", here("else.c"))
    write(here("else.source"), b"ours")
    fails(errno.EEXIST, os.link, here("else.source"), here("else.c"))
    with open(here("else.d"), "ab") as f:
        f.write(b", ours")
    assert read(there("else.d")) == b"theirs, ours"
    os.rename(here("else.source"), here("else.e"))
    assert read(there("else.e")) == b"ours"
    fails(errno.EISDIR, os.open, here("else.f"), os.O_WRONLY | os.O_CREAT)
    for name in "abcdef":
        eventually(lambda: exists(here("else." + name)))


def linked_elsewhere():
    absent(here("link"))
    absent(here("pipe"))
    write(there("target"), b"target")
    os.symlink("target", there("link"))
    os.mkfifo(there("pipe"))
    with open(here("link"), "ab") as f:
        f.write(b" found")
    assert read(there("target")) == b"target found"
    fd = os.open(here("pipe"), os.O_RDWR | os.O_CREAT | os.O_NONBLOCK)
    os.close(fd)


looks = 0


def look_up():
    """Names like this are always asked for, and the answer shows what has become of the directory."""
    global looks
    looks += 1
    absent(here(f"b\u00e9side.{os.getpid()}.{looks}"))


def shown():
    absent(here("shown"))
    write(there("shown"), b"x")
    eventually(lambda: exists(here("shown")), look_up)


def taken_away():
    write(there("taken"), b"x")
    write(there("given"), b"old")
    write(there("gives"), b"other")
    eventually(lambda: exists(here("given")), look_up)
    assert os.stat(here("given")).st_size == 3
    assert exists(here("taken"))
    os.unlink(there("taken"))
    os.rename(there("gives"), there("given"))
    eventually(lambda: not exists(here("taken")), look_up)
    eventually(lambda: os.stat(here("given")).st_size == 5, look_up)


def theirs():
    write(there("known"), b"x")
    eventually(lambda: exists(here("known")), look_up)
    for _ in range(3):  # the first answer may be what shows that the directory was changed
        os.stat(here("known"))


def stat():
    for _ in range(100):
        os.stat(here("known"))


def opened():
    write(here("opened"), b"one")
    assert os.stat(here("opened")).st_size == 3
    write(there("opened"), b"three")
    with open(here("opened"), "rb") as f:
        assert os.fstat(f.fileno()).st_size == 5
        assert f.read() == b"three"
    assert os.stat(here("opened")).st_size == 5


def rights():
    write(there("access"), b"x")
    eventually(lambda: exists(here("access")), look_up)
    for _ in range(100):
        assert os.access(here("access"), os.R_OK)


def files():
    os.mkdir(here("listed"))
    for i in range(100):
        write(here(f"listed/{i}"), b"x" * i)


def repository():
    path = here("repository")

    def git(*args):
        subprocess.run(("git", "-c", "user.name=n", "-c", "user.email=e", "-C", path) + args, check=True, stdout=subprocess.DEVNULL)

    os.mkdir(path)
    git("init", "-q")
    for i in range(20):
        os.makedirs(f"{path}/d{i % 5}", exist_ok=True)
        write(f"{path}/d{i % 5}/f{i}", b"%d\n" % i)
    git("add", ".")
    time.sleep(1.1)  # what is as young as the index is read again each time
    git("commit", "-q", "-m", "c")


def in_time():
    absent(here("timely"))
    write(there("timely"), b"x")
    eventually(lambda: exists(here("timely")))
    os.unlink(there("timely"))
    eventually(lambda: not exists(here("timely")))
    write(there("timely"), b"more")
    eventually(lambda: exists(here("timely")) and os.stat(here("timely")).st_size == 4)
    write(there("timely"), b"and more")
    eventually(lambda: os.stat(here("timely")).st_size == 8)


def told():
    """Somebody who has made a file tells of it."""
    write(there("told"), b"x")
    assert read(here("told")) == b"x"
    os.mkdir(here("telling"))
    write(here("telling/ours"), b"x")
    write(there("telling/theirs"), b"x")
    assert read(here("telling/theirs")) == b"x"


def told_while_making():
    """A program that makes file after file finds at once another client's file."""
    os.mkdir(here("making"))
    for i in range(5):
        write(here(f"making/{i}"), b"x")
    write(there("making/theirs"), b"x")
    assert read(here("making/theirs")) == b"x"
    for i in range(5, 10):
        write(here(f"making/{i}"), b"x")
    write(there("making/10"), b"x")
    fails(errno.EEXIST, os.open, here("making/10"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    assert read(here("making/10")) == b"x"
    for i in range(11, 20):
        write(there(f"making/{i}"), b"x")
        assert read(here(f"making/{i}")) == b"x"
    # by each way of asking
    for i, asks in enumerate((os.stat, lambda name: os.close(os.open(name, os.O_RDONLY)), lambda name: os.rename(name, name + ".new"))):
        for j in range(3):
            write(here(f"making/{i}.{j}.ours"), b"x")
        write(there(f"making/{i}.theirs"), b"x")
        asks(here(f"making/{i}.theirs"))


def in_time_in_directory():
    os.mkdir(here("mine"))
    absent(here("mine/theirs"))
    write(there("mine/theirs"), b"x")
    eventually(lambda: exists(here("mine/theirs")))


def in_time_in_list():
    os.mkdir(there("theirs"))
    eventually(lambda: exists(here("theirs")))
    for i in range(5):
        assert os.listdir(here("theirs")) == []
        absent(here(f"theirs/{i}"))
    write(there("theirs/x"), b"x")
    eventually(lambda: exists(here("theirs/x")))
    eventually(lambda: os.listdir(here("theirs")) == ["x"])


def theirs_to_work_in(name):
    """A folder of another client's, in which so much has been looked up that it is listed beside."""
    os.mkdir(there(name))
    for i in range(20):
        write(there(f"{name}/{i}"), b"theirs")
    for i in range(3):
        assert read(here(f"{name}/{i}")) == b"theirs"
    time.sleep(0.1)  # the listing need not be there, but mostly is


def listed_beside():
    """What a folder that nobody has listed is listed for beside: nothing is older than it would be else."""
    theirs_to_work_in("beside")
    # who opens a file has what was there before
    write(there("beside/5"), b"changed since")
    assert read(here("beside/5")) == b"changed since"
    write(there("beside/new"), b"replaced since")
    os.rename(there("beside/new"), there("beside/6"))
    assert read(here("beside/6")) == b"replaced since"
    # what nobody has asked for is there at once
    write(there("beside/told"), b"told")
    assert read(here("beside/told")) == b"told"
    # our own changes
    os.unlink(here("beside/7"))
    write(there("beside/7"), b"again")
    assert read(here("beside/7")) == b"again"
    os.unlink(here("beside/15"))
    absent(here("beside/15"))
    os.rename(here("beside/8"), here("beside/9"))
    absent(here("beside/8"))
    assert os.stat(here("beside/9")).st_ino == os.stat(there("beside/9")).st_ino
    write(here("beside/10"), b"written here, and longer")
    assert os.stat(here("beside/10")).st_size == 24
    os.link(here("beside/11"), here("beside/linked"))
    assert os.stat(here("beside/11")).st_nlink == os.stat(here("beside/linked")).st_nlink == 2
    os.mkdir(here("beside/directory"))
    os.rename(here("beside/12"), here("beside/directory/12"))
    absent(here("beside/12"))
    assert exists(here("beside/directory/12"))
    os.unlink(there("beside/13"))
    os.mkdir(there("beside/13"))
    fails(errno.EEXIST, os.open, here("beside/13"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    os.unlink(there("beside/14"))
    fails(errno.ENOENT, os.unlink, here("beside/14"))


def in_time_beside():
    theirs_to_work_in("timely beside")
    os.unlink(there("timely beside/5"))
    eventually(lambda: not exists(here("timely beside/5")))
    write(there("timely beside/6"), b"more than that")
    eventually(lambda: os.stat(here("timely beside/6")).st_size == 14)
    os.unlink(there("timely beside/7"))
    os.mkdir(there("timely beside/7"))
    eventually(lambda: os.path.isdir(here("timely beside/7")))


def told_in_theirs():
    """Likewise in another client's folder, of which no name is known here."""
    os.mkdir(there("their folder"))
    write(here("their folder/ours.0"), b"x")
    write(there("their folder/told"), b"theirs")
    assert read(here("their folder/told")) == b"theirs"
    for i in range(1, 10):
        write(here(f"their folder/ours.{i}"), b"x")
    write(there("their folder/0"), b"theirs")
    for i in range(10):
        if i:
            write(there(f"their folder/{i}"), b"theirs")
        assert read(here(f"their folder/{i}")) == b"theirs"
    for i in range(10, 20):
        write(here(f"their folder/ours.{i}"), b"x")
    write(there("their folder/ours.20"), b"theirs")
    fails(errno.EEXIST, os.open, here("their folder/ours.20"), os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    assert read(here("their folder/ours.20")) == b"theirs"


globals()[step]()
