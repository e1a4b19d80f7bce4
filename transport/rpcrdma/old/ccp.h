/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ccp: the Connection Configuration Protocol of draft-ietf-nfsv4-rpcrdma-01 section 6, an RPC
 * program with one procedure. Pure functions.
 *
 * The draft's program never got a number. This number is from the transient range, free for
 * everyone's use (RFC 5531 section 8.3). The bytes read "@CCP".
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_OLD_CCP_H
#define RNFS_TRANSPORT_RPCRDMA_OLD_CCP_H

#include "transport/rpc/xdr.h"

#define CCP_PROG      0x40434350u /* CONFIG_RDMA_PROG */
#define CCP_VERS      1
#define CCP_NULL      0
#define CCP_CONF_RDMA 1

#define CCP_SIZE_MIN 1024 /* bytes that every connection takes before CCP (section 6.1) */
#define CCP_WIRE     12	  /* bytes of either structure */

struct ccp_req {	     /* config_rdma_req */
	uint32_t call_size;  /* of the longest call inline that the client will send */
	uint32_t reply_size; /* of the longest reply inline that the client takes */
	uint32_t reads;	     /* RDMA Reads of the client's memory at a time, 0: none is possible */
};

struct ccp_res {	    /* config_rdma_reply */
	uint32_t call_size; /* of the longest call inline that the server takes */
	uint32_t align;	    /* of the server's receive buffers, for padding */
	uint32_t reads;	    /* as above, of the server's memory */
};

void ccp_put_req(struct xdr_out *x, const struct ccp_req *r);
void ccp_put_res(struct xdr_out *x, const struct ccp_res *r);
/* To the end of x. 0, or -EBADMSG: cut off, or something is left over. */
int ccp_get_req(struct xdr_in *x, struct ccp_req *r);
int ccp_get_res(struct xdr_in *x, struct ccp_res *r);

#endif
