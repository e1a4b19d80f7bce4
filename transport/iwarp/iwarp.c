/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp: software iWARP over a TCP socket, as a provider. The model is in iwarp.h; here are the
 * life of a connection, its doors and receives, and the progress thread's poll() and wait().
 *
 * How a connection ends. The first thread that notices calls iwarp_fail(), which notes the reason.
 * poll() still hands out the ready completions, then drops all requests under both locks, and only
 * then delivers DOWN. From there on no thread touches memory of the user.
 */
#include "transport/iwarp/iwarp.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/log.h"

enum {
	RX_BUDGET = 64, /* recvmsg() calls of one poll() */
	LOOPBACK_SNDBUF = 256 << 10,
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

/* --- life ------------------------------------------------------------------------------------- */

static void iwarp_free(struct prov_conn *pc)
{
	struct iwarp_conn *c = to_conn(pc);

	if (!c)
		return;
	iwarp_tx_purge(c);
	close(c->fd);
	if (c->wake_fd >= 0)
		close(c->wake_fd);
	iwarp_stags_finish(&c->stags);
	pthread_mutex_destroy(&c->rq_lock);
	pthread_mutex_destroy(&c->q_lock);
	pthread_mutex_destroy(&c->tx_lock);
	free(c->rx.buf);
	free(c->rx.waste);
	free(c->rq);
	free(c->reads);
	free(c->req_mem);
	free(c);
}

static unsigned round_up_pow2(unsigned n)
{
	unsigned p = 1;

	while (p < n)
		p <<= 1;
	return p;
}

struct iwarp_conn *iwarp_conn_new(int fd, bool active, const struct prov_params *p)
{
	struct iwarp_conn *c = calloc(1, sizeof(*c));

	if (!c) {
		close(fd);
		return NULL;
	}
	c->prov.ops = &prov_iwarp;
	c->params = *p;
	if (p->priv_len)
		memcpy(c->priv_data, p->priv, p->priv_len);
	c->params.priv = c->priv_data;
	c->fd = fd;
	c->active = active;
	snprintf(c->peer, sizeof(c->peer), "the peer");
	pthread_mutex_init(&c->rq_lock, NULL);
	pthread_mutex_init(&c->q_lock, NULL);
	pthread_mutex_init(&c->tx_lock, NULL);
	TAILQ_INIT(&c->queue);
	TAILQ_INIT(&c->spare);
	TAILQ_INIT(&c->reads_waiting);
	TAILQ_INIT(&c->ready);
	TAILQ_INIT(&c->batch.done);
	for (int i = 0; i < 3; i++)
		c->tx_msn[i] = 1;
	c->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c->rq_cap = round_up_pow2(p->recv_depth ? p->recv_depth : 1);
	c->rq = calloc(c->rq_cap, sizeof(*c->rq));
	if (iwarp_stags_init(&c->stags) || iwarp_rx_init(&c->rx) || c->wake_fd < 0 || !c->rq) {
		iwarp_free(&c->prov);
		return NULL;
	}
	return c;
}

int iwarp_conn_start(struct iwarp_conn *c, unsigned ird, unsigned ord, bool crc)
{
	size_t nreq = (size_t)c->params.send_depth + 2 * ird + 1;
	int sndbuf = LOOPBACK_SNDBUF;

	c->prov.ird = (uint8_t)ird;
	c->prov.ord = (uint8_t)ord;
	c->crc = crc;
	c->reads = calloc(ord + 1, sizeof(*c->reads));
	c->req_mem = calloc(nreq, sizeof(*c->req_mem));
	if (!c->reads || !c->req_mem)
		return -ENOMEM;
	for (size_t i = 0; i < nreq; i++)
		TAILQ_INSERT_TAIL(&c->spare, &c->req_mem[i], link);
	c->emss = iwarp_tx_segment(c);
	c->mulpdu = mpa_mulpdu(c->emss);
	c->growing = c->emss >= IWARP_LOOPBACK_MSS;
	/* Unless alignment would cost the kernel's segmentation off-load, FPDUs do not cross
	 * segments. */
	c->aligned = c->growing || c->emss % 4 == 0;
	if (c->long_fpdus && !c->growing) {
		c->mulpdu = MPA_MAX_MULPDU;
		c->aligned = false;
	}
	/* Bytes that wait in the socket should fit the processor's cache: with the kernel's own
	 * limit of 4 MiB each byte costs two to three times as much. */
	if (c->growing)
		setsockopt(c->fd, SOL_SOCKET, SO_SNDBUF, &sndbuf, sizeof(sndbuf));
	c->held = !c->active;
	atomic_store(&c->up, true);
	log_ctrl("iwarp: connected to %s, %s, IRD %u, ORD %u, CRC %s, segments of %u bytes",
		c->peer, c->active ? "active" : "passive", ird, ord, crc ? "on" : "off", c->mulpdu);
	return 0;
}

void iwarp_fail(struct iwarp_conn *c, const char *fmt, ...)
{
	va_list ap;

	if (c->failed)
		return;
	c->failed = true;
	va_start(ap, fmt);
	vsnprintf(c->prov.down_reason, sizeof(c->prov.down_reason), fmt, ap);
	va_end(ap);
	atomic_store(&c->over, true);
	log_ctrl("iwarp: %s", c->prov.down_reason);
}

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
	pthread_mutex_lock(&c->rq_lock);
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
	pthread_mutex_unlock(&c->rq_lock);
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
		iwarp_rx_waste(c);
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
	pthread_mutex_lock(&c->tx_lock);
	error = c->tx_error;
	pthread_mutex_unlock(&c->tx_lock);
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

const struct prov_ops prov_iwarp = {
	.name = "iwarp",
	.remote_inval = true,
	.open = iwarp_open,
	.listen = iwarp_listen,
	.accept = iwarp_accept,
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
	.disconnect = iwarp_disconnect,
	.free = iwarp_free,
};
