/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_client: the requester's end, shared by its own files. Users include rpc.h.
 *
 * The owner of a call is its submitter until the call is in the table, then the progress thread.
 * The progress thread alone removes calls and calls done. c->table.lock guards c->xprt, closing and
 * the fields of struct rpc_table; the rest of the client belongs to the progress thread. No
 * callback under the lock.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_CLIENT_H
#define RNFS_TRANSPORT_RPC_RPC_CLIENT_H

#include <pthread.h>

#include "transport/pulse.h"
#include "transport/rpc/rpc_call.h"
#include "transport/rpc/rpc_connector.h"
#include "transport/rpc/rpc_table.h"

#define RPC_IDLE_TICK_MAX_MS 10000 /* the thread of a client without calls sleeps no longer */

struct rpc_client {
	struct rpc_client_params p;
	char peer_name[256];
	struct rpc_table table;
	struct rpc_xprt *xprt;	 /* table.lock; written by the progress thread only */
	bool closing;		 /* table.lock */
	unsigned lease_s;	 /* table.lock: rpc_client_lease(); 0: not told */
	unsigned min_timeout_ms; /* table.lock: the shortest of any call so far */
	_Atomic bool attention;	 /* a call was cancelled, or closing, or a shorter time-out */
	int kick_fd;		 /* wakes the thread while down */
	pthread_t thread;
	struct pulse pulse; /* of the progress thread */
	struct rpc_counts stats;

	/* the progress thread's */
	struct rpc_connector connector;
	uint64_t next_check;
	bool replied; /* on this connection */
	uint64_t up_since;
	uint64_t again_at; /* when the first of the calls to be asked again is due; 0: none is */
	bool silent; /* answers() or the log was told that the server is silent, and not yet the
		      * contrary */
};

/* Marshals call and gives it to x. After a failure (call->unsent) the progress thread takes over.
 * Called by the call's sender or the progress thread; no lock is held. */
void client_transmit(struct rpc_client *c, struct rpc_xprt *x, struct rpc_call *call);

/* --- rpc_client.c, for the progress thread ---------------------------------------------------- */

/* The next call from slot *at on that want() picks, still in the table; NULL when none is left. */
struct rpc_call *client_pick(struct rpc_client *c, uint32_t *at,
	bool (*want)(struct rpc_client *c, struct rpc_call *call, uint64_t now), uint64_t now);
/* Ends a call without a reply. Its sender must be through (quiesce). */
void client_fail(struct rpc_client *c, struct rpc_call *call, int error);

/* --- rpc_client_timer.c, likewise ------------------------------------------------------------- */

/* Tells once, until there is an answer, that the server is silent. */
void client_not_responding(struct rpc_client *c);
/* How long the thread may sleep, in ms, without missing a deadline by much. */
int client_tick_ms(struct rpc_client *c);
/* Looks at all deadlines, now and then. */
void client_check_timers(struct rpc_client *c);
/* The reply with header h refuses the call. A server says SYSTEM_ERR when short of memory, among
 * other things. A hard client then asks again with the same XID, as nothing was carried out. After
 * a rejected credential the client asks again with a refreshed one. True: call stays in the
 * table. */
bool client_ask_again(struct rpc_client *c, struct rpc_call *call, const struct rpc_reply_hdr *h);
/* Ends a call that was not sent, or has it marshalled again later. call->unsent holds the
 * reason. */
void client_unsent(struct rpc_client *c, struct rpc_call *call);
/* Sends the calls to be asked again whose pause is over. Only while there is a connection. Returns
 * ms until the next is due, or max. */
int client_send_again(struct rpc_client *c, int max);

#endif
