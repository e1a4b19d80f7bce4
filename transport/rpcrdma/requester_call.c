/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * requester_call: sends our calls.
 *
 * Forms of a call (RFC 8166 section 3.5). The first form that the peer can receive is used:
 *
 * - inline: header and whole message in the Send; payload is copied into the Send ("pulled up").
 * - Read chunk: the largest payload is taken out, without the round-up, and the peer reads the
 *   payload in place. The rest of the message stays in the Send. The chunk has a segment for each
 *   piece of the payload; adjacent pieces in one slab count as one.
 * - continued: in several Sends, where the dialect and the credits allow several
 *   (rpcrdma_continue.c).
 * - long: RDMA_NOMSG; all pieces of the message are segments of a position-zero Read chunk.
 *
 * After a refusal the call may have to take another form (RPCRDMA_WHOLE_CALL ...).
 *
 * If the header has too little room for the segments, the pieces are first gathered into one piece
 * of memory.
 *
 * Room for the reply: each sink is a Write chunk, with a segment for each piece of the sink. There
 * is a Reply chunk if the rest of the largest possible reply is longer than our receives, or if the
 * segments do not fit into a header. Since some servers do not cope with both, the sinks are then
 * not offered: the data for the sinks comes in the Reply chunk and is copied. Callers avoid the
 * copy by a small reply_max for calls with sinks.
 */
#include "transport/rpcrdma/requester_call.h"

#include <errno.h>
#include <string.h>

#include "transport/log.h"
#include "transport/rpc/rpc_auth.h"
#include "transport/rpcrdma/requester_posted.h"
#include "transport/rpcrdma/rpcrdma_continue.h"
#include "transport/rpcrdma/rpcrdma_hold.h"
#include "transport/rpcrdma/rpcrdma_linger.h"
#include "transport/rpcrdma/rpcrdma_negotiate.h"
#include "transport/rpcrdma/rpcrdma_parts.h"
#include "transport/rpcrdma/rpcrdma_send.h"

#define REPLY_SEGS (RPCRDMA_DOORS_FEW / 2) /* of a Reply chunk, at most */

/* How many of the call's sinks are offered, if any: all before the first without room, since no
 * door can open to an empty sink. *nsegs: in how many segments. */
static unsigned count_sinks(const struct rpc_call *call, uint32_t seg_size, unsigned *nsegs)
{
	unsigned n;

	*nsegs = 0;
	for (n = 0; n < call->nsinks && call->sink[n].len; n++)
		*nsegs += seg_list_count_joined(&call->sink[n], seg_size);
	return n;
}

static int expose_reply(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h, uint64_t len)
{
	struct rpcrdma_seg seg[REPLY_SEGS];
	struct seg_list all;
	struct seg_iter it;
	struct mem_sge at;
	unsigned n = 0;
	int rc = 0;

	if (len > MEM_MAX_SIZE)
		len = MEM_MAX_SIZE;
	if (len > (uint64_t)REPLY_SEGS * p->limits.seg_size)
		len = (uint64_t)REPLY_SEGS * p->limits.seg_size;
	if (len > mem_pool_rpc_most(c->pool))
		len = mem_pool_rpc_most(c->pool);
	p->reply_buf = mem_buf_get(c->pool, len);
	if (!p->reply_buf)
		return -ENOMEM;
	all = seg_list_of_buf(p->reply_buf, 0, (uint32_t)len);
	it = seg_iter_of(&all);
	while (!rc && seg_next_joined(&it, p->limits.seg_size, &at))
		rc = rpcrdma_expose(c, p, &at, PROV_REMOTE_WRITE, &seg[n++]);
	p->reply_doors = n;
	return rc ? rc : rpcrdma_hdr_set_reply(h, seg, n);
}

/* Does a call with nsinks Write chunks of nsegs segments fit, payloads apart? */
static bool call_holds(const struct rpcrdma_conn *c, const struct rpcrdma_posted *p,
	unsigned nsinks, unsigned nsegs)
{
	const struct xdr_out *args = &p->call->args;
	size_t hlen = c->dialect->bound(args->npayloads ? 2 : 0, nsinks, false, nsegs);

	return hlen + RPC_HEADROOM - p->off + args->len <= c->x.inline_send;
}

/* In the dialect of 2005 a reply that is too long comes as a Read chunk, at the cost of a round
 * trip and an RDMA_DONE. That pays for replies that are hardly ever too long: each call saves the
 * memory of a Reply chunk. A reply that may be much too long, such as READDIR's, usually is too
 * long. Then we offer a Reply chunk, which the draft allows, too. */
static bool is_rarely_long(const struct rpcrdma_conn *c, uint64_t body)
{
	return c->dialect->legacy && c->old.configured && c->reads_max &&
	       body <= RPCRDMA_RARELY_LONG;
}

/* Provides the largest room that the reply may need (see the top). */
static int provide_reply(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h)
{
	const struct rpc_call *call = p->call;
	uint64_t body =
		RPCRDMA_REPLY_HDR + (uint64_t)call->reply_max + rpc_auth_of(call)->ops->verf_max;
	const struct rpcrdma_limits *most = &p->limits;
	unsigned nsegs, nsinks = count_sinks(call, most->seg_size, &nsegs);
	size_t hlen;
	int rc = 0;

	hlen = p->dialect->bound(0, call->nsinks, false, nsegs + call->nsinks - nsinks);
	if ((rpcrdma_continue_room(p->dialect, c->x.inline_recv, hlen, most->sends) >= body ||
		    is_rarely_long(c, body)) &&
		!p->reply_min && nsinks <= most->writes && nsegs <= most->segs &&
		nsegs < most->total && /* data that the peer reads may need a segment */
		(nsegs == nsinks || call_holds(c, p, nsinks, nsegs))) {
		rc = rpcrdma_reserve_doors(p, nsegs);
		for (unsigned i = 0; !rc && i < nsinks; i++)
			rc = rpcrdma_expose_sink(c, p, h, &call->sink[i]);
		return rc;
	}
	for (unsigned i = 0; i < call->nsinks; i++)
		body += (uint64_t)call->sink[i].len + xdr_pad(call->sink[i].len);
	if (body < p->reply_min)
		body = p->reply_min;
	return expose_reply(c, p, h, (body + 3) & ~3ull);
}

/* --- the form of a call ----------------------------------------------------------------------- */

/* Does the message s fit into a Send under h, with `more` further Read segments? */
static bool fits(const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h,
	const struct rpcrdma_stream *s, unsigned more)
{
	size_t hlen = c->dialect->bound(h->nreads + more, h->nwrites, h->has_reply, h->nsegs);

	return hlen + s->len <= c->x.inline_send;
}

static uint64_t payload_bytes(const struct xdr_out *x)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < x->npayloads; i++)
		n += x->payload[i].data.len;
	return n;
}

/* The number of segments that the peer may still read in a call. */
static unsigned reads_left(const struct rpcrdma_posted *p, const struct rpcrdma_hdr *h)
{
	unsigned left = p->limits.total > h->nsegs ? p->limits.total - h->nsegs : 0;

	return left < p->limits.reads ? left : p->limits.reads;
}

/* Read segments at position for the pieces of l. */
static int expose_reads(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	uint32_t position, const struct seg_list *l)
{
	struct seg_iter it = seg_iter_of(l);
	struct rpcrdma_seg seg;
	struct mem_sge at;
	int rc = 0;

	while (!rc && seg_next_joined(&it, p->limits.seg_size, &at)) {
		rc = rpcrdma_expose(c, p, &at, PROV_REMOTE_READ, &seg);
		if (!rc)
			rc = rpcrdma_hdr_add_read(h, position, &seg);
	}
	return rc;
}

/* Copies a stream into one piece, for one Read segment at position. */
static int expose_gathered(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	uint32_t position, const struct rpcrdma_stream *s)
{
	struct seg_list all;
	int rc;

	if (s->len / p->limits.seg_size >= reads_left(p, h))
		return -EMSGSIZE;
	rc = rpcrdma_reserve_doors(p, 1 + (unsigned)(s->len / p->limits.seg_size));
	if (rc)
		return rc;
	p->gathered = s->len > MEM_MAX_SIZE ? NULL : mem_buf_get(c->pool, s->len);
	if (!p->gathered)
		return s->len > MEM_MAX_SIZE ? -EMSGSIZE : -ENOMEM;
	rpcrdma_stream_copy(s, p->gathered->data);
	all = seg_list_of_buf(p->gathered, 0, (uint32_t)s->len);
	return expose_reads(c, p, h, position, &all);
}

static int as_read_chunk(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	unsigned which, unsigned nsegs)
{
	const struct xdr_payload *pl = &p->call->args.payload[which];
	uint64_t pos = rpcrdma_stream_pos(p->off, &p->call->args, which);
	uint64_t copied = payload_bytes(&p->call->args) - pl->data.len;
	int rc;

	if (pos > UINT32_MAX)
		return -EMSGSIZE;
	/* one piece may take several, too, if the peer's segments are short */
	if (nsegs == 1 && seg_list_count_joined(&pl->data, p->limits.seg_size) > 1) {
		struct rpcrdma_stream s = {.n = 1, .part[0] = pl->data, .len = pl->data.len};

		rc = expose_gathered(c, p, h, (uint32_t)pos, &s);
		copied += pl->data.len;
	} else {
		rc = rpcrdma_reserve_doors(p, nsegs);
		if (!rc)
			rc = expose_reads(c, p, h, (uint32_t)pos, &pl->data);
		rpcrdma_stat_add(c, bytes_exposed, pl->data.len);
	}
	rpcrdma_stat_add(c, bytes_pulled_up, copied);
	return rc;
}

static int as_long(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	struct rpcrdma_stream *s)
{
	unsigned n = rpcrdma_stream_pieces(s, p->limits.seg_size);
	bool whole = n <= reads_left(p, h) &&
		     c->dialect->bound(n, h->nwrites, h->has_reply, h->nsegs) <= c->x.inline_send;
	int rc = rpcrdma_reserve_doors(p, n);

	h->proc = RDMA_NOMSG;
	p->whole = true;
	if (!whole && !rc)
		rc = expose_gathered(c, p, h, 0, s);
	for (unsigned i = 0; whole && !rc && i < s->n; i++)
		rc = expose_reads(c, p, h, 0, &s->part[i]);
	if (rc)
		return rc;
	if (whole)
		rpcrdma_stat_add(c, bytes_exposed, payload_bytes(&p->call->args));
	else
		rpcrdma_stat_add(c, bytes_pulled_up, payload_bytes(&p->call->args));
	s->n = 0;
	s->len = 0;
	return 0;
}

static unsigned largest_payload(const struct xdr_out *x)
{
	unsigned best = 0;

	for (unsigned i = 1; i < x->npayloads; i++)
		if (x->payload[i].data.len > x->payload[best].data.len)
			best = i;
	return best;
}

/* Takes parts out of a call that is too long for inline. s: the whole call; afterwards the rest for
 * the Send. */
static int take_out(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	struct rpcrdma_stream *s)
{
	const struct xdr_out *args = &p->call->args;
	unsigned which = largest_payload(args), nsegs;
	struct rpcrdma_stream reduced;
	int rc;

	if (!p->limits.reads)
		return -EMSGSIZE;
	if (!args->npayloads)
		return as_long(c, p, h, s);
	rpcrdma_stream_init(&reduced, p->call->msg, p->off, args, 1u << which, c->zero);
	nsegs = seg_list_count_joined(&args->payload[which].data, p->limits.seg_size);
	if (nsegs > reads_left(p, h) || !fits(c, h, &reduced, nsegs))
		nsegs = 1;
	if (!fits(c, h, &reduced, 1))
		return as_long(c, p, h, s);
	rc = as_read_chunk(c, p, h, which, nsegs);
	*s = reduced;
	return rc;
}

/* In another dialect than the last time the limits and demands of the peer do not hold. */
static void begin_dialect(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	if (p->dialect == c->dialect)
		return;
	p->dialect = c->dialect;
	p->limits = rpcrdma_limits(c);
	p->reply_min = 0;
	p->whole = false;
}

/* Takes out of the message s all parts that do not go into the last Send. */
static int reduce(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	struct rpcrdma_stream *s, struct rpcrdma_lead *lead)
{
	unsigned n;

	if (p->whole)
		return as_long(c, p, h, s);
	if (fits(c, h, s, 0)) {
		rpcrdma_stat_add(c, bytes_pulled_up, payload_bytes(&p->call->args));
		if (c->requester && c->old.ccp_align)
			c->old_ops->pad(c, &p->call->args, h, s);
		return 0;
	}
	n = rpcrdma_continue_sends(p->dialect, p->limits.sends, c->x.inline_send,
		rpcrdma_dialect_size(p->dialect, h), s->len);
	if (n && n <= p->sends)
		return rpcrdma_lead_make(c, lead, h, s, n);
	return c->requester ? take_out(c, p, h, s) : 0;
}

/* Opens the doors of p and makes the Sends. */
static int marshal(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_sends *out)
{
	struct rpcrdma_stream s;
	struct rpcrdma_hdr h;
	int rc = 0;

	out->lead = (struct rpcrdma_lead){0};
	begin_dialect(c, p);
	if (c->v2.no_reverse)
		return -EOPNOTSUPP;
	p->place = 0;
	p->placed_call = c->dialect->places && c->place_ops->may_place(c, p);
	if (p->placed_call) {
		rc = c->place_ops->marshal_placed(c, p, &h, out);
		if (rc != -EMSGSIZE)
			return rc;
		p->placed_call = false;
		p->plain = true;
	}
	rpcrdma_begin_hdr(c, &h, p->call->xid, RPCRDMA_DIR_CALL, RDMA_MSG);
	rc = 0;
	if (c->requester)
		rc = provide_reply(c, p, &h);
	if (rc)
		return rc;
	rpcrdma_stream_init(&s, p->call->msg, p->off, &p->call->args, 0, c->zero);
	rc = reduce(c, p, &h, &s, &out->lead);
	if (p->ndoors && c->prov->remote_inval)
		h.inv_handle = p->door[0].stag;
	if (!rc)
		rc = rpcrdma_make_send(
			c, &out->last, &h, &s, out->lead.n ? NULL : p->call->msg, &out->held);
	if (rc)
		rpcrdma_lead_drop(&out->lead);
	return rc;
}

/* alone: no other call is under way that a thread waits for. patient: no thread waits for this
 * call. True: the message lingers. */
static bool flag_last(struct rpcrdma_conn *c, struct rpcrdma_sends *s, bool alone, bool patient)
{
	bool lingers;

	s->last.flags = rpcrdma_more(c, alone || patient);
	if (s->last.flags || rpcrdma_is_handling(c))
		return false;
	lingers = rpcrdma_may_linger(c, patient && !s->lead.n);
	s->last.flags = lingers ? PROV_MORE : 0;
	return lingers;
}

/* chained: in this dialect no Send may come between the Sends of a message. */
static int post_sends(
	struct rpcrdma_conn *c, struct rpcrdma_sends *s, bool chained, bool alone, bool patient)
{
	bool lingers;
	int rc;

	if (chained) {
		mutex_lock(&c->chain);
		lingers = flag_last(c, s, alone, patient);
		rc = rpcrdma_post_message(c, &s->lead, &s->last, true);
		mutex_unlock(&c->chain);
	} else {
		lingers = flag_last(c, s, alone, patient);
		rc = c->prov->post(c->pc, &s->last);
	}
	mem_buf_unref(s->held);
	if (lingers)
		rpcrdma_linger(c);
	return rc;
}

/* p is in MARSHAL, and has all credits. */
static void post_call(struct rpcrdma_conn *c, struct rpcrdma_posted *p)
{
	struct rpcrdma_sends s;
	int rc = marshal(c, p, &s);
	bool chained = p->dialect->limits.sends > 1, down = rc == -ENOTCONN, alone = false,
	     patient = p->patient;

	if (down) /* progress() will tell the owner, which takes the call back */
		rc = 0;
	if (rc && rc != -ENOMEM)
		log_warn("%s: call %08x could not be sent: %s", c->x.peer, p->call->xid,
			rc == -EMSGSIZE ? "longer than the peer receives, or than may be registered"
					: strerror(-rc));
	mutex_lock(&c->lock);
	if (rc) {
		p->state = RPCRDMA_FAILED;
		p->error = rc == -ENOMEM ? -ENOMEM : -EIO;
		p->hungry = rc == -ENOMEM;
		c->hungry += p->hungry;
		TAILQ_REMOVE(&c->posted, p, link);
		TAILQ_INSERT_TAIL(&c->failed, p, link);
		rpcrdma_credit_put(&c->credit_out, p->sends);
	} else {
		alone = c->credit_out.used - c->patient == p->sends;
		c->patient += patient ? p->sends : 0;
		p->dones = c->old.dones_sent;
		p->state = RPCRDMA_SENT;
	}
	pthread_cond_broadcast(&c->marshalled);
	mutex_unlock(&c->lock);
	if (rc) {
		rpc_xprt_kick(&c->x);
		return;
	}
	/* from here on p and the call may be gone */
	if (down)
		return;
	rc = post_sends(c, &s, chained, alone, patient);
	if (rc && rc != -ENOTCONN)
		rpcrdma_break(c, "a call could not be posted: %s", strerror(-rc));
}

/* --- credits and the backlog ------------------------------------------------------------------ */

/* Credits that p needs: one, unless p is best continued and the grant is large enough to continue.
 */
static unsigned sends_for_locked(const struct rpcrdma_conn *c, const struct rpcrdma_posted *p)
	REQUIRES(c->lock)
{
	const struct rpcrdma_dialect *d = c->dialect;
	const struct xdr_out *args = &p->call->args;
	unsigned nsegs, nsinks, n;
	size_t hlen;

	if (d->places && c->place_ops->may_place(c, p) && args->npayloads && c->place.req_sends > 1)
		return c->place_ops->place_sends_locked(c, p);
	if (d->limits.sends == 1 || !c->settled || p->whole || (c->requester && args->npayloads))
		return 1;
	nsinks = count_sinks(p->call, d->limits.seg_size, &nsegs);
	hlen = d->bound(0, nsinks, true, nsegs + 1);
	n = rpcrdma_continue_sends(d, d->limits.sends, c->x.inline_send, hlen,
		RPC_HEADROOM - p->off + xdr_out_total(args));
	/* our properties may hold one credit until the next message of the peer */
	return n && n + d->talks <= c->credit_out.granted ? n : 1;
}

/* Takes the credits that p needs. False: too few credits. */
static bool take_credits_locked(struct rpcrdma_conn *c, struct rpcrdma_posted *p) REQUIRES(c->lock)
{
	p->sends = sends_for_locked(c, p);
	if (rpcrdma_credit_take(&c->credit_out, p->sends))
		return true;
	/* only RDMA_DONEs are under way: no answer will bring the credits back */
	if (c->old.dones_sent == c->old.dones_back ||
		c->credit_out.used != c->old.dones_sent - c->old.dones_back)
		return false;
	c->old_ops->dones_back_locked(c, c->old.dones_sent);
	return rpcrdma_credit_take(&c->credit_out, p->sends);
}

int rpcrdma_send_call(struct rpc_xprt *x, struct rpc_call *call, uint32_t off)
{
	struct rpcrdma_conn *c = rpcrdma_conn_of(x);
	struct rpcrdma_posted *p;
	bool now;

	mutex_lock(&c->lock);
	p = c->down ? NULL : rpcrdma_posted_new_locked(c);
	if (!p) {
		bool down = c->down;

		mutex_unlock(&c->lock);
		if (!down)
			rpcrdma_break(c, "out of memory");
		return -ENOTCONN;
	}
	p->call = call;
	p->off = off;
	p->patient = call->patient;
	atomic_store_explicit(&call->xprt_priv, p, memory_order_relaxed);
	now = TAILQ_EMPTY(&c->backlog) && !c->hungry && take_credits_locked(c, p);
	p->state = now ? RPCRDMA_MARSHAL : RPCRDMA_BACKLOG;
	TAILQ_INSERT_TAIL(now ? &c->posted : &c->backlog, p, link);
	mutex_unlock(&c->lock);
	if (now)
		post_call(c, p);
	return 0;
}

void rpcrdma_send_backlog(struct rpcrdma_conn *c)
{
	struct rpcrdma_posted *p;

	while (!c->no_memory) {
		mutex_lock(&c->lock);
		p = c->hungry ? NULL : TAILQ_FIRST(&c->backlog);
		if (p && !take_credits_locked(c, p))
			p = NULL;
		if (p) {
			TAILQ_REMOVE(&c->backlog, p, link);
			p->state = RPCRDMA_MARSHAL;
			TAILQ_INSERT_TAIL(&c->posted, p, link);
		}
		mutex_unlock(&c->lock);
		if (!p)
			return;
		post_call(c, p);
	}
}
