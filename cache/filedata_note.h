/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * filedata_note: the note about the safety of a file's data (filedata.h), for a successor of the
 * daemon.
 */
#ifndef RNFS_CACHE_FILEDATA_NOTE_H
#define RNFS_CACHE_FILEDATA_NOTE_H

#include "cache/filedata.h"

/* Puts the note, or drops the note if there is neither unstable data nor a loss. Does nothing
 * without a ledger. */
void filedata_put_note_locked(struct filedata *d) REQUIRES(d->lock);
/* Only gen has changed. */
void filedata_note_gen_locked(struct filedata *d) REQUIRES(d->lock);

#endif
