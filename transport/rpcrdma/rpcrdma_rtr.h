/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_rtr: the codec of the headers and properties of draft-dnoveck-nfsv4-rpcrdma-rtrext-02
 * (rpcrdma_rtr_fields.h).
 *
 * Pure functions without state; the caller keeps the layout. The operations follow the prefix of a
 * header of version 2 (rpcrdma_v2.c), or are the information of an RDMA2_OPTIONAL of version 2 of
 * 2016.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_RTR_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_RTR_H

#include "transport/rpc/xdr.h"
#include "transport/rpcrdma/rpcrdma_hdr.h"

/* The bytes of h as rpcrdma_rtr_put() writes h. */
size_t rpcrdma_rtr_size(const struct rpcrdma_hdr *h);
/* Writes the fields of the operation h->proc; segments are h's. */
void rpcrdma_rtr_put(struct xdr_out *x, const struct rpcrdma_hdr *h);
/* Reads an operation into h, which has no chunks; any bytes are safe. A part that is malformed,
 * over the caps or in a wrong place (table 1 of the draft) fails the cursor. */
void rpcrdma_rtr_get(struct xdr_in *x, struct rpcrdma_hdr *h);

/* --- the structure of receive buffers --------------------------------------------------------- */

void rpcrdma_rtr_put_layout(struct xdr_out *x, const struct rpcrdma_rtr_layout *l);
/* Any bytes are safe. The cursor fails if there are more groups or segments than the caps, if a
 * segment has no bytes, or if the sum of the segments is not the length of the buffer. */
void rpcrdma_rtr_get_layout(struct xdr_in *x, struct rpcrdma_rtr_layout *l);
/* The number of targets. */
unsigned rpcrdma_rtr_targets(const struct rpcrdma_rtr_layout *l);
/* Sets *off to where in the buffer target number i begins, and *len to its bytes. False: there is
 * no such target. */
bool rpcrdma_rtr_target(
	const struct rpcrdma_rtr_layout *l, unsigned i, uint32_t *off, uint32_t *len);
/* Finds the first target that begins at or behind `behind` and begins a gapless run of targets for
 * len bytes; -1: none. *n: the number of targets for the bytes. */
int rpcrdma_rtr_fit(const struct rpcrdma_rtr_layout *l, uint32_t behind, uint32_t len, unsigned *n);

#endif
