# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""What a writer did and was told, line by line, in a file that no fault touches. A line is written whole by
one write(2), so that it survives the writer's being killed; what is promised stands there before the
promise is used for anything."""
import json
import os
import time


class Journal:
    def __init__(self, path):
        self.fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        self.longest = 0.0

    def say(self, what, *values):
        os.write(self.fd, json.dumps([time.monotonic(), what, *values]).encode() + b"\n")

    def timed(self, title, call, *arguments):
        """Calls, and notes how long it took where nothing before took longer."""
        began = time.monotonic()
        try:
            return call(*arguments)
        finally:
            took = time.monotonic() - began
            if took > self.longest:
                self.longest = took
                self.say("took", title, round(took, 3))


def read(path):
    """[time, what, values...] of each whole line."""
    try:
        with open(path, "rb") as f:
            return [json.loads(line) for line in f if line.endswith(b"\n")]
    except FileNotFoundError:
        return []
