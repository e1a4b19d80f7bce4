/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lock: byte-range locks (RFC 8881 sections 9.1 to 9.3, 18.10 to 18.12), with POSIX behaviour: one
 * owner's ranges do not overlap, a new lock replaces the owner's locks in that range, and unlocking
 * may split a range.
 *
 * Locks bind the clients of this server among each other. Programs that use the directory locally
 * do not see the locks. No call waits here: a refused client asks again, after a notice (waiter.h)
 * or by itself.
 */
#include "contrib/serve/state/lock.h"

#include <string.h>

#include "contrib/serve/state/client_end.h"
#include "contrib/serve/state/deleg.h"
#include "contrib/serve/state/waiter.h"

static bool waits(uint32_t type)
{
	return type == READW_LT || type == WRITEW_LT;
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

/* Finds or makes the lock state of owner under the open op (NULL: without an open). The caller
 * passes *undo to st_put() after unlocking. */
static uint32_t owner_state_locked(struct state *s, struct client *c, const struct rpc_cred *by,
	struct obj *o, struct st *op, const struct nfs4_opaque *owner, struct st **out,
	struct st **undo) REQUIRES(o->lock)
{
	uint32_t status;
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link) {
		if (st->kind == ST_LOCK && st->open == op && st_is_of(st, c->id, owner)) {
			*out = st;
			return NFS4_OK;
		}
	}
	if (op && op->closed)
		return NFS4ERR_BAD_STATEID;
	st = st_alloc(c, by, obj_ref(s->objs, o), ST_LOCK, owner->data, owner->len);
	if (!st) {
		obj_unref(s->objs, o); /* not the last reference: the caller has one */
		return NFS4ERR_DELAY;
	}
	status = st_insert(c, st);
	if (status != NFS4_OK) {
		*undo = st;
		return status;
	}
	mutex_lock(&c->lock);
	if (op)
		op->refs++;
	st->open = op;
	st->sid.seqid = 0; /* st_bump_locked() makes seqid 1 */
	mutex_unlock(&c->lock);
	LIST_INSERT_HEAD(&o->states, st, obj_link);
	*out = st;
	return NFS4_OK;
}

/* Gives owner the range, unless another owner's lock conflicts (*blocker, *d). *st: the owner's
 * lock state; NULL: found or made under op. */
static uint32_t grant_locked(struct state *s, struct client *c, const struct rpc_cred *by,
	struct obj *o, struct st *op, const struct nfs4_opaque *owner, const struct lock_want *w,
	struct st **st, struct nfs4_lock_denied *d, uint8_t *denied_owner, uint64_t *blocker,
	struct st **undo) REQUIRES(o->lock)
{
	const struct lock_range *range;
	struct st *other = ranges_conflict_locked(o, c->id, owner, w, &range);
	uint32_t status = NFS4_OK;

	*blocker = 0;
	if (other) {
		*blocker = other->client->id;
		describe(other, range, d, denied_owner);
		return NFS4ERR_DENIED;
	}
	if (waits(w->type) && !ranges_held_locked(o, c, owner) && waiter_first(s, c, o, owner, w)) {
		*d = (struct nfs4_lock_denied){.offset = w->first,
			.length = w->last == UINT64_MAX ? NFS4_LENGTH_EOF : w->last - w->first + 1,
			.type = WRITE_LT}; /* the next holder is not known yet */
		return NFS4ERR_DENIED;
	}
	if (!*st)
		status = owner_state_locked(s, c, by, o, op, owner, st, undo);
	if (status == NFS4_OK)
		status = ranges_add_locked(o, *st, w);
	if (status == NFS4_OK)
		waiter_remove(s, c, o, owner, w);
	return status;
}

static uint32_t set_locked(struct state *s, struct client *c, const struct rpc_cred *by,
	struct obj *o, struct st *named, const struct nfs4_lock_args *a, const struct lock_want *w,
	struct nfs4_lock_res *r, uint8_t *denied_owner, uint64_t *blocker, struct st **undo)
	REQUIRES(o->lock)
{
	struct st *op = a->new_owner ? named : named->open, *st = a->new_owner ? NULL : named;
	struct nfs4_opaque owner = {named->owner, named->owner_len};
	uint32_t status;

	*blocker = 0;
	if (named->closed) /* closed since the look-up */
		return NFS4ERR_BAD_STATEID;
	if (!(op->access & (lock_type_writes(a->type) ? OPEN4_SHARE_ACCESS_WRITE
						      : OPEN4_SHARE_ACCESS_READ)))
		return NFS4ERR_OPENMODE;
	if (a->new_owner)
		owner = a->owner.owner;
	status = grant_locked(
		s, c, by, o, op, &owner, w, &st, &r->denied, denied_owner, blocker, undo);
	if (status == NFS4_OK)
		st_bump_locked(st, &r->stateid);
	return status;
}

uint32_t lock_set(struct state *s, struct session *ses, const struct rpc_cred *by, struct obj *o,
	const struct nfs4_lock_args *a, struct nfs4_lock_res *r, uint8_t *denied_owner)
{
	struct client *c = ses->client;
	struct lock_want w = {.type = a->type, .first = a->offset};
	uint32_t status = bounds(a->offset, a->length, &w.last);
	struct st *named, *undo = NULL;
	uint64_t blocker;

	if (status == NFS4_OK)
		status = st_get(c, o, a->new_owner ? &a->open_stateid : &a->lock_stateid,
			a->new_owner ? ST_OPEN : ST_LOCK, &named);
	if (status != NFS4_OK)
		return status;
	do {
		mutex_lock(&o->lock);
		status = set_locked(s, c, by, o, named, a, &w, r, denied_owner, &blocker, &undo);
		mutex_unlock(&o->lock);
		st_put(s, undo);
		undo = NULL;
	} while (blocker && blocker != c->id && client_evict_expired(s, blocker));
	if (status == NFS4ERR_DENIED && waits(a->type)) {
		struct nfs4_opaque owner = {named->owner, named->owner_len};

		waiter_add(s, ses, o, a->new_owner ? &a->owner.owner : &owner, &w);
		/* the range may have become free since */
		waiter_released(s, o);
	} else if (status == NFS4_OK && !lock_type_writes(a->type)) {
		waiter_released(s, o); /* the lock may have been exclusive before */
	}
	st_put(s, named);
	return status;
}

uint32_t lock_test(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_lockt_args *a, struct nfs4_lock_denied *d, uint8_t *denied_owner)
{
	struct lock_want w = {.type = a->type, .first = a->offset};
	uint32_t status = bounds(a->offset, a->length, &w.last);
	const struct lock_range *range;
	uint64_t blocker;
	struct st *other;

	if (status != NFS4_OK)
		return status;
	do {
		blocker = 0;
		mutex_lock(&o->lock);
		other = ranges_conflict_locked(o, c->id, &a->owner.owner, &w, &range);
		if (other) {
			blocker = other->client->id;
			describe(other, range, d, denied_owner);
		}
		mutex_unlock(&o->lock);
	} while (blocker && blocker != c->id && client_evict_expired(s, blocker));
	return blocker ? NFS4ERR_DENIED : NFS4_OK;
}

uint32_t lock_clear(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_locku_args *a, struct nfs4_stateid *out)
{
	uint64_t last = 0;
	uint32_t status = bounds(a->offset, a->length, &last);
	struct st *st = NULL;

	if (status == NFS4_OK)
		status = st_get(c, o, &a->stateid, ST_LOCK, &st);
	if (status != NFS4_OK)
		return status;
	mutex_lock(&o->lock);
	status = ranges_clear_locked(st, a->offset, last);
	if (status == NFS4_OK)
		st_bump_locked(st, out);
	mutex_unlock(&o->lock);
	waiter_released(s, o);
	st_put(s, st);
	return status;
}

static struct st *find_plain_locked(
	struct obj *o, struct client *c, const struct nfs4_opaque *owner) REQUIRES(o->lock)
{
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_LOCK && !st->open && st_is_of(st, c->id, owner))
			return st;
	return NULL;
}

/* Removes the state of an owner without a range and without an open from the tables: no other call
 * would. The caller passes the result to st_put(); NULL: the state stays. */
static struct st *retire_locked(struct client *c, struct st *st) REQUIRES(st->obj->lock)
{
	if (!st || ranges_any_locked(st) || !st_remove(c, st))
		return NULL;
	LIST_REMOVE(st, obj_link);
	return st;
}

uint32_t lock_set_plain(struct state *s, struct client *c, const struct rpc_cred *by, struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *w, struct nfs4_lock_denied *d,
	uint8_t *denied_owner)
{
	struct st *st, *undo = NULL, *empty;
	uint64_t blocker;
	uint32_t status;

	do {
		mutex_lock(&o->lock);
		st = find_plain_locked(o, c, owner);
		status = grant_locked(
			s, c, by, o, NULL, owner, w, &st, d, denied_owner, &blocker, &undo);
		empty = status == NFS4_OK || undo ? NULL : retire_locked(c, st);
		mutex_unlock(&o->lock);
		st_put(s, undo);
		st_put(s, empty);
		undo = NULL;
	} while (blocker && blocker != c->id && client_evict_expired(s, blocker));
	if (status == NFS4_OK && !lock_type_writes(w->type))
		waiter_released(s, o); /* the lock may have been exclusive before */
	return status;
}

uint32_t lock_clear_plain(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_opaque *owner, uint64_t first, uint64_t last)
{
	struct st *st, *empty = NULL;
	uint32_t status = NFS4_OK;

	mutex_lock(&o->lock);
	st = find_plain_locked(o, c, owner);
	if (st)
		status = ranges_clear_locked(st, first, last);
	if (status == NFS4_OK)
		empty = retire_locked(c, st);
	mutex_unlock(&o->lock);
	waiter_released(s, o);
	st_put(s, empty);
	return status;
}

uint32_t st_free(struct state *s, struct client *c, const struct nfs4_stateid *sid)
{
	struct st *st;
	struct obj *o;
	uint32_t status;
	bool mine;

	mutex_lock(&c->lock);
	status = st_find_locked(c, NULL, sid, &st);
	if (status == NFS4_OK)
		st->refs++;
	mutex_unlock(&c->lock);
	if (status == NFS4ERR_DELEG_REVOKED && deleg_free_revoked(s, c, sid))
		return NFS4_OK;
	if (status != NFS4_OK)
		return status;
	if (st->kind != ST_LOCK) {
		st_put(s, st);
		return NFS4ERR_LOCKS_HELD; /* an open or a delegation: section 18.38.3 */
	}
	o = st->obj;
	mutex_lock(&o->lock);
	mine = !ranges_any_locked(st) && st_remove(c, st);
	if (mine)
		LIST_REMOVE(st, obj_link);
	mutex_unlock(&o->lock);
	if (mine)
		st_put(s, st);
	st_put(s, st);
	return mine ? NFS4_OK : NFS4ERR_LOCKS_HELD;
}
