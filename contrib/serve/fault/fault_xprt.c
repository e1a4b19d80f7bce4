/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fault_xprt: a transport that wraps another and makes mistakes on purpose.
 *
 * All users of the wrapped connection keep the same object. x->ops becomes a copy of the table with
 * some operations replaced, and the upcalls of the owner pass through this file. The other
 * operations stay: callbacks, credits, and the transfer of bytes.
 *
 * A delivered request is an entry of `seen` until the request ends. The entry has the request's
 * note and, while the message is delayed, the due time and the fault. This file owns a delayed
 * request, the service any other. progress() passes due messages on. When the connection is down,
 * progress() drops the delayed messages, and from then on no message is delayed.
 *
 * `lock` is held over no call into another file.
 */
#include "contrib/serve/fault/fault_xprt.h"

#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "contrib/serve/fault/fault_rdma.h"
#include "contrib/serve/fault/fault_tcp.h"
#include "transport/clock.h"
#include "transport/lock.h"

struct seen {
	TAILQ_ENTRY(seen) link;
	struct rpc_req *req;
	struct fault_note note;
	uint64_t due_ns; /* CLOCK_MONOTONIC; 0: not delayed */
	/* delayed: a request, or (off is not 0) a reply */
	uint32_t off;
	enum fault_kind kind;
};

struct fault_xprt {
	struct rpc_xprt_ops ops; /* must be first: x->ops points here */
	const struct rpc_xprt_ops *inner;
	struct rpc_xprt *x;
	struct rpc_xprt_up up; /* the upcalls of the connection's owner */
	fault_ask_fn *ask;
	void *ctx;
	bool tcp;
	struct fault_rdma *rdma; /* NULL: x is no connection of RPC-over-RDMA */
	struct mutex lock;
	GUARDED_BY(lock) TAILQ_HEAD(, seen) seen;
	bool closed GUARDED_BY(lock);
};

static struct fault_xprt *fault_of(struct rpc_xprt *x)
{
	return (struct fault_xprt *)x->ops;
}

/* --- requests and their notes ----------------------------------------------------------------- */

/* Removes the entry of req; NULL if there is none. */
static struct seen *take(struct fault_xprt *f, const struct rpc_req *req)
{
	struct seen *s;

	mutex_lock(&f->lock);
	TAILQ_FOREACH (s, &f->seen, link)
		if (s->req == req)
			break;
	if (s)
		TAILQ_REMOVE(&f->seen, s, link);
	mutex_unlock(&f->lock);
	return s;
}

/* Adds s, delayed by delay_ms (0: not). False: the connection is down; s stays the caller's. */
static bool enter(struct fault_xprt *f, struct seen *s, unsigned delay_ms)
{
	bool closed;

	s->due_ns = delay_ms ? clock_ns() + delay_ms * NSEC_PER_MSEC : 0;
	mutex_lock(&f->lock);
	closed = f->closed && delay_ms;
	if (!closed)
		TAILQ_INSERT_TAIL(&f->seen, s, link);
	mutex_unlock(&f->lock);
	return !closed;
}

/* --- faults of replies ------------------------------------------------------------------------ */

/* Flips the last byte and two more after the message type, at places that depend on the XID. */
static void corrupt(struct rpc_req *req, uint32_t off)
{
	uint8_t *p = req->msg->data + off + 8;
	uint32_t n = RPC_HEADROOM + (uint32_t)req->res.len - off - 8;
	uint32_t seed = req->xid;

	p[n - 1] ^= 0xff;
	for (int i = 0; i < 2; i++) {
		seed = seed * 1664525 + 1013904223;
		p[(seed >> 8) % (n - 1)] ^= 0xff;
	}
}

/* Keeps half of the results, or, without results, the header less its last word. Returns the offset
 * of the message. */
static uint32_t truncate_reply(struct rpc_req *req, uint32_t off)
{
	uint8_t *msg = req->msg->data;

	req->res.npayloads = 0;
	if (req->res.len >= 8) {
		req->res.len = req->res.len / 2 & ~(size_t)3;
		return off;
	}
	memmove(msg + off + 4, msg + off, RPC_HEADROOM - off - 4);
	req->res.len = 0;
	return off + 4;
}

static void change_xid(struct rpc_req *req, uint32_t off)
{
	uint32_t xid = htobe32(~req->xid);

	memcpy(req->msg->data + off, &xid, sizeof(xid));
}

/* Sends the reply with the fault. Ends req. */
static void send_with(struct fault_xprt *f, struct rpc_req *req, uint32_t off, enum fault_kind kind)
{
	struct rpc_xprt *x = f->x;

	switch (kind) {
	case FAULT_CORRUPT:
		corrupt(req, off);
		break;
	case FAULT_TRUNCATE:
		off = truncate_reply(req, off);
		break;
	case FAULT_WRONG_XID:
		change_xid(req, off);
		break;
	case FAULT_CLOSE_MID:
		if (f->tcp) {
			fault_tcp_cut(x, req, off);
			f->inner->drop(x, req);
			return;
		}
		break;
	default:
		break;
	}
	if (f->rdma && (kind == FAULT_CLOSE_MID || kind >= FAULT_NO_CREDIT))
		fault_rdma_reply(f->rdma, f->inner, x, req, off, kind);
	else
		f->inner->send_reply(x, req, off);
}

/* Drops a message, and closes the connection if that is the fault. */
static void drop_with(struct fault_xprt *f, struct rpc_req *req, enum fault_kind kind)
{
	if (kind == FAULT_CLOSE)
		f->inner->shutdown(f->x);
	f->inner->drop(f->x, req);
}

static void fault_send_reply(struct rpc_xprt *x, struct rpc_req *req, uint32_t off)
{
	struct fault_xprt *f = fault_of(x);
	struct seen *s = take(f, req);
	unsigned delay_ms = 0;
	enum fault_kind kind = f->ask(f->ctx, req, s ? &s->note : NULL, true, &delay_ms);

	if (kind == FAULT_DROP || kind == FAULT_CLOSE) {
		free(s);
		drop_with(f, req, kind);
		return;
	}
	if (!delay_ms || !s) {
		free(s);
		send_with(f, req, off, kind);
		return;
	}
	s->off = off;
	s->kind = kind;
	rpc_xprt_ref(x); /* the thread that sends req may end x meanwhile */
	if (enter(f, s, delay_ms)) {
		rpc_xprt_kick(x); /* the thread of x sleeps until a time that was set before */
	} else {
		free(s);
		f->inner->drop(x, req);
	}
	rpc_xprt_unref(x);
}

static void fault_drop(struct rpc_xprt *x, struct rpc_req *req)
{
	struct fault_xprt *f = fault_of(x);

	free(take(f, req));
	f->inner->drop(x, req);
}

/* --- the upcalls of the owner ----------------------------------------------------------------- */

static struct rpc_call *up_find(void *ctx, uint32_t xid, bool reverse)
{
	struct fault_xprt *f = ctx;

	return f->up.find(f->up.ctx, xid, reverse);
}

static void up_reply(void *ctx, struct rpc_call *call, int error, struct xdr_in *msg)
{
	struct fault_xprt *f = ctx;

	f->up.reply(f->up.ctx, call, error, msg);
}

static void up_request(void *ctx, struct rpc_req *req)
{
	struct fault_xprt *f = ctx;
	struct seen *s = calloc(1, sizeof(*s));
	enum fault_kind kind;
	unsigned delay_ms = 0;

	if (!s) {
		f->up.request(f->up.ctx, req);
		return;
	}
	s->req = req;
	kind = f->ask(f->ctx, req, &s->note, false, &delay_ms);
	if (kind >= FAULT_ERR_VERS && f->rdma) {
		free(s);
		fault_rdma_refuse(f->inner, f->x, req, kind);
		return;
	}
	if (kind == FAULT_DROP || kind == FAULT_CLOSE) {
		free(s);
		drop_with(f, req, kind);
		return;
	}
	if (!enter(f, s, delay_ms)) {
		free(s);
		f->inner->drop(f->x, req);
	} else if (delay_ms) {
		rpc_xprt_kick(f->x);
	} else {
		f->up.request(f->up.ctx, req);
	}
}

/* --- the connection --------------------------------------------------------------------------- */

static int fault_establish(struct rpc_xprt *x, const struct rpc_xprt_up *up, struct err *e)
{
	struct fault_xprt *f = fault_of(x);
	struct rpc_xprt_up ours = *up;

	f->up = *up;
	ours.find = up_find;
	ours.reply = up_reply;
	ours.request = up_request;
	ours.ctx = f;
	return f->inner->establish(x, &ours, e);
}

/* The delayed message with the earliest due time, or NULL. */
static struct seen *first_held_locked(struct fault_xprt *f) REQUIRES(f->lock)
{
	struct seen *s, *first = NULL;

	TAILQ_FOREACH (s, &f->seen, link)
		if (s->due_ns && (!first || s->due_ns < first->due_ns))
			first = s;
	return first;
}

/* Passes one due message on. Returns 0 if there was one; otherwise the ms until the next is due, at
 * most max. */
static int release_one(struct fault_xprt *f, int max)
{
	uint64_t now = clock_ns();
	struct seen *s;
	bool request;
	int ms = max;

	mutex_lock(&f->lock);
	s = first_held_locked(f);
	if (s && s->due_ns > now) {
		uint64_t left = (s->due_ns - now) / NSEC_PER_MSEC + 1;

		ms = max < 0 || left < (unsigned)max ? (int)left : max;
		s = NULL;
	}
	request = s && !s->off;
	if (request)
		s->due_ns = 0; /* now the service's */
	else if (s)
		TAILQ_REMOVE(&f->seen, s, link);
	mutex_unlock(&f->lock);
	if (!s)
		return ms;
	if (request) {
		f->up.request(f->up.ctx, s->req);
	} else {
		send_with(f, s->req, s->off, s->kind);
		free(s);
	}
	return 0;
}

static void drop_held(struct fault_xprt *f)
{
	struct seen *s;

	do {
		mutex_lock(&f->lock);
		f->closed = true;
		s = first_held_locked(f);
		if (s)
			TAILQ_REMOVE(&f->seen, s, link);
		mutex_unlock(&f->lock);
		if (s)
			f->inner->drop(f->x, s->req);
		free(s);
	} while (s);
}

static int fault_progress(struct rpc_xprt *x, int timeout_ms)
{
	struct fault_xprt *f = fault_of(x);
	int rc = f->inner->progress(x, release_one(f, timeout_ms));

	if (rc < 0)
		drop_held(f);
	return rc;
}

static void fault_destroy(struct rpc_xprt *x)
{
	struct fault_xprt *f = fault_of(x);

	mutex_alone(&f->lock); /* each request holds a reference on x */
	assert(TAILQ_EMPTY(&f->seen));
	f->inner->destroy(x);
	fault_rdma_free(f->rdma);
	mutex_destroy(&f->lock);
	free(f);
}

int fault_xprt_wrap(struct rpc_xprt *x, fault_ask_fn *ask, void *ctx)
{
	struct fault_xprt *f = calloc(1, sizeof(*f));
	bool rdma = fault_rdma_is(x);

	if (f && rdma)
		f->rdma = fault_rdma_new(x);
	if (!f || (rdma && !f->rdma)) {
		free(f);
		return -ENOMEM;
	}
	f->inner = x->ops;
	f->x = x;
	f->ask = ask;
	f->ctx = ctx;
	f->tcp = fault_tcp_is(x);
	mutex_init(&f->lock);
	TAILQ_INIT(&f->seen);
	f->ops = *x->ops;
	f->ops.establish = fault_establish;
	f->ops.send_reply = fault_send_reply;
	f->ops.drop = fault_drop;
	f->ops.progress = fault_progress;
	f->ops.destroy = fault_destroy;
	x->ops = &f->ops;
	return 0;
}
