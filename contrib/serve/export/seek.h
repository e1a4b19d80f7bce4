/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * seek: finds an object of which there is only a handle, where the kernel does not: for a server
 * that may not open by handle (any that is not run by root), in the run after the one that issued
 * the handle, or after somebody has moved the file.
 *
 * First along the handle's trail (handle.h), in the request itself: it reads the directories on
 * the way, in which seldom more than one has the right number, up to a bound. What is not found so
 * was moved, or lies deeper than the trail tells: a thread then goes through the whole directory,
 * once for all that are looked for at that time, and callers are told to come again. It reads
 * directories only, keeps nothing of what it sees but what it was asked for, ends after a minute,
 * and rests for as long as it has worked. What it did not find is gone (gone.h).
 *
 * An object is found when number and time of birth are right, and the kernel's handle as far as it
 * is known. Without either of the latter two nothing is looked for: the number alone could be that
 * of a new file. Only directories below the root are entered, without following links, so that
 * nothing outside is reached; and only those that the server's own user may read.
 *
 * lock guards the list of wanted objects; it is held for look-ups in it only, and no other lock is
 * taken under it.
 */
#ifndef RNFS_SERVE_EXPORT_SEEK_H
#define RNFS_SERVE_EXPORT_SEEK_H

#include <stdbool.h>

#include "contrib/serve/export/handle.h"

struct obj;
struct obj_table;
struct seek;

/* NULL without memory. The thread is started when it is needed. */
struct seek *seek_new(struct obj_table *t);
/* Ends the thread. Accepts NULL, returns NULL. */
struct seek *seek_free(struct seek *s);

/* The object id that was issued with trail. 0 with a reference; -EAGAIN: it is being looked for;
 * -ESTALE: it is nowhere. With the server's own identity (ident.h); any thread. */
int seek_find(struct seek *s, const struct handle_id *id, const struct handle_trail *trail,
	struct obj **out);

#endif
