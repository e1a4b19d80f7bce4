/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_connector: makes a client's connections, one attempt after the other.
 */
#include "transport/rpc/rpc_connector.h"

#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/log.h"

#define SHORT_LIVED_MS 20 /* before replacing a connection that lived less than a second */
#define BACKOFF_MIN_MS 100
#define BACKOFF_MAX_MS 5000
#define REMEMBER_MS    600000 /* after a longer life a newer server may be there */

int rpc_connector_init(struct rpc_connector *n, const struct rpc_client_params *p,
	const struct rpc_xprt_up *up, struct rpc_counts *stats, int kick_fd)
{
	memset(n, 0, sizeof(*n));
	n->p = p;
	n->up = *up;
	n->stats = stats;
	n->kick_fd = kick_fd;
	n->abort_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	return n->abort_fd < 0 ? -errno : 0;
}

void rpc_connector_abort(struct rpc_connector *n)
{
	uint64_t one = 1;

	if (write(n->abort_fd, &one, sizeof(one)) < 0)
		log_ctrl("eventfd: %s", strerror(errno)); /* the attempt still ends in connect_ms */
}

static struct rpc_xprt *connector_join(struct rpc_connector *n)
{
	pthread_join(n->thread, NULL);
	n->running = false;
	return n->xprt;
}

void rpc_connector_finish(struct rpc_connector *n)
{
	if (n->running) {
		struct rpc_xprt *x = connector_join(n);

		if (x) {
			x->ops->shutdown(x);
			rpc_xprt_unref(x);
		}
	}
	if (n->abort_fd >= 0)
		close(n->abort_fd);
	n->abort_fd = -1;
}

/* port: 0: any. */
static struct rpc_xprt *connect_from(
	struct rpc_connector *n, uint16_t port, int abort_fd, struct err *e)
{
	struct rpc_xprt_up up = n->up;

	up.abort_fd = abort_fd;
	up.from_port = port;
	up.rdma_version = n->rdma_version;
	return n->p->proto == RPC_TCP ? tcp_connect(n->p, &up, e) : rpcrdma_connect(n->p, &up, e);
}

/* Each fourth attempt is from another port: a firewall may block the old one. But a server that
 * refuses connections may be starting, and may know calls that come again by their port. So the
 * other port then comes behind one more attempt from the old port. */
struct rpc_xprt *rpc_connector_connect(struct rpc_connector *n, int abort_fd, struct err *e)
{
	bool other = n->attempts++ % 4 == 3;
	uint16_t port = other && !n->refused ? 0 : n->from_port;
	struct rpc_xprt *x = connect_from(n, port, abort_fd, e);

	n->refused = !x && e->kind == ERR_REFUSED;
	if (n->refused && other && port) {
		*e = (struct err){0};
		x = connect_from(n, 0, abort_fd, e);
	}
	if (x)
		x->stats = n->stats;
	return x;
}

static void *connector_main(void *arg)
{
	struct rpc_connector *n = arg;
	uint64_t one = 1;

	n->err = (struct err){0};
	n->xprt = rpc_connector_connect(n, n->abort_fd, &n->err);
	atomic_store_explicit(&n->done, true, memory_order_release); /* with xprt and err */
	if (write(n->kick_fd, &one, sizeof(one)) < 0)
		return NULL; /* full: it is readable */
	return NULL;
}

static void connector_back_off(struct rpc_connector *n, unsigned first_ms)
{
	unsigned wait = n->backoff_ms ? n->backoff_ms : first_ms;

	n->retry_at = clock_coarse_ns() + wait * NSEC_PER_MSEC;
	n->backoff_ms = wait ? wait * 2 : BACKOFF_MIN_MS;
	if (n->backoff_ms > BACKOFF_MAX_MS)
		n->backoff_ms = BACKOFF_MAX_MS;
}

int rpc_connector_start(struct rpc_connector *n, int max)
{
	uint64_t now = clock_coarse_ns();
	int rc;

	if (n->running)
		return max;
	if (now < n->retry_at) {
		uint64_t ms = (n->retry_at - now) / NSEC_PER_MSEC + 1;

		return ms < (unsigned)max ? (int)ms : max;
	}
	atomic_store_explicit(&n->done, false, memory_order_relaxed);
	n->xprt = NULL;
	rc = pthread_create(&n->thread, NULL, connector_main, n);
	n->running = !rc;
	if (!rc)
		return max;
	n->err = (struct err){0};
	err_set(&n->err, ERR_INTERNAL, "cannot start a thread: %s", strerror(rc));
	atomic_store_explicit(&n->done, true, memory_order_relaxed);
	return 0;
}

bool rpc_connector_collect(struct rpc_connector *n, struct rpc_xprt **x)
{
	if (!atomic_load_explicit(&n->done, memory_order_acquire))
		return false;
	atomic_store_explicit(&n->done, false, memory_order_relaxed);
	*x = n->running ? connector_join(n) : NULL;
	if (!*x)
		connector_back_off(n, BACKOFF_MIN_MS);
	return true;
}

void rpc_connector_lost(
	struct rpc_connector *n, const struct rpc_xprt *x, bool worked, uint64_t lived_ns)
{
	n->from_port = n->p->same_port ? x->local_port : 0;
	n->rdma_version = lived_ns < REMEMBER_MS * NSEC_PER_MSEC ? x->rdma_version : 0;
	n->attempts = 0;
	n->refused = false;
	if (worked)
		n->backoff_ms = 0;
	connector_back_off(n, lived_ns < 1000 * NSEC_PER_MSEC ? SHORT_LIVED_MS : 0);
}
