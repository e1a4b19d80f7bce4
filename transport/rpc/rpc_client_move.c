/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_client_move: calls leave a path that is down. Model: rpc_paths.h.
 */
#include "transport/rpc/rpc_client_move.h"

#include "transport/log.h"
#include "transport/rpc/rpc_client_calls.h"

static bool want_moved(struct rpc_client *c, struct rpc_call *call, uint64_t now)
{
	return call->state == RPC_CALL_WAIT && !call->stays && !(call->once && call->repeated) &&
	       !call->cancelled;
}

/* Moves call, which waits in c's table, to the table of `to`. 0, or -errno: call is in no table. */
static int move(struct rpc_client *c, struct rpc_call *call, struct rpc_client *to)
{
	mutex_lock(&c->table.lock);
	if (call->cancelled) {
		mutex_unlock(&c->table.lock);
		return 0;
	}
	rpc_table_remove_locked(&c->table, call);
	call->state = RPC_CALL_WAIT; /* not IDLE: the server may have got the call */
	call->again_ns = 0;	     /* a pause ends with the connection */
	call->client = to;
	mutex_unlock(&c->table.lock);
	return client_enter(to, call);
}

void client_hand_over(struct rpc_client *c)
{
	struct rpc_paths *p = c->p.paths;
	struct rpc_client *to;
	struct rpc_call *call;
	unsigned moved = 0;
	uint32_t at = 0;

	if (!p || !rpc_table_count(&c->table))
		return;
	mutex_lock(&p->lock);
	while ((to = rpc_paths_relief_locked(p, c)) &&
		(call = client_pick(c, &at, want_moved, 0))) {
		int rc = move(c, call, to);

		moved++;
		if (rc == 0)
			continue;
		mutex_unlock(&p->lock);
		rpc_call_end(call, rc, NULL);
		mutex_lock(&p->lock);
	}
	mutex_unlock(&p->lock);
	if (moved)
		log_ctrl("server %s: %u calls go over another connection", c->peer_name, moved);
}

void client_relieve(struct rpc_client *c)
{
	struct rpc_paths *p = c->p.paths;
	struct rpc_client *other;

	if (!p)
		return;
	mutex_lock(&p->lock);
	for (unsigned i = 0; (other = rpc_paths_member_locked(p, i)); i++) {
		if (rpc_client_is_up(other))
			continue;
		mutex_lock(&other->table.lock);
		client_wake_locked(other);
		mutex_unlock(&other->table.lock);
	}
	mutex_unlock(&p->lock);
}
