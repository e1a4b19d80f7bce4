/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * responder_call: receives the peer's calls.
 *
 * A call's message comes in one Send, in several Sends (rpcrdma_continue.c), or by RDMA Read of the
 * position-zero chunk. With one Send, the request takes the receive buffer. Other Read chunks
 * become payloads of the arguments (rpcrdma_taken.c, rpcrdma_read.c).
 *
 * A malformed or too large call gets RDMA_ERROR (RFC 8166 section 4.5). A peer that sends more
 * calls than our grant loses the connection.
 */
#include "transport/rpcrdma/responder_call.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "transport/log.h"
#include "transport/rpcrdma/responder_reply.h"
#include "transport/rpcrdma/rpcrdma_continue.h"
#include "transport/rpcrdma/rpcrdma_error.h"
#include "transport/rpcrdma/rpcrdma_parts.h"
#include "transport/rpcrdma/rpcrdma_read.h"
#include "transport/rpcrdma/rpcrdma_recv.h"
#include "transport/rpcrdma/rpcrdma_taken.h"

static bool serve_begin(struct rpcrdma_conn *c, unsigned sends)
{
	bool ok;

	mutex_lock(&c->lock);
	ok = rpcrdma_credit_take(&c->credit_in, sends);
	mutex_unlock(&c->lock);
	return ok;
}

/* Send with Invalidate is possible only with exactly one handle to name (RFC 8797 section 4.1 lets
 * any of the call's be named, but the other side closes the rest by itself anyway). */
static void find_handle(struct rpcrdma_taken *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < t->nreads + t->nsegs; i++) {
		uint32_t handle =
			i < t->nreads ? t->read[i].seg.handle : t->seg[i - t->nreads].handle;

		if (n++ && handle != t->inv_stag)
			return;
		t->inv_stag = handle;
	}
	t->has_inv = n > 0;
}

/* In a dialect that names the handle: takes the handle that the header names, if a chunk of the
 * header has the handle (version 2, section 6.3.3). */
static void find_named(struct rpcrdma_taken *t, uint32_t handle)
{
	for (unsigned i = 0; handle && !t->has_inv && i < t->nreads; i++)
		t->has_inv = t->read[i].seg.handle == handle;
	for (unsigned i = 0; handle && !t->has_inv && i < t->nsegs; i++)
		t->has_inv = t->seg[i].handle == handle;
	t->inv_stag = handle;
}

/* Which handle the reply to t may invalidate, if any. */
static void plan_inval(
	const struct rpcrdma_conn *c, struct rpcrdma_taken *t, const struct rpcrdma_hdr *h)
{
	t->has_inv = false;
	if (!c->prov->remote_inval)
		return;
	if (c->dialect->talks)
		find_named(t, h->inv_handle);
	else if (c->remote_inv)
		find_handle(t);
}

/* --- delivery --------------------------------------------------------------------------------- */

/* Room for results in the reply: in Sends under a header that returns all chunks, or in the Reply
 * chunk. */
static void set_room(
	const struct rpcrdma_conn *c, struct rpc_req *req, const struct rpcrdma_taken *t)
{
	uint64_t room, reply = t->has_reply ? rpcrdma_chunk_len(t->seg, &t->reply) : 0;
	const struct rpcrdma_dialect *d = c->dialect;

	if (t->placed) {
		c->place_ops->set_places(c, req, t);
		return;
	}

	room = rpcrdma_continue_room(d, c->x.inline_send,
		d->bound(0, t->nwrites, t->has_reply, t->nsegs), rpcrdma_reply_sends(d));
	if (atomic_load_explicit(&c->old.may_lend, memory_order_relaxed))
		room = MEM_MAX_SIZE;
	room = room > RPCRDMA_REPLY_HDR ? room - RPCRDMA_REPLY_HDR : 0;
	if (reply > room + RPCRDMA_REPLY_HDR)
		room = reply - RPCRDMA_REPLY_HDR;
	for (unsigned i = 0; i < t->nwrites; i++) {
		uint64_t n = rpcrdma_chunk_len(t->seg, &t->write[i]);

		if (i < XDR_MAX_PAYLOADS)
			req->sink[req->nsinks++] = n > MEM_MAX_SIZE ? MEM_MAX_SIZE : (uint32_t)n;
	}
	req->res_max = room > MEM_MAX_SIZE ? MEM_MAX_SIZE : (uint32_t)room;
}

void rpcrdma_deliver(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	struct rpc_req *req;
	struct xdr_in in;
	uint32_t xid;

	if (t->is_reply) {
		c->old_ops->reply_pulled(c, t);
		return;
	}
	req = rpc_req_new(&c->x);
	if (!req) {
		rpcrdma_break(c, "out of memory");
		goto out;
	}
	rpcrdma_taken_stream(t, &in);
	memcpy(&xid, in.base, 4);
	if (be32toh(xid) != t->xid) {
		log_data("%s: call %08x has another XID in its RPC message", c->x.peer, t->xid);
		rpcrdma_send_error(
			c, t->xid, t->vers, &(struct rpcrdma_fault){.err = RDMA_ERR_CHUNK});
		goto out;
	}
	if (rpc_req_parse(req, t->msg, &in))
		goto out;
	set_room(c, req, t);
	req->xprt_priv = t;
	if (!c->dialect->legacy || !c->old_ops->ccp_serve(c, req))
		rpc_req_deliver(req);
	return;
out:
	rpcrdma_serve_done(c, t->sends);
	rpcrdma_taken_free(c, t);
	if (req)
		rpc_req_free(req);
}

/* --- arrival ---------------------------------------------------------------------------------- */

static void refuse(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc)
{
	struct rpcrdma_fault f = {.err = RDMA_ERR_VERS};

	if (rc == -EBADMSG)
		f = (struct rpcrdma_fault){h->err ? h->err : RDMA_ERR_CHUNK, h->err_arg, 0};
	else if (rc == -E2BIG)
		f = (struct rpcrdma_fault){RDMA_ERR_READ_CHUNKS, XDR_MAX_PAYLOADS, 0};
	else if (rc == -EFBIG)
		f.err = RDMA_ERR_SYSTEM;
	log_data("%s: call %08x refused: %s", c->x.peer, h->xid,
		rc == -EPROTONOSUPPORT ? "another version"
		: rc == -EFBIG	       ? "more to be read than is taken"
				       : "malformed header or chunks");
	rpcrdma_send_error(c, h->xid, h->vers, &f);
}

/* Continues with a well-formed call. Takes t. */
static void take(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	if (!serve_begin(c, t->sends)) {
		rpcrdma_break(c, "the peer sent more calls than the %u it has credits for",
			rpcrdma_granted(c));
		rpcrdma_taken_free(c, t);
		return;
	}
	if (rpcrdma_read_go(c, t))
		rpcrdma_deliver(c, t);
}

/* Handles a message that is no call and gets no error (RFC 8166 section 4.5). */
static void not_a_call(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc)
{
	if (!rc && h->proc == RDMA_DONE && c->dialect->legacy && !c->requester)
		c->old_ops->handle_done(c, h);
}

void rpcrdma_handle_call(
	struct rpcrdma_conn *c, struct rpcrdma_hdr *h, int rc, struct rpcrdma_msg *m)
{
	struct rpcrdma_taken *t;

	if (m->recv_len < c->dialect->min_call ||
		(!rc && h->proc != RDMA_MSG && h->proc != RDMA_NOMSG && h->proc != RDMA_MSGP &&
			h->proc != RPCRDMA_XMT_REQ)) {
		not_a_call(c, h, rc);
		rpcrdma_msg_done(c, m);
		return;
	}
	if (h->align && !c->requester) /* an end of version 1 does not pad */
		c->old.may_lend = c->reads_max > 0;
	if (!rc && h->proc == RPCRDMA_XMT_REQ)
		rc = c->place_ops->as_chunks(h);
	t = rc ? NULL : rpcrdma_taken_new(h);
	if (t) {
		plan_inval(c, t, h);
		rc = rpcrdma_taken_plan(c, t, h, m);
		if (!rc && h->nreads && !c->reads_max) /* breaks its word: no RDMA Reads */
			rc = -EBADMSG;
	}
	rpcrdma_msg_done(c, m);
	if (rc) {
		if (rc != -EPROTO)
			refuse(c, h, rc);
		rpcrdma_taken_free(c, t);
	} else if (!t) {
		rpcrdma_break(c, "out of memory");
	} else {
		take(c, t);
	}
}
