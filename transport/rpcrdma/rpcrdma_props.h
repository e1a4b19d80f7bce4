/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_props: the transport properties that the two ends of a connection of version 2 exchange
 * in RDMA2_CONNPROP (draft-ietf-nfsv4-rpcrdma-version-two, November 2019, sections 5 and 6.4.4).
 *
 * Pure functions. A property that was not sent, or was sent without data, has the default value.
 * Unknown properties are skipped.
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PROPS_H
#define RNFS_TRANSPORT_RPCRDMA_RPCRDMA_PROPS_H

#include "transport/rpc/xdr.h"
#include "transport/rpcrdma/rpcrdma_rtr_fields.h"

enum rpcrdma_propid {
	RPCRDMA_PROP_SEND_SIZE = 1,
	RPCRDMA_PROP_RECV_SIZE = 2,
	RPCRDMA_PROP_SEG_SIZE = 3,
	RPCRDMA_PROP_SEG_COUNT = 4,
	RPCRDMA_PROP_REVERSE = 5,
	RPCRDMA_PROP_HOST_AUTH = 6,
	/* of draft-dnoveck-nfsv4-rpcrdma-rtrext-02, section 8, in our private range */
	RPCRDMA_PROP_RTR_OPS = RPCRDMA_RTR_PRIVATE + 3,
	RPCRDMA_PROP_RTR_LAYOUT = RPCRDMA_RTR_PRIVATE + 4,
	RPCRDMA_PROP_RTR_REQ_SENDS = RPCRDMA_RTR_PRIVATE + 5,
	RPCRDMA_PROP_RTR_RESP_SENDS = RPCRDMA_RTR_PRIVATE + 6,
};

#define RPCRDMA_RTR_XREQ  1u /* the receiver takes Transmit Request ... */
#define RPCRDMA_RTR_XRESP 2u /* ... Transmit Response ... */
#define RPCRDMA_RTR_XCONT 4u /* ... and Transmit Continue */

enum rpcrdma_reverse {
	RPCRDMA_REVERSE_NONE,
	RPCRDMA_REVERSE_INLINE,
	RPCRDMA_REVERSE_GENERAL,
};

struct rpcrdma_props {
	uint32_t send_size; /* bytes of the longest Send from the end */
	uint32_t recv_size; /* bytes of the receive buffers at the end */
	uint32_t seg_size;  /* bytes of the longest segment */
	uint32_t seg_count; /* segments in a requester's header */
	uint32_t reverse;   /* enum rpcrdma_reverse, or an unknown number */
	uint32_t told; /* 1 << enum rpcrdma_propid for each id below 32 in the message; without a
			  message: all */
	/* The properties of the extension; all are sent if rtr_ops is not 0. */
	uint32_t rtr_ops;		  /* RPCRDMA_RTR_XREQ, ... */
	uint32_t rtr_req_sends;		  /* most Sends of a request to the end */
	uint32_t rtr_resp_sends;	  /* most Sends of a reply from the end */
	struct rpcrdma_rtr_layout layout; /* of the end's receive buffers; no groups: not sent */
};

/* The defaults of section 5.2. */
void rpcrdma_props_init(struct rpcrdma_props *p);
/* Writes the property set with all of p. */
void rpcrdma_props_put(struct xdr_out *x, const struct rpcrdma_props *p);
/* Reads a property set, which extends to the end of x; any bytes are safe. 0, or -EBADMSG:
 * malformed, which a receiver answers with RDMA2_ERR_BAD_XDR. */
int rpcrdma_props_get(struct xdr_in *x, struct rpcrdma_props *p);
/* p has come behind `before`, from the same peer. A property that was missing in `before` has the
 * default and must not change (section 6.4.4). So p cannot raise the property; a lower value does
 * no harm. */
void rpcrdma_props_follow(struct rpcrdma_props *p, const struct rpcrdma_props *before);

#endif
