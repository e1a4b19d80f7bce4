/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * seek: finds an object by its handle alone, where the kernel cannot. A server that may not open by
 * handle needs this (any server not run by root): in the run after the one that issued the handle,
 * or after the file was moved.
 *
 * First, the request itself follows the handle's trail (handle.h). It reads the directories on the
 * way, up to a bound; in each, seldom more than one entry has the right number. An object that is
 * not found there was moved, or lies deeper than the trail. Then a thread goes through the whole
 * exported directory, once for all objects wanted at the time. Callers get the answer to come
 * again. The thread reads directories only, and keeps only wanted objects. A walk ends after a
 * minute, and the thread then rests for as long as the walk took.
 *
 * An object that the thread does not find may exist all the same: a program renamed the object
 * meanwhile, the directory is too large for a minute, or the server's user may not read a part of
 * the directory. So the result counts for ten minutes at most, and then the server looks again. If
 * descriptors or memory were short, the result does not count at all, and callers get the answer to
 * come again.
 *
 * An object is found when its number and time of birth are right, and its kernel handle as far as
 * known. If a handle has neither a birth nor a kernel handle, the server does not look: the number
 * alone could be that of a new file. The walk enters only directories below the root, and follows
 * no links, and so stays inside the export. The walk enters only directories that the server's own
 * user may read.
 *
 * The lock is held only for look-ups in the list, and no
 * other lock is taken inside.
 */
#ifndef RNFS_SERVE_EXPORT_SEEK_H
#define RNFS_SERVE_EXPORT_SEEK_H

#include <stdbool.h>

#include "contrib/serve/export/handle.h"

struct obj;
struct obj_table;
struct seek;

/* NULL without memory. The thread is started when first needed. */
struct seek *seek_new(struct obj_table *t);
/* Ends the thread. Accepts NULL, returns NULL. */
struct seek *seek_free(struct seek *s);

/* Finds the object id by its trail and by a walk. 0 with a reference; -EAGAIN: the server is
 * looking for the object; -ESTALE: the object was not found. Call with the server's own identity
 * (ident.h); any thread. */
int seek_find(struct seek *s, const struct handle_id *id, const struct handle_trail *trail,
	struct obj **out);

#endif
