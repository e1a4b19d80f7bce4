/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fault_xprt: a transport that wraps another and makes mistakes on purpose, so that requesters can
 * be tested. A wrap is for one accepted connection of a server, of any kind.
 *
 * The caller of fault_xprt_wrap() decides which fault a message gets: the caller's function is
 * called once for each arriving request and once for each leaving reply. A server without wrapped
 * connections knows nothing of faults.
 */
#ifndef RNFS_SERVE_FAULT_FAULT_XPRT_H
#define RNFS_SERVE_FAULT_FAULT_XPRT_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/rpc/xprt.h"

/* The fault of a message. Of a request: NONE, DROP, CLOSE, or ERR_VERS and later kinds. */
enum fault_kind {
	FAULT_NONE,
	FAULT_DROP,	  /* request: never seen; reply: never sent */
	FAULT_CORRUPT,	  /* bytes of the RPC header and of the results are flipped */
	FAULT_TRUNCATE,	  /* the message ends early */
	FAULT_CLOSE,	  /* the connection closes instead */
	FAULT_CLOSE_MID,  /* the connection closes after half of the message's bytes */
	FAULT_WRONG_XID,  /* an XID without a call */
	FAULT_NO_CREDIT,  /* the header grants 0 credits (RPC-over-RDMA only) */
	FAULT_LONG_CHUNK, /* the lengths of returned chunks are too large by 4 (likewise) */
	/* RDMA_ERROR instead of the reply (likewise), in the order of enum rpcrdma_errcode; of
	 * version 1 the first two, and the second for all others. The numbers in the errors: */
	FAULT_ERR_VERS,
	FAULT_ERR_CHUNK, /* BAD_XDR of version 2 */
	FAULT_ERR_HTYPE,
	FAULT_ERR_FLAG,
	FAULT_ERR_READS,      /* no Read chunks */
	FAULT_ERR_WRITES,     /* no Write chunks */
	FAULT_ERR_SEGMENTS,   /* one segment */
	FAULT_ERR_WRITE_ROOM, /* the first Write chunk, and 4096 bytes more than it has */
	FAULT_ERR_REPLY_ROOM, /* 4096 bytes more than the Reply chunk has */
	FAULT_ERR_SYSTEM,
};

/* Two words that the function keeps about a request until its reply. */
struct fault_note {
	uint64_t word[2];
};

/* Asked on the connection's thread for each request (reply false; note is all zeros and may be
 * written). Asked on the replying thread for each reply (true; note as it was left). note is NULL
 * for a request that the function was not asked about, because RPC itself refused the request.
 * *delay_ms, 0 on entry, delays the message by so many ms, beside any kind. Must not block, nor end
 * req. */
typedef enum fault_kind fault_ask_fn(void *ctx, const struct rpc_req *req, struct fault_note *note,
	bool reply, unsigned *delay_ms);

/* Puts this transport around x, which was accepted and is not established yet (the wrap function of
 * struct rpc_server_params). ctx must outlive x. The wrapper ends with x. 0 or -ENOMEM: x is
 * unchanged. */
int fault_xprt_wrap(struct rpc_xprt *x, fault_ask_fn *ask, void *ctx);

#endif
