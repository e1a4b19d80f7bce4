# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""delegations.py PROTO PORT CASE [ARGUMENT...]: clients of NFSv4.1 that are given delegations and called back, as
scripted here. Exit status 0: the server did what it should.

The first client, "holder", has a backchannel; what it answers to a recall is the case's."""
import os
import struct
import subprocess
import sys
import threading
import time

from claim import Iwarp, Tcp, opaque

NOTSUPP, DELAY, GRACE, BAD_STATEID, DELEG_REVOKED = 10004, 10008, 10013, 10025, 10087
READ, WRITE, BOTH = 1, 2, 3
NULL, PREVIOUS, CUR_FH = 0, 1, 5
CB_PROGRAM = 0x40000000
RECALLABLE_REVOKED = 0x40


class Failed(Exception):
    def __init__(self, op, status):
        super().__init__(f"operation {op}: {status}")
        self.status = status


class Take:
    def __init__(self, b):
        self.b = b

    def bytes(self, n):
        got, self.b = self.b[:n], self.b[n:]
        assert len(got) == n, "the answer is too short"
        return got

    def u32(self):
        return struct.unpack(">I", self.bytes(4))[0]

    def u64(self):
        return struct.unpack(">Q", self.bytes(8))[0]

    def opaque(self):
        n = self.u32()
        got = self.bytes(n)
        self.bytes(-n % 4)
        return got

    def bitmap(self):
        return [self.u32() for _ in range(self.u32())]


def u32(*words):
    return struct.pack(f">{len(words)}I", *words)


class Client:
    """Answers callbacks while it waits for anything. on_recall(stateid): what CB_RECALL is answered, None: nothing.
    on_getattr(): change attribute and size for CB_GETATTR; (): an error; None: nothing."""

    def __init__(self, proto, port, owner, back=True, reclaim=False):
        self.uid = int(os.environ.get("AS", os.getuid()))
        self.conn = (Tcp if proto == "tcp" else Iwarp)(port)
        self.xid = 0
        self.recalled = []
        self.asked = 0
        self.on_recall = lambda stateid: 0
        self.on_getattr = lambda: ()
        self.cb_seq = 0
        self.probed = False
        self.seq = 0
        self.session = None
        self.flags = 0
        r = self.compound(u32(42) + os.urandom(8) + opaque(owner + b"%d" % self.uid) + u32(0, 0, 0))
        r.u32()
        self.clientid = r.u64()
        seq = r.u32()
        channel = u32(0, 65536, 65536, 2048, 16, 1, 0)
        r = self.compound(u32(43) + struct.pack(">Q", self.clientid) + u32(seq, 2 if back else 0) + channel +
                          u32(0, 4096, 4096, 1024, 4, 1, 0) + u32(CB_PROGRAM, 1, 0))
        r.u32()
        self.session = r.bytes(16)
        if not reclaim:
            self.reclaim_complete()
        while back and not self.probed:
            self.idle(0.1)

    def reclaim_complete(self):
        self.compound(u32(58, 0))

    def call_back(self, xid, m):
        prog, _, proc = m.u32(), m.u32(), m.u32()
        for _ in range(2):  # credential, verifier
            m.u32()
            m.opaque()
        assert prog == CB_PROGRAM
        res = b""
        if proc:
            m.opaque()
            assert m.u32() == 1  # the minor version
            m.u32()
            n = m.u32()
            assert m.u32() == 11  # CB_SEQUENCE
            session, seq, slot, highest = m.bytes(16), m.u32(), m.u32(), m.u32()
            assert session == self.session
            m.u32()
            for _ in range(m.u32()):  # referring calls
                m.bytes(16)
                for _ in range(m.u32()):
                    m.bytes(8)
            results = u32(11, 0) + session + u32(seq, slot, highest, highest)
            status = 0
            if n > 1:
                op = m.u32()
                if op == 3:  # CB_GETATTR
                    said = self.on_getattr()
                    self.asked += 1
                    if said is None:
                        return
                    status = 0 if said else NOTSUPP
                    results += u32(3, status)
                    if said:
                        results += u32(1, 1 << 3 | 1 << 4, 16) + struct.pack(">QQ", *said)
                else:
                    assert op == 4  # CB_RECALL
                    stateid = m.bytes(16)
                    self.recalled.append(stateid)
                    status = self.on_recall(stateid)
                    if status is None:
                        return
                    results += u32(4, status)
            res = u32(status) + opaque(b"") + u32(n) + results
        reply = u32(xid, 1, 0, 0, 0, 0) + res
        self.conn.send(xid, reply)
        self.probed |= proc == 1

    def message(self):
        """The next reply, past callbacks."""
        while True:
            m = Take(self.conn.receive())
            xid, kind = m.u32(), m.u32()
            if kind == 0:
                assert m.u32() == 2
                self.call_back(xid, m)
                continue
            return xid, m

    def compound(self, *ops):
        """The results of ops, without those of SEQUENCE, as a Take that stands behind the first operation's number."""
        self.xid += 1
        head = b""
        if self.session:
            self.seq += 1
            head = u32(53) + self.session + u32(self.seq, 0, 0, 0)
        args = opaque(b"") + u32(1, len(ops) + bool(head)) + head + b"".join(ops)
        cred = u32(0, 0, self.uid, self.uid, 0)
        rpc = u32(self.xid, 0, 2, 100003, 4, 1, 1) + opaque(cred) + u32(0, 0) + args
        self.conn.send(self.xid, rpc)
        xid, m = self.message()
        assert xid == self.xid and m.u32() == 0
        m.u32()
        m.opaque()
        assert m.u32() == 0
        status = m.u32()
        m.opaque()
        m.u32()
        if head:
            assert (m.u32(), m.u32()) == (53, 0)
            m.bytes(16 + 16)
            self.flags = m.u32()
        if status:
            raise Failed(ops[0][:4], status)
        return Take(m.b[4:])

    def idle(self, seconds):
        """Lets callbacks come, and renews the lease."""
        end = time.monotonic() + seconds
        while True:
            self.compound(u32(24))
            if time.monotonic() >= end:
                return
            time.sleep(0.05)

    def open(self, name, access=READ, claim=NULL, fh=None, extra=b"", want=0):
        how = u32(18, 0, access | want, 0) + struct.pack(">Q", self.clientid) + opaque(b"owner") + u32(0, claim)
        how += extra + (opaque(name) if claim == NULL else b"")
        r = self.compound(u32(22) + opaque(fh) if fh else u32(24), how, u32(10))
        for _ in range(3):
            r.u32()  # PUTFH's status, OPEN and its status
        stateid = r.bytes(16)
        r.bytes(4 + 8 + 8 + 4)
        r.bitmap()
        kind = r.u32()
        deleg = None
        if kind in (1, 2):
            assert kind == 1 or access & WRITE or claim == PREVIOUS
            deleg = r.bytes(16)
            self.to_return = r.u32()
            if kind == 2:
                assert r.u32() == 1  # by size
                r.u64()
            r.bytes(12)
            r.opaque()
        elif kind == 3 and r.u32() in (1, 2):
            r.u32()
        assert kind <= 3, kind
        r.u32(), r.u32()
        return stateid, r.opaque(), deleg

    def close(self, stateid, fh):
        self.compound(u32(22) + opaque(fh), u32(4, 0) + stateid)

    def give(self, stateid, fh):
        self.compound(u32(22) + opaque(fh), u32(8) + stateid)

    def write(self, fh, data, stateid=bytes(16)):
        self.compound(u32(22) + opaque(fh), u32(38) + stateid + struct.pack(">QI", 0, 2) + opaque(data))

    def read(self, fh, stateid):
        r = self.compound(u32(22) + opaque(fh), u32(25) + stateid + struct.pack(">QI", 0, 100))
        r.bytes(4 + 4 + 4 + 4)
        return r.opaque()

    def attrs(self, fh):
        """Change attribute and size."""
        r = self.compound(u32(22) + opaque(fh), u32(9, 1, 1 << 3 | 1 << 4))
        r.bytes(4 + 4 + 4 + 4 + 4 + 4)
        return r.u64(), r.u64()

    def free(self, stateid):
        self.compound(u32(45) + stateid)


def status_of(call, *args, **kw):
    try:
        call(*args, **kw)
    except Failed as e:
        return e.status
    return 0


def delegated(c, name=b"file", access=READ):
    stateid, fh, deleg = c.open(name, access)
    assert deleg, "no delegation was given"
    c.close(stateid, fh)
    return fh, deleg


def until(what, *clients, seconds=60):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it has not come"
        for c in clients:
            c.idle(0)
        time.sleep(0.02)


def recall(proto, port):
    """An open for writing waits until the delegation is back; every client is told."""
    a, b, w = (Client(proto, port, n) for n in (b"holder", b"second", b"writer"))
    fh, d = delegated(a)
    _, d2 = delegated(b)
    assert a.read(fh, d) == b"data\n"
    assert status_of(w.open, b"file", WRITE) == DELAY
    until(lambda: a.recalled and b.recalled, a, b)
    assert a.recalled == [d] and b.recalled == [d2]
    assert status_of(w.give, d, fh) == BAD_STATEID
    a.give(d, fh)
    assert status_of(w.open, b"file", WRITE) == DELAY
    b.give(d2, fh)
    stateid, fh, deleg = w.open(b"file", WRITE)
    assert not deleg
    w.write(fh, b"new data\n", stateid)
    w.close(stateid, fh)
    assert not a.open(b"file")[2], "delegated, so shortly after a conflict"


def write_recall(proto, port):
    """Who reads, or asks what the file looks like, waits until what the holder has written is there."""
    a, w = Client(proto, port, b"holder"), Client(proto, port, b"reader")
    fh, d = delegated(a, access=BOTH)
    stateid, _, again = a.open(b"file", READ)  # by the same descriptor: a lease forbids another
    assert not again and a.read(fh, stateid) == b"data\n"
    assert not a.recalled
    assert status_of(w.read, fh, bytes(16)) == DELAY
    until(lambda: a.recalled, a)
    assert a.recalled == [d]
    assert status_of(w.open, b"file") == DELAY
    a.write(fh, b"written late\n", d)
    a.give(d, fh)
    assert w.attrs(fh)[1] == 13
    stateid, fh, deleg = w.open(b"file")
    assert not deleg, "delegated, so shortly after a conflict"
    assert w.read(fh, stateid) == b"written late\n"


def write_getattr(proto, port, *command):
    """A command asks what the file looks like: the holder is asked, and keeps it."""
    a = Client(proto, port, b"holder")
    fh, d = delegated(a, access=BOTH)
    change, size = a.attrs(fh)
    assert size == 5 and a.asked == 0
    a.on_getattr = lambda: (change + 1, 100)
    p = subprocess.Popen(command)
    until(lambda: p.poll() is not None, a)
    assert p.returncode == 0
    assert a.asked and not a.recalled
    a.give(d, fh)


def write_silent(proto, port):
    """It does not say: who asks is told to come later, until it is revoked."""
    a, w = Client(proto, port, b"holder"), Client(proto, port, b"reader")
    fh, d = delegated(a, access=BOTH)
    a.on_getattr = lambda: None
    assert status_of(w.attrs, fh) == DELAY
    until(lambda: status_of(w.attrs, fh) != DELAY, a)
    assert w.attrs(fh)[1] == 5
    assert a.recalled, "the recall has waited for the answer"
    until(lambda: a.flags & RECALLABLE_REVOKED, a)
    assert status_of(a.write, fh, b"too late", d) == DELEG_REVOKED


def revoke(proto, port, answer):
    """A holder that is alive and does not give back, or does not even answer."""
    a, w = Client(proto, port, b"holder"), Client(proto, port, b"writer")
    fh, d = delegated(a)
    a.on_recall = {"taken": lambda s: 0, "refused": lambda s: BAD_STATEID, "silent": lambda s: None}[answer]
    until(lambda: status_of(w.write, fh, b"by force\n") != DELAY, a)
    assert a.recalled
    until(lambda: a.flags & RECALLABLE_REVOKED, a)
    assert status_of(a.read, fh, d) == DELEG_REVOKED
    a.free(d)
    a.idle(0)
    assert not a.flags & RECALLABLE_REVOKED
    assert not a.open(b"other")[2], "it gets more"


def vanish(proto, port):
    """A holder that is gone: its lease ends."""
    a, w = Client(proto, port, b"holder"), Client(proto, port, b"writer")
    fh, _ = delegated(a)
    a.conn.s.close()
    until(lambda: status_of(w.write, fh, b"in the end\n") != DELAY, w)


def local(proto, port, path, access=READ):
    """A program on the server opens the file."""
    a = Client(proto, port, b"holder")
    stateid, fh, d = a.open(b"file", access)  # stays open: the lease must go by itself
    assert d, "no delegation was given"
    opened = threading.Event()

    def writer():
        with open(path, "w") as f:
            opened.set()
            f.write("local\n")

    t = threading.Thread(target=writer)
    t.start()
    until(lambda: a.recalled, a)
    assert not opened.is_set(), "the program was not kept waiting"
    a.give(d, fh)
    t.join(60)
    assert opened.is_set()
    assert a.read(fh, stateid) == b"local\n"


def write_local(proto, port, path):
    """A program on the server opens the file to read."""
    a = Client(proto, port, b"holder")
    fh, d = delegated(a, access=BOTH)
    p = subprocess.Popen(["cat", path], stdout=subprocess.PIPE)
    until(lambda: a.recalled, a)
    assert p.poll() is None, "the program was not kept waiting"
    a.write(fh, b"written late\n", d)
    a.give(d, fh)
    assert p.communicate()[0] == b"written late\n"


def other(proto, port, *command, access=READ):
    """Another client, by a command: it may not end before the delegation is back."""
    a = Client(proto, port, b"holder")
    fh, d = delegated(a, access=access)
    p = subprocess.Popen(command)
    until(lambda: a.recalled, a)
    assert p.poll() is None, "it has not waited"
    if access & WRITE:
        a.write(fh, b"written late\n", d)
    a.give(d, fh)
    until(lambda: p.poll() is not None, a)
    assert p.returncode == 0


def many(proto, port, folder, count):
    """More than there may be: opens go on, without."""
    a, w = Client(proto, port, b"holder"), Client(proto, port, b"writer")
    given = {}
    for i in range(int(count)):
        name = b"n%d" % i
        with open(os.path.join(os.fsencode(folder), name), "w"):
            pass
        stateid, fh, deleg = a.open(name)
        a.close(stateid, fh)
        if deleg:
            given[name] = fh, deleg
    print(len(given), "of", count)
    assert 0 < len(given) < int(count)
    name, (fh, deleg) = next(iter(given.items()))
    assert status_of(w.open, name, WRITE) == DELAY
    until(lambda: a.recalled, a)
    a.give(deleg, fh)
    w.open(name, WRITE)
    a.conn.s.close()  # with all of them


def write_other(proto, port, *command):
    other(proto, port, *command, access=BOTH)


def write_hold(proto, port):
    """As hold(): the data is written only when another wants it."""
    a = Client(proto, port, b"holder")
    fh, d = delegated(a, access=BOTH)
    print("held", flush=True)
    sys.stdin.read()
    a = Client(proto, port, b"holder", reclaim=True)
    stateid, fh, d = a.open(b"", BOTH, claim=PREVIOUS, fh=fh, extra=u32(2))
    assert d and not a.to_return, "the delegation could not be reclaimed"
    a.close(stateid, fh)
    a.reclaim_complete()
    w = Client(proto, port, b"reader")
    until(lambda: status_of(w.open, b"file") != GRACE, a)
    assert status_of(w.open, b"file") == DELAY
    until(lambda: a.recalled, a)
    a.write(fh, b"written late\n", d)
    a.give(d, fh)
    stateid, fh, _ = w.open(b"file")
    assert w.read(fh, stateid) == b"written late\n"


def hold(proto, port):
    """Holds one until its input ends, then reclaims it from the server's next run."""
    a = Client(proto, port, b"holder")
    fh, d = delegated(a)
    print("held", flush=True)
    sys.stdin.read()
    a = Client(proto, port, b"holder", reclaim=True)
    # before it is known whether the backchannel works
    stateid, fh, d = a.open(b"", claim=PREVIOUS, fh=fh, extra=u32(1))
    assert d, "the delegation could not be reclaimed"
    a.reclaim_complete()
    assert a.read(fh, d) == b"data\n"
    a.close(stateid, fh)
    until(lambda: status_of(a.open, b"", claim=CUR_FH, fh=fh, extra=d) != GRACE, a)
    stateid, fh, none = a.open(b"", claim=CUR_FH, fh=fh, extra=d)
    assert not none
    a.close(stateid, fh)
    w = Client(proto, port, b"writer")
    assert status_of(w.open, b"file", WRITE) == DELAY
    until(lambda: a.recalled, a)
    assert a.recalled == [d]
    a.give(d, fh)
    w.open(b"file", WRITE)


if __name__ == "__main__":
    cases = (recall, revoke, vanish, local, other, many, hold, write_recall, write_getattr, write_silent, write_local,
             write_other, write_hold)
    {f.__name__: f for f in cases}[sys.argv[3]](sys.argv[1], int(sys.argv[2]), *sys.argv[4:])
