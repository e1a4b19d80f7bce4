/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * announce: a server that does not answer, and one that answers again.
 *
 * The log always says so. With the option `notify` the user's desktop says so too, by
 * notify-send(1). With the option `patience`, while the server is silent, requests end after that
 * many seconds, so that no program waits longer; written data is kept, and sent once the server
 * answers.
 *
 *     ANSWERS --a call has timed out--> SILENT --a reply has come--> ANSWERS
 */
#ifndef RNFS_FS_COHERENCE_ANNOUNCE_H
#define RNFS_FS_COHERENCE_ANNOUNCE_H

#include "fs/known/fs.h"

/* Sets the bound that the kernel has for each request; 0: none. To be called before requests are
 * served. */
void announce_bound(struct fs *fs, uint64_t ns);
/* The server has become silent, or answers again. Any thread; does not wait. */
void announce_silence(struct fs *fs, bool silent);
/* Must the main thread look at requests more often, to end requests that wait? */
bool announce_hurries(const struct fs *fs);
/* Tells the desktop of a change since the last call. For the main thread, about once a second. */
void announce_tick(struct fs *fs);

#endif
