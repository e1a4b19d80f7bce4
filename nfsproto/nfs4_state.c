/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_state: the state manager, one thread per mount.
 *
 *     RUNNING --BADSESSION, ...--> DRAINING --all requests home--> SESSION ------------> RUNNING
 *                                     |                             |    ^                  ^
 *                                     \-- client ID lost too --> CLIENT_ID                  |
 *                                                                        \--> RECLAIM ------/
 *
 * Work arrives as bits in c->todo. What makes the session unusable closes the gate in the same
 * moment (nfs4_state_want_locked), so that no request is sent in vain; requests that were under way
 * come home with errors and wait at the gate. Draining waits for them, so that a new session never
 * meets a reply of the old one.
 *
 * The thread also owns time: it starts delayed ops when they are due, renews the lease with a
 * SEQUENCE of its own when nothing else did for a third of it, and ends cancelled ops, so that
 * nfs_cancel() never calls back.
 */
#include <errno.h>
#include <string.h>

#include "nfsproto/nfs4_client.h"
#include "transport/log.h"

#define PROBE_NS       (100 * NFS4_MSEC)
#define FLAGS_AGAIN_NS (5 * NFS4_SEC) /* a status flag that stays set is acted upon so often */

const char *nfs4_state_name(enum nfs4_state s)
{
	static const char *const names[] = {
		[NFS4_S_NEW] = "new",
		[NFS4_S_RUNNING] = "running",
		[NFS4_S_DRAINING] = "draining",
		[NFS4_S_CLIENT_ID] = "client ID",
		[NFS4_S_SESSION] = "session",
		[NFS4_S_RECLAIM] = "reclaim",
		[NFS4_S_STOPPED] = "stopped",
	};

	return (unsigned)s < sizeof(names) / sizeof(names[0]) ? names[s] : "?";
}

void nfs4_state_set(struct nfs4_client *c, enum nfs4_state s)
{
	pthread_mutex_lock(&c->slots.lock);
	if (c->state != s)
		log_ctrl("%s: state %s -> %s", c->server, nfs4_state_name(c->state),
			nfs4_state_name(s));
	c->state = s;
	pthread_mutex_unlock(&c->slots.lock);
}

/* --- asking for work ----------------------------------------------------------------------- */

void nfs4_state_want_locked(struct nfs4_client *c, uint32_t todo)
{
	if (c->state != NFS4_S_RUNNING)
		todo &= ~(uint32_t)(NFS4_TODO_GATE | NFS4_TODO_DESTROY); /* that is being done */
	if ((c->todo | todo) == c->todo)
		return;
	c->todo |= todo;
	if (todo & NFS4_TODO_GATE)
		nfs4_slots_close_locked(&c->slots);
	pthread_cond_signal(&c->wake);
}

void nfs4_state_want(struct nfs4_client *c, uint32_t todo)
{
	pthread_mutex_lock(&c->slots.lock);
	nfs4_state_want_locked(c, todo);
	pthread_mutex_unlock(&c->slots.lock);
}

void nfs4_state_flags(struct nfs4_client *c, uint32_t flags)
{
	uint32_t todo = 0, fresh;
	uint64_t now = nfs4_now_ns();

	pthread_mutex_lock(&c->slots.lock);
	if (now - c->flags_ns > FLAGS_AGAIN_NS) {
		c->flags_seen = 0;
		c->flags_ns = now;
	}
	fresh = flags & ~c->flags_seen;
	c->flags_seen |= flags;
	if (fresh & (SEQ4_STATUS_CB_PATH_DOWN | SEQ4_STATUS_CB_PATH_DOWN_SESSION))
		todo |= NFS4_TODO_BIND;
	if (fresh & SEQ4_STATUS_BACKCHANNEL_FAULT)
		todo |= NFS4_TODO_SESSION | NFS4_TODO_DESTROY;
	if (fresh & SEQ4_STATUS_RESTART_RECLAIM_NEEDED)
		todo |= NFS4_TODO_SESSION | NFS4_TODO_CLIENT | NFS4_TODO_DESTROY;
	if (fresh &
		(SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED | SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED |
			SEQ4_STATUS_ADMIN_STATE_REVOKED | SEQ4_STATUS_RECALLABLE_STATE_REVOKED))
		todo |= NFS4_TODO_REVOKED;
	if (todo && c->state == NFS4_S_RUNNING)
		nfs4_state_want_locked(c, todo);
	pthread_mutex_unlock(&c->slots.lock);
	if (fresh)
		log_ctrl("%s: SEQUENCE status flags 0x%x", c->server, flags);
}

void nfs4_state_delay(struct nfs4_client *c, struct nfs_op *op, unsigned ms)
{
	struct nfs_op *at;

	op->due_ns = nfs4_now_ns() + ms * NFS4_MSEC;
	pthread_mutex_lock(&c->slots.lock);
	if (c->stopping) { /* there may be nobody any more to start it */
		nfs4_state_end_later_locked(c, op, -ENOTCONN);
		pthread_mutex_unlock(&c->slots.lock);
		return;
	}
	op->be.v4.state = NFS4_T_DELAYED;
	TAILQ_FOREACH_REVERSE(at, &c->delayed, nfs4_delayed, link)
	if (at->due_ns <= op->due_ns)
		break;
	if (at)
		TAILQ_INSERT_AFTER(&c->delayed, at, op, link);
	else
		TAILQ_INSERT_HEAD(&c->delayed, op, link);
	if (!at || op->be.v4.cancelled)
		pthread_cond_signal(&c->wake);
	if (op->be.v4.cancelled) {
		TAILQ_REMOVE(&c->delayed, op, link);
		nfs4_state_end_later_locked(c, op, -EINTR);
	}
	pthread_mutex_unlock(&c->slots.lock);
}

void nfs4_state_end_later_locked(struct nfs4_client *c, struct nfs_op *op, int error)
{
	op->be.v4.state = NFS4_T_ENDING;
	op->error = error;
	TAILQ_INSERT_TAIL(&c->ended, op, link);
	pthread_cond_signal(&c->wake);
}

void nfs4_state_pump(struct nfs4_client *c)
{
	struct nfs_op *op;

	do {
		pthread_mutex_lock(&c->slots.lock);
		op = TAILQ_FIRST(&c->ended);
		if (op)
			TAILQ_REMOVE(&c->ended, op, link);
		pthread_mutex_unlock(&c->slots.lock);
		if (op)
			nfs4_task_end(c, op, op->error);
	} while (op);
}

/* --- waiting in the thread ----------------------------------------------------------------- */

void nfs4_state_wait_locked(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / NFS4_SEC), .tv_nsec = (long)(ns % NFS4_SEC)};

	pthread_cond_timedwait(cond, lock, &t);
}

/* A pause between attempts; false if the thread is to stop. */
bool nfs4_state_pause(struct nfs4_client *c, uint64_t ns)
{
	uint64_t until = nfs4_now_ns() + ns;
	bool stop;

	pthread_mutex_lock(&c->slots.lock);
	while (!c->stop_thread && nfs4_now_ns() < until) {
		nfs4_state_wait_locked(&c->wake, &c->slots.lock, until);
		pthread_mutex_unlock(&c->slots.lock);
		nfs4_state_pump(c);
		pthread_mutex_lock(&c->slots.lock);
	}
	stop = c->stop_thread;
	pthread_mutex_unlock(&c->slots.lock);
	return !stop;
}

bool nfs4_state_stopping(struct nfs4_client *c)
{
	bool stop;

	pthread_mutex_lock(&c->slots.lock);
	stop = c->stop_thread;
	pthread_mutex_unlock(&c->slots.lock);
	return stop;
}

/* --- the thread ---------------------------------------------------------------------------- */

static void renew_done(struct nfs_op *op)
{
	struct nfs4_client *c = nfs4_client(op->client);

	pthread_mutex_lock(&c->slots.lock);
	c->renewing = false;
	pthread_mutex_unlock(&c->slots.lock);
}

static void renew_start(struct nfs4_client *c)
{
	memset(&c->renew, 0, sizeof(c->renew));
	c->renew.type = NFS_OP_TYPES;
	c->renew.client = &c->base;
	c->renew.cred = c->cred;
	c->renew.done = renew_done;
	c->renew.be.v4.kind = NFS4_K_SEQUENCE;
	nfs4_task_start(c, &c->renew);
}

/* Does one thing that is due; false if nothing is, then *next is when to look again. */
static bool work_once(struct nfs4_client *c, uint64_t *next)
{
	uint64_t lease_ns = c->base.info.lease_s * NFS4_SEC;
	uint64_t renew_ns =
		atomic_load_explicit(&c->renewed_ns, memory_order_relaxed) + lease_ns / 3;
	uint64_t now = nfs4_now_ns(), lock_due = now + 10 * NFS4_SEC;
	struct nfs_op *op;
	uint32_t todo;

	nfs4_state_pump(c);
	pthread_mutex_lock(&c->slots.lock);
	c->lock_kick = false;
	pthread_mutex_unlock(&c->slots.lock);
	if (nfs4_lock_poll(c, now, &lock_due))
		return true;
	pthread_mutex_lock(&c->slots.lock);
	op = TAILQ_FIRST(&c->delayed);
	if (op && op->due_ns <= now) {
		TAILQ_REMOVE(&c->delayed, op, link);
		op->be.v4.state = NFS4_T_NEW;
		pthread_mutex_unlock(&c->slots.lock);
		nfs4_task_start(c, op);
		return true;
	}
	todo = c->todo;
	c->todo = 0;
	if (c->check_ns && c->check_ns <= now) {
		c->check_ns = 0;
		todo |= NFS4_TODO_CHECK;
	}
	if (c->slots.ndoubtful && c->probe_ns <= now && c->slots.gate_open)
		todo |= NFS4_TODO_PROBE;
	*next = op && op->due_ns < lock_due ? op->due_ns : lock_due;
	if (c->check_ns && c->check_ns < *next)
		*next = c->check_ns;
	if (c->slots.ndoubtful && c->slots.gate_open && c->probe_ns < *next)
		*next = c->probe_ns;
	if (!todo && !c->renewing && c->slots.gate_open) {
		if (renew_ns <= now) {
			c->renewing = true;
			pthread_mutex_unlock(&c->slots.lock);
			renew_start(c);
			return true;
		}
		if (renew_ns < *next)
			*next = renew_ns;
	}
	if (c->renewing && now + lease_ns / 3 < *next)
		*next = now + lease_ns / 3; /* nobody wakes us when it has been answered */
	if (todo & NFS4_TODO_PROBE)
		c->probe_ns = now + PROBE_NS;
	pthread_mutex_unlock(&c->slots.lock);

	if (todo & NFS4_TODO_GATE)
		nfs4_recover_session(c, todo);
	if (todo & NFS4_TODO_BIND)
		nfs4_recover_bind(c);
	if (todo & NFS4_TODO_PROBE)
		nfs4_recover_probe(c);
	if (todo & NFS4_TODO_REVOKED)
		nfs4_recover_revoked(c);
	else if (todo & NFS4_TODO_CHECK)
		nfs4_recover_check(c);
	return todo != 0;
}

static void *state_main(void *arg)
{
	struct nfs4_client *c = arg;

	pthread_mutex_lock(&c->slots.lock);
	while (!c->stop_thread) {
		uint64_t next;
		bool more;

		pthread_mutex_unlock(&c->slots.lock);
		more = work_once(c, &next);
		pthread_mutex_lock(&c->slots.lock);
		if (!more && !c->stop_thread && !c->todo && !c->lock_kick &&
			TAILQ_EMPTY(&c->ended) &&
			(TAILQ_EMPTY(&c->delayed) || TAILQ_FIRST(&c->delayed)->due_ns >= next))
			nfs4_state_wait_locked(&c->wake, &c->slots.lock, next);
	}
	pthread_mutex_unlock(&c->slots.lock);
	return NULL;
}

int nfs4_state_start(struct nfs4_client *c)
{
	int rc;

	pthread_mutex_lock(&c->slots.lock);
	c->state = NFS4_S_RUNNING;
	nfs4_slots_open_locked(&c->slots);
	rc = pthread_create(&c->thread, NULL, state_main, c);
	c->thread_up = rc == 0;
	pthread_mutex_unlock(&c->slots.lock);
	return -rc;
}

void nfs4_state_stop(struct nfs4_client *c)
{
	if (!c->thread_up)
		return;
	pthread_mutex_lock(&c->slots.lock);
	c->stop_thread = true;
	if (c->sync)
		nfs4_task_cancel_locked(c, &c->sync->op);
	pthread_cond_broadcast(&c->wake);
	pthread_cond_broadcast(&c->slots.idle);
	pthread_mutex_unlock(&c->slots.lock);
	pthread_join(c->thread, NULL);
	nfs4_state_set(c, NFS4_S_STOPPED);
}
