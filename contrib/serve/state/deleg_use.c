/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg_use: decides whether a client may use a delegated file, and grants delegations.
 */
#include "contrib/serve/state/deleg_use.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>

#include "contrib/serve/state/client_end.h"
#include "contrib/serve/state/grace.h"
#include "transport/clock.h"
#include "transport/log.h"

/* Recalls the delegations that conflict with a use by the client `by`. looks: only write
 * delegations conflict. */
static uint32_t conflicts_locked(struct state *s, struct obj *o, const struct client *by,
	bool looks, bool modifies, uint64_t *holder) REQUIRES(o->lock)
{
	uint32_t status = NFS4_OK;
	struct st *st;

	*holder = 0;
	LIST_FOREACH (st, &o->states, obj_link) {
		if (st->kind != ST_DELEG)
			continue;
		if (st->client != by) {
			if (looks && !deleg_writes(st))
				continue;
			if (client_expired(s, st->client))
				*holder = st->client->id;
			deleg_recall_locked(s, st);
			status = NFS4ERR_DELAY;
		} else if (modifies && !deleg_writes(st)) {
			/* The server's own change would wait for its own lease. Without the lease
			 * the server does not see the changes of local programs, so the delegation
			 * is recalled. */
			deleg_unlease(s, st);
			deleg_recall_locked(s, st);
		}
	}
	return status;
}

uint32_t deleg_begin_use(
	struct state *s, struct obj *o, const struct client *by, enum deleg_use use)
{
	uint64_t holder;
	uint32_t status;

	if (s->delegs->mode == DELEG_NONE || !S_ISREG(o->type))
		return NFS4_OK;
	if (use == DELEG_LOOK &&
		atomic_load_explicit(&s->delegs->nwrite, memory_order_relaxed) == 0)
		return NFS4_OK;
	do {
		mutex_lock(&o->lock);
		status =
			conflicts_locked(s, o, by, use == DELEG_LOOK, use == DELEG_MODIFY, &holder);
		if (status == NFS4_OK && use != DELEG_LOOK && o->changing++ == 0)
			deleg_own_change_locked(s, o, true);
		mutex_unlock(&o->lock);
	} while (holder && client_evict_expired(s, holder));
	return status;
}

void deleg_end_use(struct state *s, struct obj *o, enum deleg_use use)
{
	if (s->delegs->mode == DELEG_NONE || !S_ISREG(o->type) || use == DELEG_LOOK)
		return;
	mutex_lock(&o->lock);
	if (--o->changing == 0)
		deleg_own_change_locked(s, o, false);
	mutex_unlock(&o->lock);
}

bool deleg_hides(struct state *s, struct obj *o, const struct client *by)
{
	bool hides = false;
	struct st *st;

	if (atomic_load_explicit(&s->delegs->nwrite, memory_order_relaxed) == 0)
		return false;
	mutex_lock(&o->lock);
	LIST_FOREACH (st, &o->states, obj_link)
		hides |= st->kind == ST_DELEG && deleg_writes(st) && st->client != by;
	mutex_unlock(&o->lock);
	return hides;
}

uint32_t deleg_open_locked(struct state *s, struct obj *o, const struct client *by, uint32_t access,
	uint32_t deny, uint64_t *holder) REQUIRES(o->lock)
{
	bool modifies = access & OPEN4_SHARE_ACCESS_WRITE;

	*holder = 0;
	if (s->delegs->mode == DELEG_NONE)
		return NFS4_OK;
	return conflicts_locked(s, o, by, !modifies && !deny, modifies, holder);
}

/* --- granting --------------------------------------------------------------------------------- */

/* Could a delegation be recalled now, and is the grace period over? */
static bool may_recall(const struct state *s, struct session *ses)
{
	bool works;

	mutex_lock(&ses->lock);
	works = ses->cb_proved && ses->cb_xprt && !ses->cb_down && ses->back.maxrequests;
	mutex_unlock(&ses->lock);
	return works && grace_phase(s->grace) == GRACE_OVER;
}

/* The type of delegation that ask allows, as far as ask alone decides. */
static enum open_delegation_type4 asked_for(const struct state *s, const struct deleg_ask *ask)
{
	uint32_t want = ask->want & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;
	bool write = ask->reclaim ? ask->claimed == OPEN_DELEGATE_WRITE
				  : (ask->access & OPEN4_SHARE_ACCESS_WRITE) != 0;

	if (s->delegs->mode == DELEG_NONE || (write && s->delegs->mode != DELEG_WRITE))
		return OPEN_DELEGATE_NONE;
	if (ask->reclaim)
		return write || ask->claimed == OPEN_DELEGATE_READ ? ask->claimed
								   : OPEN_DELEGATE_NONE;
	if (want ==
		(write ? OPEN4_SHARE_ACCESS_WANT_READ_DELEG : OPEN4_SHARE_ACCESS_WANT_WRITE_DELEG))
		return OPEN_DELEGATE_NONE;
	return write ? OPEN_DELEGATE_WRITE : OPEN_DELEGATE_READ;
}

/* Does the client want no delegation? *why: the reason to report. */
static bool wants_none(const struct deleg_ask *ask, uint32_t *why)
{
	uint32_t want = ask->want & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK;

	*why = want == OPEN4_SHARE_ACCESS_WANT_CANCEL ? WND4_CANCELLED : WND4_NOT_WANTED;
	return ask->cur || want == OPEN4_SHARE_ACCESS_WANT_NO_DELEG ||
	       want == OPEN4_SHARE_ACCESS_WANT_CANCEL;
}

static bool has_room(struct state *s, struct client *c)
{
	struct delegs *d = s->delegs;

	return atomic_load_explicit(&d->n, memory_order_relaxed) < d->max &&
	       atomic_load_explicit(&c->ndelegs, memory_order_relaxed) < d->max_client &&
	       atomic_load_explicit(&s->nopens, memory_order_relaxed) < s->max_opens / 2 &&
	       !atomic_load_explicit(&c->no_delegs, memory_order_relaxed);
}

/* May st stay beside a delegation to c? */
static bool may_stay(const struct st *st, const struct client *c, bool write)
{
	if (st->client == c)
		return write || st->kind == ST_LOCK || st->kind == ST_LAYOUT ||
		       !(deleg_writes(st) || st->fd_w >= 0);
	switch (st->kind) {
	case ST_OPEN:
		return !write && !deleg_writes(st) && st->fd_w < 0 && !st->deny;
	case ST_DELEG:
		return !write && !deleg_writes(st);
	case ST_LAYOUT: /* its client also has an open */
		return true;
	default: /* the holder of a delegation locks without asking; an NLM lock has no open */
		return !write && st->open;
	}
}

/* Does no state of o conflict with a delegation to c? Otherwise *why (why_no_delegation4). */
static bool free_locked(struct obj *o, const struct client *c, bool write, bool reclaim,
	uint32_t *why) REQUIRES(o->lock)
{
	struct st *st;

	*why = WND4_CONTENTION;
	if (o->changing || (!reclaim && clock_coarse_ns() < o->undelegated_ns))
		return false;
	LIST_FOREACH (st, &o->states, obj_link) {
		if (st->kind == ST_DELEG && st->client == c) {
			*why = WND4_RESOURCE; /* one is enough */
			return false;
		}
		if (!may_stay(st, c, write))
			return false;
	}
	return true;
}

/* Returns a descriptor for deleg. It is a duplicate of the descriptor of open, since another open
 * file would be in the way of the lease. -1: there is none of the kind. */
static int fd_for(const struct st *deleg, const struct st *open, bool reclaim)
{
	if (!deleg_writes(deleg))
		return open->fd_r >= 0 ? fcntl(open->fd_r, F_DUPFD_CLOEXEC, 0) : -1;
	if (open->fd_w >= 0 && open->fd_w == open->fd_r)
		return fcntl(open->fd_w, F_DUPFD_CLOEXEC, 0);
	return reclaim ? obj_open(deleg->obj, O_RDWR) : -1;
}

/* Gives deleg a descriptor with a lease. A reclaimed write delegation is given without a lease if
 * necessary (*recall): its holder has data to write, and then returns the delegation. */
static bool take_fd(
	struct state *s, struct st *deleg, const struct st *open, bool reclaim, bool *recall)
{
	bool write = deleg_writes(deleg);
	int r;

	*recall = false;
	deleg->fd_r = fd_for(deleg, open, reclaim);
	if (deleg->fd_r < 0)
		return false;
	if (write)
		deleg->fd_w = deleg->fd_r;
	r = deleg_lease(s, deleg, write ? F_WRLCK : F_RDLCK);
	if (r < 0)
		log_data("%s: no lease for a delegation: errno %d", deleg->client->who, -r);
	*recall = r < 0 && write && reclaim;
	return r == 0 || *recall;
}

static bool grant_locked(struct state *s, struct st *deleg, const struct nfs4_stateid *sid,
	const struct deleg_ask *ask, struct nfs4_delegation *d) REQUIRES(deleg->obj->lock)
{
	struct client *c = deleg->client;
	struct obj *o = deleg->obj;
	struct st *open = NULL;

	if (!free_locked(o, c, deleg_writes(deleg), ask->reclaim, &d->why))
		return false;
	d->why = WND4_RESOURCE;
	mutex_lock(&c->lock);
	if (st_find_any_locked(c, o, sid, &open) != NFS4_OK || open->kind != ST_OPEN)
		open = NULL; /* the open was closed meanwhile */
	mutex_unlock(&c->lock);
	if (!open || !st_count_open(s, deleg))
		return false;
	deleg->deleg.given = ask->by;
	deleg->deleg.change = ask->change;
	if (!take_fd(s, deleg, open, ask->reclaim, &d->recall))
		return false;
	if (st_insert(c, deleg) != NFS4_OK) {
		deleg_unlease(s, deleg);
		deleg_unwatch_locked(s, deleg);
		return false;
	}
	deleg_add_locked(s, deleg);
	if (d->recall)
		deleg_recall_locked(s, deleg);
	d->stateid = deleg->sid;
	return true;
}

static bool grant(struct state *s, struct client *c, const struct rpc_cred *by, struct obj *o,
	const struct nfs4_stateid *open, const struct deleg_ask *ask, bool write,
	struct nfs4_delegation *d)
{
	struct st *st = st_alloc(c, by, obj_ref(s->objs, o), ST_DELEG, "", 0);
	bool given;

	if (!st) {
		obj_unref(s->objs, o); /* not the last reference: the caller has one */
		d->why = WND4_RESOURCE;
		return false;
	}
	st->access = write ? OPEN4_SHARE_ACCESS_BOTH : OPEN4_SHARE_ACCESS_READ;
	mutex_lock(&o->lock);
	given = grant_locked(s, st, open, ask, d);
	mutex_unlock(&o->lock);
	if (!given)
		st_put(s, st);
	return given;
}

void deleg_grant(struct state *s, struct session *ses, const struct rpc_cred *by, struct obj *o,
	const struct nfs4_stateid *open, const struct deleg_ask *ask, struct nfs4_delegation *d)
{
	enum open_delegation_type4 type = asked_for(s, ask);
	struct client *c = ses->client;

	*d = (struct nfs4_delegation){.type = OPEN_DELEGATE_NONE};
	if (!wants_none(ask, &d->why)) {
		d->why = WND4_RESOURCE;
		if (type != OPEN_DELEGATE_NONE && has_room(s, c) &&
			(ask->reclaim || may_recall(s, ses)) &&
			grant(s, c, by, o, open, ask, type == OPEN_DELEGATE_WRITE, d)) {
			/* No user gets a right by this entry: the client finds out by ACCESS which
			 * users may open o. */
			d->permissions.type = ACE4_ACCESS_ALLOWED;
			d->type = type;
			return;
		}
	}
	/* a client that did not ask for or against a delegation gets no reason */
	if (ask->want & OPEN4_SHARE_ACCESS_WANT_DELEG_MASK)
		d->type = OPEN_DELEGATE_NONE_EXT;
}
