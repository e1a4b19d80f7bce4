/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_paths: several connections (clients, rpc.h) to one server that are used as one.
 *
 * Each path is a client with its own connection, credits, table of calls and progress thread. The
 * user of a call asks for a path (rpc_paths_pick()) before each call. Small calls go over the first
 * path that has few calls: one progress thread that gets several answers at once costs less than
 * several that get one each. A large call goes over the path with the fewest calls.
 *
 * A path that has lost its connection hands its calls to another path at once, unless a call is
 * for this path alone (rpc_call.stays), or for the path that has sent the call (rpc_call.once). If
 * no path is up, the calls wait, and leave over the first connection that is back. A call is handed
 * over only after its connection has ended: a request is never under way on two live connections
 * (RFC 8881 section 2.9.2). The receiving path gives the call an XID of its own table.
 *
 * A path falls silent when the peer's kernel owes an acknowledgement for RPC_SILENT_MS. Such a path
 * is shut down while another is up. Without another path the path waits as a single one does.
 *
 * Threads. Owner: the thread that adds the clients. rpc_paths_pick(): any thread, without a lock,
 * so a member that leaves must not be freed while calls are made: the owner stops all members first
 * (rpc_client_stop()). The members' own threads ask with `lock`, which keeps the members from
 * leaving, and is taken before a table's lock.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_PATHS_H
#define RNFS_TRANSPORT_RPC_RPC_PATHS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "transport/lock.h"

#define RPC_PATHS_MAX 16  /* as many as nconnect of the kernel's client */
#define RPC_SILENT_MS 800 /* a TCP segment is lost and sent again within this time */

struct rpc_client;

struct rpc_paths {
	struct mutex lock;
	/* Changed under lock. A member is constant from its arrival until it leaves, at the end. */
	struct rpc_client *_Atomic path[RPC_PATHS_MAX];
	atomic_uint n;
	atomic_uint next;   /* the path that a large call tries first */
	uint32_t enough;    /* constant: a path with fewer calls is good for a small one */
	atomic_bool silent; /* the users were told that the server is silent; a member's answer ends
			     * that */
};

void rpc_paths_init(struct rpc_paths *p);
/* No member is left. */
void rpc_paths_finish(struct rpc_paths *p);
/* c, which was made with p in its parameters, joins or leaves. The transport calls these functions;
 * the user has a client join that was made to connect later. leave: without effect for a client
 * that has not joined. */
void rpc_paths_join(struct rpc_paths *p, struct rpc_client *c);
void rpc_paths_leave(struct rpc_paths *p, struct rpc_client *c);

/* The path for the next call; large: the call carries much data. Prefers paths that are up and that
 * are not held back. There is at least one member. */
struct rpc_client *rpc_paths_pick(struct rpc_paths *p, bool large);
/* Holds c back: its user has work to do on the connection before other calls may use c (NFSv4:
 * BIND_CONN_TO_SESSION). Any thread. */
void rpc_client_hold_back(struct rpc_client *c, bool held_back);
/* Is c connected? Any thread. */
bool rpc_client_is_up(const struct rpc_client *c);
/* Is c connected, and not held back? Any thread. */
bool rpc_client_is_ready(const struct rpc_client *c);
/* Is a path other than c up? Any thread. */
bool rpc_paths_other_up(struct rpc_paths *p, const struct rpc_client *c);
/* The path for calls that c hands over, or NULL. */
struct rpc_client *rpc_paths_relief_locked(struct rpc_paths *p, const struct rpc_client *c)
	REQUIRES(p->lock);
/* Member number i, or NULL: there are fewer. */
struct rpc_client *rpc_paths_member_locked(const struct rpc_paths *p, unsigned i) REQUIRES(p->lock);

#endif
