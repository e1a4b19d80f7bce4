/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_flow: decides when a message of ours may leave, in a dialect that talks (version 2 of
 * November 2019, section 4.3.1).
 *
 * Every message grants credits, and every Send takes one: calls and replies of either direction,
 * properties, errors, each Send of a continued message. Only a message that does nothing but grant
 * takes no credit. The draft calls a grant both "newly granted" and a "limit". We keep to the
 * narrower of both readings:
 *
 *   room      Sends that the peer's last message permits. The next message replaces the number,
 *             even by a lower number.
 *   banked    Sends that all messages of the peer together permit, but no more than the outstanding
 *             Sends that the last message permits. Where `room` is used up and no message has come
 *             for RPCRDMA_STALL_MS, `banked` becomes the room.
 *
 * An error grants nothing (section 6.4.3), and neither does an unreadable message. But either shows
 * that the peer has received a message of ours, so the previous grant holds again. A grant of 0
 * counts as 1.
 *
 * A message without room stalls: the rest waits in the connection's `stalled`, and all later
 * messages queue behind. At most RPCRDMA_ROOM_MAX Sends of continued messages leave before the
 * peer's next message. The connection ends after RPCRDMA_STALLED_MS in which no Send could leave,
 * unless the peer owes an answer to a call, which grants.
 *
 * The peer may be short of credits as well. A message that only grants leaves when the peer may
 * have used up our grant and no answer of ours is about to follow: after replies, errors and
 * properties, half-way through a message in several Sends, and while our own answers are stalled.
 *
 * Dialects that do not talk post everything at once. In every dialect, calls wait for credits
 * before this module gets the calls (rpcrdma_credit.h).
 */
#include "transport/rpcrdma/rpcrdma_flow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/clock.h"
#include "transport/rpcrdma/rpcrdma_recv.h"
#include "transport/rpcrdma/rpcrdma_send.h"

/* A message of ours with waiting Sends. */
struct rpcrdma_stalled {
	STAILQ_ENTRY(rpcrdma_stalled) link;
	unsigned n, next;
	unsigned credits; /* credits of the call, 0: the message is no call */
	bool goes_on;	  /* the message had several Sends */
	struct prov_wr wr[];
};

void rpcrdma_lead_drop(struct rpcrdma_lead *lead)
{
	while (lead->n)
		mem_buf_unref(lead->wr[--lead->n].hold[0]);
	free(lead->wr);
	lead->wr = NULL;
}

/* --- leaving ---------------------------------------------------------------------------------- */

static void lower(_Atomic uint32_t *n)
{
	uint32_t now = atomic_load_explicit(n, memory_order_relaxed);

	while (now && !atomic_compare_exchange_weak(n, &now, now - 1))
		;
}

int rpcrdma_post_now(struct rpcrdma_conn *c, const struct prov_wr *wr)
{
	if (atomic_load_explicit(&c->v2.unsaid, memory_order_relaxed)) {
		atomic_store_explicit(&c->v2.unsaid, 0, memory_order_relaxed);
		atomic_store_explicit(&c->v2.unowed, false, memory_order_relaxed);
	}
	return c->prov->post(c->pc, wr);
}

/* May a Send leave? goes_on: the message has several Sends. */
static bool has_room(const struct rpcrdma_conn *c, bool goes_on)
{
	return c->v2.room && (!goes_on || c->v2.run < RPCRDMA_ROOM_MAX);
}

static void use_room(struct rpcrdma_conn *c, bool goes_on)
{
	lower(&c->v2.room);
	lower(&c->v2.banked);
	c->v2.run += goes_on;
}

/* Posts the first of wr[0..n), as many as have room. Returns the number of posted Sends, or
 * prov->post()'s error. */
static int post_some(struct rpcrdma_conn *c, struct prov_wr *wr, unsigned n, bool goes_on)
	REQUIRES(c->chain)
{
	unsigned i;

	for (i = 0; i < n && has_room(c, goes_on); i++) {
		int rc;

		use_room(c, goes_on);
		if (i + 1 < n)
			wr[i].flags = has_room(c, goes_on) ? PROV_MORE : 0;
		rc = rpcrdma_post_now(c, &wr[i]);
		if (rc)
			return rc;
	}
	return (int)i;
}

static int post_all(struct rpcrdma_conn *c, const struct prov_wr *wr, unsigned n)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < n; i++)
		rc = c->prov->post(c->pc, &wr[i]);
	return rc;
}

static size_t bytes_of(const struct prov_wr *wr)
{
	size_t n = 0;

	for (unsigned i = 0; i < wr->nsge; i++)
		n += wr->sge[i].len;
	return n;
}

static void let_go(struct rpcrdma_conn *c, const struct prov_wr *wr)
{
	for (unsigned i = 0; i < wr->nhold; i++)
		mem_buf_unref(wr->hold[i]);
	atomic_fetch_sub_explicit(&c->v2.stalled_bytes, bytes_of(wr), memory_order_relaxed);
}

/* Keeps wr[0..n) for later; `chain` is held. */
static int stall(struct rpcrdma_conn *c, const struct prov_wr *wr, unsigned n, bool goes_on,
	unsigned credits)
{
	struct rpcrdma_stalled *s = malloc(sizeof(*s) + n * sizeof(*wr));

	/* flushes messages that waited for this message to take them along */
	if (c->prov->flush)
		c->prov->flush(c->pc);
	if (!s)
		return -ENOMEM;
	s->n = n;
	s->next = 0;
	s->credits = credits;
	s->goes_on = goes_on;
	memcpy(s->wr, wr, n * sizeof(*wr));
	s->wr[n - 1].flags = 0; /* no flush follows */
	for (unsigned i = 0; i < n; i++) {
		for (unsigned k = 0; k < wr[i].nhold; k++)
			mem_buf_ref(wr[i].hold[k]);
		atomic_fetch_add_explicit(
			&c->v2.stalled_bytes, bytes_of(&wr[i]), memory_order_relaxed);
	}
	c->v2.stalled_credits += credits;
	STAILQ_INSERT_TAIL(&c->v2.stalled, s, link);
	if (!c->v2.stalls) {
		c->v2.stalls = true;
		rpc_xprt_kick(&c->x); /* wakes the progress thread to watch the stall */
	}
	return 0;
}

static int post_or_stall(struct rpcrdma_conn *c, struct prov_wr *wr, unsigned n, bool paid)
	REQUIRES(c->chain)
{
	int done = c->v2.stalls ? 0 : post_some(c, wr, n, n > 1);

	if (done < 0 || (unsigned)done == n)
		return done < 0 ? done : 0;
	return stall(c, wr + done, n - (unsigned)done, n > 1, paid ? n : 0);
}

int rpcrdma_post_message(
	struct rpcrdma_conn *c, struct rpcrdma_lead *lead, const struct prov_wr *last, bool paid)
{
	struct prov_wr one, *wr = &one;
	unsigned n = lead->n + 1;
	int rc;

	if (n > 1)
		wr = malloc(n * sizeof(*wr));
	if (!wr) {
		rpcrdma_lead_drop(lead);
		return -ENOMEM;
	}
	if (n > 1)
		memcpy(wr, lead->wr, lead->n * sizeof(*wr));
	wr[n - 1] = *last;
	rc = c->dialect->talks ? post_or_stall(c, wr, n, paid) : post_all(c, wr, n);
	if (n > 1)
		free(wr);
	rpcrdma_lead_drop(lead);
	return rc;
}

int rpcrdma_post_hdr(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h)
{
	static const struct rpcrdma_stream nothing;
	struct rpcrdma_lead lead = {0};
	struct mem_buf *held;
	struct prov_wr wr;
	int rc = rpcrdma_make_send(c, &wr, h, &nothing, NULL, &held);

	if (rc)
		return rc;
	mutex_lock(&c->chain);
	rc = c->dialect->talks && rpcrdma_hdr_is_grant(h)
		     ? rpcrdma_post_now(c, &wr)
		     : rpcrdma_post_message(c, &lead, &wr, false);
	mutex_unlock(&c->chain);
	mem_buf_unref(held);
	return rc;
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void stalled_free(struct rpcrdma_conn *c, struct rpcrdma_stalled *s)
{
	for (unsigned i = s->next; i < s->n; i++)
		let_go(c, &s->wr[i]);
	c->v2.stalled_credits -= s->credits;
	free(s);
}

void rpcrdma_flow_drop(struct rpcrdma_conn *c)
{
	struct rpcrdma_stalled *s;

	while ((s = STAILQ_FIRST(&c->v2.stalled))) {
		STAILQ_REMOVE_HEAD(&c->v2.stalled, link);
		stalled_free(c, s);
	}
	c->v2.stalls = false;
}

/* Posts the stalled Sends that may leave now. False: none may. */
static bool pump(struct rpcrdma_conn *c)
{
	struct rpcrdma_stalled *s;
	bool any = false;
	int rc = 0;

	mutex_lock(&c->chain);
	while ((s = STAILQ_FIRST(&c->v2.stalled))) {
		rc = post_some(c, s->wr + s->next, s->n - s->next, s->goes_on);
		any |= rc != 0;
		if (rc < 0)
			break;
		for (int i = 0; i < rc; i++)
			let_go(c, &s->wr[s->next++]);
		if (s->next < s->n)
			break;
		STAILQ_REMOVE_HEAD(&c->v2.stalled, link);
		stalled_free(c, s);
	}
	c->v2.stalls = !STAILQ_EMPTY(&c->v2.stalled);
	mutex_unlock(&c->chain);
	if (any)
		c->v2.stalled_ns = 0; /* the clock starts again */
	if (rc < 0 && rc != -ENOTCONN)
		rpcrdma_break(c, "a message could not be posted: %s", strerror(-rc));
	return any;
}

/* Has the peer a call of ours? The answer will grant. */
static bool is_owed(struct rpcrdma_conn *c)
{
	uint32_t waiting, used;

	mutex_lock(&c->chain);
	waiting = c->v2.stalled_credits;
	mutex_unlock(&c->chain);
	mutex_lock(&c->lock);
	used = c->credit_out.used - c->credit_out.orphans;
	mutex_unlock(&c->lock);
	return used > waiting + c->v2.props_credits; /* properties need no answer */
}

void rpcrdma_flow_look(struct rpcrdma_conn *c)
{
	uint64_t now, ms;

	if (!c->v2.stalls) {
		c->v2.stalled_ns = 0;
		return;
	}
	rpcrdma_flow_say(c);
	if (pump(c)) /* the grant came while a thread was about to stall */
		return;
	now = clock_ns();
	if (!c->v2.stalled_ns)
		c->v2.stalled_ns = now;
	ms = clock_age(now, c->v2.stalled_ns) / NSEC_PER_MSEC;
	if (ms < RPCRDMA_STALL_MS)
		return;
	if (ms >= RPCRDMA_STALLED_MS && !is_owed(c)) {
		rpcrdma_break(c,
			"the peer has granted no credits for a message that waits for %u ms",
			RPCRDMA_STALLED_MS);
		return;
	}
	c->v2.run = 0;
	if (c->v2.banked > c->v2.room)
		c->v2.room = c->v2.banked;
	pump(c);
}

bool rpcrdma_flow_holds_enough(const struct rpcrdma_conn *c)
{
	return atomic_load_explicit(&c->v2.stalled_bytes, memory_order_relaxed) >
	       mem_pool_share(c->pool, RPCRDMA_UNSENT_MAX);
}

/* --- grants of the peer's --------------------------------------------------------------------- */

/* The peer's last grant is n from now on, and max(n, most) may be outstanding. */
static void take_grant(struct rpcrdma_conn *c, uint32_t n, uint32_t most)
{
	uint32_t banked = c->v2.banked + n;

	if (most < n)
		most = n;
	if (n != c->v2.last_grant) {
		c->v2.last_grant = n;
		mutex_lock(&c->lock);
		rpcrdma_credit_grant(&c->credit_out, n);
		atomic_store_explicit(&c->x.credits, c->credit_out.granted, memory_order_relaxed);
		mutex_unlock(&c->lock);
	}
	c->v2.banked = banked < most ? banked : most;
}

void rpcrdma_heard(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc)
{
	bool is_call = !rc && h->dir == RPCRDMA_DIR_CALL && h->proc != RDMA_CONNPROP &&
		       h->proc != RPCRDMA_REPT_ERR;

	if (!rc && h->proc != RDMA_ERROR)
		take_grant(c, h->grant ? h->grant : 1, h->want);
	c->v2.room = c->v2.last_grant;
	c->v2.run = 0;
	if (rc || !rpcrdma_hdr_is_grant(h)) {
		atomic_fetch_add_explicit(&c->v2.unsaid, 1, memory_order_relaxed);
		if (!is_call)
			atomic_store_explicit(&c->v2.unowed, true, memory_order_relaxed);
	}
	if (c->v2.stalls)
		pump(c);
}

/* --- grants of ours ----------------------------------------------------------------------------
 */

static void grant(struct rpcrdma_conn *c)
{
	struct rpcrdma_hdr h;
	int rc;

	rpcrdma_recv_replenish(c);
	rpcrdma_begin_hdr(c, &h, 0, RPCRDMA_DIR_CALL, RDMA_NOMSG);
	rc = rpcrdma_post_hdr(c, &h);
	if (rc && rc != -ENOTCONN)
		rpcrdma_break(c, "credits could not be granted: %s", strerror(-rc));
}

/* Half the Sends of a message that the sender may post without a further grant. */
static uint32_t grant_after(const struct rpcrdma_conn *c)
{
	uint32_t n = rpcrdma_granted(c);

	return ((n < RPCRDMA_ROOM_MAX ? n : RPCRDMA_ROOM_MAX) + 1) / 2;
}

void rpcrdma_heard_part(struct rpcrdma_conn *c)
{
	if (c->dialect->talks && c->v2.unsaid >= grant_after(c))
		grant(c);
}

void rpcrdma_flow_say(struct rpcrdma_conn *c)
{
	if (c->dialect->talks && c->v2.unsaid >= rpcrdma_granted(c) &&
		(c->v2.unowed || c->v2.stalls))
		grant(c);
}
