/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * srv_conn: a connection of a server, and its thread.
 *
 * A connection has first_ms to make its first call. Memory is short: the memory that one connection
 * can keep is bounded by the free rest (mem_pool_share()). While memory is short, a still
 * connection is closed: one without any moved byte for SRV_STILL_MS, although the peer has answers
 * to read or a message to finish.
 */
#include "transport/rpc/srv_conn.h"

#include <stdlib.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpc/rpc_cb.h"
#include "transport/rpc/srv_places.h"

#define IDLE_TICK_MS  10000
#define KEEPS_TICK_MS 250

/* --- upcalls -----------------------------------------------------------------------------------
 */

static struct rpc_call *up_find(void *ctx, uint32_t xid, bool reverse)
{
	return srv_conn_find_call(ctx, xid, reverse);
}

static void up_reply(void *ctx, struct rpc_call *call, int error, struct xdr_in *msg)
{
	srv_conn_end_call(ctx, call, error, msg);
}

static void up_request(void *ctx, struct rpc_req *req)
{
	struct srv_conn *c = ctx;

	c->p->service(c->p->ctx, req);
}

/* --- the thread --------------------------------------------------------------------------------
 */

static int conn_establish(struct srv_conn *c)
{
	struct rpc_xprt_up up = {
		.find = up_find, .reply = up_reply, .request = up_request, .ctx = c};
	struct err e = {0};
	int rc = c->x->ops->establish(c->x, &up, &e);

	if (rc < 0)
		log_ctrl("connection from %s not established: %s", c->x->peer, e.msg);
	return rc;
}

/* How long the thread may sleep, at most max ms, before it must check for a first call. */
static int watch_first(struct srv_conn *c, int max)
{
	uint64_t left = c->p->first_ms * NSEC_PER_MSEC, age;

	if (atomic_load_explicit(&c->x->active_ns, memory_order_relaxed))
		return max;
	age = clock_age(clock_ns(), c->since_ns);
	if (age >= left) {
		log_ctrl("connection from %s: no call for %u ms", c->x->peer, c->p->first_ms);
		c->x->ops->shutdown(c->x);
		return 0;
	}
	left = (left - age) / NSEC_PER_MSEC + 1;
	return left < (unsigned)max ? (int)left : max;
}

/* While memory is kept for the peer: how long the thread may sleep before it must check for
 * progress. */
static int watch_still(struct srv_conn *c, int max)
{
	uint64_t moved, now;

	if (!c->x->ops->keeps || !c->x->ops->keeps(c->x, &moved)) {
		c->still_ns = 0;
		return max;
	}
	now = clock_ns();
	if (!c->still_ns || moved != c->moved) {
		c->moved = moved;
		c->still_ns = now;
	} else if (clock_age(now, c->still_ns) >= SRV_STILL_MS * NSEC_PER_MSEC &&
		   mem_pool_is_short(c->pool)) {
		log_ctrl("connection from %s stands still for %d ms, and memory is short",
			c->x->peer, SRV_STILL_MS);
		c->x->ops->shutdown(c->x);
		return 0;
	}
	return max < KEEPS_TICK_MS ? max : KEEPS_TICK_MS;
}

static void conn_serve(struct srv_conn *c)
{
	const struct rpc_server_params *p = c->p;
	int tick;

	log_ctrl("connection from %s", c->x->peer);
	if (p->conn_up)
		p->conn_up(p->ctx, c->x);
	do {
		tick = srv_conn_watch_calls(c, IDLE_TICK_MS);
		tick = watch_first(c, tick);
		tick = watch_still(c, tick);
	} while (c->x->ops->progress(c->x, tick) == 0);
	log_ctrl("connection from %s ended: %s", c->x->peer, c->x->down_reason);
	srv_conn_end_calls(c);
	if (p->conn_down)
		p->conn_down(p->ctx, c->x);
}

static void *conn_main(void *arg)
{
	struct srv_conn *c = arg;
	struct srv_places *places = c->places;
	bool evicted;

	if (conn_establish(c) == 0)
		conn_serve(c);
	evicted = srv_places_leave(places, c);
	rpc_xprt_unref(c->x); /* c may be gone */
	srv_places_free(places, evicted);
	return NULL;
}

int srv_conn_start(struct srv_conn *c)
{
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attr, conn_main, c);
	pthread_attr_destroy(&attr);
	return -rc;
}

/* --- life --------------------------------------------------------------------------------------
 */

static void conn_free(void *owner)
{
	struct srv_conn *c = owner;

	rpc_table_fini(&c->table);
	free(c);
}

struct srv_conn *srv_conn_new(
	struct rpc_xprt *x, const struct rpc_server_params *p, struct srv_places *places)
{
	struct srv_conn *c = calloc(1, sizeof(*c));

	if (!c || rpc_table_init(&c->table) < 0) {
		free(c);
		return NULL;
	}
	c->p = p;
	c->places = places;
	c->since_ns = clock_ns();
	c->pool = p->pool;
	c->x = x;
	c->key = share_key(rpc_xprt_addr(x), rpc_xprt_user(x));
	x->owner = c;
	x->owner_free = conn_free;
	x->stats = &c->stats;
	x->auth = p->auth;
	return c;
}
