/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stateid: a client's table of states (RFC 8881 section 8.2).
 *
 * The 12 bytes of a stateid: the run, the place in the table plus one, and a stamp that changes
 * with each use of a place. A stateid is looked up only in the table of the client of its session,
 * so no client can use another client's state.
 */
#include "contrib/serve/state/stateid.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct st *st_alloc(struct client *c, const struct rpc_cred *by, struct obj *o, enum st_kind kind,
	const void *owner, uint32_t owner_len)
{
	struct st *st = calloc(1, sizeof(*st));

	if (!st)
		return NULL;
	st->owner = malloc(owner_len ? owner_len : 1);
	st->part = share_part_get(c->share, c->holder, by->flavor, by->uid);
	if (!st->owner || !st->part) {
		share_part_put(c->share, st->part);
		free(st->owner);
		free(st);
		return NULL;
	}
	memcpy(st->owner, owner, owner_len);
	st->owner_len = owner_len;
	st->kind = kind;
	st->client = c;
	st->obj = o;
	st->fd_r = st->fd_w = -1;
	st->refs = 1;
	return st;
}

static bool grow_locked(struct client *c) REQUIRES(c->lock)
{
	uint32_t n = c->ntab ? c->ntab * 2 : 64;
	struct st **tab;

	if (n > STATE_MAX_OPENS)
		n = STATE_MAX_OPENS;
	if (n <= c->ntab)
		return false;
	tab = realloc(c->tab, n * sizeof(*tab));
	if (!tab)
		return false;
	memset(tab + c->ntab, 0, (n - c->ntab) * sizeof(*tab));
	c->next_free = c->ntab;
	c->tab = tab;
	c->ntab = n;
	return true;
}

uint32_t st_insert(struct client *c, struct st *st)
{
	uint32_t place, word[3];

	mutex_lock(&c->lock);
	if (c->ended) { /* no thread would end st, and st would outlive c */
		mutex_unlock(&c->lock);
		return NFS4ERR_DEADSESSION;
	}
	if (!share_take(c->share, c->holder, SHARE_STATES, 1)) {
		mutex_unlock(&c->lock);
		return NFS4ERR_DELAY;
	}
	if (c->nused == c->ntab && !grow_locked(c)) {
		share_give(c->share, c->holder, SHARE_STATES, 1);
		mutex_unlock(&c->lock);
		return NFS4ERR_DELAY; /* until the client closes a file */
	}
	for (place = c->next_free; c->tab[place]; place = (place + 1) % c->ntab)
		;
	c->tab[place] = st;
	c->next_free = (place + 1) % c->ntab;
	c->nused++;
	word[0] = (uint32_t)(c->id >> 32);
	word[1] = place + 1;
	word[2] = ++c->stamp;
	memcpy(st->sid.other, word, sizeof(word));
	st->sid.seqid = 1;
	mutex_unlock(&c->lock);
	return NFS4_OK;
}

static uint32_t place_of(const struct st *st)
{
	uint32_t place;

	memcpy(&place, st->sid.other + 4, 4);
	return place - 1;
}

bool st_remove(struct client *c, struct st *st)
{
	bool mine;

	mutex_lock(&c->lock);
	mine = !st->closed;
	if (mine) {
		st->closed = true;
		c->tab[place_of(st)] = NULL;
		c->next_free = place_of(st);
		c->nused--;
		c->nrevoked -= st->revoked;
		share_give(c->share, c->holder, SHARE_STATES, 1);
	}
	mutex_unlock(&c->lock);
	return mine;
}

uint32_t st_find_any_locked(struct client *c, const struct obj *o, const struct nfs4_stateid *sid,
	struct st **out) REQUIRES(c->lock)
{
	uint32_t word[3];
	struct st *st;

	memcpy(word, sid->other, sizeof(word));
	if (word[0] != (uint32_t)(c->id >> 32) || word[1] == 0 || word[1] > c->ntab)
		return NFS4ERR_BAD_STATEID;
	st = c->tab[word[1] - 1];
	if (!st || memcmp(st->sid.other, sid->other, sizeof(word)) != 0)
		return NFS4ERR_BAD_STATEID;
	if (o && st->obj != o)
		return NFS4ERR_BAD_STATEID;
	/* section 8.2.2: 0 means the present seqid; the distance tells old from never issued */
	if (sid->seqid && sid->seqid != st->sid.seqid)
		return (int32_t)(sid->seqid - st->sid.seqid) < 0 ? NFS4ERR_OLD_STATEID
								 : NFS4ERR_BAD_STATEID;
	*out = st;
	return NFS4_OK;
}

uint32_t st_find_locked(struct client *c, const struct obj *o, const struct nfs4_stateid *sid,
	struct st **out) REQUIRES(c->lock)
{
	uint32_t status = st_find_any_locked(c, o, sid, out);

	return status == NFS4_OK && (*out)->revoked ? (uint32_t)NFS4ERR_DELEG_REVOKED : status;
}

uint32_t st_get(struct client *c, struct obj *o, const struct nfs4_stateid *sid, enum st_kind kind,
	struct st **out)
{
	uint32_t status;

	mutex_lock(&c->lock);
	status = st_find_locked(c, o, sid, out);
	if (status == NFS4_OK && (*out)->kind != kind)
		status = NFS4ERR_BAD_STATEID;
	if (status == NFS4_OK)
		(*out)->refs++;
	else
		*out = NULL;
	mutex_unlock(&c->lock);
	return status;
}

void st_ref(struct st *st)
{
	st->refs++;
}

bool st_count_open(struct state *s, struct st *st)
{
	if (atomic_fetch_add_explicit(&s->nopens, 1, memory_order_relaxed) >= s->max_opens) {
		atomic_fetch_sub_explicit(&s->nopens, 1, memory_order_relaxed);
		return false;
	}
	if (!share_part_take(&s->share, st->part, SHARE_OPENS, 1)) {
		atomic_fetch_sub_explicit(&s->nopens, 1, memory_order_relaxed);
		return false;
	}
	atomic_fetch_add_explicit(&st->client->nopens, 1, memory_order_relaxed);
	st->counted++;
	return true;
}

void st_put(struct state *s, struct st *st)
{
	if (!st || atomic_fetch_sub_explicit(&st->refs, 1, memory_order_acq_rel) > 1)
		return;
	atomic_fetch_sub_explicit(&st->client->nopens, st->counted, memory_order_relaxed);
	atomic_fetch_sub_explicit(&s->nopens, st->counted, memory_order_relaxed);
	share_part_give(&s->share, st->part, SHARE_OPENS, st->counted);
	if (st->fd_r >= 0)
		close(st->fd_r);
	if (st->fd_w >= 0 && st->fd_w != st->fd_r)
		close(st->fd_w);
	st_put(s, st->open);
	obj_unref(s->objs, st->obj);
	lock_ranges_finish(&st->ranges); /* it has no ranges; frees the memory of the list */
	share_part_put(&s->share, st->part);
	free(st->owner);
	free(st);
}

void st_bump_locked(struct st *st, struct nfs4_stateid *out)
{
	mutex_lock(&st->client->lock);
	if (++st->sid.seqid == 0)
		st->sid.seqid = 1;
	*out = st->sid;
	mutex_unlock(&st->client->lock);
}

bool st_is_of(const struct st *st, uint64_t clientid, const struct nfs4_opaque *owner)
{
	return st->client->id == clientid && st->owner_len == owner->len &&
	       memcmp(st->owner, owner->data, owner->len) == 0;
}

uint32_t st_test(struct client *c, const struct nfs4_stateid *sid)
{
	struct st *st;
	uint32_t status;

	mutex_lock(&c->lock);
	status = st_find_locked(c, NULL, sid, &st);
	mutex_unlock(&c->lock);
	return status;
}

bool st_holds_any(struct client *c)
{
	bool any;

	mutex_lock(&c->lock);
	any = c->nused > c->nrevoked;
	mutex_unlock(&c->lock);
	return any;
}

bool st_any_revoked(struct client *c)
{
	return atomic_load_explicit(&c->nrevoked, memory_order_relaxed) > 0;
}
