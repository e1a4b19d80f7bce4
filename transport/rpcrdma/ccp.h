/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ccp: the Connection Configuration Protocol of draft-ietf-nfsv4-rpcrdma-01 section 6, an RPC
 * program with one procedure. Pure functions.
 *
 * It was never given a number. This one is of the range that RFC 5531 section 8.3 leaves to
 * everybody for a while; its bytes read "@CCP".
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_CCP_H
#define RNFS_TRANSPORT_RPCRDMA_CCP_H

#include "transport/rpc/xdr.h"

#define CCP_PROG      0x40434350u /* CONFIG_RDMA_PROG */
#define CCP_VERS      1
#define CCP_NULL      0
#define CCP_CONF_RDMA 1

#define CCP_SIZE_MIN 1024 /* bytes that every connection takes before (section 6.1) */
#define CCP_WIRE     12	  /* bytes of either structure */

struct ccp_req {	     /* config_rdma_req */
	uint32_t call_size;  /* of the longest call inline that the client will send */
	uint32_t reply_size; /* of the longest reply inline that it takes */
	uint32_t reads;	     /* RDMA Reads of its memory at a time, 0: none is possible */
};

struct ccp_res {	    /* config_rdma_reply */
	uint32_t call_size; /* of the longest call inline that the server takes */
	uint32_t align;	    /* of its receive buffers, for padding */
	uint32_t reads;	    /* as above, of its memory */
};

void ccp_put_req(struct xdr_out *x, const struct ccp_req *r);
void ccp_put_res(struct xdr_out *x, const struct ccp_res *r);
/* To the end of x. 0, or -EBADMSG: cut off, or something is left over. */
int ccp_get_req(struct xdr_in *x, struct ccp_req *r);
int ccp_get_res(struct xdr_in *x, struct ccp_res *r);

#endif
