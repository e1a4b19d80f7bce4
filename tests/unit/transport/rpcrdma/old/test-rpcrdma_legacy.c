/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/old/rpcrdma_legacy: every message type and union arm of
 * draft-ietf-nfsv4-rpcrdma-01 section 4.2 as words written down from the draft's XDR.
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

#include "transport/rpcrdma/old/rpcrdma_legacy.h"

#define MAX 64

/* One header: the words, how many words a receiver needs, and whether an RPC message follows. */
struct vector {
	const char *name;
	unsigned n, need;
	bool rpc;
	enum rpcrdma_dir dir;
	uint32_t w[40];
};

#define FIXED(type) 0xcafe, 1, 32, type
#define UNSAID	    RPCRDMA_DIR_UNSAID
#define CALL	    RPCRDMA_DIR_CALL
#define REPLY	    RPCRDMA_DIR_REPLY

static const struct vector good[] = {
	{"RDMA_MSG", 7, 7, true, CALL, {FIXED(0), 0, 0, 0}},
	{"RDMA_MSG with a Read list of two positions", 19, 19, true, UNSAID,
		{FIXED(0), 1, 44, 0x11, 4096, 1, 0x80000000, 1, 48, 0x12, 100, 0, 7, 0, 0, 0}},
	{"RDMA_MSG with Write chunks", 15, 15, true, UNSAID,
		{FIXED(0), 0, 1, 1, 0x21, 8192, 0, 0, 1, 0, 0, 0}},
	{"RDMA_MSG with a Reply chunk", 12, 12, true, UNSAID,
		{FIXED(0), 0, 0, 1, 1, 0x31, 1024, 0, 64}},
	{"RDMA_NOMSG with a Read chunk", 13, 13, false, UNSAID,
		{FIXED(1), 1, 0, 0x41, 9000, 0, 0, 0, 0, 0}},
	{"RDMA_NOMSG with a Reply chunk", 12, 12, false, UNSAID,
		{FIXED(1), 0, 0, 1, 1, 0x51, 9000, 0, 0}},
	{"RDMA_MSGP", 9, 9, true, CALL, {FIXED(2), 4096, 1024, 0, 0, 0}},
	{"RDMA_MSGP with a Write chunk", 15, 15, true, UNSAID,
		{FIXED(2), 1, 0xffffffff, 0, 1, 1, 0x21, 8192, 0, 0, 0, 0}},
	{"RDMA_DONE", 4, 4, false, CALL, {FIXED(3)}},
	{"ERR_CHUNK", 13, 5, false, REPLY, {FIXED(4), 2, 0, 0, 0, 0, 0, 0, 0, 0}},
};
#define NGOOD (sizeof(good) / sizeof(good[0]))

static size_t wire(const struct vector *v, uint32_t *buf)
{
	for (unsigned i = 0; i < v->n; i++)
		buf[i] = htonl(v->w[i]);
	if (v->rpc) {
		buf[v->n] = htonl(0xcafe);
		buf[v->n + 1] = 0;
	}
	return 4 * (v->n + (v->rpc ? 2 : 0));
}

/* In memory of exactly this length, so that a sanitizer sees a read beyond the end. */
static int decode(struct rpcrdma_hdr *h, const void *msg, size_t len)
{
	void *exact = malloc(len);
	int rc;

	memcpy(exact, msg, len);
	rc = rpcrdma_legacy.decode(h, exact, len);
	free(exact);
	return rc;
}

static void headers_are_those_of_the_draft(void **state)
{
	for (size_t i = 0; i < NGOOD; i++) {
		uint32_t in[MAX], out[MAX];
		size_t len = wire(&good[i], in);
		struct rpcrdma_hdr h;

		if (decode(&h, in, len))
			fail_msg("%s is refused", good[i].name);
		assert_int_equal(h.len, 4 * good[i].n);
		assert_int_equal(h.xid, 0xcafe);
		assert_int_equal(h.vers, 1);
		assert_int_equal(h.grant, 32);
		assert_int_equal(h.want, 32);
		assert_int_equal(h.proc, good[i].w[3]);
		assert_int_equal(h.dir, good[i].dir);
		assert_int_equal(rpcrdma_legacy.size(&h), h.len);
		assert_int_equal(rpcrdma_legacy.encode(&h, out, sizeof(out)), h.len);
		if (memcmp(in, out, h.len))
			fail_msg("%s is written otherwise", good[i].name);
		assert_int_equal(rpcrdma_legacy.encode(&h, out, h.len - 1), -EMSGSIZE);
	}
}

static void what_is_cut_off_is_refused(void **state)
{
	for (size_t i = 0; i < NGOOD; i++) {
		uint32_t in[MAX];
		struct rpcrdma_hdr h;

		wire(&good[i], in);
		for (size_t len = RPCRDMA_FIXED_LEN; len < 4 * good[i].need; len++) {
			if (decode(&h, in, len) != -EBADMSG)
				fail_msg("%s of %zu bytes is taken", good[i].name, len);
			assert_int_equal(h.err, RDMA_ERR_CHUNK);
		}
	}
}

static void what_padding_says(void **state)
{
	struct rpcrdma_hdr h;
	uint32_t in[MAX];

	assert_int_equal(decode(&h, in, wire(&good[6], in)), 0);
	assert_int_equal(h.align, 4096);
	assert_int_equal(h.thresh, 1024);
	assert_int_equal(decode(&h, in, wire(&good[0], in)), 0);
	assert_int_equal(h.align, 0);
}

static void errors(void **state)
{
	static const struct vector v[] = {
		{"ERR_CHUNK alone", 5, 5, false, REPLY, {FIXED(4), 2}},
		{"one of the future", 13, 5, false, REPLY, {FIXED(4), 9, 1, 2, 3, 4, 5, 6, 7, 8}},
		{"ERR_VERS", 7, 7, false, REPLY, {FIXED(4), 1, 1, 3}},
	};
	struct rpcrdma_hdr h;
	const char *meaning;
	uint32_t in[MAX];

	assert_int_equal(decode(&h, in, wire(&v[0], in)), 0);
	assert_int_equal(h.err, RDMA_ERR_CHUNK);
	assert_int_equal(rpcrdma_legacy.on_error(&h, &meaning), RPCRDMA_FAIL);
	assert_non_null(strstr(meaning, "ERR_CHUNK"));
	assert_int_equal(decode(&h, in, wire(&v[1], in)), 0);
	assert_int_equal(h.err, 9);
	assert_int_equal(rpcrdma_legacy.on_error(&h, &meaning), RPCRDMA_FAIL);
	assert_int_equal(rpcrdma_dialect_decode(&rpcrdma_legacy, &h, in, wire(&v[2], in)), 0);
	assert_true(rpcrdma_hdr_is_err_vers(&h));
	assert_int_equal(h.vers_low, 1);
	assert_int_equal(h.vers_high, 3);
}

static void what_is_refused(void **state)
{
	static const struct vector bad[] = {
		{"alignment 0", 9, 9, true, CALL, {FIXED(2), 0, 1024, 0, 0, 0}},
		{"alignment 3", 9, 9, true, CALL, {FIXED(2), 3, 1024, 0, 0, 0}},
		{"alignment 6", 9, 9, true, CALL, {FIXED(2), 6, 1024, 0, 0, 0}},
		{"a huge alignment", 9, 9, true, CALL, {FIXED(2), 0xfffffffc, 1024, 0, 0, 0}},
		{"padding and a Read list", 15, 15, true, CALL,
			{FIXED(2), 64, 1024, 1, 44, 0x11, 4096, 1, 0, 0, 0, 0}},
		{"RDMA_NOMSG without chunks", 7, 7, false, CALL, {FIXED(1), 0, 0, 0}},
		{"RDMA_NOMSG with a message", 13, 13, true, CALL,
			{FIXED(1), 1, 0, 0x41, 9000, 0, 0, 0, 0, 0}},
		{"a type of the future", 7, 7, true, CALL, {FIXED(5), 0, 0, 0}},
	};
	struct rpcrdma_hdr h;
	uint32_t in[MAX];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (decode(&h, in, wire(&bad[i], in)) != -EBADMSG)
			fail_msg("%s is taken", bad[i].name);
	rpcrdma_hdr_init(&h, 1, CALL, RDMA_CONNPROP);
	assert_int_equal(rpcrdma_legacy.encode(&h, in, sizeof(in)), -EINVAL);
	rpcrdma_hdr_init(&h, 1, REPLY, RDMA_ERROR);
	h.err = RDMA_ERR_VERS;
	assert_int_equal(rpcrdma_legacy.encode(&h, in, sizeof(in)), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_those_of_the_draft),
		cmocka_unit_test(what_is_cut_off_is_refused),
		cmocka_unit_test(what_padding_says),
		cmocka_unit_test(errors),
		cmocka_unit_test(what_is_refused),
	};

	return cmocka_run_group_tests_name("rpcrdma_legacy", tests, NULL, NULL);
}
