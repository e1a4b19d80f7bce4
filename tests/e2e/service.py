# SPDX-License-Identifier: GPL-2.0-or-later
# SPDX-FileCopyrightText: The rnfs authors
"""
A service manager for one service: starts it as systemd would, and notes each datagram that it sends.

    service.py LOG WATCHDOG-SECONDS COMMAND...

LOG gets one line for each datagram; the pid is in LOG.pid. Ends when the service has ended, with its status.
"""
import os
import select
import socket
import subprocess
import sys
import tempfile


def start(path, seconds, command):
    env = os.environ | {"NOTIFY_SOCKET": path, "WATCHDOG_USEC": str(int(float(seconds) * 1e6))}
    # WATCHDOG_PID is that of the service itself, which only its own process knows
    return subprocess.Popen(["sh", "-c", 'export WATCHDOG_PID=$$; exec "$@"', "sh", *command], env=env)


def main():
    log, seconds, *command = sys.argv[1:]
    folder = tempfile.mkdtemp()
    manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    manager.bind(f"{folder}/notify")
    service = start(f"{folder}/notify", seconds, command)
    with open(f"{log}.pid", "w") as f:
        print(service.pid, file=f)
    with open(log, "a") as f:
        over = False
        while not over:
            over = service.poll() is not None
            while select.select([manager], [], [], 0.05)[0]:
                print(manager.recv(4096).decode(), file=f, flush=True)
    os.unlink(f"{folder}/notify")
    os.rmdir(folder)
    sys.exit(service.returncode)


if __name__ == "__main__":
    main()
