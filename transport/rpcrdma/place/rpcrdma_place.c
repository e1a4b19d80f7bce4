/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_place: data placed by Sends (rpcrdma_rtr.h).
 *
 * Our receive buffer is a short head before a page-aligned run of pages: header and message come in
 * the head, and the data in pages. So at most the bytes of the head are sent as filler before the
 * data. A longer message continues in the first page. Such buffers are large: where memory is
 * short, a connection has plain buffers, announces no targets, and places nothing.
 *
 * Out, one item of data leaves in place behind the message. If the Send has too few targets,
 * further Sends bring the rest: a group of transmissions. The bytes between message and data are
 * zero (section 11). In, the data stays in the receive buffer until the reader of the message is
 * done.
 */
#include "transport/rpcrdma/place/rpcrdma_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/log.h"
#include "transport/rpcrdma/rpcrdma_rtr.h"

const struct rpcrdma_rtr_layout rpcrdma_rtr_own = {
	.len = RPCRDMA_RTR_HEAD + RPCRDMA_RTR_OWN * RPCRDMA_RTR_PAGE,
	.ngroups = 2,
	.group = {{1, RPCRDMA_RTR_HEAD, RPCRDMA_RTR_HEAD, 0},
		{RPCRDMA_RTR_OWN, RPCRDMA_RTR_PAGE, RPCRDMA_RTR_PAGE, RPCRDMA_RTR_TARGET}},
};

/* --- out -------------------------------------------------------------------------------------- */

/* Names n targets from the first on. */
static void name_targets(
	struct rpcrdma_rtr *r, struct rpcrdma_rtr_item *it, unsigned first, unsigned n)
{
	it->at = (struct rpcrdma_rtr_run){0, n};
	r->nbsns = n;
	for (unsigned i = 0; i < n; i++)
		r->bsn[i] = first + i;
}

/* Places data in targets of one Send. The message has len bytes besides. */
static int in_one(const struct rpcrdma_conn *c, struct rpcrdma_hdr *h, struct rpcrdma_rtr_item *it,
	const struct seg_list *data, uint64_t len)
{
	const struct rpcrdma_rtr_layout *l = &c->place.layout;
	struct rpcrdma_rtr *r = &h->rtr;
	unsigned n = 0, most;
	uint32_t off, size;
	int first = rpcrdma_rtr_fit(l, 0, data->len, &most);

	/* targets may differ in size, so behind the header the data may take other ones */
	for (unsigned tries = 0; first >= 0 && n != most && tries < 4; tries++) {
		if (most > RPCRDMA_RTR_BSNS)
			return -EMSGSIZE;
		n = most;
		name_targets(r, it, (unsigned)first, n);
		first = rpcrdma_rtr_fit(l, (uint32_t)(c->dialect->size(h) + len), data->len, &most);
	}
	if (first < 0 || n != most || !rpcrdma_rtr_target(l, (unsigned)first, &off, &size) ||
		(uint64_t)off + data->len > c->x.inline_send)
		return -EMSGSIZE;
	name_targets(r, it, (unsigned)first, n);
	r->count = 1;
	return 0;
}

/* The number of `left` bytes that one Send brings in gapless targets, from the first target behind
 * `behind` bytes. Adds the numbers of the targets, counted from base, to r, if r is not NULL. */
static uint32_t fill(const struct rpcrdma_conn *c, struct rpcrdma_rtr *r, unsigned base,
	uint32_t behind, uint32_t left)
{
	uint32_t off, size, next = 0, sum = 0;

	for (unsigned i = 0; sum < left && rpcrdma_rtr_target(&c->place.layout, i, &off, &size);
		i++) {
		uint32_t use = size < left - sum ? size : left - sum;

		if (off < behind)
			continue;
		if ((sum && off != next) || (uint64_t)off + use > c->x.inline_send ||
			(r && r->nbsns == RPCRDMA_RTR_BSNS))
			break;
		if (r)
			r->bsn[r->nbsns++] = base + i;
		sum += use;
		next = off + size;
	}
	return sum;
}

static uint32_t continue_size(const struct rpcrdma_conn *c)
{
	struct rpcrdma_hdr h;

	h.proc = RPCRDMA_XMT_CONT;
	return (uint32_t)c->dialect->size(&h);
}

/* Places data in targets of up to `most` Sends. */
static int in_group(const struct rpcrdma_conn *c, struct rpcrdma_hdr *h,
	struct rpcrdma_rtr_item *it, const struct seg_list *data, uint64_t len, unsigned most)
{
	unsigned per = rpcrdma_rtr_targets(&c->place.layout), known;
	struct rpcrdma_rtr *r = &h->rtr;

	r->nbsns = 0;
	do { /* the more targets the header names, the longer the header and the fewer targets
		behind it */
		uint32_t left = data->len, n;
		uint64_t behind;

		known = r->nbsns;
		it->at = (struct rpcrdma_rtr_run){0, known};
		behind = c->dialect->size(h) + len;
		r->nbsns = 0;
		for (r->count = 0; left && r->count < most; r->count++) {
			if (r->count)
				behind = continue_size(c);
			n = behind < c->x.inline_send
				    ? fill(c, r, r->count * per, (uint32_t)behind, left)
				    : 0;
			if (!n)
				return -EMSGSIZE;
			left -= n;
		}
		if (left || r->nbsns < known)
			return -EMSGSIZE;
	} while (r->nbsns != known);
	return 0;
}

int rpcrdma_place_item(const struct rpcrdma_conn *c, struct rpcrdma_hdr *h, unsigned i,
	uint32_t disp, const struct seg_list *data, uint64_t len, unsigned most)
{
	struct rpcrdma_rtr *r = &h->rtr;
	struct rpcrdma_rtr_item *it = &r->item[i];
	int rc;

	*it = (struct rpcrdma_rtr_item){.disp = disp, .len = data->len, .type = RPCRDMA_RTR_TBSN};
	rc = in_one(c, h, it, data, len);
	return rc && most > 1 ? in_group(c, h, it, data, len, most) : rc;
}

uint64_t rpcrdma_place_room(const struct rpcrdma_conn *c, uint32_t len, unsigned sends)
{
	return fill(c, NULL, 0, len, UINT32_MAX) +
	       (sends - 1) * (uint64_t)fill(c, NULL, 0, continue_size(c), UINT32_MAX);
}

/* Appends the pieces of data to wr. False: too many pieces, or memory without a buffer to hold.
 */
static bool add_pieces(struct prov_wr *wr, const struct seg_list *data)
{
	struct seg_iter it = seg_iter_of(data);
	struct mem_buf *b;

	while (it.left) {
		if (wr->nsge == PROV_MAX_SGE || wr->nhold == PROV_MAX_HOLD)
			return false;
		seg_next(&it, it.left, &wr->sge[wr->nsge++], &b);
		if (!b)
			return false;
		if (wr->hold[wr->nhold - 1] != b)
			wr->hold[wr->nhold++] = b;
	}
	return true;
}

/* Makes one Send: s under header h, and data at offset off of the Send. */
static int make_one(struct rpcrdma_conn *c, struct prov_wr *wr, const struct rpcrdma_hdr *h,
	const struct rpcrdma_stream *s, const struct seg_list *data, uint32_t off,
	struct mem_buf **held)
{
	size_t hlen = c->dialect->size(h);
	struct mem_buf *b;
	bool gathered;

	if (off < hlen + s->len)
		return -EMSGSIZE;
	*wr = (struct prov_wr){.op = PROV_SEND, .nsge = 1, .nhold = 1};
	gathered = !add_pieces(wr, data);
	b = mem_buf_get(c->pool, off + (gathered ? data->len : 0));
	if (!b)
		return -ENOMEM;
	rpcrdma_stream_copy(s, b->data + hlen);
	memset(b->data + hlen + s->len, 0, off - hlen - s->len);
	if (c->dialect->encode(h, b->data, hlen) < 0) {
		mem_buf_unref(b);
		return -EINVAL;
	}
	wr->sge[0] = mem_buf_sge(b, 0, off);
	wr->hold[0] = b;
	if (gathered) {
		seg_list_gather(data, b->data + off);
		wr->nsge = wr->nhold = 1;
		wr->sge[0].len = off + data->len;
		rpcrdma_stat_add(c, bytes_pulled_up, data->len);
	}
	*held = b;
	return 0;
}

/* The room in bytes of the item's targets in one Send, from target *i on. Sets *i to the first
 * target of the next Send, and *off to the offset of the first target. */
static uint32_t targets_of(
	const struct rpcrdma_conn *c, const struct rpcrdma_rtr *r, unsigned *i, uint32_t *off)
{
	unsigned per = rpcrdma_rtr_targets(&c->place.layout), k = r->bsn[*i] / per;
	uint32_t at, size, sum = 0;

	for (; *i < r->nbsns && r->bsn[*i] / per == k; ++*i) {
		rpcrdma_rtr_target(&c->place.layout, r->bsn[*i] % per, &at, &size);
		*off = sum ? *off : at;
		sum += size;
	}
	return sum;
}

int rpcrdma_make_placed(struct rpcrdma_conn *c, struct rpcrdma_lead *lead, struct prov_wr *wr,
	const struct rpcrdma_hdr *h, const struct rpcrdma_stream *s, const struct seg_list *data,
	struct mem_buf **held)
{
	static const struct rpcrdma_stream nothing;
	unsigned n = h->rtr.count, i = 0;
	uint32_t done = 0, off = 0, len;
	struct rpcrdma_hdr go_on;
	struct seg_list part;
	int rc = 0;

	if (n > 1) {
		lead->wr = malloc((n - 1) * sizeof(*lead->wr));
		if (!lead->wr)
			return -ENOMEM;
		rpcrdma_begin_hdr(c, &go_on, h->xid, h->dir, RPCRDMA_XMT_CONT);
		go_on.rtr.begun = h->proc - RPCRDMA_RTR_PRIVATE;
		go_on.rtr.len = 0;
	}
	for (unsigned k = 0; !rc && k < n; k++) {
		bool last = k == n - 1;

		go_on.rtr.number = k;
		len = targets_of(c, &h->rtr, &i, &off);
		part = seg_list_cut(data, done, len);
		done += part.len;
		rc = make_one(c, last ? wr : &lead->wr[k], k ? &go_on : h, k ? &nothing : s, &part,
			off, held);
		if (rc || last)
			break;
		lead->wr[lead->n++].flags = PROV_MORE;
	}
	if (rc)
		rpcrdma_lead_drop(lead);
	return rc;
}

/* --- in --------------------------------------------------------------------------------------- */

static enum rpcrdma_rtr_err wrong(struct rpcrdma_rtr_fault *f, enum rpcrdma_rtr_err err,
	uint32_t value, uint32_t least, uint32_t most)
{
	f->err = err;
	f->v[0] = value;
	f->v[1] = least;
	f->v[2] = most;
	return err;
}

enum rpcrdma_rtr_err rpcrdma_placed(const struct rpcrdma_conn *c, const struct rpcrdma_hdr *h,
	const struct rpcrdma_rtr_item *it, const struct rpcrdma_msg *m, struct seg *seg,
	unsigned most, unsigned *n, struct rpcrdma_rtr_fault *f)
{
	uint32_t skip = it->off, left = it->len, off, size;
	uint32_t all = c->place.targets ? RPCRDMA_RTR_OWN * (1 + m->nmore) : 0,
		 max = all ? all - 1 : 0;
	struct mem_sge at;

	*n = 0;
	for (unsigned i = 0; left; i++) {
		uint32_t bsn = i < it->at.n ? h->rtr.bsn[it->at.first + i] : all;
		struct rpcrdma_part in = {m->recv, m->recv_len, 0, m->end};

		if (bsn >= all)
			return wrong(f, RPCRDMA_RTR_BADTBSN, bsn, 0, max);
		rpcrdma_rtr_target(&rpcrdma_rtr_own, bsn % RPCRDMA_RTR_OWN, &off, &size);
		if (skip >= size || skip % 4)
			return wrong(f, RPCRDMA_RTR_BADOFF, skip, 0, size - 1);
		if (bsn >= RPCRDMA_RTR_OWN)
			in = m->more[bsn / RPCRDMA_RTR_OWN - 1];
		off += skip;
		size -= skip;
		size = size < left ? size : left;
		if (off < in.end || off + size > in.recv_len)
			return wrong(f, RPCRDMA_RTR_BADTBSN, bsn, 0, max);
		at = mem_buf_sge(in.recv->buf, c->recv_off + off, size);
		if (*n && (uint8_t *)seg[*n - 1].at.addr + seg[*n - 1].at.len == at.addr)
			seg[*n - 1].at.len += size;
		else if (*n < most)
			seg[(*n)++] = (struct seg){at, in.recv->buf};
		else
			return wrong(f, RPCRDMA_RTR_BADTBSN, bsn, 0, max);
		left -= size;
		skip = 0;
	}
	return 0;
}

/* --- a Transmit Request -----------------------------------------------------------------------
 */

int rpcrdma_as_chunks(struct rpcrdma_hdr *h)
{
	int rc = h->rtr.nplaces > XDR_MAX_PAYLOADS ? -E2BIG : 0;

	for (unsigned i = 0; !rc && i < h->rtr.nitems; i++) {
		const struct rpcrdma_rtr_item *it = &h->rtr.item[i];

		for (unsigned k = 0; it->type == RPCRDMA_RTR_EXRW && !rc && k < it->at.n; k++)
			rc = rpcrdma_hdr_add_read(h, it->disp, &h->seg[it->at.first + k]);
	}
	for (unsigned i = 0; !rc && i < h->rtr.nplaces; i++)
		h->write[h->nwrites++] =
			(struct rpcrdma_chunk){h->rtr.place[i].at.first, h->rtr.place[i].at.n};
	return rc;
}

/* Inserts a payload for data that begins at pos; later payloads move up. */
static struct xdr_payload *insert_payload(struct rpcrdma_taken *t, uint32_t pos)
{
	unsigned i = t->npayloads++;

	for (; i && t->payload[i - 1].pos > pos; i--) {
		t->payload[i] = t->payload[i - 1];
		t->here = (t->here & ~(1u << i)) | (t->here >> (i - 1) & 1) << i;
	}
	t->pbuf[t->npayloads - 1] = NULL;
	t->here |= 1u << i;
	t->payload[i] = (struct xdr_payload){.pos = pos};
	return &t->payload[i];
}

int rpcrdma_taken_place(struct rpcrdma_conn *c, struct rpcrdma_taken *t,
	const struct rpcrdma_hdr *h, const struct rpcrdma_msg *m)
{
	struct rpcrdma_rtr_fault f = {.err = 0};
	unsigned used = 0, n;

	for (unsigned i = 0; i < h->rtr.nitems; i++) {
		const struct rpcrdma_rtr_item *it = &h->rtr.item[i];
		struct xdr_payload *p;

		if (it->type != RPCRDMA_RTR_TBSN || !it->len)
			continue;
		if (t->npayloads == XDR_MAX_PAYLOADS)
			return -E2BIG;
		if (rpcrdma_placed(c, h, it, m, t->placed_at + used, it->at.n, &n, &f)) {
			rpcrdma_report(c, h, NULL, &f);
			return -EPROTO;
		}
		p = insert_payload(t, it->disp);
		seg_list_init(&p->data, t->placed_at + used, n);
		used += n;
	}
	return 0;
}

static uint32_t capped(uint64_t n)
{
	return n > MEM_MAX_SIZE ? MEM_MAX_SIZE : (uint32_t)n;
}

/* Data of one place may come in Sends, beside a message of RPCRDMA_RTR_MSG bytes at most. */
void rpcrdma_set_places(
	const struct rpcrdma_conn *c, struct rpc_req *req, const struct rpcrdma_taken *t)
{
	uint64_t hlen = RPCRDMA_RTR_HDR + RPCRDMA_REPLY_HDR, sinks = 0, by_send = 0;
	uint64_t room = c->x.inline_send, taken = hlen + t->nsegs * sizeof(struct rpcrdma_seg);

	if (c->place.ops)
		by_send = rpcrdma_place_room(c, RPCRDMA_RTR_MSG, t->reserved);
	room = room > taken ? room - taken : 0;
	req->places = true;
	for (unsigned i = 0; i < t->nplaces; i++) {
		const struct rpcrdma_rtr_place *at = &t->place[i];
		uint64_t n = rpcrdma_chunk_len(t->seg, &t->write[i]);

		if (at->type != RPCRDMA_RTR_EXRW && n < by_send) {
			n = by_send;
			by_send = 0;
			if (room > RPCRDMA_RTR_MSG - hlen)
				room = RPCRDMA_RTR_MSG - hlen;
		}
		sinks += n;
		req->sink[i] = capped(n);
		req->sink_for[i].begin = at->begin;
		req->sink_for[i].end = at->end;
	}
	req->nsinks = t->nplaces;
	req->res_max = capped(room);
	req->sink_max = capped(sinks);
}

/* --- errors ------------------------------------------------------------------------------------
 */

void rpcrdma_reported(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h)
{
	log_warn("%s: the peer refuses the placement of reply %08x (%u): protocol error", c->x.peer,
		h->rtr.fault.bad.xid, h->rtr.fault.err);
	c->place.ops = 0;
}

void rpcrdma_report(struct rpcrdma_conn *c, const struct rpcrdma_hdr *h,
	const struct rpcrdma_hdr *lead, const struct rpcrdma_rtr_fault *f)
{
	const struct rpcrdma_hdr *about = lead ? lead : h; /* the message of `about` is refused */
	struct rpcrdma_hdr out;
	int rc;

	log_data("%s: the placement of message %08x is wrong (%u)", c->x.peer, about->xid, f->err);
	rpcrdma_begin_hdr(c, &out, about->xid,
		about->dir == RPCRDMA_DIR_CALL ? RPCRDMA_DIR_REPLY : RPCRDMA_DIR_CALL,
		RPCRDMA_REPT_ERR);
	out.rtr.fault = *f;
	out.rtr.fault.bad = (struct rpcrdma_rtr_id){h->xid, h->dir == RPCRDMA_DIR_REPLY,
		h->proc == RPCRDMA_XMT_CONT ? h->rtr.number : 0};
	out.rtr.fault.has_lead = lead != NULL;
	if (lead)
		out.rtr.fault.lead =
			(struct rpcrdma_rtr_id){lead->xid, lead->dir == RPCRDMA_DIR_REPLY, 0};
	rc = rpcrdma_post_hdr(c, &out);
	if (rc && rc != -ENOTCONN)
		rpcrdma_break(c, "an error could not be sent: %s", strerror(-rc));
}
