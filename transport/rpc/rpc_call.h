/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_call: the common part of calls by either side (a client's calls, a server's callbacks).
 *
 * Threads. The owner of a call at the time calls each function: the submitter before the call is in
 * a table, the progress thread afterwards. No lock is held.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_CALL_H
#define RNFS_TRANSPORT_RPC_RPC_CALL_H

#include "transport/rpc/rpc_auth.h"

/* Zeroes call and gives it a message buffer with room for args_max bytes of arguments. 0, -ENOMEM,
 * or -EMSGSIZE: no buffer of the pool is that large. */
int rpc_call_setup(struct rpc_call *call, struct mem_pool *pool, size_t args_max);

/* References the blocks of the call's sinks; rpc_call_end() drops the references. */
void rpc_call_hold(struct rpc_call *call);
/* Drops the references of a call that is not started after all. */
void rpc_call_unhold(struct rpc_call *call);

/* Calls done with error (rpc_done_fn); call may be gone afterwards. res: NULL, or a cursor at the
 * results. The call is in no table and no connection has it. */
void rpc_call_end(struct rpc_call *call, int error, struct xdr_in *res);

/* Ends the call by its reply. rc and h are from rpc_auth_get_reply(); msg stands at the results. */
void rpc_call_end_reply(
	struct rpc_call *call, int rc, const struct rpc_reply_hdr *h, struct xdr_in *msg);

/* Sets the deadline: now (ns, of clock_coarse_ns()) + the call's time-out, or default_ms; 0 means
 * none. Returns the ms. */
unsigned rpc_call_arm(struct rpc_call *call, uint64_t now, unsigned default_ms);

#endif
