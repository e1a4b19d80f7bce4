/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * holder: the process that outlives a daemon, with the option survive.
 *
 *     started --news HOLD--> holding --the daemon is killed--> a successor is started --HOLD--> ...
 *        |                      |                                    |
 *        |                      '--news LEAVE--> ending              '--fails--> the mount ends
 *        '--the daemon ends-> the holder ends in the same way
 *
 * The holder is the parent of the daemon. The daemon gives the holder the FUSE device, the ledger
 * and the memory file of its pool. So the kernel does not end the mount with the daemon, and the
 * notes and the written data stay. If a signal ends the daemon, the holder starts the same program
 * with these files (survivor.h). The successor makes a ledger of its own, and gives the holder that
 * one: until then the holder keeps the former one, for another successor.
 *
 * The holder reads no request and talks to no server. It has one thread, which sleeps, but looks
 * twice a second whether the daemon is dying. A thread of a killed daemon may wait in the kernel
 * for an answer that only a successor gives. Then the process cannot end, and its parent is not
 * told.
 *
 * `rnfs upgrade` (upgrade.h) has the holder start another program:
 *
 *     holding --news REPLACE, and the daemon ends--> TRIAL: a successor of the other program
 *        ^                                              |         |
 *        '-------------------HOLD-----------------------'         '--ends before it holds--> BACK:
 *        '-------------------HOLD-------------------- a successor of the former program <----'
 *
 * The former program stays open until the other one holds the mount. A successor on trial changes
 * nothing at the server that another successor could not go on with, and leaves the mount as it is
 * when it fails. The holder kills a successor on trial that does not hold the mount in time.
 *
 * If the holder cannot take all files of a HOLD (too many are open, say), the ledger that the
 * holder keeps is out of date. So no successor follows, and the mount ends with that daemon.
 *
 * A successor that means to end without having taken over says LEAVE first. If a successor ends
 * otherwise, another one follows, after a pause that doubles each time.
 *
 * A program that crashes again and again is not started for ever: the holder gives up after
 * HOLDER_FAILURES deaths one after the other of successors that had not taken over yet, or after
 * HOLDER_CRASHES deaths within a minute that were not by SIGKILL. Then the mount ends.
 *
 * If there is no process for a successor, the holder waits for one. A signal that ends the mount
 * ends that wait after some seconds, a second signal at once.
 *
 * Signals to the holder go on to the daemon. One that ends the mount goes on to each later
 * successor too, because the daemon may die before it has ended the mount.
 */
#ifndef RNFS_FS_PROGRAM_HOLDER_H
#define RNFS_FS_PROGRAM_HOLDER_H

#include <stdbool.h>

#include "fs/program/daemon.h"

#define HOLDER_FAILURES 5u
#define HOLDER_CRASHES	10u
#define HOLDER_TRIAL_MS 30000u

/* The files of a mount, as numbers of descriptors. */
enum holder_file {
	HOLDER_DEVICE,
	HOLDER_LEDGER,
	HOLDER_POOL,
	HOLDER_ROW, /* the clone of the device (device.h): may be missing */
	HOLDER_FILES
};

/* Why a successor is started. */
enum holder_way {
	HOLDER_KILLED, /* the daemon was killed */
	HOLDER_TRIAL,  /* another program: if it fails, the former program is started again */
	HOLDER_BACK,   /* the former program, because the other one has failed */
	HOLDER_WAYS
};

/* Goes on as the daemon, in a child, with this process as the holder. To be called without threads,
 * after daemon_start(). mountpoint: an absolute path. trial_ms: the time of a trial, such as
 * HOLDER_TRIAL_MS. Returns the daemon's end of the connection to the holder, or -1 with *e set. */
int holder_start(struct daemon *d, bool foreground, const char *mountpoint, unsigned trial_ms,
	struct err *e);

/* For the daemon: from now on the holder has these files, and no others. file[HOLDER_ROW] may be
 * -1. False with errno: EPIPE or ECONNRESET if the holder has gone; otherwise the kernel had no
 * memory, and the holder keeps the files that it had. Any thread. */
bool holder_hold(int fd, const int file[HOLDER_FILES]);
/* For the daemon, with nothing under way. When this process ends, the holder starts the open file
 * `program` as the successor. The successor answers the command at `asker`. Requests have waited
 * since paused_at (clock_ns()). False: the holder has gone. */
bool holder_replace(int fd, int program, int asker, uint64_t paused_at);
/* For the daemon: the mount ends, and needs no successor. */
void holder_leave(int fd);

#endif
