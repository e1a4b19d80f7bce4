/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpcrdma_padded: calls with padding, RDMA_MSGP (draft-ietf-nfsv4-rpcrdma-01 sections 3.5 and 4.1).
 * Decoding skips the padding of a received message (struct xdr_padding).
 *
 * Padding pays for data that the peer uses in place in the receive buffer. So we pad for one
 * payload of RPCRDMA_PAD_MIN bytes or more. The threshold is the payload's length, and the rest of
 * the message is shorter. So no receiver can mistake another field for a padded one. Alignment
 * counts from the beginning of the Send, transport header included, because a receive buffer aligns
 * only the beginning of the Send.
 */
#include "transport/rpcrdma/old/rpcrdma_padded.h"

#define RPCRDMA_PAD_MIN 1024

static uint8_t zeros[RPCRDMA_ALIGN_MAX]; /* to be read only */

void rpcrdma_pad(struct rpcrdma_conn *c, const struct xdr_out *args, struct rpcrdma_hdr *h,
	struct rpcrdma_stream *s)
{
	struct rpcrdma_stream head, tail;
	uint32_t thresh, past, pad;
	uint64_t at;
	size_t hlen;

	if (args->npayloads != 1 || args->payload[0].data.len < RPCRDMA_PAD_MIN)
		return;
	thresh = args->payload[0].data.len;
	/* from the beginning of s to the data; round-up and the rest of the arguments follow */
	at = s->len - xdr_pad(thresh) - thresh - (args->len - args->payload[0].pos);
	h->proc = RDMA_MSGP;
	hlen = rpcrdma_dialect_size(c->dialect, h);
	past = (uint32_t)((hlen + at) % c->old.ccp_align);
	pad = past ? c->old.ccp_align - past : 0;
	if (s->len - thresh >= thresh || hlen + s->len + pad > c->x.inline_send ||
		s->n + 1 > RPCRDMA_STREAM_PARTS) {
		h->proc = RDMA_MSG;
		return;
	}
	h->align = c->old.ccp_align;
	h->thresh = thresh;
	rpc_count(&c->x.stats->calls_padded, 1);
	if (!pad)
		return;
	rpcrdma_stream_cut(&head, s, 0, at);
	rpcrdma_stream_cut(&tail, s, at, s->len - at);
	*s = head;
	s->part[s->n++] = seg_list_of((struct mem_sge){.addr = zeros, .len = pad}, NULL);
	for (unsigned i = 0; i < tail.n; i++)
		s->part[s->n++] = tail.part[i];
	s->len += pad + tail.len;
}
