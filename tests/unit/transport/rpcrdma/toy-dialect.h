/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * toy-dialect: version 9 of RPC-over-RDMA, for tests, with features that version 1 lacks and other
 * versions may have.
 *
 * The headers are those of version 1, except for flags in the fourth word; a message takes up to
 * three
 * Sends; a peer that says nothing takes 2048 bytes of each; RDMA_ERROR has four codes more, each
 * followed by a number.
 */
#ifndef RNFS_TEST_TOY_DIALECT_H
#define RNFS_TEST_TOY_DIALECT_H

#include "transport/rpcrdma/rpcrdma_dialect.h"

#define TOY_VERS   9
#define TOY_SENDS  3
#define TOY_INLINE 2048
#define TOY_MORE   0x100 /* the message goes on in the next Send */
#define TOY_REPLY  0x200 /* a reply */

enum toy_errcode {
	TOY_ERR_REPLY = 11, /* the Reply chunk is too small: bytes needed */
	TOY_ERR_WHOLE,	    /* no Read chunks except one of the whole call: 0 */
	TOY_ERR_CHUNKS,	    /* more Write chunks than this */
	TOY_ERR_SEGMENTS,   /* more segments to a list than this */
};

extern const struct rpcrdma_dialect toy_dialect;

/* toy_dialect, then version 1: for rpcrdma_dialects. */
extern const struct rpcrdma_dialect *const toy_table[];

#endif
