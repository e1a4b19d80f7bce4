/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_client_calls: the steps with a call that a client (rpc_client.c) and the timer of the client
 * (rpc_client_timer.c) share.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_CLIENT_CALLS_H
#define RNFS_TRANSPORT_RPC_RPC_CLIENT_CALLS_H

#include "transport/rpc/rpc_client_impl.h"
#include "transport/rpc/rpc_paths.h"

/* answers() or the log was told that the server is silent, and not yet the contrary. */
static inline atomic_bool *client_silent(struct rpc_client *c)
{
	return c->p.paths ? &c->p.paths->silent : &c->silent;
}

/* Wakes the progress thread, which then looks at the wishes of other threads. */
void client_wake_locked(struct rpc_client *c) REQUIRES(c->table.lock);
/* Puts call into c's table, and sends it if there is a connection. 0, -ENOTCONN (closing) or
 * -ENOMEM. A call that was sent may have ended by the time of the return. */
int client_enter(struct rpc_client *c, struct rpc_call *call);
/* Marshals call and gives it to x. After a failure (call->unsent) the progress thread takes over.
 * Called by the call's sender or the progress thread; no lock is held. */
void client_transmit(struct rpc_client *c, struct rpc_xprt *x, struct rpc_call *call);

/* --- for the progress thread ------------------------------------------------------------------ */

/* The next call from slot *at on that want() picks, still in the table; NULL when none is left. */
struct rpc_call *client_pick(struct rpc_client *c, uint32_t *at,
	bool (*want)(struct rpc_client *c, struct rpc_call *call, uint64_t now), uint64_t now);
/* Takes a call out of the table. */
void client_take_out(struct rpc_client *c, struct rpc_call *call);
/* Ends a call without a reply. Its sender must be through (quiesce). */
void client_fail(struct rpc_client *c, struct rpc_call *call, int error);

#endif
