/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * layout: layouts of files, and how they end.
 */
#include "contrib/serve/state/layout.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/export/fence.h"
#include "transport/clock.h"
#include "transport/log.h"

#define AGAIN_NS    (5 * NSEC_PER_SEC)	/* between two CB_LAYOUTRECALL of one layout */
#define REFUSED_NS  (NSEC_PER_SEC / 2)	/* and after one that the client refused */
#define PEACE_NS    (2 * NSEC_PER_SEC)	/* after a recall there is no layout for so long */
#define REFERRED_NS (60 * NSEC_PER_SEC) /* the answer to its LAYOUTGET may be late for so long */
#define HERE_NS	    (10 * NSEC_PER_SEC) /* no layout to write behind a refused WRITE */
#define AT_ONCE	    64u

struct layouts *layouts_new(void)
{
	struct layouts *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	mutex_init(&l->lock);
	TAILQ_INIT(&l->recalled);
	STAILQ_INIT(&l->recalls);
	return l;
}

struct layouts *layouts_free(struct layouts *l)
{
	struct notice *n;

	if (!l)
		return NULL;
	mutex_destroy(&l->lock);
	while ((n = STAILQ_FIRST(&l->recalls)) != NULL) {
		STAILQ_REMOVE_HEAD(&l->recalls, link);
		free(n);
	}
	free(l);
	return NULL;
}

void layouts_report(const struct layouts *l, const struct devices *ds)
{
	for (unsigned i = 0; i < ds->n; i++) {
		const struct layout_reports *r = &l->reports[i];

		log_always_info("data server %s: %" PRIu64 " errors told by LAYOUTERROR, %" PRIu64
				" by LAYOUTRETURN; counts of I/O %" PRIu64
				" times by LAYOUTSTATS, %" PRIu64 " by LAYOUTRETURN",
			ds->d[i].name, atomic_load(&r->errors), atomic_load(&r->late_errors),
			atomic_load(&r->counts), atomic_load(&r->late_counts));
	}
}

/* --- look-ups --------------------------------------------------------------------------------- */

/* The rights of an iomode, as bits of st->layout.modes. */
static uint8_t bits_of(uint32_t iomode)
{
	if (iomode == LAYOUTIOMODE4_ANY)
		return 1u << LAYOUTIOMODE4_READ | 1u << LAYOUTIOMODE4_RW;
	return (uint8_t)(1u << iomode);
}

/* Finds c's layout sid. A client may send a stateid that is behind the server's, since requests
 * about one layout run side by side (section 12.5.3). A seqid never given out is refused. */
static uint32_t find_locked(struct client *c, const struct obj *o, const struct nfs4_stateid *sid,
	struct st **out) REQUIRES(c->lock)
{
	struct nfs4_stateid any = *sid;
	uint32_t status;

	any.seqid = 0;
	status = st_find_locked(c, o, &any, out);
	if (status != NFS4_OK)
		return status;
	if ((*out)->kind != ST_LAYOUT || (int32_t)(sid->seqid - (*out)->sid.seqid) > 0)
		return NFS4ERR_BAD_STATEID;
	return NFS4_OK;
}

/* The same with a reference. */
static uint32_t find(
	struct client *c, const struct obj *o, const struct nfs4_stateid *sid, struct st **out)
{
	uint32_t status;

	mutex_lock(&c->lock);
	status = find_locked(c, o, sid, out);
	if (status == NFS4_OK)
		st_ref(*out);
	mutex_unlock(&c->lock);
	return status;
}

uint32_t layout_check(
	struct client *c, const struct obj *o, const struct nfs4_stateid *sid, uint32_t iomode)
{
	struct st *st;
	uint32_t status;

	mutex_lock(&c->lock);
	status = find_locked(c, o, sid, &st);
	if (status == NFS4_OK && !(st->layout.modes & bits_of(iomode)))
		status = NFS4ERR_BADLAYOUT;
	mutex_unlock(&c->lock);
	return status;
}

void layout_doubt(struct client *c, const struct obj *o, const struct nfs4_stateid *sid)
{
	struct st *st;

	mutex_lock(&c->lock);
	if (find_locked(c, o, sid, &st) == NFS4_OK && st->layout.modes & bits_of(LAYOUTIOMODE4_RW))
		atomic_store(&st->layout.doubted, true);
	mutex_unlock(&c->lock);
}

void layout_settle(struct state *s, struct client *c, struct obj *o)
{
	bool doubted = false;
	struct st *st;

	if (atomic_load_explicit(&s->layouts->n, memory_order_relaxed) == 0)
		return;
	mutex_lock(&o->lock);
	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_LAYOUT && st->client == c)
			doubted |= atomic_exchange(&st->layout.doubted, false);
	mutex_unlock(&o->lock);
	if (doubted)
		fence_raise(s->objs, o);
}

void layout_write_here(struct client *c, struct obj *o, const struct nfs4_stateid *sid)
{
	if (layout_check(c, o, sid, LAYOUTIOMODE4_RW) == NFS4_OK)
		atomic_store(&o->write_here_ns, clock_coarse_ns() + HERE_NS);
}

/* --- beginning and end ------------------------------------------------------------------------ */

/* May sid stand for a request for a layout of o? */
static uint32_t check_asking(struct client *c, const struct obj *o, const struct nfs4_stateid *sid)
{
	struct st *st;
	uint32_t status;

	mutex_lock(&c->lock);
	status = find_locked(c, o, sid, &st);
	if (status != NFS4_OK)
		status = st_find_locked(c, o, sid, &st);
	mutex_unlock(&c->lock);
	return status;
}

/* Finds c's layout of o. opened: has c a state of o, other than a layout, with that access? */
static struct st *look_locked(struct obj *o, const struct client *c, uint32_t access, bool *opened)
	REQUIRES(o->lock)
{
	struct st *st, *layout = NULL;

	*opened = false;
	LIST_FOREACH (st, &o->states, obj_link) {
		if (st->client != c)
			continue;
		if (st->kind == ST_LAYOUT)
			layout = st;
		else if (st->kind != ST_LOCK && (st->access & access) == access)
			*opened = true;
	}
	return layout;
}

/* Layouts leave a half of c's table to opens and locks, for which there is no other way. */
static bool is_crowded(struct client *c)
{
	bool crowded;

	mutex_lock(&c->lock);
	crowded = c->nused >= STATE_MAX_OPENS / 2;
	mutex_unlock(&c->lock);
	return crowded;
}

static uint32_t add_locked(struct state *s, struct client *c, struct obj *o,
	const struct layout_ask *ask, struct st **out, struct nfs4_stateid *sid) REQUIRES(o->lock)
{
	struct st *st;
	uint32_t status;

	if (is_crowded(c))
		return NFS4ERR_LAYOUTUNAVAILABLE;
	st = st_alloc(c, ask->by, obj_ref(s->objs, o), ST_LAYOUT, "", 0);
	if (!st) {
		obj_unref(s->objs, o); /* not the last reference: the caller has one */
		return NFS4ERR_LAYOUTUNAVAILABLE;
	}
	status = st_insert(c, st);
	if (status != NFS4_OK) {
		st_put(s, st);
		/* the client need not wait: I/O goes through this server */
		return status == NFS4ERR_DELAY ? (uint32_t)NFS4ERR_LAYOUTUNAVAILABLE : status;
	}
	LIST_INSERT_HEAD(&o->states, st, obj_link);
	atomic_fetch_add_explicit(&s->layouts->n, 1, memory_order_relaxed);
	*out = st;
	*sid = st->sid;
	return NFS4_OK;
}

/* NFS4_OK, or why there is no layout of o for now. */
static uint32_t check_time_locked(const struct obj *o, bool writes) REQUIRES(o->lock)
{
	uint64_t now = clock_coarse_ns();

	if (now < o->wanted_ns || (writes && now < atomic_load(&o->write_here_ns)))
		return NFS4ERR_LAYOUTUNAVAILABLE;
	return o->rights_changing || now < o->unlaid_ns ? (uint32_t)NFS4ERR_LAYOUTTRYLATER
							: NFS4_OK;
}

uint32_t layout_get(struct state *s, struct client *c, struct obj *o, const struct layout_ask *ask,
	struct nfs4_stateid *out)
{
	bool writes = ask->iomode == LAYOUTIOMODE4_RW, opened;
	uint32_t status = check_asking(c, o, &ask->sid);
	struct st *st;

	if (status != NFS4_OK)
		return status;
	mutex_lock(&o->lock);
	st = look_locked(
		o, c, writes ? OPEN4_SHARE_ACCESS_WRITE : OPEN4_SHARE_ACCESS_READ, &opened);
	if (!opened)
		status = NFS4ERR_OPENMODE;
	else if (st && st->layout.recalled_ns)
		status = NFS4ERR_RECALLCONFLICT;
	else
		status = check_time_locked(o, writes);
	if (status == NFS4_OK && st)
		st_bump_locked(st, out);
	else if (status == NFS4_OK)
		status = add_locked(s, c, o, ask, &st, out);
	if (status == NFS4_OK) {
		st->layout.modes |= bits_of(ask->iomode);
		st->layout.given = ask->call;
		st->layout.given_ns = clock_coarse_ns();
	}
	mutex_unlock(&o->lock);
	return status;
}

void layout_end_locked(struct state *s, struct st *st)
{
	struct layouts *l = s->layouts;

	LIST_REMOVE(st, obj_link);
	atomic_fetch_sub_explicit(&l->n, 1, memory_order_relaxed);
	if (!st->layout.recalled_ns)
		return;
	mutex_lock(&l->lock);
	TAILQ_REMOVE(&l->recalled, st, layout.link);
	atomic_fetch_sub_explicit(&l->nrecalled, 1, memory_order_relaxed);
	mutex_unlock(&l->lock);
}

/* Ends st, unless it has ended. True: this call ended it, and the caller, with a reference of
 * its own, gets the table's reference. */
static bool end_locked(struct state *s, struct st *st) REQUIRES(st->obj->lock)
{
	if (!st_remove(st->client, st))
		return false;
	layout_end_locked(s, st);
	return true;
}

uint32_t layout_return(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_stateid *sid, uint32_t iomode, bool all, bool *left,
	struct nfs4_stateid *out)
{
	struct st *st;
	uint32_t status = find(c, o, sid, &st);
	bool mine = false, fences;

	*left = false;
	if (status != NFS4_OK)
		return status;
	mutex_lock(&o->lock);
	if (all)
		st->layout.modes &= (uint8_t)~bits_of(iomode);
	if (st->closed) {
		status = NFS4ERR_BAD_STATEID;
	} else if (st->layout.modes) {
		*left = true;
		st_bump_locked(st, out);
	} else {
		mine = end_locked(s, st);
	}
	fences = (!all || !(st->layout.modes & bits_of(LAYOUTIOMODE4_RW))) &&
		 atomic_exchange(&st->layout.doubted, false);
	mutex_unlock(&o->lock);
	if (fences)
		fence_raise(s->objs, o);
	if (mine)
		st_put(s, st); /* the table's */
	st_put(s, st);
	return status;
}

/* Ends st, of which the caller has a reference, and puts that reference. False: another thread was
 * faster. */
static bool end_and_put(struct state *s, struct st *st)
{
	struct obj *o = st->obj;
	bool mine;

	mutex_lock(&o->lock);
	mine = end_locked(s, st);
	mutex_unlock(&o->lock);
	if (mine && atomic_load(&st->layout.doubted))
		fence_raise(s->objs, o);
	if (mine)
		st_put(s, st); /* the table's */
	st_put(s, st);
	return mine;
}

void layout_return_all(struct state *s, struct client *c)
{
	for (uint32_t i = 0;; i++) {
		struct st *st = NULL;

		mutex_lock(&c->lock);
		if (i >= c->ntab) {
			mutex_unlock(&c->lock);
			return;
		}
		if (c->tab[i] && c->tab[i]->kind == ST_LAYOUT) {
			st = c->tab[i];
			st_ref(st);
		}
		mutex_unlock(&c->lock);
		if (st)
			end_and_put(s, st);
	}
}

void layout_closed(struct state *s, struct client *c, struct obj *o)
{
	struct st *st;
	bool opened;

	if (atomic_load_explicit(&s->layouts->n, memory_order_relaxed) == 0)
		return;
	mutex_lock(&o->lock);
	st = look_locked(o, c, 0, &opened);
	if (st && (opened || !end_locked(s, st)))
		st = NULL;
	mutex_unlock(&o->lock);
	if (st && atomic_load(&st->layout.doubted))
		fence_raise(s->objs, o);
	st_put(s, st); /* the table's */
}

/* --- recalls ---------------------------------------------------------------------------------- */

static bool prepare_locked(struct state *s, const struct st *st) REQUIRES(st->obj->lock)
{
	struct layouts *l = s->layouts;
	struct notice *n = NULL;

	if (atomic_load_explicit(&l->nrecalls, memory_order_relaxed) < LAYOUT_RECALLS_MAX)
		n = calloc(1, sizeof(*n));
	if (!n)
		return false;
	n->session = st->layout.given.session;
	n->fh.len = obj_handle(s->objs, st->obj, n->fh.data);
	n->clientid = st->client->id;
	n->kind = NOTICE_LAYOUT;
	n->sid = st->sid;
	n->given = st->layout.given;
	n->referring = clock_age(clock_coarse_ns(), st->layout.given_ns) < REFERRED_NS;
	mutex_lock(&l->lock);
	STAILQ_INSERT_TAIL(&l->recalls, n, link);
	atomic_fetch_add_explicit(&l->nrecalls, 1, memory_order_relaxed);
	mutex_unlock(&l->lock);
	return true;
}

void layout_recall_locked(struct state *s, struct st *st)
{
	struct layouts *l = s->layouts;
	uint64_t now = clock_coarse_ns();
	struct nfs4_stateid sid;

	st->obj->unlaid_ns = now + PEACE_NS;
	if (!st->layout.recalled_ns) {
		st_bump_locked(st, &sid); /* section 12.5.3: the recall counts */
		st->layout.recalled_ns = now;
		mutex_lock(&l->lock);
		TAILQ_INSERT_TAIL(&l->recalled, st, layout.link);
		atomic_fetch_add_explicit(&l->nrecalled, 1, memory_order_relaxed);
		mutex_unlock(&l->lock);
	}
	if (now >= st->layout.again_ns && prepare_locked(s, st))
		st->layout.again_ns = now + AGAIN_NS;
}

void layout_refused(
	struct state *s, uint64_t clientid, const struct nfs4_stateid *sid, uint32_t status)
{
	struct st *st = NULL;
	struct client *c;

	mutex_lock(&s->lock);
	c = client_find_locked(s, clientid);
	mutex_unlock(&s->lock);
	if (c && find(c, NULL, sid, &st) != NFS4_OK)
		st = NULL;
	if (st && status == NFS4ERR_NOMATCHING_LAYOUT) {
		end_and_put(s, st);
	} else if (st) {
		mutex_lock(&st->obj->lock);
		st->layout.again_ns = clock_coarse_ns() + REFUSED_NS;
		mutex_unlock(&st->obj->lock);
		st_put(s, st);
	}
	client_unref(s, c);
}

void layout_take_recalls(struct state *s, struct notices *out)
{
	struct layouts *l = s->layouts;

	STAILQ_INIT(out);
	if (atomic_load_explicit(&l->nrecalls, memory_order_relaxed) == 0)
		return;
	mutex_lock(&l->lock);
	STAILQ_CONCAT(out, &l->recalls);
	atomic_store_explicit(&l->nrecalls, 0, memory_order_relaxed);
	mutex_unlock(&l->lock);
}

/* Returns up to AT_ONCE recalled layouts, each at most once for a `tick`, with references. */
static unsigned recalled(struct layouts *l, uint64_t tick, struct st *out[AT_ONCE])
{
	struct st *st;
	unsigned n = 0;

	mutex_lock(&l->lock);
	TAILQ_FOREACH (st, &l->recalled, layout.link) {
		if (st->layout.ticked_ns == tick)
			continue;
		st->layout.ticked_ns = tick;
		st_ref(st);
		out[n++] = st;
		if (n == AT_ONCE)
			break;
	}
	mutex_unlock(&l->lock);
	return n;
}

/* Recalls st again, or ends st after a lease time. Puts the caller's reference. */
static void tick_one(struct state *s, struct st *st)
{
	char who[sizeof(st->client->who)];
	uint64_t at;

	mutex_lock(&st->obj->lock);
	at = st->layout.recalled_ns;
	if (!st->closed)
		layout_recall_locked(s, st);
	mutex_unlock(&st->obj->lock);
	if (clock_age(clock_coarse_ns(), at) <= s->lease_s * NSEC_PER_SEC) {
		st_put(s, st);
		return;
	}
	snprintf(who, sizeof(who), "%s", st->client->who);
	fence_raise(s->objs, st->obj);
	if (end_and_put(s, st))
		log_warn("client %s has not given a layout back within the lease time: the layout "
			 "ends, and the file is fenced",
			who);
}

void layout_tick(struct state *s)
{
	struct layouts *l = s->layouts;
	uint64_t now = clock_ns();
	struct st *some[AT_ONCE];
	unsigned n;

	if (atomic_load_explicit(&l->nrecalled, memory_order_relaxed) == 0)
		return;
	do {
		n = recalled(l, now, some);
		for (unsigned i = 0; i < n; i++)
			tick_one(s, some[i]);
	} while (n == AT_ONCE);
}
