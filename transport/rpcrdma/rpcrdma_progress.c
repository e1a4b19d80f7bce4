/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_progress: the progress thread's loop: completions in, upcalls out, receives replenished.
 *
 * Before sleeping, the loop polls for some microseconds if polls have paid lately: waking a
 * sleeping thread costs more than a small round trip.
 */
#include "transport/rpcrdma/rpcrdma_progress.h"

#include <errno.h>
#include <stdio.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpcrdma/requester_call.h"
#include "transport/rpcrdma/requester_close.h"
#include "transport/rpcrdma/requester_reply.h"
#include "transport/rpcrdma/responder_call.h"
#include "transport/rpcrdma/rpcrdma_continue.h"
#include "transport/rpcrdma/rpcrdma_error.h"
#include "transport/rpcrdma/rpcrdma_hold.h"
#include "transport/rpcrdma/rpcrdma_linger.h"
#include "transport/rpcrdma/rpcrdma_negotiate.h"
#include "transport/rpcrdma/rpcrdma_parts.h"
#include "transport/rpcrdma/rpcrdma_read.h"
#include "transport/rpcrdma/rpcrdma_recv.h"
#include "transport/rpcrdma/rpcrdma_wc.h"

#define PER_PROGRESS   (4 * RPCRDMA_BATCH) /* completions handled before progress() returns */
#define SPIN_TRIES     4
#define SPIN_SKIP_BITS 10

#define HOLD_NS 50000

/* --- completions ------------------------------------------------------------------------------ */

/* Takes the grant of a message in a dialect that talks, and sends our properties when due. True:
 * the message only grants credits. */
static bool hear(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc)
{
	rpcrdma_heard(c, h, rc);
	if (rc)
		return false;
	if (!c->v2.props_told || c->v2.props_credits)
		c->v2_ops->tell_props(c, h);
	return rpcrdma_hdr_is_grant(h);
}

/* In either direction: no call of ours waits for the option (version 2 of 2016, section 3.1). */
static void refuse_option(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h)
{
	log_data("%s: optional operation %08x is not known", c->x.peer, h->xid);
	rpcrdma_send_error(
		c, h->xid, h->vers, &(struct rpcrdma_fault){.err = RDMA_ERR_INVAL_OPTION});
}

/* A reply that is wrong before its message is read. */
static void fail_reply(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, struct rpcrdma_msg *m)
{
	static const struct prov_wc nothing;

	rpcrdma_handle_reply(c, h, -EBADMSG, m, &nothing);
}

/* RFC 8167: a message that names the other direction belongs to the other table of XIDs. An
 * RDMA_ERROR that comes to a responder can only be about a reverse call. */
static void handle_recv(struct rpcrdma_conn *c, const struct prov_wc *wc)
{
	struct rpcrdma_recv *r = (struct rpcrdma_recv *)(uintptr_t)wc->cookie;
	struct rpcrdma_hdr *h = &c->hdr;
	struct rpcrdma_msg m;
	bool call;
	int rc;

	if (atomic_load_explicit(&c->broken, memory_order_relaxed)) {
		rpcrdma_recv_done(c, r);
		return;
	}
	rc = rpcrdma_decode(c, h, r->buf->data + c->recv_off, wc->len);
	if (rc == -EMSGSIZE) {
		log_data("%s: message of %u bytes dropped: no header", c->x.peer, wc->len);
		rpcrdma_recv_done(c, r);
		return;
	}
	if (rc == -EBADMSG && h->proc == RDMA_OPTIONAL && h->err == RDMA_ERR_INVAL_OPTION) {
		refuse_option(c, h);
		rpcrdma_recv_done(c, r);
		return;
	}
	if (c->dialect->talks && hear(c, h, rc)) {
		rpcrdma_recv_done(c, r);
		return;
	}
	if (!rpcrdma_join(c, h, rc, r, wc, &m))
		return;
	if (!rc && h->proc == RDMA_CONNPROP) {
		c->v2_ops->handle_props(c, h, &m);
		return;
	}
	if (!rc && h->proc == RPCRDMA_REPT_ERR && h->dir == RPCRDMA_DIR_CALL) {
		c->place_ops->reported(c, h);
		rpcrdma_msg_done(c, &m);
		return;
	}
	if (c->dialect->places && !c->place_ops->group_join(c, &h, rc, &m, fail_reply))
		return;
	/* an error is never answered, however malformed (RFC 8166 section 4.5) */
	call = h->proc != RDMA_ERROR &&
	       (h->dir == RPCRDMA_DIR_CALL || (h->dir == RPCRDMA_DIR_UNSAID && !c->requester));
	if (call)
		rpcrdma_handle_call(c, h, rc, &m);
	else
		rpcrdma_handle_reply(c, h, rc, &m, wc);
}

static void handle_withdrawn(struct rpcrdma_conn *c, const struct prov_wc *wc)
{
	struct rpcrdma_posted *p = (struct rpcrdma_posted *)(uintptr_t)wc->cookie;

	if (wc->cookie & RPCRDMA_LENT_COOKIE) {
		c->old_ops->lent_closed(c, (struct rpcrdma_lent *)(uintptr_t)(wc->cookie - 1));
		return;
	}
	if (!p)
		return; /* taken back in the meantime */
	p->closed = true;
	rpcrdma_reply_closed(c, p);
}

/* The end of the connection closes every door. The owners still get complete replies. */
static void handle_down(struct rpcrdma_conn *c)
{
	struct rpcrdma_posted *p;

	mutex_lock(&c->lock);
	c->down = true;
	snprintf(c->x.down_reason, sizeof(c->x.down_reason), "%s",
		c->why[0] ? c->why : c->pc->down_reason);
	mutex_unlock(&c->lock);
	log_ctrl("%s: connection closed: %s", c->x.peer, c->x.down_reason);
	rpcrdma_unanswered(c);
	c->old_ops->lent_drop_all(c);
	rpcrdma_read_drop_all(c);
	while ((p = TAILQ_FIRST(&c->closing))) {
		p->closed = true;
		rpcrdma_reply_closed(c, p);
	}
}

static void handle(struct rpcrdma_conn *c, const struct prov_wc *wc)
{
	struct rpcrdma_taken *t;

	switch (wc->op) {
	case PROV_WC_RECV:
		handle_recv(c, wc);
		break;
	case PROV_WC_READ:
		rpcrdma_read_done(c, (struct rpcrdma_taken *)(uintptr_t)wc->cookie);
		break;
	case PROV_WC_WITHDRAWN:
		handle_withdrawn(c, wc);
		break;
	case PROV_WC_DOWN:
		handle_down(c);
		break;
	}
	while ((t = rpcrdma_read_next(c)))
		rpcrdma_deliver(c, t);
}

/* --- the loop --------------------------------------------------------------------------------- */

static int handle_some(struct rpcrdma_conn *c)
{
	struct prov_wc wc;
	int n = 0;

	atomic_store_explicit(&c->handler, pthread_self(), memory_order_relaxed);
	atomic_store_explicit(&c->handling, true, memory_order_release);
	while (n < PER_PROGRESS && !rpcrdma_is_down(c) && rpcrdma_wc_next(c, &wc)) {
		if (c->held && clock_age(clock_ns(), c->held_since) > RPCRDMA_HOLD_NS)
			rpcrdma_unhold(c);
		handle(c, &wc);
		if (++n % c->batch == 0)
			rpcrdma_recv_replenish(c);
	}
	if (n && !rpcrdma_is_down(c)) {
		rpcrdma_recv_replenish(c);
		rpcrdma_send_backlog(c);
		rpcrdma_flow_say(c);
	}
	rpcrdma_unhold(c);
	atomic_store_explicit(&c->handling, false, memory_order_relaxed);
	return n;
}

/* Polls for a while. True: a completion came. After several vain polls in a row, the next sleeps
 * begin without a poll. The number of such sleeps doubles: a peer on the same CPU cannot answer
 * while we poll.
 */
static bool spin(struct rpcrdma_conn *c)
{
	uint64_t end;

	if (!c->spin_ns)
		return false;
	if (c->spin_skip) {
		c->spin_skip--;
		return false;
	}
	end = clock_ns() + c->spin_ns;
	do {
		if (rpcrdma_wc_fill(c)) {
			c->spin_misses = 0;
			return true;
		}
	} while (clock_ns() < end);
	if (++c->spin_misses >= SPIN_TRIES)
		c->spin_skip =
			1u << (c->spin_misses < SPIN_SKIP_BITS ? c->spin_misses : SPIN_SKIP_BITS);
	return false;
}

/* Retries receives and calls that lacked memory. */
static void feed(struct rpcrdma_conn *c)
{
	struct rpcrdma_taken *t;
	bool starved;

	if (!STAILQ_EMPTY(&c->to_post))
		rpcrdma_recv_replenish(c);
	if (!TAILQ_EMPTY(&c->waiting))
		while ((t = rpcrdma_read_waiting(c)))
			rpcrdma_deliver(c, t);
	if (c->no_memory &&
		clock_age(clock_ns(), c->no_memory_ns) > RPCRDMA_STARVED_MS * NSEC_PER_MSEC)
		c->no_memory = false;
	starved = !STAILQ_EMPTY(&c->to_post) || !TAILQ_EMPTY(&c->waiting);
	atomic_store_explicit(&c->starved, starved, memory_order_relaxed);
}

/* A peer that does not answer RDMA Reads would tie up the buffers for ever. */
static void watch_reads(struct rpcrdma_conn *c)
{
	if (c->reads && clock_age(clock_ns(), c->read_ns) > rpcrdma_pull_ms * UINT64_C(1000000))
		rpcrdma_break(c, "%u RDMA Reads unanswered for %u ms", c->reads, rpcrdma_pull_ms);
}

/* How long to sleep at most. */
static int until_next(const struct rpcrdma_conn *c, int timeout_ms)
{
	int most = c->starved || c->no_memory ? RPCRDMA_STARVED_MS
		   : c->v2.stalls	      ? RPCRDMA_STALL_MS
		   : c->old.nlent	      ? (int)rpcrdma_lent_ms + 1
		   : c->reads		      ? (int)rpcrdma_pull_ms + 1
					      : -1;

	return most >= 0 && (timeout_ms < 0 || timeout_ms > most) ? most : timeout_ms;
}

int rpcrdma_progress(struct rpc_xprt *x, int timeout_ms)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);

	if (rpcrdma_is_down(c))
		return -ENOTCONN;
	rpcrdma_linger_look(c);
	rpcrdma_reply_failed(c);
	feed(c);
	watch_reads(c);
	if (c->old.nlent)
		c->old_ops->lent_look(c);
	rpcrdma_flow_look(c);
	rpcrdma_send_backlog(c); /* a failed or taken-back call may have returned a credit */
	if (!handle_some(c)) {
		if (timeout_ms && !spin(c))
			rpcrdma_sleep(c, x->kick_fd, until_next(c, timeout_ms));
		if (!handle_some(c))
			rpc_xprt_unkick(x);
	}
	return rpcrdma_is_down(c) ? -ENOTCONN : 0;
}
