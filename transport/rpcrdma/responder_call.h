/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * responder_call: receives calls of the peer. Progress thread.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RESPONDER_CALL_H
#define RNFS_TRANSPORT_RPCRDMA_RESPONDER_CALL_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Message m has come; h was decoded with result rc. Takes the buffers of m. */
void rpcrdma_handle_call(
	struct rpcrdma_conn *c, struct rpcrdma_hdr *h, int rc, struct rpcrdma_msg *m);
/* All of t has come: gives a call to the services, and a reply to its owner. Takes t. */
void rpcrdma_deliver(struct rpcrdma_conn *c, struct rpcrdma_taken *t);

#endif
