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
#include <stdlib.h>
#include <string.h>

#include "nfsproto/nfs4_client.h"
#include "transport/log.h"

#define STEP_MS	       60000u /* most time for one step of recovery before it is tried anew */
#define RETRY_NS       (1 * NFS4_SEC)
#define PUMP_NS	       (50 * NFS4_MSEC) /* cancelled ops wait no longer than so during recovery */
#define PROBE_NS       (100 * NFS4_MSEC)
#define FLAGS_AGAIN_NS (5 * NFS4_SEC) /* a status flag that stays set is acted upon so often */

#define TODO_GATE (NFS4_TODO_SESSION | NFS4_TODO_CLIENT)

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

static void set_state(struct nfs4_client *c, enum nfs4_state s)
{
	pthread_mutex_lock(&c->slots.lock);
	if (c->state != s)
		log_ctrl("%s: state %s -> %s", c->server, nfs4_state_name(c->state),
			nfs4_state_name(s));
	c->state = s;
	pthread_mutex_unlock(&c->slots.lock);
}

/* --- asking for work -----------------------------------------------------------------------------
 */

void nfs4_state_want_locked(struct nfs4_client *c, uint32_t todo)
{
	if (c->state != NFS4_S_RUNNING)
		todo &= ~(uint32_t)(TODO_GATE | NFS4_TODO_DESTROY); /* that is being done */
	if ((c->todo | todo) == c->todo)
		return;
	c->todo |= todo;
	if (todo & TODO_GATE)
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
	op->be.v4.state = NFS4_T_DELAYED;
	TAILQ_FOREACH_REVERSE(at, &c->delayed, nfs4_delayed, link)
	if (at->due_ns <= op->due_ns)
		break;
	if (at)
		TAILQ_INSERT_AFTER(&c->delayed, at, op, link);
	else
		TAILQ_INSERT_HEAD(&c->delayed, op, link);
	if (!at || (op->be.v4.flags & NFS4_F_CANCELLED))
		pthread_cond_signal(&c->wake);
	if (op->be.v4.flags & NFS4_F_CANCELLED) {
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

/* --- waiting in the thread
 * ------------------------------------------------------------------------ */

static void wait_until_locked(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t ns)
{
	struct timespec t = {.tv_sec = (time_t)(ns / NFS4_SEC), .tv_nsec = (long)(ns % NFS4_SEC)};

	pthread_cond_timedwait(cond, lock, &t);
}

/* A pause between attempts; false if the thread is to stop. */
static bool pause_ns(struct nfs4_client *c, uint64_t ns)
{
	uint64_t until = nfs4_now_ns() + ns;
	bool stop;

	pthread_mutex_lock(&c->slots.lock);
	while (!c->stop_thread && nfs4_now_ns() < until) {
		wait_until_locked(&c->wake, &c->slots.lock, until);
		pthread_mutex_unlock(&c->slots.lock);
		nfs4_state_pump(c);
		pthread_mutex_lock(&c->slots.lock);
	}
	stop = c->stop_thread;
	pthread_mutex_unlock(&c->slots.lock);
	return !stop;
}

static bool stopping(struct nfs4_client *c)
{
	bool stop;

	pthread_mutex_lock(&c->slots.lock);
	stop = c->stop_thread;
	pthread_mutex_unlock(&c->slots.lock);
	return stop;
}

/* --- open files
 * ----------------------------------------------------------------------------------- */

/* References to all opens, for walking without the lock. NULL and *n == 0 when there are none. */
static struct nfs_open **all_opens(struct nfs4_client *c, size_t *n)
{
	struct nfs_open **list, *o;
	size_t count = 0;

	*n = 0;
	pthread_mutex_lock(&c->slots.lock);
	TAILQ_FOREACH (o, &c->opens, link)
		count++;
	list = count ? calloc(count, sizeof(*list)) : NULL;
	if (list)
		TAILQ_FOREACH (o, &c->opens, link)
			if (!o->close_wanted)
				list[(*n)++] = nfs4_open_ref(o);
	pthread_mutex_unlock(&c->slots.lock);
	return list;
}

static void drop_opens(struct nfs_open **list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		nfs4_open_unref(list[i]);
	free(list);
}

static void reopened(struct nfs4_client *c, struct nfs_open *o, const struct nfs4_stateid *id)
{
	struct nfs4_sync s;
	bool closed;

	pthread_mutex_lock(&o->lock);
	o->stateid = *id;
	o->suspect = o->was_reset = false;
	o->gen++;
	pthread_mutex_unlock(&o->lock);
	pthread_mutex_lock(&c->slots.lock);
	closed = o->close_wanted;
	pthread_mutex_unlock(&c->slots.lock);
	if (!closed)
		return;
	/* its CLOSE was sent meanwhile, with the stateid before this one */
	s.u.close = o;
	nfs4_sync_run(c, &s, NFS_CLOSE, STEP_MS);
}

/* Opens o anew. 0: done, or lost for good (and marked so). Negative: to be tried again later. */
static int reopen(struct nfs4_client *c, struct nfs_open *o, bool reclaim)
{
	struct nfs4_sync s;
	int rc;

	s.u.reopen.open = o;
	s.u.reopen.reclaim = reclaim;
	rc = nfs4_sync_run(c, &s, NFS4_K_REOPEN, STEP_MS);
	if (rc == 0) {
		reopened(c, o, &s.u.reopen.stateid);
		return 0;
	}
	switch (s.status) {
	case NFS4_OK: /* not the server's decision */
	case NFS4ERR_DELAY:
	case NFS4ERR_GRACE:
	case NFS4ERR_BADSESSION:
	case NFS4ERR_DEADSESSION:
	case NFS4ERR_STALE_CLIENTID:
	case NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
		return rc;
	default:
		break;
	}
	if (reclaim)
		return -EAGAIN; /* not as the same open; perhaps as a new one, later */
	log_warn("%s: an open file is lost: the server answered %s", c->server,
		nfs4_status_name(s.status));
	pthread_mutex_lock(&o->lock);
	o->lost = true;
	o->suspect = false;
	pthread_mutex_unlock(&o->lock);
	return 0;
}

static bool is_suspect(struct nfs_open *o)
{
	bool suspect;

	pthread_mutex_lock(&o->lock);
	suspect = o->suspect;
	pthread_mutex_unlock(&o->lock);
	return suspect;
}

/* The server has forgotten all: what it grants again as it was, and what must be asked for anew
 * once reclaiming is over. */
static void reclaim_opens(struct nfs4_client *c)
{
	size_t n;
	struct nfs_open **list = all_opens(c, &n);

	for (size_t i = 0; i < n; i++) {
		pthread_mutex_lock(&list[i]->lock);
		list[i]->suspect = true;
		pthread_mutex_unlock(&list[i]->lock);
	}
	for (size_t i = 0; i < n && !stopping(c); i++)
		reopen(c, list[i], true);
	if (n)
		nfs4_state_want(c, NFS4_TODO_CHECK);
	drop_opens(list, n);
}

static void check_opens(struct nfs4_client *c)
{
	size_t n;
	struct nfs_open **list = all_opens(c, &n);
	bool later = false;

	for (size_t i = 0; i < n && !stopping(c); i++)
		if (is_suspect(list[i]) && reopen(c, list[i], false))
			later = true;
	drop_opens(list, n);
	pthread_mutex_lock(&c->slots.lock);
	c->check_ns = later ? nfs4_now_ns() + RETRY_NS : 0;
	pthread_mutex_unlock(&c->slots.lock);
}

/* Asks which of up to 32 opens the server has revoked, frees those and marks them suspect. */
static void test_batch(struct nfs4_client *c, struct nfs_open **list, uint32_t n)
{
	struct nfs4_sync s, f;

	s.u.test.n = n;
	for (uint32_t i = 0; i < n; i++) {
		pthread_mutex_lock(&list[i]->lock);
		s.u.test.ids[i] = list[i]->stateid;
		pthread_mutex_unlock(&list[i]->lock);
	}
	if (nfs4_sync_run(c, &s, NFS4_K_TEST_STATEID, STEP_MS))
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (s.u.test.code[i] == NFS4_OK)
			continue;
		log_ctrl("%s: the state of an open file is %s", c->server,
			nfs4_status_name(s.u.test.code[i]));
		f.u.free_id = s.u.test.ids[i];
		nfs4_sync_run(c, &f, NFS4_K_FREE_STATEID, STEP_MS);
		pthread_mutex_lock(&list[i]->lock);
		list[i]->suspect = true;
		pthread_mutex_unlock(&list[i]->lock);
	}
}

static void test_opens(struct nfs4_client *c)
{
	size_t n;
	struct nfs_open **list = all_opens(c, &n);

	for (size_t i = 0; i < n && !stopping(c); i += 32)
		test_batch(c, list + i, n - i < 32 ? (uint32_t)(n - i) : 32);
	drop_opens(list, n);
	check_opens(c);
}

/* --- session and client ID
 * ------------------------------------------------------------------------ */

/* Waits behind the closed gate until no request is under way. False: the thread is to stop. */
static bool drain(struct nfs4_client *c)
{
	bool stop;

	pthread_mutex_lock(&c->slots.lock);
	while (c->slots.nbusy > 0 && !c->stop_thread) {
		wait_until_locked(&c->slots.idle, &c->slots.lock, nfs4_now_ns() + PUMP_NS);
		pthread_mutex_unlock(&c->slots.lock);
		nfs4_state_pump(c);
		pthread_mutex_lock(&c->slots.lock);
	}
	stop = c->stop_thread;
	pthread_mutex_unlock(&c->slots.lock);
	return !stop;
}

/* One attempt at what *todo still asks for; bits are cleared as they are done. */
static int renew_session(struct nfs4_client *c, uint32_t *todo, bool *reclaim)
{
	struct nfs4_sync s;
	uint64_t before = c->clientid;
	int rc;

	if (*todo & NFS4_TODO_DESTROY) {
		nfs4_sync_run(c, &s, NFS4_K_DESTROY_SESSION, STEP_MS);
		*todo &= ~NFS4_TODO_DESTROY;
	}
	if (*todo & NFS4_TODO_CLIENT) {
		set_state(c, NFS4_S_CLIENT_ID);
		rc = nfs4_sync_exchange_id(c, &s, STEP_MS);
		if (rc)
			return rc;
		if (!c->confirmed || before != c->clientid)
			*reclaim = true;
		*todo &= ~NFS4_TODO_CLIENT;
	}
	set_state(c, NFS4_S_SESSION);
	rc = nfs4_sync_create_session(c, &s, STEP_MS);
	if (rc && (s.status == NFS4ERR_STALE_CLIENTID || s.status == NFS4ERR_SEQ_MISORDERED))
		*todo |= NFS4_TODO_CLIENT;
	return rc;
}

static int reclaim_complete(struct nfs4_client *c)
{
	struct nfs4_sync s;
	int rc = nfs4_sync_run(c, &s, NFS4_K_RECLAIM_COMPLETE, STEP_MS);

	if (rc && s.status && s.status != NFS4ERR_DELAY)
		log_warn("%s: RECLAIM_COMPLETE was answered %s", c->server,
			nfs4_status_name(s.status));
	return rc;
}

static void recover(struct nfs4_client *c, uint32_t todo)
{
	bool reclaim = todo & NFS4_TODO_CLIENT;
	uint64_t wait = 50 * NFS4_MSEC;

	set_state(c, NFS4_S_DRAINING);
	if (!drain(c))
		return;
	while (renew_session(c, &todo, &reclaim)) {
		if (!pause_ns(c, wait))
			return;
		wait = wait * 2 < 5 * NFS4_SEC ? wait * 2 : 5 * NFS4_SEC;
	}
	if (reclaim) {
		set_state(c, NFS4_S_RECLAIM);
		reclaim_opens(c);
		while (reclaim_complete(c) == -EAGAIN)
			if (!pause_ns(c, RETRY_NS))
				return;
	}
	log_info("%s: the session is established again", c->server);
	pthread_mutex_lock(&c->slots.lock);
	c->state = NFS4_S_RUNNING;
	if (!(c->todo & TODO_GATE))
		nfs4_slots_open_locked(&c->slots);
	pthread_mutex_unlock(&c->slots.lock);
	nfs4_task_kick(c);
}

static void bind_conn(struct nfs4_client *c)
{
	struct nfs4_sync s;
	int rc = nfs4_sync_run(c, &s, NFS4_K_BIND, STEP_MS);

	if (rc == 0)
		return;
	if (s.status == NFS4ERR_BADSESSION || s.status == NFS4ERR_DEADSESSION)
		nfs4_state_want(c, NFS4_TODO_SESSION);
	else if (s.status)
		log_ctrl("%s: BIND_CONN_TO_SESSION was answered %s", c->server,
			nfs4_status_name(s.status));
}

/* --- doubtful slots
 * -------------------------------------------------------------------------------- */

/* Sends SEQUENCE alone with sequence id seq on slot, which is BUSY. Returns the nfsstat4, or
 * NFS4ERR_DELAY when there was no answer. */
static uint32_t probe_once(struct nfs4_client *c, struct nfs4_slot *slot, uint32_t seq)
{
	struct nfs4_sync s;
	int rc;

	slot->seq = seq;
	s.op.slot = slot;
	rc = nfs4_sync_run(c, &s, NFS4_K_SEQUENCE, STEP_MS);
	return rc == 0 ? NFS4_OK : s.status ? s.status : NFS4ERR_DELAY;
}

/* Did the server count the request that was never answered? Its sequence id is slot->seq: if the
 * next one is accepted it did; if that is misordered but slot->seq itself is taken, it did not. */
static void probe_slot(struct nfs4_client *c, struct nfs4_slot *slot)
{
	struct nfs4_slots *s = &c->slots;
	uint32_t seq = slot->seq;
	uint32_t status = probe_once(c, slot, seq + 1);

	if (status == NFS4ERR_SEQ_MISORDERED) {
		bool mine;

		pthread_mutex_lock(&s->lock);
		mine = nfs4_slots_take_doubtful_locked(s, slot);
		pthread_mutex_unlock(&s->lock);
		status = mine ? probe_once(c, slot, seq) : status;
	}
	log_ctrl("%s: slot %u: asking after sequence id %u: %s", c->server, slot->id, seq,
		nfs4_status_name(status));
	pthread_mutex_lock(&s->lock);
	if (slot->doubtful)
		slot->seq = seq;
	if (status == NFS4ERR_SEQ_MISORDERED || status == NFS4ERR_BADSLOT)
		nfs4_state_want_locked(c, NFS4_TODO_SESSION | NFS4_TODO_DESTROY);
	else if (status == NFS4ERR_BADSESSION || status == NFS4ERR_DEADSESSION)
		nfs4_state_want_locked(c, NFS4_TODO_SESSION);
	pthread_mutex_unlock(&s->lock);
}

static void probe_slots(struct nfs4_client *c)
{
	struct nfs4_slots *s = &c->slots;

	for (uint32_t i = 0; i < NFS4_MAX_SLOTS && !stopping(c); i++) {
		bool mine;

		pthread_mutex_lock(&s->lock);
		mine = s->gate_open && nfs4_slots_take_doubtful_locked(s, &s->slot[i]);
		pthread_mutex_unlock(&s->lock);
		if (mine)
			probe_slot(c, &s->slot[i]);
	}
}

/* --- the thread
 * ----------------------------------------------------------------------------------- */

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
	uint64_t now = nfs4_now_ns();
	struct nfs_op *op;
	uint32_t todo;

	nfs4_state_pump(c);
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
	*next = op ? op->due_ns : now + 10 * NFS4_SEC;
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
	if (todo & NFS4_TODO_PROBE)
		c->probe_ns = now + PROBE_NS;
	pthread_mutex_unlock(&c->slots.lock);

	if (todo & TODO_GATE)
		recover(c, todo);
	if (todo & NFS4_TODO_BIND)
		bind_conn(c);
	if (todo & NFS4_TODO_PROBE)
		probe_slots(c);
	if (todo & NFS4_TODO_REVOKED)
		test_opens(c);
	else if (todo & NFS4_TODO_CHECK)
		check_opens(c);
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
		if (!more && !c->stop_thread && !c->todo && TAILQ_EMPTY(&c->ended) &&
			(TAILQ_EMPTY(&c->delayed) || TAILQ_FIRST(&c->delayed)->due_ns >= next))
			wait_until_locked(&c->wake, &c->slots.lock, next);
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
	set_state(c, NFS4_S_STOPPED);
}
