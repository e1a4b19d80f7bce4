/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg_table: the delegations of a mount, and local opens (nfs4_deleg.h).
 */
#include "nfsproto/v4/mount/nfs4_deleg_table.h"

#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/clock.h"
#include "transport/hash.h"
#include "transport/log.h"

#define ROTATE_MAX 16u /* delegations to look at for one that may give way */

void nfs4_deleg_init(struct nfs4_client *c, enum nfs_delegations wanted)
{
	c->delegs_wanted = wanted;
	for (unsigned i = 0; i < NFS4_D_STATES; i++)
		TAILQ_INIT(&c->delegs.list[i]);
}

void nfs4_deleg_finish(struct nfs4_client *c)
{
	struct nfs4_deleg *d;

	for (unsigned i = 0; i < NFS4_D_STATES; i++)
		while ((d = TAILQ_FIRST(&c->delegs.list[i])))
			nfs4_deleg_free_locked(c, d);
}

/* --- finding and moving ---------------------------------------------------------------------- */

static unsigned bucket_of(const struct nfs_fh *fh)
{
	return (unsigned)(hash_bytes(0xcbf29ce484222325ull, fh->data, fh->len) %
			  NFS4_DELEG_BUCKETS);
}

struct nfs4_deleg *nfs4_deleg_find_locked(
	struct nfs4_client *c, const struct nfs_fh *fh, const struct nfs4_stateid *stateid)
{
	struct nfs4_deleg *d;

	LIST_FOREACH (d, &c->delegs.bucket[bucket_of(fh)], hash) {
		if (!nfs_fh_equal(&d->fh, fh))
			continue;
		if (stateid ? !memcmp(d->stateid.other, stateid->other, sizeof(stateid->other))
			    : d->state == NFS4_D_HELD)
			return d;
	}
	return NULL;
}

static struct nfs4_deleg *find_held_locked(
	struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id) REQUIRES(c->lock)
{
	struct nfs4_deleg *d = id ? nfs4_deleg_find_locked(c, fh, NULL) : NULL;

	return d && d->id == id ? d : NULL;
}

void nfs4_deleg_note_locked(struct nfs4_client *c, struct nfs4_deleg *d)
{
	const struct nfs4_deleg_noted n = {
		.fh = d->fh,
		.type = d->type,
		.stateid = d->stateid,
		.cred = d->cred,
		.held = d->state == NFS4_D_HELD,
		.change_known = d->change_known,
		.change = d->change,
	};

	nfs4_deleg_note_put(c->ledger, &d->note, &n);
}

void nfs4_deleg_move_locked(
	struct nfs4_client *c, struct nfs4_deleg *d, enum nfs4_deleg_state state)
{
	bool other = (d->state == NFS4_D_HELD) != (state == NFS4_D_HELD);

	TAILQ_REMOVE(&c->delegs.list[d->state], d, link);
	c->delegs.n[d->state]--;
	d->state = state;
	TAILQ_INSERT_TAIL(&c->delegs.list[state], d, link);
	c->delegs.n[state]++;
	if (other)
		nfs4_deleg_note_locked(c, d);
}

void nfs4_deleg_free_locked(struct nfs4_client *c, struct nfs4_deleg *d)
{
	struct nfs_open *o;

	while ((o = TAILQ_FIRST(&d->opens))) { /* the mount ends: no user closes the local opens */
		TAILQ_REMOVE(&d->opens, o, link);
		o->local = NULL;
		nfs4_open_unref(o);
	}
	TAILQ_REMOVE(&c->delegs.list[d->state], d, link);
	c->delegs.n[d->state]--;
	c->delegs.unseen -= d->unseen;
	LIST_REMOVE(d, hash);
	ledger_drop(c->ledger, &d->note);
	free(d->op);
	free(d);
}

/* --- coming ---------------------------------------------------------------------------------- */

/* Is there room for one more? */
static bool make_room(struct nfs4_client *c)
{
	uint64_t fresh = clock_ns() - NFS4_DELEG_FRESH_NS;
	bool room, gone = false;

	mutex_lock(&c->lock);
	if (c->delegs.rest_ns && clock_ns() < c->delegs.rest_ns) {
		mutex_unlock(&c->lock);
		return false;
	}
	room = c->delegs.n[NFS4_D_HELD] < NFS4_DELEGS_MAX;
	for (unsigned i = 0; !room && i < ROTATE_MAX; i++) {
		struct nfs4_deleg *d = TAILQ_FIRST(&c->delegs.list[NFS4_D_HELD]);

		room = gone = atomic_load(&d->used_ns) < fresh && TAILQ_EMPTY(&d->opens);
		nfs4_deleg_move_locked(c, d, gone ? NFS4_D_DUE : NFS4_D_HELD);
	}
	mutex_unlock(&c->lock);
	if (gone)
		nfs4_state_poll(c->srv);
	return room;
}

enum open_delegation_type4 nfs4_deleg_wanted(struct nfs4_client *c, uint32_t access)
{
	bool write = access & OPEN4_SHARE_ACCESS_WRITE;

	if (c->delegs_wanted < (write ? NFS_DELEGATIONS_WRITE : NFS_DELEGATIONS_READ) ||
		!make_room(c))
		return OPEN_DELEGATE_NONE;
	return write ? OPEN_DELEGATE_WRITE : OPEN_DELEGATE_READ;
}

static struct nfs4_deleg *new_locked(struct nfs4_client *c, const struct rpc_cred *cred,
	const struct nfs_fh *fh, const struct nfs4_delegation *g) REQUIRES(c->lock)
{
	struct nfs4_deleg *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->id = ++c->delegs.last_id;
	d->fh = *fh;
	d->type = g->type;
	d->cred = *cred;
	d->stateid = g->stateid;
	d->since_ns = clock_ns();
	atomic_init(&d->used_ns, d->since_ns);
	TAILQ_INIT(&d->opens);
	LIST_INSERT_HEAD(&c->delegs.bucket[bucket_of(fh)], d, hash);
	d->state = NFS4_D_HELD;
	TAILQ_INSERT_TAIL(&c->delegs.list[NFS4_D_HELD], d, link);
	c->delegs.n[NFS4_D_HELD]++;
	nfs4_deleg_note_locked(c, d);
	return d;
}

static bool knows_locked(struct nfs4_client *c, const struct nfs4_stateid *stateid)
	REQUIRES(c->lock)
{
	struct nfs4_deleg *d;

	for (unsigned i = 0; i < NFS4_D_STATES; i++)
		TAILQ_FOREACH (d, &c->delegs.list[i], link)
			if (!memcmp(d->stateid.other, stateid->other, sizeof(stateid->other)))
				return true;
	return false;
}

struct nfs4_deleg *nfs4_deleg_unseen_locked(struct nfs4_client *c, const struct nfs_fh *fh,
	const struct nfs4_stateid *stateid) REQUIRES(c->lock)
{
	const struct nfs4_delegation g = {.type = OPEN_DELEGATE_READ, .stateid = *stateid};
	struct nfs4_deleg *d;

	if (c->delegs.unseen == NFS4_DELEG_UNSEEN || knows_locked(c, stateid) ||
		!memcmp(stateid->other, nfs4_stateid_anonymous.other, sizeof(stateid->other)))
		return NULL;
	d = new_locked(c, &c->srv->cred, fh, &g);
	if (!d)
		return NULL;
	d->unseen = true;
	c->delegs.unseen++;
	nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	return d;
}

/* Is g on its way back? The server has recalled g before the answer came. */
static bool is_going_locked(struct nfs4_client *c, const struct nfs_fh *fh,
	const struct nfs4_delegation *g) REQUIRES(c->lock)
{
	struct nfs4_deleg *d = nfs4_deleg_find_locked(c, fh, &g->stateid);

	return d && d->state != NFS4_D_HELD;
}

/* The server has given g, though there may be one: then the new one counts. */
static struct nfs4_deleg *given_locked(struct nfs4_client *c, const struct rpc_cred *cred,
	const struct nfs_fh *fh, const struct nfs4_delegation *g) REQUIRES(c->lock)
{
	struct nfs4_deleg *old = nfs4_deleg_find_locked(c, fh, NULL);

	if (old && !memcmp(old->stateid.other, g->stateid.other, sizeof(g->stateid.other))) {
		old->stateid = g->stateid;
		nfs4_deleg_note_locked(c, old);
		return old;
	}
	if (old)
		nfs4_deleg_move_locked(c, old, NFS4_D_DUE);
	return new_locked(c, cred, fh, g);
}

uint64_t nfs4_deleg_came(struct nfs4_client *c, const struct rpc_cred *cred,
	const struct nfs_fh *fh, const struct nfs4_delegation *g, uint64_t asked_ns,
	enum open_delegation_type4 wanted, bool former, bool *writes)
{
	bool given = g->type == OPEN_DELEGATE_READ || g->type == OPEN_DELEGATE_WRITE;
	bool keep = g->type == wanted && !g->recall;
	struct nfs4_deleg *d;
	uint64_t id = 0;
	bool poll;

	*writes = false;

	if (!given && !c->delegs_wanted)
		return 0;
	mutex_lock(&c->lock);
	if (given && is_going_locked(c, fh, g)) {
		mutex_unlock(&c->lock);
		return 0;
	}
	keep &= !former || nfs4_deleg_find_locked(c, fh, &g->stateid);
	d = given ? given_locked(c, cred, fh, g) : nfs4_deleg_find_locked(c, fh, NULL);
	if (d && given && !keep) {
		nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	} else if (d && (given || d->since_ns < asked_ns)) {
		id = d->id;
		*writes = d->type == OPEN_DELEGATE_WRITE;
	}
	/* if a delegation was held already, the state manager knows when to look */
	poll = given && (c->delegs.n[NFS4_D_HELD] < 2 || !TAILQ_EMPTY(&c->delegs.list[NFS4_D_DUE]));
	mutex_unlock(&c->lock);
	if (given && !d)
		log_warn("%s: out of memory for a delegation", c->srv->name);
	if (given && !keep)
		log_ctrl("%s: returning a delegation that was not asked for%s", c->srv->name,
			former ? ", or that a former daemon was given" : "");
	if (poll)
		nfs4_state_poll(c->srv);
	return id;
}

void nfs4_deleg_note_change(
	struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id, uint64_t change)
{
	struct nfs4_deleg *d;

	mutex_lock(&c->lock);
	d = find_held_locked(c, fh, id);
	if (d && !d->change_known) {
		d->change_known = true;
		d->change = change;
		nfs4_deleg_note_locked(c, d);
	}
	mutex_unlock(&c->lock);
}

void nfs4_deleg_opening(struct nfs4_client *c, int by)
{
	if (!c->delegs_wanted)
		return;
	mutex_lock(&c->lock);
	c->delegs.opening += (unsigned)by;
	mutex_unlock(&c->lock);
}

/* --- use ------------------------------------------------------------------------------------- */

bool nfs4_deleg_holds(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id)
{
	uint64_t now = clock_ns();
	struct nfs4_deleg *d;

	if (nfs4_mount_unsure(c, now))
		return false;
	mutex_lock(&c->lock);
	d = find_held_locked(c, fh, id);
	if (d)
		atomic_store_explicit(&d->used_ns, now, memory_order_relaxed);
	mutex_unlock(&c->lock);
	return d;
}

uint64_t nfs4_deleg_is_alone(struct nfs4_client *c, const struct nfs_fh *fh)
{
	uint64_t now, id = 0;
	struct nfs4_deleg *d;

	if (c->delegs_wanted < NFS_DELEGATIONS_WRITE)
		return 0;
	now = clock_ns();
	mutex_lock(&c->lock);
	d = nfs4_deleg_find_locked(c, fh, NULL);
	if (d && d->type == OPEN_DELEGATE_WRITE && !nfs4_mount_unsure(c, now)) {
		atomic_store_explicit(&d->used_ns, now, memory_order_relaxed);
		id = d->id;
	}
	mutex_unlock(&c->lock);
	return id;
}

struct nfs_open *nfs4_deleg_open(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id,
	int flags, const struct rpc_cred *cred)
{
	uint32_t access = nfs4_share_access(flags);
	struct nfs_open *o = nfs4_open_new(c, access, cred);
	struct nfs4_deleg *d = NULL;
	uint64_t now = clock_ns();

	if (!o)
		return NULL;
	mutex_lock(&c->lock);
	if (!nfs4_mount_unsure(c, now))
		d = find_held_locked(c, fh, id);
	if (d && access & OPEN4_SHARE_ACCESS_WRITE && d->type != OPEN_DELEGATE_WRITE)
		d = NULL;
	if (d) {
		mutex_alone(&o->lock); /* no other thread knows o yet */
		o->fh = d->fh;
		o->stateid = d->stateid;
		o->gen = 1;
		o->wire_access = 0;
		o->local = d;
		TAILQ_INSERT_TAIL(&d->opens, o, link);
		nfs4_note_open_locked(c, o);
		atomic_store_explicit(&d->used_ns, now, memory_order_relaxed);
		nfs4_deleg_move_locked(c, d, NFS4_D_HELD);
	}
	mutex_unlock(&c->lock);
	if (d)
		return o;
	nfs4_open_unref(o);
	return NULL;
}

bool nfs4_deleg_close(struct nfs4_client *c, struct nfs_open *o)
{
	bool local, claiming = false;

	mutex_lock(&c->lock);
	local = o->local;
	claiming = local && o->local->claiming == o;
	if (claiming) {
		o->close_wanted = o->close_put_off = true;
	} else if (local) {
		TAILQ_REMOVE(&o->local->opens, o, link);
		o->local = NULL;
		nfs4_note_closed(o);
	}
	mutex_unlock(&c->lock);
	if (local && !claiming)
		nfs4_open_unref(o);
	return local;
}

void nfs4_deleg_leave_locked(struct nfs4_client *c, struct nfs_open *o)
{
	TAILQ_REMOVE(&o->local->opens, o, link);
	o->local = NULL;
	TAILQ_INSERT_TAIL(&c->opens, o, link);
	o->linked = true;
	nfs4_note_open_locked(c, o);
}

void nfs4_deleg_leave(struct nfs4_client *c, struct nfs_open *o)
{
	mutex_lock(&c->lock);
	if (o->local)
		nfs4_deleg_leave_locked(c, o);
	mutex_unlock(&c->lock);
}

/* --- the successor of a daemon that was killed ----------------------------------------------- */

struct nfs4_deleg *nfs4_deleg_former_locked(struct nfs4_client *c, const struct nfs4_deleg_noted *n)
{
	const struct nfs4_delegation g = {.type = n->type, .stateid = n->stateid};
	struct nfs4_deleg *d = new_locked(c, &n->cred, &n->fh, &g);

	if (!d)
		return NULL;
	d->change_known = n->change_known;
	d->change = n->change;
	nfs4_deleg_note_locked(c, d);
	if (!n->held)
		nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	return d;
}

bool nfs4_deleg_rejoin_locked(struct nfs4_client *c, struct nfs_open *o)
{
	struct nfs4_deleg *d;

	mutex_lock(&o->lock);
	d = nfs4_deleg_find_locked(c, &o->fh, &o->stateid);
	if (!d) /* the server has given the delegation again since the note of o */
		d = nfs4_deleg_find_locked(c, &o->fh, NULL);
	if (d && o->access & OPEN4_SHARE_ACCESS_WRITE && d->type != OPEN_DELEGATE_WRITE)
		d = NULL;
	if (d)
		o->stateid = d->stateid;
	mutex_unlock(&o->lock);
	if (!d)
		return false;
	TAILQ_REMOVE(&c->opens, o, link);
	o->linked = false;
	o->local = d;
	TAILQ_INSERT_TAIL(&d->opens, o, link);
	nfs4_note_open_locked(c, o);
	return true;
}
