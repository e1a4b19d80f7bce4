/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_negotiate: finds the dialect of a connection.
 *
 *   trying    The requester sends in the best dialect of its table that the peer has not refused.
 *             The requester has one credit, so one call is under way. ERR_VERS names the versions
 *             that the peer speaks: the requester goes over to the best untried one, and repeats
 *             the call. If none is left, the call fails, and the next call tries again. The
 *             requester goes over to the next dialect of its table after an error about an
 *             unreadable header, or after an unreadable error. A peer with another draft of the
 *             same version sends such errors. The responder follows the version of each message, if
 *             the version is in its table. Any other version gets ERR_VERS. A client remembers the
 *             dialect of the last connection to the server, and begins the next connection with the
 *             same dialect, unless long ago (rpc_connector.h).
 *   settled   A message other than an error has come in the dialect. The dialect stays for good, on
 *             both sides: RFC 8166 has no way to change dialects.
 *
 * The requester's senders read `dialect` in any thread. While the dialect can change there is one
 * credit, and the thread that gets the credit after a change sees the change. (If a peer grants
 * more in an error, calls may leave in the just refused dialect. The peer refuses the calls again,
 * and the requester repeats the calls in the new dialect.)
 */
#include "transport/rpcrdma/rpcrdma_negotiate.h"

#include <errno.h>

#include "transport/log.h"

#define SEG_SIZE_MIN 512 /* for a peer that names less */

static uint32_t smaller(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static uint32_t at_least(uint32_t a, uint32_t least)
{
	return a < least ? least : a;
}

void rpcrdma_set_inline(struct rpcrdma_conn *c)
{
	const struct rpcrdma_dialect *d = c->dialect;
	uint32_t dflt = d->inline_default, send, recv;

	if (d->legacy) {
		send = smaller(c->inline_own, c->old.ccp_send);
		recv = c->old.configured ? c->inline_own : dflt;
	} else if (d->talks) {
		send = smaller(c->recv_size, c->v2.props.recv_size);
		recv = smaller(c->recv_size, c->v2.props.send_size);
	} else {
		send = smaller(c->inline_own, c->peer_said ? c->peer.recv_size : dflt);
		recv = smaller(c->inline_own, c->peer_said ? c->peer.send_size : dflt);
	}
	c->x.inline_send = c->requester && !c->settled ? smaller(send, d->inline_first) : send;
	c->x.inline_recv = recv;
}

static void speak(struct rpcrdma_conn *c, const struct rpcrdma_dialect *d)
{
	rpcrdma_props_init(&c->v2.props);
	c->v2.seg_size = d->limits.seg_size;
	c->v2.seg_count = d->limits.total;
	c->reads_max = RPCRDMA_READS_MAX;
	c->old.ccp_send = d->inline_default;
	c->old.may_lend = d->legacy && !c->requester && !c->old.shy;
	c->dialect = d;
	c->x.rdma_version = d->vers;
	c->x.rdma_dialect = d->name;
	/* without properties we try the operations (section 5.1 of the extension) */
	c->place.ops = d->places && !d->talks ? RPCRDMA_RTR_XREQ | RPCRDMA_RTR_XRESP : 0;
	c->place.req_sends = c->place.resp_sends = 1;
	rpcrdma_set_inline(c);
}

struct rpcrdma_limits rpcrdma_limits(const struct rpcrdma_conn *c)
{
	struct rpcrdma_limits l = c->dialect->limits;
	unsigned n = c->v2.seg_count;

	if (!c->dialect->talks) {
		if (c->dialect->legacy && !c->reads_max)
			l.reads = 0;
		return l;
	}
	l.total = n;
	l.reads = n < RPCRDMA_MAX_READS ? n : RPCRDMA_MAX_READS;
	l.segs = n < RPCRDMA_MAX_SEGS ? n : RPCRDMA_MAX_SEGS;
	l.seg_size = c->v2.seg_size;
	return l;
}

void rpcrdma_set_props(struct rpcrdma_conn *c, const struct rpcrdma_props *p)
{
	c->v2.props = *p;
	c->v2.props.recv_size = at_least(p->recv_size, RPCRDMA_INLINE_MIN);
	c->v2.props.send_size = at_least(p->send_size, RPCRDMA_INLINE_MIN);
	c->v2.seg_size = at_least(p->seg_size, SEG_SIZE_MIN);
	c->v2.seg_count = at_least(p->seg_count, 1);
	c->v2.no_reverse = !c->requester && p->reverse == RPCRDMA_REVERSE_NONE;
	if (c->dialect->places && c->place.targets && p->rtr_ops && !c->place.layout_known) {
		c->place.layout_known =
			true; /* any thread reads the layout, so no change is allowed */
		c->place.layout = p->layout;
		if (p->rtr_ops & RPCRDMA_RTR_XCONT) {
			c->place.req_sends =
				smaller(at_least(p->rtr_req_sends, 1), RPCRDMA_RTR_SENDS);
			c->place.resp_sends =
				smaller(at_least(p->rtr_resp_sends, 1), RPCRDMA_RTR_SENDS);
		}
		atomic_store(&c->place.ops, p->rtr_ops);
	}
	rpcrdma_set_inline(c);
}

void rpcrdma_set_peer(struct rpcrdma_conn *c, const struct rpcrdma_priv *peer)
{
	c->peer_said = peer;
	if (peer)
		c->peer = *peer;
	rpcrdma_set_inline(c);
}

void rpcrdma_try(struct rpcrdma_conn *c, unsigned vers)
{
	const struct rpcrdma_dialect *d;

	d = rpcrdma_dialect_find(c->dialects, vers, vers);
	speak(c, d ? d : c->dialects[0]);
}

int rpcrdma_decode(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	const struct rpcrdma_dialect *d;
	int rc = rpcrdma_dialect_decode(c->dialect, h, msg, len);

	if (rc == -EPROTONOSUPPORT && !c->requester && !c->settled) {
		d = rpcrdma_dialect_find(c->dialects, h->vers, h->vers);
		if (!d)
			return rc;
		speak(c, d);
		rc = rpcrdma_dialect_decode(d, h, msg, len);
	}
	if (!rc && h->proc != RDMA_ERROR && !c->settled) {
		c->settled = true;
		rpcrdma_set_inline(c);
		log_ctrl("%s: RPC-over-RDMA version %s is spoken", c->x.peer, c->dialect->name);
	}
	return rc;
}

void rpcrdma_refused(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h)
{
	const struct rpcrdma_dialect *const *rest = c->dialects, *now = c->dialect, *next;

	if (!c->requester || c->settled || h->vers != now->vers)
		return;
	while (*rest++ != now) /* the peer has refused all before `now` */
		;
	next = rpcrdma_dialect_find(rest, h->vers_low, h->vers_high);
	/* not so if we began with the dialect of the last connection: the server may have changed
	 */
	if (!next && !c->refused)
		next = rpcrdma_dialect_find(c->dialects, h->vers_low, h->vers_high);
	c->refused = true;
	if (!next || next == now)
		return;
	log_ctrl("%s: the peer speaks RPC-over-RDMA versions %u to %u: going on in version %s",
		c->x.peer, h->vers_low, h->vers_high, next->name);
	speak(c, next);
}

void rpcrdma_misunderstood(struct rpcrdma_conn *c)
{
	const struct rpcrdma_dialect *const *next = c->dialects;

	if (!c->requester || c->settled)
		return;
	while (*next++ != c->dialect)
		;
	if (!*next)
		return;
	log_ctrl("%s: the peer answers version %s with an error: going on in version %s", c->x.peer,
		c->dialect->name, (*next)->name);
	speak(c, *next);
}

void rpcrdma_unanswered(struct rpcrdma_conn *c)
{
	/* a dialect chosen after ERR_VERS, or because of a connection before, stays */
	if (c->requester && !c->settled && c->dialect == c->dialects[0] && c->dialects[1])
		c->x.rdma_version = c->dialects[1]->vers;
}

void rpcrdma_offer(struct rpcrdma_conn *c, uint32_t *low, uint32_t *high)
{
	const struct rpcrdma_dialect *now = c->dialect;

	if (c->settled)
		*low = *high = now->vers;
	else
		rpcrdma_dialect_range(c->dialects, low, high);
}
