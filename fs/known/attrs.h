/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * attrs: attributes of a file as the server told them, and rights.
 *
 * Each answer counts as of the time at which the daemon asked the server. All times are of
 * clock_ns(). `seen` orders answers, and `from` invalidates all earlier ones:
 *
 *     state     seen        from       attr
 *     none      0           0          nothing known
 *     known     > touched   any        valid as of `seen`
 *     touched   < touched   any        from before a change by this mount: not used as an answer
 *     invalid   0           > 0        the last attributes, known to be wrong, or perhaps wrong
 *
 *     event           none      known     touched   invalid
 *     attrs_note()    known     known     known     known      if attrs_note() takes the answer
 *     attrs_touch()   none      touched   touched   invalid
 *     attrs_doubt()   invalid   invalid   invalid   invalid
 *
 * attrs_note() takes an answer that is newer than the attributes known. If the server was asked
 * before the known attributes came, the server may have answered the two calls in either order:
 * then the change attribute tells the newer answer. An answer to a call sent before `from` is not
 * taken.
 *
 * Any thread may call any function. The lock is a leaf.
 */
#ifndef RNFS_FS_KNOWN_ATTRS_H
#define RNFS_FS_KNOWN_ATTRS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "fs/known/grant.h"
#include "fs/known/told.h"
#include "nfsproto/nfs_client.h"
#include "transport/lock.h"

struct attrs {
	/* When attributes last changed through this mount. Attributes that the server was asked for
	 * earlier (by a listing, for example) must not be believed. */
	_Atomic uint64_t touched;
	_Atomic uint64_t end; /* the newest size that the server told, or that an append made */
	/* a symbolic link has changed, and the kernel may have read the old target */
	atomic_bool relinked;
	atomic_bool removed; /* a directory: this mount has removed or replaced its name */

	struct mutex lock;
	struct nfs_attr attr GUARDED_BY(lock); /* the newest known */
	uint64_t seen GUARDED_BY(lock); /* when the server was asked for attr; 0: attr is invalid */
	uint64_t asked GUARDED_BY(lock); /* seen, also if attr is invalid */
	uint64_t came GUARDED_BY(lock);	 /* when attr came */
	uint64_t from GUARDED_BY(lock);	 /* attributes that were asked for before are invalid */
	struct grant_list grants GUARDED_BY(lock);
	/* rights from ACCESS calls sent before are invalid */
	uint64_t rights_seen GUARDED_BY(lock);
	/* when the server was last asked for entries of the directory; 0: never */
	uint64_t listed GUARDED_BY(lock);
	/* The last result of attrs_next_timeout(), in seconds; since when the function has returned
	 * that result (0: never called); and the change attribute that the result belongs to. */
	unsigned timeout GUARDED_BY(lock);
	uint64_t timeout_at GUARDED_BY(lock);
	uint64_t timeout_of GUARDED_BY(lock);
};

void attrs_init(struct attrs *a);
void attrs_finish(struct attrs *a);

/* This mount changes the file. */
void attrs_touch(struct attrs *a);
uint64_t attrs_touched(const struct attrs *a);

/* Notes told.attr, as of told.asked, with told.alone. True: a user may have lost the
 * right to search the directory: the mode lets fewer users in, the owner or group is another, or
 * the directory changed, not through this mount, without a name made or removed (an ACL, for
 * example). */
bool attrs_note(struct attrs *a, const struct told *told);
/* Invalidates attributes: the server must be asked again. attrs_doubt_rights(): rights, too (the
 * handle is stale). */
void attrs_doubt(struct attrs *a);
void attrs_doubt_rights(struct attrs *a);

/* The attributes that the server was asked for after `since`, if this mount has not changed the
 * file meanwhile. *seen: when the server was asked. */
bool attrs_known(struct attrs *a, uint64_t since, struct nfs_attr *attr, uint64_t *seen);
/* The server, asked at *asked, has told *attr. If newer attributes are known, stores those, and the
 * time at which the server was asked for those, although their answer came earlier. Of two answers
 * with one change attribute the one asked for later is newer: a server may tell the time of a
 * change a moment before the size. True: the stored attributes are another version. */
bool attrs_newer(struct attrs *a, struct nfs_attr *attr, uint64_t *asked);
/* Is attr, which the server was asked for at `asked`, older than the attributes known, valid or
 * not? *from: attributes asked for before are invalid. */
bool attrs_is_old(struct attrs *a, const struct nfs_attr *attr, uint64_t asked, uint64_t *from);
/* Was the server asked after `asked` for attributes that are known now? Also true if the attributes
 * of that time are known to be wrong. */
bool attrs_is_past(struct attrs *a, uint64_t asked);
/* Has the server told nothing of the file since `since`, and has this mount not changed the file?
 */
bool attrs_is_older(struct attrs *a, uint64_t since);
/* Has the server ever told attributes? */
bool attrs_has(struct attrs *a);
/* When the server last told anything of the file, or the attributes were invalidated. */
uint64_t attrs_last(struct attrs *a);

/* The mode that the server last told, and when the server was asked. Another client may have
 * changed the mode since. */
uint32_t attrs_mode(struct attrs *a, uint64_t *seen);
/* How many names the file has, as far as is known; at least 1. */
uint32_t attrs_links(struct attrs *a);
/* The server has answered ESTALE for the file. True: the file is a directory that this mount has
 * removed. *attr are then the last attributes, with no links, as a local file system shows them to
 * processes that have the directory open. */
bool attrs_removed(struct attrs *a, struct nfs_attr *attr);
/* The server is about to be asked for entries of the directory. The access time in earlier
 * attributes does not show that access: attrs_known_dir() does not return such attributes. */
void attrs_listing(struct attrs *a);
bool attrs_known_dir(struct attrs *a, uint64_t since, struct nfs_attr *attr, uint64_t *seen);

/* The rights that the server gives cred. See grant.h. */
void attrs_note_access(struct attrs *a, const struct rpc_cred *cred, uint32_t known,
	uint32_t allowed, uint64_t seen);
bool attrs_known_access(struct attrs *a, const struct rpc_cred *cred, uint32_t want, uint64_t since,
	uint32_t *allowed);

/* For how many seconds the kernel may believe attributes with this change attribute that the kernel
 * is told now: min at first and after each change. The time doubles each time that the server was
 * asked again and the file had not changed, up to max (acregmin etc. in nfs(5)). */
unsigned attrs_next_timeout(struct attrs *a, uint64_t change, unsigned min, unsigned max);
/* The last result of attrs_next_timeout(); min before that, and for attributes that have changed
 * since. */
unsigned attrs_timeout(struct attrs *a, unsigned min, unsigned max);

#endif
