/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ranges: the locked byte ranges of a file, by lock owner: which ranges conflict, and how many are
 * allowed.
 */
#ifndef RNFS_SERVE_STATE_RANGES_H
#define RNFS_SERVE_STATE_RANGES_H

#include "contrib/serve/state/stateid.h"

/* A conflicting or granted byte range. end is inclusive. */
struct lock_want {
	uint32_t type; /* nfs_lock_type4 */
	uint64_t first, last;
};
bool lock_type_writes(uint32_t type);

/* The first ends all ranges of a lock state (an open has none). The second: has st any range? */
void ranges_drop_locked(struct st *st) REQUIRES(st->obj->lock);
bool ranges_any_locked(const struct st *st) REQUIRES(st->obj->lock);
/* The lock state of another owner that conflicts with w, and its *range; or NULL. */
struct st *ranges_conflict_locked(struct obj *o, uint64_t clientid, const struct nfs4_opaque *owner,
	const struct lock_want *w, const struct lock_range **range) REQUIRES(o->lock);
/* Would the owner get w, given the locks of other owners? */
bool ranges_free_locked(struct obj *o, uint64_t clientid, const struct nfs4_opaque *owner,
	const struct lock_want *w) REQUIRES(o->lock);
/* Has owner any range of o? */
bool ranges_held_locked(struct obj *o, const struct client *c, const struct nfs4_opaque *owner)
	REQUIRES(o->lock);
/* The first gives mine the range w, and clears the range in other lock states of mine's owner,
 * through other opens of o: ranges of one owner never overlap. Both: NFS4_OK; NFS4ERR_SERVERFAULT:
 * a state has as many ranges as it may have; NFS4ERR_DELAY: out of memory. After a failure the
 * owner has the same ranges as before. */
uint32_t ranges_add_locked(struct obj *o, struct st *mine, const struct lock_want *w)
	REQUIRES(o->lock);
uint32_t ranges_clear_locked(struct st *st, uint64_t first, uint64_t last) REQUIRES(st->obj->lock);

#endif
