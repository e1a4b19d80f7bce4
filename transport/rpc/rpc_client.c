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
 *          short-lived connector thread makes the next attempt. So a silent server never delays
 *          cancelling, time-outs and the end.
 *
 * up -> down: progress() said -ENOTCONN. A time-out ends the same way: an RPC is never sent again
 * on a live connection (RFC 8166 section 4.2.1, RFC 8881 section 2.9.2), so the connection is shut
 * down first. All calls are taken back from the connection and wait. down -> up: the connector
 * delivered a connection; every waiting call is sent, with its old XID.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpc/rpc_client_calls.h"
#include "transport/rpc/rpc_client_hello.h"
#include "transport/rpc/rpc_client_move.h"
#include "transport/rpc/rpc_client_timer.h"

#define CREDITS_DEFAULT 64
#define UNWANTED_AFTER	5 /* connections in place of the first, 620 ms with the pauses */

/* --- calls, any thread ------------------------------------------------------------------------ */

int rpc_call_init(struct rpc_call *call, struct rpc_client *c, size_t args_max)
{
	int rc = rpc_call_setup(call, c->p.pool, args_max);

	call->client = c;
	call->auth = c->p.auth;
	return rc;
}

int rpc_call_submit(struct rpc_call *call)
{
	struct rpc_client *c = call->client;
	int rc;

	if (!xdr_out_ok(&call->args))
		return -EMSGSIZE;
	rpc_call_hold(call);
	call->resends = 0;
	call->again_ns = call->again_end_ns = 0;
	call->again_ms = 0;
	call->repeated = false;
	call->rejected = 0;
	call->unsent = 0;
	rpc_count(&c->stats.calls, 1);
	rc = client_enter(c, call);
	if (rc < 0)
		rpc_call_unhold(call);
	return rc;
}

/* Locks the table that has call, or is to have it. */
static struct rpc_client *call_lock(struct rpc_call *call) NO_LOCK_ANALYSIS
{
	for (;;) {
		struct rpc_client *c = call->client;

		mutex_lock(&c->table.lock);
		if (c == call->client)
			return c;
		mutex_unlock(&c->table.lock); /* call has moved meanwhile */
	}
}

void rpc_call_cancel(struct rpc_call *call) NO_LOCK_ANALYSIS
{
	struct rpc_client *c = call_lock(call);

	call->cancelled = true;
	client_wake_locked(c);
	mutex_unlock(&c->table.lock);
}

void rpc_call_withdraw(struct rpc_call *call) NO_LOCK_ANALYSIS
{
	struct rpc_client *c = call_lock(call);

	if (call->state == RPC_CALL_IDLE ||
		(call->state == RPC_CALL_WAIT && !call->repeated && !call->again_ms)) {
		call->cancelled = true;
		client_wake_locked(c);
	}
	mutex_unlock(&c->table.lock);
}

int rpc_call_take_sink(struct rpc_call *call, struct xdr_in *res, unsigned i, uint32_t *n)
{
	struct rpc_counts *st = &call->client->stats;
	struct seg_list data;
	bool placed;

	*n = 0;
	if (i >= call->nsinks)
		return xdr_in_fail(res);
	if (!xdr_get_payload_list(res, call->sink[i].len, &data, &placed))
		return -EBADMSG;
	*n = data.len;
	if (placed && seg_list_same(&data, &call->sink[i])) {
		rpc_count(&st->bytes_placed, *n - (call->copied < *n ? call->copied : *n));
		rpc_count(&st->bytes_copied, call->copied < *n ? call->copied : *n);
	} else if (placed && !i && call->moves && data.n == 1 && data.one.hold) {
		call->moved = data;
		seg_list_ref(&data);
		rpc_count(&st->bytes_placed, *n);
	} else if (*n) {
		seg_list_copy(&call->sink[i], &data);
		rpc_count(&st->bytes_copied, *n);
	}
	return 0;
}

/* --- the end of calls, progress thread ---------------------------------------------------------
 */

static struct rpc_call *up_find(void *ctx, uint32_t xid, bool reverse)
{
	struct rpc_client *c = ctx;

	return reverse ? NULL : rpc_table_find(&c->table, xid);
}

/* The server has answered over c. A client that is no path yet, or no longer, may lead to another
 * server. */
static void client_answered(struct rpc_client *c)
{
	bool is_path = !c->p.paths || atomic_load_explicit(&c->is_path, memory_order_relaxed);

	if (!is_path || !atomic_load_explicit(client_silent(c), memory_order_relaxed) ||
		!atomic_exchange(client_silent(c), false))
		return;
	if (c->p.answers)
		c->p.answers(c->p.ctx, true);
	else
		log_always_info("server %s OK", c->peer_name);
}

static void up_reply(void *ctx, struct rpc_call *call, int error, struct xdr_in *msg)
{
	struct rpc_client *c = ctx;
	struct rpc_reply_hdr h;
	int rc = 0;

	c->replied = true;
	if (!error) {
		rc = rpc_auth_get_reply(call, msg, &h);
		if (rc < 0 && client_ask_again(c, call, &h))
			return;
	}
	log_data("%s: reply %08x", c->peer_name, call->xid);
	client_take_out(c, call);
	rpc_count(&c->stats.replies, 1);
	client_answered(c);
	if (error)
		rpc_call_end(call, error, NULL);
	else
		rpc_call_end_reply(call, rc, &h, msg);
}

static void up_request(void *ctx, struct rpc_req *req)
{
	struct rpc_client *c = ctx;

	if (!c->p.cb_service || req->prog != c->p.cb_prog) {
		rpc_req_reply(req, RPC_ACCEPT_PROG_UNAVAIL);
		return;
	}
	rpc_count(&c->stats.callbacks, 1);
	c->p.cb_service(c->p.cb_ctx, req);
}

static const struct rpc_xprt_up client_up = {
	.find = up_find,
	.reply = up_reply,
	.request = up_request,
};

static bool want_cancelled(struct rpc_client *c, struct rpc_call *call, uint64_t now)
{
	return call->cancelled;
}

static bool want_unsent(struct rpc_client *c, struct rpc_call *call, uint64_t now)
{
	return call->unsent != 0;
}

static bool want_any(struct rpc_client *c, struct rpc_call *call, uint64_t now)
{
	return true;
}

/* Takes the address of rpc_client_redirect(). An attempt to connect reads the address, so one that
 * runs ends first. */
static void client_follow(struct rpc_client *c)
{
	struct rpc_xprt *x = client_xprt(c);
	bool redirected;

	if (c->connector.running)
		return;
	mutex_lock(&c->table.lock);
	redirected = c->redirected;
	if (redirected) {
		c->p.peer = c->to.ss;
		c->p.peer_len = c->to.len;
		c->redirected = false;
		c->moved = true;
	}
	mutex_unlock(&c->table.lock);
	if (redirected && x)
		x->ops->shutdown(x);
	else if (redirected)
		c->connector.retry_at = 0;
}

/* Answers the wishes of other threads. Returns false when the client is to end. */
static bool client_attend(struct rpc_client *c)
{
	struct rpc_call *call;
	uint32_t at = 0;
	bool closing;

	if (!atomic_exchange_explicit(&c->attention, false, memory_order_acquire))
		return true;
	mutex_lock(&c->table.lock);
	closing = c->closing;
	mutex_unlock(&c->table.lock);
	if (closing)
		return false;
	client_follow(c);
	c->next_check = 0;
	while ((call = client_pick(c, &at, want_cancelled, 0)))
		client_fail(c, call, -ECANCELED);
	at = 0;
	while ((call = client_pick(c, &at, want_unsent, 0)))
		client_unsent(c, call);
	return true;
}

/* --- down and up again -------------------------------------------------------------------------
 */

static bool client_unwanted(struct rpc_client *c)
{
	return c->p.may_be_unwanted && rpc_client_shut_out(c) &&
	       atomic_load_explicit(&c->stats.reconnects, memory_order_relaxed) >= UNWANTED_AFTER;
}

/* up -> down: takes every call back. */
static void client_went_down(struct rpc_client *c)
{
	struct rpc_xprt *x = client_xprt(c);
	struct rpc_call *call;
	uint32_t at = 0;
	bool closing, left;

	atomic_store_explicit(&c->up, false, memory_order_relaxed);
	mutex_lock(&c->table.lock);
	c->xprt = NULL;
	snprintf(c->why, sizeof(c->why), "%s", x->down_reason);
	closing = c->closing;
	x->give_port = c->p.same_port && !closing;
	rpc_table_quiesce_locked(&c->table);
	while ((call = rpc_table_next_locked(&c->table, &at))) {
		if (call->state != RPC_CALL_SENT)
			continue;
		mutex_unlock(&c->table.lock);
		left = x->ops->forget(x, call);
		mutex_lock(&c->table.lock);
		call->state = RPC_CALL_WAIT;
		atomic_store_explicit(&call->posted, false, memory_order_relaxed);
		if (left && !call->unsent) /* unsent: the xprt has never had it */
			call->repeated = true;
	}
	mutex_unlock(&c->table.lock);
	log_ctrl("server %s: connection lost: %s", c->peer_name, x->down_reason);
	if (c->p.lost && !closing)
		c->p.lost(c->p.ctx);
	rpc_connector_lost(&c->connector, x, c->replied, clock_age(clock_coarse_ns(), c->up_since));
	rpc_xprt_unref(x);
	at = 0;
	if (client_unwanted(c))
		while ((call = client_pick(c, &at, want_any, 0)))
			client_fail(c, call, -ETIMEDOUT);
	if (!closing)
		client_hand_over(c);
}

static void client_tell_lease_locked(struct rpc_client *c) REQUIRES(c->table.lock)
{
	if (c->lease_s && c->xprt && c->xprt->ops->lease)
		c->xprt->ops->lease(c->xprt, c->lease_s);
}

/* down -> up: sends every waiting call, with its old XID. */
static void client_came_up(struct rpc_client *c, struct rpc_xprt *x)
{
	uint64_t now = clock_coarse_ns();
	bool again = c->up_since;
	struct rpc_call *call;
	uint32_t at = 0;

	if (c->p.reconnected)
		c->p.reconnected(c->p.ctx);
	while ((call = client_pick(c, &at, want_cancelled, 0)))
		client_fail(c, call, -ECANCELED);
	at = 0;
	c->replied = c->told_own_fault = false;
	c->silence = (struct silence){0};
	c->up_since = now;
	mutex_lock(&c->table.lock);
	rpc_table_quiesce_locked(&c->table);
	c->xprt = x;
	client_tell_lease_locked(c);
	mutex_unlock(&c->table.lock);
	rpc_count(&c->stats.reconnects, again);
	log_ctrl("server %s: connected%s", c->peer_name, again ? " again" : "");
	mutex_lock(&c->table.lock);
	while ((call = rpc_table_next_locked(&c->table, &at))) {
		if (call->state != RPC_CALL_WAIT || call->cancelled)
			continue;
		call->state = RPC_CALL_SENT;
		call->again_ns = 0;
		rpc_call_arm(call, now, c->p.timeo_ms);
		mutex_unlock(&c->table.lock);
		client_transmit(c, x, call);
		mutex_lock(&c->table.lock);
	}
	mutex_unlock(&c->table.lock);
	atomic_store_explicit(&c->up, true, memory_order_relaxed);
	client_hello(c);
	client_relieve(c);
}

/* One round while there is no connection. */
static void client_progress_down(struct rpc_client *c)
{
	struct pollfd pfd = {.fd = c->kick_fd, .events = POLLIN};
	int ms = rpc_connector_start(&c->connector, client_tick_ms(c));
	struct rpc_xprt *x;
	uint64_t n;

	client_hand_over(c);
	poll(&pfd, 1, ms);
	if ((pfd.revents & POLLIN) && read(c->kick_fd, &n, sizeof(n)) < 0)
		return; /* another reader was faster */
	if (!rpc_connector_collect(&c->connector, &x))
		return;
	if (x)
		client_came_up(c, x);
	client_follow(c);
	if (x)
		return;
	log_ctrl("server %s: %s", c->peer_name, c->connector.err.msg);
	mutex_lock(&c->table.lock);
	snprintf(c->why, sizeof(c->why), "%s", c->connector.err.msg);
	mutex_unlock(&c->table.lock);
	client_not_connected(c);
}

static void *client_main(void *arg)
{
	struct rpc_client *c = arg;
	struct rpc_call *call;
	struct rpc_xprt *x;
	uint32_t at = 0;

	pulse_join(&c->pulse, "progress");
	if (client_xprt(c))
		client_hello(c);
	while (client_attend(c)) {
		pulse_work(&c->pulse);
		x = client_xprt(c);
		if (!x)
			client_progress_down(c);
		else if (x->ops->progress(x, client_send_again(c, client_sleep_ms(c))) < 0)
			client_went_down(c);
		client_check_timers(c);
		client_check_silence(c);
	}
	pulse_leave(&c->pulse);
	rpc_connector_finish(&c->connector);
	x = client_xprt(c);
	if (x) {
		x->ops->shutdown(x);
		/* arrived replies are still delivered */
		for (int i = 0; i < 200 && x->ops->progress(x, 10) == 0; i++)
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
	rpc_connector_finish(&c->connector);
	if (c->kick_fd >= 0)
		close(c->kick_fd);
	rpc_table_fini(&c->table);
	free(c);
}

/* The address of the first connection is also the address of all further ones. */
static void take_choice(struct rpc_client *c)
{
	const struct dial_addr *a = dial_chosen(c->p.choice, c->p.nchoice);

	if (a) {
		c->p.peer = a->ss;
		c->p.peer_len = a->len;
	}
	c->p.choice = NULL;
	c->p.nchoice = 0;
}

/* Makes the first connection. 0, or -1 with *e set. */
static int connect_first(struct rpc_client *c, struct err *e)
{
	unsigned connect_ms = c->p.connect_ms;
	struct err why = {0};
	struct rpc_xprt at;

	mutex_alone(&c->table.lock);
	if (c->p.first_ms)
		c->p.connect_ms = c->p.first_ms;
	c->xprt = rpc_connector_connect(&c->connector, c->p.abort_fd, &why);
	c->p.connect_ms = connect_ms;
	take_choice(c);
	if (c->xprt) {
		atomic_store_explicit(&c->up, true, memory_order_relaxed);
		c->up_since = clock_coarse_ns();
		return 0;
	}
	/* providers know addresses only */
	rpc_xprt_set_peer(&at, (const struct sockaddr *)&c->p.peer);
	if (strstr(why.msg, c->peer_name))
		return err_set(e, why.kind, "%s", why.msg);
	return err_set(e, why.kind, "server %s (%s, proto=%s): %s", c->peer_name, at.peer,
		rpc_proto_name(c->p.proto), why.msg);
}

struct rpc_client *rpc_client_new(const struct rpc_client_params *p, struct err *e)
{
	struct rpc_client *c = calloc(1, sizeof(*c));
	struct rpc_xprt_up up = client_up;
	int rc;

	if (!c || rpc_table_init(&c->table) < 0) {
		free(c);
		err_set(e, ERR_INTERNAL, "out of memory for a connection");
		return NULL;
	}
	mutex_alone(&c->table.lock); /* until this function starts the progress thread */
	c->p = *p;
	strncpy(c->peer_name, p->peer_name ? p->peer_name : "?", sizeof(c->peer_name) - 1);
	c->p.peer_name = c->peer_name;
	c->most_calls = p->credits ? p->credits : CREDITS_DEFAULT;
	if (!c->p.connect_ms)
		c->p.connect_ms = 10000;
	c->min_timeout_ms = p->timeo_ms ? p->timeo_ms : RPC_IDLE_TICK_MAX_MS;
	c->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	up.ctx = c;
	rc = rpc_connector_init(&c->connector, &c->p, &up, &c->stats, c->kick_fd);
	if (c->kick_fd < 0 || rc < 0) {
		err_set(e, ERR_INTERNAL, "cannot make an eventfd: %s", strerror(errno));
		client_release(c);
		return NULL;
	}
	if (!p->later && connect_first(c, e)) {
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
	if (p->paths && !p->later)
		rpc_paths_join(p->paths, c);
	return c;
}

void rpc_client_stop(struct rpc_client *c)
{
	if (c->stopped)
		return;
	c->stopped = true;
	rpc_connector_abort(&c->connector);
	mutex_lock(&c->table.lock);
	c->closing = true;
	client_wake_locked(c);
	mutex_unlock(&c->table.lock);
	pthread_join(c->thread, NULL);
}

struct rpc_client *rpc_client_free(struct rpc_client *c)
{
	if (!c)
		return NULL;
	if (c->p.paths)
		rpc_paths_leave(c->p.paths, c);
	rpc_client_stop(c);
	client_release(c);
	return NULL;
}

void rpc_client_redirect(struct rpc_client *c, const struct dial_addr *to)
{
	mutex_lock(&c->table.lock);
	c->to = *to;
	c->redirected = true;
	client_wake_locked(c);
	mutex_unlock(&c->table.lock);
}

void rpc_client_lease(struct rpc_client *c, unsigned s)
{
	mutex_lock(&c->table.lock);
	if (c->lease_s != s) {
		c->lease_s = s;
		client_tell_lease_locked(c);
	}
	mutex_unlock(&c->table.lock);
}

/* Writes the name and the address of the server. A name is left out that is the address, or that of
 * the server before c was redirected. */
static void put_server(struct rpc_client *c, char *buf, size_t size) REQUIRES(c->table.lock)
{
	size_t n = strlen(c->peer_name);
	char address[RPC_ADDRESS_MAX];

	rpc_xprt_address((const struct sockaddr *)&c->p.peer, address);
	if (c->moved || !n || !strncmp(address + (address[0] == '['), c->peer_name, n))
		snprintf(buf, size, "%s", address);
	else
		snprintf(buf, size, "%s %s", c->peer_name, address);
}

void rpc_client_info(struct rpc_client *c, struct rpc_client_info *out)
{
	*out = (struct rpc_client_info){
		.proto = c->p.proto, .provider = rpc_proto_name(c->p.proto)};
	mutex_lock(&c->table.lock);
	out->under_way = rpc_table_count(&c->table);
	put_server(c, out->server, sizeof(out->server));
	if (c->xprt) {
		out->connected = true;
		out->provider = c->xprt->provider;
		out->rdma_dialect = c->xprt->rdma_dialect;
		out->inline_send = c->xprt->inline_send;
		out->inline_recv = c->xprt->inline_recv;
		out->credits = c->xprt->credits;
	} else {
		snprintf(out->why, sizeof(out->why), "%s", c->why);
	}
	mutex_unlock(&c->table.lock);
}

bool rpc_client_shut_out(struct rpc_client *c)
{
	return !atomic_load_explicit(&c->stats.replies, memory_order_relaxed) &&
	       !atomic_load_explicit(&c->stats.timeouts, memory_order_relaxed) &&
	       atomic_load_explicit(&c->stats.reconnects, memory_order_relaxed) > 1;
}

static uint64_t counted(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

void rpc_client_stats(struct rpc_client *c, struct rpc_client_stats *out)
{
	const struct rpc_counts *n = &c->stats;

	*out = (struct rpc_client_stats){
		.calls = counted(&n->calls),
		.replies = counted(&n->replies),
		.timeouts = counted(&n->timeouts),
		.reconnects = counted(&n->reconnects),
		.callbacks = counted(&n->callbacks),
		.bytes_placed = counted(&n->bytes_placed),
		.bytes_copied = counted(&n->bytes_copied),
		.bytes_exposed = counted(&n->bytes_exposed),
		.bytes_pulled_up = counted(&n->bytes_pulled_up),
		.calls_padded = counted(&n->calls_padded),
		.replies_read = counted(&n->replies_read),
	};
}

void rpc_client_stats_add(struct rpc_client_stats *a, const struct rpc_client_stats *b)
{
	a->calls += b->calls;
	a->replies += b->replies;
	a->timeouts += b->timeouts;
	a->reconnects += b->reconnects;
	a->callbacks += b->callbacks;
	a->bytes_placed += b->bytes_placed;
	a->bytes_copied += b->bytes_copied;
	a->bytes_exposed += b->bytes_exposed;
	a->bytes_pulled_up += b->bytes_pulled_up;
	a->calls_padded += b->calls_padded;
	a->replies_read += b->replies_read;
}
