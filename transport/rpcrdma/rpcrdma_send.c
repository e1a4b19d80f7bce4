/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_send: makes the Send of a message.
 */
#include "transport/rpcrdma/rpcrdma_send.h"

#include <errno.h>

int rpcrdma_make_send(struct rpcrdma_conn *c, struct prov_wr *wr, const struct rpcrdma_hdr *h,
	const struct rpcrdma_stream *s, struct mem_buf *buf, struct mem_buf **out)
{
	const struct rpcrdma_dialect *d = c->dialect;
	size_t hlen = rpcrdma_dialect_size(d, h), off = 0;
	size_t room = c->x.inline_send; /* the peer may lower this at any moment */
	struct mem_buf *b;
	int rc;

	if (hlen > room || s->len > room - hlen)
		return -EMSGSIZE;
	if (s->n == 1 && buf)
		off = (size_t)((uint8_t *)s->part[0].one.at.addr - buf->data);
	if (off >= hlen) {
		b = mem_buf_ref(buf);
		off -= hlen;
	} else {
		b = mem_buf_get(c->pool, hlen + s->len);
		if (!b)
			return -ENOMEM;
		off = 0;
		rpcrdma_stream_copy(s, b->data + hlen);
	}
	rc = rpcrdma_dialect_encode(d, h, b->data + off, hlen);
	if (rc < 0) {
		mem_buf_unref(b);
		return rc;
	}
	*wr = (struct prov_wr){.op = PROV_SEND, .nsge = 1, .nhold = 1};
	wr->sge[0] = mem_buf_sge(b, (uint32_t)off, (uint32_t)(hlen + s->len));
	wr->hold[0] = b;
	*out = b;
	return 0;
}
