/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_stream: an outgoing RPC message as a list of pieces of memory.
 */
#include "transport/rpcrdma/rpcrdma_stream.h"

#include <string.h>

static void add_list(struct rpcrdma_stream *s, const struct seg_list *l)
{
	if (!l->len)
		return;
	s->part[s->n++] = *l;
	s->len += l->len;
}

static void add(struct rpcrdma_stream *s, struct mem_sge sge)
{
	struct seg_list l = seg_list_of(sge, NULL);

	add_list(s, &l);
}

void rpcrdma_stream_init(struct rpcrdma_stream *s, const struct mem_buf *msg, uint32_t off,
	const struct xdr_out *x, unsigned reduced, const struct mem_buf *zero)
{
	uint32_t at = off, end;

	s->n = 0;
	s->len = 0;
	for (unsigned i = 0; i < x->npayloads; i++) {
		const struct xdr_payload *p = &x->payload[i];

		if (reduced & (1u << i))
			continue;
		end = RPC_HEADROOM + p->pos;
		add(s, mem_buf_sge(msg, at, end - at));
		add_list(s, &p->data);
		add(s, mem_buf_sge(zero, 0, xdr_pad(p->data.len)));
		at = end;
	}
	end = RPC_HEADROOM + (uint32_t)x->len;
	add(s, mem_buf_sge(msg, at, end - at));
}

uint64_t rpcrdma_stream_pos(uint32_t off, const struct xdr_out *x, unsigned i)
{
	uint64_t pos = (uint64_t)RPC_HEADROOM + x->payload[i].pos - off;

	for (unsigned k = 0; k < i; k++)
		pos += (uint64_t)x->payload[k].data.len + xdr_pad(x->payload[k].data.len);
	return pos;
}

unsigned rpcrdma_stream_pieces(const struct rpcrdma_stream *s, uint32_t max)
{
	unsigned n = 0;

	for (unsigned i = 0; i < s->n; i++)
		n += seg_list_count_joined(&s->part[i], max);
	return n;
}

void rpcrdma_stream_cut(
	struct rpcrdma_stream *out, const struct rpcrdma_stream *s, uint64_t off, uint64_t len)
{
	out->n = 0;
	out->len = 0;
	for (unsigned i = 0; i < s->n && len; i++) {
		uint32_t have = s->part[i].len;
		struct seg_list l;

		if (off >= have) {
			off -= have;
			continue;
		}
		l = seg_list_cut(&s->part[i], (uint32_t)off,
			len < have - off ? (uint32_t)len : have - (uint32_t)off);
		add_list(out, &l);
		len -= l.len;
		off = 0;
	}
}

void rpcrdma_stream_copy(const struct rpcrdma_stream *s, void *dst)
{
	uint8_t *d = dst;

	for (unsigned i = 0; i < s->n; i++) {
		seg_list_gather(&s->part[i], d);
		d += s->part[i].len;
	}
}
