/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_recover: what the state manager does when something was lost. Its thread only.
 *
 *     session        drained, then CREATE_SESSION, with EXCHANGE_ID first if the client ID is gone
 *     client ID      after that, opens are reclaimed (CLAIM_PREVIOUS), then RECLAIM_COMPLETE; those
 *                    that the server did not take are opened anew (CLAIM_FH) as suspects
 *     locks          after the opens that they are bound to (nfs4_lock_recover.c)
 *     one open       suspect: opened anew; if the server refuses for good, lost: its I/O fails
 *     revoked state  TEST_STATEID finds which, FREE_STATEID acknowledges, then as suspects
 *     a slot's count SEQUENCE alone finds out
 *
 * Each step is a call that is waited for (nfs4_sync.c), and each failure is tried again with
 * back-off, until the thread is told to stop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nfsproto/nfs4_client.h"
#include "transport/log.h"

#define STEP_MS	   60000u /* most time for one step before it is tried anew */
#define RETRY_NS   (1 * NFS4_SEC)
#define PUT_OFF_NS (100 * NFS4_MSEC) /* between attempts at a reclaim */
#define PUMP_NS	   (50 * NFS4_MSEC)  /* cancelled ops wait no longer than so */

/* --- open files ---------------------------------------------------------------------------- */

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
	o->suspect = false;
	o->gen++;
	pthread_mutex_unlock(&o->lock);
	nfs4_lock_reopened(c, o);
	pthread_mutex_lock(&c->slots.lock);
	closed = o->close_wanted;
	pthread_mutex_unlock(&c->slots.lock);
	if (!closed)
		return;
	/* its CLOSE was sent meanwhile, with the stateid before this one */
	s.u.close = o;
	nfs4_sync_run(c, &s, NFS_CLOSE, STEP_MS);
}

bool nfs4_recover_undecided(uint32_t status)
{
	switch (status) {
	case NFS4_OK: /* there was no answer */
	case NFS4ERR_DELAY:
	case NFS4ERR_GRACE:
	case NFS4ERR_STALE_CLIENTID:
	case NFS4ERR_BADSESSION: /* here and below: said of SEQUENCE */
	case NFS4ERR_DEADSESSION:
	case NFS4ERR_CONN_NOT_BOUND_TO_SESSION:
	case NFS4ERR_BADSLOT:
	case NFS4ERR_BAD_HIGH_SLOT:
	case NFS4ERR_SEQ_MISORDERED:
	case NFS4ERR_SEQ_FALSE_RETRY:
		return true;
	default:
		return false;
	}
}

bool nfs4_recover_put_off(struct nfs4_client *c, uint32_t status)
{
	return status == NFS4ERR_DELAY && nfs4_now_ns() < c->reclaim_until_ns &&
	       nfs4_state_pause(c, PUT_OFF_NS);
}

/* Opens o anew. 0: done, or lost for good (and marked so). Negative: to be tried again later. */
static int reopen(struct nfs4_client *c, struct nfs_open *o, bool reclaim)
{
	struct nfs4_sync s;
	int rc;

	s.u.reopen.open = o;
	s.u.reopen.reclaim = reclaim;
	do
		rc = nfs4_sync_run(c, &s, NFS4_K_REOPEN, STEP_MS);
	while (rc && reclaim && nfs4_recover_put_off(c, s.status));
	if (rc == 0) {
		reopened(c, o, &s.u.reopen.stateid);
		return 0;
	}
	if (nfs4_recover_undecided(s.status))
		return rc;
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

	c->reclaim_until_ns = nfs4_now_ns() + c->base.info.lease_s * NFS4_SEC;
	for (size_t i = 0; i < n; i++) {
		pthread_mutex_lock(&list[i]->lock);
		list[i]->suspect = true;
		pthread_mutex_unlock(&list[i]->lock);
	}
	for (size_t i = 0; i < n && !nfs4_state_stopping(c); i++)
		reopen(c, list[i], true);
	nfs4_lock_recover(c, true);
	if (n)
		nfs4_state_want(c, NFS4_TODO_CHECK);
	drop_opens(list, n);
}

void nfs4_recover_check(struct nfs4_client *c)
{
	size_t n;
	struct nfs_open **list = all_opens(c, &n);
	bool later = false;

	for (size_t i = 0; i < n && !nfs4_state_stopping(c); i++)
		if (is_suspect(list[i]) && reopen(c, list[i], false))
			later = true;
	drop_opens(list, n);
	if (nfs4_lock_recover(c, false))
		later = true;
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

void nfs4_recover_revoked(struct nfs4_client *c)
{
	size_t n;
	struct nfs_open **list = all_opens(c, &n);

	for (size_t i = 0; i < n && !nfs4_state_stopping(c); i += 32)
		test_batch(c, list + i, n - i < 32 ? (uint32_t)(n - i) : 32);
	drop_opens(list, n);
	nfs4_lock_test(c);
	nfs4_recover_check(c);
}

/* --- session and client ID ----------------------------------------------------------------- */

/* Waits behind the closed gate until no request is under way. False: the thread is to stop. */
static bool drain(struct nfs4_client *c)
{
	bool stop;

	pthread_mutex_lock(&c->slots.lock);
	while (c->slots.nbusy > 0 && !c->stop_thread) {
		struct nfs_op *op;

		TAILQ_FOREACH (op, &c->delayed, link) /* with a slot that it has kept */
			nfs4_task_give_up_slot_locked(c, op);
		nfs4_state_wait_locked(&c->slots.idle, &c->slots.lock, nfs4_now_ns() + PUMP_NS);
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
		/* Also one that the server has called bad: if it is there after all, it would keep
		 * the client ID from being destroyed later. */
		nfs4_sync_run(c, &s, NFS4_K_DESTROY_SESSION, STEP_MS);
		*todo &= ~NFS4_TODO_DESTROY;
	}
	if (*todo & NFS4_TODO_CLIENT) {
		nfs4_state_set(c, NFS4_S_CLIENT_ID);
		rc = nfs4_sync_exchange_id(c, &s, STEP_MS);
		if (rc)
			return rc;
		if (!c->confirmed || before != c->clientid)
			*reclaim = true;
		*todo &= ~NFS4_TODO_CLIENT;
	}
	nfs4_state_set(c, NFS4_S_SESSION);
	rc = nfs4_sync_create_session(c, &s, STEP_MS);
	if (rc && (s.status == NFS4ERR_STALE_CLIENTID || s.status == NFS4ERR_SEQ_MISORDERED))
		*todo |= NFS4_TODO_CLIENT;
	return rc;
}

/* Everything that follows a new client ID. False: the server's verdict on RECLAIM_COMPLETE is not
 * known, or the session is gone again: all once more, with another session. Without a
 * RECLAIM_COMPLETE the server opens nothing for us any more (RFC 8881 18.51.3). */
static bool reclaim_all(struct nfs4_client *c)
{
	struct nfs4_sync s;
	int rc;

	nfs4_state_set(c, NFS4_S_RECLAIM);
	reclaim_opens(c);
	while ((rc = nfs4_sync_run(c, &s, NFS4_K_RECLAIM_COMPLETE, STEP_MS)) != 0 &&
		s.status == NFS4ERR_DELAY)
		if (!nfs4_state_pause(c, RETRY_NS))
			return false;
	if (s.status == NFS4_OK)
		return rc == 0 || rc == -EREMOTEIO;
	if (s.status != NFS4ERR_GRACE && nfs4_recover_undecided(s.status))
		return false;
	log_warn("%s: RECLAIM_COMPLETE was answered %s", c->server, nfs4_status_name(s.status));
	return true;
}

void nfs4_recover_session(struct nfs4_client *c, uint32_t todo)
{
	bool reclaim = todo & NFS4_TODO_CLIENT;
	uint64_t wait = 50 * NFS4_MSEC;

	nfs4_state_set(c, NFS4_S_DRAINING);
	if (!drain(c))
		return;
	while (renew_session(c, &todo, &reclaim) || (reclaim && !reclaim_all(c))) {
		if (c->state == NFS4_S_RECLAIM)
			todo = NFS4_TODO_DESTROY;
		if (!nfs4_state_pause(c, wait))
			return;
		wait = wait * 2 < 5 * NFS4_SEC ? wait * 2 : 5 * NFS4_SEC;
	}
	log_info("%s: the session is established again", c->server);
	pthread_mutex_lock(&c->slots.lock);
	c->state = NFS4_S_RUNNING;
	if (!(c->todo & NFS4_TODO_GATE))
		nfs4_slots_open_locked(&c->slots);
	pthread_mutex_unlock(&c->slots.lock);
	nfs4_task_kick(c);
}

void nfs4_recover_bind(struct nfs4_client *c)
{
	struct nfs4_sync s;
	int rc = nfs4_sync_run(c, &s, NFS4_K_BIND, STEP_MS);

	if (rc == 0)
		return;
	if (s.status == NFS4ERR_BADSESSION || s.status == NFS4ERR_DEADSESSION)
		nfs4_state_want(c, NFS4_TODO_SESSION | NFS4_TODO_DESTROY);
	else if (s.status)
		log_ctrl("%s: BIND_CONN_TO_SESSION was answered %s", c->server,
			nfs4_status_name(s.status));
}

/* --- doubtful slots ------------------------------------------------------------------------ */

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
		nfs4_state_want_locked(c, NFS4_TODO_SESSION | NFS4_TODO_DESTROY);
	pthread_mutex_unlock(&s->lock);
}

void nfs4_recover_probe(struct nfs4_client *c)
{
	struct nfs4_slots *s = &c->slots;

	for (uint32_t i = 0; i < NFS4_MAX_SLOTS && !nfs4_state_stopping(c); i++) {
		bool mine;

		pthread_mutex_lock(&s->lock);
		mine = s->gate_open && nfs4_slots_take_doubtful_locked(s, &s->slot[i]);
		pthread_mutex_unlock(&s->lock);
		if (mine)
			probe_slot(c, &s->slot[i]);
	}
}
