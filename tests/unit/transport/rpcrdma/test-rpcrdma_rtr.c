/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_rtr: every operation and union arm of
 * draft-dnoveck-nfsv4-rpcrdma-rtrext-02 as words written down from the draft's XDR, and the
 * structure
 * of receive buffers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <string.h>

#include "transport/rpcrdma/rpcrdma_hdr.h"
#include "transport/rpcrdma/rpcrdma_rtr.h"

#define MAX 64

struct vector {
	const char *name;
	uint32_t proc;
	unsigned n;
	uint32_t w[40];
};

#define REQ  RPCRDMA_XMT_REQ
#define RESP RPCRDMA_XMT_RESP

static const struct vector good[] = {
	{"a request with nothing", REQ, 5, {0, 0, 1, 1, 88}},
	{"a request with an item to be read", REQ, 17,
		{1, 44, 5000, 1, 2, 0x11, 4096, 1, 0x80000000, 0x12, 904, 0, 7, 0, 1, 1, 88}},
	{"a request with an item in three targets", REQ, 13,
		{1, 44, 9000, 2, 8, 3, 0, 2, 1, 0, 1, 1, 88}},
	{"a request with two items", REQ, 19,
		{2, 44, 4096, 2, 0, 1, 0, 4200, 16, 1, 1, 0x21, 16, 0, 0, 0, 3, 4, 88}},
	{"a request with each kind of place", REQ, 35,
		{0, 2, 0, 100, 3, 16, 1, 1, 0x31, 8192, 0, 64, 0, 2, 0, 3, 1, 0x32, 100, 0, 0, 104,
			200, 1, 0, 4, 65536, 1, 0x33, 1 << 20, 0, 0, 1, 1, 88}},
	{"a request with ranges that touch, one of them empty", REQ, 15,
		{0, 2, 0, 8, 1, 0, 2, 8, 8, 1, 0, 2, 1, 1, 88}},
	{"a reply with nothing", RESP, 3, {0, 1, 24}},
	{"a reply with each kind of item", RESP, 23,
		{4, 40, 100, 1, 1, 0x31, 100, 0, 64, 144, 4000, 2, 0, 1, 2, 0, 0, 5, 0, 0, 6, 1,
			60}},
	{"a continuation", RPCRDMA_XMT_CONT, 3, {1, 5, 900}},
	{"BADHMT", RPCRDMA_REPT_ERR, 7, {7, 0, 1, 0, 1, 5, 0}},
	{"BADOMT behind another", RPCRDMA_REPT_ERR, 10, {7, 1, 1, 1, 7, 1, 0, 2, 7, 6}},
	{"BADCONT", RPCRDMA_REPT_ERR, 5, {7, 0, 1, 0, 3}},
	{"BADSEQ", RPCRDMA_REPT_ERR, 7, {7, 0, 2, 0, 4, 1, 2}},
	{"BADXID", RPCRDMA_REPT_ERR, 7, {7, 0, 1, 0, 5, 6, 7}},
	{"BADOFF", RPCRDMA_REPT_ERR, 8, {7, 0, 0, 0, 6, 5000, 0, 4095}},
	{"BADTBSN", RPCRDMA_REPT_ERR, 8, {7, 0, 0, 0, 7, 17, 0, 16}},
	{"BADPL", RPCRDMA_REPT_ERR, 8, {7, 0, 0, 0, 8, 900, 0, 100}},
};
#define NGOOD (sizeof(good) / sizeof(good[0]))

/* Reads v's first n bytes. */
static bool get(const struct vector *v, size_t n, struct rpcrdma_hdr *h, struct xdr_in *x)
{
	static uint32_t buf[MAX];

	for (unsigned i = 0; i < v->n; i++)
		buf[i] = htonl(v->w[i]);
	rpcrdma_hdr_init(h, 7, RPCRDMA_DIR_CALL, v->proc);
	xdr_in_init(x, buf, n);
	rpcrdma_rtr_get(x, h);
	return xdr_in_ok(x);
}

static void operations_are_those_of_the_draft(void **state)
{
	for (size_t i = 0; i < NGOOD; i++) {
		struct rpcrdma_hdr h;
		uint32_t out[MAX];
		struct xdr_out o;
		struct xdr_in x;

		if (!get(&good[i], 4 * good[i].n, &h, &x) || xdr_in_left(&x))
			fail_msg("%s is refused", good[i].name);
		xdr_out_init(&o, out, sizeof(out));
		rpcrdma_rtr_put(&o, &h);
		assert_true(xdr_out_ok(&o));
		assert_int_equal(o.len, 4 * good[i].n);
		assert_int_equal(rpcrdma_rtr_size(&h), o.len);
		if (memcmp(out, x.base, o.len))
			fail_msg("%s is written otherwise", good[i].name);
	}
}

static void what_is_cut_off_is_refused(void **state)
{
	struct rpcrdma_hdr h;
	struct xdr_in x;

	for (size_t i = 0; i < NGOOD; i++)
		for (size_t n = 0; n < 4 * good[i].n; n++)
			if (get(&good[i], n, &h, &x))
				fail_msg("%s of %zu bytes is taken", good[i].name, n);
}

static void what_they_say(void **state)
{
	struct rpcrdma_hdr h;
	struct xdr_in x;

	assert_true(get(&good[2], 4 * good[2].n, &h, &x));
	assert_int_equal(h.rtr.nitems, 1);
	assert_int_equal(h.rtr.item[0].disp, 44);
	assert_int_equal(h.rtr.item[0].len, 9000);
	assert_int_equal(h.rtr.item[0].off, 8);
	assert_int_equal(h.rtr.item[0].at.n, 3);
	assert_int_equal(h.rtr.bsn[1], 2);
	assert_int_equal(h.rtr.len, 88);
	assert_true(get(&good[4], 4 * good[4].n, &h, &x));
	assert_int_equal(h.rtr.nplaces, 4);
	assert_int_equal(h.rtr.place[2].end, 100);
	assert_int_equal(h.rtr.place[3].begin, 104);
	assert_int_equal(h.rtr.place[3].most, 65536);
	assert_int_equal(h.seg[h.rtr.place[3].at.first].handle, 0x33);
}

static void what_is_invalid(void **state)
{
	static const struct vector bad[] = {
		{"an item of a request that was too short", REQ, 8, {1, 0, 0, 5, 0, 1, 1, 0}},
		{"one that is none", REQ, 8, {1, 0, 0, 6, 0, 1, 1, 0}},
		{"one by choice", REQ, 9, {1, 0, 0, 3, 0, 0, 1, 1, 0}},
		{"an item of a reply by size", RESP, 7, {1, 0, 0, 4, 0, 1, 0}},
		{"one of a type that there is not", RESP, 6, {1, 0, 0, 7, 1, 0}},
		{"a place that is too short", REQ, 10, {0, 1, 0, 9, 1, 0, 5, 1, 1, 0}},
		{"a place of type 0", REQ, 10, {0, 1, 0, 9, 1, 0, 0, 1, 1, 0}},
		{"ranges that overlap", REQ, 11, {0, 2, 0, 9, 0, 8, 12, 0, 1, 1, 0}},
		{"a range that goes down", REQ, 8, {0, 1, 9, 8, 0, 1, 1, 0}},
		{"an empty range twice", REQ, 11, {0, 2, 9, 9, 0, 9, 9, 0, 1, 1, 0}},
		{"a range that begins with an empty one", REQ, 11,
			{0, 2, 9, 9, 0, 9, 12, 0, 1, 1, 0}},
		{"the same range twice", REQ, 11, {0, 2, 0, 9, 0, 0, 9, 0, 1, 1, 0}},
		{"ranges the wrong way round", REQ, 11, {0, 2, 9, 12, 0, 0, 9, 0, 1, 1, 0}},
		{"a range that begins with the last position", REQ, 8,
			{0, 1, 0xffffffff, 0xffffffff, 0, 1, 1, 0}},
		{"more items than there can be", REQ, 5, {0x40000000, 0, 1, 1, 0}},
		{"more targets than there can be", REQ, 10,
			{1, 0, 9, 2, 0, 0x40000000, 0, 1, 1, 0}},
		{"an error of the future", RPCRDMA_REPT_ERR, 5, {7, 0, 1, 0, 9}},
		{"a direction that is none", RPCRDMA_REPT_ERR, 5, {7, 2, 1, 0, 3}},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rpcrdma_hdr h;
		struct xdr_in x;

		if (get(&bad[i], 4 * bad[i].n, &h, &x))
			fail_msg("%s is taken", bad[i].name);
	}
}

/* --- the structure of receive buffers --------------------------------------------------------- */

static const struct rpcrdma_rtr_layout mixed = {
	.len = 100 + 3 * 4096 + 50 + 2 * 8192,
	.ngroups = 4,
	.group = {{1, 100, 4, 0}, {3, 4096, 4096, 1}, {1, 50, 1, 0}, {2, 8192, 4096, 1}},
};

static void a_layout(void **state)
{
	struct rpcrdma_rtr_layout l;
	uint32_t buf[MAX];
	struct xdr_out o;
	struct xdr_in x;

	xdr_out_init(&o, buf, sizeof(buf));
	rpcrdma_rtr_put_layout(&o, &mixed);
	assert_int_equal(o.len, 8 + 4 * 16);
	assert_int_equal(ntohl(buf[0]), mixed.len);
	assert_int_equal(ntohl(buf[1]), 4);
	assert_int_equal(ntohl(buf[6]), 3);
	for (size_t n = 0; n <= o.len; n++) {
		xdr_in_init(&x, buf, n);
		rpcrdma_rtr_get_layout(&x, &l);
		assert_int_equal(xdr_in_ok(&x), n == o.len);
	}
	assert_memory_equal(l.group, mixed.group, sizeof(l.group[0]) * 4);
	buf[0] = htonl(mixed.len + 1); /* not the sum */
	xdr_in_init(&x, buf, o.len);
	rpcrdma_rtr_get_layout(&x, &l);
	assert_false(xdr_in_ok(&x));
	buf[0] = htonl(mixed.len);
	buf[6] = htonl(0xffffffff); /* segments without end */
	xdr_in_init(&x, buf, o.len);
	rpcrdma_rtr_get_layout(&x, &l);
	assert_false(xdr_in_ok(&x));
}

static void where_data_fits(void **state)
{
	static const struct {
		uint32_t behind, len;
		int first;
		unsigned n;
	} t[] = {
		{0, 1, 0, 1},
		{100, 4096, 0, 1},
		{101, 4096, 1, 1},
		{100, 12288, 0, 3},
		{100, 12289, 3, 2}, /* there is a gap behind the third */
		{101, 12288, 3, 2},
		{101, 16385, -1, 0},
		{100 + 3 * 4096, 8192, 3, 1},
		{30000, 1, -1, 0},
	};
	uint32_t off, len;

	assert_int_equal(rpcrdma_rtr_targets(&mixed), 5);
	assert_true(rpcrdma_rtr_target(&mixed, 3, &off, &len));
	assert_int_equal(off, 100 + 3 * 4096 + 50);
	assert_int_equal(len, 8192);
	assert_false(rpcrdma_rtr_target(&mixed, 5, &off, &len));
	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		unsigned n = 0;

		assert_int_equal(rpcrdma_rtr_fit(&mixed, t[i].behind, t[i].len, &n), t[i].first);
		assert_true(t[i].first < 0 || n == t[i].n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations_are_those_of_the_draft),
		cmocka_unit_test(what_is_cut_off_is_refused),
		cmocka_unit_test(what_they_say),
		cmocka_unit_test(what_is_invalid),
		cmocka_unit_test(a_layout),
		cmocka_unit_test(where_data_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
