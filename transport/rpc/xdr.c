/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * xdr: one bounds-checked cursor per direction (RFC 4506).
 *
 * Invariants. Out: len <= cap, and once overflow is set nothing is written any more. In: pos <=
 * len, and once bad is set nothing is read any more. Only xdr_reserve() and xdr_consume() move a
 * cursor.
 */
#include "transport/rpc/xdr.h"

#include <string.h>

void xdr_out_init(struct xdr_out *x, void *buf, size_t cap)
{
	x->base = buf;
	x->len = 0;
	x->cap = cap;
	x->overflow = false;
	x->from = 0;
	x->notes_items = false;
	x->npayloads = 0;
}

void xdr_put_fixed(struct xdr_out *x, const void *data, size_t n)
{
	void *p = xdr_reserve(x, n);

	if (p && n)
		memcpy(p, data, n);
}

void xdr_put_opaque(struct xdr_out *x, const void *data, uint32_t n)
{
	xdr_put_u32(x, n);
	xdr_put_fixed(x, data, n);
}

static void add_payload(struct xdr_out *x, const struct seg_list *data)
{
	x->payload[x->npayloads++] =
		(struct xdr_payload){.pos = x->len, .data = *data, .from = x->from};
}

void xdr_note_item(struct xdr_out *x)
{
	if (x->notes_items && x->from != XDR_FROM_NONE && !x->overflow &&
		x->npayloads < XDR_MAX_PAYLOADS)
		add_payload(x, &(struct seg_list){0});
}

void xdr_put_payload_list(struct xdr_out *x, const struct seg_list *data)
{
	xdr_put_u32(x, data->len);
	if (data->len == 0)
		xdr_note_item(x);
	else if (x->npayloads == XDR_MAX_PAYLOADS)
		x->overflow = true;
	else if (!x->overflow)
		add_payload(x, data);
}

void xdr_put_payload(struct xdr_out *x, const struct mem_sge *data)
{
	struct seg_list l = seg_list_of(*data, NULL);

	xdr_put_payload_list(x, &l);
}

size_t xdr_skip_u32(struct xdr_out *x)
{
	size_t at = x->len;

	xdr_put_u32(x, 0);
	return at;
}

void xdr_patch_u32(struct xdr_out *x, size_t at, uint32_t v)
{
	if (x->overflow)
		return;
	v = htobe32(v);
	memcpy(x->base + at, &v, 4);
}

size_t xdr_out_total(const struct xdr_out *x)
{
	size_t n = x->len;

	for (unsigned i = 0; i < x->npayloads; i++)
		n += (size_t)x->payload[i].data.len + xdr_pad(x->payload[i].data.len);
	return n;
}

void xdr_in_init(struct xdr_in *x, const void *buf, size_t len)
{
	x->base = buf;
	x->len = len;
	x->pos = 0;
	x->bad = false;
	x->padding.align = 0;
	x->npayloads = 0;
}

void xdr_skip_padding(struct xdr_in *x, uint32_t n)
{
	const struct xdr_padding *p = &x->padding;
	uint64_t past;

	if (!p->align || n < p->thresh || x->bad)
		return;
	past = ((uint64_t)p->before + x->pos) % p->align;
	xdr_consume(x, past ? p->align - past : 0);
}

size_t xdr_in_disp(const struct xdr_in *x)
{
	size_t n = x->pos;

	for (unsigned i = 0; i < x->npayloads; i++) {
		const struct xdr_payload *p = &x->payload[i];

		if (p->taken)
			n += (size_t)p->data.len + xdr_pad(p->data.len);
	}
	return n;
}

bool xdr_in_done(const struct xdr_in *x)
{
	if (x->bad || x->pos != x->len)
		return false;
	for (unsigned i = 0; i < x->npayloads; i++)
		if (!x->payload[i].taken && x->payload[i].data.len != 0)
			return false;
	return true;
}

void xdr_get_fixed(struct xdr_in *x, void *dst, size_t n)
{
	const void *p = xdr_consume(x, n);

	if (n == 0)
		return;
	if (p)
		memcpy(dst, p, n);
	else
		memset(dst, 0, n);
}

const uint8_t *xdr_get_opaque(struct xdr_in *x, uint32_t max, uint32_t *n)
{
	const uint8_t *p;

	*n = xdr_get_u32(x);
	if (*n > max)
		xdr_in_fail(x);
	if (x->padding.align)
		xdr_skip_padding(x, *n);
	p = xdr_consume(x, *n);
	if (!p)
		*n = 0;
	return p;
}

uint32_t xdr_get_count(struct xdr_in *x, uint32_t max, size_t elem_min)
{
	uint32_t n = xdr_get_u32(x);

	if (n > max || (elem_min && n > xdr_in_left(x) / elem_min)) {
		xdr_in_fail(x);
		return 0;
	}
	return x->bad ? 0 : n;
}

/* The payload at the cursor, or NULL if the data is in the stream. */
static struct xdr_payload *payload_here(struct xdr_in *x, uint32_t n)
{
	struct xdr_payload *next = NULL;

	for (unsigned i = 0; i < x->npayloads; i++) {
		struct xdr_payload *p = &x->payload[i];

		if (p->taken)
			continue;
		if (p->pos == x->pos)
			return p;
		/* a chunk that the peer did not use counts as no payload */
		if (p->pos == XDR_POS_NEXT && p->data.len != 0 && !next)
			next = p;
	}
	return n ? next : NULL;
}

bool xdr_get_payload_list(struct xdr_in *x, uint32_t max, struct seg_list *data, bool *placed)
{
	uint32_t n = xdr_get_u32(x);
	struct xdr_payload *p;
	const void *inl;

	*data = (struct seg_list){0};
	*placed = false;
	if (n > max)
		xdr_in_fail(x);
	if (x->bad)
		return false;
	p = payload_here(x, n);
	if (!p) {
		if (x->padding.align)
			xdr_skip_padding(x, n);
		inl = xdr_consume(x, n);
		if (inl)
			*data = seg_list_of(
				(struct mem_sge){.addr = (void *)(uintptr_t)inl, .len = n}, NULL);
		return inl;
	}
	p->taken = true;
	/* A peer may have placed the round-up as well (RFC 8166 section 3.4.6.2 lets it). */
	if (p->data.len != n && p->data.len != n + xdr_pad(n)) {
		xdr_in_fail(x);
		return false;
	}
	*data = seg_list_cut(&p->data, 0, n);
	*placed = true;
	return true;
}

const uint8_t *xdr_get_payload(struct xdr_in *x, uint32_t max, uint32_t *n, bool *placed)
{
	struct seg_list data;
	size_t at = x->pos + 4;
	bool where;

	*n = 0;
	if (!xdr_get_payload_list(x, max, &data, &where) || data.n > 1) {
		xdr_in_fail(x);
		return NULL;
	}
	*n = data.len;
	if (placed)
		*placed = where;
	return data.n ? data.one.at.addr : x->base + at;
}
