/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sidecar: rnfs --fd-from SOCKET, which has a mounter tell it what to serve.
 *
 * There is at most one mounter (handover.h). After sidecar_begin() the connection to it stays open
 * until the process ends, which tells the mounter of the end. All functions but sidecar_tell() are
 * for a process with one thread.
 */
#ifndef RNFS_CLI_SIDECAR_H
#define RNFS_CLI_SIDECAR_H

#include <stdbool.h>

#include "transport/err.h"

/* If argv has --fd-from SOCKET: waits for a mounter there, a minute at most, and makes *argv a
 * command line without it, to which the mounter's options, source and /dev/fd/N are added, so that
 * an option that both give is the mounter's. The caller frees the new *argv with free(); the
 * strings in it stay until the process ends. Does nothing else. 0, or -1 with *e set. */
int sidecar_begin(int *argc, char ***argv, struct err *e);

/* The directory where the mounter has mounted, for the log; NULL: there is no mounter. */
const char *sidecar_directory(void);

/* Whether the mounter is, or may be, in another PID namespace. There is a mounter. */
bool sidecar_is_foreign(void);

/* Tells the mounter, if there is one, that the mount is served (NULL), or a sentence: that it is
 * not, or that something is lost. After one sentence nothing more is told. Any thread. */
void sidecar_tell(const char *sentence);

#endif
