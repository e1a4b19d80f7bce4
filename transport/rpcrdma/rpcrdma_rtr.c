/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_rtr: see rpcrdma_rtr.h; the XDR is from section 10.2 of the draft.
 */
#include "transport/rpcrdma/rpcrdma_rtr.h"

#define SEG_LEN 16u

/* --- out -------------------------------------------------------------------------------------- */

/* Places in a row with the same range are one set. */
static bool begins_set(const struct rpcrdma_rtr *r, unsigned i)
{
	return !i || r->place[i].begin != r->place[i - 1].begin ||
	       r->place[i].end != r->place[i - 1].end;
}

static size_t items_size(const struct rpcrdma_rtr *r)
{
	size_t n = 4;

	for (unsigned i = 0; i < r->nitems; i++) {
		const struct rpcrdma_rtr_item *it = &r->item[i];

		n += 12;
		if (it->type == RPCRDMA_RTR_EXRW)
			n += 4 + (size_t)it->at.n * SEG_LEN;
		else if (it->type == RPCRDMA_RTR_TBSN)
			n += 4 + 4 + (size_t)it->at.n * 4;
	}
	return n;
}

static size_t places_size(const struct rpcrdma_rtr *r)
{
	size_t n = 4;

	for (unsigned i = 0; i < r->nplaces; i++) {
		const struct rpcrdma_rtr_place *p = &r->place[i];

		n += begins_set(r, i) ? 12 : 0;
		n += 8;
		if (p->type != RPCRDMA_RTR_TBSN)
			n += (p->type == RPCRDMA_RTR_BYSIZE ? 4 : 0) + 4 +
			     (size_t)p->at.n * SEG_LEN;
	}
	return n;
}

static unsigned fault_words(uint32_t err)
{
	switch (err) {
	case RPCRDMA_RTR_BADHMT:
	case RPCRDMA_RTR_BADOMT:
	case RPCRDMA_RTR_BADSEQ:
	case RPCRDMA_RTR_BADXID:
		return 2;
	case RPCRDMA_RTR_BADOFF:
	case RPCRDMA_RTR_BADTBSN:
	case RPCRDMA_RTR_BADPL:
		return 3;
	default:
		return 0;
	}
}

size_t rpcrdma_rtr_size(const struct rpcrdma_hdr *h)
{
	const struct rpcrdma_rtr *r = &h->rtr;

	switch (h->proc) {
	case RPCRDMA_XMT_REQ:
		return items_size(r) + places_size(r) + 12;
	case RPCRDMA_XMT_RESP:
		return items_size(r) + 8;
	case RPCRDMA_XMT_CONT:
		return 12;
	default:
		return 12 + 4 + (r->fault.has_lead ? 12 : 0) + 4 + 4 * fault_words(r->fault.err);
	}
}

static void put_segs(
	struct xdr_out *x, const struct rpcrdma_hdr *h, const struct rpcrdma_rtr_run *at)
{
	xdr_put_u32(x, at->n);
	for (unsigned i = 0; i < at->n; i++)
		rpcrdma_put_seg(x, &h->seg[at->first + i]);
}

static void put_items(struct xdr_out *x, const struct rpcrdma_hdr *h)
{
	const struct rpcrdma_rtr *r = &h->rtr;

	xdr_put_u32(x, r->nitems);
	for (unsigned i = 0; i < r->nitems; i++) {
		const struct rpcrdma_rtr_item *it = &r->item[i];

		xdr_put_u32(x, it->disp);
		xdr_put_u32(x, it->len);
		xdr_put_u32(x, it->type);
		if (it->type == RPCRDMA_RTR_EXRW)
			put_segs(x, h, &it->at);
		if (it->type != RPCRDMA_RTR_TBSN)
			continue;
		xdr_put_u32(x, it->off);
		xdr_put_u32(x, it->at.n);
		for (unsigned k = 0; k < it->at.n; k++)
			xdr_put_u32(x, r->bsn[it->at.first + k]);
	}
}

static void put_places(struct xdr_out *x, const struct rpcrdma_hdr *h)
{
	const struct rpcrdma_rtr *r = &h->rtr;
	unsigned n = 0, i, k;

	for (i = 0; i < r->nplaces; i++)
		n += begins_set(r, i);
	xdr_put_u32(x, n);
	for (i = 0; i < r->nplaces; i++) {
		const struct rpcrdma_rtr_place *p = &r->place[i];

		if (begins_set(r, i)) {
			for (k = i + 1; k < r->nplaces && !begins_set(r, k); k++)
				;
			xdr_put_u32(x, p->begin);
			xdr_put_u32(x, p->end);
			xdr_put_u32(x, k - i);
		}
		xdr_put_u32(x, p->min);
		xdr_put_u32(x, p->type);
		if (p->type == RPCRDMA_RTR_BYSIZE)
			xdr_put_u32(x, p->most);
		if (p->type != RPCRDMA_RTR_TBSN)
			put_segs(x, h, &p->at);
	}
}

static void put_id(struct xdr_out *x, const struct rpcrdma_rtr_id *id)
{
	xdr_put_u32(x, id->xid);
	xdr_put_u32(x, id->dir);
	xdr_put_u32(x, id->seq);
}

static void put_fault(struct xdr_out *x, const struct rpcrdma_rtr_fault *f)
{
	put_id(x, &f->bad);
	xdr_put_bool(x, f->has_lead);
	if (f->has_lead)
		put_id(x, &f->lead);
	xdr_put_u32(x, f->err);
	for (unsigned i = 0; i < fault_words(f->err); i++)
		xdr_put_u32(x, f->v[i]);
}

void rpcrdma_rtr_put(struct xdr_out *x, const struct rpcrdma_hdr *h)
{
	const struct rpcrdma_rtr *r = &h->rtr;

	switch (h->proc) {
	case RPCRDMA_XMT_REQ:
		put_items(x, h);
		put_places(x, h);
		xdr_put_u32(x, r->count);
		xdr_put_u32(x, r->reserved);
		break;
	case RPCRDMA_XMT_RESP:
		put_items(x, h);
		xdr_put_u32(x, r->count);
		break;
	case RPCRDMA_XMT_CONT:
		xdr_put_u32(x, r->number);
		xdr_put_u32(x, r->begun);
		break;
	default:
		put_fault(x, &r->fault);
		return;
	}
	xdr_put_u32(x, r->len);
}

/* --- in --------------------------------------------------------------------------------------- */

static void get_segs(struct xdr_in *x, struct rpcrdma_hdr *h, struct rpcrdma_rtr_run *at)
{
	uint32_t n = xdr_get_count(x, RPCRDMA_MAX_SEGS - h->nsegs, SEG_LEN);

	at->first = h->nsegs;
	at->n = n;
	for (uint32_t i = 0; i < n; i++)
		rpcrdma_get_seg(x, &h->seg[h->nsegs++]);
}

/* Table 1: a request only names the place of its data. */
static bool item_may_be(uint32_t proc, uint32_t type)
{
	return type == RPCRDMA_RTR_EXRW || type == RPCRDMA_RTR_TBSN ||
	       (proc == RPCRDMA_XMT_RESP &&
		       (type == RPCRDMA_RTR_TOOSHORT || type == RPCRDMA_RTR_NOITEM));
}

static void get_item(struct xdr_in *x, struct rpcrdma_hdr *h, struct rpcrdma_rtr_item *it)
{
	struct rpcrdma_rtr *r = &h->rtr;
	uint32_t n;

	it->disp = xdr_get_u32(x);
	it->len = xdr_get_u32(x);
	it->type = xdr_get_u32(x);
	it->off = 0;
	it->at = (struct rpcrdma_rtr_run){0, 0};
	if (!item_may_be(h->proc, it->type)) {
		xdr_in_fail(x);
	} else if (it->type == RPCRDMA_RTR_EXRW) {
		get_segs(x, h, &it->at);
	} else if (it->type == RPCRDMA_RTR_TBSN) {
		it->off = xdr_get_u32(x);
		n = xdr_get_count(x, RPCRDMA_RTR_BSNS - r->nbsns, 4);
		it->at = (struct rpcrdma_rtr_run){r->nbsns, n};
		while (n--)
			r->bsn[r->nbsns++] = xdr_get_u32(x);
	}
}

static void get_items(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	struct rpcrdma_rtr *r = &h->rtr;
	uint32_t n = xdr_get_count(x, RPCRDMA_RTR_ITEMS, 12);

	while (n-- && xdr_in_ok(x))
		get_item(x, h, &r->item[r->nitems++]);
}

static void get_place(struct xdr_in *x, struct rpcrdma_hdr *h, struct rpcrdma_rtr_place *p)
{
	p->min = xdr_get_u32(x);
	p->type = xdr_get_u32(x);
	p->most = 0;
	p->at = (struct rpcrdma_rtr_run){0, 0};
	if (p->type < RPCRDMA_RTR_EXRW || p->type > RPCRDMA_RTR_BYSIZE)
		xdr_in_fail(x);
	if (p->type == RPCRDMA_RTR_BYSIZE)
		p->most = xdr_get_u32(x);
	if (p->type != RPCRDMA_RTR_TBSN)
		get_segs(x, h, &p->at);
}

/* Ranges are disjoint, and each begins behind the one before (section 7.4). An empty one is for no
 * operation. */
static void get_places(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	struct rpcrdma_rtr *r = &h->rtr;
	uint32_t sets = xdr_get_count(x, UINT32_MAX, 12), begin, end, least = 0, n;

	while (sets-- && xdr_in_ok(x)) {
		begin = xdr_get_u32(x);
		end = xdr_get_u32(x);
		if (begin < least || end < begin || begin == UINT32_MAX)
			xdr_in_fail(x);
		least = end > begin ? end : begin + 1;
		n = xdr_get_count(x, RPCRDMA_RTR_ITEMS - r->nplaces, 8);
		while (n-- && xdr_in_ok(x)) {
			r->place[r->nplaces].begin = begin;
			r->place[r->nplaces].end = end;
			get_place(x, h, &r->place[r->nplaces++]);
		}
	}
}

static void get_id(struct xdr_in *x, struct rpcrdma_rtr_id *id)
{
	id->xid = xdr_get_u32(x);
	id->dir = xdr_get_bool(x);
	id->seq = xdr_get_u32(x);
}

static void get_fault(struct xdr_in *x, struct rpcrdma_rtr_fault *f)
{
	get_id(x, &f->bad);
	f->has_lead = xdr_get_bool(x);
	if (f->has_lead)
		get_id(x, &f->lead);
	f->err = xdr_get_u32(x);
	if (f->err < RPCRDMA_RTR_BADHMT || f->err > RPCRDMA_RTR_BADPL)
		xdr_in_fail(x);
	for (unsigned i = 0; i < fault_words(f->err); i++)
		f->v[i] = xdr_get_u32(x);
}

void rpcrdma_rtr_get(struct xdr_in *x, struct rpcrdma_hdr *h)
{
	struct rpcrdma_rtr *r = &h->rtr;

	switch (h->proc) {
	case RPCRDMA_XMT_REQ:
		get_items(x, h);
		get_places(x, h);
		r->count = xdr_get_u32(x);
		r->reserved = xdr_get_u32(x);
		break;
	case RPCRDMA_XMT_RESP:
		get_items(x, h);
		r->count = xdr_get_u32(x);
		break;
	case RPCRDMA_XMT_CONT:
		r->number = xdr_get_u32(x);
		r->begun = xdr_get_u32(x);
		break;
	default:
		get_fault(x, &r->fault);
		return;
	}
	r->len = xdr_get_u32(x);
}

/* --- the structure of receive buffers --------------------------------------------------------- */

void rpcrdma_rtr_put_layout(struct xdr_out *x, const struct rpcrdma_rtr_layout *l)
{
	xdr_put_u32(x, l->len);
	xdr_put_u32(x, l->ngroups);
	for (unsigned i = 0; i < l->ngroups; i++) {
		xdr_put_u32(x, l->group[i].count);
		xdr_put_u32(x, l->group[i].len);
		xdr_put_u32(x, l->group[i].align);
		xdr_put_u32(x, l->group[i].flags);
	}
}

void rpcrdma_rtr_get_layout(struct xdr_in *x, struct rpcrdma_rtr_layout *l)
{
	uint32_t n, segs = 0;
	uint64_t sum = 0;

	l->len = xdr_get_u32(x);
	n = xdr_get_count(x, RPCRDMA_RTR_GROUPS, 16);
	for (l->ngroups = 0; l->ngroups < n; l->ngroups++) {
		struct rpcrdma_rtr_group *g = &l->group[l->ngroups];

		g->count = xdr_get_u32(x);
		g->len = xdr_get_u32(x);
		g->align = xdr_get_u32(x);
		g->flags = xdr_get_u32(x);
		if (!g->len || g->count > RPCRDMA_RTR_SEGS - segs) {
			xdr_in_fail(x);
			return;
		}
		segs += g->count;
		sum += (uint64_t)g->count * g->len;
	}
	if (sum != l->len)
		xdr_in_fail(x);
}

unsigned rpcrdma_rtr_targets(const struct rpcrdma_rtr_layout *l)
{
	unsigned n = 0;

	for (unsigned i = 0; i < l->ngroups; i++)
		if (l->group[i].flags & RPCRDMA_RTR_TARGET)
			n += l->group[i].count;
	return n;
}

bool rpcrdma_rtr_target(
	const struct rpcrdma_rtr_layout *l, unsigned i, uint32_t *off, uint32_t *len)
{
	uint32_t at = 0;

	for (unsigned k = 0; k < l->ngroups; k++) {
		const struct rpcrdma_rtr_group *g = &l->group[k];

		if (g->flags & RPCRDMA_RTR_TARGET) {
			if (i < g->count) {
				*off = at + i * g->len;
				*len = g->len;
				return true;
			}
			i -= g->count;
		}
		at += g->count * g->len;
	}
	return false;
}

/* The number of targets in a row, from number i on, for len bytes; 0: not in a row, or too few. */
static unsigned row(const struct rpcrdma_rtr_layout *l, unsigned i, uint32_t len)
{
	uint32_t off, size, next = 0;
	unsigned n = 0;

	do {
		if (!rpcrdma_rtr_target(l, i + n, &off, &size) || (n && off != next))
			return 0;
		next = off + size;
		n++;
		len -= len < size ? len : size;
	} while (len);
	return n;
}

int rpcrdma_rtr_fit(const struct rpcrdma_rtr_layout *l, uint32_t behind, uint32_t len, unsigned *n)
{
	uint32_t off, size;

	for (unsigned i = 0; rpcrdma_rtr_target(l, i, &off, &size); i++) {
		*n = off >= behind ? row(l, i, len) : 0;
		if (*n)
			return (int)i;
	}
	return -1;
}
