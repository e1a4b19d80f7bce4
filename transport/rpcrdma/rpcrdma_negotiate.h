/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_negotiate: finds the dialect of a connection.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_NEGOTIATE_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_NEGOTIATE_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* At the start: begins with version vers, or with the best dialect if we do not speak vers. */
void rpcrdma_try(struct rpcrdma_conn *c, unsigned vers);
/* After the hand-shake: the peer has offered *peer, or, if NULL, nothing. */
void rpcrdma_set_peer(struct rpcrdma_conn *c, const struct rpcrdma_priv *peer);
/* Reads the header of a message, as rpcrdma_dialect_decode() does. Progress thread. */
int rpcrdma_decode(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, const void *msg, size_t len);
/* Requester: the peer has sent the ERR_VERS h. Goes over to the best dialect that h names, if none
 * is settled. Progress thread. */
void rpcrdma_refused(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h);
/* Requester: the peer has answered with another RDMA_ERROR, which shows that the peer could not
 * read our header. A peer with another draft of version 2 answers so. Goes over to the next
 * dialect, if none is settled. Progress thread. */
void rpcrdma_misunderstood(struct rpcrdma_conn *c);
/* The connection is down. If a requester's first message was never answered, the next connection
 * begins with the next dialect (version 2, section 4.3.3). */
void rpcrdma_unanswered(struct rpcrdma_conn *c);
/* The peer's limits for our messages. Any thread. */
struct rpcrdma_limits rpcrdma_limits(const struct rpcrdma_conn *c);
/* The peer's properties are known now. Progress thread. */
void rpcrdma_set_props(struct rpcrdma_conn *c, const struct rpcrdma_props *p);
/* Responder: the versions to name in ERR_VERS. Any thread. */
void rpcrdma_offer(struct rpcrdma_conn *c, uint32_t *low, uint32_t *high);
/* Sets the sizes of Sends from the offers of both sides. For a peer without an offer the dialect
 * has a size. Where the ends exchange properties, the properties count and not private data.

 * Progress thread, or the connecting thread before. */
void rpcrdma_set_inline(struct rpcrdma_conn *c);

#endif
