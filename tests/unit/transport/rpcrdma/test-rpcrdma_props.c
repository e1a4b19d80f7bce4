/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_props: property sets as bytes written down from the XDR
 * of draft-ietf-nfsv4-rpcrdma-version-two (November 2019), section 5.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "transport/rpcrdma/rpcrdma_props.h"

static int get_bytes(struct rpcrdma_props *p, const void *d, size_t n)
{
	struct xdr_in x;

	xdr_in_init(&x, d, n);
	return rpcrdma_props_get(&x, p);
}

static int get_words(struct rpcrdma_props *p, const uint32_t *w, size_t n)
{
	static uint32_t wire[2048];

	for (size_t i = 0; i < n; i++)
		wire[i] = htonl(w[i]);
	return get_bytes(p, wire, 4 * n);
}
#define GET(p, ...)                                                                                \
	get_words(p, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void defaults(void **state)
{
	struct rpcrdma_props p;

	assert_int_equal(GET(&p, 0), 0);
	assert_int_equal(p.send_size, 4096);
	assert_int_equal(p.recv_size, 4096);
	assert_int_equal(p.seg_size, 1048576);
	assert_int_equal(p.seg_count, 16);
	assert_int_equal(p.reverse, 1);
	assert_int_equal(p.rtr_req_sends, 1);
	assert_int_equal(p.rtr_resp_sends, 1);
}

static void all_of_them(void **state)
{
	static const uint32_t w[] = {5, 1, 4, 8192, 2, 4, 16384, 3, 4, 65536, 4, 4, 32, 5, 4, 2};
	struct rpcrdma_props p;
	struct xdr_out x;
	uint32_t out[32];

	assert_int_equal(get_words(&p, w, sizeof(w) / 4), 0);
	assert_int_equal(p.send_size, 8192);
	assert_int_equal(p.recv_size, 16384);
	assert_int_equal(p.seg_size, 65536);
	assert_int_equal(p.seg_count, 32);
	assert_int_equal(p.reverse, RPCRDMA_REVERSE_GENERAL);
	xdr_out_init(&x, out, sizeof(out));
	rpcrdma_props_put(&x, &p);
	assert_true(xdr_out_ok(&x));
	assert_int_equal(x.len, sizeof(w));
	for (size_t i = 0; i < sizeof(w) / 4; i++)
		assert_int_equal(ntohl(out[i]), w[i]);
	/* and host authentication, which is not kept */
	assert_int_equal(GET(&p, 1, 6, 12, 5, 0x61626364, 0x65000000), 0);
	assert_int_equal(GET(&p, 1, 6, 12, 9, 0x61626364, 0x65000000), -EBADMSG);
}

/* No data is the default, also behind a value; an unknown property is passed over, of any
 * length. */
static void what_is_not_told(void **state)
{
	struct rpcrdma_props p;

	assert_int_equal(GET(&p, 3, 2, 4, 16384, 2, 0, 6, 0), 0);
	assert_int_equal(p.recv_size, 4096);
	assert_int_equal(GET(&p, 3, 99, 0, 0xfffffff0, 8, 1, 2, 2, 4, 16384), 0);
	assert_int_equal(p.recv_size, 16384);
	assert_int_equal(GET(&p, 1, 99, 5, 1, 0), 0);
}

static void malformed(void **state)
{
	static const uint32_t w[] = {2, 1, 4, 8192, 6, 8, 4, 0x61626364};
	static uint32_t many[1 + 2 * 1000];
	struct rpcrdma_props p;
	uint32_t wire[8];

	for (size_t i = 0; i < 8; i++)
		wire[i] = htonl(w[i]);
	assert_int_equal(get_bytes(&p, wire, sizeof(wire)), 0);
	for (size_t n = 0; n < sizeof(wire); n++)
		assert_int_equal(get_bytes(&p, wire, n), -EBADMSG);
	assert_int_equal(GET(&p, 1, 1, 2, 8192), -EBADMSG);	  /* a number of two bytes */
	assert_int_equal(GET(&p, 1, 1, 8, 8192, 8192), -EBADMSG); /* of eight */
	assert_int_equal(GET(&p, 1, 1, 4000, 8192), -EBADMSG);	  /* beyond the message */
	assert_int_equal(GET(&p, 1, 99, 4000, 8192), -EBADMSG);	  /* also for an unknown property */
	/* an opaque that is longer than its property */
	assert_int_equal(GET(&p, 1, 6, 4, 100), -EBADMSG);
	assert_int_equal(GET(&p, 1, 6, 12, 4, 1, 2), -EBADMSG); /* with more bytes behind */
	assert_int_equal(GET(&p, 1, 1, 4, 8192, 7), -EBADMSG);	/* more than was counted */
	assert_int_equal(GET(&p, 0xffffffff, 1, 4, 8192), -EBADMSG);
	/* any number of unknown properties, but exactly as many as are counted */
	many[0] = 1000;
	for (unsigned i = 0; i < 1000; i++)
		many[1 + 2 * i] = 99;
	assert_int_equal(get_words(&p, many, sizeof(many) / 4), 0);
	assert_int_equal(get_words(&p, many, sizeof(many) / 4 - 2), -EBADMSG);
}

static void what_may_change_later(void **state)
{
	struct rpcrdma_props first, p, none;

	rpcrdma_props_init(&none); /* no properties were told before: all may change */
	assert_int_equal(GET(&first, 2, 2, 4, 8192, 4, 0), 0);
	rpcrdma_props_follow(&first, &none);
	assert_int_equal(first.recv_size, 8192);
	/* a told value may change, either way; of the rest only a lower value counts */
	assert_int_equal(GET(&p, 5, 1, 4, 8192, 2, 4, 16384, 3, 4, 65536, 4, 4, 32, 5, 4, 2), 0);
	rpcrdma_props_follow(&p, &first);
	assert_int_equal(p.send_size, 4096);
	assert_int_equal(p.recv_size, 16384);
	assert_int_equal(p.seg_size, 65536);
	assert_int_equal(p.seg_count, 32);
	assert_int_equal(p.reverse, 1);
	/* and a property that is left out once has its default for good */
	first = p;
	assert_int_equal(GET(&p, 1, 2, 4, 2048), 0);
	rpcrdma_props_follow(&p, &first);
	assert_int_equal(p.recv_size, 2048);
	assert_int_equal(p.seg_count, 16);
	first = p;
	assert_int_equal(GET(&p, 2, 2, 4, 8192, 4, 4, 32), 0);
	rpcrdma_props_follow(&p, &first);
	assert_int_equal(p.recv_size, 8192);
	assert_int_equal(p.seg_count, 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(all_of_them),
		cmocka_unit_test(what_is_not_told),
		cmocka_unit_test(malformed),
		cmocka_unit_test(what_may_change_later),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
