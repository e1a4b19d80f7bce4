/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg_recover: the state manager's work on delegations (nfs4_deleg.h) after the server has
 * restarted or has revoked some. State manager's thread only.
 *
 * Delegations that are HELD, DUE or FLUSHING are reclaimed, or lost. A RETURNING one belongs to its
 * op, which waits at the gate. The op goes on with the delegation that the server has given again.
 * If the server gave none, the opens and locks that relied on the delegation are reclaimed like any
 * others.
 */
#include "nfsproto/v4/mount/nfs4_deleg_recover.h"

#include <stdlib.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lock_local.h"
#include "nfsproto/v4/mount/nfs4_lock_push.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/mount/nfs4_state_note.h"
#include "nfsproto/v4/server/nfs4_recover.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/log.h"

#define STEP_MS 60000u /* most time for one step */

/* The server does not know d any more, or refuses d. The local opens become suspect opens of the
 * mount. */
static void lose(struct nfs4_client *c, struct nfs4_deleg *d)
{
	struct nfs_fh fh = d->fh;
	struct nfs_open *o;
	bool writes;

	mutex_lock(&c->lock);
	ledger_drop(c->ledger, &d->note);
	while ((o = TAILQ_FIRST(&d->opens))) {
		nfs4_deleg_leave_locked(c, o);
		mutex_lock(&o->lock);
		o->suspect = true;
		mutex_unlock(&o->lock);
	}
	writes = d->type == OPEN_DELEGATE_WRITE;
	nfs4_deleg_free_locked(c, d);
	mutex_unlock(&c->lock);
	if (writes)
		nfs4_lock_undelegated(c, &fh, 0);
	nfs_tell_recalled(&c->base, &fh);
}

/* While the state manager visits a list, no delegation in the list is freed by another thread. */
static void visit(struct nfs4_client *c, bool on)
{
	mutex_lock(&c->lock);
	c->delegs.visited = on;
	mutex_unlock(&c->lock);
}

/* All delegations of one state, the most recently used first. No other thread frees any meanwhile.
 * NULL and *n == 0: no memory. */
static struct nfs4_deleg **all_of(struct nfs4_client *c, enum nfs4_deleg_state state, unsigned *n)
{
	struct nfs4_deleg **list, *d;

	*n = 0;
	mutex_lock(&c->lock);
	list = calloc(c->delegs.n[state] + 1, sizeof(struct nfs4_deleg *));
	TAILQ_FOREACH_REVERSE(d, &c->delegs.list[state], nfs4_deleg_list, link)
	if (list)
		list[(*n)++] = d;
	mutex_unlock(&c->lock);
	return list;
}

/* Asks the server for d with the same type. */
static bool ask_again(struct nfs4_client *c, struct nfs4_deleg *d, struct nfs4_sync *s)
{
	int rc;

	s->u.redeleg.deleg = d;
	do
		rc = nfs4_sync_run_as(nfs4_server_conn(c->srv), &c->user, &d->cred, NULL, s,
			NFS4_K_REDELEG, STEP_MS);
	while (rc && nfs4_reclaim_put_off(c, s->status));
	return !rc && s->u.redeleg.type == d->type;
}

/* The server has given d again, and compares the change attribute in answers to CB_GETATTR with the
 * present one. After the restart the present one may be smaller than before. */
static void given_again_locked(
	struct nfs4_client *c, struct nfs4_deleg *d, const struct nfs4_sync *s) REQUIRES(c->lock)
{
	const struct nfs4_stateid *id = &s->u.redeleg.stateid;
	struct nfs_open *o;

	d->change_known = s->u.redeleg.attr.have;
	d->change = s->u.redeleg.attr.change;
	d->stateid = *id;
	nfs4_deleg_note_locked(c, d);
	TAILQ_FOREACH (o, &d->opens, link) {
		mutex_lock(&o->lock);
		o->stateid = *id;
		o->gen++;
		mutex_unlock(&o->lock);
		nfs4_note_open_locked(c, o);
	}
}

static bool reclaimed(struct nfs4_client *c, struct nfs4_deleg *d)
{
	struct nfs4_sync s;

	if (!ask_again(c, d, &s))
		return false;
	mutex_lock(&c->lock);
	given_again_locked(c, d, &s);
	if (s.u.redeleg.recall && d->state == NFS4_D_HELD)
		nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	mutex_unlock(&c->lock);
	/* while the server was away its own programs may have changed the file */
	nfs_tell_lost(&c->base, &d->fh, NFS_LOST_GAP);
	return true;
}

/* Loses all delegations in `state`. Returns their number. */
static unsigned lose_list(struct nfs4_client *c, enum nfs4_deleg_state state)
{
	struct nfs4_deleg *d;

	for (unsigned n = 0;; n++) {
		mutex_lock(&c->lock);
		d = TAILQ_FIRST(&c->delegs.list[state]);
		mutex_unlock(&c->lock);
		if (!d)
			return n;
		lose(c, d);
	}
}

/* Reclaims the delegations in `state`. Write delegations come first, before other clients may open
 * the files; data may have to be flushed even under delegations that are to go back. Returns the
 * number of lost delegations; *had: the number before. */
static unsigned reclaim_list(struct nfs4_client *c, enum nfs4_deleg_state state, unsigned *had)
{
	unsigned lost = 0, reclaims = 0;
	struct nfs4_deleg **list = all_of(c, state, had);

	if (!list)
		return *had = lose_list(c, state);
	for (unsigned i = 0; i < 2 * *had; i++) {
		struct nfs4_deleg *d = list[i % *had];
		bool write = d && d->type == OPEN_DELEGATE_WRITE;

		if (!d || write != (i < *had))
			continue;
		list[i % *had] = NULL;
		if ((write || state == NFS4_D_HELD) && reclaims++ < NFS4_DELEG_RECLAIMED &&
			!nfs4_server_quitting(c->srv, &c->user) && reclaimed(c, d))
			continue;
		lose(c, d);
		lost++;
	}
	free(list);
	return lost;
}

/* The RETURNING write delegation with the lowest number above `after`. Returns a copy, because the
 * delegation belongs to its op, which may end. *opens: there are local opens. */
static bool next_returning(
	struct nfs4_client *c, uint64_t after, struct nfs4_deleg *copy, bool *opens)
{
	struct nfs4_deleg *d, *found = NULL;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (d, &c->delegs.list[NFS4_D_RETURNING], link)
		if (d->type == OPEN_DELEGATE_WRITE && d->id > after &&
			(!found || d->id < found->id))
			found = d;
	if (found) {
		*copy = *found;
		*opens = !TAILQ_EMPTY(&found->opens);
	}
	mutex_unlock(&c->lock);
	return found;
}

/* s: the reply with which the server gave the delegation again; NULL: the server did not. */
static void resume(struct nfs4_client *c, uint64_t id, const struct nfs4_sync *s)
{
	struct nfs4_deleg *d;
	struct nfs_open *o, *next;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (d, &c->delegs.list[NFS4_D_RETURNING], link)
		if (d->id == id)
			break;
	if (d && s) {
		given_again_locked(c, d, s);
	} else if (d) {
		d->forgotten = true;
		for (o = TAILQ_FIRST(&d->opens); o; o = next) {
			next = TAILQ_NEXT(o, link);
			nfs4_deleg_leave_locked(c, o);
		}
	}
	mutex_unlock(&c->lock);
}

/* Reclaims the RETURNING delegations; their ops wait at the gate. No other client may get in
 * between the locks and opens that still rely on a delegation. */
static void reclaim_returning(struct nfs4_client *c)
{
	struct nfs4_deleg copy = {.id = 0};
	struct nfs4_sync s;
	bool opens, given;

	while (!nfs4_server_quitting(c->srv, &c->user) &&
		next_returning(c, copy.id, &copy, &opens)) {
		if (!opens && !nfs4_lock_any_local(c, &copy.fh))
			continue;
		given = ask_again(c, &copy, &s);
		resume(c, copy.id, given ? &s : NULL);
		if (!given)
			nfs4_lock_undelegated(c, &copy.fh, 0);
	}
}

void nfs4_deleg_reclaim(struct nfs4_client *c)
{
	/* HELD last, because a reclaim may make a delegation DUE, and FLUSHING after DUE: each
	 * delegation is reclaimed once */
	static const enum nfs4_deleg_state order[] = {NFS4_D_DUE, NFS4_D_FLUSHING, NFS4_D_HELD};
	unsigned lost = 0, all = 0, had;

	reclaim_returning(c);
	visit(c, true);
	for (unsigned i = 0; i < 3; i++) {
		lost += reclaim_list(c, order[i], &had);
		all += had;
	}
	visit(c, false);
	if (lost) {
		log_ctrl("%s: %u delegations are lost, %u were reclaimed", c->srv->name, lost,
			all - lost);
		nfs4_state_want(c->srv, NFS4_TODO_CHECK);
	}
}

/* Asks which of up to 32 the server has revoked. False: no answer yet. If the server refuses to
 * say, all are lost. */
static bool test_batch(struct nfs4_client *c, struct nfs4_deleg **list, uint32_t n)
{
	struct nfs4_sync s, f;
	int rc;

	s.u.test.n = n;
	mutex_lock(&c->lock);
	for (uint32_t i = 0; i < n; i++)
		s.u.test.ids[i] = list[i]->stateid;
	mutex_unlock(&c->lock);
	rc = nfs4_sync_run(c->srv, &s, NFS4_K_TEST_STATEID, STEP_MS);
	if (rc && nfs4_recover_undecided(s.status))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t code = rc ? s.status : s.u.test.code[i];

		if (code == NFS4_OK)
			continue;
		log_ctrl("%s: a delegation is %s", c->srv->name, nfs4_status_name(code));
		lose(c, list[i]);
		f.u.free_id = s.u.test.ids[i];
		nfs4_sync_run(c->srv, &f, NFS4_K_FREE_STATEID, STEP_MS);
	}
	return true;
}

bool nfs4_deleg_revoked(struct nfs4_client *c)
{
	unsigned n;
	struct nfs4_deleg **list = all_of(c, NFS4_D_REVOKED, &n);
	bool unknown = !list;

	visit(c, true);
	for (unsigned i = 0; i < n; i++) {
		struct nfs4_sync f;

		mutex_lock(&c->lock);
		f.u.free_id = list[i]->stateid;
		mutex_unlock(&c->lock);
		lose(c, list[i]);
		nfs4_sync_run(c->srv, &f, NFS4_K_FREE_STATEID, STEP_MS);
	}
	free(list);
	for (enum nfs4_deleg_state state = NFS4_D_HELD; state <= NFS4_D_FLUSHING; state++) {
		list = all_of(c, state, &n);
		unknown |= !list;
		for (unsigned i = 0; i < n && !nfs4_server_quitting(c->srv, &c->user); i += 32)
			unknown |= !test_batch(c, list + i, n - i < 32 ? n - i : 32);
		free(list);
	}
	visit(c, false);
	return unknown;
}
