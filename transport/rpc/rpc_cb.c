/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_cb: a server's calls to its client, on a connection that the client has made (RFC 8167; on
 * TCP the other direction of the stream).
 *
 * The owner of a call is its submitter until the call is in the table, then the connection's
 * thread. The connection's thread alone takes calls out and calls done.
 */
#include "transport/rpc/rpc_cb.h"

#include <errno.h>

#include "transport/clock.h"
#include "transport/rpc/rpc_call.h"

#define TIMEOUT_MS 10000 /* of calls without one of their own */
#define TICK_MS	   100	 /* how often deadlines are looked at */

int rpc_cb_init(
	struct rpc_call *call, struct rpc_xprt *x, uint32_t prog, uint32_t vers, size_t args_max)
{
	struct srv_conn *c = x->owner;
	int rc = rpc_call_setup(call, c->pool, args_max);

	call->cb_xprt = x;
	call->cb_prog = prog;
	call->cb_vers = vers;
	return rc;
}

int rpc_cb_submit(struct rpc_call *call)
{
	struct rpc_xprt *x = call->cb_xprt;
	struct srv_conn *c = x->owner;
	int rc = -ENOTCONN;
	bool first;

	if (!xdr_out_ok(&call->args))
		return -EMSGSIZE;
	mutex_lock(&c->table.lock);
	if (!c->down)
		rc = rpc_table_add_locked(&c->table, call);
	if (rc < 0) {
		mutex_unlock(&c->table.lock);
		return rc;
	}
	call->state = RPC_CALL_SENT;
	call->cancelled = false;
	atomic_store_explicit(&call->posted, false, memory_order_relaxed);
	call->unsent = 0;
	rpc_call_arm(call, clock_coarse_ns(), TIMEOUT_MS);
	first = rpc_table_count(&c->table) == 1;
	atomic_fetch_add_explicit(&c->table.senders, 1, memory_order_relaxed);
	mutex_unlock(&c->table.lock);
	rpc_xprt_ref(x); /* call may end, and with it the submitter's reference */
	rc = rpc_auth_marshal(call, call->cb_prog, call->cb_vers);
	call->unsent = rc;
	if (rc == 0)
		x->ops->send_call(x, call, call->off);
	atomic_fetch_sub_explicit(&c->table.senders, 1, memory_order_release);
	if (first || rc < 0)
		rpc_xprt_kick(x); /* the connection's thread sleeps without looking at deadlines */
	rpc_xprt_unref(x);
	return 0;
}

/* Ends the overdue calls and those that could not be marshalled, or all calls with error. */
static void end_calls(struct srv_conn *c, bool all, int error)
{
	uint64_t now = clock_coarse_ns();
	struct rpc_call *call;
	uint32_t at = 0;
	int rc;

	mutex_lock(&c->table.lock);
	rpc_table_quiesce_locked(&c->table);
	while ((call = rpc_table_next_locked(&c->table, &at))) {
		if (!all && !call->unsent && call->deadline_ns > now)
			continue;
		rc = call->unsent ? -EIO : error;
		mutex_unlock(&c->table.lock);
		c->x->ops->forget(c->x, call);
		mutex_lock(&c->table.lock);
		rpc_table_remove_locked(&c->table, call);
		mutex_unlock(&c->table.lock);
		rpc_call_end(call, rc, NULL);
		mutex_lock(&c->table.lock);
		rpc_table_quiesce_locked(&c->table);
	}
	mutex_unlock(&c->table.lock);
}

int srv_conn_watch_calls(struct srv_conn *c, int max)
{
	unsigned ncalls;

	mutex_lock(&c->table.lock);
	ncalls = rpc_table_count(&c->table);
	mutex_unlock(&c->table.lock);
	if (!ncalls)
		return max;
	end_calls(c, false, -ETIMEDOUT);
	return TICK_MS < max ? TICK_MS : max;
}

void srv_conn_end_calls(struct srv_conn *c)
{
	mutex_lock(&c->table.lock);
	c->down = true;
	mutex_unlock(&c->table.lock);
	end_calls(c, true, -ENOTCONN);
}

struct rpc_call *srv_conn_find_call(struct srv_conn *c, uint32_t xid, bool reverse)
{
	return reverse ? rpc_table_find(&c->table, xid) : NULL;
}

void srv_conn_end_call(struct srv_conn *c, struct rpc_call *call, int error, struct xdr_in *msg)
{
	struct rpc_reply_hdr h;
	int rc;

	mutex_lock(&c->table.lock);
	rpc_table_remove_locked(&c->table, call);
	mutex_unlock(&c->table.lock);
	if (error) {
		rpc_call_end(call, error, NULL);
		return;
	}
	rc = rpc_auth_get_reply(call, msg, &h);
	rpc_call_end_reply(call, rc, &h, msg);
}
