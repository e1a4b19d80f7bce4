/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_hdr.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "transport/rpcrdma/rpcrdma_hdr.h"

static const struct rpcrdma_seg seg = {0xaaaa0001, 0x1000, 0x1122334455667788};

static void the_adders_keep_the_caps(void **state)
{
	struct rpcrdma_hdr h;
	struct rpcrdma_seg many[RPCRDMA_MAX_SEGS] = {0};

	rpcrdma_hdr_init(&h, 1, RPCRDMA_DIR_CALL, RDMA_MSG);
	for (int i = 0; i < RPCRDMA_MAX_READS; i++)
		assert_int_equal(rpcrdma_hdr_add_read(&h, 4, &seg), 0);
	assert_int_equal(rpcrdma_hdr_add_read(&h, 4, &seg), -E2BIG);
	assert_int_equal(rpcrdma_hdr_add_write(&h, many, RPCRDMA_MAX_SEGS), 0);
	assert_int_equal(rpcrdma_hdr_set_reply(&h, many, 1), -E2BIG);
	assert_false(h.has_reply);
	assert_int_equal(rpcrdma_hdr_add_write(&h, many, 1), -E2BIG);
	assert_int_equal(h.nwrites, 1);
}

static void chunks(void **state)
{
	struct rpcrdma_hdr h;
	const struct rpcrdma_seg two[] = {{1, UINT32_MAX, 0}, {2, UINT32_MAX, 0}};

	rpcrdma_hdr_init(&h, 1, RPCRDMA_DIR_CALL, RDMA_MSG);
	assert_true(rpcrdma_hdr_chunkless(&h));
	assert_int_equal(rpcrdma_hdr_add_write(&h, NULL, 0), 0);
	assert_false(rpcrdma_hdr_chunkless(&h));
	assert_int_equal(rpcrdma_hdr_set_reply(&h, two, 2), 0);
	assert_int_equal(rpcrdma_chunk_len(h.seg, &h.write[0]), 0);
	assert_true(rpcrdma_chunk_len(h.seg, &h.reply) == 2 * (uint64_t)UINT32_MAX);
	assert_int_equal(h.seg[h.reply.first + 1].handle, 2);
}

static int peek(struct rpcrdma_hdr *h, const uint32_t *w, size_t len)
{
	/* so that a sanitizer sees a read beyond the end */
	uint8_t *exact = calloc(1, len ? len : 1);
	int rc;

	for (size_t i = 0; i < len; i++)
		exact[i] = (uint8_t)(w[i / 4] >> (24 - 8 * (i % 4)));
	rc = rpcrdma_hdr_peek(h, exact, len);
	free(exact);
	return rc;
}

/* The words that every version has, before any other words. */
static void peeking(void **state)
{
	static const uint32_t w[] = {7, 3, 64, 99, 1, 2, 3};
	struct rpcrdma_hdr h;

	for (size_t len = 0; len <= sizeof(w); len++) {
		assert_int_equal(peek(&h, w, len), len < RPCRDMA_FIXED_LEN ? -EMSGSIZE : 0);
		if (len < RPCRDMA_FIXED_LEN)
			continue;
		assert_int_equal(h.xid, 7);
		assert_int_equal(h.vers, 3);
		assert_int_equal(h.proc, 99);
		assert_int_equal(h.dir, RPCRDMA_DIR_UNSAID);
		assert_false(rpcrdma_hdr_is_err_vers(&h));
	}
}

/* In version 2 the word after the fixed ones is flags. The length and the next word tell an
 * ERR_VERS of a peer without version 2 from an error of version 2. */
static void version_errors_beside_flags(void **state)
{
	static const uint32_t theirs[] = {7, 2, 64, 4, 1, 1, 1}, also[] = {7, 2, 64, 4, 1, 3, 9},
			      chunks[] = {7, 2, 64, 4, 1, 5, 3}, reply[] = {7, 2, 64, 4, 1, 9, 500},
			      bad_xdr[] = {7, 2, 64, 4, 1, 2}, own[] = {7, 2, 64, 4, 1, 1, 2, 2};
	struct rpcrdma_hdr h;

	assert_int_equal(peek(&h, theirs, sizeof(theirs)), 0);
	assert_true(rpcrdma_hdr_is_err_vers(&h));
	assert_int_equal(peek(&h, also, sizeof(also)), 0);
	assert_true(rpcrdma_hdr_is_err_vers(&h));
	assert_int_equal(peek(&h, chunks, sizeof(chunks)), 0);
	assert_false(rpcrdma_hdr_is_err_vers(&h));
	assert_int_equal(peek(&h, reply, sizeof(reply)), 0);
	assert_false(rpcrdma_hdr_is_err_vers(&h));
	assert_int_equal(peek(&h, bad_xdr, sizeof(bad_xdr)), 0);
	assert_false(rpcrdma_hdr_is_err_vers(&h));
	assert_int_equal(peek(&h, own, sizeof(own)), 0);
	assert_false(rpcrdma_hdr_is_err_vers(&h));
}

/* RDMA_ERROR with ERR_VERS: the same bytes in all versions. */
static void version_errors(void **state)
{
	static const uint32_t w[] = {0xcafe, 3, 64, 4, 1, 1, 3};
	struct rpcrdma_hdr h;
	uint32_t buf[8];

	for (size_t len = 20; len < sizeof(w); len++)
		assert_int_equal(peek(&h, w, len), -EBADMSG);
	assert_int_equal(peek(&h, w, sizeof(w)), 0);
	assert_true(rpcrdma_hdr_is_err_vers(&h));
	assert_int_equal(h.xid, 0xcafe);
	assert_int_equal(h.vers, 3);
	assert_int_equal(h.dir, RPCRDMA_DIR_REPLY);
	assert_int_equal(h.vers_low, 1);
	assert_int_equal(h.vers_high, 3);
	assert_int_equal(h.len, sizeof(w));
	h.grant = 64;
	assert_int_equal(rpcrdma_hdr_put_err_vers(&h, buf, sizeof(buf)), RPCRDMA_ERR_VERS_LEN);
	for (size_t i = 0; i < sizeof(w) / 4; i++)
		assert_int_equal(ntohl(buf[i]), w[i]);
	assert_int_equal(rpcrdma_hdr_put_err_vers(&h, buf, RPCRDMA_ERR_VERS_LEN - 1), -EMSGSIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_adders_keep_the_caps),
		cmocka_unit_test(chunks),
		cmocka_unit_test(peeking),
		cmocka_unit_test(version_errors),
		cmocka_unit_test(version_errors_beside_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
