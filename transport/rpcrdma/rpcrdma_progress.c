/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_progress: the progress thread's loop: completions in, upcalls out, receives replenished.
 *
 * Completions are handled in the order in which they were polled: first the rest of wc[], then
 * completions that forget() polled while waiting for doors to close (later[]), then the provider's
 * next ones. An upcall may call forget(), so no function here keeps an element across a handler.
 *
 * Before sleeping, the loop polls for some microseconds if polls have paid lately: waking a
 * sleeping thread costs more than a small round trip.
 */
#include "transport/rpcrdma/requester.h"
#include "transport/rpcrdma/responder.h"
#include "transport/rpcrdma/rpcrdma_continue.h"
#include "transport/rpcrdma/rpcrdma_lent.h"
#include "transport/rpcrdma/rpcrdma_place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpc/cork.h"

#define PER_PROGRESS   (4 * RPCRDMA_BATCH) /* completions handled before progress() returns */
#define SPIN_TRIES     4
#define SPIN_SKIP_BITS 10

/* --- holding back -----------------------------------------------------------------------------
 *
 * The messages that the progress thread sends while handling the completions of one poll() leave
 * with one system call, if the provider can do so: at depth 16 the system calls for messages would
 * cost more than all other work. No message is held back across a poll, for longer than HOLD_NS if
 * more work is left, or behind large RDMA Writes. Other threads hold back while they have the cork
 * in.
 */

#define HOLD_NS 50000

/* Only the handling thread itself gets true: no other thread can match the handler. */
bool rpcrdma_is_handling(const struct rpcrdma_conn *c)
{
	/* acquire: then `handler` is the present handler, not a former one */
	return atomic_load_explicit(&c->handling, memory_order_acquire) &&
	       pthread_equal(
		       atomic_load_explicit(&c->handler, memory_order_relaxed), pthread_self());
}

unsigned rpcrdma_more(struct rpcrdma_conn *c, bool alone)
{
	if (!rpcrdma_is_handling(c))
		return !alone && c->prov->flush && cork_keeps(&c->x) ? PROV_MORE : 0;
	if (!c->prov->flush || c->held >= RPCRDMA_HELD_MAX) {
		c->held = 0; /* this message takes the others along */
		return 0;
	}
	if (!c->held++)
		c->held_since = clock_ns();
	return PROV_MORE;
}

static void flush(struct rpcrdma_conn *c)
{
	if (c->held)
		c->prov->flush(c->pc);
	c->held = 0;
}

/* --- completions ------------------------------------------------------------------------------ */

/* Moves data; true if there is something to handle. */
static bool wc_fill(struct rpcrdma_conn *c)
{
	if (c->iwc < c->nwc || c->ilater < c->nlater)
		return true;
	flush(c);
	c->iwc = 0;
	c->nwc = c->prov->poll(c->pc, c->wc, RPCRDMA_BATCH);
	return c->nwc > 0;
}

static bool wc_next(struct rpcrdma_conn *c, struct prov_wc *wc)
{
	if (!wc_fill(c))
		return false;
	if (c->iwc < c->nwc) {
		*wc = c->wc[c->iwc++];
		return true;
	}
	*wc = c->later[c->ilater++];
	if (c->ilater == c->nlater)
		c->ilater = c->nlater = 0;
	return true;
}

static int later_add(struct rpcrdma_conn *c, const struct prov_wc *wc)
{
	if (c->nlater == c->later_cap) {
		size_t cap = c->later_cap ? c->later_cap * 2 : 64;
		struct prov_wc *more = realloc(c->later, cap * sizeof(*more));

		if (!more)
			return -ENOMEM;
		c->later = more;
		c->later_cap = cap;
	}
	c->later[c->nlater++] = *wc;
	return 0;
}

/* Takes the grant of a message in a dialect that talks, and sends our properties when due. True:
 * the message only grants credits. */
static bool hear(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc)
{
	rpcrdma_heard(c, h, rc);
	if (rc)
		return false;
	rpcrdma_tell_props(c, h);
	return rpcrdma_hdr_is_grant(h);
}

/* In either direction: no call of ours waits for the option (version 2 of 2016, section 3.1). */
static void refuse_option(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h)
{
	log_data("%s: optional operation %08x is not known", c->x.peer, h->xid);
	rpcrdma_send_error(
		c, h->xid, h->vers, &(struct rpcrdma_fault){.err = RDMA_ERR_INVAL_OPTION});
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
		c->count.malformed++;
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
		rpcrdma_handle_props(c, h, &m);
		return;
	}
	if (!rc && h->proc == RPCRDMA_REPT_ERR && h->dir == RPCRDMA_DIR_CALL) {
		rpcrdma_reported(c, h);
		rpcrdma_msg_done(c, &m);
		return;
	}
	if (c->dialect->places && !rpcrdma_group_join(c, &h, rc, &m))
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
		rpcrdma_lent_closed(c, (struct rpcrdma_lent *)(uintptr_t)(wc->cookie - 1));
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

	pthread_mutex_lock(&c->lock);
	c->down = true;
	snprintf(c->x.down_reason, sizeof(c->x.down_reason), "%s",
		c->why[0] ? c->why : c->pc->down_reason);
	pthread_mutex_unlock(&c->lock);
	log_ctrl("%s: connection closed: %s", c->x.peer, c->x.down_reason);
	rpcrdma_unanswered(c);
	rpcrdma_lent_drop_all(c);
	rpcrdma_taken_drop_all(c);
	while ((p = TAILQ_FIRST(&c->closing))) {
		p->closed = true;
		rpcrdma_reply_closed(c, p);
	}
}

static void handle(struct rpcrdma_conn *c, const struct prov_wc *wc)
{
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
}

/* Does one of n completions, polled and not handled yet, close the doors of p? The cookie of a
 * completion that names p becomes 0, because p is about to be freed. */
static bool take_closed(struct prov_wc *wc, size_t n, const struct rpcrdma_posted *p)
{
	bool closed = false;

	for (size_t i = 0; i < n; i++) {
		bool mine = wc[i].op == PROV_WC_WITHDRAWN && wc[i].cookie == (uintptr_t)p;

		if (mine)
			wc[i].cookie = 0;
		closed |= mine || wc[i].op == PROV_WC_DOWN;
	}
	return closed;
}

void rpcrdma_await_closed(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	struct prov_wc wc[RPCRDMA_BATCH];

	flush(c);
	rpcrdma_linger_end(c);
	p->closed |= c->down; /* no completion follows the last */
	/* search both arrays in any case: no completion may name p afterwards */
	if (!p->closed) {
		p->closed = take_closed(c->wc + c->iwc, (size_t)(c->nwc - c->iwc), p);
		if (c->nlater)
			p->closed |= take_closed(c->later + c->ilater, c->nlater - c->ilater, p);
	}
	while (!p->closed) {
		int n = c->prov->poll(c->pc, wc, RPCRDMA_BATCH);

		if (n <= 0)
			c->prov->wait(c->pc, -1, 10);
		p->closed = n > 0 && take_closed(wc, (size_t)n, p);
		for (int i = 0; i < n; i++)
			if (later_add(c, &wc[i]))
				rpcrdma_break(c, "out of memory");
	}
}

/* --- the loop --------------------------------------------------------------------------------- */

static int handle_some(struct rpcrdma_conn *c)
{
	struct prov_wc wc;
	int n = 0;

	atomic_store_explicit(&c->handler, pthread_self(), memory_order_relaxed);
	atomic_store_explicit(&c->handling, true, memory_order_release);
	while (n < PER_PROGRESS && !c->down && wc_next(c, &wc)) {
		if (c->held && clock_age(clock_ns(), c->held_since) > HOLD_NS)
			flush(c);
		handle(c, &wc);
		if (++n % c->batch == 0)
			rpcrdma_recv_replenish(c);
	}
	if (n && !c->down) {
		rpcrdma_recv_replenish(c);
		rpcrdma_send_backlog(c);
		rpcrdma_flow_say(c);
	}
	flush(c);
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
		if (wc_fill(c)) {
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
	bool starved;

	if (!STAILQ_EMPTY(&c->to_post))
		rpcrdma_recv_replenish(c);
	if (!TAILQ_EMPTY(&c->waiting))
		rpcrdma_start_waiting(c);
	if (c->no_memory && clock_ns() - c->no_memory_ns > RPCRDMA_STARVED_MS * NSEC_PER_MSEC)
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
		   : c->stalls		      ? RPCRDMA_STALL_MS
		   : c->nlent		      ? (int)rpcrdma_lent_ms + 1
		   : c->reads		      ? (int)rpcrdma_pull_ms + 1
					      : -1;

	return most >= 0 && (timeout_ms < 0 || timeout_ms > most) ? most : timeout_ms;
}

int rpcrdma_progress(struct rpc_xprt *x, int timeout_ms)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);

	if (c->down)
		return -ENOTCONN;
	rpcrdma_linger_look(c);
	rpcrdma_reply_failed(c);
	feed(c);
	watch_reads(c);
	rpcrdma_lent_look(c);
	rpcrdma_flow_look(c);
	rpcrdma_send_backlog(c); /* a failed or taken-back call may have returned a credit */
	if (!handle_some(c)) {
		if (timeout_ms && !spin(c))
			rpcrdma_sleep(c, x->kick_fd, until_next(c, timeout_ms));
		if (!handle_some(c))
			rpc_xprt_unkick(x);
	}
	return c->down ? -ENOTCONN : 0;
}
