/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dirnames: until when answers about names in a directory are believed.
 *
 * The change attribute of a directory is its version. As long as the version stays, all answers
 * about names stay valid. An answer to a call sent at `seen` is
 *
 *     valid      if seen >= from, and this mount has not changed the directory since
 *     expired    otherwise: another client may have changed the name since
 *
 *     event                              effect on the answers so far
 *     the same version                   valid ones stay valid for another time-out
 *     another version, first after a     valid ones expire by attrs_touched(); the version may
 *     change by this mount               hide a change by another client, and is taken as known
 *     another version, otherwise         all expire: another client has changed the directory
 *     dirnames_doubt()                   all expire
 *     a change by this mount in flight   versions tell nothing (dirnames_naming_begin())
 *
 * names.h keeps the names, complete.h the knowledge that a directory has no other names.
 *
 * Any thread may call any function. The lock is a leaf. `own` are the attributes of the directory.
 */
#ifndef RNFS_FS_KNOWN_DIRNAMES_H
#define RNFS_FS_KNOWN_DIRNAMES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fs/known/attrs.h"
#include "transport/lock.h"

struct dirnames {
	atomic_uint recalls; /* jobs of the notifier for names in the directory */

	struct mutex lock;
	/* version: the change attribute that the server last told. version_at: when the server was
	 * asked for version. seen: when the server was last asked while the directory had that
	 * version. from: answers about names to calls sent before have expired. */
	uint64_t version GUARDED_BY(lock),
		version_at GUARDED_BY(lock), seen GUARDED_BY(lock), from GUARDED_BY(lock);
	/* the kernel must not be told to believe names that the server told before */
	uint64_t recalled GUARDED_BY(lock);
	/* when another client was last seen to change names; 0: never */
	uint64_t foreign_at GUARDED_BY(lock);
	unsigned naming GUARDED_BY(lock); /* requests in flight that make, move or remove names */
	/* looks: how often names were lately asked for. looks_at: since when looks counts.
	 * unlisted_until: the directory is not listed beside before (lister.h). */
	unsigned looks GUARDED_BY(lock);
	uint32_t looked_for GUARDED_BY(lock); /* the hash of the last name asked for */
	uint64_t looks_at GUARDED_BY(lock), unlisted_until GUARDED_BY(lock);
};

/* version: the change attribute of the directory as first told. */
void dirnames_init(struct dirnames *d, uint64_t version);
void dirnames_finish(struct dirnames *d);

/* The server, asked at `seen`, has told the change attribute. lost: also, a user may have lost the
 * right to search (attrs_note()). True: the kernel's names must be invalidated. */
bool dirnames_note(
	struct dirnames *d, const struct attrs *own, uint64_t change, uint64_t seen, bool lost);
/* An answer shows that another client has changed names. */
void dirnames_note_foreign(struct dirnames *d);
/* Names, or notes about them, may be wrong: invalidates all names told so far. */
void dirnames_doubt(struct dirnames *d);

/* Around a change of a name (made, moved or removed) by this mount; end also after a failure. This
 * mount knows its own changes, but does not see a change by another client in between. So names
 * told before keep their time-out, and names told later get a new one. */
void dirnames_naming_begin(struct dirnames *d);
void dirnames_naming_end(struct dirnames *d, struct attrs *own);
/* Is such a change in flight? dirnames_naming_begin() comes first, before the change is noted
 * elsewhere. */
bool dirnames_is_naming(struct dirnames *d);

/* Until when to believe an answer about a name that the server was asked for at `seen`: `timeout`
 * seconds after the directory was last known to be unchanged. 0: the answer has expired. */
uint64_t dirnames_until(
	struct dirnames *d, const struct attrs *own, uint64_t seen, unsigned timeout);
/* An answer to a call sent at `seen` tells the inode of a name, and, earlier in the same COMPOUND,
 * that the change attribute of the directory was `change`. Returns the time from which the name
 * counts, given all that is known by now. If the answer was the first to show another client's
 * change, the name counts from after that change. */
uint64_t dirnames_as_of(
	struct dirnames *d, const struct attrs *own, uint64_t change, uint64_t seen);
/* When the directory was last known to be unchanged since any time from *from on. */
uint64_t dirnames_seen(struct dirnames *d, const struct attrs *own, uint64_t *from);
/* The newest change attribute that is known not to come from this mount alone. */
uint64_t dirnames_version(struct dirnames *d);
/* Have names been invalidated in the kernel since `seen`, after dirnames_note() said so? */
bool dirnames_recalled(struct dirnames *d, uint64_t seen);
/* Has another client been seen to change the directory in the last `time` ns? */
bool dirnames_is_shared(struct dirnames *d, uint64_t time);

/* A program asks for, or makes, a name; the same name again does not count. Returns how often
 * programs lately did so; 0: the directory is not to be listed beside. */
unsigned dirnames_looked(struct dirnames *d, const char *name);
/* dirnames_looked() without counting a name. less: the last name did not count. */
unsigned dirnames_looks(struct dirnames *d, bool less);
/* The directory is not to be listed beside for `time` ns. */
void dirnames_leave_unlisted(struct dirnames *d, uint64_t time);

#endif
