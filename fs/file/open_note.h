/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * open_note: the way in which a request OPEN opens its file, for the successor of a daemon that is
 * killed (ledger.h): by a name in a directory, or by the handle of the file.
 *
 * The noted answer to an OPEN belongs to an OPEN of the same form (nfs_former.h). The successor
 * does not know the names of files. So the note says which form the OPEN has that was sent last,
 * from before the call until the end of the request. If the kernel sends the request again, the
 * file is opened in that way.
 */
#ifndef RNFS_FS_FILE_OPEN_NOTE_H
#define RNFS_FS_FILE_OPEN_NOTE_H

#include "fs/kernel/request.h"
#include "transport/err.h"

struct open_notes; /* the notes of a former daemon */

/* NULL when out of memory. */
struct open_notes *open_notes_new(struct ledger *l);
/* Accepts NULL, returns NULL. */
struct open_notes *open_notes_free(struct open_notes *all);

/* op, the OPEN of r, is about to be submitted. */
void open_note_put(struct request *r, const struct nfs_op *op);

/* Takes over the notes of a daemon that was killed. 0, or -1 with *e set: a note is damaged, or no
 * memory. Before requests are served. */
int open_notes_former(struct fs *fs, const struct former *former, struct err *e);
/* Is there such a note of the request with that number? */
bool open_note_is(struct fs *fs, uint64_t request);
/* r comes again: the form of its OPEN. The name is put into r->name; empty: by handle. False: there
 * is no note. */
bool open_note_take(struct request *r, struct nfs_fh *dir);
/* The kernel sends no request again any more. */
void open_notes_end(struct open_notes *all);

#endif
