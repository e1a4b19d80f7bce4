# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
suites: what there is to run.

Each suite is a function that yields its jobs, all of them, or the part that is run each time. A title
begins with the name of the build and is one job's alone: --only finds it again.
"""
import getpass
import glob
import os

from build import ROOT, path
from job import Job

IS_ROOT = os.geteuid() == 0
TRANSPORTS = ("iwarp", "tcp")

# End-to-end scripts that an ordinary user runs over both transports, each time.
E2E_SHORT = ("files", "restart", "silence", "replaced", "locks", "roundtrips")
# The others, over iwarp only. Not "coherence" and "races": the simulator plays their crowds (tests/simulation/crowd_*.c), and more of them in a minute.
E2E_SHORT_IWARP = ("programs", "errors", "mounts", "duplicates", "appends", "space", "acls", "options", "ending", "kills", "late", "leases", "floods", "durable", "two-mounts", "changes", "cache", "writeback", "unstable", "scenarios",
                   "nlm", "delegations", "delegated", "holding", "believing", "refusals", "replays", "unlinked", "dead-mounts", "service", "control", "referrals", "migration", "replication", "upgrade")
# What takes root to be set up.
E2E_SHORT_ROOT = ("memory", "users", "local-users", "filesystems", "attributes", "mounts", "losses", "doctor", "desktop", "fstab", "dead-mounts", "control", "connections", "layouts", "survive")
E2E = ("files", "programs", "errors", "mounts", "options", "control", "users", "local-users", "floods", "duplicates", "restart", "losses", "silence",
       "ending", "kills", "late", "leases", "delegations", "delegated", "holding", "replaced", "unlinked", "races", "durable", "attributes", "filesystems", "scenarios", "two-mounts",
       "changes", "cache", "writeback", "unstable", "memory", "locks", "nlm", "appends", "space", "acls", "roundtrips", "believing",
       "replays", "doctor", "desktop", "fstab", "dead-mounts", "service", "connections", "referrals", "migration", "replication", "layouts", "upgrade", "survive")
GANESHA = ("files", "programs", "filesystems", "replaced", "locks", "space", "roundtrips", "upgrade", "survive")
NFS3 = ("files", "programs", "locks")

# Of containers: they take namespaces and groups of their own, as root.
E2E_CONTAINERS = ("logs", "sidecar")

# On a machine that has just started: what goes by ages of names, attributes and pages.
E2E_YOUNG = ("believing", "cache", "changes", "delegated", "roundtrips")

# What is run with a server that speaks version 1 of RPC-over-RDMA only: the others use version 2.
E2E_V1_SHORT = ("files", "delegated")
E2E_V1 = E2E_V1_SHORT + ("roundtrips", "programs", "floods", "silence", "kills", "leases", "writeback", "locks", "holding")

# And at both ends the version 2 of 2016.
E2E_V2_2016_SHORT = ("delegated",)
E2E_V2_2016 = E2E_V2_2016_SHORT + ("files", "programs", "floods", "silence", "roundtrips", "writeback", "locks")

# And the version 1 of 2005.
E2E_LEGACY_SHORT = ("files",)
E2E_LEGACY = E2E_LEGACY_SHORT + ("programs", "floods", "silence", "delegated", "roundtrips", "writeback", "locks", "acls")

# The virtual machine's cases that are run each time, in their short form.
VM_SHORT = ("case-short-client", "case-short-server", "case-short-dialects")


def program_names(folder, prefix):
    sources = glob.glob(os.path.join(ROOT, folder, "**", prefix + "*.c"), recursive=True)
    return sorted(os.path.basename(s)[len(prefix):-2] for s in sources)


def e2e_job(build, script, label, user=False, limit=900, **env):
    """One end-to-end script. label says what is special about it."""
    env = {"BUILD": path(build)} | env
    if user:
        label, env = label + " as an ordinary user", {k: v for k, v in env.items() if k != "BUILD"}
    elif label:
        label += f" as {getpass.getuser()}"
    return Job(f"{build} e2e {script}{label}", [f"tests/e2e/{script}"], build, env, limit, user=user)


def e2e_over(build, script, transports, users=(True, False), limit=900):
    """script over each transport, by an ordinary user and by whom we are."""
    for proto in transports:
        for user in users if IS_ROOT else (False,):
            yield e2e_job(build, script, f" over {proto}", user, limit, PROTO=proto)


def unit_of(build):
    for name in program_names("tests/unit", "test-"):
        yield Job(f"{build} unit {name}", [f"{path(build)}/tests/unit/test-{name}"], build)
    for name in ("rpc_auth", "rpc_cb", "rpc_client", "rpc_load", "rpc_paths", "rpc_payload", "rpc_req", "serve-fault_xprt"):
        # A call that is sent again is encoded over the message that the server has answered. The wire gives that order; TSan
        # cannot see it.
        if (build, name) == ("tsan", "rpc_payload"):
            continue
        yield Job(f"{build} unit {name} over iwarp", [f"{path(build)}/tests/unit/test-{name}", "iwarp"], build)


def source(everything):
    for path_ in sorted(glob.glob(os.path.join(ROOT, "tests/source/*"))):
        name = os.path.basename(path_)
        yield Job(f"source {name}", [f"tests/source/{name}"], "plain", {"BUILD": path("plain")}, limit=600)


def unit(everything):
    yield from unit_of("plain")


def e2e_v1(scripts):
    for script in scripts:
        yield e2e_job("plain", script, " over iwarp, RPC-over-RDMA version 1,", PROTO="iwarp", RDMA_VERSIONS="1")


# And with send-based placement.
E2E_V2_RTR_SHORT = ("writeback",)
E2E_V2_RTR = E2E_V2_RTR_SHORT + ("files", "programs", "floods", "silence", "roundtrips", "delegated", "locks", "kills")


def e2e_v2_rtr(scripts):
    for script in scripts:
        yield e2e_job("plain", script, " over iwarp, RPC-over-RDMA version 2-rtr,", PROTO="iwarp",
                      RDMA_VERSIONS="1,2-rtr", RDMA_VERSION="2-rtr")


def e2e_v2_2016(scripts):
    for script in scripts:
        yield e2e_job("plain", script, " over iwarp, RPC-over-RDMA version 2-2016,", PROTO="iwarp",
                      RDMA_VERSIONS="1,2-2016", RDMA_VERSION="2-2016")


def e2e_legacy(scripts):
    yield e2e_job("plain", "legacy", "", limit=300, PROTO="iwarp")
    for script in scripts:
        yield e2e_job("plain", script, " over iwarp, RPC-over-RDMA version 1-legacy,", PROTO="iwarp",
                      RDMA_VERSIONS="1-legacy", RDMA_VERSION="1-legacy")


def e2e_short():
    for script in E2E_SHORT:
        yield from e2e_over("plain", script, TRANSPORTS, users=(True,))
    for script in E2E_SHORT_IWARP:
        yield from e2e_over("plain", script, ("iwarp",), users=(True,))
    yield from e2e_v1(E2E_V1_SHORT)
    yield from e2e_v2_2016(E2E_V2_2016_SHORT)
    yield from e2e_legacy(E2E_LEGACY_SHORT)
    yield from e2e_v2_rtr(E2E_V2_RTR_SHORT)
    for script in E2E_SHORT_ROOT + E2E_CONTAINERS:
        yield e2e_job("plain", script, " over iwarp", PROTO="iwarp")
    yield from limits()
    yield e2e_job("plain", "register", "", limit=120)
    yield e2e_job("plain", "data-servers", "", limit=120)
    yield e2e_job("plain", "find", "", limit=120)
    yield e2e_job("plain", "completion", "", limit=120)
    yield e2e_job("plain", "manifests", "", limit=120)
    yield e2e_job("plain", "ganesha", "")
    for script in ("files", "locks", "appends", "changes", "roundtrips"):
        yield e2e_job("plain", script, " over tcp, NFS 3,", PROTO="tcp", VERS="3")
    for script in ("believing", "replays"):
        yield e2e_job("plain", script, " over tcp, NFS 3,", PROTO="tcp", VERS="3")
    for script in ("scenarios", "unlinked"):
        yield e2e_job("plain", script, ", NFS 3,", PROTO="iwarp", VERS="3")
    yield e2e_job("plain", "connections", " over tcp, NFS 3,", PROTO="tcp", VERS="3")
    yield e2e_job("plain", "delegated", " over iwarp, four connections,", PROTO="iwarp", NCONNECT="4")
    yield e2e_job("plain", "nlm", " at Ganesha, NFS 3,", SERVER="ganesha", VERS="3")
    yield e2e_job("plain", "files", " at Ganesha, NFS 4.1,", SERVER="ganesha", VERS="4.1")


def limits():
    """Whether an ordinary user's jobs have an ordinary user's limits."""
    if IS_ROOT:
        yield e2e_job("plain", "limits", "", True, 120, PROTO="iwarp")


def e2e_all():
    yield from limits()
    yield e2e_job("plain", "workloads", " over iwarp", limit=1800, PROTO="iwarp")
    yield e2e_job("plain", "survive", " over tcp, with a server that stands still,", limit=1800, PROTO="tcp", KILLS="20", BRIEF="1", FREEZE="1")
    yield e2e_job("plain", "survive", " over tcp, four connections,", limit=1800, PROTO="tcp", KILLS="20", BRIEF="1", NCONNECT="4")
    for script in E2E:
        yield from e2e_over("plain", script, TRANSPORTS)
    yield from e2e_v1(E2E_V1)
    yield from e2e_v2_2016(E2E_V2_2016)
    yield from e2e_legacy(E2E_LEGACY)
    yield from e2e_over("plain", "refusals", ("iwarp",))
    yield from e2e_v2_rtr(E2E_V2_RTR)
    # The simulator's crowds once more, on Linux itself.
    yield e2e_job("plain", "coherence", " over iwarp", True, PROTO="iwarp")
    for script in E2E_CONTAINERS:
        yield e2e_job("plain", script, " over iwarp", PROTO="iwarp")
    yield e2e_job("plain", "ganesha", "")
    for version in ("4.1", "4.2"):
        for script in GANESHA:
            yield e2e_job("plain", script, f" at Ganesha, NFS {version},", SERVER="ganesha", VERS=version)
    yield e2e_job("plain", "register", "", limit=120)
    yield e2e_job("plain", "data-servers", "", limit=120)
    yield e2e_job("plain", "find", "", limit=120)
    for proto in TRANSPORTS:
        for script in ("duplicates", "losses", "unstable", "durable", "appends", "changes", "roundtrips", "replays", "unlinked") + NFS3:
            yield e2e_job("plain", script, f" over {proto}, NFS 3,", PROTO=proto, VERS="3")
    for script in ("files", "locks", "delegated", "kills", "leases", "silence", "replays", "upgrade"):
        yield e2e_job("plain", script, " over iwarp, four connections,", PROTO="iwarp", NCONNECT="4")
    for version in ("3", "4.1", "4.2"):
        yield e2e_job("plain", "files", f" at Ganesha, NFS {version}, four connections,", SERVER="ganesha", VERS=version, NCONNECT="4")
    for version in ("3", "4.1"):
        for script in ("connections", "upgrade"):
            yield e2e_job("plain", script, f" over tcp, NFS {version},", PROTO="tcp", VERS=version)
    for script in NFS3 + ("nlm", "roundtrips"):
        yield e2e_job("plain", script, " at Ganesha, NFS 3,", SERVER="ganesha", VERS="3")
    for script in ("delegated", "writeback", "locks", "roundtrips", "replays"):
        yield e2e_job("plain", script, " over iwarp, delegated to write,", PROTO="iwarp", DELEGATIONS="write")
    yield e2e_job("plain", "listings", "", limit=300)
    yield e2e_job("plain", "completion", "", limit=120)
    yield e2e_job("plain", "manifests", "", limit=120)
    if IS_ROOT:
        yield e2e_job("plain", "gluster", "", limit=600)
        yield e2e_job("plain", "packages", "", limit=1200)
        yield e2e_job("plain", "podman", "", limit=1800)
    yield e2e_job("plain", "patience", " over tcp", limit=300, PROTO="tcp")
    yield e2e_job("plain", "patience", " over iwarp", limit=300, PROTO="iwarp")
    for version in ("3", "4.1"):
        for script in ("scenarios", "races"):
            yield e2e_job("plain", script, f", NFS {version},", PROTO="iwarp", VERS=version)


def shortened(jobs):
    """The same with a smaller tree of files to copy."""
    for job in jobs:
        job.env["HEADERS"] = "/usr/include/linux"
        yield job


def e2e(everything):
    yield from e2e_all() if everything else shortened(e2e_short())


def wire(everything):
    for version in ("4.2", "3"):
        # in version 1 of RPC-over-RDMA: tshark itself reads no other
        yield Job(f"plain wire, NFS {version}", ["tests/e2e/wire"], "plain",
                  {"BUILD": path("plain"), "VERS": version, "RDMA_VERSIONS": "1"})
    yield Job("plain wire, RPC-over-RDMA version 2", ["tests/e2e/wire2"], "plain", {"BUILD": path("plain")})


def sanitized(build, everything):
    for script in ("files", "programs"):
        if everything:
            yield from e2e_over(build, script, TRANSPORTS, limit=2400)
        else:
            yield from shortened(e2e_over(build, script, ("iwarp",), users=(True,)))


def on_a_young_machine(jobs, *options):
    """Each of jobs in a time namespace of its own that is a second old."""
    for job in jobs:
        job.title += " on a young machine"
        job.command[:0] = ["tests/tools/young", *options]
        yield job


def young(everything):
    if everything:  # else "asan" has them
        yield from on_a_young_machine(unit_of("plain"))
    yield from on_a_young_machine(shortened(e2e_job("plain", s, " over iwarp", PROTO="iwarp") for s in E2E_YOUNG))


def asan(everything):
    yield from unit_of("asan") if everything else on_a_young_machine(unit_of("asan"), "--or-old")
    yield from sanitized("asan", everything)


def tsan(everything):
    if everything:
        yield from unit_of("tsan")
        yield from sanitized("tsan", everything)


def variants(everything):
    if everything:
        for build in ("O0", "release", "clang"):
            yield from unit_of(build)


def fuzz(everything):
    seconds = os.environ.get("RNFS_FUZZ_SECONDS", "10" if everything else "2")
    seed = [] if everything else ["11"]  # the same each time
    for name in program_names("tests/fuzz", "fuzz-"):
        yield Job(f"fuzz {name}", ["tests/fuzz/one", f"{path('asan')}/tests/fuzz/fuzz-{name}", seconds] + seed, "asan",
                  limit=120 + int(seconds))


def soak(everything):
    minutes = os.environ.get("RNFS_SOAK_MINUTES", "5" if everything else "1")
    env = {"BUILD": path("plain"), "SANITIZED": path("asan")}
    yield Job("plain soak self-test", ["tests/soak", "--self-test"], "plain", env, also=("asan",))
    seed = [] if everything else ["--seed", "11"]  # the same choices each time
    yield Job(f"plain soak, {minutes} minutes", ["tests/soak", minutes] + seed, "plain", env,
              limit=600 + 60 * int(minutes), weight=2, also=("asan",))


def sim(everything):
    minutes = os.environ.get("RNFS_SIM_MINUTES", "10")
    yield Job("plain sim parts", ["tests/simulation/parts", "40" if everything else "4"], "plain", {"BUILD": path("plain")})
    # In the short check a failure belongs to the commit: 200 runs, some two minutes on two cores. The long one looks for new failures.
    title, seeds = (f"{minutes} minutes", ["--minutes", minutes]) if everything else ("the same seeds", ["--from", "1", "--to", "100"])
    yield Job(f"plain sim, {title}", ["tests/sim"] + seeds, "plain", {"BUILD": path("plain")},
              limit=900 + 60 * int(minutes), weight=2)


def bench(everything):
    yield Job("plain bench smoke as an ordinary user", ["tests/bench/smoke"], "plain", limit=900, user=True)
    if everything:
        yield Job("plain bench smoke", ["tests/bench/smoke"], "plain", {"BUILD": path("plain")}, limit=900)


def vm(everything):
    title = "every case" if everything else "the short cases"
    yield Job(f"plain vm {title}", ["tests/vm/run"] + ([] if everything else list(VM_SHORT)), "plain",
              {"BUILD": path("plain")}, limit=14400 if everything else 7200, weight=2)


# In the order in which they are best started: the longest first.
SUITES = {"vm": vm, "e2e": e2e, "source": source, "unit": unit, "young": young, "wire": wire, "asan": asan, "soak": soak, "sim": sim, "fuzz": fuzz,
          "bench": bench, "tsan": tsan, "variants": variants}
