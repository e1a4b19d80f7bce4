/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/v2/rpcrdma_v2: every header type and union arm of
 * draft-ietf-nfsv4-rpcrdma-version-two (November 2019) as bytes written down from the draft's XDR.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "transport/rpcrdma/v2/rpcrdma_v2.h"

#define MAX 64

/* One header: the words, and whether more follows in the Send. */
struct vector {
	const char *name;
	unsigned n;
	bool rpc; /* an RPC message of two words follows */
	uint32_t w[40];
};

/* xid 0xcafe, version 2, grants 32 and can use 64 */
#define FIXED(type, flags) 0xcafe, 2, 64 << 16 | 32, type, flags

static const struct vector good[] = {
	{"a call inline", 9, true, {FIXED(0, 0), 0, 0, 0, 0}},
	{"a reply inline", 9, true, {FIXED(0, 1), 0, 0, 0, 0}},
	{"a call that goes on", 9, true, {FIXED(0, 2), 0, 0, 0, 0}},
	{"a reply that goes on", 9, true, {FIXED(0, 3), 0, 0, 0, 0}},
	{"a Read chunk of two segments, to be invalidated", 21, true,
		{FIXED(0, 0), 0x11, 1, 44, 0x11, 4096, 1, 0x80000000, 1, 44, 0x12, 100, 0, 7, 0, 0,
			0}},
	{"two Write chunks, one of them empty", 17, true,
		{FIXED(0, 0), 0x21, 0, 1, 1, 0x21, 8192, 0, 0, 1, 0, 0, 0}},
	{"a Reply chunk", 14, true, {FIXED(0, 0), 0, 0, 0, 1, 1, 0x31, 1024, 0, 64}},
	{"a long call", 15, false, {FIXED(1, 0), 0x41, 1, 0, 0x41, 9000, 0, 0, 0, 0, 0}},
	{"a long reply", 14, false, {FIXED(1, 1), 0, 0, 0, 1, 1, 0x51, 9000, 0, 0}},
	{"a grant", 9, false, {0, 2, 64 << 16 | 32, 1, 0, 0, 0, 0, 0}},
	{"properties", 5, true, {FIXED(5, 0)}},
	{"properties that go on", 5, true, {FIXED(5, 2)}},
	{"BAD_XDR", 6, false, {FIXED(4, 1), 2}},
	{"INVAL_HTYPE", 6, false, {FIXED(4, 1), 3}},
	{"INVAL_FLAG", 6, false, {FIXED(4, 1), 4}},
	{"READ_CHUNKS", 7, false, {FIXED(4, 1), 5, 3}},
	{"WRITE_CHUNKS", 7, false, {FIXED(4, 1), 6, 3}},
	{"SEGMENTS", 7, false, {FIXED(4, 1), 7, 16}},
	{"WRITE_RESOURCE", 8, false, {FIXED(4, 1), 8, 1, 5000}},
	{"REPLY_RESOURCE", 7, false, {FIXED(4, 1), 9, 5000}},
	{"SYSTEM", 6, false, {FIXED(4, 1), 10}},
	{"an error of the future", 6, false, {FIXED(4, 1), 99}},
};
#define NGOOD (sizeof(good) / sizeof(good[0]))

/* The bytes of v, with the bytes behind. Returns the number of bytes. */
static size_t wire(const struct vector *v, uint32_t *buf)
{
	for (unsigned i = 0; i < v->n; i++)
		buf[i] = htonl(v->w[i]);
	if (v->rpc) {
		buf[v->n] = htonl(0xcafe);
		buf[v->n + 1] = htonl(v->w[4] & 1);
	}
	return 4 * (v->n + (v->rpc ? 2 : 0));
}

static void headers_are_those_of_the_draft(void **state)
{
	for (size_t i = 0; i < NGOOD; i++) {
		uint32_t in[MAX], out[MAX];
		size_t len = wire(&good[i], in);
		struct rpcrdma_hdr h;

		if (rpcrdma_v2.decode(&h, in, len))
			fail_msg("%s is refused", good[i].name);
		assert_int_equal(h.len, 4 * good[i].n);
		assert_int_equal(h.xid, good[i].w[0]);
		assert_int_equal(h.vers, 2);
		assert_int_equal(h.grant, 32);
		assert_int_equal(h.want, 64);
		assert_int_equal(h.proc, good[i].w[3]);
		assert_int_equal(h.dir, good[i].w[4] & 1 ? RPCRDMA_DIR_REPLY : RPCRDMA_DIR_CALL);
		assert_int_equal(h.more, !!(good[i].w[4] & 2));
		assert_int_equal(rpcrdma_hdr_is_grant(&h), good[i].w[0] == 0);
		assert_int_equal(rpcrdma_v2.size(&h), h.len);
		assert_int_equal(rpcrdma_v2.encode(&h, out, sizeof(out)), h.len);
		if (memcmp(in, out, h.len))
			fail_msg("%s is written otherwise", good[i].name);
		assert_int_equal(rpcrdma_v2.encode(&h, out, h.len - 1), -EMSGSIZE);
	}
}

/* At every byte; the responder answers BAD_XDR. Of properties only the prefix is read. */
static void what_is_cut_off_is_refused(void **state)
{
	for (size_t i = 0; i < NGOOD; i++) {
		size_t need = 4 * good[i].n + (good[i].w[3] == 0 ? 4 : 0);
		uint32_t in[MAX];
		struct rpcrdma_hdr h;

		wire(&good[i], in);
		for (size_t len = RPCRDMA_FIXED_LEN; len < need; len++) {
			if (rpcrdma_v2.decode(&h, in, len) != -EBADMSG)
				fail_msg("%s of %zu bytes is taken", good[i].name, len);
			if (h.proc != RDMA_ERROR)
				assert_int_equal(h.err, RDMA_ERR_CHUNK);
		}
	}
}

static void what_chunks_say(void **state)
{
	struct rpcrdma_hdr h;
	uint32_t in[MAX];

	assert_int_equal(rpcrdma_v2.decode(&h, in, wire(&good[4], in)), 0);
	assert_int_equal(h.inv_handle, 0x11);
	assert_int_equal(h.nreads, 2);
	assert_int_equal(h.read[0].position, 44);
	assert_true(h.read[0].seg.offset == 0x180000000);
	assert_int_equal(h.read[1].seg.length, 100);
	assert_int_equal(rpcrdma_v2.decode(&h, in, wire(&good[5], in)), 0);
	assert_int_equal(h.nwrites, 2);
	assert_int_equal(h.write[0].n, 1);
	assert_int_equal(h.write[1].n, 0);
	assert_int_equal(rpcrdma_v2.decode(&h, in, wire(&good[6], in)), 0);
	assert_true(h.has_reply);
	assert_int_equal(h.seg[h.reply.first].length, 1024);
}

/* Section 6.4.3, and for continued messages section 6.3.2. */
static void what_a_responder_says_of_the_rest(void **state)
{
	static const struct {
		struct vector v;
		enum rpcrdma_errcode err;
	} bad[] = {
		{{"RDMA_MSGP", 9, true, {FIXED(2, 0), 0, 0, 0, 0}}, RDMA_ERR_INVAL_HTYPE},
		{{"RDMA_DONE", 5, false, {FIXED(3, 0)}}, RDMA_ERR_INVAL_HTYPE},
		{{"a type of the future", 5, false, {FIXED(6, 0)}}, RDMA_ERR_INVAL_HTYPE},
		{{"flags of the future", 9, true, {FIXED(0, 4), 0, 0, 0, 0}}, RDMA_ERR_INVAL_HTYPE},
		{{"a long call goes on", 15, false,
			 {FIXED(1, 2), 0, 1, 0, 0x41, 9000, 0, 0, 0, 0, 0}},
			RDMA_ERR_INVAL_FLAG},
		{{"chunks before the end", 14, true,
			 {FIXED(0, 2), 0, 0, 0, 1, 1, 0x31, 1024, 0, 64}},
			RDMA_ERR_INVAL_FLAG},
		{{"a call without a message", 9, false, {FIXED(0, 0), 0, 0, 0, 0}}, RDMA_ERR_CHUNK},
		{{"a long call and more", 15, true,
			 {FIXED(1, 0), 0, 1, 0, 0x41, 9000, 0, 0, 0, 0, 0}},
			RDMA_ERR_CHUNK},
		{{"a list with a 2", 9, true, {FIXED(0, 0), 0, 2, 0, 0}}, RDMA_ERR_CHUNK},
		{{"a position that is odd", 15, true,
			 {FIXED(0, 0), 0, 1, 42, 0x41, 9000, 0, 0, 0, 0, 0}},
			RDMA_ERR_CHUNK},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rpcrdma_hdr h;
		uint32_t in[MAX];

		if (rpcrdma_v2.decode(&h, in, wire(&bad[i].v, in)) != -EBADMSG ||
			h.err != bad[i].err)
			fail_msg("%s: %u, not %u", bad[i].v.name, h.err, bad[i].err);
		assert_int_equal(h.xid, 0xcafe);
		assert_int_equal(h.dir, RPCRDMA_DIR_CALL);
	}
}

/* More chunks than a header has room for are not malformed: the peer is told the limit. */
static void how_many_are_taken(void **state)
{
	static uint32_t w[16 + 5 * 400];
	struct rpcrdma_hdr h;
	unsigned n = 6;

	memcpy(w, (const uint32_t[]){FIXED(0, 0), 0}, 24);
	for (unsigned i = 0; i < RPCRDMA_MAX_READS + 1; i++, n += 6)
		w[n] = 1;
	for (unsigned i = 0; i < n; i++)
		w[i] = htonl(w[i]);
	assert_int_equal(rpcrdma_v2.decode(&h, w, sizeof(w)), -EBADMSG);
	assert_int_equal(h.err, RDMA_ERR_SEGMENTS);
	assert_int_equal(h.err_arg, RPCRDMA_MAX_READS);

	memset(w + 6, 0, sizeof(w) - 24);
	for (unsigned i = 0; i < RPCRDMA_MAX_WRITES + 1; i++)
		w[7 + 2 * i] = htonl(1);
	assert_int_equal(rpcrdma_v2.decode(&h, w, sizeof(w)), -EBADMSG);
	assert_int_equal(h.err, RDMA_ERR_WRITE_CHUNKS);
	assert_int_equal(h.err_arg, RPCRDMA_MAX_WRITES);

	memset(w + 6, 0, sizeof(w) - 24);
	w[8] = htonl(1);
	w[9] = htonl(RPCRDMA_MAX_SEGS + 1);
	assert_int_equal(rpcrdma_v2.decode(&h, w, sizeof(w)), -EBADMSG);
	assert_int_equal(h.err, RDMA_ERR_SEGMENTS);
	w[9] = htonl(100000); /* more than so many bytes can hold */
	assert_int_equal(rpcrdma_v2.decode(&h, w, sizeof(w)), -EBADMSG);
	assert_int_equal(h.err, RDMA_ERR_CHUNK);
}

static void the_credit_word(void **state)
{
	static const struct {
		uint32_t grant, want, word;
	} c[] = {{1, 1, 0x10001}, {64, 16, 0x400040}, {16, 64, 0x400010},
		{100000, 100000, 0xffffffff}};

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct rpcrdma_hdr h;
		uint32_t buf[MAX];

		rpcrdma_hdr_init(&h, 1, RPCRDMA_DIR_CALL, RDMA_MSG);
		h.grant = c[i].grant;
		h.want = c[i].want;
		assert_int_equal(rpcrdma_v2.encode(&h, buf, sizeof(buf)), 36);
		assert_int_equal(ntohl(buf[2]), c[i].word);
	}
}

static void what_errors_ask_for(void **state)
{
	static const struct {
		uint32_t err, arg;
		enum rpcrdma_action action;
	} e[] = {
		{RDMA_ERR_CHUNK, 0, RPCRDMA_FAIL},
		{RDMA_ERR_INVAL_HTYPE, 0, RPCRDMA_FAIL},
		{RDMA_ERR_INVAL_FLAG, 0, RPCRDMA_FAIL},
		{RDMA_ERR_READ_CHUNKS, 0, RPCRDMA_WHOLE_CALL},
		{RDMA_ERR_WRITE_CHUNKS, 1, RPCRDMA_FEWER_CHUNKS},
		{RDMA_ERR_SEGMENTS, 4, RPCRDMA_FEWER_SEGMENTS},
		{RDMA_ERR_WRITE_RESOURCE, 100, RPCRDMA_NO_WRITES},
		{RDMA_ERR_WRITE_RESOURCE, 0, RPCRDMA_FAIL},
		{RDMA_ERR_REPLY_RESOURCE, 100, RPCRDMA_LARGER_REPLY},
		{RDMA_ERR_REPLY_RESOURCE, 0, RPCRDMA_FAIL},
		{RDMA_ERR_SYSTEM, 0, RPCRDMA_FAIL},
		{77, 0, RPCRDMA_FAIL},
	};

	for (size_t i = 0; i < sizeof(e) / sizeof(e[0]); i++) {
		const char *meaning = NULL;
		struct rpcrdma_hdr h;

		rpcrdma_hdr_init(&h, 1, RPCRDMA_DIR_REPLY, RDMA_ERROR);
		h.err = e[i].err;
		h.err_arg = e[i].arg;
		assert_int_equal(rpcrdma_v2.on_error(&h, &meaning), e[i].action);
		assert_non_null(meaning);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_those_of_the_draft),
		cmocka_unit_test(what_is_cut_off_is_refused),
		cmocka_unit_test(what_chunks_say),
		cmocka_unit_test(what_a_responder_says_of_the_rest),
		cmocka_unit_test(how_many_are_taken),
		cmocka_unit_test(the_credit_word),
		cmocka_unit_test(what_errors_ask_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
