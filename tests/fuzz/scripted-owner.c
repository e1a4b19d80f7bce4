/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * scripted: the end under test, and its owner. The owner makes calls over the end, takes some back,
 * and serves the peer's calls, at once or later.
 */
#include <errno.h>
#include <string.h>

#include "scripted.h"
#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpc/rpc_auth.h"
#include "transport/rpc/rpc_msg.h"
#include "transport/rpcrdma/setup/rpcrdma_setup.h"

#define MAX_ACTS  300
#define MAX_QUIET 3 /* rounds without any work, at the end */

struct scripted_end scripted_end;

struct flat scripted_flatten(const uint8_t *head, uint32_t nhead, const uint8_t *base, uint32_t len,
	const struct xdr_payload *payload, unsigned n)
{
	uint32_t all = nhead + len, at = 0;
	struct flat f;

	for (unsigned i = 0; i < n; i++)
		all += payload[i].data.len + 4;
	f.data = malloc(all + 1);
	if (nhead)
		memcpy(f.data, head, nhead);
	f.len = nhead;
	for (unsigned i = 0; i < n; i++) {
		SCRIPTED_CHECK(payload[i].pos >= at && payload[i].pos <= len);
		memcpy(f.data + f.len, base + at, payload[i].pos - at);
		f.len += payload[i].pos - at;
		at = payload[i].pos;
		seg_list_gather(&payload[i].data, f.data + f.len);
		f.len += payload[i].data.len;
		memset(f.data + f.len, 0, xdr_pad(payload[i].data.len));
		f.len += xdr_pad(payload[i].data.len);
	}
	memcpy(f.data + f.len, base + at, len - at);
	f.len += len - at;
	return f;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* len bytes in n pieces with gaps between, in one block. False: no memory. */
static bool pieces(struct mem_buf **b, struct seg *seg, uint32_t len, unsigned n)
{
	uint32_t at = 0, left = len;

	*b = mem_buf_get(scripted_end.pool, len + 64 * n);
	if (!*b)
		return false;
	scripted_pattern((*b)->data, len + 64 * n, len);
	for (unsigned i = 0; i < n; i++) {
		uint32_t part = i + 1 < n ? left / 2 : left;

		seg[i].at = mem_buf_sge(*b, at, part);
		seg[i].hold = *b;
		at += part + 64;
		left -= part;
	}
	return true;
}

/* Most data lies in few pieces. */
static unsigned how_many_pieces(struct script *s)
{
	uint8_t b = script_u8(s);

	return 1 + (b < 224 ? b % 4u : b % SCRIPTED_PIECES);
}

/* Bytes of a message. Where only doors reach bulk memory, the message is not in such a block. */
static uint32_t message_len(struct script *s)
{
	uint32_t n = script_len(s) & ~3u;

	return scripted.prov.bulk_by_doors && n > 60000 ? 60000 : n;
}

/* --- calls ------------------------------------------------------------------------------------ */

struct scripted_call *scripted_find(uint32_t xid)
{
	for (int i = 0; i < SCRIPTED_CALLS; i++)
		if (scripted_end.call[i].live && scripted_end.call[i].rpc.xid == xid)
			return &scripted_end.call[i];
	return NULL;
}

/* No byte of the call's memory may be reached from outside any more. */
static void call_end(struct scripted_call *c)
{
	SCRIPTED_CHECK(c->live && !c->rpc.xprt_priv);
	SCRIPTED_CHECK(!scripted_exposed(c->rpc.msg->data, c->rpc.msg->size));
	mem_buf_unref(c->rpc.msg);
	for (unsigned i = 0; i < RPC_MAX_SINKS + XDR_MAX_PAYLOADS; i++) {
		if (c->buf[i])
			SCRIPTED_CHECK(!scripted_exposed(c->buf[i]->data, c->buf[i]->size));
		mem_buf_unref(c->buf[i]);
	}
	free(c->flat.data);
	c->live = false;
}

void scripted_forget(struct scripted_call *c)
{
	scripted_end.x->ops->forget(scripted_end.x, &c->rpc);
	call_end(c);
}

static void add_payloads(struct scripted_call *c, struct script *s, unsigned n)
{
	struct seg_list l;

	for (unsigned i = 0; i < n; i++) {
		uint32_t len = script_len(s), k = how_many_pieces(s);
		struct mem_buf **b = &c->buf[RPC_MAX_SINKS + i];
		struct seg *seg = c->seg[RPC_MAX_SINKS + i];

		if (!pieces(b, seg, len, k) || seg_list_init(&l, seg, k))
			return;
		xdr_put_payload_list(&c->rpc.args, &l);
		if (script_u8(s) & 1)
			xdr_put_u32(&c->rpc.args, i);
	}
}

static void add_sinks(struct scripted_call *c, struct script *s, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint32_t len = script_len(s), k = how_many_pieces(s);

		if (!pieces(&c->buf[i], c->seg[i], len, k) ||
			seg_list_init(&c->rpc.sink[i], c->seg[i], k))
			return;
		c->rpc.nsinks++;
	}
}

void scripted_call(void)
{
	struct script *s = scripted_end.script;
	unsigned shape = script_u8(s), slot = 0;
	uint32_t len = message_len(s);
	struct scripted_call *c;
	int off;

	while (slot < SCRIPTED_CALLS && scripted_end.call[slot].live)
		slot++;
	if (slot == SCRIPTED_CALLS || scripted_end.down ||
		(!scripted_end.requester && !scripted_rdma()->settled))
		return;
	c = &scripted_end.call[slot];
	memset(c, 0, sizeof(*c));
	c->rpc.msg = mem_buf_get(scripted_end.pool, RPC_HEADROOM + len + 64);
	if (!c->rpc.msg)
		return;
	c->live = true;
	c->rpc.xid = scripted_end.next_xid++;
	c->rpc.patient = shape & 0x40;
	c->rpc.reply_max = script_len(s);
	xdr_out_init(&c->rpc.args, c->rpc.msg->data + RPC_HEADROOM, len + 64);
	scripted_pattern(xdr_reserve(&c->rpc.args, len), len, c->rpc.xid);
	if (scripted_end.requester) {
		add_payloads(c, s, shape % 4 % 3);
		add_sinks(c, s, shape / 4 % 4 % 3);
		if (shape & 0x20) {
			c->rpc.sink_for[0].begin = script_upto(s, (uint32_t)c->rpc.args.len);
			c->rpc.sink_for[0].end = (uint32_t)c->rpc.args.len;
		}
	}
	off = rpc_auth_put_call(
		&c->rpc, 0x20000123, 1, c->rpc.msg->data + RPC_HEADROOM, RPC_MSG_MAX_CALL);
	SCRIPTED_CHECK(off > 0 && xdr_out_ok(&c->rpc.args));
	c->flat = scripted_flatten(c->rpc.msg->data + RPC_HEADROOM - off, (uint32_t)off,
		c->rpc.args.base, (uint32_t)c->rpc.args.len, c->rpc.args.payload,
		c->rpc.args.npayloads);
	if (scripted_end.x->ops->send_call(scripted_end.x, &c->rpc, RPC_HEADROOM - (uint32_t)off))
		call_end(c);
}

static struct rpc_call *find(void *ctx, uint32_t xid, bool reverse)
{
	struct scripted_call *c = scripted_find(xid);

	SCRIPTED_CHECK(reverse == !scripted_end.requester);
	return c ? &c->rpc : NULL;
}

static void reply(void *ctx, struct rpc_call *call, int error, struct xdr_in *msg)
{
	struct scripted_call *c = (struct scripted_call *)call;
	struct rpc_reply_hdr h;

	SCRIPTED_CHECK(c->live && !error == (msg != NULL));
	if (msg) {
		peer_check_reply(c, msg);
		rpc_msg_get_reply(msg, &h);
	}
	call_end(c);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Results: some bytes, payloads, some bytes. */
static bool results(struct rpc_req *req, struct script *s)
{
	uint32_t len = message_len(s), n = script_u8(s) % 4u;
	struct seg_list l;
	struct seg seg[SCRIPTED_PIECES];
	struct mem_buf *b;

	if (rpc_req_begin(req, len + 64))
		return false;
	scripted_pattern(xdr_reserve(&req->res, len), len, req->xid);
	for (uint32_t i = 0; i < n; i++) {
		unsigned k = how_many_pieces(s);

		if (!pieces(&b, seg, script_len(s), k))
			return false;
		if (rpc_req_hold(req, seg, k, &l))
			return false;
		if (req->places)
			req->res.from = script_upto(s, (uint32_t)req->args.len);
		xdr_put_payload_list(&req->res, &l);
	}
	xdr_put_u32(&req->res, 77);
	return xdr_out_ok(&req->res);
}

void scripted_serve(unsigned which, bool drop)
{
	struct rpc_req *req;
	bool ok;

	if (!scripted_end.nreqs)
		return;
	which %= scripted_end.nreqs;
	req = scripted_end.req[which];
	scripted_end.req[which] = scripted_end.req[--scripted_end.nreqs];
	if (drop) {
		rpc_req_drop(req);
		return;
	}
	ok = results(req, scripted_end.script);
	peer_expect_reply(req, ok);
	rpc_req_reply(req, ok ? RPC_ACCEPT_SUCCESS : RPC_ACCEPT_SYSTEM_ERR);
}

static void request(void *ctx, struct rpc_req *req)
{
	uint8_t how = script_u8(scripted_end.script);

	SCRIPTED_CHECK(scripted_end.nreqs < SCRIPTED_REQS);
	peer_check_request(req);
	scripted_end.req[scripted_end.nreqs++] = req;
	if (how < 192)
		scripted_serve(scripted_end.nreqs - 1, how >= 180);
}

/* --- a run ------------------------------------------------------------------------------------ */

static struct mem_pool *pool_of(struct script *s)
{
	static const size_t limit[] = {0, 0, 0, 0, 0, 2u << 20, 3u << 20, 6u << 20};
	static struct mem_pool *unlimited;
	size_t most = limit[script_u8(s) % 8];

	if (most)
		return mem_pool_new(most);
	if (!unlimited)
		unlimited = mem_pool_new(0);
	return unlimited;
}

/* The versions of the end: 1, or the one of 2005, or both, and one of the dialects that are called
 * 2. */
static unsigned versions(uint8_t b)
{
	static const unsigned ones[] = {
		0, RPC_RDMA_V1, RPC_RDMA_V1_LEGACY, RPC_RDMA_V1 | RPC_RDMA_V1_LEGACY};
	static const unsigned twos[] = {RPC_RDMA_V2, RPC_RDMA_V2_RTR, RPC_RDMA_V2_2016,
		RPC_RDMA_V2_2016_RTR, RPC_RDMA_V2_RTR, RPC_RDMA_V2};

	return ones[b & 3] | (b & 3 && b & 0x80 ? 0 : twos[b / 4 % 6]);
}

static bool begin(struct script *s)
{
	static const uint32_t credits[] = {0, 1, 2, 3, 4, 8, 16, 32};
	uint8_t how = script_u8(s), sizes = script_u8(s), spoken = script_u8(s);
	struct rpc_client_params cp = {.pool = scripted_end.pool,
		.rdma_versions = versions(spoken),
		.connect_ms = 20,
		.inline_size = 1024u << sizes % 5,
		.credits = credits[how & 7]};
	struct rpc_server_params sp = {.pool = scripted_end.pool,
		.rdma_versions = cp.rdma_versions,
		.inline_size = cp.inline_size,
		.credits = cp.credits};
	struct rpc_xprt_up up = {.find = find, .reply = reply, .request = request};
	const struct prov_ops *prov = scripted_begin(s);
	struct rpc_acceptor *a;
	struct err e = {0};

	up.rdma_version = sizes / 32 % 4;
	peer_begin(s, scripted_end.requester);
	if (scripted_end.requester) {
		scripted_end.x = rpcrdma_connect_on(prov, &cp, &up, &e);
	} else {
		a = rpcrdma_listen_on(prov, &sp, &e);
		if (a->ops->accept(a, &scripted_end.x, &e))
			scripted_end.x = NULL;
		a->ops->free(a);
		if (scripted_end.x && scripted_end.x->ops->establish(scripted_end.x, &up, &e)) {
			rpc_xprt_unref(scripted_end.x);
			scripted_end.x = NULL;
		}
	}
	if (scripted_end.x)
		scripted_end.x->stats = &scripted_end.counts;
	return scripted_end.x;
}

void scripted_progress(void)
{
	if (!scripted_end.down && scripted_end.x->ops->progress(scripted_end.x, 1))
		scripted_end.down = true;
}

/* Are calls under way? */
static bool calls_live(void)
{
	for (int i = 0; i < SCRIPTED_CALLS; i++)
		if (scripted_end.call[i].live)
			return true;
	return false;
}

/* The peer is honest from now on: all calls under way must come to an end. */
static void settle(void)
{
	struct rpcrdma_conn *c = scripted_rdma();
	int quiet = 0;

	scripted_end.script->left = 0; /* all further bytes of the script are 0 */
	scripted.failing = 0;
	scripted.lazy = false;
	scripted.batch = 16;
	for (int i = 0; i < 1000 && !scripted_end.down && quiet < MAX_QUIET; i++) {
		bool more = false;

		while (scripted_end.nreqs) {
			scripted_serve(0, false);
			more = true;
		}
		more |= peer_be_honest();
		scripted_now += (more ? 1 : 20000) * NSEC_PER_MSEC;
		for (int k = 0; k < 4; k++)
			scripted_progress();
		quiet = more || scripted.ndone || scripted.down ? 0 : quiet + 1;
	}
	if (scripted_end.down)
		return;
	if (mem_pool_limit(scripted_end.pool) && (!TAILQ_EMPTY(&c->waiting) || c->alone_ns))
		return; /* a call waits for more memory than the pool can have */
	SCRIPTED_CHECK(quiet == MAX_QUIET);
	SCRIPTED_CHECK(!calls_live());
	SCRIPTED_CHECK(!scripted_end.nreqs && !peer_unanswered() && !scripted.waiting);
	SCRIPTED_CHECK(
		!scripted_open_doors() && !c->v2.stalls && !c->pulled && !c->reads && !c->segs);
	SCRIPTED_CHECK(!c->credit_in.used && TAILQ_EMPTY(&c->orphans));
	SCRIPTED_CHECK(c->credit_out.used == c->credit_out.orphans + c->v2.props_credits +
						     (c->old.dones_sent - c->old.dones_back));
	SCRIPTED_CHECK(!c->old.nlent);
}

/* Checks that no memory of the pool is in use. */
static void pool_end(void)
{
	struct mem_stats st;

	mem_pool_stats(scripted_end.pool, &st);
	SCRIPTED_CHECK(!st.used_bytes);
	if (st.limit)
		mem_pool_free(scripted_end.pool);
}

static void end(bool empty)
{

	scripted_end.x->ops->shutdown(scripted_end.x);
	for (int i = 0; i < 1000 && !scripted_end.down; i++)
		scripted_progress();
	SCRIPTED_CHECK(scripted_end.down);
	for (int i = 0; i < SCRIPTED_CALLS; i++)
		if (scripted_end.call[i].live)
			scripted_forget(&scripted_end.call[i]);
	while (scripted_end.nreqs)
		scripted_serve(0, empty);
	rpc_xprt_unref(scripted_end.x);
	peer_finish();
	pool_end();
}

int scripted_run(const uint8_t *data, size_t size, bool requester)
{
	struct script s = {data, size};

	if (size < 4 || size > 8192)
		return 0;
	rpcrdma_spin_us = 0;
	log_init("fuzz", getenv("SCRIPTED_LOG") ? LOG_L_DATA : LOG_L_ERROR);
	scripted_now = 1000 * NSEC_PER_SEC;
	scripted_end = (struct scripted_end){
		.script = &s, .requester = requester, .next_xid = 0x1000, .pool = pool_of(&s)};
	if (!begin(&s)) {
		peer_finish();
		pool_end();
		return 0;
	}
	peer_open(&s);
	for (int i = 0; i < MAX_ACTS && s.left && !scripted_end.down; i++)
		peer_act(&s);
	if (!scripted_end.down)
		settle();
	end(data[0] & 1);
	return 0;
}
