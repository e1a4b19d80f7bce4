/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg_return: how the delegations of a mount go back (nfs4_deleg.h).
 *
 * A recall comes on the progress thread, which only notes the recall. The state manager begins
 * returns, NFS4_DELEG_RETURNS at a time, so that a storm of recalls leaves slots for others. Before
 * a write delegation goes back, the user makes written data safe; data written after the recall
 * does not delay the return. The op of a return is put off, repeated and sent over another session
 * like any other. If the unmount begins in the middle of a return, the delegation is DUE again, and
 * goes back last, just before the session. A delegation for which the server then answers "later"
 * is DUE once more.
 */
#include "nfsproto/v4/mount/nfs4_deleg_return.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lock_push.h"
#include "nfsproto/v4/mount/nfs4_openreq.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "nfsproto/v4/server/nfs4_task.h"
#include "nfsproto/v4/server/nfs4_task_run.h"
#include "transport/clock.h"
#include "transport/log.h"

#define AGAIN_NS (1 * NFS4_SEC)

/* --- DELEGRETURN ----------------------------------------------------------------------------- */

void nfs4_put_delegreturn(struct nfs4_client *c, const struct nfs4_deleg *d, struct nfs4_comp *k)
{
	struct nfs4_stateid_args a;

	mutex_lock(&c->lock);
	a.stateid = d->stateid;
	mutex_unlock(&c->lock);
	a.stateid.seqid = 0; /* the newest */
	nfs4_comp_putfh(k, &d->fh);
	nfs4_put_stateid_args(k->x, OP_DELEGRETURN, &a);
	nfs4_comp_count(k, OP_DELEGRETURN, 0);
}

bool nfs4_delegreturn_gone(uint32_t status, bool *revoked)
{
	*revoked = status == NFS4ERR_DELEG_REVOKED || status == NFS4ERR_ADMIN_REVOKED;
	switch (status) {
	case NFS4ERR_BAD_STATEID:
	case NFS4ERR_STALE_STATEID:
	case NFS4ERR_OLD_STATEID:
	case NFS4ERR_EXPIRED:
	case NFS4ERR_STALE:
	case NFS4ERR_FHEXPIRED:
		return true;
	default:
		return *revoked;
	}
}

/* --- one return ------------------------------------------------------------------------------ */

static void return_done(struct nfs_op *op);

/* Sends the next call of the return of d: the claim of a local open, the LOCK of a local lock, or
 * DELEGRETURN. later: the state manager sends the call. */
static void return_next(struct nfs4_client *c, struct nfs4_deleg *d, bool later, uint8_t flags)
{
	struct nfs_op *op = d->op;
	struct nfs_open *o;

	mutex_lock(&c->lock);
	o = flags & NFS4_F_LAST ? NULL : TAILQ_FIRST(&d->opens);
	if (o)
		nfs4_open_ref(o);
	d->claiming = o;
	mutex_unlock(&c->lock);
	d->pushing = NULL;
	if (!o && d->type == OPEN_DELEGATE_WRITE && !(flags & NFS4_F_LAST))
		d->pushing = nfs4_lock_push_next(c, &d->fh, &d->range);
	op->type = NFS_OP_TYPES;
	op->cred = o ? o->own.cred : d->pushing ? d->pushing->open->own.cred : d->cred;
	op->client = &c->base;
	op->done = return_done;
	op->ctx = d;
	op->tries = 0;
	nfs4_mount_bind(c, op,
		o	     ? NFS4_K_DELEG_OPEN
		: d->pushing ? NFS4_K_DELEG_LOCK
			     : NFS4_K_DELEGRETURN);
	op->be.v4.flags = flags;
	op->be.v4.open = o;
	if (later)
		nfs4_task_delay(op, 0);
	else
		nfs4_task_start(op);
}

/* d is RETURNING. False: no memory, and d is DUE again. */
static bool return_begin(struct nfs4_client *c, struct nfs4_deleg *d, uint8_t flags)
{
	d->op = calloc(1, sizeof(*d->op));
	if (!d->op) {
		mutex_lock(&c->lock);
		nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
		c->delegs.again_ns = clock_ns() + AGAIN_NS;
		mutex_unlock(&c->lock);
		return false;
	}
	nfs4_own_begins(c);
	return_next(c, d, false, flags);
	return true;
}

/* There is no connection: d goes back later, or, during an unmount, at the end of the unmount. */
static void put_off(struct nfs4_client *c, struct nfs4_deleg *d)
{
	struct nfs_op *op = d->op;

	mutex_lock(&c->lock);
	d->op = NULL;
	nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	c->delegs.again_ns = clock_ns() + AGAIN_NS;
	mutex_unlock(&c->lock);
	free(op);
	nfs4_own_ended(c);
}

/* The former local open has a stateid of its own, or is a suspect. */
static void claimed(struct nfs4_client *c, struct nfs4_deleg *d, struct nfs_op *op)
{
	bool left = op->error == -ENOTCONN, failed, closed;
	struct nfs_open *o;

	mutex_lock(&c->lock);
	o = d->claiming;
	failed = op->error && !left && !d->forgotten;
	d->claiming = NULL;
	if (o->local && (!left || o->close_wanted))
		nfs4_deleg_leave_locked(c, o);
	closed = o->close_put_off; /* else a CLOSE may be under way already */
	if (failed) {
		mutex_lock(&o->lock);
		o->suspect = true;
		mutex_unlock(&o->lock);
	}
	mutex_unlock(&c->lock);
	if (failed) {
		log_ctrl("%s: an open of what was delegated was refused: %s", c->srv->name,
			strerror(-op->error));
		nfs4_lock_undelegated(c, &d->fh, 0);
		nfs4_state_want(c->srv, NFS4_TODO_CHECK);
	}
	if (closed && !left)
		nfs4_close_start(c, o);
	nfs4_open_unref(o);
	if (left)
		put_off(c, d);
	else
		return_next(c, d, failed, 0);
}

/* The former local lock is now held at the server, or is a suspect. */
static void locked(struct nfs4_client *c, struct nfs4_deleg *d, struct nfs_op *op)
{
	bool left = op->error == -ENOTCONN;

	nfs4_lock_pushed(c, d->pushing, d->id,
		left	    ? NFS4_PUSH_LEFT
		: op->error ? NFS4_PUSH_REFUSED
			    : NFS4_PUSH_GRANTED);
	d->pushing = NULL;
	if (left)
		put_off(c, d);
	else
		return_next(c, d, true, 0);
}

static void returned(struct nfs4_client *c, struct nfs4_deleg *d, int error, bool last)
{
	bool due, revoked;

	if (error == -ENOTCONN) { /* or, at the end: the server has said "later" */
		put_off(c, d);
		return;
	}
	if (error)
		log_warn("%s: DELEGRETURN failed: %s", c->srv->name, strerror(-error));
	revoked = d->op->be.v4.gen && !last;
	if (revoked) /* another client may have had the file before the locks were pushed */
		nfs4_lock_undelegated(c, &d->fh, d->id);
	mutex_lock(&c->lock);
	if (revoked) {
		free(d->op);
		d->op = NULL;
		nfs4_deleg_move_locked(c, d, NFS4_D_REVOKED);
	} else {
		nfs4_deleg_free_locked(c, d);
	}
	due = !TAILQ_EMPTY(&c->delegs.list[NFS4_D_DUE]);
	mutex_unlock(&c->lock);
	if (revoked)
		nfs4_state_want(c->srv, NFS4_TODO_REVOKED);
	else if (due)
		nfs4_state_poll(c->srv);
	nfs4_own_ended(c);
}

static void return_done(struct nfs_op *op)
{
	struct nfs4_client *c = nfs4_client(op->client);
	struct nfs4_deleg *d = op->ctx;

	if (op->be.v4.kind == NFS4_K_DELEG_OPEN)
		claimed(c, d, op);
	else if (op->be.v4.kind == NFS4_K_DELEG_LOCK)
		locked(c, d, op);
	else
		returned(c, d, op->error, op->be.v4.flags & NFS4_F_LAST);
}

/* --- which delegations are returned ---------------------------------------------------------- */

bool nfs4_deleg_recall(struct nfs4_client *c, const struct nfs_fh *fh,
	const struct nfs4_stateid *stateid, bool unseen)
{
	struct nfs4_deleg *d;

	mutex_lock(&c->lock);
	d = nfs4_deleg_find_locked(c, fh, stateid);
	if (!d && unseen)
		d = nfs4_deleg_unseen_locked(c, fh, stateid);
	if (d && d->state == NFS4_D_HELD)
		nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	mutex_unlock(&c->lock);
	if (d)
		nfs4_state_poll(c->srv);
	if (d && unseen)
		log_ctrl("%s: returning a delegation that no answer has brought", c->srv->name);
	return d;
}

uint32_t nfs4_deleg_getattr(
	struct nfs4_client *c, const struct nfs_fh *fh, uint64_t *size, uint64_t *change)
{
	struct nfs4_deleg *d;
	bool modified, found;

	mutex_lock(&c->lock);
	d = nfs4_deleg_find_locked(c, fh, NULL);
	found = d && d->type == OPEN_DELEGATE_WRITE;
	mutex_unlock(&c->lock);
	if (!found)
		return NFS4ERR_BADHANDLE;
	if (!nfs_tell_inquired(&c->base, fh, size, change, &modified))
		return NFS4ERR_DELAY;
	mutex_lock(&c->lock);
	d = nfs4_deleg_find_locked(c, fh, NULL);
	if (d && d->change_known)
		*change = d->change;
	mutex_unlock(&c->lock);
	*change += modified;
	return NFS4_OK;
}

void nfs4_deleg_recall_any(struct nfs4_client *c, uint32_t keep)
{

	mutex_lock(&c->lock);
	while (c->delegs.n[NFS4_D_HELD] > keep)
		nfs4_deleg_move_locked(c, TAILQ_FIRST(&c->delegs.list[NFS4_D_HELD]), NFS4_D_DUE);
	mutex_unlock(&c->lock);
	nfs4_state_poll(c->srv);
}

void nfs4_deleg_give_back(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id)
{
	struct nfs4_deleg *d;

	mutex_lock(&c->lock);
	d = nfs4_deleg_find_locked(c, fh, NULL);
	if (d && d->id == id)
		nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	mutex_unlock(&c->lock);
	if (d)
		nfs4_state_poll(c->srv);
}

void nfs4_deleg_flushed(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id)
{
	struct nfs4_deleg *d;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (d, &c->delegs.list[NFS4_D_FLUSHING], link)
		if (d->id == id && nfs_fh_equal(&d->fh, fh))
			break;
	if (d) {
		d->flushed = true;
		nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	}
	mutex_unlock(&c->lock);
	if (d)
		nfs4_state_poll(c->srv);
}

/* A RETURNING delegation is left alone: the return takes care of its opens and locks. */
bool nfs4_deleg_disowned(struct nfs4_client *c, struct nfs_open *o, uint32_t gen)
{
	struct nfs4_deleg *d;
	bool due = false;

	mutex_lock(&c->lock);
	d = o->local;
	if (d && d->state <= NFS4_D_FLUSHING && (d->state == NFS4_D_HELD || !d->flushed)) {
		mutex_lock(&o->lock);
		due = o->gen == gen;
		mutex_unlock(&o->lock);
	}
	if (due) {
		d->flushed = true; /* the flush would wait for data that the server refuses */
		nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	}
	mutex_unlock(&c->lock);
	if (due) {
		log_ctrl("%s: the server disowns a delegation", c->srv->name);
		nfs_tell_recalled(&c->base, &o->fh);
		nfs4_state_poll(c->srv);
	}
	return d;
}

/* Makes delegations DUE that were not used for long. */
static void look_for_idle_locked(struct nfs4_client *c, uint64_t now) REQUIRES(c->lock)
{
	struct nfs4_deleg *d, *next;

	c->delegs.look_ns = now + NFS4_DELEG_LOOK_NS;
	for (d = TAILQ_FIRST(&c->delegs.list[NFS4_D_HELD]); d; d = next) {
		next = TAILQ_NEXT(d, link);
		if (atomic_load(&d->used_ns) + NFS4_DELEG_IDLE_NS < now && TAILQ_EMPTY(&d->opens))
			nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	}
}

/* The first DUE delegation that can be flushed or returned now. */
static struct nfs4_deleg *next_due_locked(struct nfs4_client *c, bool *flush) REQUIRES(c->lock)
{
	bool flushes = c->delegs.n[NFS4_D_FLUSHING] < NFS4_DELEG_FLUSHES;
	bool returns = c->delegs.n[NFS4_D_RETURNING] < NFS4_DELEG_RETURNS;
	struct nfs4_deleg *d;

	TAILQ_FOREACH (d, &c->delegs.list[NFS4_D_DUE], link) {
		*flush = d->type == OPEN_DELEGATE_WRITE && !d->flushed;
		if (*flush ? flushes : returns)
			return d;
		if (!flushes && !returns)
			break;
	}
	return NULL;
}

/* The user had no memory to flush. */
static void flush_later(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id)
{
	struct nfs4_deleg *d;

	mutex_lock(&c->lock);
	TAILQ_FOREACH (d, &c->delegs.list[NFS4_D_FLUSHING], link)
		if (d->id == id)
			break;
	if (d)
		nfs4_deleg_move_locked(c, d, NFS4_D_DUE);
	c->delegs.again_ns = clock_ns() + AGAIN_NS;
	mutex_unlock(&c->lock);
}

bool nfs4_deleg_poll(struct nfs4_client *c, uint64_t now, uint64_t *next)
{
	struct nfs4_deleg *d = NULL;
	bool flush = false;
	struct nfs_fh fh;
	uint64_t id = 0;

	mutex_lock(&c->lock);
	if (c->delegs.rest_former) {
		mutex_unlock(&c->lock);
		return false;
	}
	if (c->delegs.n[NFS4_D_HELD] && c->delegs.look_ns <= now)
		look_for_idle_locked(c, now);
	if (c->delegs.again_ns <= now)
		d = next_due_locked(c, &flush);
	if (d)
		nfs4_deleg_move_locked(c, d, flush ? NFS4_D_FLUSHING : NFS4_D_RETURNING);
	if (d && flush) {
		fh = d->fh; /* d may go meanwhile */
		id = d->id;
	}
	if (c->delegs.n[NFS4_D_HELD] && c->delegs.look_ns < *next)
		*next = c->delegs.look_ns;
	if (c->delegs.n[NFS4_D_DUE] && c->delegs.again_ns > now && c->delegs.again_ns < *next)
		*next = c->delegs.again_ns;
	mutex_unlock(&c->lock);
	if (d && flush) {
		if (!nfs_tell_flush(&c->base, &fh, id))
			flush_later(c, &fh, id);
		return true;
	}
	return d && return_begin(c, d, 0);
}

static unsigned to_return(struct nfs4_client *c)
{
	unsigned n = 0;

	mutex_lock(&c->lock);
	for (enum nfs4_deleg_state s = NFS4_D_HELD; s <= NFS4_D_FLUSHING; s++)
		n += c->delegs.n[s];
	mutex_unlock(&c->lock);
	return n;
}

bool nfs4_deleg_left(struct nfs4_client *c)
{
	return to_return(c) > 0;
}

unsigned nfs4_deleg_return_all(struct nfs4_client *c)
{
	unsigned n = 0, most = to_return(c);
	struct nfs4_deleg *d;
	bool begun;

	do { /* a delegation that is put off meanwhile waits for the next round */
		d = NULL;
		mutex_lock(&c->lock);
		for (enum nfs4_deleg_state s = NFS4_D_HELD; s <= NFS4_D_FLUSHING && !d; s++)
			d = TAILQ_FIRST(&c->delegs.list[s]);
		if (d)
			nfs4_deleg_move_locked(c, d, NFS4_D_RETURNING);
		mutex_unlock(&c->lock);
		begun = d && return_begin(c, d, NFS4_F_LAST);
		n += begun;
	} while (begun && n < most);
	return n;
}
