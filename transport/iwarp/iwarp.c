/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp: software iWARP over a TCP socket, as a provider. The model is in iwarp_impl.h. Here are
 * the doors and receives of a connection, and the progress thread's poll() and wait().
 */
#include "transport/iwarp/iwarp_impl.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>

#include "transport/clock.h"
#include "transport/iwarp/iwarp_conn.h"
#include "transport/iwarp/iwarp_end.h"
#include "transport/iwarp/iwarp_rx.h"
#include "transport/iwarp/iwarp_segment.h"
#include "transport/iwarp/iwarp_setup.h"
#include "transport/iwarp/iwarp_stag.h"
#include "transport/iwarp/iwarp_tx.h"

enum {
	RX_BUDGET = 64,	   /* recvmsg() calls of one poll() */
	DRY_POLLS = 2,	   /* after one that took all: the end of a progress(), and the next */
	GIVE_UP_AFTER = 4, /* for guesses about input */
	TRY_AGAIN_EVERY = 32,
	NUDGES = 8, /* before a connection's first answer; each waits twice as long */
};

#define NUDGE_NS (30 * NSEC_PER_MSEC)

static struct iwarp_conn *to_conn(struct prov_conn *pc)
{
	return (struct iwarp_conn *)pc;
}

static void iwarp_free(struct prov_conn *pc)
{
	iwarp_conn_free(to_conn(pc));
}

/* --- life ------------------------------------------------------------------------------------- */

static void iwarp_disconnect(struct prov_conn *pc)
{
	struct iwarp_conn *c = to_conn(pc);

	atomic_store(&c->closing, true);
	shutdown(c->fd, SHUT_RDWR);
	eventfd_write(c->wake_fd, 1);
}

/* --- doors and receives ----------------------------------------------------------------------- */

static int iwarp_post_recv(struct prov_conn *pc, uint64_t cookie, const struct mem_sge *sge)
{
	struct iwarp_conn *c = to_conn(pc);
	unsigned tail;
	int rc = 0;

	if (atomic_load_explicit(&c->over, memory_order_relaxed))
		return -ENOTCONN;
	mutex_lock(&c->rq_lock);
	tail = atomic_load_explicit(&c->rq_tail, memory_order_relaxed);
	if (tail - atomic_load_explicit(&c->rq_head, memory_order_acquire) >=
		c->params.recv_depth) {
		rc = -ENOBUFS;
	} else {
		c->rq[tail & (c->rq_cap - 1)] =
			(struct iwarp_recv){.cookie = cookie, .addr = sge->addr, .len = sge->len};
		/* publishes the entry to the progress thread */
		atomic_store_explicit(&c->rq_tail, tail + 1, memory_order_release);
	}
	mutex_unlock(&c->rq_lock);
	return rc;
}

static int iwarp_post(struct prov_conn *pc, const struct prov_wr *wr)
{
	return iwarp_tx_post(to_conn(pc), wr);
}

static int iwarp_expose(
	struct prov_conn *pc, const struct mem_sge *sge, unsigned access, struct prov_door *door)
{
	struct iwarp_conn *c = to_conn(pc);
	struct iwarp_door d = {.access = access, .addr = sge->addr, .len = sge->len};
	int rc;

	if (atomic_load_explicit(&c->over, memory_order_relaxed))
		return -ENOTCONN;
	rc = iwarp_stags_open(&c->stags, &d);
	if (rc)
		return rc;
	*door = (struct prov_door){.stag = d.stag, .len = d.len, .impl = (void *)(uintptr_t)d.seq};
	return 0;
}

static void iwarp_flush(struct prov_conn *pc)
{
	iwarp_tx_flush(to_conn(pc));
}

static size_t iwarp_unsent(struct prov_conn *pc, uint64_t *sent)
{
	*sent = atomic_load_explicit(&to_conn(pc)->sent, memory_order_relaxed);
	return atomic_load_explicit(&to_conn(pc)->unsent, memory_order_relaxed);
}

/* Half a segment may have been placed in the closing door; the other half is still to come. */
static void stop_placing(struct iwarp_conn *c, uint32_t stag)
{
	const struct iwarp_rx *rx = &c->rx;

	if (!c->failed && rx->state == IWARP_RX_PAYLOAD && rx->h.tagged &&
		rx->h.op == DDP_OP_WRITE && rx->h.stag == stag)
		iwarp_segment_waste(c);
}

/* Placement happens in poll(), on this same thread. So once no half segment is left, a closed door
 * has no write under way. An answer to a read may be under way: it goes on from a copy. */
static int iwarp_withdraw(
	struct prov_conn *pc, struct prov_door *doors, unsigned n, uint64_t cookie)
{
	struct iwarp_conn *c = to_conn(pc);

	for (unsigned i = 0; i < n; i++) {
		uint64_t seq = (uintptr_t)doors[i].impl;

		if (doors[i].invalidated) /* closed by the peer's Send */
			continue;
		if (!(doors[i].abandoned ? iwarp_stags_abandon(&c->stags, doors[i].stag, seq)
					 : iwarp_stags_close(&c->stags, doors[i].stag, seq)))
			continue;
		stop_placing(c, doors[i].stag);
		if (!c->down && iwarp_tx_detach(c, doors[i].stag)) {
			iwarp_fail(c, "out of memory while a door of %s closes", c->peer);
			iwarp_tx_purge(c);
		}
	}
	return 0;
}

/* --- progress --------------------------------------------------------------------------------- */

static void check_sender(struct iwarp_conn *c)
{
	int error;

	if (!atomic_load(&c->tx_dead) || c->failed)
		return;
	mutex_lock(&c->tx_lock);
	error = c->tx_error;
	mutex_unlock(&c->tx_lock);
	iwarp_fail(c, "sending to %s failed: %s", c->peer, strerror(error));
}

/* Should receive() leave out recvmsg() because there is probably no input? Yes if wait() has just
 * seen none. Also yes in the two polls after one that took all input, if such tries have been in
 * vain lately. A wrong guess costs one more wait(). */
static bool likely_dry(struct iwarp_conn *c)
{
	bool none = c->rx_none, after_dry = c->rx_dry > 0;

	c->rx_none = false;
	if (!none && after_dry && c->rx_misses >= GIVE_UP_AFTER)
		none = ++c->rx_misses % TRY_AGAIN_EVERY != 0;
	c->rx_tried = !none && after_dry;
	c->rx_dry = none && after_dry ? c->rx_dry - 1 : 0;
	return none;
}

/* Takes arrived bytes; the peer's last words are heard even if sending has failed. */
static int receive(struct iwarp_conn *c, struct prov_wc *wc, int n)
{
	unsigned budget = RX_BUDGET;
	int got = 0;

	c->rx.dry = likely_dry(c);
	while (!c->failed && got < n) {
		enum iwarp_step s = iwarp_rx_step(c, &wc[got]);

		if (s == IWARP_STEP_WC)
			got++;
		if (s != IWARP_STEP_NEED)
			continue;
		if (c->rx.dry) {
			check_sender(c);
			break;
		}
		if (!budget--) {
			c->rx_more = true;
			break;
		}
		if (iwarp_rx_fill(c)) {
			c->rx_misses += c->rx_tried;
		} else {
			c->heard = true;
			if (c->rx_tried)
				c->rx_misses = 0;
		}
		c->rx_tried = false;
	}
	if (got == n)
		c->rx_more = true;
	if (got)
		c->rx_dry = c->rx_more ? 0 : DRY_POLLS;
	return got;
}

static int iwarp_poll(struct prov_conn *pc, struct prov_wc *wc, int n)
{
	struct iwarp_conn *c = to_conn(pc);
	int got;

	if (c->down || n <= 0)
		return 0;
	c->rx_more = false;
	if (atomic_load(&c->closing))
		iwarp_fail(c, "connection to %s closed by this side", c->peer);
	if (atomic_load(&c->blocked)) {
		atomic_store(&c->blocked, false);
		iwarp_tx_flush(c);
	}
	got = receive(c, wc, n);
	if (c->flush_due && !c->failed) {
		c->flush_due = false;
		iwarp_tx_flush(c);
	}
	if (c->failed && got < n) {
		iwarp_tx_purge(c);
		shutdown(c->fd, SHUT_WR);
		c->down = true;
		wc[got++] = (struct prov_wc){.op = PROV_WC_DOWN};
	}
	return got;
}

/* A peer can miss our first message if the connection is still being handed over (siw sends the MPA
 * Reply before it looks at the socket). The message then lies there until more bytes follow. So
 * while there is no answer, a Write of no bytes goes after the message now and then. Such a Write
 * has no effect and is checked against nothing (RFC 5041 section 7.1). Returns how long to wait at
 * most. */
static int nudge(struct iwarp_conn *c, int timeout_ms)
{
	const struct prov_wr nothing = {.op = PROV_WRITE};
	uint64_t now;
	int left;

	if (!c->active || c->heard || c->nudges >= NUDGES || c->failed)
		return timeout_ms;
	now = clock_ns();
	if (c->nudge_ns && now >= c->nudge_ns) {
		iwarp_tx_post(c, &nothing);
		c->nudges++;
		c->nudge_ns = 0;
	}
	if (!c->nudge_ns)
		c->nudge_ns = now + (NUDGE_NS << c->nudges);
	left = (int)((c->nudge_ns - now) / NSEC_PER_MSEC) + 1;
	return timeout_ms < 0 || left < timeout_ms ? left : timeout_ms;
}

static void iwarp_wait(struct prov_conn *pc, int kick_fd, int timeout_ms)
{
	struct iwarp_conn *c = to_conn(pc);
	struct pollfd pfd[3] = {
		{.fd = c->fd, .events = POLLIN},
		{.fd = c->wake_fd, .events = POLLIN},
		{.fd = kick_fd, .events = POLLIN},
	};
	unsigned n = kick_fd < 0 ? 2 : 3;
	eventfd_t v;

	c->rx_dry = 0;
	if (c->rx_more || c->flush_due || c->failed)
		return;
	timeout_ms = nudge(c, timeout_ms);
	/* pairs with wake_sleeper(): a thread that sets blocked or tx_dead later sees sleeping and
	 * wakes us */
	atomic_store(&c->sleeping, true);
	if (atomic_load(&c->blocked))
		pfd[0].events |= POLLOUT;
	if (!atomic_load(&c->tx_dead) && poll(pfd, n, timeout_ms) > 0)
		c->rx_none = !(pfd[0].revents & ~POLLOUT);
	atomic_store(&c->sleeping, false);
	if (pfd[1].revents)
		eventfd_read(c->wake_fd, &v);
}

/* --- the provider ----------------------------------------------------------------------------- */

static int open_conn(const struct sockaddr *peer, socklen_t len, const struct prov_params *p,
	int timeout_ms, struct prov_conn **out, struct err *e)
{
	int rc = iwarp_open(peer, len, p, timeout_ms, out, e);

	if (!rc)
		(*out)->ops = &prov_iwarp;
	return rc;
}

static int listen_at(const struct sockaddr *addr, socklen_t len, const struct prov_params *p,
	struct prov_listener **out, struct err *e)
{
	int rc = iwarp_listen(addr, len, p, out, e);

	if (!rc)
		(*out)->ops = &prov_iwarp;
	return rc;
}

static int accept_conn(struct prov_listener *l, struct prov_conn **out, struct err *e)
{
	int rc = iwarp_accept(l, out, e);

	if (!rc)
		(*out)->ops = &prov_iwarp;
	return rc;
}

const struct prov_ops prov_iwarp = {
	.name = "iwarp",
	.remote_inval = true,
	.open = open_conn,
	.listen = listen_at,
	.accept = accept_conn,
	.unlisten = iwarp_unlisten,
	.establish = iwarp_establish,
	.post_recv = iwarp_post_recv,
	.post = iwarp_post,
	.flush = iwarp_flush,
	.unsent = iwarp_unsent,
	.expose = iwarp_expose,
	.withdraw = iwarp_withdraw,
	.poll = iwarp_poll,
	.wait = iwarp_wait,
	.lease = iwarp_lease,
	.tcp_fd = iwarp_tcp_fd,
	.disconnect = iwarp_disconnect,
	.free = iwarp_free,
};
