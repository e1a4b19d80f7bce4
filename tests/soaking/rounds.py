# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""Which rounds are played, and how one is: a seed makes the whole sequence, and each round of it alone."""
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import traceback
from dataclasses import asdict, dataclass

from . import ganesha
from .faults import FAULTS
from .rig import Rig
from .selftest import PLANTS

# What is played with other servers as well: nothing that takes their own options, or that only they would suffer from.
ELSEWHERE = {"ganesha": ("power-cut", "restart", "cut", "half-open", "server-stops", "daemon-stops", "daemon-stops-rival",
                         "disk-full", "killed", "mutated-answers"),
             "knfsd": ("power-cut", "restart", "cut", "half-open", "server-stops", "daemon-stops", "daemon-stops-rival",
                       "killed", "mutated-answers")}
ELSEWHERE_A_TURN = 3


@dataclass(frozen=True)
class Plan:
    """Everything about a round that is chosen. key: what its own choices start from."""
    name: str
    server: str
    ordinal: int
    key: str
    proto: str
    vers: str
    user: str
    disk: str
    sanitized: bool
    seconds: float

    def title(self):
        return f"{self.name}:{self.ordinal} over {self.proto}, NFS {self.vers}, as {self.user}" + \
            (f", on {self.disk}" if self.disk != "plain" else "") + (", sanitized" if self.sanitized else "")


def cards():
    """name: (server, fault). Those of other servers are called after them."""
    found = {name: ("rnfs-serve", fault) for name, fault in {**FAULTS, **PLANTS}.items()}
    for server, names in ELSEWHERE.items():
        found.update((f"{server}-{name}", (server, FAULTS[name])) for name in names)
    return found


CARDS = cards()


def plan(seed, name, ordinal, seconds):
    (server, fault), key = CARDS[name], f"{seed}/{name}/{ordinal}"
    r = random.Random(key + "/plan")
    proto, vers, user = r.choice(fault.protos), r.choice(fault.versions), r.choice(fault.users)
    sanitized = fault.sanitized if fault.sanitized is not None else r.random() < 0.3
    disk = r.choice(fault.disks)
    if server == "ganesha":  # which wants root, and a file system with handles; its locks of NFSv3 end with it
        proto, user, disk, vers = "tcp", "root", "ext4", r.choice(("4.1", "4.2"))
    if server == "knfsd":
        user, disk = "root", "guest"
    if os.geteuid() != 0:
        user, disk = "this user", "forgetfs" if "forgetfs" in fault.disks else disk
    return Plan(name, server, ordinal, key, proto, vers, user, disk, sanitized, seconds)


def deck(seed, only, seconds, servers):
    """Plans without end: all faults in random order, and a few with other servers; then all again."""
    names = list(FAULTS)
    elsewhere = [name for server in servers for name, (its, _) in CARDS.items() if its == server]
    if only and ":" in only:
        yield plan(seed, only.split(":")[0], int(only.split(":")[1]), seconds)
        return
    if only:
        names, elsewhere = [only], []
    turn = 0
    while True:
        r = random.Random(f"{seed}/deck/{turn}")
        chosen = names + r.sample(elsewhere, min(ELSEWHERE_A_TURN * len(servers), len(elsewhere)))
        for name in r.sample(chosen, len(chosen)):
            yield plan(seed, name, turn, seconds)
        turn += 1


def namespaces():
    """A command behind which a round has processes, mounts and ports of its own, all of which end with it. Of what others
    have mounted it keeps no copy: the daemons of those mounts could not end."""
    command = ["unshare", "--mount", "--pid", "--net", "--fork", "--mount-proc", "--kill-child", "--propagation", "private"]
    usable = os.geteuid() == 0 and subprocess.run([*command, "ip", "link", "set", "lo", "up"], stderr=subprocess.DEVNULL).returncode == 0
    leave = "umount --internal-only --lazy --no-canonicalize --all -t fuse.rnfs; exec \"$@\""
    return [*command, "sh", "-c", leave, "sh"] if usable else []


RUNNING = {}  # process of a round: whether it has namespaces
ENDED = threading.Event()  # no round is to begin any more


def end_all():
    """Ends the rounds that are being played. One without namespaces cleans up itself."""
    ENDED.set()
    for child, namespaced in list(RUNNING.items()):
        if not namespaced:
            child.terminate()
            try:
                child.wait(60)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        child.wait()


def play(chosen, top, prefix, again):
    """In a process of its own. A dictionary: violations, notes, figures, skip."""
    work = os.path.join(top, f"{chosen.name}-{chosen.ordinal}")
    os.makedirs(work)
    os.chmod(work, 0o755)
    result = os.path.join(work, "result")
    if chosen.server == "knfsd":
        prefix = []  # the guest is this machine's, and so are its ports
    command = [*prefix, sys.executable, again, "--play", json.dumps(asdict(chosen)), "--top", top]
    with open(os.path.join(work, "round.log"), "wb") as log:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        RUNNING[child] = bool(prefix)
        try:
            child.wait(chosen.seconds + 400)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        del RUNNING[child]
    try:
        with open(result) as f:
            return json.load(f)
    except FileNotFoundError:
        with open(os.path.join(work, "round.log"), errors="replace") as f:
            said = f.read()[-1500:]
        return {"violations": [("broken", 1, f"the round has no end; {said}")], "notes": [], "figures": {}, "skip": None}


def inside(chosen, top):
    """That process: plays the round and leaves the result in a file."""
    work = os.path.join(top, f"{chosen.name}-{chosen.ordinal}")
    if os.getpid() == 1:  # in namespaces of our own
        subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    _, fault = CARDS[chosen.name]
    skip = fault.missing(chosen) or (ganesha.missing() if chosen.server == "ganesha" else None)
    outcome = {"violations": [], "notes": [], "figures": {}, "skip": skip}
    if not outcome["skip"]:
        rig = Rig(chosen, work, os.path.join(top, "bin"), top)
        try:
            try:
                fault(rig, chosen.seconds).play()
                rig.settle()
            except Exception:
                rig.violation("broken", 1, traceback.format_exc())
                rig.read_reports()
        finally:
            rig.remove()
        outcome.update(violations=rig.violations, notes=rig.notes, figures=rig.figures())
    with open(os.path.join(work, "result.new"), "w") as f:
        json.dump(outcome, f)
    os.rename(os.path.join(work, "result.new"), os.path.join(work, "result"))


def discard(chosen, top):
    shutil.rmtree(os.path.join(top, f"{chosen.name}-{chosen.ordinal}"), ignore_errors=True)
