/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_client_calls: the steps with a call that a client and the timer of the client share.
 */
#include "transport/rpc/rpc_client_calls.h"

#include <errno.h>
#include <unistd.h>

#include "transport/clock.h"
#include "transport/log.h"

void client_wake_locked(struct rpc_client *c) REQUIRES(c->table.lock)
{
	uint64_t one = 1;

	atomic_store_explicit(&c->attention, true, memory_order_release);
	if (c->xprt)
		rpc_xprt_kick(c->xprt);
	else if (write(c->kick_fd, &one, sizeof(one)) < 0)
		return; /* full: it is readable */
}

void client_transmit(struct rpc_client *c, struct rpc_xprt *x, struct rpc_call *call)
{
	int rc = rpc_auth_marshal(call, c->p.prog, c->p.vers);

	call->unsent = rc;
	/* A call that was not taken is still in the table. The connection is gone, and the progress
	 * thread is about to find out and take the call back. call must not be touched after
	 * this. */
	if (rc == 0) {
		x->ops->send_call(x, call, call->off);
		return;
	}
	atomic_store_explicit(&c->attention, true, memory_order_release);
	rpc_xprt_kick(x);
}

int client_enter(struct rpc_client *c, struct rpc_call *call)
{
	struct rpc_xprt *x;
	uint32_t xid;
	unsigned ms;
	int rc;

	mutex_lock(&c->table.lock);
	rc = c->closing ? -ENOTCONN : rpc_table_add_locked(&c->table, call);
	if (rc < 0) {
		mutex_unlock(&c->table.lock);
		return rc;
	}
	x = call->cancelled ? NULL : c->xprt;
	call->state = x ? RPC_CALL_SENT : RPC_CALL_WAIT;
	atomic_store_explicit(&call->posted, false, memory_order_relaxed);
	ms = rpc_call_arm(call, clock_coarse_ns(), c->p.timeo_ms);
	if (ms && ms < c->min_timeout_ms) {
		c->min_timeout_ms = ms;
		client_wake_locked(c);
	}
	/* cancelled before it came, or for another path */
	if (call->cancelled || (!x && c->p.paths) || c->rests)
		client_wake_locked(c);
	c->rests = false;
	atomic_fetch_add_explicit(&c->table.senders, 1, memory_order_relaxed);
	xid = call->xid;
	mutex_unlock(&c->table.lock);
	log_data("%s: call %08x%s", c->peer_name, xid, x ? "" : " waits for a connection");
	if (x)
		client_transmit(c, x, call);
	atomic_fetch_sub_explicit(&c->table.senders, 1, memory_order_release);
	return 0;
}

struct rpc_call *client_pick(struct rpc_client *c, uint32_t *at,
	bool (*want)(struct rpc_client *c, struct rpc_call *call, uint64_t now), uint64_t now)
{
	struct rpc_call *call;

	mutex_lock(&c->table.lock);
	rpc_table_quiesce_locked(&c->table);
	do
		call = rpc_table_next_locked(&c->table, at);
	while (call && !want(c, call, now));
	mutex_unlock(&c->table.lock);
	return call;
}

void client_take_out(struct rpc_client *c, struct rpc_call *call)
{
	mutex_lock(&c->table.lock);
	rpc_table_remove_locked(&c->table, call);
	mutex_unlock(&c->table.lock);
}

void client_fail(struct rpc_client *c, struct rpc_call *call, int error)
{
	struct rpc_xprt *x = client_xprt(c);

	if (x)
		x->ops->forget(x, call);
	client_take_out(c, call);
	rpc_call_end(call, error, NULL);
}
