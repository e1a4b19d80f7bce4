/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * responder: calls of the peer: received (responder_call.c) and answered (responder_reply.c).
 */
#ifndef RNFS_TRANSPORT_RPCRDMA_RESPONDER_H
#define RNFS_TRANSPORT_RPCRDMA_RESPONDER_H

#include "transport/rpcrdma/rpcrdma_conn.h"

/* responder_call.c: receives calls of the peer. */
/* Message m has come; h was decoded with result rc. Takes the buffers of m. */
void rpcrdma_handle_call(
	struct rpcrdma_conn *c, struct rpcrdma_hdr *h, int rc, struct rpcrdma_msg *m);
void rpcrdma_read_done(struct rpcrdma_conn *c, struct rpcrdma_taken *t);
/* A new call for the message under header h, without data from Sends, before any work on it. NULL:
 * no memory. */
struct rpcrdma_taken *rpcrdma_taken_new(const struct rpcrdma_hdr *h);
/* Plans where the message and each payload go. If the message lies in the buffers of m, t owns the
 * buffers afterwards. 0; -EBADMSG; -E2BIG: more Read chunks than we take; -EFBIG: longer chunks
 * than we take; -EPROTO: the peer has been told. */
int rpcrdma_taken_plan(struct rpcrdma_conn *c, struct rpcrdma_taken *t, const struct rpcrdma_hdr *h,
	struct rpcrdma_msg *m);
/* Continues with t, now, or when there is memory for t. Takes t. */
void rpcrdma_taken_go(struct rpcrdma_conn *c, struct rpcrdma_taken *t);
/* All of t has come: makes *in the message, with the payloads that were read. */
void rpcrdma_taken_stream(const struct rpcrdma_taken *t, struct xdr_in *in);
/* Continues with calls that waited for memory. */
void rpcrdma_start_waiting(struct rpcrdma_conn *c);
struct rpcrdma_taken *rpcrdma_taken_free(struct rpcrdma_conn *c, struct rpcrdma_taken *t);
/* Frees all undelivered calls. */
void rpcrdma_taken_drop_all(struct rpcrdma_conn *c);

/* responder_reply.c: answers calls of the peer. */
void rpcrdma_send_reply(struct rpc_xprt *x, struct rpc_req *req, uint32_t off);
void rpcrdma_drop(struct rpc_xprt *x, struct rpc_req *req);
/* Answers with RDMA_ERROR (RFC 8166 section 4.5); ERR_VERS in the version of the call. */
void rpcrdma_send_error(
	struct rpcrdma_conn *c, uint32_t xid, uint32_t vers, const struct rpcrdma_fault *f);
/* A call of the peer's, of so many Sends, is no longer served. */
void rpcrdma_serve_done(struct rpcrdma_conn *c, unsigned sends);

#endif
