/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lock: byte-range locks (RFC 8881 sections 9.1 to 9.3, 18.10 to 18.12), with POSIX behaviour:
 * one owner's ranges do not overlap, a new lock replaces what the owner had there, and unlocking
 * may split a range.
 *
 * Locks bind the clients of this server among each other; programs that use the directory locally
 * do not see them. Nobody waits here: a refused client asks again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/state.h"

#define RANGES_MAX 4096 /* of one lock owner on one file */

struct lock_range {
	LIST_ENTRY(lock_range) link;
	uint64_t first, last; /* both inclusive */
	bool write;
};

static void counted(struct st *st, int n)
{
	st->nranges += (uint32_t)n;
	__atomic_add_fetch(&st->client->nranges, (uint32_t)n, __ATOMIC_RELAXED);
}

static void drop_range(struct st *st, struct lock_range *g)
{
	LIST_REMOVE(g, link);
	free(g);
	counted(st, -1);
}

/* May st get another range? */
static bool may_grow(const struct st *st)
{
	return st->nranges < RANGES_MAX &&
	       __atomic_load_n(&st->client->nranges, __ATOMIC_RELAXED) < STATE_MAX_RANGES;
}

void lock_drop_locked(struct st *st)
{
	struct lock_range *g;

	while ((g = LIST_FIRST(&st->ranges)) != NULL)
		drop_range(st, g);
}

bool lock_any_locked(const struct st *st)
{
	return !LIST_EMPTY(&st->ranges);
}

static bool want_write(uint32_t type)
{
	return type == WRITE_LT || type == WRITEW_LT;
}

/* Section 18.10.3: a length of all ones reaches to the end; zero and overflow are invalid. */
static uint32_t bounds(uint64_t offset, uint64_t length, uint64_t *last)
{
	if (length == 0)
		return NFS4ERR_INVAL;
	if (length == NFS4_LENGTH_EOF)
		*last = UINT64_MAX;
	else if (length - 1 > UINT64_MAX - offset)
		return NFS4ERR_INVAL;
	else
		*last = offset + (length - 1);
	return NFS4_OK;
}

/* A range of somebody other than owner that forbids the wanted lock. */
static struct st *conflict_locked(struct obj *o, struct client *c, const struct nfs4_opaque *owner,
	const struct lock_want *w, struct lock_range **range)
{
	struct lock_range *g;
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link) {
		if (st->kind != ST_LOCK || (st->client == c && st->owner_len == owner->len &&
						   memcmp(st->owner, owner->data, owner->len) == 0))
			continue;
		LIST_FOREACH (g, &st->ranges, link) {
			if (g->first <= w->last && g->last >= w->first &&
				(g->write || want_write(w->type))) {
				*range = g;
				return st;
			}
		}
	}
	return NULL;
}

static void describe(
	const struct st *st, const struct lock_range *g, struct nfs4_lock_denied *d, uint8_t *owner)
{
	d->offset = g->first;
	d->length = g->last == UINT64_MAX ? NFS4_LENGTH_EOF : g->last - g->first + 1;
	d->type = g->write ? WRITE_LT : READ_LT;
	d->owner.clientid = st->client->id;
	memcpy(owner, st->owner, st->owner_len);
	d->owner.owner.data = owner;
	d->owner.owner.len = st->owner_len;
}

/* Takes [first, last] out of st's ranges. spare: for a split; used ones become NULL. */
static void carve(struct st *st, uint64_t first, uint64_t last, struct lock_range **spare)
{
	struct lock_range *g, *next;

	for (g = LIST_FIRST(&st->ranges); g; g = next) {
		next = LIST_NEXT(g, link);
		if (g->first > last || g->last < first)
			continue;
		if (g->first < first && g->last > last) {
			struct lock_range *tail = *spare;

			*spare = NULL;
			*tail = *g;
			tail->first = last + 1;
			g->last = first - 1;
			LIST_INSERT_AFTER(g, tail, link);
			counted(st, 1);
			return; /* ranges do not overlap: no other can be hit */
		}
		if (g->first < first) {
			g->last = first - 1;
		} else if (g->last > last) {
			g->first = last + 1;
		} else {
			drop_range(st, g);
		}
	}
}

/* Would carve() need its spare? */
static bool splits(const struct st *st, uint64_t first, uint64_t last)
{
	struct lock_range *g;

	LIST_FOREACH (g, &st->ranges, link)
		if (g->first < first && g->last > last)
			return true;
	return false;
}

/* Neighbours of one kind become one. */
static void merge(struct st *st, struct lock_range *n)
{
	struct lock_range *g, *next;

	for (g = LIST_FIRST(&st->ranges); g; g = next) {
		next = LIST_NEXT(g, link);
		if (g == n || g->write != n->write)
			continue;
		if (g->last != UINT64_MAX && g->last + 1 == n->first)
			n->first = g->first;
		else if (n->last != UINT64_MAX && n->last + 1 == g->first)
			n->last = g->last;
		else
			continue;
		drop_range(st, g);
	}
}

static uint32_t add_range(struct st *st, const struct lock_want *w)
{
	struct lock_range *n = malloc(sizeof(*n)), *spare = malloc(sizeof(*spare));

	if (!n || !spare || !may_grow(st)) {
		free(n);
		free(spare);
		/* waiting does not help who holds too many himself */
		return n && spare ? NFS4ERR_SERVERFAULT : NFS4ERR_DELAY;
	}
	carve(st, w->first, w->last, &spare);
	n->first = w->first;
	n->last = w->last;
	n->write = want_write(w->type);
	LIST_INSERT_HEAD(&st->ranges, n, link);
	counted(st, 1);
	merge(st, n);
	free(spare);
	return NFS4_OK;
}

static void bump_seqid(struct st *st, struct nfs4_stateid *out)
{
	pthread_mutex_lock(&st->client->lock);
	if (++st->sid.seqid == 0)
		st->sid.seqid = 1;
	*out = st->sid;
	pthread_mutex_unlock(&st->client->lock);
}

static uint32_t find(struct client *c, struct obj *o, const struct nfs4_stateid *sid,
	enum st_kind kind, struct st **out)
{
	uint32_t status;

	pthread_mutex_lock(&c->lock);
	status = st_find_locked(c, o, sid, out);
	if (status == NFS4_OK && (*out)->kind != kind)
		status = NFS4ERR_BAD_STATEID;
	if (status == NFS4_OK)
		(*out)->refs++;
	else
		*out = NULL;
	pthread_mutex_unlock(&c->lock);
	return status;
}

/* The lock state of owner under open op (NULL: one that needs none), made if need be. *undo: to be
 * put after unlocking. */
static uint32_t owner_state_locked(struct state *s, struct client *c, struct obj *o, struct st *op,
	const struct nfs4_opaque *owner, struct st **out, struct st **undo)
{
	uint32_t status;
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link) {
		if (st->kind == ST_LOCK && st->client == c && st->open == op &&
			st->owner_len == owner->len &&
			memcmp(st->owner, owner->data, owner->len) == 0) {
			*out = st;
			return NFS4_OK;
		}
	}
	if (op && op->closed)
		return NFS4ERR_BAD_STATEID;
	st = st_alloc(c, obj_ref(s->objs, o), ST_LOCK, owner->data, owner->len);
	if (!st) {
		obj_unref(s->objs, o); /* not the last: the caller has one */
		return NFS4ERR_DELAY;
	}
	status = st_insert(c, st);
	if (status != NFS4_OK) {
		*undo = st;
		return status;
	}
	pthread_mutex_lock(&c->lock);
	if (op)
		op->refs++;
	st->open = op;
	st->sid.seqid = 0; /* bump_seqid() makes it 1 */
	pthread_mutex_unlock(&c->lock);
	LIST_INSERT_HEAD(&o->states, st, obj_link);
	*out = st;
	return NFS4_OK;
}

/* Gives owner the range, unless somebody else's is in the way (*blocker, *d). *st: its lock state,
 * NULL: to be found or made under op. */
static uint32_t grant_locked(struct state *s, struct client *c, struct obj *o, struct st *op,
	const struct nfs4_opaque *owner, const struct lock_want *w, struct st **st,
	struct nfs4_lock_denied *d, uint8_t *denied_owner, uint64_t *blocker, struct st **undo)
{
	struct lock_range *range;
	struct st *other = conflict_locked(o, c, owner, w, &range);
	uint32_t status = NFS4_OK;

	*blocker = 0;
	if (other) {
		*blocker = other->client->id;
		describe(other, range, d, denied_owner);
		return NFS4ERR_DENIED;
	}
	if (!*st)
		status = owner_state_locked(s, c, o, op, owner, st, undo);
	return status == NFS4_OK ? add_range(*st, w) : status;
}

static uint32_t set_locked(struct state *s, struct client *c, struct obj *o, struct st *named,
	const struct nfs4_lock_args *a, const struct lock_want *w, struct nfs4_lock_res *r,
	uint8_t *denied_owner, uint64_t *blocker, struct st **undo)
{
	struct st *op = a->new_owner ? named : named->open, *st = a->new_owner ? NULL : named;
	struct nfs4_opaque owner = {named->owner, named->owner_len};
	uint32_t status;

	*blocker = 0;
	if (!(op->access &
		    (want_write(a->type) ? OPEN4_SHARE_ACCESS_WRITE : OPEN4_SHARE_ACCESS_READ)))
		return NFS4ERR_OPENMODE;
	if (a->new_owner)
		owner = a->owner.owner;
	status = grant_locked(s, c, o, op, &owner, w, &st, &r->denied, denied_owner, blocker, undo);
	if (status == NFS4_OK)
		bump_seqid(st, &r->stateid);
	return status;
}

uint32_t lock_set(struct state *s, struct client *c, struct obj *o, const struct nfs4_lock_args *a,
	struct nfs4_lock_res *r, uint8_t *denied_owner)
{
	struct lock_want w = {.type = a->type, .first = a->offset};
	uint32_t status = bounds(a->offset, a->length, &w.last);
	struct st *named, *undo = NULL;
	uint64_t blocker;

	if (status == NFS4_OK)
		status = find(c, o, a->new_owner ? &a->open_stateid : &a->lock_stateid,
			a->new_owner ? ST_OPEN : ST_LOCK, &named);
	if (status != NFS4_OK)
		return status;
	do {
		pthread_mutex_lock(&o->lock);
		status = set_locked(s, c, o, named, a, &w, r, denied_owner, &blocker, &undo);
		pthread_mutex_unlock(&o->lock);
		st_put(s, undo);
		undo = NULL;
	} while (blocker && blocker != c->id && client_evict_expired(s, blocker));
	st_put(s, named);
	return status;
}

uint32_t lock_test(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_lockt_args *a, struct nfs4_lock_denied *d, uint8_t *denied_owner)
{
	struct lock_want w = {.type = a->type, .first = a->offset};
	uint32_t status = bounds(a->offset, a->length, &w.last);
	struct lock_range *range;
	uint64_t blocker;
	struct st *other;

	if (status != NFS4_OK)
		return status;
	do {
		blocker = 0;
		pthread_mutex_lock(&o->lock);
		other = conflict_locked(o, c, &a->owner.owner, &w, &range);
		if (other) {
			blocker = other->client->id;
			describe(other, range, d, denied_owner);
		}
		pthread_mutex_unlock(&o->lock);
	} while (blocker && blocker != c->id && client_evict_expired(s, blocker));
	return blocker ? NFS4ERR_DENIED : NFS4_OK;
}

uint32_t lock_clear(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_locku_args *a, struct nfs4_stateid *out)
{
	struct lock_range *spare = malloc(sizeof(*spare));
	uint64_t last = 0;
	uint32_t status = bounds(a->offset, a->length, &last);
	struct st *st = NULL;

	if (!spare)
		status = NFS4ERR_DELAY;
	if (status == NFS4_OK)
		status = find(c, o, &a->stateid, ST_LOCK, &st);
	if (status == NFS4_OK) {
		pthread_mutex_lock(&o->lock);
		if (!may_grow(st) && splits(st, a->offset, last)) {
			status = NFS4ERR_SERVERFAULT;
		} else {
			carve(st, a->offset, last, &spare);
			bump_seqid(st, out);
		}
		pthread_mutex_unlock(&o->lock);
		st_put(s, st);
	}
	free(spare);
	return status;
}

static struct st *find_plain_locked(
	struct obj *o, struct client *c, const struct nfs4_opaque *owner)
{
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_LOCK && st->client == c && !st->open &&
			st->owner_len == owner->len &&
			memcmp(st->owner, owner->data, owner->len) == 0)
			return st;
	return NULL;
}

/* Without an open nothing else ends the state of an owner that has no range left: it is the
 * caller's to put. */
static struct st *retire_locked(struct client *c, struct st *st)
{
	if (!st || lock_any_locked(st) || !st_remove(c, st))
		return NULL;
	LIST_REMOVE(st, obj_link);
	return st;
}

uint32_t lock_set_plain(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *w, struct nfs4_lock_denied *d,
	uint8_t *denied_owner)
{
	struct st *st, *undo = NULL, *empty;
	uint64_t blocker;
	uint32_t status;

	do {
		pthread_mutex_lock(&o->lock);
		st = find_plain_locked(o, c, owner);
		status = grant_locked(
			s, c, o, NULL, owner, w, &st, d, denied_owner, &blocker, &undo);
		empty = status == NFS4_OK || undo ? NULL : retire_locked(c, st);
		pthread_mutex_unlock(&o->lock);
		st_put(s, undo);
		st_put(s, empty);
		undo = NULL;
	} while (blocker && blocker != c->id && client_evict_expired(s, blocker));
	return status;
}

uint32_t lock_clear_plain(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_opaque *owner, uint64_t first, uint64_t last)
{
	struct lock_range *spare = malloc(sizeof(*spare));
	struct st *st, *empty = NULL;
	uint32_t status = NFS4_OK;

	if (!spare)
		return NFS4ERR_DELAY;
	pthread_mutex_lock(&o->lock);
	st = find_plain_locked(o, c, owner);
	if (st && !may_grow(st) && splits(st, first, last)) {
		status = NFS4ERR_SERVERFAULT;
	} else if (st) {
		carve(st, first, last, &spare);
		empty = retire_locked(c, st);
	}
	pthread_mutex_unlock(&o->lock);
	st_put(s, empty);
	free(spare);
	return status;
}
