/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_dialect.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "transport/rpcrdma/rpcrdma_conn.h"
#include "transport/rpcrdma/setup/rpcrdma_setup.h"
#include "transport/rpcrdma/setup/rpcrdma_versions.h"
#include "transport/rpcrdma/v1/rpcrdma_v1.h"
#include "transport/rpcrdma/v2/rpcrdma_v2.h"

static const struct rpcrdma_dialect *spoken;

static int setup(void **state)
{
	spoken = &rpcrdma_v1;
	return 0;
}

static int decode_words(struct rpcrdma_hdr *h, const uint32_t *w, size_t n)
{
	uint32_t wire[16];

	for (size_t i = 0; i < n; i++)
		wire[i] = htonl(w[i]);
	return rpcrdma_dialect_decode(spoken, h, wire, n * 4);
}
#define DECODE(h, ...)                                                                             \
	decode_words(                                                                              \
		h, (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static void the_table(void **state)
{
	static const struct rpcrdma_dialect seven = {.vers = 7}, three = {.vers = 3},
					    five = {.vers = 5};
	static const struct rpcrdma_dialect *const table[] = {&five, &seven, &three, NULL};
	uint32_t low, high;

	assert_ptr_equal(rpcrdma_dialect_find(table, 5, 5), &five);
	assert_ptr_equal(rpcrdma_dialect_find(table, 3, 3), &three);
	assert_null(rpcrdma_dialect_find(table, 4, 4));
	assert_ptr_equal(rpcrdma_dialect_find(table, 0, 100), &five); /* best first */
	assert_ptr_equal(rpcrdma_dialect_find(table, 6, UINT32_MAX), &seven);
	assert_null(rpcrdma_dialect_find(table, 7, 3));
	rpcrdma_dialect_range(table, &low, &high);
	assert_int_equal(low, 3);
	assert_int_equal(high, 7);
	/* ours */
	assert_ptr_equal(rpcrdma_dialects[0], &rpcrdma_v2);
	assert_ptr_equal(rpcrdma_dialects[1], &rpcrdma_v1);
	assert_null(rpcrdma_dialects[2]);
}

/* A Linux server answers a version 2 probe in a header with the version word 2. */
static void version_error_is_read_at_any_version(void **state)
{
	struct rpcrdma_hdr h;

	for (uint32_t vers = 0; vers < 4; vers++) {
		assert_int_equal(DECODE(&h, 0xcafe, vers, 64, 4, 1, 1, 2), 0);
		assert_true(rpcrdma_hdr_is_err_vers(&h));
		assert_int_equal(h.xid, 0xcafe);
		assert_int_equal(h.vers, vers);
		assert_int_equal(h.vers_low, 1);
		assert_int_equal(h.vers_high, 2);
		/* in version 2 the word may mean another error */
		assert_int_equal(DECODE(&h, 0xcafe, vers, 64, 4, 1, 1),
			vers == 2 ? -EPROTONOSUPPORT : -EBADMSG);
	}
	/* other errors of another version have a form that is unknown here */
	assert_int_equal(DECODE(&h, 0xcafe, 2, 64, 4, 2), -EPROTONOSUPPORT);
	assert_int_equal(DECODE(&h, 0xcafe, 2, 64, 4), -EPROTONOSUPPORT);
	assert_int_equal(DECODE(&h, 0xcafe, 1, 64, 4, 2), 0);
	assert_false(rpcrdma_hdr_is_err_vers(&h));
}

static void other_versions_are_told_apart(void **state)
{
	struct rpcrdma_hdr h;

	assert_int_equal(DECODE(&h, 3, 1, 16), -EMSGSIZE);
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 0, 0), 0);
	assert_int_equal(DECODE(&h, 3, 2, 16, 0, 0, 0, 0), -EPROTONOSUPPORT);
	assert_int_equal(h.xid, 3);
	assert_int_equal(h.vers, 2);
	assert_int_equal(DECODE(&h, 3, 0, 16, 0, 0, 0, 0), -EPROTONOSUPPORT);
}

static void what_errors_ask_for(void **state)
{
	const char *meaning = NULL;
	struct rpcrdma_hdr h;

	assert_int_equal(DECODE(&h, 1, 1, 64, 4, 1, 1, 2), 0);
	assert_int_equal(rpcrdma_dialect_on_error(spoken, &h, &meaning), RPCRDMA_RENEGOTIATE);
	assert_int_equal(DECODE(&h, 1, 1, 64, 4, 2), 0);
	assert_int_equal(rpcrdma_dialect_on_error(spoken, &h, &meaning), RPCRDMA_FAIL);
	assert_non_null(strstr(meaning, "ERR_CHUNK"));
}

static void version_errors_are_written_in_any_version(void **state)
{
	static const uint32_t expect[] = {5, 9, 64, 4, 1, 1, 3};
	struct rpcrdma_hdr h;
	uint32_t buf[16];

	rpcrdma_hdr_init(&h, 5, RPCRDMA_DIR_REPLY, RDMA_ERROR);
	h.vers = 9;
	h.grant = 64;
	h.err = RDMA_ERR_VERS;
	h.vers_low = 1;
	h.vers_high = 3;
	assert_int_equal(rpcrdma_dialect_size(spoken, &h), sizeof(expect));
	assert_int_equal(rpcrdma_dialect_encode(spoken, &h, buf, sizeof(buf)), sizeof(expect));
	for (size_t i = 0; i < sizeof(expect) / 4; i++)
		assert_int_equal(ntohl(buf[i]), expect[i]);
	/* another error is the dialect's, in the dialect's version */
	h.err = RDMA_ERR_CHUNK;
	assert_int_equal(rpcrdma_dialect_size(spoken, &h), 20);
	assert_int_equal(rpcrdma_dialect_encode(spoken, &h, buf, sizeof(buf)), 20);
	assert_int_equal(ntohl(buf[1]), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table),
		cmocka_unit_test(version_error_is_read_at_any_version),
		cmocka_unit_test(other_versions_are_told_apart),
		cmocka_unit_test(what_errors_ask_for),
		cmocka_unit_test(version_errors_are_written_in_any_version),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
