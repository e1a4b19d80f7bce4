/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fault_rdma: the faults that only a connection of RPC-over-RDMA can have.
 *
 * The transport header is made below the interface of rpc_xprt, so the provider is wrapped: each
 * message passes fault_post() as bytes. While a reply with a faulty header is being sent, `armed`
 * holds the kind and the XID. fault_post() changes the Send with the XID. The sender of the reply
 * posts it before send_reply() returns.
 *
 * `lock` is held over the sending of such a reply: only one is under way on a connection.
 */
#include "contrib/serve/fault/fault_rdma.h"

#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "transport/lock.h"
#include "transport/rpcrdma/rpcrdma_conn.h"
#include "transport/rpcrdma/rpcrdma_error.h"
#include "transport/rpcrdma/setup/rpcrdma_setup.h"

#define MORE_ROOM 4096 /* bytes that an error asks for, beside the present room */

struct fault_rdma {
	struct prov_ops prov; /* must be first: the provider's connection points here */
	const struct prov_ops *inner;
	struct rpcrdma_conn *c;
	struct mutex lock;
	_Atomic uint64_t armed; /* enum fault_kind << 32 | XID; 0: no faulty reply is being sent */
};

/* Adds 4 bytes to the length of each used segment. */
static void lengthen(const struct rpcrdma_dialect *d, uint8_t *msg, uint32_t len)
{
	/* bytes of a header before the lists */
	size_t before = d->bound(0, 0, false, 0) - rpcrdma_lists_size(0, 0, false, 0);
	struct rpcrdma_hdr h;
	struct xdr_out out;
	struct xdr_in in;

	if (len < before)
		return;
	xdr_in_init(&in, msg + before, len - before);
	rpcrdma_hdr_init(&h, 0, RPCRDMA_DIR_REPLY, RDMA_MSG);
	rpcrdma_get_lists(&in, &h);
	if (!xdr_in_ok(&in))
		return;
	for (unsigned i = 0; i < h.nsegs; i++)
		if (h.seg[i].length)
			h.seg[i].length += 4;
	xdr_out_init(&out, msg + before, in.pos);
	rpcrdma_put_lists(&out, &h);
}

static uint32_t xid_of(const struct prov_wr *wr)
{
	uint32_t xid;

	memcpy(&xid, wr->sge[0].addr, sizeof(xid));
	return be32toh(xid);
}

static int fault_post(struct prov_conn *pc, const struct prov_wr *wr)
{
	struct fault_rdma *f = (struct fault_rdma *)pc->ops;
	uint64_t armed = atomic_load(&f->armed);
	enum fault_kind kind = (enum fault_kind)(armed >> 32);
	bool send = wr->op == PROV_SEND || wr->op == PROV_SEND_INV;

	if (!armed || !send || xid_of(wr) != (uint32_t)armed)
		return f->inner->post(pc, wr);
	if (kind == FAULT_CLOSE_MID)
		return -ENOTCONN;
	if (kind == FAULT_NO_CREDIT) /* the third word (RFC 8166 section 4.2.3) */
		memset((uint8_t *)wr->sge[0].addr + 8, 0, 4);
	else
		lengthen(f->c->dialect, wr->sge[0].addr, wr->sge[0].len);
	return f->inner->post(pc, wr);
}

bool fault_rdma_is(const struct rpc_xprt *x)
{
	return x->ops == &rpcrdma_ops;
}

struct fault_rdma *fault_rdma_new(struct rpc_xprt *x)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);
	struct fault_rdma *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->inner = c->prov;
	f->c = c;
	f->prov = *c->prov;
	f->prov.post = fault_post;
	mutex_init(&f->lock);
	c->prov = c->pc->ops = &f->prov;
	return f;
}

struct fault_rdma *fault_rdma_free(struct fault_rdma *f)
{
	if (f)
		mutex_destroy(&f->lock);
	free(f);
	return NULL;
}

/* The values in an error of the kind. */
static struct rpcrdma_fault fault_of(const struct rpcrdma_taken *t, enum fault_kind kind)
{
	struct rpcrdma_fault f = {.err = RDMA_ERR_VERS + (kind - FAULT_ERR_VERS)};
	uint64_t n = 0;

	if (f.err == RDMA_ERR_SEGMENTS) {
		f.arg = 1;
	} else if (f.err == RDMA_ERR_WRITE_RESOURCE && t->nwrites) {
		f.index = 1;
		n = rpcrdma_chunk_len(t->seg, &t->write[0]) + MORE_ROOM;
	} else if (f.err == RDMA_ERR_REPLY_RESOURCE) {
		n = (t->has_reply ? rpcrdma_chunk_len(t->seg, &t->reply) : 0) + MORE_ROOM;
	}
	if (n)
		f.arg = n > UINT32_MAX ? UINT32_MAX : (uint32_t)n;
	return f;
}

/* The request ends first: the peer may use the credit as soon as the error arrives. */
static void answer_error(const struct rpc_xprt_ops *inner, struct rpc_xprt *x, struct rpc_req *req,
	enum fault_kind kind)
{
	struct rpcrdma_taken *t = req->xprt_priv;
	uint32_t xid = t->xid, vers = t->vers;
	struct rpcrdma_fault f = fault_of(t, kind);

	inner->drop(x, req);
	rpcrdma_send_error(rpcrdma_conn_of(x), xid, vers, &f);
}

void fault_rdma_refuse(const struct rpc_xprt_ops *inner, struct rpc_xprt *x, struct rpc_req *req,
	enum fault_kind kind)
{
	rpc_xprt_ref(x); /* the end of req drops req's own reference */
	answer_error(inner, x, req, kind);
	rpc_xprt_unref(x);
}

void fault_rdma_reply(struct fault_rdma *f, const struct rpc_xprt_ops *inner, struct rpc_xprt *x,
	struct rpc_req *req, uint32_t off, enum fault_kind kind)
{
	rpc_xprt_ref(x); /* the end of req drops req's own reference */
	if (kind >= FAULT_ERR_VERS) {
		answer_error(inner, x, req, kind);
	} else {
		mutex_lock(&f->lock);
		atomic_store(&f->armed, (uint64_t)kind << 32 | req->xid);
		inner->send_reply(x, req, off);
		atomic_store(&f->armed, 0);
		mutex_unlock(&f->lock);
		if (kind == FAULT_CLOSE_MID)
			rpcrdma_break(
				rpcrdma_conn_of(x), "closed in the middle of a reply, as asked");
	}
	rpc_xprt_unref(x);
}
