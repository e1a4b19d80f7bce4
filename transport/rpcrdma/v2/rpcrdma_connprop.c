/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_connprop: the exchange of properties between the two ends of a connection
 * (draft-ietf-nfsv4-rpcrdma-version-two, November 2019, section 6.4.4).
 *
 * When. The first message of a connection is a call: the call finds out the peer's dialect, and
 * waiting for properties would cost a round trip. The requester sends properties after the first
 * answer. The responder sends properties after the peer's properties or after the second message,
 * whichever comes first. Either end needs a grant of two, so that no call and no reply waits for
 * the properties. An end that sends no properties has the defaults.
 *
 * Host authentication (section 5.2.6): we send none, and accept every peer, whatever its proof.
 *
 * A peer may send properties again. Only properties from the peer's first message may change
 * (section 6.4.4).
 */
#include "transport/rpcrdma/v2/rpcrdma_connprop.h"

#include <errno.h>
#include <string.h>

#include "transport/log.h"
#include "transport/rpcrdma/rpcrdma_error.h"
#include "transport/rpcrdma/rpcrdma_flow.h"
#include "transport/rpcrdma/rpcrdma_negotiate.h"
#include "transport/rpcrdma/rpcrdma_parts.h"
#include "transport/rpcrdma/rpcrdma_recv.h"
#include "transport/rpcrdma/rpcrdma_send.h"

#define PROPS_BYTES 512 /* of our properties */

static void own_props(const struct rpcrdma_conn *c, struct rpcrdma_props *p)
{
	rpcrdma_props_init(p);
	p->send_size = p->recv_size = c->recv_size;
	p->seg_size = MEM_MAX_SIZE;
	p->seg_count = RPCRDMA_MAX_SEGS;
	if (c->dialect->places && c->place.targets) {
		p->rtr_ops = RPCRDMA_RTR_XREQ | RPCRDMA_RTR_XRESP | RPCRDMA_RTR_XCONT;
		p->rtr_req_sends = c->place_ops->group_max(c);
		p->rtr_resp_sends = RPCRDMA_RTR_SENDS;
		p->layout = *c->place_ops->own;
	}
	p->reverse = c->requester ? RPCRDMA_REVERSE_INLINE : RPCRDMA_REVERSE_NONE;
}

static void tell(struct rpcrdma_conn *c)
{
	struct rpcrdma_stream s = {.n = 1};
	struct mem_buf *b, *held;
	struct rpcrdma_props p;
	struct rpcrdma_hdr h;
	struct prov_wr wr;
	struct xdr_out x;
	int rc;

	own_props(c, &p);
	b = mem_buf_get(c->pool, PROPS_BYTES);
	if (!b)
		return; /* the peer goes on with the defaults */
	xdr_out_init(&x, b->data, PROPS_BYTES);
	rpcrdma_props_put(&x, &p);
	s.len = x.len;
	s.part[0] = seg_list_of_buf(b, 0, (uint32_t)x.len);
	rpcrdma_begin_hdr(c, &h, 0, RPCRDMA_DIR_CALL, RDMA_CONNPROP);
	rc = rpcrdma_make_send(c, &wr, &h, &s, NULL, &held);
	mem_buf_unref(b);
	c->v2.props_told = rc != -ENOMEM;
	if (rc) {
		if (rc != -ENOMEM)
			log_warn("%s: our properties could not be told: %s", c->x.peer,
				rc == -EMSGSIZE ? "longer than the peer receives" : strerror(-rc));
		return;
	}
	mutex_lock(&c->chain);
	rc = rpcrdma_post_message(c, &(struct rpcrdma_lead){0}, &wr, false);
	mutex_unlock(&c->chain);
	mem_buf_unref(held);
	if (rc && rc != -ENOTCONN)
		rpcrdma_break(c, "properties could not be sent: %s", strerror(-rc));
}

void rpcrdma_tell_props(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h)
{
	bool ok;

	if (c->v2.props_credits) { /* the peer has since received our properties */
		mutex_lock(&c->lock);
		rpcrdma_credit_put(&c->credit_out, c->v2.props_credits);
		mutex_unlock(&c->lock);
		c->v2.props_credits = 0;
	}
	if (c->v2.calls_heard < 2)
		c->v2.calls_heard++;
	if (c->v2.props_told || c->v2.last_grant < 2 || h->proc == RDMA_CONNPROP ||
		(!c->requester && c->v2.calls_heard < 2))
		return;
	/* of more than can be of use to calls one is left over */
	if (c->requester && rpcrdma_wanted(c) > 1) {
		mutex_lock(&c->lock);
		ok = rpcrdma_credit_take(&c->credit_out, 1);
		mutex_unlock(&c->lock);
		if (!ok)
			return;
		c->v2.props_credits = 1;
	}
	tell(c);
}

void rpcrdma_handle_props(
	struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, struct rpcrdma_msg *m)
{
	const struct mem_buf *b = m->joined ? m->joined : m->recv->buf;
	struct rpcrdma_props p;
	struct xdr_in x;

	xdr_in_init(&x, b->data + m->off, m->len);
	if (rpcrdma_props_get(&x, &p)) {
		log_warn("%s: the peer's properties are malformed", c->x.peer);
		rpcrdma_send_error(
			c, h->xid, h->vers, &(struct rpcrdma_fault){.err = RDMA_ERR_CHUNK});
	} else {
		rpcrdma_props_follow(&p, &c->v2.props);
		rpcrdma_set_props(c, &p);
		log_ctrl("%s: the peer's properties: Sends of %u and receives of %u bytes, "
			 "segments of %u bytes, %u in a header, reverse calls %u",
			c->x.peer, p.send_size, p.recv_size, p.seg_size, p.seg_count, p.reverse);
		if (!c->v2.props_told)
			tell(c);
	}
	rpcrdma_msg_done(c, m);
}
