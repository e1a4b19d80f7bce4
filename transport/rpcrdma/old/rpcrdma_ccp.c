/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_ccp: the exchange of limits between the two ends (draft-ietf-nfsv4-rpcrdma-01 section 6).
 *
 * The client asks before any other call on a connection, on the connecting thread. Before the
 * answer, and with a server that does not know the program, a Send has 1024 bytes at most, and no
 * message is padded. The server answers below the services, because the call is about the
 * connection.
 *
 * The draft does not say whether sizes count the transport's header. Our Sends keep to the sizes
 * with the header; our receive buffers have room for the header besides.
 */
#include "transport/rpcrdma/old/rpcrdma_ccp.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpc/rpc_auth.h"
#include "transport/rpc/rpc_msg.h"
#include "transport/rpcrdma/old/ccp.h"
#include "transport/rpcrdma/rpcrdma_negotiate.h"
#include "transport/rpcrdma/rpcrdma_recv.h"
#include "transport/rpcrdma/rpcrdma_send.h"

#define READS	   16	/* of ours at a time; the provider's connections are made with so many */
#define ALIGN	   4096 /* of data in our receive buffers ... */
#define ALIGN_FEW  512	/* ... of short buffers */
#define SLEEP_MS   100
#define CALL_BYTES (RPC_MSG_CALL_HEAD + 16 + CCP_WIRE)

/* The peer's limits, in the dialect of 2005: bytes inline, alignment of the peer's receive buffers,
 * RDMA Reads of the peer's memory at a time.*/
static void set_limits(struct rpcrdma_conn *c, uint32_t send, uint32_t align, uint32_t reads)
{
	c->old.configured = true;
	c->old.ccp_send = send < CCP_SIZE_MIN ? CCP_SIZE_MIN : send;
	c->old.ccp_align = rpcrdma_align_ok(align) ? align : 0;
	c->reads_max = reads < RPCRDMA_READS_MAX ? reads : RPCRDMA_READS_MAX;
	rpcrdma_set_inline(c);
	log_ctrl("%s: the peer takes %u bytes inline, aligned to %u, and %u RDMA Reads at a time",
		c->x.peer, send, align, reads);
}

/* --- the server ------------------------------------------------------------------------------- */

static enum rpc_accept configure(struct rpcrdma_conn *c, struct rpc_req *req)
{
	struct ccp_res res = {.call_size = c->inline_own,
		.align = c->inline_own >= 2 * ALIGN ? ALIGN : ALIGN_FEW,
		.reads = READS};
	struct ccp_req ask;

	if (ccp_get_req(&req->args, &ask))
		return RPC_ACCEPT_GARBAGE_ARGS;
	if (rpc_req_begin(req, CCP_WIRE))
		return RPC_ACCEPT_SYSTEM_ERR;
	set_limits(c, ask.reply_size, 0, ask.reads);
	c->old.may_lend = ask.reads > 0;
	ccp_put_res(&req->res, &res);
	return RPC_ACCEPT_SUCCESS;
}

bool rpcrdma_ccp_serve(struct rpcrdma_conn *c, struct rpc_req *req)
{
	enum rpc_accept stat = RPC_ACCEPT_SUCCESS;

	if (req->prog != CCP_PROG || req->denied || req->verdict != RPC_VERDICT_ACCEPT ||
		c->requester)
		return false;
	if (req->vers != CCP_VERS) {
		req->mismatch_low = req->mismatch_high = CCP_VERS;
		stat = RPC_ACCEPT_PROG_MISMATCH;
	} else if (req->proc == CCP_CONF_RDMA) {
		stat = configure(c, req);
	} else if (req->proc != CCP_NULL) {
		stat = RPC_ACCEPT_PROC_UNAVAIL;
	}
	rpc_req_reply(req, stat);
	return true;
}

/* --- the client ------------------------------------------------------------------------------- */

static int send_request(struct rpcrdma_conn *c, uint32_t xid)
{
	const struct ccp_req ask = {
		.call_size = c->inline_own, .reply_size = c->inline_own, .reads = READS};
	struct rpcrdma_stream s = {.n = 1};
	struct mem_buf *b = mem_buf_get(c->pool, CALL_BYTES), *held;
	struct rpcrdma_hdr h;
	struct prov_wr wr;
	struct xdr_out x;
	int rc;

	if (!b)
		return -ENOMEM;
	xdr_out_init(&x, b->data, CALL_BYTES);
	rpc_msg_put_call(&x, xid, CCP_PROG, CCP_VERS, CCP_CONF_RDMA);
	for (int i = 0; i < 4; i++) /* credential and verifier: AUTH_NONE */
		xdr_put_u32(&x, 0);
	ccp_put_req(&x, &ask);
	s.len = x.len;
	s.part[0] = seg_list_of_buf(b, 0, (uint32_t)x.len);
	rpcrdma_begin_hdr(c, &h, xid, RPCRDMA_DIR_CALL, RDMA_MSG);
	rc = rpcrdma_make_send(c, &wr, &h, &s, NULL, &held);
	mem_buf_unref(b);
	if (rc)
		return rc;
	rc = c->prov->post(c->pc, &wr);
	mem_buf_unref(held);
	return rc;
}

/* Takes the server's answer. 0: the server's limits are set, or the server does not know the
 * program; -EPROTO: the server speaks other versions of RPC-over-RDMA. */
static int hear(
	struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc, const uint8_t *msg, size_t len)
{
	struct rpc_reply_hdr reply;
	struct ccp_res res;
	struct xdr_in x;

	mutex_alone(&c->lock); /* no other thread uses the connection yet */
	if (!rc && rpcrdma_hdr_is_err_vers(h))
		return -EPROTO;
	rpcrdma_credit_grant(&c->credit_out, h->grant);
	c->x.credits = c->credit_out.granted;
	xdr_in_init(&x, msg, len);
	x.padding = rpcrdma_padding_of(h);
	if (rc || (h->proc != RDMA_MSG && h->proc != RDMA_MSGP) || !rpcrdma_hdr_chunkless(h) ||
		rpc_msg_get_reply(&x, &reply) || ccp_get_res(&x, &res)) {
		log_info("%s: the server does not know the Connection Configuration Protocol: "
			 "1024 bytes inline, and no padding",
			c->x.peer);
		return 0;
	}
	if (res.call_size < CCP_SIZE_MIN)
		log_warn("%s: the server takes calls of %u bytes only; it has to take %u",
			c->x.peer, res.call_size, CCP_SIZE_MIN);
	set_limits(c, res.call_size, res.align, res.reads);
	return 0;
}

/* Handles one completion. 0: without the answer; 1: with the answer; or -errno. */
static int handle(struct rpcrdma_conn *c, uint32_t xid, const struct prov_wc *wc, struct err *e)
{
	struct rpcrdma_recv *r = (struct rpcrdma_recv *)(uintptr_t)wc->cookie;
	struct rpcrdma_hdr *h = &c->hdr;
	int rc, end = 0;

	if (wc->op == PROV_WC_DOWN) {
		err_set(e, ERR_NOT_RDMA, "the server closed the connection: %s",
			c->pc->down_reason);
		return -ENOTCONN;
	}
	if (wc->op != PROV_WC_RECV)
		return 0;
	rc = rpcrdma_decode(c, h, r->buf->data + c->recv_off, wc->len);
	if (rc != -EMSGSIZE && h->xid == xid && h->dir != RPCRDMA_DIR_CALL) {
		size_t off = rc ? 0 : h->len;

		end = hear(c, h, rc, r->buf->data + c->recv_off + off, wc->len - off) ? -EPROTO : 1;
	}
	if (end < 0)
		err_set(e, ERR_NOT_RDMA,
			"the server speaks RPC-over-RDMA versions %u to %u, not 1-legacy",
			h->vers_low, h->vers_high);
	rpcrdma_recv_done(c, r);
	rpcrdma_recv_replenish(c);
	return end;
}

static bool readable(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return fd > 0 && poll(&pfd, 1, 0) > 0;
}

int rpcrdma_ccp_ask(struct rpcrdma_conn *c, int timeout_ms, int abort_fd, struct err *e)
{
	uint64_t now = clock_ns(), end = now + (uint64_t)timeout_ms * NSEC_PER_MSEC;
	uint32_t xid = (uint32_t)(now >> 10);
	struct prov_wc wc;
	int rc = send_request(c, xid);

	if (rc)
		err_set(e, ERR_INTERNAL, "the connection could not be configured: %s",
			strerror(-rc));
	while (!rc) {
		if (c->prov->poll(c->pc, &wc, 1) > 0) {
			rc = handle(c, xid, &wc, e);
		} else if (readable(abort_fd)) {
			rc = -ECANCELED;
			err_set(e, ERR_UNREACHABLE, "given up");
		} else if (clock_ns() > end) {
			rc = -ETIMEDOUT;
			err_set(e, ERR_NOT_RDMA, "the server did not answer within %d ms",
				timeout_ms);
		} else {
			c->prov->wait(c->pc, abort_fd > 0 ? abort_fd : -1, SLEEP_MS);
		}
	}
	return rc < 0 ? rc : 0;
}
