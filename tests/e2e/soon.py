# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""soon: waits for what nobody else waits for."""
import os
import time


def soon(what):
    """The server is told, but nobody waits for that: only that it comes to be seen is sure."""
    for _ in range(300):
        try:
            if what():
                return
        except FileNotFoundError:
            pass
        time.sleep(0.1)
    raise AssertionError("it is not seen")


def gone(path):
    try:
        os.close(os.open(path, os.O_RDONLY))
        return False
    except FileNotFoundError:
        return True
