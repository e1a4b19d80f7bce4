/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/tcp/tcp_tx: records out of messages, through a socket with the room that
 * the test sets. Over SOCK_SEQPACKET each sendmsg() is a packet, so that the test can count the
 * calls.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <cmocka.h>

#include "transport/tcp/tcp_tx.h"

#define LAST   0x80000000u
#define HEADER 24 /* bytes of the RPC header of these messages */
#define OFF    (RPC_HEADROOM - HEADER)

static struct mem_pool *pool;
static struct tcp_tx tx;
static int peer; /* the other end */
static char reason[100];

static void tx_start(int type)
{
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fd), 0);
	peer = fd[1];
	pool = mem_pool_new(0);
	tcp_tx_init(&tx, fd[0], NULL, reason, sizeof(reason));
}

static void tx_stop(void)
{
	struct mem_stats st;

	tcp_tx_shut(&tx, "the end");
	tcp_tx_purge(&tx);
	assert_int_equal(tcp_tx_queued(&tx), 0);
	tcp_tx_fini(&tx);
	close(tx.fd);
	if (peer >= 0)
		close(peer);
	mem_pool_stats(pool, &st);
	assert_int_equal(st.used_bytes, 0);
	mem_pool_free(pool);
}

static void fill(uint8_t *p, size_t n, unsigned seed)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + (i >> 8) + seed);
}

/* --- messages ----------------------------------------------------------------------------------
 */

static void call_init(struct rpc_call *call, unsigned seed)
{
	memset(call, 0, sizeof(*call));
	call->msg = mem_buf_get(pool, RPC_HEADROOM + 256);
	assert_non_null(call->msg);
	fill(call->msg->data + OFF, HEADER, seed);
	xdr_out_init(&call->args, call->msg->data + RPC_HEADROOM, 256);
	xdr_put_u32(&call->args, seed);
}

static void call_finish(struct rpc_call *call)
{
	assert_null(call->xprt_priv);
	mem_buf_unref(call->msg);
}

/* The record of x with the payloads inside; *n bytes. To be freed. */
static uint8_t *record_of(const uint8_t *msg, const struct xdr_out *x, size_t *n)
{
	size_t len = HEADER + xdr_out_total(x), from = OFF;
	uint32_t mark = htonl(LAST | (uint32_t)len);
	uint8_t *r = calloc(1, 4 + len), *to = r + 4;

	memcpy(r, &mark, 4);
	for (unsigned i = 0; i < x->npayloads; i++) {
		const struct xdr_payload *p = &x->payload[i];
		size_t upto = RPC_HEADROOM + p->pos;

		memcpy(to, msg + from, upto - from);
		to += upto - from;
		seg_list_gather(&p->data, to);
		to += p->data.len + xdr_pad(p->data.len);
		from = upto;
	}
	memcpy(to, msg + from, RPC_HEADROOM + x->len - from);
	*n = 4 + len;
	return r;
}

/* Reads n bytes and compares them. */
static void expect(const uint8_t *want, size_t n)
{
	uint8_t *got = malloc(n);

	for (size_t at = 0; at < n;) {
		ssize_t r = recv(peer, got + at, n - at, 0);

		assert_true(r > 0);
		at += (size_t)r;
	}
	assert_memory_equal(got, want, n);
	free(got);
}

static void expect_nothing(void)
{
	uint8_t byte;

	assert_int_equal(recv(peer, &byte, 1, MSG_DONTWAIT), -1);
	assert_int_equal(errno, EAGAIN);
}

static void expect_call(const struct rpc_call *call)
{
	size_t n;
	uint8_t *want = record_of(call->msg->data, &call->args, &n);

	expect(want, n);
	free(want);
}

/* --- tests -------------------------------------------------------------------------------------
 */

static void a_message_becomes_a_record(void **state)
{
	static const uint32_t len[] = {0, 1, 3, 4, 4096};
	struct mem_buf *data;
	struct rpc_call call;

	tx_start(SOCK_STREAM);
	data = mem_buf_get(pool, 4096);
	fill(data->data, 4096, 1);
	for (unsigned i = 0; i < sizeof(len) / sizeof(len[0]); i++) {
		struct mem_sge sge = mem_buf_sge(data, 0, len[i]);

		call_init(&call, i);
		xdr_put_payload(&call.args, &sge);
		if (i % 2) /* more bytes behind */
			xdr_put_u32(&call.args, 77);
		assert_int_equal(tcp_tx_call(&tx, &call, OFF), 0);
		assert_non_null(call.xprt_priv);
		assert_true(call.posted);
		assert_int_equal(tcp_tx_queued(&tx), 1);
		assert_int_equal(tcp_tx_flush(&tx, false), 0);
		assert_null(call.xprt_priv); /* tcp_tx has let go of the call */
		expect_call(&call);
		call_finish(&call);
	}
	expect_nothing();
	mem_buf_unref(data);
	tx_stop();
}

static void many_records_go_in_one_call(void **state)
{
	struct rpc_call call[20];
	uint8_t packet[8192], *at = packet;
	ssize_t n;

	tx_start(SOCK_SEQPACKET);
	for (unsigned i = 0; i < 20; i++) {
		call_init(&call[i], i);
		assert_int_equal(tcp_tx_call(&tx, &call[i], OFF), 0);
	}
	assert_int_equal(tcp_tx_flush(&tx, false), 0);
	n = recv(peer, packet, sizeof(packet), 0);
	assert_int_equal(n, 20 * (4 + HEADER + 4));
	for (unsigned i = 0; i < 20; i++) {
		size_t len;
		uint8_t *want = record_of(call[i].msg->data, &call[i].args, &len);

		assert_memory_equal(at, want, len);
		at += len;
		free(want);
		call_finish(&call[i]);
	}
	expect_nothing();
	tx_stop();
}

/* Pieces of every length, also zero, and more pieces than one sendmsg() takes. */
static void pieces_are_gathered(void **state)
{
	static struct seg piece[3][SEG_LIST_MAX];
	struct mem_buf *data;
	struct rpc_call call;
	unsigned packets = 0;
	uint8_t *want, *got;
	size_t n, at = 0;

	tx_start(SOCK_SEQPACKET);
	data = mem_buf_get(pool, 65536);
	fill(data->data, 65536, 5);
	call_init(&call, 9);
	for (unsigned k = 0; k < 3; k++) {
		struct seg_list l;

		for (unsigned i = 0; i < SEG_LIST_MAX; i++) {
			uint32_t len = i % 11;

			piece[k][i] = (struct seg){mem_buf_sge(data, 60000 - 16 * i, len), data};
		}
		assert_int_equal(seg_list_init(&l, piece[k], SEG_LIST_MAX), 0);
		if (k == 1)
			l = seg_list_cut(&l, 12, l.len - 31);
		xdr_put_payload_list(&call.args, &l);
		xdr_put_u32(&call.args, k);
	}
	assert_int_equal(tcp_tx_call(&tx, &call, OFF), 0);
	assert_int_equal(tcp_tx_flush(&tx, false), 0);
	want = record_of(call.msg->data, &call.args, &n);
	got = malloc(n);
	while (at < n) {
		ssize_t r = recv(peer, got + at, n - at, MSG_DONTWAIT);

		assert_true(r > 0);
		at += (size_t)r;
		packets++;
	}
	assert_memory_equal(got, want, n);
	assert_int_equal(packets, 2);
	expect_nothing();
	free(want);
	free(got);
	call_finish(&call);
	mem_buf_unref(data);
	tx_stop();
}

/* A full socket: unsent bytes stay, and go on when the socket is reported writable. */
static void what_is_left_goes_later(void **state)
{
	uint32_t big = 1u << 20;
	int size = 4096;
	struct rpc_call call[2];
	struct mem_buf *data;
	struct mem_sge sge;
	uint8_t *want, *got;
	size_t n, at = 0;
	unsigned rounds = 0;

	tx_start(SOCK_STREAM);
	setsockopt(tx.fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	data = mem_buf_get(pool, big);
	fill(data->data, big, 3);
	sge = mem_buf_sge(data, 0, big);
	call_init(&call[0], 0);
	xdr_put_payload(&call[0].args, &sge);
	call_init(&call[1], 1);
	assert_int_equal(tcp_tx_call(&tx, &call[0], OFF), 0);
	assert_int_equal(tcp_tx_flush(&tx, false), 1);
	assert_true(tx.full);
	assert_int_equal(tcp_tx_call(&tx, &call[1], OFF), 0);
	/* the socket is not tried again: it is known to be full */
	assert_int_equal(tcp_tx_flush(&tx, false), 0);
	want = record_of(call[0].msg->data, &call[0].args, &n);
	got = malloc(n);
	while (at < n) {
		ssize_t r = recv(peer, got + at, n - at, MSG_DONTWAIT);

		if (r > 0) {
			at += (size_t)r;
			continue;
		}
		assert_int_equal(errno, EAGAIN);
		assert_non_null(call[1].xprt_priv);
		tcp_tx_flush(&tx, true);
		rounds++;
	}
	assert_memory_equal(got, want, n);
	assert_true(rounds > 3);
	tcp_tx_flush(&tx, true);
	expect_call(&call[1]);
	assert_false(tx.full);
	assert_int_equal(tx.sent, n + 4 + HEADER + 4);
	free(want);
	free(got);
	call_finish(&call[0]);
	call_finish(&call[1]);
	mem_buf_unref(data);
	tx_stop();
}

/* The peer closes while half of a record is out. */
static void a_peer_may_go_in_the_middle(void **state)
{
	uint32_t big = 1u << 20;
	struct rpc_call call[2];
	struct mem_buf *data;
	struct mem_sge sge;

	tx_start(SOCK_STREAM);
	data = mem_buf_get(pool, big);
	fill(data->data, big, 3);
	sge = mem_buf_sge(data, 0, big);
	call_init(&call[0], 0);
	xdr_put_payload(&call[0].args, &sge);
	call_init(&call[1], 1);
	assert_int_equal(tcp_tx_call(&tx, &call[0], OFF), 0);
	assert_int_equal(tcp_tx_call(&tx, &call[1], OFF), 0);
	assert_int_equal(tcp_tx_flush(&tx, false), 1);
	close(peer);
	peer = -1;
	tcp_tx_flush(&tx, true); /* no signal is raised */
	assert_string_equal(reason, "sending: Broken pipe");
	assert_int_equal(tcp_tx_call(&tx, &call[1], OFF), -ENOTCONN);
	assert_non_null(call[0].xprt_priv);
	/* as the call's owner does, which sends the call again elsewhere */
	tcp_tx_forget(&tx, &call[0]);
	assert_null(call[0].xprt_priv);
	tcp_tx_purge(&tx);
	call_finish(&call[0]);
	call_finish(&call[1]);
	mem_buf_unref(data);
	tx_stop();
}

/* A call that is taken back is gone, if no byte of the call is out; else the stream goes on with
 * the bytes that the call had. */
static void a_call_can_be_taken_back(void **state)
{
	uint32_t big = 1u << 20;
	struct rpc_call call[3];
	struct mem_buf *data;
	struct mem_sge sge;
	uint8_t *want;
	size_t n;

	tx_start(SOCK_STREAM);
	data = mem_buf_get(pool, big);
	fill(data->data, big, 3);
	sge = mem_buf_sge(data, 0, big);
	call_init(&call[0], 0);
	xdr_put_payload(&call[0].args, &sge);
	call_init(&call[1], 1);
	call_init(&call[2], 2);
	assert_int_equal(tcp_tx_call(&tx, &call[0], OFF), 0);
	assert_int_equal(tcp_tx_flush(&tx, false), 1);
	assert_int_equal(tcp_tx_call(&tx, &call[1], OFF), 0);
	assert_int_equal(tcp_tx_call(&tx, &call[2], OFF), 0);
	want = record_of(call[0].msg->data, &call[0].args, &n);
	assert_false(tcp_tx_forget(&tx, &call[1]));
	assert_true(tcp_tx_forget(&tx, &call[0]));
	tcp_tx_forget(&tx, &call[0]); /* no longer in this connection */
	assert_int_equal(tcp_tx_queued(&tx), 2);
	memset(data->data, 0xee, big);
	for (size_t at = 0; at < n;) {
		uint8_t got[65536];
		ssize_t r =
			recv(peer, got, n - at < sizeof(got) ? n - at : sizeof(got), MSG_DONTWAIT);

		if (r > 0) {
			assert_memory_equal(got, want + at, (size_t)r);
			at += (size_t)r;
		} else {
			tcp_tx_flush(&tx, true);
		}
	}
	tcp_tx_flush(&tx, true);
	expect_call(&call[2]);
	expect_nothing();
	free(want);
	for (int i = 0; i < 3; i++)
		call_finish(&call[i]);
	mem_buf_unref(data);
	tx_stop();
}

static void the_first_reason_stays(void **state)
{
	struct rpc_call call;

	tx_start(SOCK_STREAM);
	call_init(&call, 0);
	assert_int_equal(tcp_tx_call(&tx, &call, OFF), 0);
	tcp_tx_shut(&tx, "the first");
	tcp_tx_shut(&tx, "the second");
	assert_string_equal(reason, "the first");
	assert_int_equal(tcp_tx_flush(&tx, true), 0);
	tcp_tx_purge(&tx);
	assert_null(call.xprt_priv);
	assert_int_equal(recv(peer, reason, 1, 0), 0);
	call_finish(&call);
	tx_stop();
}

/* --- replies -----------------------------------------------------------------------------------
 */

static bool destroyed;

static void destroy(struct rpc_xprt *x)
{
	destroyed = true;
	rpc_xprt_fini(x);
}

static struct rpc_req *reply_new(struct rpc_xprt *x, unsigned i, size_t size)
{
	struct rpc_req *req = rpc_req_new(x);

	assert_non_null(req);
	req->call_msg = mem_buf_get(pool, 64);
	assert_int_equal(rpc_req_begin(req, size), 0);
	fill(req->msg->data + OFF, HEADER, i);
	memset(xdr_reserve(&req->res, size - 64), (int)i, size - 64);
	return req;
}

/* The memory of unsent replies counts while the peer reads nothing, and until the peer has read
 * enough. */
static void replies_are_owed(void **state)
{
	static const struct rpc_xprt_ops ops = {.destroy = destroy};
	size_t size = 512u << 10, len;
	static uint8_t got[1u << 20];
	struct rpc_xprt x = {0};
	unsigned n = 0;
	int told = 0;

	tx_start(SOCK_STREAM);
	destroyed = false;
	assert_int_equal(rpc_xprt_init(&x, &ops, NULL), 0);
	assert_false(tcp_tx_owes(&tx));
	while (!tcp_tx_owes(&tx)) {
		assert_int_equal(tcp_tx_reply(&tx, reply_new(&x, n, size), OFF), 0);
		tcp_tx_flush(&tx, false);
		assert_true(n++ < 40);
	}
	assert_true(tx.owed > TCP_TX_OWED_MAX);
	assert_in_range(n, 10, 36);
	len = 4 + HEADER + size - 64;
	for (unsigned i = 0; i < n; i++) {
		uint32_t mark;

		for (size_t at = 0; at < len;) {
			ssize_t r = recv(peer, got + at, len - at, MSG_DONTWAIT);

			if (r > 0)
				at += (size_t)r;
			else
				told += tcp_tx_flush(&tx, true) == 1 && !tcp_tx_owes(&tx);
		}
		memcpy(&mark, got, 4);
		assert_int_equal(ntohl(mark), LAST | (len - 4));
		assert_int_equal(got[len - 1], (uint8_t)i);
	}
	assert_true(told > 0);
	assert_int_equal(tx.owed, 0);
	/* unsent replies are ended all the same */
	assert_int_equal(tcp_tx_reply(&tx, reply_new(&x, n, size), OFF), 0);
	tx_stop();
	rpc_xprt_unref(&x);
	assert_true(destroyed);
}

/* With little room in the pool, fewer bytes may be owed. */
static void a_small_pool_bounds_what_is_owed(void **state)
{
	static const struct rpc_xprt_ops ops = {.destroy = destroy};
	struct mem_pool *small = mem_pool_new(4u << 20);
	struct rpc_xprt x = {0};
	unsigned n = 0;

	tx_start(SOCK_STREAM);
	tx.pool = small;
	assert_int_equal(rpc_xprt_init(&x, &ops, NULL), 0);
	while (!tcp_tx_owes(&tx)) {
		assert_int_equal(tcp_tx_reply(&tx, reply_new(&x, n, 512u << 10), OFF), 0);
		assert_true(n++ < 12);
	}
	tx_stop();
	rpc_xprt_unref(&x);
	mem_pool_free(small);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_becomes_a_record),
		cmocka_unit_test(many_records_go_in_one_call),
		cmocka_unit_test(pieces_are_gathered),
		cmocka_unit_test(what_is_left_goes_later),
		cmocka_unit_test(a_peer_may_go_in_the_middle),
		cmocka_unit_test(a_call_can_be_taken_back),
		cmocka_unit_test(the_first_reason_stays),
		cmocka_unit_test(replies_are_owed),
		cmocka_unit_test(a_small_pool_bounds_what_is_owed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
