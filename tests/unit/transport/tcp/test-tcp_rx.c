/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/tcp/tcp_rx: one stream of every kind of record, cut in every way.
 */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "transport/tcp/tcp_rx.h"

#define LAST 0x80000000u

/* The upcalls so far, as text. */
static char seen[4096];
static struct mem_pool *pool;
static struct rpc_call call;
static struct mem_buf *sink;

static void note(const char *what, uint32_t a, uint32_t b)
{
	size_t n = strlen(seen);

	snprintf(seen + n, sizeof(seen) - n, "%s %u %u\n", what, a, b);
}

static uint32_t hash(const uint8_t *p, uint32_t n)
{
	uint32_t h = 17;

	while (n--)
		h = h * 31 + *p++;
	return h & 0xffff;
}

static struct rpc_call *find(void *ctx, uint32_t xid)
{
	return xid >= 100 ? &call : NULL;
}

/* Results in these tests: a word, a payload, a word. */
static size_t peek(const void *res, size_t n)
{
	return n >= 8 ? 8 : 0;
}

static void reply(void *ctx, struct rpc_call *c, struct xdr_in *msg)
{
	static uint8_t p[1 << 17];
	uint32_t xid = xdr_get_u32(msg), tail;
	struct seg_list data;
	bool placed;

	xdr_consume(msg, 20);
	xdr_get_u32(msg);
	xdr_get_payload_list(msg, sizeof(p), &data, &placed);
	tail = xdr_get_u32(msg);
	note("reply", xid, data.len);
	seg_list_gather(&data, p);
	note(xdr_in_done(msg) ? "good" : "bad", hash(p, data.len), tail);
	if (placed)
		assert_true(seg_list_same(&data, &call.sink[0]));
}

static void request(void *ctx, struct mem_buf *buf, uint32_t len)
{
	note("call", len, hash(buf->data, len));
	mem_buf_unref(buf);
}

static const struct tcp_rx_up up = {.find = find, .reply = reply, .request = request};

static uint8_t *put32(uint8_t *p, uint32_t v)
{
	v = htobe32(v);
	memcpy(p, &v, 4);
	return p + 4;
}

static uint8_t *put_reply(uint8_t *p, uint32_t xid, uint32_t n, uint32_t said)
{
	p = put32(p, LAST | (24 + 8 + n + xdr_pad(n) + 4));
	p = put32(p, xid);
	p = put32(p, 1);
	memset(p, 0, 16);
	p = put32(p + 16, 7);
	p = put32(p, said);
	for (uint32_t i = 0; i < n; i++)
		*p++ = i * 13 + xid;
	memset(p, 0, xdr_pad(n));
	return put32(p + xdr_pad(n), 0x77);
}

static uint8_t *put_call(uint8_t *p, uint32_t mark, uint32_t n)
{
	p = put32(p, mark | n);
	p = put32(p, 5);
	p = put32(p, 0);
	memset(p, 0xcc, n - 8);
	return p + n - 8;
}

/* Feeds the stream in steps of the given size. Returns the reader's error. */
static const char *feed(const uint8_t *s, size_t size, size_t step, bool narrow)
{
	struct tcp_rx rx;
	struct iovec iov[TCP_RX_IOV];
	const char *error;

	seen[0] = 0;
	assert_int_equal(tcp_rx_init(&rx, pool, &up), 0);
	for (size_t at = 0; at < size && !rx.error;) {
		int k = tcp_rx_space(&rx, narrow, iov);
		size_t n = 0;

		for (int i = 0; i < k; i++) {
			size_t part = iov[i].iov_len;

			if (part > step - n)
				part = step - n;
			if (part > size - at - n)
				part = size - at - n;
			memcpy(iov[i].iov_base, s + at + n, part);
			n += part;
		}
		assert_true(n > 0);
		at += n;
		tcp_rx_filled(&rx, n);
	}
	error = rx.error;
	tcp_rx_fini(&rx);
	return error;
}

static int setup(void **state)
{
	pool = mem_pool_new(0);
	sink = mem_buf_get(pool, 20000);
	call = (struct rpc_call){.nsinks = 1, .peek = peek};
	call.sink[0] = seg_list_of_buf(sink, 0, 20000);
	return 0;
}

/* The sink is in pieces of n bytes at most, and no piece continues the one before. */
static int setup_pieces(void **state)
{
	static const uint32_t odd[] = {1, 4095, 4096, 0, 7, 3, 4097, 60, 0, 5000, 2641};
	static struct seg piece[256];
	unsigned n = *state ? 256 : sizeof(odd) / sizeof(odd[0]);
	uint32_t end = 20000, sum = 0;

	setup(state);
	for (unsigned i = 0; i < n; i++) {
		uint32_t len = n < 256 ? odd[i] : i < 255 ? 78 : 110;

		end -= len;
		sum += len;
		piece[i] = (struct seg){mem_buf_sge(sink, end, len), sink};
	}
	assert_int_equal(sum, 20000);
	return seg_list_init(&call.sink[0], piece, n);
}

static int teardown(void **state)
{
	struct mem_stats st;

	mem_buf_unref(sink);
	mem_pool_stats(pool, &st);
	assert_int_equal(st.used_bytes, 0);
	mem_pool_free(pool);
	return 0;
}

static void every_cut_gives_the_same(void **state)
{
	static const size_t steps[] = {1, 2, 3, 5, 7, 36, 61, 100, 511, 4095, 4096, 65536, 1 << 20};
	uint8_t *s = malloc(1 << 18), *p = s;
	char want[sizeof(seen)];

	p = put_call(p, LAST, 40);
	p = put_reply(p, 100, 0, 0);
	p = put_reply(p, 101, 5, 5);
	p = put_reply(p, 9, 5, 5); /* of no call */
	p = put_reply(p, 102, 20000, 20000);
	p = put_call(p, 0, 100); /* in three fragments, one of them empty */
	p = put32(p, 0);
	p = put32(p, LAST | 4);
	p = put32(p, 0xdddddddd);
	p = put_reply(p, 103, 20001, 20001); /* too large for the sink: still delivered */
	p = put_call(p, LAST, 70000);
	p = put32(p, LAST | 12); /* neither call nor reply */
	p = put32(put32(put32(p, 1), 2), 3);
	p = put32(p, LAST); /* nothing */
	p = put32(p, LAST | 4);
	p = put32(p, 100);
	p = put_reply(p, 9, 9000, 9000);
	p = put_reply(p, 104, 16, 16);

	assert_null(feed(s, p - s, 1 << 20, false));
	strcpy(want, seen);
	assert_non_null(strstr(want, "reply 102 20000"));
	assert_non_null(strstr(want, "reply 103 20001"));
	assert_non_null(strstr(want, "call 104 "));
	assert_non_null(strstr(want, "call 70000 "));
	assert_non_null(strstr(want, "reply 104 16"));
	assert_null(strstr(want, "bad"));
	assert_null(strstr(want, "reply 9 "));
	for (unsigned i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		for (int narrow = 0; narrow < 2; narrow++) {
			assert_null(feed(s, p - s, steps[i], narrow));
			assert_string_equal(seen, want);
		}
	}
	free(s);
}

static void a_lying_length_is_not_placed(void **state)
{
	uint8_t *s = malloc(1 << 16), *p = s;

	p = put_reply(p, 100, 5000, 5004);  /* reaches into the next record */
	p = put_reply(p, 101, 5000, 20000); /* reaches beyond the record */
	p = put_reply(p, 102, 5000, 0xffffffff);
	p = put_reply(p, 103, 5000, 5000);
	for (size_t step = 1; step < 10000; step = step * 3 + 1) {
		assert_null(feed(s, p - s, step, false));
		assert_non_null(strstr(seen, "reply 103 5000\ngood"));
		assert_null(strstr(seen, "reply 101 20000"));
	}
	free(s);
}

static void records_are_bounded(void **state)
{
	uint8_t s[4096 * 5 + 8], *p = s;

	put32(s, LAST | 0x7fffffff);
	assert_non_null(feed(s, 8, 8, false));
	put32(s, LAST | (TCP_RX_MAX_RECORD + 1));
	assert_non_null(feed(s, 8, 8, false));
	put32(s, LAST | TCP_RX_MAX_RECORD);
	assert_null(feed(s, 8, 8, false));
	/* the sum of fragments counts, and the number of fragments */
	p = put_call(s, 0, 16);
	put32(p, LAST | (TCP_RX_MAX_RECORD - 15));
	assert_non_null(feed(s, 24, 8, false));
	memset(s, 0, sizeof(s));
	assert_null(feed(s, 4 * 4096, 1024, false));
	assert_non_null(feed(s, 4 * 4097, 1024, false));
}

static void a_forgotten_call_is_skipped(void **state)
{
	uint8_t *s = malloc(1 << 16), *p;
	struct tcp_rx rx;
	struct iovec iov[TCP_RX_IOV];
	size_t size, at;

	p = put_reply(s, 100, 10000, 10000);
	p = put_reply(p, 101, 8, 8);
	size = p - s;
	for (size_t cut = 100; cut < 10060; cut += 97) {
		bool forgot = false;

		seen[0] = 0;
		memset(sink->data, 0, sink->size);
		assert_int_equal(tcp_rx_init(&rx, pool, &up), 0);
		for (at = 0; at < size;) {
			int k = tcp_rx_space(&rx, false, iov);
			size_t n = iov[0].iov_len, stop = at < cut ? cut : size;

			assert_true(k > 0);
			if (n > stop - at)
				n = stop - at;
			memcpy(iov[0].iov_base, s + at, n);
			at += n;
			assert_int_equal(tcp_rx_filled(&rx, n), 0);
			if (at >= cut && !forgot) {
				tcp_rx_forget(&rx, &call);
				memset(sink->data, 0xee, sink->size);
				forgot = true;
			}
		}
		if (!strstr(seen, "reply 100")) /* the call was in the middle of its reply */
			for (uint32_t i = 9; i < sink->size; i++)
				assert_int_equal(sink->data[i], 0xee);
		assert_non_null(strstr(seen, "reply 101 8\ngood"));
		tcp_rx_fini(&rx);
	}
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_cut_gives_the_same, setup, teardown),
		{"every_cut_gives_the_same, in odd pieces", every_cut_gives_the_same, setup_pieces,
			teardown, NULL},
		{"every_cut_gives_the_same, in 256 pieces", every_cut_gives_the_same, setup_pieces,
			teardown, &pool},
		cmocka_unit_test_setup_teardown(a_lying_length_is_not_placed, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_lying_length_is_not_placed, setup_pieces, teardown),
		cmocka_unit_test_setup_teardown(records_are_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(a_forgotten_call_is_skipped, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
