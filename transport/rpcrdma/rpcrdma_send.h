/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_send: makes the Send of a message.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_SEND_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_SEND_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Makes wr the Send of s under header h. If s is a whole message in one piece in buf, with headroom
 * for h, the Send uses buf in place. Otherwise (buf may be NULL) the Send uses a copy. *out is the
 * buffer of wr's memory, with a reference for the caller. 0, -EMSGSIZE (more than the peer
 * receives), -ENOMEM. */
int rpcrdma_make_send(struct rpcrdma_conn *c, struct prov_wr *wr, const struct rpcrdma_hdr *h,
	const struct rpcrdma_stream *s, struct mem_buf *buf, struct mem_buf **out);

#endif
