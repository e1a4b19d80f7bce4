/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sidecar: rnfs --fd-from SOCKET, which gets its mount from a mounter.
 *
 * A process has one mounter at most (handover.h). After sidecar_begin() the connection stays open
 * until the process ends; the mounter learns of the end from the closed connection. All functions
 * but sidecar_tell() are for a process with one thread.
 */
#ifndef RNFS_CLI_SIDECAR_H
#define RNFS_CLI_SIDECAR_H

#include <stdbool.h>

#include "transport/err.h"

/* If argv has --fd-from SOCKET: waits for a mounter at SOCKET, a minute at most, and makes *argv a
 * new command line. The new command line lacks --fd-from, and ends with the mounter's options,
 * source and /dev/fd/N. So where an option is given twice, the mounter's counts. The caller frees
 * the new *argv with free(); the strings stay until the process ends. Does nothing without the
 * option. 0, or -1 with *e set. */
int sidecar_begin(int *argc, char ***argv, struct err *e);

/* The directory where the mounter has mounted, for the log; NULL: no mounter. */
const char *sidecar_directory(void);

/* Is the mounter, or may the mounter be, in another PID namespace? Only with a mounter. */
bool sidecar_is_foreign(void);

/* Tells the mounter, if any, that the mount is served (NULL), or a sentence: why the mount is not
 * served, or that data is lost. After one sentence nothing more is sent. Any thread. */
void sidecar_tell(const char *sentence);

#endif
