/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_fit: the size of a connection where little memory can be registered.
 *
 * A connection has a receive for each Send that the peer may send: for each call or reply under
 * way, for each call in reverse, and, in version 2, for Sends between two grants. With fewer
 * receives the connection has fewer credits. Version 1 needs receives for calls and replies alone.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_SETUP_RPCRDMA_FIT_H
#define RNFS_TRANSPORT_RPCRDMA_SETUP_RPCRDMA_FIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RPCRDMA_FIT_LEAST 6 /* receives of a connection, however little memory there is */

struct rpcrdma_fit {
	unsigned recvs;	  /* receives */
	uint32_t credits; /* calls of the main direction, 1 or more */
	uint32_t reverse; /* calls of the reverse direction */
	unsigned batch;	  /* receives whose buffers are being handled, and are posted again later */
	bool v1;	  /* only version 1 is spoken */
};

/* Lowers *f to `most` receives, or to RPCRDMA_FIT_LEAST if that is more. sends: the most Sends of a
 * message. may_v1: the connection may speak version 1 alone, and does so (f->v1) where all versions
 * would leave too few credits. False: *f fits as it is. Any thread. */
bool rpcrdma_fit(struct rpcrdma_fit *f, size_t most, unsigned sends, bool may_v1);

#endif
