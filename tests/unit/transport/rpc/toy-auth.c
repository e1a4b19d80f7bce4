/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * toy-auth: a flavor of authentication that protects nothing.
 */
#include "tests/unit/transport/rpc/toy-auth.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { SERVICE_INIT, SERVICE_PLAIN, SERVICE_WRAP };

struct seq { /* auth_priv of both ends */
	uint32_t last;
};

static uint32_t digest(const void *data, size_t n)
{
	const uint8_t *p = data;
	uint32_t d = 2166136261u;

	while (n--)
		d = (d ^ *p++) * 16777619u;
	return d;
}

static void scramble(uint8_t *p, size_t n, uint32_t seq)
{
	for (size_t i = 0; i < n; i++)
		p[i] ^= (uint8_t)(seq * 31 + i + 1);
}

/* Puts the sequence number and the whole of plain as one opaque that only the peer can read. */
static int put_wrapped(struct xdr_out *out, uint32_t seq, const struct xdr_out *plain)
{
	uint32_t total = (uint32_t)xdr_out_total(plain), at = 0;
	struct mem_sge at_one;
	struct seg_iter it;
	uint8_t *p, *start;

	xdr_put_u32(out, total + 4);
	p = start = xdr_reserve(out, total + 4);
	if (!p)
		return -EMSGSIZE;
	memcpy(p, &seq, 4);
	p += 4;
	for (unsigned i = 0; i < plain->npayloads; i++) {
		const struct xdr_payload *l = &plain->payload[i];

		memcpy(p, plain->base + at, l->pos - at);
		p += l->pos - at;
		at = l->pos;
		it = seg_iter_of(&l->data);
		for (; seg_next(&it, UINT32_MAX, &at_one, NULL); p += at_one.len)
			memcpy(p, at_one.addr, at_one.len);
		memset(p, 0, xdr_pad(l->data.len));
		p += xdr_pad(l->data.len);
	}
	memcpy(p, plain->base + at, plain->len - at);
	scramble(start, total + 4, seq);
	return 0;
}

static int get_wrapped(
	struct mem_pool *pool, struct xdr_in *x, uint32_t seq, struct mem_buf **plain)
{
	uint32_t n;
	const uint8_t *p = xdr_get_opaque(x, MEM_MAX_SIZE, &n);
	struct mem_buf *b;

	if (!p || n < 4 || !xdr_in_done(x))
		return -EBADMSG;
	b = mem_buf_get(pool, n);
	if (!b)
		return -EBADMSG;
	memcpy(b->data, p, n);
	scramble(b->data, n, seq);
	*plain = b;
	if (memcmp(b->data, &seq, 4))
		return -EBADMSG;
	xdr_in_init(x, b->data + 4, n - 4);
	return 0;
}

/* --- requester -------------------------------------------------------------------------------- */

static struct toy_auth *of_plain(struct rpc_auth *a)
{
	return (struct toy_auth *)((uint8_t *)a - offsetof(struct toy_auth, plain));
}

static struct toy_auth *of_wrapping(struct rpc_auth *a)
{
	return (struct toy_auth *)((uint8_t *)a - offsetof(struct toy_auth, wrapping));
}

static uint32_t room(const struct rpc_auth *a, const struct rpc_call *call)
{
	return 8 + 12 + 8 + 4 + 100; /* more than the flavor uses */
}

static void put_cred(struct xdr_out *x, uint32_t handle, uint32_t seq, uint32_t service)
{
	xdr_put_u32(x, TOY_FLAVOR);
	xdr_put_u32(x, 12);
	xdr_put_u32(x, handle);
	xdr_put_u32(x, seq);
	xdr_put_u32(x, service);
}

static int put_auth(struct toy_auth *t, struct rpc_call *call, struct xdr_out *x, uint32_t service)
{
	struct seq *s = call->auth_priv;
	uint32_t d;

	if (!t->handle)
		return -EAGAIN;
	if (!s)
		s = call->auth_priv = malloc(sizeof(*s));
	if (!s)
		return -ENOMEM;
	t->marshals++;
	s->last = atomic_exchange(&t->repeat_seq, false) ? t->next_seq - 1 : t->next_seq++;
	put_cred(x, t->handle, s->last, service);
	d = digest(x->base, x->len);
	xdr_put_u32(x, TOY_FLAVOR);
	xdr_put_opaque(x, &d, 4);
	return 0;
}

static int plain_marshal(struct rpc_auth *a, struct rpc_call *call, struct xdr_out *x)
{
	return put_auth(of_plain(a), call, x, SERVICE_PLAIN);
}

static int wrapping_marshal(struct rpc_auth *a, struct rpc_call *call, struct xdr_out *x)
{
	return put_auth(of_wrapping(a), call, x, SERVICE_WRAP);
}

static int init_marshal(struct rpc_auth *a, struct rpc_call *call, struct xdr_out *x)
{
	static const struct rpc_opaque_auth none = {.flavor = RPC_AUTH_NONE};

	put_cred(x, 0, 0, SERVICE_INIT);
	rpc_msg_put_auth(x, &none);
	return 0;
}

static int wrap(
	struct rpc_auth *a, struct rpc_call *call, const struct xdr_out *plain, struct xdr_out *out)
{
	const struct seq *s = call->auth_priv;

	of_wrapping(a)->wraps++;
	return put_wrapped(out, s->last, plain);
}

static int check(struct toy_auth *t, struct rpc_call *call, const struct rpc_opaque_auth *v)
{
	const struct seq *s = call->auth_priv;
	uint32_t d = digest(&s->last, 4);

	t->checks++;
	return v->flavor == TOY_FLAVOR && v->len == 4 && !memcmp(v->body, &d, 4) ? 0 : -EACCES;
}

static int plain_check(struct rpc_auth *a, struct rpc_call *call, const struct rpc_opaque_auth *v)
{
	return check(of_plain(a), call, v);
}

static int wrapping_check(
	struct rpc_auth *a, struct rpc_call *call, const struct rpc_opaque_auth *v)
{
	return check(of_wrapping(a), call, v);
}

static int unwrap(
	struct rpc_auth *a, struct rpc_call *call, struct xdr_in *res, struct mem_buf **plain)
{
	const struct seq *s = call->auth_priv;

	of_wrapping(a)->unwraps++;
	return get_wrapped(call->msg->pool, res, s->last, plain);
}

static void init_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct toy_auth *t = call->ctx;

	if (!error)
		t->handle = xdr_get_u32(res);
	rpc_call_finish(call);
	t->initializing = false;
}

/* A call of the flavor gets another context. */
static int refresh(struct toy_auth *t, struct rpc_call *call)
{
	if (call->auth_stat == TOY_PROBLEM && !t->initializing)
		t->handle = 0;
	else if (t->handle)
		return 0;
	if (atomic_exchange(&t->initializing, true))
		return -EAGAIN;
	t->refreshes++;
	if (rpc_call_init(&t->init_call, t->client, 16))
		return -EACCES;
	t->init_call.auth = &t->init;
	t->init_call.done = init_done;
	t->init_call.ctx = t;
	t->init_call.reply_max = 64;
	return rpc_call_submit(&t->init_call) ? -EACCES : -EAGAIN;
}

static int plain_refresh(struct rpc_auth *a, struct rpc_call *call)
{
	return refresh(of_plain(a), call);
}

static int wrapping_refresh(struct rpc_auth *a, struct rpc_call *call)
{
	return refresh(of_wrapping(a), call);
}

static void plain_release(struct rpc_auth *a, struct rpc_call *call)
{
	of_plain(a)->releases++;
	free(call->auth_priv);
}

static void wrapping_release(struct rpc_auth *a, struct rpc_call *call)
{
	of_wrapping(a)->releases++;
	free(call->auth_priv);
}

/* --- responder -------------------------------------------------------------------------------- */

static bool is_new(struct toy_auth *t, uint32_t seq)
{
	for (unsigned i = 0; i < t->nseen; i++)
		if (t->seen[i] == seq)
			return false;
	t->seen[t->nseen++ % TOY_SEEN] = seq;
	return true;
}

static enum rpc_verdict reject(struct rpc_req *req, uint32_t stat)
{
	req->auth_stat = stat;
	return RPC_VERDICT_REJECT;
}

static enum rpc_verdict judge(
	struct rpc_auth *a, struct rpc_req *req, const struct rpc_call_hdr *h, const uint8_t *msg)
{
	struct toy_auth *t = of_plain(a);
	uint32_t handle, seq, service, d;
	struct xdr_in x;
	struct seq *s;

	xdr_in_init(&x, h->cred.body, h->cred.len);
	handle = xdr_get_u32(&x);
	seq = xdr_get_u32(&x);
	service = xdr_get_u32(&x);
	if (!xdr_in_done(&x))
		return reject(req, RPC_AUTH_BADCRED);
	if (service == SERVICE_INIT)
		return RPC_VERDICT_ANSWER;
	if (handle != t->context || t->reject)
		return reject(req, TOY_PROBLEM);
	d = digest(msg, h->cred.body + h->cred.len - msg);
	if (h->verf.len != 4 || memcmp(h->verf.body, &d, 4))
		return reject(req, RPC_AUTH_BADVERF);
	if (!is_new(t, seq)) {
		t->drops++;
		return RPC_VERDICT_DROP;
	}
	s = malloc(sizeof(*s));
	if (!s)
		return RPC_VERDICT_DROP;
	s->last = seq;
	req->auth_priv = s;
	req->auth = service == SERVICE_WRAP ? &t->wrapping : &t->plain;
	req->cred = (struct rpc_cred){.flavor = TOY_FLAVOR, .uid = TOY_UID};
	t->accepts++;
	return RPC_VERDICT_ACCEPT;
}

static void answer(struct rpc_auth *a, struct rpc_req *req)
{
	struct toy_auth *t = of_plain(a);

	t->answers++;
	if (rpc_req_begin(req, 16)) {
		rpc_req_drop(req);
		return;
	}
	xdr_put_u32(&req->res, t->context);
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

static int unwrap_args(
	struct rpc_auth *a, struct rpc_req *req, struct xdr_in *args, struct mem_buf **plain)
{
	const struct seq *s = req->auth_priv;

	of_wrapping(a)->args++;
	return get_wrapped(req->call_msg->pool, args, s->last, plain);
}

static int wrap_res(
	struct rpc_auth *a, struct rpc_req *req, const struct xdr_out *plain, struct xdr_out *out)
{
	const struct seq *s = req->auth_priv;

	of_wrapping(a)->results++;
	return put_wrapped(out, s->last, plain);
}

static void put_verf(
	struct toy_auth *t, struct rpc_req *req, struct rpc_opaque_auth *v, uint8_t *buf)
{
	const struct seq *s = req->auth_priv;
	uint32_t d;

	if (!s)
		return; /* a reply to a call of the flavor */
	d = digest(&s->last, 4) + atomic_exchange(&t->lie, false);
	memcpy(buf, &d, 4);
	*v = (struct rpc_opaque_auth){.flavor = TOY_FLAVOR, .len = 4, .body = buf};
}

static void plain_verf(struct rpc_auth *a, struct rpc_req *req, struct rpc_opaque_auth *v,
	uint8_t buf[RPC_MSG_MAX_AUTH])
{
	put_verf(of_plain(a), req, v, buf);
}

static void wrapping_verf(struct rpc_auth *a, struct rpc_req *req, struct rpc_opaque_auth *v,
	uint8_t buf[RPC_MSG_MAX_AUTH])
{
	put_verf(of_wrapping(a), req, v, buf);
}

static void plain_end(struct rpc_auth *a, struct rpc_req *req)
{
	of_plain(a)->ends++;
	free(req->auth_priv);
}

static void wrapping_end(struct rpc_auth *a, struct rpc_req *req)
{
	of_wrapping(a)->ends++;
	free(req->auth_priv);
}

static const struct rpc_auth_ops plain_ops = {
	.flavor = TOY_FLAVOR,
	.verf_max = 4,
	.room = room,
	.marshal = plain_marshal,
	.check = plain_check,
	.refresh = plain_refresh,
	.release = plain_release,
	.accept = judge,
	.answer = answer,
	.verf = plain_verf,
	.end = plain_end,
};

static const struct rpc_auth_ops wrapping_ops = {
	.flavor = TOY_FLAVOR,
	.verf_max = 4,
	.wrap_more = 12,
	.room = room,
	.marshal = wrapping_marshal,
	.wrap = wrap,
	.check = wrapping_check,
	.unwrap = unwrap,
	.refresh = wrapping_refresh,
	.release = wrapping_release,
	.unwrap_args = unwrap_args,
	.wrap_res = wrap_res,
	.verf = wrapping_verf,
	.end = wrapping_end,
};

static const struct rpc_auth_ops init_ops = {
	.flavor = TOY_FLAVOR,
	.room = room,
	.marshal = init_marshal,
};

void toy_auth_init(struct toy_auth *t)
{
	memset(t, 0, sizeof(*t));
	t->plain.ops = &plain_ops;
	t->wrapping.ops = &wrapping_ops;
	t->init.ops = &init_ops;
	t->responder[0] = &t->plain;
	t->next_seq = 1000;
	t->context = 1;
}
