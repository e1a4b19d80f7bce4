/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * scripted: how many Sends the peer lets the end post, in a dialect that talks. The model has no
 * clock: Sends that the end may post after a while may leave at once here.
 */
#include "scripted-peer.h"

/* Messages of the peer that the end has taken up. */
static unsigned taken_up(void)
{
	const struct rpcrdma_conn *c = scripted_rdma();
	unsigned n = peer.nsent;

	for (unsigned i = scripted.first_done; i < scripted.ndone; i++)
		n -= scripted.done[i].op == PROV_WC_RECV;
	for (int i = c->wcs.iwc; i < c->wcs.nwc; i++)
		n -= c->wcs.wc[i].op == PROV_WC_RECV;
	for (size_t i = c->wcs.ilater; i < c->wcs.nlater; i++)
		n -= c->wcs.later[i].op == PROV_WC_RECV;
	return n;
}

/* The end has taken up one more message. */
static void hear(const struct rpcrdma_dialect *d, const uint8_t *msg, uint32_t len)
{
	struct flow *f = &peer.flow;
	static struct rpcrdma_hdr h;
	int rc = rpcrdma_dialect_decode(d, &h, msg, len);
	uint32_t most;

	if (len < RPCRDMA_FIXED_LEN)
		return;
	if (!rc && h.proc != RDMA_ERROR) {
		f->grant = h.grant ? h.grant : 1;
		most = h.want > f->grant ? h.want : f->grant;
		f->banked = f->banked + f->grant < most ? f->banked + f->grant : most;
	}
	f->room = f->grant;
}

void peer_flow_begin(void)
{
	peer.flow = (struct flow){.grant = 1, .room = 1, .banked = 1};
}

void peer_flow_sent(const struct rpcrdma_dialect *d, const struct rpcrdma_hdr *h)
{
	struct flow *f = &peer.flow;
	unsigned n;

	if (!scripted_end.x || !d->talks || peer.mixed)
		return;
	for (n = taken_up(); f->heard < n; f->heard++)
		hear(d, peer.sent[f->heard].msg, peer.sent[f->heard].len);
	if (rpcrdma_hdr_is_grant(h))
		return;
	SCRIPTED_CHECK(f->room || f->banked);
	f->room -= f->room > 0;
	f->banked -= f->banked > 0;
}
