/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_client: the requester's end. Calls in, replies out, one connection kept alive between.
 *
 * The progress thread is always in one of two states:
 *
 *   up     c->xprt is set; the thread sleeps in its progress(). A call goes from the submitting
 *          thread straight to the connection.
 *   down   c->xprt is NULL; the thread sleeps on c->kick_fd. Calls queue in the table (WAIT). A
 *          short-lived connector thread makes the next attempt, so that cancelling, time-outs and
 *          the end are never held up by a server that is silent.
 *
 * up -> down: progress() said -ENOTCONN. That is also how a time-out ends: an RPC is never sent
 * again on a live connection (RFC 8166 section 4.2.1, RFC 8881 section 2.9.2), so the connection is
 * shut down first. All calls are taken back from the connection and wait. down -> up: the connector
 * delivered a connection; every waiting call is sent, with its old XID.
 *
 * Who owns a call: its submitter until it is in the table, then the progress thread, which alone
 * removes calls and calls done. c->table.lock guards c->xprt, closing and the fields of struct
 * rpc_table; the rest of the client belongs to the progress thread. No callback under the lock.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/log.h"
#include "transport/rpc_call.h"
#include "transport/rpc_table.h"
#include "transport/xprt.h"

#define MS		 UINT64_C(1000000)
#define SHORT_LIVED_MS	 20 /* before replacing a connection that lived less than a second */
#define BACKOFF_MIN_MS	 100
#define BACKOFF_MAX_MS	 5000
#define TICK_MIN_MS	 5
#define TICK_MAX_MS	 1000
#define IDLE_TICK_MAX_MS 10000

struct connector {
	pthread_t thread;
	bool running;	       /* progress thread's */
	bool done;	       /* table.lock */
	struct rpc_xprt *xprt; /* table.lock, valid once done */
	struct err err;
};

struct rpc_client {
	struct rpc_client_params p;
	char peer_name[256];
	struct rpc_table table;
	struct rpc_xprt *xprt;	 /* table.lock; written by the progress thread only */
	bool closing;		 /* table.lock */
	unsigned min_timeout_ms; /* table.lock: the shortest of any call so far */
	bool attention; /* atomic: a call was cancelled, or closing, or a shorter time-out */
	int kick_fd;	/* wakes the thread while down */
	int abort_fd;	/* readable: a connector gives up */
	pthread_t thread;
	struct rpc_client_stats stats; /* atomic members */

	/* the progress thread's */
	struct connector con;
	uint64_t retry_at;
	uint64_t next_check;
	unsigned backoff_ms; /* before the attempt after the next */
	bool replied;	     /* on this connection */
	uint64_t up_since;
	uint16_t from_port; /* with same_port: of the last connection */
	unsigned attempts;  /* to replace it; the connector's while it runs */
	bool silent;	    /* "not responding" was logged, "OK" was not */
};

static void stat_add(uint64_t *s, uint64_t n)
{
	__atomic_fetch_add(s, n, __ATOMIC_RELAXED);
}

static void client_wake_locked(struct rpc_client *c)
{
	uint64_t one = 1;

	__atomic_store_n(&c->attention, true, __ATOMIC_RELEASE);
	if (c->xprt)
		rpc_xprt_kick(c->xprt);
	else if (write(c->kick_fd, &one, sizeof(one)) < 0)
		return; /* full: it is readable */
}

/* --- calls, any thread ------------------------------------------------------------------------ */

int rpc_call_init(struct rpc_call *call, struct rpc_client *c, size_t args_max)
{
	int rc = rpc_call_setup(call, c->p.pool, args_max);

	call->client = c;
	return rc;
}

int rpc_call_submit(struct rpc_call *call)
{
	struct rpc_client *c = call->client;
	struct rpc_xprt *x;
	unsigned ms;
	int rc = 0;

	if (!xdr_out_ok(&call->args))
		return -EMSGSIZE;
	rpc_call_hold(call);
	pthread_mutex_lock(&c->table.lock);
	if (c->closing)
		rc = -ENOTCONN;
	else
		rc = rpc_table_add_locked(&c->table, call);
	if (rc < 0) {
		pthread_mutex_unlock(&c->table.lock);
		rpc_call_unhold(call);
		return rc;
	}
	x = c->xprt;
	call->state = x ? RPC_CALL_SENT : RPC_CALL_WAIT;
	call->resends = 0;
	call->posted = false;
	ms = rpc_call_arm(call, rpc_now_ns(), c->p.timeo_ms);
	if (ms && ms < c->min_timeout_ms) {
		c->min_timeout_ms = ms;
		client_wake_locked(c);
	}
	if (call->cancelled) /* before it was submitted */
		client_wake_locked(c);
	stat_add(&c->stats.calls, 1);
	__atomic_fetch_add(&c->table.senders, 1, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&c->table.lock);

	rpc_call_put_header(call, c->p.prog, c->p.vers);
	/* Not taken means that the connection is gone: the progress thread is about to find that
	 * out and finds the call in the table. call must not be touched after this. */
	if (x)
		x->ops->send_call(x, call, call->off);
	__atomic_fetch_sub(&c->table.senders, 1, __ATOMIC_RELEASE);
	return 0;
}

void rpc_call_cancel(struct rpc_call *call)
{
	struct rpc_client *c = call->client;

	pthread_mutex_lock(&c->table.lock);
	call->cancelled = true;
	client_wake_locked(c);
	pthread_mutex_unlock(&c->table.lock);
}

int rpc_call_take_sink(struct rpc_call *call, struct xdr_in *res, unsigned i, uint32_t *n)
{
	const struct mem_sge *place = &call->sink[i].place;
	struct rpc_client_stats *st = &call->client->stats;
	const uint8_t *p;
	bool placed;

	*n = 0;
	if (i >= call->nsinks)
		return xdr_in_fail(res);
	p = xdr_get_payload(res, place->len, n, &placed);
	if (!p)
		return -EBADMSG;
	if (placed && p == place->addr) {
		stat_add(&st->bytes_placed, *n - (call->copied < *n ? call->copied : *n));
		stat_add(&st->bytes_copied, call->copied < *n ? call->copied : *n);
	} else if (*n) {
		memmove(place->addr, p, *n);
		stat_add(&st->bytes_copied, *n);
	}
	return 0;
}

/* --- the end of calls, progress thread ---------------------------------------------------------
 */

static void client_take_out(struct rpc_client *c, struct rpc_call *call)
{
	pthread_mutex_lock(&c->table.lock);
	rpc_table_remove_locked(&c->table, call);
	pthread_mutex_unlock(&c->table.lock);
}

/* Ends a call that has no reply. Its sender must be through (quiesce). */
static void client_fail(struct rpc_client *c, struct rpc_call *call, int error)
{
	if (c->xprt)
		c->xprt->ops->forget(c->xprt, call);
	client_take_out(c, call);
	rpc_call_end(call, error, NULL);
}

static struct rpc_call *up_find(void *ctx, uint32_t xid, bool reverse)
{
	struct rpc_client *c = ctx;

	return reverse ? NULL : rpc_table_find(&c->table, xid);
}

static void up_reply(void *ctx, struct rpc_call *call, int error, struct xdr_in *msg)
{
	struct rpc_client *c = ctx;

	client_take_out(c, call);
	stat_add(&c->stats.replies, 1);
	c->replied = true;
	if (c->silent) {
		c->silent = false;
		log_info("server %s OK", c->peer_name);
	}
	if (error)
		rpc_call_end(call, error, NULL);
	else
		rpc_call_end_reply(call, msg);
}

static void up_request(void *ctx, struct rpc_req *req)
{
	struct rpc_client *c = ctx;

	if (!c->p.cb_service || req->prog != c->p.cb_prog) {
		rpc_req_reply(req, RPC_ACCEPT_PROG_UNAVAIL);
		return;
	}
	stat_add(&c->stats.callbacks, 1);
	c->p.cb_service(c->p.cb_ctx, req);
}

static const struct rpc_xprt_up client_up = {
	.find = up_find,
	.reply = up_reply,
	.request = up_request,
};

/* Takes the next call out that want() picks; NULL when none is left. */
static struct rpc_call *client_pick(struct rpc_client *c, uint32_t *at,
	bool (*want)(struct rpc_client *c, struct rpc_call *call, uint64_t now), uint64_t now)
{
	struct rpc_call *call;

	pthread_mutex_lock(&c->table.lock);
	rpc_table_quiesce_locked(&c->table);
	do
		call = rpc_table_next_locked(&c->table, at);
	while (call && !want(c, call, now));
	pthread_mutex_unlock(&c->table.lock);
	return call;
}

static bool want_cancelled(struct rpc_client *c, struct rpc_call *call, uint64_t now)
{
	return call->cancelled;
}

static bool want_any(struct rpc_client *c, struct rpc_call *call, uint64_t now)
{
	return true;
}

/* Counts a time-out; picks the call if it was its last. */
static bool want_given_up(struct rpc_client *c, struct rpc_call *call, uint64_t now)
{
	if (call->deadline_ns > now)
		return false;
	call->resends++;
	stat_add(&c->stats.timeouts, 1);
	rpc_call_arm(call, now, c->p.timeo_ms);
	return c->p.soft && call->resends >= (c->p.retrans ? c->p.retrans : 1);
}

/* Answers the wishes of other threads. Returns false when the client is to end. */
static bool client_attend(struct rpc_client *c)
{
	struct rpc_call *call;
	uint32_t at = 0;
	bool closing;

	if (!__atomic_exchange_n(&c->attention, false, __ATOMIC_ACQUIRE))
		return true;
	pthread_mutex_lock(&c->table.lock);
	closing = c->closing;
	pthread_mutex_unlock(&c->table.lock);
	if (closing)
		return false;
	c->next_check = 0;
	while ((call = client_pick(c, &at, want_cancelled, 0)))
		client_fail(c, call, -ECANCELED);
	return true;
}

static void client_not_responding(struct rpc_client *c)
{
	if (c->silent)
		return;
	c->silent = true;
	if (c->p.soft)
		log_info("server %s not responding", c->peer_name);
	else
		log_info("server %s not responding, still trying", c->peer_name);
}

/* How long the thread may sleep without missing a deadline by much. */
static int client_tick_ms(struct rpc_client *c)
{
	unsigned ms, max;

	pthread_mutex_lock(&c->table.lock);
	max = c->table.count ? TICK_MAX_MS : IDLE_TICK_MAX_MS;
	ms = c->table.count ? c->min_timeout_ms / 8 : c->min_timeout_ms / 2;
	pthread_mutex_unlock(&c->table.lock);
	return ms < TICK_MIN_MS ? TICK_MIN_MS : ms > max ? max : ms;
}

/* Looks at all deadlines, now and then. */
static void client_check_timers(struct rpc_client *c)
{
	uint64_t now = rpc_now_ns(), before;
	struct rpc_call *call;
	uint32_t at = 0;

	if (now < c->next_check)
		return;
	c->next_check = now + client_tick_ms(c) / 2 * MS;
	before = __atomic_load_n(&c->stats.timeouts, __ATOMIC_RELAXED);
	while ((call = client_pick(c, &at, want_given_up, now)))
		client_fail(c, call, -ETIMEDOUT);
	if (__atomic_load_n(&c->stats.timeouts, __ATOMIC_RELAXED) == before)
		return;
	client_not_responding(c);
	if (c->xprt) {
		log_ctrl("server %s: a call timed out, closing the connection", c->peer_name);
		c->xprt->ops->shutdown(c->xprt);
	}
}

/* --- down and up again -------------------------------------------------------------------------
 */

static struct rpc_xprt *client_connect(struct rpc_client *c, struct err *e)
{
	struct rpc_xprt_up up = client_up;
	struct rpc_xprt *x = NULL;

	up.ctx = c;
	up.abort_fd = c->abort_fd;
	/* now and then from another: somebody on the way may not let the old one through */
	up.from_port = c->attempts++ % 4 == 3 ? 0 : c->from_port;
	if (c->p.proto == RPC_TCP)
		x = tcp_connect(&c->p, &up, e);
	else
		x = rpcrdma_connect(&c->p, &up, e);
	if (x)
		x->stats = &c->stats;
	return x;
}

static void *connector_main(void *arg)
{
	struct rpc_client *c = arg;
	struct rpc_xprt *x;
	uint64_t one = 1;

	c->con.err = (struct err){0};
	x = client_connect(c, &c->con.err);
	pthread_mutex_lock(&c->table.lock);
	c->con.xprt = x;
	c->con.done = true;
	pthread_mutex_unlock(&c->table.lock);
	if (write(c->kick_fd, &one, sizeof(one)) < 0)
		return NULL; /* full: it is readable */
	return NULL;
}

static void client_back_off(struct rpc_client *c, unsigned first_ms)
{
	unsigned wait = c->backoff_ms ? c->backoff_ms : first_ms;

	c->retry_at = rpc_now_ns() + wait * MS;
	c->backoff_ms = wait ? wait * 2 : BACKOFF_MIN_MS;
	if (c->backoff_ms > BACKOFF_MAX_MS)
		c->backoff_ms = BACKOFF_MAX_MS;
}

/* up -> down: takes every call back. */
static void client_went_down(struct rpc_client *c)
{
	struct rpc_xprt *x = c->xprt;
	struct rpc_call *call;
	uint32_t at = 0;

	pthread_mutex_lock(&c->table.lock);
	c->xprt = NULL;
	x->give_port = c->p.same_port && !c->closing;
	rpc_table_quiesce_locked(&c->table);
	while ((call = rpc_table_next_locked(&c->table, &at))) {
		if (call->state != RPC_CALL_SENT)
			continue;
		pthread_mutex_unlock(&c->table.lock);
		x->ops->forget(x, call);
		pthread_mutex_lock(&c->table.lock);
		call->state = RPC_CALL_WAIT;
		call->posted = false;
	}
	pthread_mutex_unlock(&c->table.lock);
	log_ctrl("server %s: connection lost: %s", c->peer_name, x->down_reason);
	c->from_port = c->p.same_port ? x->local_port : 0;
	c->attempts = 0;
	rpc_xprt_unref(x);
	/* One that worked is replaced at once; one that never answered waits longer each time. */
	if (c->replied)
		c->backoff_ms = 0;
	client_back_off(c, rpc_now_ns() - c->up_since < 1000 * MS ? SHORT_LIVED_MS : 0);
}

/* down -> up: sends every call that waits, with its old XID. */
static void client_came_up(struct rpc_client *c, struct rpc_xprt *x)
{
	uint64_t now = rpc_now_ns();
	struct rpc_call *call;
	uint32_t at = 0;

	c->replied = false;
	c->up_since = now;
	pthread_mutex_lock(&c->table.lock);
	rpc_table_quiesce_locked(&c->table);
	c->xprt = x;
	pthread_mutex_unlock(&c->table.lock);
	stat_add(&c->stats.reconnects, 1);
	log_ctrl("server %s: connected again", c->peer_name);
	if (c->p.reconnected)
		c->p.reconnected(c->p.ctx);
	pthread_mutex_lock(&c->table.lock);
	while ((call = rpc_table_next_locked(&c->table, &at))) {
		if (call->state != RPC_CALL_WAIT)
			continue;
		call->state = RPC_CALL_SENT;
		rpc_call_arm(call, now, c->p.timeo_ms);
		pthread_mutex_unlock(&c->table.lock);
		x->ops->send_call(x, call, call->off);
		pthread_mutex_lock(&c->table.lock);
	}
	pthread_mutex_unlock(&c->table.lock);
}

static void client_start_connector(struct rpc_client *c)
{
	c->con.done = false;
	c->con.xprt = NULL;
	if (pthread_create(&c->con.thread, NULL, connector_main, c) == 0)
		c->con.running = true;
	else
		client_back_off(c, BACKOFF_MIN_MS);
}

/* Collects the connector. Returns its connection or NULL. */
static struct rpc_xprt *client_join_connector(struct rpc_client *c)
{
	pthread_join(c->con.thread, NULL);
	c->con.running = false;
	return c->con.xprt;
}

/* One round while there is no connection. */
static void client_progress_down(struct rpc_client *c)
{
	struct pollfd pfd = {.fd = c->kick_fd, .events = POLLIN};
	uint64_t now = rpc_now_ns(), n;
	int ms = client_tick_ms(c);
	struct rpc_xprt *x;
	bool done;

	if (!c->con.running) {
		if (now >= c->retry_at)
			client_start_connector(c);
		else if ((c->retry_at - now) / MS < (unsigned)ms)
			ms = (c->retry_at - now) / MS + 1;
	}
	poll(&pfd, 1, ms);
	if ((pfd.revents & POLLIN) && read(c->kick_fd, &n, sizeof(n)) < 0)
		return; /* someone else's read: none */
	pthread_mutex_lock(&c->table.lock);
	done = c->con.running && c->con.done;
	pthread_mutex_unlock(&c->table.lock);
	if (!done)
		return;
	x = client_join_connector(c);
	if (x) {
		client_came_up(c, x);
		return;
	}
	log_ctrl("server %s: %s", c->peer_name, c->con.err.msg);
	client_not_responding(c);
	client_back_off(c, BACKOFF_MIN_MS);
}

static void *client_main(void *arg)
{
	struct rpc_client *c = arg;
	struct rpc_call *call;
	uint32_t at = 0;

	while (client_attend(c)) {
		if (!c->xprt)
			client_progress_down(c);
		else if (c->xprt->ops->progress(c->xprt, client_tick_ms(c)) < 0)
			client_went_down(c);
		client_check_timers(c);
	}
	if (c->con.running) {
		struct rpc_xprt *x = client_join_connector(c);

		if (x) {
			x->ops->shutdown(x);
			rpc_xprt_unref(x);
		}
	}
	if (c->xprt) {
		c->xprt->ops->shutdown(c->xprt);
		/* what has arrived is still delivered */
		for (int i = 0; i < 200 && c->xprt->ops->progress(c->xprt, 10) == 0; i++)
			;
		client_went_down(c);
	}
	while ((call = client_pick(c, &at, want_any, 0)))
		client_fail(c, call, -ENOTCONN);
	return NULL;
}

/* --- the client --------------------------------------------------------------------------------
 */

static void client_release(struct rpc_client *c)
{
	if (c->kick_fd >= 0)
		close(c->kick_fd);
	if (c->abort_fd >= 0)
		close(c->abort_fd);
	rpc_table_fini(&c->table);
	free(c);
}

struct rpc_client *rpc_client_new(const struct rpc_client_params *p, struct err *e)
{
	struct rpc_client *c = calloc(1, sizeof(*c));
	struct err why = {0};
	struct rpc_xprt at;
	int rc;

	if (!c || rpc_table_init(&c->table) < 0) {
		free(c);
		err_set(e, ERR_INTERNAL, "out of memory for a connection");
		return NULL;
	}
	c->p = *p;
	strncpy(c->peer_name, p->peer_name ? p->peer_name : "?", sizeof(c->peer_name) - 1);
	c->p.peer_name = c->peer_name;
	if (!c->p.connect_ms)
		c->p.connect_ms = 10000;
	c->min_timeout_ms = p->timeo_ms ? p->timeo_ms : IDLE_TICK_MAX_MS;
	c->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	c->abort_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (c->kick_fd < 0 || c->abort_fd < 0) {
		err_set(e, ERR_INTERNAL, "cannot make an eventfd: %s", strerror(errno));
		client_release(c);
		return NULL;
	}
	c->xprt = client_connect(c, &why);
	if (!c->xprt) {
		/* providers know addresses only */
		rpc_xprt_set_peer(&at, (const struct sockaddr *)&p->peer);
		if (strstr(why.msg, c->peer_name))
			err_set(e, why.kind, "%s", why.msg);
		else
			err_set(e, why.kind, "server %s (%s, proto=%s): %s", c->peer_name, at.peer,
				rpc_proto_name(p->proto), why.msg);
		client_release(c);
		return NULL;
	}
	rc = pthread_create(&c->thread, NULL, client_main, c);
	if (rc) {
		err_set(e, ERR_INTERNAL, "cannot start a thread: %s", strerror(rc));
		rpc_xprt_unref(c->xprt);
		client_release(c);
		return NULL;
	}
	return c;
}

struct rpc_client *rpc_client_free(struct rpc_client *c)
{
	uint64_t one = 1;

	if (!c)
		return NULL;
	if (write(c->abort_fd, &one, sizeof(one)) < 0)
		log_ctrl("eventfd: %s",
			strerror(errno)); /* the connector still ends in connect_ms */
	pthread_mutex_lock(&c->table.lock);
	c->closing = true;
	client_wake_locked(c);
	pthread_mutex_unlock(&c->table.lock);
	pthread_join(c->thread, NULL);
	client_release(c);
	return NULL;
}

void rpc_client_info(struct rpc_client *c, struct rpc_client_info *out)
{
	*out = (struct rpc_client_info){
		.proto = c->p.proto, .provider = rpc_proto_name(c->p.proto)};
	pthread_mutex_lock(&c->table.lock);
	if (c->xprt) {
		out->connected = true;
		out->provider = c->xprt->provider;
		out->rdma_version = c->xprt->rdma_version;
		out->inline_send = c->xprt->inline_send;
		out->inline_recv = c->xprt->inline_recv;
		out->credits = __atomic_load_n(&c->xprt->credits, __ATOMIC_RELAXED);
	}
	pthread_mutex_unlock(&c->table.lock);
}

void rpc_client_stats(struct rpc_client *c, struct rpc_client_stats *out)
{
	const uint64_t *from = (const uint64_t *)&c->stats;
	uint64_t *to = (uint64_t *)out;

	for (unsigned i = 0; i < sizeof(*out) / sizeof(*to); i++)
		to[i] = __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}
