#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
compose.py FILE SERVICE: the arguments of podman run, one a line, that start SERVICE as the compose file says.

Not there: the network, restarts, and the limit of memory, which podman does only with control groups.
"""
import os
import re
import shlex
import sys

import yaml

IGNORED = {"build", "depends_on", "restart", "mem_limit", "network_mode"}


def filled(text):
    """$$ is $, and ${NAME:-DEFAULT} of the environment."""
    named = re.sub(r"\$\{(\w+):-([^}]*)\}", lambda m: os.environ.get(m[1], m[2]), str(text))
    return named.replace("$$", "$")


def volume(v):
    if isinstance(v, str):
        return v
    return f"{filled(v['source'])}:{v['target']}:{v['bind']['propagation']}"


def check(h):
    test = h["test"]
    assert test[0] == "CMD"
    return ["--health-cmd", shlex.join(test[1:]), "--health-interval", "disable", "--health-start-period", h["start_period"]]


def arguments(s):
    options, command = [], s.get("command", [])
    for key, value in s.items():
        if key == "user":
            options += ["--user", value]
        elif key == "read_only":
            options += ["--read-only", "--read-only-tmpfs=false"]
        elif key == "cap_drop":
            options += [f"--cap-drop={c}" for c in value]
        elif key == "cap_add":
            options += [f"--cap-add={c}" for c in value]
        elif key == "security_opt":
            options += [f"--security-opt={o.replace(':', '=')}" for o in value]
        elif key == "devices":
            options += [f"--device={d}" for d in value]
        elif key == "tmpfs":
            options += [f"--tmpfs={t}" for t in value]
        elif key == "volumes":
            options += [f"--volume={volume(v)}" for v in value]
        elif key == "stop_grace_period":
            options += ["--stop-timeout", value.rstrip("s")]
        elif key == "healthcheck":
            options += check(value)
        elif key == "entrypoint":
            options += ["--entrypoint", value[0]]
            command = value[1:] + command
        elif key not in IGNORED | {"image", "command"}:
            raise SystemExit(f"compose.py: {key} is not known")
    return options + [s["image"]] + [filled(c) for c in command]


service = yaml.safe_load(open(sys.argv[1]))["services"][sys.argv[2]]
print("\n".join(arguments(service)))
