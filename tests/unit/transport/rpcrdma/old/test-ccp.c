/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/old/ccp, from the XDR of draft-ietf-nfsv4-rpcrdma-01 section 6.2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "transport/rpcrdma/old/ccp.h"

static uint32_t wire[4];

static struct xdr_in words(uint32_t a, uint32_t b, uint32_t c, size_t len)
{
	struct xdr_in x;

	wire[0] = htonl(a);
	wire[1] = htonl(b);
	wire[2] = htonl(c);
	xdr_in_init(&x, wire, len);
	return x;
}

static void the_request(void **state)
{
	const struct ccp_req r = {4096, 8192, 16};
	struct xdr_in in = words(4096, 8192, 16, CCP_WIRE);
	struct ccp_req back;
	uint32_t out[3];
	struct xdr_out x;

	xdr_out_init(&x, out, sizeof(out));
	ccp_put_req(&x, &r);
	assert_int_equal(x.len, CCP_WIRE);
	assert_memory_equal(out, wire, CCP_WIRE);
	assert_int_equal(ccp_get_req(&in, &back), 0);
	assert_memory_equal(&back, &r, sizeof(r));
}

static void the_reply(void **state)
{
	const struct ccp_res r = {1024, 4096, 0};
	struct xdr_in in = words(1024, 4096, 0, CCP_WIRE);
	struct ccp_res back;
	uint32_t out[3];
	struct xdr_out x;

	xdr_out_init(&x, out, sizeof(out));
	ccp_put_res(&x, &r);
	assert_int_equal(x.len, CCP_WIRE);
	assert_memory_equal(out, wire, CCP_WIRE);
	assert_int_equal(ccp_get_res(&in, &back), 0);
	assert_memory_equal(&back, &r, sizeof(r));
}

static void any_other_length_is_refused(void **state)
{
	for (size_t len = 0; len <= sizeof(wire); len++) {
		struct xdr_in a = words(1, 2, 3, len), b = a;
		struct ccp_req req;
		struct ccp_res res;

		if (len == CCP_WIRE)
			continue;
		assert_int_equal(ccp_get_req(&a, &req), -EBADMSG);
		assert_int_equal(ccp_get_res(&b, &res), -EBADMSG);
	}
}

static void the_number_is_of_the_transient_range(void **state)
{
	assert_true(CCP_PROG >= 0x40000000 && CCP_PROG <= 0x5fffffff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_request),
		cmocka_unit_test(the_reply),
		cmocka_unit_test(any_other_length_is_refused),
		cmocka_unit_test(the_number_is_of_the_transient_range),
	};

	return cmocka_run_group_tests_name("ccp", tests, NULL, NULL);
}
