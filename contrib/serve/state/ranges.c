/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ranges: the locked byte ranges of a file.
 */
#include "contrib/serve/state/ranges.h"

#include <stdatomic.h>
#include <string.h>

#define RANGES_MAX 4096 /* of one lock owner on one file */

/* The ranges of st have changed. before: the former number of ranges. */
static void recount(struct st *st, uint32_t before) REQUIRES(st->obj->lock)
{
	atomic_fetch_add_explicit(
		&st->client->nranges, st->ranges.n - before, memory_order_relaxed);
	if (st->ranges.n > before)
		share_part_force(st->client->share, st->part, SHARE_RANGES, st->ranges.n - before);
	else
		share_part_give(st->client->share, st->part, SHARE_RANGES, before - st->ranges.n);
}

/* May st get another range? */
static bool may_grow(const struct st *st) REQUIRES(st->obj->lock)
{
	struct share *s = st->client->share;

	return st->ranges.n < RANGES_MAX &&
	       atomic_load_explicit(&st->client->nranges, memory_order_relaxed) <
		       share_part_end(s, st->part, SHARE_RANGES, STATE_MAX_RANGES) &&
	       share_part_room(s, st->part, SHARE_RANGES) > 0;
}

void ranges_drop_locked(struct st *st) REQUIRES(st->obj->lock)
{
	uint32_t before = st->ranges.n;

	lock_ranges_finish(&st->ranges);
	recount(st, before);
}

bool ranges_any_locked(const struct st *st) REQUIRES(st->obj->lock)
{
	return st->ranges.n > 0;
}

bool lock_type_writes(uint32_t type)
{
	return type == WRITE_LT || type == WRITEW_LT;
}

struct st *ranges_conflict_locked(struct obj *o, uint64_t clientid, const struct nfs4_opaque *owner,
	const struct lock_want *w, const struct lock_range **range) REQUIRES(o->lock)
{
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link) {
		if (st->kind != ST_LOCK || st_is_of(st, clientid, owner))
			continue;
		*range = lock_ranges_conflict(
			&st->ranges, w->first, w->last, lock_type_writes(w->type));
		if (*range)
			return st;
	}
	return NULL;
}

bool ranges_free_locked(struct obj *o, uint64_t clientid, const struct nfs4_opaque *owner,
	const struct lock_want *w) REQUIRES(o->lock)
{
	const struct lock_range *range;

	return !ranges_conflict_locked(o, clientid, owner, w, &range);
}

/* Allows st's next change to add ranges, and makes room for them. */
static uint32_t make_room(struct st *st) REQUIRES(st->obj->lock)
{
	if (!may_grow(st)) /* waiting does not help an owner that has too many itself */
		return NFS4ERR_SERVERFAULT;
	return lock_ranges_reserve(&st->ranges) ? NFS4ERR_DELAY : NFS4_OK;
}

/* There is room. */
static void clear(struct st *st, uint64_t first, uint64_t last) REQUIRES(st->obj->lock)
{
	uint32_t before = st->ranges.n;

	lock_ranges_clear(&st->ranges, first, last);
	recount(st, before);
}

uint32_t ranges_clear_locked(struct st *st, uint64_t first, uint64_t last) REQUIRES(st->obj->lock)
{
	uint32_t status = NFS4_OK;

	if (lock_ranges_splits(&st->ranges, first, last))
		status = make_room(st);
	if (status == NFS4_OK)
		clear(st, first, last);
	return status;
}

/* Is st another lock state of mine's owner, through another open? */
static bool is_other(const struct st *st, const struct st *mine)
{
	const struct nfs4_opaque owner = {mine->owner, mine->owner_len};

	return st != mine && st->kind == ST_LOCK && st_is_of(st, mine->client->id, &owner);
}

uint32_t ranges_add_locked(struct obj *o, struct st *mine, const struct lock_want *w)
	REQUIRES(o->lock)
{
	uint32_t status = make_room(mine), before = mine->ranges.n;
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link)
		if (status == NFS4_OK && is_other(st, mine) &&
			lock_ranges_splits(&st->ranges, w->first, w->last))
			status = make_room(st);
	if (status != NFS4_OK)
		return status;
	LIST_FOREACH (st, &o->states, obj_link)
		if (is_other(st, mine))
			clear(st, w->first, w->last);
	lock_ranges_set(&mine->ranges, w->first, w->last, lock_type_writes(w->type));
	recount(mine, before);
	return NFS4_OK;
}

bool ranges_held_locked(struct obj *o, const struct client *c, const struct nfs4_opaque *owner)
	REQUIRES(o->lock)
{
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_LOCK && ranges_any_locked(st) && st_is_of(st, c->id, owner))
			return true;
	return false;
}
