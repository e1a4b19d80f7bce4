/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * grace: decides which clients may reclaim opens and locks after a restart of the server, and keeps
 * the record of clients for that (RFC 8881 sections 8.4.2 and 8.4.3).
 *
 * The record is a file that names the clients with state: the owner string and the principal of
 * each. Hosts that lock by NLM have neither, and are listed with flavor GRACE_NLM. The server adds
 * a client to the record before the client's first open. Before the server grants state of a client
 * to another client, the server removes a client without state from the record. So a client in the
 * record after a restart held state until the restart, and no other client can have been granted
 * any of the state.
 *
 * A run that finds clients in its record begins with a grace period. The clients in the record may
 * reclaim, and no client may open or lock anew. The period ends when all clients in the record have
 * sent RECLAIM_COMPLETE, or after one lease time (two, if a client is still reclaiming). Then the
 * server removes the clients that have not come. An NLM host cannot report the end of reclaims:
 * with such a host the period lasts a whole lease time.
 */
#ifndef RNFS_SERVE_STATE_GRACE_H
#define RNFS_SERVE_STATE_GRACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "transport/rpc/rpc.h"

#define GRACE_NLM ((enum rpc_flavor)INT_MAX) /* of a host that locks by NLM */

/* The identity of a client, under any client ID. */
struct grace_who {
	const uint8_t *owner; /* of EXCHANGE_ID */
	uint32_t owner_len;   /* at most NFS4_OPAQUE_LIMIT */
	const struct rpc_cred *cred;
};

enum grace_phase {
	GRACE_STARTING, /* the record was not read yet: no reclaims, no new state */
	GRACE_ON,
	GRACE_OVER,
};

struct grace;

/* Makes a record that is not read yet. NULL without memory. */
struct grace *grace_new(uint32_t lease_s);
/* Keeps the file as it is. Accepts NULL, returns NULL. */
struct grace *grace_free(struct grace *g);
/* Reads the record at path, which need not exist, and begins. path NULL: no record and no grace
 * period. After an error in the file, which is logged, no client is known. A file that cannot be
 * written is logged, too. Call once, with the server's own identity (the other functions may be
 * called with a caller's: ident.h). */
void grace_begin(struct grace *g, const char *path);

/* g NULL: GRACE_OVER. Any thread. */
enum grace_phase grace_phase(const struct grace *g);
/* Like grace_phase(), but waits until the record was read: for callers that cannot come later. */
enum grace_phase grace_begun(struct grace *g);
/* Calls fn for each host of GRACE_NLM that may reclaim; fn must not use g. False: out of memory. */
bool grace_each_host(
	struct grace *g, void (*fn)(void *ctx, const uint8_t *owner, uint32_t len), void *ctx);
/* May the client reclaim? Yes, if it is in the record and has not sent RECLAIM_COMPLETE. */
bool grace_may_reclaim(struct grace *g, const struct grace_who *who);
/* The client has sent RECLAIM_COMPLETE. */
void grace_reclaimed(struct grace *g, const struct grace_who *who);
/* The client, with this run's clientid, is about to get state. On stable storage when this function
 * returns, or a warning is logged. */
void grace_note(struct grace *g, const struct grace_who *who, uint64_t clientid);
/* The client with this ID has no state any more. On stable storage when this function returns. */
void grace_forget(struct grace *g, uint64_t clientid);
/* Ends the grace period when due; call once a second or so. now_ns: monotonic. */
void grace_tick(struct grace *g, uint64_t now_ns);

#endif
