/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/responder_call and responder_reply: a responder against a
 * requester that scripts every byte, well-behaved or not.
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
#include <time.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"

static const struct pair_params plain;

static void expect_reply(struct raw *r, uint32_t xid)
{
	assert_true(raw_recv(r, NULL));
	assert_int_equal(raw_word(r, 0), xid);
	assert_int_equal(raw_word(r, 1), 1);
	assert_int_equal(raw_word(r, 3), RDMA_MSG);
}

static void expect_error(struct raw *r, uint32_t xid, uint32_t vers, enum rpcrdma_errcode err)
{
	assert_true(raw_recv(r, NULL));
	assert_int_equal(r->len, err == RDMA_ERR_VERS ? 28 : 20);
	assert_int_equal(raw_word(r, 0), xid);
	assert_int_equal(raw_word(r, 1), vers);
	assert_int_equal(raw_word(r, 2), 64);
	assert_int_equal(raw_word(r, 3), RDMA_ERROR);
	assert_int_equal(raw_word(r, 4), err);
}

static void null(struct raw *r)
{
	RAW_SEND(r, 0x77, 1, 32, 0, 0, 0, 0, RPC_CALL(0x77, PAIR_NULL));
	expect_reply(r, 0x77);
	assert_int_equal(r->len, 28 + 24);
}

/* A Linux server's answers to the same bytes: the grant 0x40, and ERR_VERS 1 to 1 in a header of
 * version 2 to a probe of version 2. */
static void as_a_linux_server_answers(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	RAW_SEND(&r, 0xcafe, 2, 16, 0, 0, 0, 0, RPC_CALL(0xcafe, PAIR_NULL));
	expect_error(&r, 0xcafe, 2, RDMA_ERR_VERS);
	assert_int_equal(raw_word(&r, 5), 1);
	assert_int_equal(raw_word(&r, 6), 1);
	RAW_SEND(&r, 0xbeef, 1, 16, 0, 0, 0, 0, RPC_CALL(0xbeef, PAIR_NULL));
	expect_reply(&r, 0xbeef);
	assert_int_equal(raw_word(&r, 2), 0x40);
	for (unsigned i = 4; i < 7; i++)
		assert_int_equal(raw_word(&r, i), 0);
	assert_int_equal(raw_word(&r, 7), 0xbeef);
	assert_int_equal(raw_word(&r, 8), 1);
	assert_int_equal(r.pc->peer_priv_len, 8);
	assert_memory_equal(r.pc->peer_priv, "\xf6\xab\x0e\x18\x01\x01\x03\x03", 8);
	raw_stop(&r, &p);
}

static void what_cannot_be_parsed_is_err_chunk(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	/* RDMA_MSGP; an unknown procedure; a list that is no list */
	RAW_SEND(&r, 1, 1, 16, 2, 512, 4096, 0, 0, 0);
	expect_error(&r, 1, 1, RDMA_ERR_CHUNK);
	RAW_SEND(&r, 2, 1, 16, 77, 0, 0, 0);
	expect_error(&r, 2, 1, RDMA_ERR_CHUNK);
	RAW_SEND(&r, 3, 1, 16, 0, 0, 3, 0, RPC_CALL(3, PAIR_NULL));
	expect_error(&r, 3, 1, RDMA_ERR_CHUNK);
	/* a message in the Send and a position-zero chunk; neither */
	RAW_SEND(&r, 4, 1, 16, 0, 1, 0, 5, 8, 0, 0, 0, 0, 0, RPC_CALL(4, PAIR_NULL));
	expect_error(&r, 4, 1, RDMA_ERR_CHUNK);
	RAW_SEND(&r, 5, 1, 16, 1, 0, 0, 1, 1, 5, 800, 0, 0);
	expect_error(&r, 5, 1, RDMA_ERR_CHUNK);
	/* positions that go down, that lie behind the message, that lie inside earlier data */
	RAW_SEND(&r, 6, 1, 16, 0, 1, 40, 5, 8, 0, 0, 1, 36, 5, 8, 0, 0, 0, 0, 0,
		RPC_CALL(6, PAIR_NULL));
	expect_error(&r, 6, 1, RDMA_ERR_CHUNK);
	RAW_SEND(&r, 7, 1, 16, 0, 1, 44, 5, 8, 0, 0, 0, 0, 0, RPC_CALL(7, PAIR_NULL));
	expect_error(&r, 7, 1, RDMA_ERR_CHUNK);
	RAW_SEND(&r, 8, 1, 16, 0, 1, 4, 5, 80, 0, 0, 1, 40, 5, 8, 0, 0, 0, 0, 0,
		RPC_CALL(8, PAIR_NULL));
	expect_error(&r, 8, 1, RDMA_ERR_CHUNK);
	/* too much, in one segment or in sum */
	RAW_SEND(&r, 9, 1, 16, 0, 1, 40, 5, UINT32_MAX, 0, 0, 0, 0, 0, RPC_CALL(9, PAIR_NULL));
	expect_error(&r, 9, 1, RDMA_ERR_CHUNK);
	RAW_SEND(&r, 10, 1, 16, 0, 1, 40, 5, 1u << 20, 0, 0, 1, 40, 5, 1u << 20, 0, 0, 0, 0, 0,
		RPC_CALL(10, PAIR_NULL));
	expect_error(&r, 10, 1, RDMA_ERR_CHUNK);
	/* more payloads than are taken */
	RAW_SEND(&r, 11, 1, 16, 0, 1, 4, 5, 0, 0, 0, 1, 8, 5, 0, 0, 0, 1, 12, 5, 0, 0, 0, 1, 16, 5,
		0, 0, 0, 1, 20, 5, 0, 0, 0, 0, 0, 0, RPC_CALL(11, PAIR_NULL));
	expect_error(&r, 11, 1, RDMA_ERR_CHUNK);
	/* two XIDs; no RPC message */
	RAW_SEND(&r, 12, 1, 16, 0, 0, 0, 0, RPC_CALL(13, PAIR_NULL));
	expect_error(&r, 12, 1, RDMA_ERR_CHUNK);
	RAW_SEND(&r, 14, 1, 16, 0, 0, 0, 0);
	expect_error(&r, 14, 1, RDMA_ERR_CHUNK);
	assert_int_equal(p.served, 0);
	null(&r);
	raw_stop(&r, &p);
}

static void what_needs_no_answer_gets_none(void **state)
{
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	raw_send(&r, NULL, 0, NULL, 0);
	RAW_SEND(&r, 1);
	RAW_SEND(&r, 1, 1, 16, 0, 0, 0);       /* shorter than any header */
	RAW_SEND(&r, 1, 1, 16, 3, 0, 0, 0);    /* RDMA_DONE */
	RAW_SEND(&r, 1, 1, 16, 4, 1, 1, 1);    /* RDMA_ERROR */
	RAW_SEND(&r, 1, 1, 16, 4, 7, 1, 1, 1); /* with an unknown error code */
	RAW_SEND(&r, 1, 2, 16, 4, 2, 0, 0, 0); /* of another version */
	/* a reply to a reverse call that was not made */
	RAW_SEND(&r, 1, 1, 16, 0, 0, 0, 0, 1, 1, 0, 0, 0, 0);
	null(&r);
	assert_int_equal(p.served, 1);
	raw_stop(&r, &p);
}

static void expose(struct raw *r, struct prov_door *d, uint32_t off, uint32_t len, unsigned access)
{
	struct mem_sge sge = mem_buf_sge(r->zone, off, len);

	*d = (struct prov_door){0};
	assert_int_equal(r->prov->expose(r->pc, &sge, access, d), 0);
}

static void withdraw(struct raw *r, struct prov_door *d)
{
	struct prov_wc wc = {0};

	if (r->prov->withdraw(r->pc, d, 1, 1) == -EINPROGRESS)
		while (wc.op != PROV_WC_WITHDRAWN && wc.op != PROV_WC_DOWN)
			r->prov->poll(r->pc, &wc, 1);
}

#define SEG(d, skip, n)                                                                            \
	(d).stag, n, (uint32_t)(((d).offset + (skip)) >> 32), (uint32_t)((d).offset + (skip))

/* A PUT with data of n bytes in Read chunks of various forms. */
static void read_chunks(void **state)
{
	const uint32_t n = 1001;
	struct prov_door d;
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	for (int i = 0; i < 5; i++) {
		uint32_t x = 0x100 + i;

		expose(&r, &d, 0, 4096, PROV_REMOTE_READ);
		pair_pattern(r.zone->data, n, 3);
		memset(r.zone->data + n, 0, 3);
		/* 40 bytes of header, a word, the length: position 48 */
		if (i == 0)
			RAW_SEND(&r, x, 1, 16, 0, 1, 48, SEG(d, 0, n), 0, 0, 0,
				RPC_CALL(x, PAIR_PUT), 0x11, n, 0x22);
		if (i == 1) /* segments of odd lengths, one empty */
			RAW_SEND(&r, x, 1, 16, 0, 1, 48, SEG(d, 0, 333), 1, 48, SEG(d, 333, 0), 1,
				48, SEG(d, 333, n - 333), 0, 0, 0, RPC_CALL(x, PAIR_PUT), 0x11, n,
				0x22);
		if (i == 2) /* with the round-up in the chunk (RFC 8166 section 3.4.5.2) */
			RAW_SEND(&r, x, 1, 16, 0, 1, 48, SEG(d, 0, n + 3), 0, 0, 0,
				RPC_CALL(x, PAIR_PUT), 0x11, n, 0x22);
		if (i == 3) /* ... in a separate segment */
			RAW_SEND(&r, x, 1, 16, 0, 1, 48, SEG(d, 0, n), 1, 48, SEG(d, n, 3), 0, 0, 0,
				RPC_CALL(x, PAIR_PUT), 0x11, n, 0x22);
		if (i == 4) { /* message in a position-zero chunk of two segments, data beside */
			const uint32_t msg[] = {RPC_CALL(x, PAIR_PUT), 0x11, n, 0x22};

			for (size_t k = 0; k < sizeof(msg) / 4; k++) {
				uint32_t be = htonl(msg[k]);

				memcpy(r.zone->data + 2000 + 4 * k, &be, 4);
			}
			RAW_SEND(&r, x, 1, 16, 1, 1, 0, SEG(d, 2000, 20), 1, 0,
				SEG(d, 2020, sizeof(msg) - 20), 1, 48, SEG(d, 0, n), 0, 0, 0);
		}
		expect_reply(&r, x);
		assert_int_equal(r.len, 28 + 24 + 16);
		assert_int_equal(raw_word(&r, 13), n);
		assert_int_equal(raw_word(&r, 14), pair_sum(r.zone->data, n));
		assert_int_equal(raw_word(&r, 15), 0x11);
		assert_int_equal(raw_word(&r, 16), 0x22);
		withdraw(&r, &d);
	}
	/* the length word disagrees with the chunk: the arguments do not parse */
	expose(&r, &d, 0, 4096, PROV_REMOTE_READ);
	RAW_SEND(&r, 0x200, 1, 16, 0, 1, 48, SEG(d, 0, n + 4), 0, 0, 0, RPC_CALL(0x200, PAIR_PUT),
		0x11, n, 0x22);
	expect_reply(&r, 0x200);
	assert_int_equal(raw_word(&r, 12), RPC_ACCEPT_GARBAGE_ARGS);
	withdraw(&r, &d);
	raw_stop(&r, &p);
}

static void two_read_chunks(void **state)
{
	struct prov_door d;
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &plain, &r);
	expose(&r, &d, 0, 4096, PROV_REMOTE_READ);
	pair_pattern(r.zone->data, 4096, 3);
	/* length word at 40, 5 bytes and 3 of round-up at 44, length word at 52, 10 bytes at 56 */
	RAW_SEND(&r, 1, 1, 16, 0, 1, 44, SEG(d, 0, 5), 1, 56, SEG(d, 100, 10), 0, 0, 0,
		RPC_CALL(1, PAIR_TWO), 5, 10);
	expect_reply(&r, 1);
	assert_int_equal(raw_word(&r, 13), 5);
	assert_int_equal(raw_word(&r, 14), pair_sum(r.zone->data, 5));
	assert_int_equal(raw_word(&r, 15), 10);
	assert_int_equal(raw_word(&r, 16), pair_sum(r.zone->data + 100, 10));
	withdraw(&r, &d);
	raw_stop(&r, &p);
}

/* A GET of n bytes into Write chunks of various forms. */
static void write_chunks(void **state)
{
	uint8_t want[1001];
	struct prov_door d;
	struct pair p;
	struct raw r;

	pair_pattern(want, sizeof(want), 5);
	pair_init_responder(&p, &plain, &r);
	expose(&r, &d, 0, 8192, PROV_REMOTE_WRITE);
	memset(r.zone->data, 0xee, 8192);

	/* three segments: full, partly used, not used */
	RAW_SEND(&r, 1, 1, 16, 0, 0, 1, 3, SEG(d, 0, 333), SEG(d, 1000, 1000), SEG(d, 3000, 1000),
		0, 0, RPC_CALL(1, PAIR_GET), 1001);
	expect_reply(&r, 1);
	assert_int_equal(p.last_sink_max, 2333);
	assert_int_equal(p.last_nsinks, 1);
	assert_int_equal(p.last_sink[0], 2333);
	assert_int_equal(raw_word(&r, 5), 1);
	assert_int_equal(raw_word(&r, 6), 3);
	assert_int_equal(raw_word(&r, 7), d.stag);
	assert_int_equal(raw_word(&r, 8), 333);
	assert_int_equal(raw_word(&r, 12), 668);
	assert_int_equal(raw_word(&r, 16), 0);
	assert_memory_equal(r.zone->data, want, 333);
	assert_memory_equal(r.zone->data + 1000, want + 333, 668);
	assert_int_equal(r.zone->data[333], 0xee);
	assert_int_equal(r.zone->data[1668], 0xee); /* no round-up (RFC 8166 section 3.4.6.2) */
	assert_int_equal(r.len, (19 + 2) * 4 + 24 + 12);

	/* unused; two chunks of which the first is empty */
	RAW_SEND(&r, 2, 1, 16, 0, 0, 1, 1, SEG(d, 0, 1000), 0, 0, RPC_CALL(2, PAIR_NONE));
	expect_reply(&r, 2);
	assert_int_equal(raw_word(&r, 8), 0);
	RAW_SEND(&r, 3, 1, 16, 0, 0, 1, 0, 1, 1, SEG(d, 4000, 1000), 0, 0, RPC_CALL(3, PAIR_GET2),
		7, 9);
	expect_reply(&r, 3);
	assert_int_equal(raw_word(&r, 5), 1);
	assert_int_equal(raw_word(&r, 6), 0);
	assert_int_equal(raw_word(&r, 7), 1);
	assert_int_equal(raw_word(&r, 8), 1);
	assert_int_equal(raw_word(&r, 10), 9);
	assert_int_equal(r.len, (15 + 6 + 4) * 4); /* length, 7 bytes and 1, length */
	assert_int_equal(p.last_nsinks, 2);
	assert_int_equal(p.last_sink[0], 0);
	assert_int_equal(p.last_sink[1], 1000);
	pair_pattern(want, 9, 2);
	assert_memory_equal(r.zone->data + 4000, want, 9);

	/* too small for the data */
	RAW_SEND(&r, 4, 1, 16, 0, 0, 1, 1, SEG(d, 0, 1000), 0, 0, RPC_CALL(4, PAIR_GET), 1001);
	expect_error(&r, 4, 1, RDMA_ERR_CHUNK);
	/* neither a chunk nor room inline */
	RAW_SEND(&r, 5, 1, 16, 0, 0, 0, 0, RPC_CALL(5, PAIR_GET), 5000);
	expect_error(&r, 5, 1, RDMA_ERR_CHUNK);
	withdraw(&r, &d);
	raw_stop(&r, &p);
}

/* A call of proc with a Write chunk of n segments of len bytes, each third one empty. */
static void send_segments(struct raw *r, const struct prov_door *d, uint32_t xid, uint32_t proc,
	unsigned n, uint32_t len)
{
	const uint32_t head[] = {xid, 1, 16, 0, 0, 1, n},
		       tail[] = {0, 0, RPC_CALL(xid, proc), 1001};
	uint32_t *w = malloc((7 + 4 * n + 13) * 4), k = 7;

	memcpy(w, head, sizeof(head));
	for (unsigned i = 0; i < n; i++) {
		const uint32_t seg[] = {SEG(*d, i * len, i % 3 ? len : 0)};

		memcpy(w + k, seg, sizeof(seg));
		k += 4;
	}
	memcpy(w + k, tail, sizeof(tail));
	raw_send(r, w, k + 13, NULL, 0);
	free(w);
}

static void many_segments(void **state)
{
	static const struct pair_params large = {.inline_server = 16384};
	uint8_t want[1001];
	uint32_t got = 0;
	struct prov_door d;
	struct pair p;
	struct raw r;

	pair_pattern(want, sizeof(want), 5);
	pair_init_responder(&p, &large, &r);
	expose(&r, &d, 0, 8192, PROV_REMOTE_WRITE);
	memset(r.zone->data, 0xee, 8192);
	send_segments(&r, &d, 1, PAIR_GET, 240, 7);
	expect_reply(&r, 1);
	assert_int_equal(p.last_sink[0], 160 * 7);
	assert_int_equal(raw_word(&r, 6), 240);
	for (unsigned i = 0; i < 240; i++) {
		uint32_t len = raw_word(&r, 8 + 4 * i);

		assert_int_equal(len, !(i % 3) ? 0 : got + 7 < 1001 ? 7 : 1001 - got);
		assert_memory_equal(r.zone->data + i * 7, want + got, len);
		if (len < 7)
			assert_int_equal(r.zone->data[i * 7 + len], 0xee);
		got += len;
	}
	assert_int_equal(got, 1001);
	/* more than the responder keeps for a call */
	send_segments(&r, &d, 2, PAIR_GET, RPCRDMA_MAX_SEGS + 1, 7);
	expect_error(&r, 2, 1, RDMA_ERR_CHUNK);
	/* as many as may be served at a time, and the next waits; other calls do not */
	for (uint32_t x = 3; x < 6; x++)
		send_segments(&r, &d, x, PAIR_LATER, 240, 7);
	null(&r);
	assert_int_equal(p.served, 4); /* the GET, two, and the last */
	for (unsigned answers = 0; answers < 3;) {
		pair_release(&p);
		answers += raw_recv_within(&r, NULL, 1);
		assert_false(r.down);
	}
	assert_int_equal(p.served, 5);
	withdraw(&r, &d);
	raw_stop(&r, &p);
}

static void reply_chunks(void **state)
{
	struct prov_door d;
	struct pair p;
	struct raw r;
	uint32_t be;

	pair_init_responder(&p, &plain, &r);
	expose(&r, &d, 0, 32768, PROV_REMOTE_WRITE);

	/* short: inline, the chunk returned without use */
	RAW_SEND(&r, 1, 1, 16, 0, 0, 0, 1, 1, SEG(d, 0, 8000), RPC_CALL(1, PAIR_LIST), 8);
	expect_reply(&r, 1);
	assert_int_equal(raw_word(&r, 6), 1);
	assert_int_equal(raw_word(&r, 9), 0);
	assert_int_equal(p.last_res_max, 8000 - 24);

	/* long: two segments */
	RAW_SEND(&r, 2, 1, 16, 0, 0, 0, 1, 2, SEG(d, 0, 1001), SEG(d, 2000, 8000),
		RPC_CALL(2, PAIR_LIST), 5001);
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
	assert_int_equal(raw_word(&r, 7), 2);
	assert_int_equal(raw_word(&r, 9), 1001);
	assert_int_equal(raw_word(&r, 13), 24 + 4 + 5004 - 1001);
	assert_int_equal(r.len, 64);
	be = htonl(2);
	assert_memory_equal(r.zone->data, &be, 4);
	be = htonl(5001);
	assert_memory_equal(r.zone->data + 24, &be, 4);

	/* data and a long reply, with and without a Write list */
	RAW_SEND(&r, 3, 1, 16, 0, 0, 0, 1, 1, SEG(d, 0, 8000), RPC_CALL(3, PAIR_GET), 5001);
	assert_true(raw_recv(&r, NULL));
	assert_int_equal(raw_word(&r, 3), RDMA_NOMSG);
	assert_int_equal(raw_word(&r, 9), 24 + 8 + 5004 + 4);
	RAW_SEND(&r, 4, 1, 16, 0, 0, 1, 1, SEG(d, 10000, 5001), 0, 1, 1, SEG(d, 0, 8000),
		RPC_CALL(4, PAIR_GET), 5001);
	expect_reply(&r, 4);
	assert_int_equal(raw_word(&r, 8), 5001);
	assert_int_equal(raw_word(&r, 15), 0);

	/* too small */
	RAW_SEND(&r, 5, 1, 16, 0, 0, 0, 1, 1, SEG(d, 0, 5000), RPC_CALL(5, PAIR_LIST), 5001);
	expect_error(&r, 5, 1, RDMA_ERR_CHUNK);
	withdraw(&r, &d);
	raw_stop(&r, &p);
}

/* Only if the requester allows remote invalidation, and only with one handle to choose from (RFC
 * 8797 section 4.1). */
static void remote_invalidation(void **state)
{
	for (int i = 0; i < 4; i++) {
		struct prov_door d, d2;
		struct prov_wc wc = {0};
		struct pair p;
		struct raw r;

		raw_priv[5] = i > 0;
		pair_init_responder(&p, &plain, &r);
		raw_priv[5] = 0;
		expose(&r, &d, 0, 1000, PROV_REMOTE_WRITE);
		expose(&r, &d2, 1000, 1000, PROV_REMOTE_WRITE);
		if (i < 2)
			RAW_SEND(&r, 1, 1, 16, 0, 0, 1, 2, SEG(d, 0, 100), SEG(d, 500, 100), 0, 0,
				RPC_CALL(1, PAIR_GET), 100);
		else if (i == 2)
			RAW_SEND(&r, 1, 1, 16, 0, 0, 1, 2, SEG(d, 0, 100), SEG(d2, 0, 100), 0, 0,
				RPC_CALL(1, PAIR_GET), 100);
		else
			RAW_SEND(&r, 1, 1, 16, 0, 0, 0, 0, RPC_CALL(1, PAIR_NULL));
		do
			r.prov->wait(r.pc, -1, 10);
		while (!r.prov->poll(r.pc, &wc, 1));
		assert_int_equal(wc.op, PROV_WC_RECV);
		assert_int_equal(wc.invalidated, i == 1);
		if (i == 1)
			assert_int_equal(wc.inv_stag, d.stag);
		d.invalidated = wc.invalidated;
		withdraw(&r, &d);
		withdraw(&r, &d2);
		raw_stop(&r, &p);
	}
}

/* The peer may use as many credits as it was granted; one call more ends the connection. */
static void more_calls_than_credits(void **state)
{
	struct pair_params params = {.credits_server = 4};
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &params, &r);
	for (uint32_t x = 1; x <= 4; x++)
		RAW_SEND(&r, x, 1, 16, 0, 0, 0, 0, RPC_CALL(x, PAIR_LATER));
	while (p.served < 4)
		;
	assert_int_equal(pair_release(&p), 4);
	for (int i = 0; i < 4; i++) {
		assert_true(raw_recv(&r, NULL));
		assert_int_equal(raw_word(&r, 2), 4);
	}
	for (uint32_t x = 11; x <= 15; x++)
		RAW_SEND(&r, x, 1, 16, 0, 0, 0, 0, RPC_CALL(x, PAIR_LATER));
	raw_wait_down(&r, NULL);
	assert_int_equal(p.served, 8);
	raw_stop(&r, &p);
}

/* A bad handle ends the connection, without other effects. */
static void chunks_that_lead_nowhere(void **state)
{
	for (int i = 0; i < 2; i++) {
		struct pair p;
		struct raw r;

		pair_init_responder(&p, &plain, &r);
		if (i)
			RAW_SEND(&r, 1, 1, 16, 0, 1, 48, 0x666, 100, 0, 0, 0, 0, 0,
				RPC_CALL(1, PAIR_PUT), 0x11, 100, 0x22);
		else
			RAW_SEND(&r, 1, 1, 16, 0, 0, 1, 1, 0x666, 100, 0, 0, 0, 0,
				RPC_CALL(1, PAIR_GET), 100);
		raw_wait_down(&r, NULL);
		raw_stop(&r, &p);
	}
}

static size_t used(struct mem_pool *pool)
{
	struct mem_stats st;

	mem_pool_stats(pool, &st);
	return st.used_bytes;
}

static void send_put(struct raw *r, const struct prov_door *d, uint32_t x, uint32_t n)
{
	RAW_SEND(r, x, 1, 16, 0, 1, 48, SEG(*d, 0, n), 0, 0, 0, RPC_CALL(x, PAIR_PUT), 0x11, n,
		0x22);
}

/* Another user has emptied the pool: the call waits, and is served when memory is back. */
static void calls_wait_for_memory(void **state)
{
	struct pair_params params = {.server_memory = 8u << 20};
	struct mem_buf *hoard[4096];
	unsigned nhoard = 0;
	struct prov_door d;
	struct pair p;
	struct raw r;

	pair_init_responder(&p, &params, &r);
	null(&r);
	for (size_t n = MEM_MAX_SIZE; n >= 1; n = n > 4 ? n / 4 : n - 1)
		while (nhoard < 4096 && (hoard[nhoard] = mem_buf_get(p.spool, n)))
			nhoard++;
	assert_in_range(nhoard, 1, 4095);
	expose(&r, &d, 0, 65536, PROV_REMOTE_READ);
	pair_pattern(r.zone->data, 1001, 3);
	for (uint32_t x = 1; x <= 3; x++)
		send_put(&r, &d, x, 1001);
	assert_false(raw_recv_within(&r, NULL, 1000)); /* a second of silence, and no worse */
	assert_false(r.down);
	while (nhoard)
		mem_buf_unref(hoard[--nhoard]);
	for (uint32_t x = 1; x <= 3; x++) {
		expect_reply(&r, x);
		assert_int_equal(raw_word(&r, 14), pair_sum(r.zone->data, 1001));
	}
	withdraw(&r, &d);
	raw_stop(&r, &p);
}

/* For a peer that does not answer RDMA Reads, the responder keeps a bounded amount of memory. */
static void what_is_pulled_is_bounded(void **state)
{
	size_t before, most = rpcrdma_pulled_max;
	struct prov_door d;
	struct pair p;
	struct raw r;

	rpcrdma_pulled_max = 150000;
	pair_init_responder(&p, &plain, &r);
	null(&r);
	before = used(p.spool);
	expose(&r, &d, 0, 65536, PROV_REMOTE_READ);
	pair_pattern(r.zone->data, 65536, 3);
	for (uint32_t x = 1; x <= 16; x++)
		send_put(&r, &d, x, 65536);
	for (int i = 0; i < 100; i++) {
		struct timespec ms = {.tv_nsec = 1000000};

		nanosleep(&ms, NULL);
		assert_true(used(p.spool) <= before + 150000 + 32 * 8192);
	}
	for (uint32_t x = 1; x <= 16; x++)
		expect_reply(&r, x);
	withdraw(&r, &d);
	raw_stop(&r, &p);
	rpcrdma_pulled_max = most;
}

static void reads_that_stand_still_end_the_connection(void **state)
{
	unsigned ms = rpcrdma_pull_ms;
	struct timespec t = {.tv_nsec = 1000000};
	struct prov_door d;
	struct pair p;
	struct raw r;

	rpcrdma_pull_ms = 50;
	pair_init_responder(&p, &plain, &r);
	null(&r);
	expose(&r, &d, 0, 65536, PROV_REMOTE_READ);
	send_put(&r, &d, 1, 1001);
	for (int i = 0; i < 60000 && !p.server_down; i++)
		nanosleep(&t, NULL);
	assert_true(p.server_down);
	assert_non_null(strstr(p.server->down_reason, "unanswered"));
	raw_wait_down(&r, NULL);
	assert_int_equal(p.served, 1);
	withdraw(&r, &d);
	raw_stop(&r, &p);
	rpcrdma_pull_ms = ms;
}

static void random_calls(void **state)
{
	srand(11);
	for (int round = 0; round < 10; round++) {
		struct prov_door d;
		struct pair p;
		struct raw r;

		pair_init_responder(&p, &plain, &r);
		expose(&r, &d, 0, 65536, PROV_REMOTE_READ | PROV_REMOTE_WRITE);
		for (int i = 0; i < 100 && !r.down; i++) {
			uint32_t w[] = {i, 1, 16, rand() % 2, 1, 0, SEG(d, 0, 20), 1, 48,
				SEG(d, 100, 100), 0, 1, 1, SEG(d, 1000, 3000), 0, 1, 1,
				SEG(d, 8000, 8000), RPC_CALL(i, rand() % 7), 100, 100, 8};
			unsigned n = sizeof(w) / 4;

			for (int k = rand() % 3; k; k--)
				w[3 + rand() % 40] = rand() % 8 ? rand() % 10 : rand();
			if (rand() % 3)
				w[4] = w[16] = 0;
			if (rand() % 4 == 0)
				n = rand() % n;
			raw_send(&r, w, n, NULL, 0);
			if (rand() % 8 == 0)
				raw_recv_within(&r, NULL, 1000);
		}
		withdraw(&r, &d);
		raw_stop(&r, &p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_a_linux_server_answers),
		cmocka_unit_test(what_cannot_be_parsed_is_err_chunk),
		cmocka_unit_test(what_needs_no_answer_gets_none),
		cmocka_unit_test(read_chunks),
		cmocka_unit_test(two_read_chunks),
		cmocka_unit_test(write_chunks),
		cmocka_unit_test(many_segments),
		cmocka_unit_test(reply_chunks),
		cmocka_unit_test(remote_invalidation),
		cmocka_unit_test(more_calls_than_credits),
		cmocka_unit_test(chunks_that_lead_nowhere),
		cmocka_unit_test(calls_wait_for_memory),
		cmocka_unit_test(what_is_pulled_is_bounded),
		cmocka_unit_test(reads_that_stand_still_end_the_connection),
		cmocka_unit_test(random_calls),
	};

	return PAIR_RUN(tests);
}
