/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/v1/rpcrdma_v1. The vectors are written by hand from the XDR of
 * RFC 8166 section 4.1.2, one word per element.
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

#include "transport/rpcrdma/v1/rpcrdma_v1.h"

#define WORDS(...) ((const uint32_t[]){__VA_ARGS__})
#define COUNT(...) (sizeof((const uint32_t[]){__VA_ARGS__}) / 4)

static uint32_t wire[2048];

static size_t to_wire(const uint32_t *w, size_t n)
{
	for (size_t i = 0; i < n; i++)
		wire[i] = htonl(w[i]);
	return n * 4;
}

/* h encodes to exactly these words, and the words decode to a header that encodes to the same
 * words. */
static void golden(const struct rpcrdma_hdr *h, const uint32_t *w, size_t n)
{
	uint32_t buf[512];
	struct rpcrdma_hdr back;
	size_t len = to_wire(w, n);

	assert_int_equal(rpcrdma_v1.size(h), len);
	assert_int_equal(rpcrdma_v1.encode(h, buf, sizeof(buf)), len);
	assert_memory_equal(buf, wire, len);
	assert_int_equal(rpcrdma_v1.encode(h, buf, len - 1), -EMSGSIZE);

	assert_int_equal(rpcrdma_v1.decode(&back, wire, len), 0);
	assert_int_equal(back.len, len);
	assert_int_equal(rpcrdma_v1.encode(&back, buf, sizeof(buf)), len);
	assert_memory_equal(buf, wire, len);
	/* every truncation is refused */
	for (size_t cut = RPCRDMA_FIXED_LEN; cut < len; cut++) {
		void *exact = malloc(cut); /* so that a sanitizer sees a read beyond the end */

		memcpy(exact, wire, cut);
		assert_int_equal(rpcrdma_v1.decode(&back, exact, cut), -EBADMSG);
		free(exact);
	}
}
#define GOLDEN(h, ...) golden(h, WORDS(__VA_ARGS__), COUNT(__VA_ARGS__))

static int decode_words(struct rpcrdma_hdr *h, const uint32_t *w, size_t n)
{
	size_t len = to_wire(w, n);
	void *exact = malloc(len);
	int rc;

	memcpy(exact, wire, len);
	rc = rpcrdma_v1.decode(h, exact, len);
	free(exact);
	return rc;
}
#define DECODE(h, ...) decode_words(h, WORDS(__VA_ARGS__), COUNT(__VA_ARGS__))

static void init(struct rpcrdma_hdr *h, uint32_t xid, uint32_t credit, enum rpcrdma_proc proc)
{
	rpcrdma_hdr_init(h, xid, proc == RDMA_ERROR ? RPCRDMA_DIR_REPLY : RPCRDMA_DIR_CALL, proc);
	h->grant = h->want = credit;
}

static const struct rpcrdma_seg seg_a = {0xaaaa0001, 0x1000, 0x1122334455667788};
static const struct rpcrdma_seg seg_b = {0xbbbb0002, 0x0203, 0x0000000100000000};
static const struct rpcrdma_seg seg_c = {0xcccc0003, 0, 8};

static void plain_message(void **state)
{
	struct rpcrdma_hdr h;

	init(&h, 0x12345678, 128, RDMA_MSG);
	assert_true(rpcrdma_hdr_chunkless(&h));
	GOLDEN(&h, 0x12345678, 1, 128, 0, 0, 0, 0);
}

static void one_write_chunk_as_a_read_call_has(void **state)
{
	struct rpcrdma_hdr h;

	init(&h, 7, 32, RDMA_MSG);
	assert_int_equal(rpcrdma_hdr_add_write(&h, &seg_a, 1), 0);
	GOLDEN(&h, 7, 1, 32, 0,					     /* fixed */
		0,						     /* no Read list */
		1, 1, 0xaaaa0001, 0x1000, 0x11223344, 0x55667788, 0, /* Write list */
		0);						     /* no Reply chunk */
}

static void read_list_of_several_segments_and_positions(void **state)
{
	struct rpcrdma_hdr h;

	init(&h, 9, 1, RDMA_NOMSG);
	assert_int_equal(rpcrdma_hdr_add_read(&h, 0, &seg_a), 0);
	assert_int_equal(rpcrdma_hdr_add_read(&h, 0, &seg_b), 0);
	assert_int_equal(rpcrdma_hdr_add_read(&h, 148, &seg_c), 0);
	GOLDEN(&h, 9, 1, 1, 1,					  /* fixed, RDMA_NOMSG */
		1, 0, 0xaaaa0001, 0x1000, 0x11223344, 0x55667788, /* position 0 */
		1, 0, 0xbbbb0002, 0x0203, 1, 0,			  /* position 0 */
		1, 148, 0xcccc0003, 0, 0, 8,			  /* position 148 */
		0, 0, 0);
}

static void all_lists_with_an_empty_chunk(void **state)
{
	struct rpcrdma_hdr h;
	struct rpcrdma_seg two[] = {seg_a, seg_b};

	init(&h, 11, 2, RDMA_MSG);
	assert_int_equal(rpcrdma_hdr_add_read(&h, 64, &seg_c), 0);
	assert_int_equal(rpcrdma_hdr_add_write(&h, two, 2), 0);
	assert_int_equal(rpcrdma_hdr_add_write(&h, NULL, 0), 0);
	assert_int_equal(rpcrdma_hdr_set_reply(&h, &seg_b, 1), 0);
	assert_int_equal(rpcrdma_chunk_len(h.seg, &h.write[0]), 0x1203);
	assert_int_equal(rpcrdma_chunk_len(h.seg, &h.write[1]), 0);
	GOLDEN(&h, 11, 1, 2, 0,					  /* fixed */
		1, 64, 0xcccc0003, 0, 0, 8, 0,			  /* Read list */
		1, 2, 0xaaaa0001, 0x1000, 0x11223344, 0x55667788, /* Write chunk of two */
		0xbbbb0002, 0x0203, 1, 0,			  /* ... */
		1, 0,						  /* empty Write chunk */
		0,						  /* end of the Write list */
		1, 1, 0xbbbb0002, 0x0203, 1, 0);		  /* Reply chunk */
}

static void errors(void **state)
{
	struct rpcrdma_hdr h;

	init(&h, 5, 64, RDMA_ERROR);
	h.err = RDMA_ERR_CHUNK;
	GOLDEN(&h, 5, 1, 64, 4, 2);
}

/* One word: the credits that a requester would like, or that a responder grants. */
static void the_credit_word(void **state)
{
	struct rpcrdma_hdr h;
	uint32_t buf[64];

	rpcrdma_hdr_init(&h, 1, RPCRDMA_DIR_CALL, RDMA_MSG);
	h.grant = 3;
	h.want = 5;
	assert_int_equal(rpcrdma_v1.encode(&h, buf, sizeof(buf)), 28);
	assert_int_equal(ntohl(buf[2]), 5);
	h.dir = RPCRDMA_DIR_REPLY;
	assert_int_equal(rpcrdma_v1.encode(&h, buf, sizeof(buf)), 28);
	assert_int_equal(ntohl(buf[2]), 3);
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 0, 0), 0);
	assert_int_equal(h.grant, 16);
	assert_int_equal(h.want, 16);
}

/* RFC 8167: only the RPC header of a message without chunks tells the direction. */
static void the_direction(void **state)
{
	struct rpcrdma_hdr h;

	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 0, 0, 3, 0), 0);
	assert_int_equal(h.dir, RPCRDMA_DIR_CALL);
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 0, 0, 3, 1, 0), 0);
	assert_int_equal(h.dir, RPCRDMA_DIR_REPLY);
	/* another XID, another message type, too short, with a chunk, in a chunk */
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 0, 0, 4, 1), 0);
	assert_int_equal(h.dir, RPCRDMA_DIR_UNSAID);
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 0, 0, 3, 2), 0);
	assert_int_equal(h.dir, RPCRDMA_DIR_UNSAID);
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 0, 0, 3), 0);
	assert_int_equal(h.dir, RPCRDMA_DIR_UNSAID);
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 1, 0, 0, 0, 3, 1), 0);
	assert_int_equal(h.dir, RPCRDMA_DIR_UNSAID);
	assert_int_equal(DECODE(&h, 3, 1, 16, 1, 0, 0, 1, 1, 7, 8, 0, 0), 0);
	assert_int_equal(h.dir, RPCRDMA_DIR_UNSAID);
	assert_int_equal(DECODE(&h, 3, 1, 16, 4, 2), 0);
	assert_int_equal(h.dir, RPCRDMA_DIR_REPLY);
}

static void malformed_headers_are_refused(void **state)
{
	struct rpcrdma_hdr h;

	/* unknown procedure; RDMA_MSGP */
	assert_int_equal(DECODE(&h, 3, 1, 16, 5, 0, 0, 0), -EBADMSG);
	assert_int_equal(h.xid, 3);
	assert_int_equal(DECODE(&h, 3, 1, 16, 2, 512, 4096, 0, 0, 0), -EBADMSG);
	/* a list discriminator that is neither 0 nor 1 */
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 2, 0, 0), -EBADMSG);
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 9, 0), -EBADMSG);
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 0, 0x100), -EBADMSG);
	/* a position that is no multiple of four */
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 1, 6, 1, 4, 0, 0, 0, 0, 0), -EBADMSG);
	/* a message without chunks that should be in a chunk; and one with more bytes behind */
	assert_int_equal(DECODE(&h, 3, 1, 16, 1, 0, 0, 0), -EBADMSG);
	assert_int_equal(DECODE(&h, 3, 1, 16, 1, 0, 0, 1, 1, 7, 8, 0, 0, 0), -EBADMSG);
	/* a segment count that the message cannot hold, and one that overflows when multiplied */
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 1, 3, 7, 8, 0, 0, 0, 0), -EBADMSG);
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 1, 0x10000001, 7, 8, 0, 0, 0, 0), -EBADMSG);
	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 0, 1, 0xffffffff, 7), -EBADMSG);
	/* an unknown error code */
	assert_int_equal(DECODE(&h, 3, 1, 16, 4, 3), -EBADMSG);
}

static void bytes_behind_a_message_header_are_the_message(void **state)
{
	struct rpcrdma_hdr h;

	assert_int_equal(DECODE(&h, 3, 1, 16, 0, 0, 0, 0, 3, 1), 0);
	assert_int_equal(h.len, 28);
	assert_int_equal(DECODE(&h, 3, 1, 16, 3), 0); /* RDMA_DONE */
}

static void lists_are_capped(void **state)
{
	struct rpcrdma_hdr h;
	uint32_t w[2048] = {3, 1, 16, 0};
	size_t n;

	/* as many Read segments as allowed, then one more */
	for (int more = 0; more < 2; more++) {
		n = 4;
		for (int i = 0; i < RPCRDMA_MAX_READS + more; i++, n += 6) {
			memset(&w[n], 0, 24);
			w[n] = 1;
		}
		memset(&w[n], 0, 12);
		n += 3;
		assert_int_equal(decode_words(&h, w, n), more ? -EBADMSG : 0);
	}
	/* empty Write chunks without end */
	n = 4;
	w[n++] = 0;
	for (int i = 0; i < RPCRDMA_MAX_WRITES + 1; i++) {
		w[n++] = 1;
		w[n++] = 0;
	}
	w[n++] = 0;
	w[n++] = 0;
	assert_int_equal(decode_words(&h, w, n), -EBADMSG);
	/* segments are capped in sum */
	memset(&w[4], 0, sizeof(w) - 16);
	n = 5;
	for (int i = 0; i < 2; i++) {
		w[n] = 1;
		w[n + 1] = RPCRDMA_MAX_SEGS / 2 + i;
		n += 2 + w[n + 1] * 4;
	}
	assert_int_equal(decode_words(&h, w, n + 2), -EBADMSG);
}

/* The bound that is known before the header is made is the size of the header. */
static void the_bound_is_the_size(void **state)
{
	struct rpcrdma_hdr h;
	struct rpcrdma_seg many[RPCRDMA_MAX_SEGS] = {0};

	init(&h, 1, 1, RDMA_MSG);
	assert_int_equal(rpcrdma_v1.bound(0, 0, false, 0), 28);
	assert_int_equal(rpcrdma_v1.bound(0, 0, false, 0), rpcrdma_v1.min_call);
	for (int i = 0; i < RPCRDMA_MAX_READS; i++) {
		assert_int_equal(rpcrdma_v1.bound(i, 0, false, 0), rpcrdma_v1.size(&h));
		rpcrdma_hdr_add_read(&h, 4, &seg_a);
	}
	rpcrdma_hdr_add_write(&h, many, 3);
	rpcrdma_hdr_add_write(&h, many, RPCRDMA_MAX_SEGS - 5);
	assert_int_equal(rpcrdma_v1.bound(RPCRDMA_MAX_READS, 2, false, RPCRDMA_MAX_SEGS - 2),
		rpcrdma_v1.size(&h));
	rpcrdma_hdr_set_reply(&h, many, 2);
	assert_int_equal(rpcrdma_v1.bound(RPCRDMA_MAX_READS, 2, true, RPCRDMA_MAX_SEGS),
		rpcrdma_v1.size(&h));
	assert_true(rpcrdma_v1.size(&h) < 12288);
}

static void what_version_1_cannot_say_is_not_encoded(void **state)
{
	struct rpcrdma_hdr h;
	uint32_t buf[64];

	init(&h, 1, 1, RDMA_MSGP);
	assert_int_equal(rpcrdma_v1.encode(&h, buf, sizeof(buf)), -EINVAL);
	/* errors of other dialects are ERR_CHUNK here */
	init(&h, 1, 1, RDMA_ERROR);
	h.err = RDMA_ERR_REPLY_RESOURCE;
	assert_int_equal(rpcrdma_v1.encode(&h, buf, sizeof(buf)), 20);
	assert_int_equal(ntohl(buf[4]), RDMA_ERR_CHUNK);
	/* a message that goes on */
	rpcrdma_hdr_init(&h, 1, RPCRDMA_DIR_CALL, RDMA_MSG);
	assert_true(rpcrdma_v1.encode(&h, buf, sizeof(buf)) > 0);
	h.more = true;
	assert_int_equal(rpcrdma_v1.encode(&h, buf, sizeof(buf)), -EINVAL);
}

/* Bytes of a good header changed at random: the header may decode or not, and a decoded header
 * encodes to the same length. */
static void mutations_are_harmless(void **state)
{
	struct rpcrdma_hdr h;
	uint32_t good[64], buf[1024];
	struct rpcrdma_seg two[] = {seg_a, seg_b};
	int len;

	init(&h, 11, 2, RDMA_MSG);
	rpcrdma_hdr_add_read(&h, 64, &seg_c);
	rpcrdma_hdr_add_write(&h, two, 2);
	rpcrdma_hdr_set_reply(&h, &seg_b, 1);
	len = rpcrdma_v1.encode(&h, good, sizeof(good));
	assert_true(len > 0);
	srand(1);
	for (int i = 0; i < 20000; i++) {
		uint8_t *bytes = malloc(len);

		memcpy(bytes, good, len);
		for (int k = rand() % 3; k >= 0; k--)
			bytes[12 + rand() % (len - 12)] = rand() % 4 ? rand() % 5 : rand();
		if (!rpcrdma_v1.decode(&h, bytes, len) && h.proc != RDMA_DONE)
			assert_int_equal(rpcrdma_v1.encode(&h, buf, sizeof(buf)), h.len);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_message),
		cmocka_unit_test(one_write_chunk_as_a_read_call_has),
		cmocka_unit_test(read_list_of_several_segments_and_positions),
		cmocka_unit_test(all_lists_with_an_empty_chunk),
		cmocka_unit_test(errors),
		cmocka_unit_test(the_credit_word),
		cmocka_unit_test(the_direction),
		cmocka_unit_test(malformed_headers_are_refused),
		cmocka_unit_test(bytes_behind_a_message_header_are_the_message),
		cmocka_unit_test(lists_are_capped),
		cmocka_unit_test(the_bound_is_the_size),
		cmocka_unit_test(what_version_1_cannot_say_is_not_encoded),
		cmocka_unit_test(mutations_are_harmless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
