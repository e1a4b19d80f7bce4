/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * upgrade: a daemon replaces itself by the program that is installed now (`rnfs upgrade`).
 *
 *     asked -> CHECKED --> PAUSED --> STILL --> RECORDED --> exec --> the successor (successor.h)
 *                  |          |  ^       |          |          |
 *                  |          v  |       v          v          |
 *                  \---->  RESUMED, with a sentence for the command <---/
 *
 *     CHECKED   the installed program reads records of this format, and takes the arguments of
 *               this process (installed.h)
 *     PAUSED    the workers read no requests: these wait in the kernel. The pause lasts PAUSE_NS at
 *               most; then the workers go on for a moment, because requests under way may need
 *               requests that wait. Waits for a lock are put off at the first pause (again.h), and
 *               begin anew in the successor, or when the daemon has given up
 *     STILL     no request is under way, written data is safe on the server, and delegations and
 *               layouts are back. A daemon that is not still within TRY_NS tells the command the
 *               reason
 *     RECORDED  record.h. Until exec nothing has been given up, at the server or in the kernel: a
 *               failure leaves the daemon as it was
 *
 * With the option survive the holder starts the successor, and RECORDED is the ledger as it is at
 * that moment (survivor_replace()). If that successor cannot take over, the holder starts the
 * former program again, which goes on, and the command is told (holder.h).
 *
 * Otherwise the successor is the same process, so the service manager, auto_unmount and control
 * groups see no end. Signals wait from the exec until the successor catches signals. If the
 * successor fails, the mount ends.
 *
 * All steps are the main thread's. The control thread only passes the command's connection on.
 */
#ifndef RNFS_FS_PROGRAM_UPGRADE_H
#define RNFS_FS_PROGRAM_UPGRADE_H

#include "fs/known/fs.h"

/* A command wants a successor; fd, the connection, is taken over. The main thread is woken. False:
 * another command waits already, and fd is the caller's. Any thread. */
bool upgrade_ask(struct fs *fs, int fd);
/* Does a command wait? */
bool upgrade_is_asked(const struct fs *fs);
/* Goes as far as possible, and returns only if there is no successor. */
void upgrade_run(struct fs *fs);

#endif
