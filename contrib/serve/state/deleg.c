/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg: delegations of files to clients, and how they come to an end.
 */
#include "contrib/serve/state/deleg.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/fence.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/state/deleg_watch.h"
#include "transport/clock.h"
#include "transport/log.h"

#define AGAIN_NS    (5 * NSEC_PER_SEC)	/* between two CB_RECALL of one delegation */
#define REFUSED_NS  (NSEC_PER_SEC / 2)	/* and after one that the client refused */
#define PEACE_NS    (30 * NSEC_PER_SEC) /* after a recall the file is not delegated for so long */
#define REFERRED_NS (60 * NSEC_PER_SEC) /* the answer to its OPEN may be late for so long */
#define AT_ONCE	    64u

struct delegs *delegs_new(uint32_t max_opens)
{
	struct delegs *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->watches = -1;
	mutex_init(&d->lock);
	TAILQ_INIT(&d->list);
	STAILQ_INIT(&d->recalls);
	TAILQ_INIT(&d->ready);
	/* each delegation keeps a file open; real opens come first */
	d->max = max_opens / 4;
	d->max_client = max_opens / 8;
	return d;
}

struct delegs *delegs_free(struct delegs *d)
{
	struct notice *n;

	if (!d)
		return NULL;
	mutex_destroy(&d->lock);
	while ((n = STAILQ_FIRST(&d->recalls)) != NULL) {
		STAILQ_REMOVE_HEAD(&d->recalls, link);
		free(n);
	}
	if (d->watches >= 0)
		close(d->watches);
	free(d);
	return NULL;
}

/* --- leases ----------------------------------------------------------------------------------- */

void deleg_use_leases(struct delegs *d, int signal)
{
	d->signal = signal;
	d->watches = deleg_watch_new();
	if (d->watches < 0)
		log_always_warn(
			"no inotify: clients that have files delegated do not learn that programs "
			"of this machine change their attributes or names: %s",
			strerror(errno));
}

int deleg_lease(const struct state *s, struct st *st, int type)
{
	int fd = st->fd_r, r = 0;

	st->deleg.wd = -1;

	if (!s->delegs->signal)
		return 0;
	ident_suspend(); /* needs the owner of the file, or the privilege */
	if (fcntl(fd, F_SETSIG, s->delegs->signal) != 0 || fcntl(fd, F_SETOWN, getpid()) != 0 ||
		fcntl(fd, F_SETLEASE, type) != 0)
		r = -errno;
	else
		st->deleg.wd = deleg_watch_add(s->delegs->watches, fd);
	ident_resume();
	return r;
}

void deleg_unwatch_locked(const struct state *s, const struct st *st)
{
	const struct st *other;

	LIST_FOREACH (other, &st->obj->states, obj_link)
		if (other != st && other->kind == ST_DELEG && other->deleg.wd == st->deleg.wd)
			return;
	deleg_watch_end(s->delegs->watches, st->deleg.wd);
}

void deleg_own_change_locked(struct state *s, struct obj *o, bool begins) REQUIRES(o->lock)
{
	int watches = s->delegs->watches;
	struct st *st;
	bool blind;

	if (atomic_load_explicit(&s->delegs->nwrite, memory_order_relaxed) == 0)
		return;
	LIST_FOREACH (st, &o->states, obj_link) {
		if (st->kind != ST_DELEG || !deleg_writes(st) || st->deleg.wd < 0)
			continue;
		blind = false;
		ident_suspend(); /* needs the right to read the file */
		if (begins)
			deleg_watch_pause(watches, st->fd_r);
		else
			blind = deleg_watch_add(watches, st->fd_r) < 0;
		ident_resume();
		if (blind)
			deleg_recall_locked(s, st);
	}
}

void deleg_unlease(const struct state *s, const struct st *st)
{
	if (!s->delegs->signal)
		return;
	ident_suspend(); /* older kernels want that for the end, too */
	fcntl(st->fd_r, F_SETLEASE, F_UNLCK);
	ident_resume();
}

/* Does a program wait for st's lease to end? */
static bool lease_is_broken(const struct st *st)
{
	return fcntl(st->fd_r, F_GETLEASE) != (deleg_writes(st) ? F_WRLCK : F_RDLCK);
}

static bool is_disturbed(const struct st *st, const struct deleg_seen *seen, bool leases)
{
	return (st->deleg.wd >= 0 && deleg_watch_has(seen, st->deleg.wd)) ||
	       (leases && lease_is_broken(st));
}

static void recall_disturbed(struct state *s, const struct deleg_seen *seen, bool leases)
{
	struct delegs *d = s->delegs;
	struct st *st, **all;
	uint32_t n = 0, max;

	mutex_lock(&d->lock);
	max = atomic_load_explicit(&d->n, memory_order_relaxed);
	all = calloc(max ? max : 1, sizeof(struct st *));
	TAILQ_FOREACH (st, &d->list, deleg.link) {
		if (!all || n == max)
			break;
		if (!is_disturbed(st, seen, leases))
			continue;
		st_ref(st);
		all[n++] = st;
	}
	mutex_unlock(&d->lock);
	for (uint32_t i = 0; i < n; i++) {
		mutex_lock(&all[i]->obj->lock);
		if (!all[i]->closed && !all[i]->revoked)
			deleg_recall_locked(s, all[i]);
		mutex_unlock(&all[i]->obj->lock);
		st_put(s, all[i]);
	}
	free(all);
}

void deleg_leases_broken(struct state *s)
{
	static const struct deleg_seen nothing;

	recall_disturbed(s, &nothing, true);
}

bool deleg_disturbed(struct state *s)
{
	struct deleg_seen seen;
	bool any = false;

	while (deleg_watch_take(s->delegs->watches, &seen)) {
		if (!seen.n && !seen.all)
			continue;
		recall_disturbed(s, &seen, false);
		any = true;
	}
	s->delegs->doubtful |= !any;
	return any;
}

/* --- beginning and end ------------------------------------------------------------------------ */

bool deleg_writes(const struct st *st)
{
	return st->access & OPEN4_SHARE_ACCESS_WRITE;
}

int deleg_dup_locked(struct obj *o, const struct client *by, int mode)
{
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_DELEG && st->client == by && deleg_writes(st))
			return obj_allowed(o, mode) ? fcntl(st->fd_w, F_DUPFD_CLOEXEC, 0) : -1;
	return -1;
}

int deleg_dup(struct state *s, struct obj *o, const struct client *by, int mode)
{
	int fd;

	if (atomic_load_explicit(&s->delegs->nwrite, memory_order_relaxed) == 0)
		return -1;
	mutex_lock(&o->lock);
	fd = deleg_dup_locked(o, by, mode);
	mutex_unlock(&o->lock);
	return fd;
}

void deleg_add_locked(struct state *s, struct st *st)
{
	struct delegs *d = s->delegs;

	LIST_INSERT_HEAD(&st->obj->states, st, obj_link);
	st->deleg.given_ns = clock_coarse_ns();
	TAILQ_INIT(&st->deleg.asked);
	TAILQ_INIT(&st->deleg.made);
	atomic_fetch_add_explicit(&st->client->ndelegs, 1, memory_order_relaxed);
	mutex_lock(&d->lock);
	TAILQ_INSERT_TAIL(&d->list, st, deleg.link);
	atomic_fetch_add_explicit(&d->n, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&d->nwrite, deleg_writes(st), memory_order_relaxed);
	mutex_unlock(&d->lock);
}

void deleg_end_locked(struct state *s, struct st *st)
{
	struct delegs *d = s->delegs;

	deleg_unlease(s, st);
	LIST_REMOVE(st, obj_link);
	deleg_unwatch_locked(s, st);
	atomic_fetch_sub_explicit(&st->client->ndelegs, 1, memory_order_relaxed);
	mutex_lock(&d->lock);
	TAILQ_REMOVE(&d->list, st, deleg.link);
	atomic_fetch_sub_explicit(&d->n, 1, memory_order_relaxed);
	atomic_fetch_sub_explicit(&d->nwrite, deleg_writes(st), memory_order_relaxed);
	if (st->deleg.recalled_ns)
		atomic_fetch_sub_explicit(&d->nrecalled, 1, memory_order_relaxed);
	/* the file looks as on disk from now on */
	TAILQ_CONCAT(&st->deleg.asked, &st->deleg.made, link);
	if (!TAILQ_EMPTY(&st->deleg.asked))
		atomic_store_explicit(&d->ready_any, true, memory_order_relaxed);
	TAILQ_CONCAT(&d->ready, &st->deleg.asked, link);
	mutex_unlock(&d->lock);
}

/* Has the client a layout of o? Then a revocation must reach data servers, too. */
static bool laid_out_locked(struct obj *o, const struct client *c) REQUIRES(o->lock)
{
	struct st *st;

	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_LAYOUT && st->client == c)
			return true;
	return false;
}

/* The holder has not returned st in time: revokes st, so that waiting clients can go on. */
static void take_away(struct state *s, struct st *st)
{
	struct client *c = st->client;
	bool mine, laid_out;

	mutex_lock(&st->obj->lock);
	laid_out = laid_out_locked(st->obj, c);
	mutex_unlock(&st->obj->lock);
	if (laid_out)
		fence_raise(s->objs, st->obj);
	mutex_lock(&st->obj->lock);
	mutex_lock(&c->lock);
	mine = !st->closed && !st->revoked;
	if (mine) {
		st->revoked = true;
		c->nrevoked++;
	}
	mutex_unlock(&c->lock);
	if (mine)
		deleg_end_locked(s, st);
	mutex_unlock(&st->obj->lock);
	if (!mine)
		return;
	atomic_store_explicit(&c->no_delegs, true, memory_order_relaxed);
	log_warn("client %s has not given a delegation back within the lease time: it is revoked, "
		 "and the client gets no more",
		c->who);
}

/* Finds the delegation with a stateid. */
static uint32_t find(struct client *c, const struct obj *o, const struct nfs4_stateid *sid,
	bool revoked, struct st **out)
{
	struct st *st = NULL;
	uint32_t status;

	mutex_lock(&c->lock);
	status = st_find_any_locked(c, o, sid, &st);
	if (status == NFS4_OK && st->kind != ST_DELEG)
		status = NFS4ERR_BAD_STATEID;
	else if (status == NFS4_OK && st->revoked != revoked)
		status = revoked ? NFS4ERR_LOCKS_HELD : NFS4ERR_DELEG_REVOKED;
	if (status == NFS4_OK)
		st->refs++;
	mutex_unlock(&c->lock);
	*out = status == NFS4_OK ? st : NULL;
	return status;
}

uint32_t deleg_return(
	struct state *s, struct client *c, const struct obj *o, const struct nfs4_stateid *sid)
{
	struct st *st;
	uint32_t status = find(c, o, sid, false, &st);
	bool mine;

	if (status != NFS4_OK)
		return status;
	mutex_lock(&st->obj->lock);
	mine = !st->revoked && st_remove(c, st);
	if (mine)
		deleg_end_locked(s, st);
	mutex_unlock(&st->obj->lock);
	if (mine)
		st_put(s, st); /* the table's */
	st_put(s, st);
	return mine ? NFS4_OK : NFS4ERR_BAD_STATEID;
}

bool deleg_free_revoked(struct state *s, struct client *c, const struct nfs4_stateid *sid)
{
	struct st *st;
	bool mine;

	if (find(c, NULL, sid, true, &st) != NFS4_OK)
		return false;
	mine = st_remove(c, st);
	if (mine)
		st_put(s, st); /* the table's */
	st_put(s, st);
	return mine;
}

/* --- recalls ---------------------------------------------------------------------------------- */

bool deleg_prepare_locked(struct state *s, const struct st *st, enum notice_kind kind)
{
	struct delegs *d = s->delegs;
	struct notice *n = NULL;

	if (atomic_load_explicit(&d->nrecalls, memory_order_relaxed) < DELEG_RECALLS_MAX)
		n = calloc(1, sizeof(*n));
	if (!n)
		return false;
	n->session = st->deleg.given.session;
	n->fh.len = obj_handle(s->objs, st->obj, n->fh.data);
	n->clientid = st->client->id;
	n->kind = kind;
	n->sid = st->sid;
	n->given = st->deleg.given;
	n->referring = clock_age(clock_coarse_ns(), st->deleg.given_ns) < REFERRED_NS;
	mutex_lock(&d->lock);
	STAILQ_INSERT_TAIL(&d->recalls, n, link);
	atomic_fetch_add_explicit(&d->nrecalls, 1, memory_order_relaxed);
	mutex_unlock(&d->lock);
	return true;
}

void deleg_recall_locked(struct state *s, struct st *st)
{
	struct delegs *d = s->delegs;
	uint64_t now = clock_coarse_ns();

	st->obj->undelegated_ns = now + PEACE_NS;
	if (!st->deleg.recalled_ns) {
		mutex_lock(&d->lock);
		st->deleg.recalled_ns = now;
		atomic_fetch_add_explicit(&d->nrecalled, 1, memory_order_relaxed);
		mutex_unlock(&d->lock);
	}
	if (now >= st->deleg.again_ns && deleg_prepare_locked(s, st, NOTICE_RECALL))
		st->deleg.again_ns = now + AGAIN_NS;
}

void deleg_recall_all(struct state *s, struct obj *o)
{
	struct st *st;

	if (atomic_load_explicit(&s->delegs->n, memory_order_relaxed) == 0)
		return;
	mutex_lock(&o->lock);
	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_DELEG)
			deleg_recall_locked(s, st);
	mutex_unlock(&o->lock);
}

struct st *deleg_get(struct state *s, uint64_t clientid, const struct nfs4_stateid *sid)
{
	struct st *st = NULL;
	struct client *c;

	mutex_lock(&s->lock);
	c = client_find_locked(s, clientid);
	mutex_unlock(&s->lock);
	if (c)
		find(c, NULL, sid, false, &st);
	client_unref(s, c);
	return st;
}

void deleg_refused(struct state *s, uint64_t clientid, const struct nfs4_stateid *sid)
{
	struct st *st = deleg_get(s, clientid, sid);

	if (!st)
		return;
	mutex_lock(&st->obj->lock);
	st->deleg.again_ns = clock_coarse_ns() + REFUSED_NS;
	mutex_unlock(&st->obj->lock);
	st_put(s, st);
}

void deleg_take_recalls(struct state *s, struct notices *out)
{
	struct delegs *d = s->delegs;

	STAILQ_INIT(out);
	if (atomic_load_explicit(&d->nrecalls, memory_order_relaxed) == 0)
		return;
	mutex_lock(&d->lock);
	STAILQ_CONCAT(out, &d->recalls);
	atomic_store_explicit(&d->nrecalls, 0, memory_order_relaxed);
	mutex_unlock(&d->lock);
}

/* Returns up to AT_ONCE recalled delegations, each at most once for a `tick`. */
static unsigned recalled(struct delegs *d, uint64_t tick, struct st *out[AT_ONCE])
{
	struct st *st;
	unsigned n = 0;

	mutex_lock(&d->lock);
	TAILQ_FOREACH (st, &d->list, deleg.link) {
		if (!st->deleg.recalled_ns || st->deleg.ticked_ns == tick)
			continue;
		st->deleg.ticked_ns = tick;
		st_ref(st);
		out[n++] = st;
		if (n == AT_ONCE)
			break;
	}
	mutex_unlock(&d->lock);
	return n;
}

void deleg_tick(struct state *s)
{
	struct delegs *d = s->delegs;
	uint64_t now = clock_ns(), at;
	struct st *some[AT_ONCE];
	unsigned n;

	if (d->doubtful) {
		d->doubtful = false;
		deleg_leases_broken(s);
	}
	if (atomic_load_explicit(&d->nrecalled, memory_order_relaxed) == 0)
		return;
	do {
		n = recalled(d, now, some);
		for (unsigned i = 0; i < n; i++) {
			struct st *st = some[i];

			mutex_lock(&st->obj->lock);
			at = st->deleg.recalled_ns;
			if (!st->closed && !st->revoked)
				deleg_recall_locked(s, st);
			mutex_unlock(&st->obj->lock);
			if (clock_age(clock_coarse_ns(), at) > s->lease_s * NSEC_PER_SEC)
				take_away(s, st);
			st_put(s, st);
		}
	} while (n == AT_ONCE);
}
