/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_call: what a call needs whichever side makes it (a client's calls, a server's callbacks).
 *
 * Threads. Each function is called by who owns the call at that time: its submitter before it is in
 * a table, the progress thread afterwards. No lock is held.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_CALL_H
#define RNFS_TRANSPORT_RPC_RPC_CALL_H

#include "transport/rpc/rpc_auth.h"

/* Zeroes call and gives it a message buffer with room for args_max bytes of arguments. 0, -ENOMEM,
 * or -EMSGSIZE: no buffer of the pool is that large. */
int rpc_call_setup(struct rpc_call *call, struct mem_pool *pool, size_t args_max);

/* References the blocks its sinks lie in; rpc_call_end() drops them. */
void rpc_call_hold(struct rpc_call *call);
/* Drops them where a call is not started after all. */
void rpc_call_unhold(struct rpc_call *call);

/* Calls done with error (rpc_done_fn); call may be gone afterwards. res: NULL, or a cursor at the
 * results. It is in no table and no connection has it. */
void rpc_call_end(struct rpc_call *call, int error, struct xdr_in *res);

/* Ends the call by its reply, whose header rpc_auth_get_reply() has read with that outcome; msg
 * stands at the results. */
void rpc_call_end_reply(
	struct rpc_call *call, int rc, const struct rpc_reply_hdr *h, struct xdr_in *msg);

/* Sets the deadline: now (ns, of clock_coarse_ns()) + the call's time-out, or default_ms; 0 means
 * none. Returns the ms. */
unsigned rpc_call_arm(struct rpc_call *call, uint64_t now, unsigned default_ms);

#endif
