/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tcp_rx: the receiving half of an RPC connection over TCP.
 */
#include "transport/tcp/tcp_rx.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rpc/rpc_msg.h"

#define LAST_FRAG 0x80000000u

static uint32_t get_be32(const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return be32toh(v);
}

int tcp_rx_init(struct tcp_rx *rx, struct mem_pool *pool, const struct tcp_rx_up *up)
{
	memset(rx, 0, sizeof(*rx));
	rx->pool = pool;
	rx->up = *up;
	rx->win = malloc(TCP_RX_WINDOW);
	return rx->win ? 0 : -ENOMEM;
}

void tcp_rx_fini(struct tcp_rx *rx)
{
	free(rx->win);
	free(rx->body);
	mem_buf_unref(rx->call_buf);
	rx->win = rx->body = NULL;
	rx->call_buf = NULL;
}

static int rx_fail(struct tcp_rx *rx, const char *why)
{
	rx->error = why;
	return -EPROTO;
}

static uint32_t rx_avail(const struct tcp_rx *rx)
{
	return rx->len - rx->pos;
}

static bool rx_direct(const struct tcp_rx *rx)
{
	return rx->state == TCP_RX_BODY || rx->state == TCP_RX_SINK || rx->state == TCP_RX_TAIL;
}

unsigned tcp_rx_space(struct tcp_rx *rx, bool narrow, struct iovec *iov)
{
	uint32_t room;
	unsigned n = 0;

	if (rx->pos == rx->len) {
		rx->pos = rx->len = 0;
	} else if (rx->pos && (rx->len > TCP_RX_WINDOW / 2 || rx_avail(rx) < 256)) {
		memmove(rx->win, rx->win + rx->pos, rx_avail(rx));
		rx->len -= rx->pos;
		rx->pos = 0;
	}
	if (rx->state == TCP_RX_SINK)
		n = seg_iter_iov(rx->sink_it, iov, SEG_LIST_MAX);
	else if (rx_direct(rx) && rx->left)
		iov[n++] = (struct iovec){.iov_base = rx->dst, .iov_len = rx->left};
	room = TCP_RX_WINDOW - rx->len;
	if (narrow && room > TCP_RX_NARROW)
		room = TCP_RX_NARROW;
	if (room)
		iov[n++] = (struct iovec){.iov_base = rx->win + rx->len, .iov_len = room};
	return n;
}

bool tcp_rx_more(const struct tcp_rx *rx)
{
	return rx_avail(rx) >= 4;
}

void tcp_rx_forget(struct tcp_rx *rx, struct rpc_call *call)
{
	if (!call || rx->call != call)
		return;
	rx->call = NULL;
	if (rx->state == TCP_RX_SINK) {
		/* payload and tail are still to come */
		rx->left += rx->rec - rx->sink_at - rx->sink_len;
		rx->state = TCP_RX_SKIP;
	} else if (rx->state == TCP_RX_TAIL) {
		rx->state = TCP_RX_SKIP;
	}
}

/* Makes room for n bytes in body, and keeps the bytes of body. */
static int body_reserve(struct tcp_rx *rx, uint32_t n)
{
	uint32_t cap = rx->body_cap ? rx->body_cap : 4096;
	uint8_t *p;

	if (n <= rx->body_cap)
		return 0;
	while (cap < n)
		cap *= 2;
	p = realloc(rx->body, cap);
	if (!p)
		return rx_fail(rx, "out of memory for a record");
	rx->body = p;
	rx->body_cap = cap;
	return 0;
}

/* --- handing over ----------------------------------------------------------------------------- */

static void rx_reply(struct tcp_rx *rx, const uint8_t *rec, uint32_t len)
{
	struct rpc_call *call = rx->up.find(rx->up.ctx, get_be32(rec));
	struct xdr_in msg;

	if (!call) {
		rx->dropped++;
		return;
	}
	xdr_in_init(&msg, rec, len);
	rx->up.reply(rx->up.ctx, call, &msg);
}

/* Hands over a complete record. The caller reuses the record's memory afterwards. */
static int rx_record(struct tcp_rx *rx, const uint8_t *rec, uint32_t len)
{
	uint32_t type = len < 8 ? UINT32_MAX : get_be32(rec + 4);
	struct mem_buf *buf;

	if (type == RPC_MSG_REPLY) {
		rx_reply(rx, rec, len);
	} else if (type == RPC_MSG_CALL) {
		buf = mem_buf_get(rx->pool, len);
		if (!buf)
			return rx_fail(rx, "out of memory for a call");
		memcpy(buf->data, rec, len);
		rx->up.request(rx->up.ctx, buf, len);
	} else {
		rx->dropped++;
	}
	return 0;
}

/* The destination of BODY is full. */
static int rx_body_done(struct tcp_rx *rx)
{
	struct mem_buf *buf = rx->call_buf;

	rx->state = TCP_RX_MARK;
	if (!buf)
		return rx_record(rx, rx->body, rx->rec);
	rx->call_buf = NULL;
	rx->up.request(rx->up.ctx, buf, rx->rec);
	return 0;
}

/* Payload and tail are in place: body holds the record without the payload. */
static void rx_sink_done(struct tcp_rx *rx)
{
	uint32_t pad = xdr_pad(rx->sink_len);
	uint32_t tail = rx->rec - rx->sink_at - rx->sink_len;
	struct rpc_call *call = rx->call;
	struct xdr_in msg;

	memmove(rx->body + rx->sink_at, rx->body + rx->sink_at + pad, tail - pad);
	xdr_in_init(&msg, rx->body, rx->sink_at + tail - pad);
	msg.payload[0] = (struct xdr_payload){
		.pos = rx->sink_at,
		.data = rx->sink,
	};
	msg.npayloads = 1;
	rx->call = NULL;
	rx->state = TCP_RX_MARK;
	rx->up.reply(rx->up.ctx, call, &msg);
}

/* --- records ---------------------------------------------------------------------------------- */

static int rx_mark(struct tcp_rx *rx)
{
	uint32_t mark = get_be32(rx->win + rx->pos), len = mark & ~LAST_FRAG;

	rx->pos += 4;
	if (rx->state == TCP_RX_MARK) {
		rx->nfrags = 0;
		rx->body_len = 0;
	}
	if (len > TCP_RX_MAX_RECORD - rx->body_len)
		return rx_fail(rx, "a record is longer than any message may be");
	if (rx->state == TCP_RX_MARK && (mark & LAST_FRAG)) {
		rx->rec = len;
		rx->state = TCP_RX_WHOLE;
		return 0;
	}
	if (++rx->nfrags > TCP_RX_MAX_FRAGS)
		return rx_fail(rx, "a record has too many fragments");
	rx->state = TCP_RX_FRAGS;
	rx->last_frag = mark & LAST_FRAG;
	rx->left = len;
	return body_reserve(rx, rx->body_len + len);
}

/* Moves the next bytes, `left` at most, from the window to the destination. */
static void rx_drain(struct tcp_rx *rx)
{
	uint32_t n = rx_avail(rx) < rx->left ? rx_avail(rx) : rx->left;

	if (rx->state == TCP_RX_SINK) {
		seg_iter_put(&rx->sink_it, rx->win + rx->pos, n);
	} else {
		memcpy(rx->dst, rx->win + rx->pos, n);
		rx->dst += n;
	}
	rx->pos += n;
	rx->left -= n;
}

static int rx_start_body(struct tcp_rx *rx, bool is_call)
{
	if (is_call) {
		rx->call_buf = mem_buf_get(rx->pool, rx->rec);
		if (!rx->call_buf)
			return rx_fail(rx, "out of memory for a call");
		rx->dst = rx->call_buf->data;
	} else {
		if (body_reserve(rx, rx->rec) < 0)
			return -EPROTO;
		rx->dst = rx->body;
	}
	rx->left = rx->rec;
	rx->state = TCP_RX_BODY;
	rx_drain(rx);
	return 0;
}

/* Looks for the payload of a reply, given the first n bytes. True: the payload may be received into
 * the sink; sink_at and sink_len are set. */
static bool rx_find_sink(struct tcp_rx *rx, struct rpc_call *call, const uint8_t *rec, uint32_t n)
{
	struct rpc_reply_hdr h;
	struct xdr_in x;
	size_t at;

	xdr_in_init(&x, rec, n);
	if (rpc_msg_get_reply(&x, &h) != 0)
		return false;
	at = call->peek(rec + x.pos, n - x.pos);
	if (at < 4 || at > n - x.pos || (at & 3))
		return false;
	rx->sink_at = x.pos + at;
	rx->sink_len = get_be32(rec + rx->sink_at - 4);
	if (rx->sink_len == 0 || rx->sink_len > call->sink[0].len)
		return false;
	return rx->sink_len <= rx->rec - rx->sink_at &&
	       xdr_pad(rx->sink_len) <= rx->rec - rx->sink_at - rx->sink_len;
}

static int rx_start_sink(struct tcp_rx *rx, struct rpc_call *call)
{
	if (body_reserve(rx, rx->rec - rx->sink_len) < 0)
		return -EPROTO;
	memcpy(rx->body, rx->win + rx->pos, rx->sink_at);
	rx->pos += rx->sink_at;
	rx->call = call;
	rx->sink = seg_list_cut(&call->sink[0], 0, rx->sink_len);
	rx->sink_it = seg_iter_of(&rx->sink);
	rx->left = rx->sink_len;
	rx->state = TCP_RX_SINK;
	rx_drain(rx);
	call->copied = rx->sink_len - rx->left;
	return 0;
}

/* Handles a record of one fragment; the window has avail bytes of the record. 1: needs more bytes.
 */
static int rx_whole(struct tcp_rx *rx)
{
	const uint8_t *rec = rx->win + rx->pos;
	uint32_t avail = rx_avail(rx), type;
	struct rpc_call *call;

	if (avail >= rx->rec) {
		rx->pos += rx->rec;
		rx->state = TCP_RX_MARK;
		return rx_record(rx, rec, rx->rec);
	}
	if (avail < 8)
		return 1;
	type = get_be32(rec + 4);
	if (type != RPC_MSG_REPLY && type != RPC_MSG_CALL) {
		rx->dropped++;
		rx->state = TCP_RX_SKIP;
		rx->left = rx->rec;
		return 0;
	}
	if (type == RPC_MSG_CALL)
		return rx_start_body(rx, true);
	call = rx->up.find(rx->up.ctx, get_be32(rec));
	if (call && call->nsinks && call->peek) {
		if (rx_find_sink(rx, call, rec, avail))
			return rx_start_sink(rx, call);
		if (avail < TCP_RX_PEEK_MAX)
			return 1; /* the window is larger than TCP_RX_PEEK_MAX */
	}
	return rx_start_body(rx, false);
}

static int rx_frags(struct tcp_rx *rx)
{
	uint32_t n = rx_avail(rx) < rx->left ? rx_avail(rx) : rx->left;

	if (n)
		memcpy(rx->body + rx->body_len, rx->win + rx->pos, n);
	rx->body_len += n;
	rx->pos += n;
	rx->left -= n;
	if (rx->left)
		return 1;
	if (!rx->last_frag)
		return rx_avail(rx) < 4 ? 1 : rx_mark(rx);
	rx->state = TCP_RX_MARK;
	return rx_record(rx, rx->body, rx->body_len);
}

static void rx_skip(struct tcp_rx *rx)
{
	uint32_t n = rx_avail(rx) < rx->left ? rx_avail(rx) : rx->left;

	rx->pos += n;
	rx->left -= n;
	if (!rx->left)
		rx->state = TCP_RX_MARK;
}

/* One step of parsing. 1: needs more bytes, 0: go on. */
static int rx_step(struct tcp_rx *rx)
{
	switch (rx->state) {
	case TCP_RX_MARK:
		if (rx_avail(rx) < 4)
			return 1;
		rx->held = rx->up.hold && rx->up.hold(rx->up.ctx);
		return rx->held ? 1 : rx_mark(rx);
	case TCP_RX_WHOLE:
		return rx_whole(rx);
	case TCP_RX_FRAGS:
		return rx_frags(rx);
	case TCP_RX_BODY:
		return rx->left ? 1 : rx_body_done(rx);
	case TCP_RX_SINK:
		if (rx->left)
			return 1;
		rx->state = TCP_RX_TAIL;
		rx->dst = rx->body + rx->sink_at;
		rx->left = rx->rec - rx->sink_at - rx->sink_len;
		rx_drain(rx);
		return 0;
	case TCP_RX_TAIL:
		if (rx->left)
			return 1;
		rx_sink_done(rx);
		return 0;
	case TCP_RX_SKIP:
		rx_skip(rx);
		return rx->left ? 1 : 0;
	}
	return rx_fail(rx, "no such state");
}

static int rx_go_on(struct tcp_rx *rx)
{
	int rc = 0;

	while (rc == 0)
		rc = rx_step(rx);
	return rc < 0 ? rc : 0;
}

int tcp_rx_resume(struct tcp_rx *rx)
{
	int rc;

	if (!rx->held)
		return 0;
	if (rx->up.hold(rx->up.ctx))
		return 0;
	rx->held = false;
	rc = rx_go_on(rx);
	return rc < 0 ? rc : 1;
}

int tcp_rx_filled(struct tcp_rx *rx, size_t n)
{
	if (rx_direct(rx)) {
		uint32_t direct = n < rx->left ? n : rx->left;

		if (rx->state == TCP_RX_SINK)
			seg_iter_skip(&rx->sink_it, direct);
		else
			rx->dst += direct;
		rx->left -= direct;
		n -= direct;
	}
	rx->len += n;
	return rx_go_on(rx);
}
