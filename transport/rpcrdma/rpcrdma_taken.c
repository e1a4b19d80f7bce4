/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_taken: a call of the peer, or a reply with a Read list: where the message and each
 * payload go.
 *
 * Positions on the wire count in the stream with all payloads, our positions count in the buffer.
 */
#include "transport/rpcrdma/rpcrdma_taken.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "transport/rpcrdma/rpcrdma_parts.h"

struct rpcrdma_taken *rpcrdma_taken_new(const struct rpcrdma_hdr *h)
{
	size_t reads = h->nreads * sizeof(h->read[0]), segs = h->nsegs * sizeof(h->seg[0]);
	size_t pieces = h->rtr.nbsns * sizeof(struct seg);
	struct rpcrdma_taken *t = malloc(sizeof(*t) + reads + segs + pieces);

	if (!t)
		return NULL;
	t->xid = h->xid;
	t->vers = h->vers;
	t->msg = NULL;
	t->padding = rpcrdma_padding_of(h);
	t->is_reply = false;
	t->posted = NULL;
	t->nwrites = h->nwrites;
	memcpy(t->write, h->write, h->nwrites * sizeof(h->write[0]));
	t->has_reply = h->has_reply;
	t->reply = h->reply;
	t->nsegs = h->nsegs;
	t->seg = (struct rpcrdma_seg *)(t->read + h->nreads);
	memcpy(t->seg, h->seg, segs);
	t->nreads = h->nreads;
	memcpy(t->read, h->read, reads);
	t->held = 0;
	t->here = 0;
	t->placed = h->proc == RPCRDMA_XMT_REQ;
	t->placed_at = (struct seg *)(t->seg + h->nsegs);
	t->nkept = 0;
	t->reserved = 1;
	if (t->placed && h->rtr.reserved > 1)
		t->reserved =
			h->rtr.reserved < RPCRDMA_RTR_SENDS ? h->rtr.reserved : RPCRDMA_RTR_SENDS;
	t->nplaces = h->rtr.nplaces;
	memcpy(t->place, h->rtr.place, t->nplaces * sizeof(t->place[0]));
	t->segs = 0;
	t->npayloads = t->next_read = t->slot = t->reading = 0;
	memset(t->filled, 0, sizeof(t->filled));
	return t;
}

/* Sizes the message and the payloads from the Read list. Positions must not go down; a message is
 * either in the Send or, nomsg, in a position-zero chunk. 0, -EBADMSG, -E2BIG or -EFBIG. */
static int plan_reads(struct rpcrdma_taken *t, bool nomsg)
{
	uint64_t total = 0, msg_len = 0;

	for (unsigned i = 0; i < t->nreads; i++) {
		const struct rpcrdma_read *r = &t->read[i];
		uint32_t before = i ? t->read[i - 1].position : 0;

		total += r->seg.length;
		if (r->position < before)
			return -EBADMSG;
		if (total > MEM_MAX_SIZE)
			return -EFBIG;
		if (r->position == 0) {
			msg_len += r->seg.length;
			continue;
		}
		if (r->position != before) {
			if (t->npayloads == XDR_MAX_PAYLOADS)
				return -E2BIG;
			t->pbuf[t->npayloads] = NULL;
			t->payload[t->npayloads++] = (struct xdr_payload){.pos = r->position};
		}
		t->payload[t->npayloads - 1].data.len += r->seg.length;
	}
	if (nomsg != (t->nreads && t->read[0].position == 0))
		return -EBADMSG;
	if (nomsg)
		t->msg_len = (uint32_t)msg_len;
	return 0;
}

/* Positions of the whole stream to positions in the buffer: the payloads before do not count. */
static int plan_positions(struct rpcrdma_taken *t)
{
	uint64_t before = 0;
	uint32_t last = 0;

	for (unsigned i = 0; i < t->npayloads; i++) {
		struct xdr_payload *p = &t->payload[i];

		/* a payload begins behind the end of the one before */
		if (p->pos < last + before || p->pos - before > t->msg_len)
			return -EBADMSG;
		p->pos -= (uint32_t)before;
		last = p->pos;
		before += (uint64_t)p->data.len + xdr_pad(p->data.len);
	}
	return t->msg_len < 8 ? -EBADMSG : 0;
}

/* t takes the buffers with data of m, but not the buffer with the message. */
static void keep(struct rpcrdma_taken *t, struct rpcrdma_msg *m)
{
	for (unsigned i = 0; i < m->nmore; i++) {
		t->kept[t->nkept++] = m->more[i].recv->buf;
		m->more[i].recv->buf = NULL;
	}
	if (m->nmore && m->joined) { /* t->msg then */
		t->kept[t->nkept++] = m->recv->buf;
		m->recv->buf = NULL;
	}
}

int rpcrdma_taken_plan(struct rpcrdma_conn *c, struct rpcrdma_taken *t, const struct rpcrdma_hdr *h,
	struct rpcrdma_msg *m)
{
	bool nomsg = h->proc == RDMA_NOMSG;
	struct mem_buf **buf = m->joined ? &m->joined : &m->recv->buf;
	int rc;

	t->sends = m->sends;
	t->msg_off = nomsg ? 0 : m->off;
	t->msg_len = m->len;
	rc = plan_reads(t, nomsg);
	if (!rc && t->placed)
		rc = c->place_ops->taken_place(c, t, h, m);
	if (!rc)
		rc = plan_positions(t);
	if (!rc && !nomsg) {
		keep(t, m);
		t->msg = *buf;
		*buf = NULL;
	}
	return rc;
}

/* A chunk may or may not include the item's round-up (RFC 8166 section 3.4.5.2). The length word in
 * the stream before the payload tells. */
static uint32_t true_len(const struct xdr_in *in, const struct xdr_payload *p)
{
	uint32_t word;

	if (p->pos < 4)
		return p->data.len;
	memcpy(&word, in->base + p->pos - 4, 4);
	word = be32toh(word);
	if (word < p->data.len && word + xdr_pad(word) == p->data.len)
		return word;
	return p->data.len;
}

void rpcrdma_taken_stream(const struct rpcrdma_taken *t, struct xdr_in *in)
{
	xdr_in_init(in, t->msg->data + t->msg_off, t->msg_len);
	in->padding = t->padding;
	for (unsigned i = 0; i < t->npayloads; i++) {
		struct xdr_payload *p = &in->payload[in->npayloads];

		if (!t->payload[i].data.len)
			continue;
		*p = t->payload[i];
		p->data = seg_list_cut(&p->data, 0, true_len(in, p));
		in->npayloads++;
	}
}

struct rpcrdma_taken *rpcrdma_taken_free(struct rpcrdma_conn *c, struct rpcrdma_taken *t)
{
	if (!t)
		return NULL;
	mem_buf_unref(t->msg);
	while (t->nkept)
		mem_buf_unref(t->kept[--t->nkept]);
	for (unsigned i = 0; i < t->npayloads; i++)
		mem_buf_unref(t->pbuf[i]);
	if (t->held)
		atomic_fetch_sub_explicit(&c->pulled, t->held, memory_order_relaxed);
	if (t->segs) { /* add first, then subtract: no thread sees too small a sum */
		atomic_fetch_add_explicit(&c->segs_out, t->segs, memory_order_relaxed);
		atomic_fetch_sub_explicit(&c->segs, t->segs, memory_order_release);
	}
	free(t);
	return NULL;
}
