# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""NFS-Ganesha as the server of a round, in the round's own network. How it ends is not ours to judge."""
import contextlib
import os
import signal
import subprocess

from .processes import Server, ended, wait_until

HELPER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "ganesha")


def missing():
    """Why it cannot be run here, or None."""
    done = subprocess.run([HELPER], capture_output=True, text=True)
    return done.stdout.strip() or done.stderr.strip() if done.returncode else None


class Ganesha(Server):
    # Its file system is asked to sync for COMMIT, not for a change of a directory.
    sync_names = False

    def __init__(self, rig):
        super().__init__(rig)
        self.port, self.helper, self.its_pid = 2049, None, None

    pid = property(lambda self: self.its_pid)
    alive = property(lambda self: self.its_pid is not None and not ended(self.its_pid))

    def start(self):
        if self.helper is None:
            with open(self.log, "ab") as log:
                self.helper = subprocess.Popen([HELPER, self.rig.disk.export], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                               stderr=log, text=True, env={**self.rig.env, "GANESHA_LEASE": str(self.rig.LEASE)})
        else:
            self.helper.stdin.write("again\n")
            self.helper.stdin.flush()
        said = self.helper.stdout.readline().strip()
        if not said:
            raise RuntimeError("Ganesha does not start")
        self.its_pid = int(said)

    # It is the helper's child, which waits for it: it can be gone after any look at it.

    def send(self, sig):
        if self.its_pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.its_pid, sig)

    def kill(self, seconds=10):
        self.send(signal.SIGKILL)
        self.send(signal.SIGCONT)
        if self.its_pid is not None:
            wait_until(lambda: ended(self.its_pid), seconds)

    def stop(self):
        self.kill()
        if self.helper:
            self.helper.stdin.close()
            self.helper.wait(30)

    def inspect(self):
        return True
