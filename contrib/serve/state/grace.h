/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * grace: who may get back, after a restart of the server, what was open and locked before it, and
 * the record of clients that says so (RFC 8881 sections 8.4.2 and 8.4.3).
 *
 * The record is a file that names the clients which hold state: the owner string and the principal
 * of each; hosts that lock by NLM, which have none, stand there as of flavor GRACE_NLM. A client is
 * written down before it gets its first open, and struck out, before anybody else can get what it
 * held, when it has lost everything. So whoever stands in it after a restart held state until then,
 * and nobody else can have been given anything in its place.
 *
 * A run that finds clients in its record begins with a grace period: they may reclaim, and nobody
 * may open or lock anything new. It ends when all of them have sent RECLAIM_COMPLETE, or after one
 * lease time (two, while somebody is still reclaiming). Those who have not come are struck out. A
 * host that locks by NLM cannot say that it has reclaimed everything: while there is one, it lasts
 * a whole lease time.
 */
#ifndef RNFS_SERVE_STATE_GRACE_H
#define RNFS_SERVE_STATE_GRACE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "transport/rpc/rpc.h"

#define GRACE_NLM ((enum rpc_flavor)INT_MAX) /* of a host that locks by NLM */

/* Who a client is, whatever ID it has. */
struct grace_who {
	const uint8_t *owner; /* of EXCHANGE_ID */
	uint32_t owner_len;   /* at most NFS4_OPAQUE_LIMIT */
	const struct rpc_cred *cred;
};

enum grace_phase {
	GRACE_STARTING, /* the record has not been read yet: neither reclaims nor anything new */
	GRACE_ON,
	GRACE_OVER,
};

struct grace;

/* A record that is not read yet. NULL without memory. */
struct grace *grace_new(uint32_t lease_s);
/* Keeps the file as it is. Accepts NULL, returns NULL. */
struct grace *grace_free(struct grace *g);
/* Reads the record at path, which need not exist, and begins. path NULL: nothing is kept, and there
 * is no grace period. What is wrong with the file is logged, its clients are then as good as
 * unknown; and so is that it cannot be written. Call once, with the server's own identity (the
 * others may be called with a caller's: ident.h). */
void grace_begin(struct grace *g, const char *path);

/* g NULL: GRACE_OVER. Any thread. */
enum grace_phase grace_phase(const struct grace *g);
/* The same, but waits while the record has not been read: for who cannot be told to come later. */
enum grace_phase grace_begun(struct grace *g);
/* Calls fn for each host of GRACE_NLM that may reclaim; g must not be used by it. False: out of
 * memory. */
bool grace_each_host(
	struct grace *g, void (*fn)(void *ctx, const uint8_t *owner, uint32_t len), void *ctx);
/* Is it a client that may reclaim: one of the record that has not sent RECLAIM_COMPLETE? */
bool grace_may_reclaim(struct grace *g, const struct grace_who *who);
/* It has sent RECLAIM_COMPLETE. */
void grace_reclaimed(struct grace *g, const struct grace_who *who);
/* The client, of this ID in this run, is about to get state. On stable storage when this returns,
 * or a warning is logged. */
void grace_note(struct grace *g, const struct grace_who *who, uint64_t clientid);
/* The client of this ID holds nothing any more. On stable storage when this returns. */
void grace_forget(struct grace *g, uint64_t clientid);
/* Ends the grace period if its time has come; call once a second or so. now_ns: monotonic. */
void grace_tick(struct grace *g, uint64_t now_ns);

#endif
