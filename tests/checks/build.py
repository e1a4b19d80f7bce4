# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
build: the builds that the tests are of, and copies of them for an ordinary user.

A warning of the compiler fails a build.
"""
import os
import shutil
import subprocess
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILDS = os.environ.get("RNFS_BUILDS", os.path.join(ROOT, "build-check"))

# A sanitizer's report takes lines alone of the debug information, and a build with less of both is made in half the time.
# At -O1 gcc knows less of the lengths of strings; the other builds look at them.
# The build called asan has the fuzzers too: each file is compiled for both at once.
OPTIONS = {
    "plain": ["-Dwarning_level=2"],
    "asan": ["-Dfuzz=true", "-Db_sanitize=address,undefined", "-Db_lundef=false", "-Doptimization=1", "-Dc_args=-g1"],
    "tsan": ["-Db_sanitize=thread", "-Doptimization=1", "-Dc_args=-g1 -Wno-format-truncation"],
    "O0": ["-Dbuildtype=plain", "-Dc_args=-O0"],
    "release": ["-Dbuildtype=plain", "-Dc_args=-O3 -DNDEBUG"],
    "clang": ["-Dbuildtype=debugoptimized"],
}
CLANG = ("clang", "asan")
SANITIZED = ("asan", "tsan")

# What the end-to-end tests need of a build and of the sources.
PROGRAMS = ["fs/rnfs", "contrib/serve/rnfs-serve", "contrib/rnfs-wire/rnfs-wire",
            "contrib/systemd/rnfs@.service"]
SOURCES = ["tests/e2e", "tests/scenario", "tests/bench", "tests/tap.sh", "contrib/desktop"]


def path(name):
    return os.path.join(BUILDS, name)


def make(name):
    """Compiles the build called name. None, or what went wrong."""
    env = dict(os.environ)
    if name in CLANG:
        env["CC"] = "clang"
        env["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"  # of its time a fifth is for page faults
    if name in SANITIZED and shutil.which("ld.lld"):
        env["CC_LD"] = "lld"
    steps = [["meson", "compile", "-C", path(name)]]
    if not os.path.exists(os.path.join(path(name), "build.ninja")):
        steps.insert(0, ["meson", "setup", path(name)] + OPTIONS[name])
    for step in steps:
        done = subprocess.run(step, cwd=ROOT, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, errors="replace", check=False)
        lines = done.stdout.splitlines()
        if done.returncode:
            return "\n".join(lines[-60:])
        warnings = [line for line in lines if "warning:" in line]
        if warnings:
            return "\n".join(warnings)
    return None


def publish(name):
    """A copy of the build and the tests that every user can reach, wherever the checkout is."""
    folder = tempfile.mkdtemp(prefix="rnfs-public.")
    os.chmod(folder, 0o755)
    programs = PROGRAMS + [os.path.join(where, f) for where in ("tests/tools", "tests/bench")
                           for f in os.listdir(os.path.join(path(name), where)) if os.access(os.path.join(path(name), where, f), os.X_OK)]
    for file in programs:
        source, target = os.path.join(path(name), file), os.path.join(folder, "build", file)
        if os.path.isfile(source):
            os.makedirs(os.path.dirname(target), exist_ok=True)
            shutil.copy(source, target)
    for source in SOURCES:
        source, target = os.path.join(ROOT, source), os.path.join(folder, source)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if os.path.isdir(source):
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    subprocess.run(["chmod", "-R", "a+rX", folder], check=True)
    return folder
