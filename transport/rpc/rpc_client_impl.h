/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_client_impl: the inside of a client, shared by rpc_client*.c. Users include rpc.h.
 *
 * The owner of a call is its submitter until the call is in the table, then the progress thread.
 * The progress thread alone removes calls and calls done. Members without a lock belong to the
 * progress thread. No callback under the lock.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_CLIENT_IMPL_H
#define RNFS_TRANSPORT_RPC_RPC_CLIENT_IMPL_H

#include <pthread.h>

#include "transport/pulse.h"
#include "transport/rpc/rpc_call.h"
#include "transport/rpc/rpc_connector.h"
#include "transport/rpc/rpc_table.h"
#include "transport/silence.h"

#define RPC_IDLE_TICK_MAX_MS 10000 /* the thread of a client without calls sleeps no longer */

struct rpc_client {
	struct rpc_client_params p;
	char peer_name[256];
	struct rpc_table table;
	struct rpc_xprt *xprt GUARDED_BY(table.lock);
	bool closing GUARDED_BY(table.lock);
	bool redirected GUARDED_BY(table.lock); /* connections go to `to` from now on */
	struct dial_addr to GUARDED_BY(table.lock);
	bool moved GUARDED_BY(table.lock); /* p.peer is no address of peer_name any more */
	char why[RPC_WHY_MAX] GUARDED_BY(table.lock);	/* the last connection, or attempt, ended */
	unsigned lease_s GUARDED_BY(table.lock);	/* rpc_client_lease(); 0: not told */
	unsigned min_timeout_ms GUARDED_BY(table.lock); /* the shortest of any call so far */
	atomic_bool up;	       /* there is a connection; the progress thread's to change */
	atomic_bool held_back; /* rpc_client_hold_back() */
	atomic_bool is_path;   /* a member of p.paths */
	uint32_t most_calls;   /* under way, before a caller with a choice tries another path */
	bool rests GUARDED_BY(table.lock); /* the thread sleeps long: the next call wakes it */
	_Atomic bool attention; /* a call was cancelled, or closing, or a shorter time-out */
	int kick_fd;		/* wakes the thread while down */
	bool stopped;		/* the owner's: rpc_client_stop() */
	pthread_t thread;
	struct pulse pulse; /* of the progress thread */
	struct rpc_counts stats;

	/* the progress thread's */
	struct rpc_connector connector;
	uint64_t next_check;
	bool replied;	     /* on this connection */
	bool told_own_fault; /* client_not_connected() */
	uint64_t up_since;
	uint64_t again_at; /* when the first of the calls to be asked again is due; 0: none is */
	struct rpc_call hello; /* while `greeting` */
	bool greeting;
	uint64_t idle_since; /* of a client with paths: when the calls ended; 0: there are calls */
	struct silence silence; /* of a client with paths */
	atomic_bool silent;	/* of a client that is alone: client_silent() */
};

/* The progress thread alone changes `xprt`, and so reads `xprt` without the lock. */
static inline struct rpc_xprt *client_xprt(const struct rpc_client *c) NO_LOCK_ANALYSIS
{
	return c->xprt;
}

#endif
