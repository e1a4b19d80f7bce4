/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * requester_reply: takes replies to calls of ours. Progress thread.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_REQUESTER_REPLY_H
#define RNFS_TRANSPORT_RPCRDMA_REQUESTER_REPLY_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* Message m has come; h was decoded with result rc. Takes the buffers of m. */
void rpcrdma_handle_reply(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, int rc,
	struct rpcrdma_msg *m, const struct prov_wc *wc);

#endif
