/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * requester_reply: takes the replies to our calls.
 *
 * The XID in a reply's header finds the call. The reply is checked against the chunks that the call
 * offered, and all doors of the call are closed. Only then the owner gets the reply. The bytes of a
 * Reply chunk are not read before the chunk's doors are closed. A reply that breaks the protocol
 * fails only its own call. A reply without a call is counted and dropped.
 */
#include "transport/rpcrdma/requester_reply.h"

#include <errno.h>

#include "transport/log.h"
#include "transport/rpc/rpc_auth.h"
#include "transport/rpcrdma/requester_close.h"
#include "transport/rpcrdma/requester_posted.h"
#include "transport/rpcrdma/rpcrdma_negotiate.h"
#include "transport/rpcrdma/rpcrdma_parts.h"
#include "transport/rpcrdma/rpcrdma_recv.h"

/* --- reading a reply -------------------------------------------------------------------------- */

/* ERR_VERS, and rpcrdma_refused() has found no other dialect. */
static int refused_reply(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct rpcrdma_hdr *h)
{
	log_warn("%s: call %08x refused: the peer speaks RPC-over-RDMA versions %u to %u, not %s",
		c->x.peer, h->xid, h->vers_low, h->vers_high, p->dialect->name);
	return -EIO;
}

/* Lowers *most to n. False: *most is n or less already. */
static bool lower(unsigned *most, uint32_t n)
{
	if (n >= *most)
		return false;
	*most = n;
	return true;
}

/* Limits p to n segments. False: n is 0, p has offered no more than n, or the limits of p are as
 * low already. */
static bool fewer_segments(struct rpcrdma_posted *p, uint32_t n)
{
	unsigned write = p->reply_buf ? p->reply_doors : 0;
	bool reads, segs;

	for (unsigned i = 0; i < p->nsinks; i++)
		write += p->sink_doors[i];
	if (!n || (n >= p->ndoors - write && n >= write))
		return false;
	reads = lower(&p->limits.reads, n);
	segs = lower(&p->limits.segs, n);
	return reads || segs;
}

/* Limits p to n Write chunks. If p has offered n or fewer, the peer refuses even n, and p gets no
 * Write chunks. False: p has offered none. */
static bool fewer_chunks(struct rpcrdma_posted *p, uint32_t n)
{
	if (!p->nsinks)
		return false;
	p->limits.writes = n < p->nsinks ? n : 0;
	return true;
}

/* The bytes of the offered Reply chunk of p. */
static uint64_t reply_offered(const struct rpcrdma_posted *p)
{
	uint64_t n = 0;

	for (unsigned i = 0; p->reply_buf && i < p->reply_doors; i++)
		n += p->door[i].len;
	return n;
}

/* Makes p offer a Reply chunk of n bytes. False: n is too large, or p has offered as much before.
 */
static bool larger_reply(struct rpcrdma_posted *p, uint64_t n)
{
	if (n > MEM_MAX_SIZE || n <= p->reply_min || n <= reply_offered(p))
		return false;
	p->reply_min = (uint32_t)n;
	return true;
}

/* Changes the form of p as the error h asks. False: impossible, or p had the same form before. */
static bool change_form(
	struct rpcrdma_posted *p, const struct rpcrdma_hdr *h, enum rpcrdma_action action)
{
	switch (action) {
	case RPCRDMA_LARGER_REPLY:
		return larger_reply(p, h->err_arg);
	case RPCRDMA_NO_WRITES:
		return larger_reply(p, (uint64_t)h->err_arg + RPCRDMA_REPLY_HDR +
					       p->call->reply_max +
					       rpc_auth_of(p->call)->ops->verf_max);
	case RPCRDMA_WHOLE_CALL:
		if (p->whole)
			return false;
		p->whole = true;
		return true;
	case RPCRDMA_FEWER_CHUNKS:
		return fewer_chunks(p, h->err_arg);
	case RPCRDMA_FEWER_SEGMENTS:
		return fewer_segments(p, h->err_arg);
	case RPCRDMA_FAIL:
	case RPCRDMA_RENEGOTIATE:
		break;
	}
	return false;
}

/* Does the peer not know Transmit Requests after all? Then we send no more of them. */
static bool without_placement(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct rpcrdma_hdr *h)
{
	if (!p->placed_call || h->err != RDMA_ERR_INVAL_HTYPE)
		return false;
	c->place.ops = 0;
	return true;
}

static int error_reply(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct rpcrdma_hdr *h)
{
	const char *meaning = "";
	enum rpcrdma_action action = rpcrdma_dialect_on_error(c->dialect, h, &meaning);

	if (action == RPCRDMA_RENEGOTIATE)
		return refused_reply(c, p, h);
	/* calls in reverse have one form only */
	p->repeat = c->requester && (without_placement(c, p, h) || change_form(p, h, action));
	if (p->repeat) {
		log_data("%s: call %08x is sent again in another form: %s", c->x.peer, h->xid,
			meaning);
		return 0;
	}
	log_warn("%s: call %08x failed: %s", c->x.peer, h->xid, meaning);
	return -EIO;
}

/* Checks a returned chunk against the n offered doors (RFC 8166 section 3.4.6). The chunk must have
 * no more segments, no segment longer than its door, and all segments before a used one full.
 * Returns the bytes written, or a negative enum. */
enum { CHUNK_TOO_LONG = -1, CHUNK_OUT_OF_ORDER = -2 };

static int64_t returned_len(const struct rpcrdma_hdr *h, const struct rpcrdma_chunk *chunk,
	const struct prov_door *door, unsigned n)
{
	bool full = true;
	int64_t sum = 0;

	if (chunk->n > n)
		return CHUNK_TOO_LONG;
	for (unsigned i = 0; i < chunk->n; i++) {
		uint32_t len = h->seg[chunk->first + i].length;

		if (len > door[i].len)
			return CHUNK_TOO_LONG;
		if (len && !full)
			return CHUNK_OUT_OF_ORDER;
		full = len == door[i].len;
		sum += len;
	}
	return sum;
}

/* Adds to p->in the payloads that the peer has written to the sinks. */
static int read_writes(
	struct rpcrdma_conn *c, struct rpcrdma_posted *p, const struct rpcrdma_hdr *h)
{
	const struct prov_door *door = p->door;

	if (h->nwrites > p->nsinks)
		return rpcrdma_bad_reply(c, h->xid, "returns Write chunks that were not offered");
	for (unsigned i = 0; i < h->nwrites; i++) {
		int64_t n = returned_len(h, &h->write[i], door, p->sink_doors[i]);

		if (n == CHUNK_OUT_OF_ORDER)
			return rpcrdma_bad_reply(c, h->xid,
				"returns a Write chunk with a gap before a segment that was used");
		if (n < 0)
			return rpcrdma_bad_reply(
				c, h->xid, "returns a longer Write chunk than was offered");
		door += p->sink_doors[i];
		if (n == 0)
			continue;
		p->in.payload[p->in.npayloads++] = (struct xdr_payload){
			.pos = XDR_POS_NEXT,
			.data = seg_list_cut(&p->call->sink[i], 0, (uint32_t)n),
		};
	}
	return 0;
}

/* Adds to p->in the result of a Transmit Response, from the Sends or in the sink (table 2 of the
 * draft). */
static int read_item(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h)
{
	const struct rpcrdma_rtr_item *it = &h->rtr.item[0];
	struct xdr_payload *pl = &p->in.payload[0];
	struct rpcrdma_rtr_fault f;
	unsigned n;

	if (h->rtr.nitems != (p->nsinks || p->place))
		return rpcrdma_bad_reply(
			c, h->xid, "has another number of items than its call has places");
	if (!h->rtr.nitems || it->type == RPCRDMA_RTR_TOOSHORT || it->type == RPCRDMA_RTR_NOITEM)
		return 0;
	if (it->type == RPCRDMA_RTR_EXRW && p->nsinks) {
		h->nwrites = 1;
		h->write[0] = (struct rpcrdma_chunk){it->at.first, it->at.n};
		return read_writes(c, p, h);
	}
	if (it->type == RPCRDMA_RTR_EXRW || p->place == RPCRDMA_RTR_EXRW)
		return rpcrdma_bad_reply(c, h->xid, "places its result otherwise than was asked");
	if (c->place_ops->placed(c, h, it, &p->reply, p->placed, RPCRDMA_PIECES, &n, &f)) {
		c->place_ops->report(c, h, NULL, &f);
		return rpcrdma_bad_reply(c, h->xid, "places its result where it is not");
	}
	if (!it->len)
		return 0;
	pl->pos = XDR_POS_NEXT;
	pl->taken = false;
	if (seg_list_init(&pl->data, p->placed, n))
		return rpcrdma_bad_reply(c, h->xid, "places too much");
	p->in.npayloads = 1;
	return 0;
}

/* Reads a Transmit Response, with the message in b, or an error about a Transmit Request. */
static int read_placed(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h,
	const struct mem_buf *b)
{
	if (h->proc == RPCRDMA_REPT_ERR) {
		log_warn("%s: call %08x: the peer refuses its placement (%u)", c->x.peer, h->xid,
			h->rtr.fault.err);
		p->repeat = p->placed_call; /* plain, so once */
		p->plain = true;
		return p->repeat ? 0 : -EIO;
	}
	if (h->proc != RPCRDMA_XMT_RESP)
		return rpcrdma_bad_reply(c, h->xid, "is no Transmit Response");
	xdr_in_init(&p->in, b->data + p->reply.off, p->reply.len);
	return read_item(c, p, h);
}

/* Is h the header of a lent reply? Then the credit of the call passes to the RDMA_DONE. */
static bool is_lent(const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc)
{
	return !rc && h->nreads && c->dialect->legacy && c->requester;
}

/* Sets p->in, but does not read bytes before the doors to the bytes are closed. 0 or the error for
 * the owner. */
static int read_reply(struct rpcrdma_conn *c, struct rpcrdma_posted *p, struct rpcrdma_hdr *h)
{
	const struct rpcrdma_msg *m = &p->reply;
	const struct mem_buf *b = m->joined ? m->joined : m->recv->buf;
	int64_t n = 0;

	if (h->proc == RDMA_ERROR)
		return error_reply(c, p, h);
	if (rpcrdma_rtr_is_proc(h->proc))
		return read_placed(c, p, h, b);
	if (h->proc != RDMA_MSG && h->proc != RDMA_NOMSG && h->proc != RDMA_MSGP)
		return rpcrdma_bad_reply(c, h->xid, "is neither RDMA_MSG nor RDMA_NOMSG");
	if (h->nreads && !is_lent(c, h, 0))
		return rpcrdma_bad_reply(c, h->xid, "has a Read list");
	if (h->has_reply) {
		if (!p->reply_buf)
			return rpcrdma_bad_reply(
				c, h->xid, "returns a Reply chunk that was not offered");
		n = returned_len(h, &h->reply, p->door, p->reply_doors);
		if (n < 0)
			return rpcrdma_bad_reply(
				c, h->xid, "returns a longer Reply chunk than was offered");
	}
	if (h->proc == RDMA_NOMSG && !h->nreads) {
		if (!h->has_reply)
			return rpcrdma_bad_reply(c, h->xid, "is RDMA_NOMSG without a Reply chunk");
		xdr_in_init(&p->in, p->reply_buf->data, (size_t)n);
	} else {
		if (n)
			return rpcrdma_bad_reply(
				c, h->xid, "has a message beside a used Reply chunk");
		xdr_in_init(&p->in, b->data + m->off, m->len);
		p->in.padding = rpcrdma_padding_of(h);
	}
	return read_writes(c, p, h);
}

/* --- closing and telling ---------------------------------------------------------------------- */

/* The peer's Send has closed a door. The door must be one of p's (RFC 8797 section 4.1). */
static bool note_invalidated(struct rpcrdma_posted *p, uint32_t stag)
{
	for (unsigned i = 0; p && i < p->ndoors; i++)
		if (p->door[i].stag == stag) {
			p->door[i].invalidated = true;
			return true;
		}
	return false;
}

/* Frees the orphan with the XID, and returns the orphan's credits. */
static unsigned orphan_sends_locked(struct rpcrdma_conn *c, uint32_t xid) REQUIRES(c->lock)
{
	struct rpcrdma_posted *p;

	TAILQ_FOREACH (p, &c->orphans, link) {
		if (p->xid != xid)
			continue;
		TAILQ_REMOVE(&c->orphans, p, link);
		rpcrdma_posted_free_locked(c, p);
		return p->sends;
	}
	return 1;
}

/* Gives back the credits of an answered call. */
static void put_credits_locked(struct rpcrdma_conn *c, const struct rpcrdma_posted *p,
	const struct rpcrdma_hdr *h, int rc) REQUIRES(c->lock)
{
	if (!is_lent(c, h, rc))
		rpcrdma_credit_put(&c->credit_out, p->sends);
	if (p->dones != c->old.dones_back)
		c->old_ops->dones_back_locked(c, p->dones);
}

/* Finds the posted call of a reply, and takes the call off the list; NULL: none. *late: the call
 * may have been taken back. *done: a credit was taken to answer the reply with RDMA_DONE.
 */
static struct rpcrdma_posted *take_posted(
	struct rpcrdma_conn *c, const struct rpcrdma_hdr *h, int rc, bool *late, bool *done)
{
	struct rpc_call *call = c->x.up.find(c->x.up.ctx, h->xid, !c->requester);
	struct rpcrdma_posted *p;

	mutex_lock(&c->lock);
	while ((p = TAILQ_FIRST(&c->ended))) {
		TAILQ_REMOVE(&c->ended, p, link);
		rpcrdma_posted_free_locked(c, p);
	}
	/* the grant of an error does not count before a message that is no error */
	if (!rc && !rpcrdma_hdr_is_err_vers(h) && !c->dialect->talks &&
		(c->settled || h->proc != RDMA_ERROR))
		rpcrdma_credit_grant(&c->credit_out, h->grant);
	atomic_store_explicit(&c->x.credits, c->credit_out.granted, memory_order_relaxed);
	p = call ? call->xprt_priv : NULL;
	/* A reply to a call that was never sent comes from a peer that guesses XIDs. Waiting for
	 * the sending thread would be harmless, but useless. */
	if (p && p->state == RPCRDMA_SENT) {
		TAILQ_REMOVE(&c->posted, p, link);
		p->state = RPCRDMA_CLOSING;
		c->patient -= p->patient ? p->sends : 0;
		put_credits_locked(c, p, h, rc);
	} else {
		p = NULL;
		*late = c->credit_out.orphans > 0;
		rpcrdma_credit_late(&c->credit_out, orphan_sends_locked(c, h->xid));
		*done = is_lent(c, h, rc) && rpcrdma_credit_take(&c->credit_out, 1);
	}
	mutex_unlock(&c->lock);
	return p;
}

void rpcrdma_handle_reply(struct rpcrdma_conn *c, struct rpcrdma_hdr *h, int rc,
	struct rpcrdma_msg *m, const struct prov_wc *wc)
{
	bool late = false, done = false;
	struct rpcrdma_posted *p;

	/* first: the next thread with the credit sends in the new dialect */
	if (!rc && rpcrdma_hdr_is_err_vers(h))
		rpcrdma_refused(c, h);
	else if (h->proc == RDMA_ERROR &&
		 (rc || h->err == RDMA_ERR_CHUNK || h->err == RDMA_ERR_INVAL_HTYPE))
		rpcrdma_misunderstood(c);
	p = take_posted(c, h, rc, &late, &done);

	/* A late reply may have closed a door before the owner took the call back. Or the provider
	 * tolerates the invalidation, because the door is abandoned. */
	if (wc->invalidated && !late && !note_invalidated(p, wc->inv_stag))
		rpcrdma_break(c, "reply %08x invalidates %08x, which its call did not offer",
			h->xid, wc->inv_stag);
	if (!p) {
		log_data("%s: reply %08x belongs to no call: dropped", c->x.peer, h->xid);
		if (done)
			c->old_ops->send_done(c, h->xid);
		rpcrdma_msg_done(c, m);
		return;
	}
	p->reply = *m;
	p->repeat = h->proc == RDMA_ERROR && p->dialect != c->dialect;
	/* a call refused in the old dialect is repeated in the new one, so not without end */
	if (!p->repeat)
		p->error = rc ? rpcrdma_bad_reply(c, h->xid, "has a malformed header")
			      : read_reply(c, p, h);
	if (is_lent(c, h, rc))
		c->old_ops->pull_reply(c, p, h);
	else
		rpcrdma_close_doors(c, p);
}

/* --- taking back ------------------------------------------------------------------------------ */
