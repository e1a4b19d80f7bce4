/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/iwarp/iwarp_msg: peers that break a rule about a segment or a message,
 * scripted over a raw socket. Each must get the Terminate that RFC 5040 and 5041 name, and must not
 * have changed memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/transport/iwarp/iwarp-raw.h"

static void good_segments_are_taken(void **state)
{
	struct ddp_hdr h;
	struct raw t;

	for (int crc = 0; crc < 2; crc++) {
		raw_start(&t, crc);
		h = h_write(t.w.stag, 100);
		raw_fpdu(&t, &h, NULL, 200);
		h = h_write(t.w.stag, 0);
		raw_fpdu(&t, &h, NULL, 0);
		h = h_write(12345, UINT64_MAX); /* a Write of no bytes: not checked */
		raw_fpdu(&t, &h, NULL, 0);
		h = h_send(1, 0);
		h.last = false;
		raw_fpdu(&t, &h, NULL, 500);
		h = h_send(1, 500);
		raw_fpdu(&t, &h, "the very end", 12);
		h = h_send(2, 0);
		h.op = DDP_OP_SEND_SE;
		raw_fpdu(&t, &h, NULL, 0);
		h = h_send(3, 0);
		h.op = DDP_OP_SEND_SE_INV;
		h.stag = t.w.stag;
		raw_fpdu(&t, &h, "x", 1);
		end_poll(&t.e);
		assert_int_equal(t.e.n, 3);
		assert_int_equal(t.e.log[0].len, 512);
		assert_memory_equal(t.recv[0] + 500, "the very end", 12);
		assert_int_equal(t.e.log[1].len, 0);
		assert_true(t.e.log[2].invalidated);
		assert_int_equal(t.writable[99], 0);
		assert_int_equal(t.writable[100], 0xa5);
		assert_int_equal(t.writable[299], 0xa5);
		assert_int_equal(t.writable[300], 0);
		raw_finish(&t);
	}
}

static void wrong_writes(void **state)
{
	static const struct {
		int64_t to;
		uint32_t len;
		unsigned err;
	} bad[] = {
		{0, DOOR + 1, DDP_ERR_BOUNDS},
		{DOOR, 1, DDP_ERR_BOUNDS},
		{1, DOOR, DDP_ERR_BOUNDS},
		{DOOR + 1, 1, DDP_ERR_BOUNDS},
		{1ll << 32, 1, DDP_ERR_BOUNDS},
		{INT64_MIN, 4, DDP_ERR_BOUNDS},
		{-1, 2, DDP_ERR_WRAP},
		{-4, 8, DDP_ERR_WRAP},
	};
	struct ddp_hdr h;
	struct raw t;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		raw_start(&t, false);
		h = h_write(t.w.stag, (uint64_t)bad[i].to);
		raw_fpdu(&t, &h, NULL, bad[i].len);
		expect_terminate(&t, bad[i].err, "RDMA Write of");
	}
	raw_start(&t, false);
	h = h_write(t.w.stag ^ 4, 0);
	raw_fpdu(&t, &h, NULL, 1);
	expect_terminate(&t, DDP_ERR_STAG, "not open");
	raw_start(&t, false);
	h = h_write(t.r.stag, 0);
	raw_fpdu(&t, &h, NULL, 1);
	expect_terminate(&t, RDMAP_ERR_ACCESS, "for reading only");
	raw_start(&t, false);
	assert_int_equal(prov_iwarp.withdraw(t.e.c, &t.w, 1, 0), 0);
	h = h_write(t.w.stag, 0);
	raw_fpdu(&t, &h, NULL, 1);
	expect_terminate(&t, DDP_ERR_STAG, "not open");
	assert_int_equal(t.writable[0], 0);
}

static void abandon_w(struct raw *t)
{
	t->w.abandoned = true;
	assert_int_equal(prov_iwarp.withdraw(t->e.c, &t->w, 1, 0), 0);
}

/* A peer may still use the door of a cancelled call: one write, and one invalidation. */
static void late_answers(void **state)
{
	struct ddp_hdr h;
	struct raw t;

	for (int crc = 0; crc < 2; crc++) {
		raw_start(&t, crc);
		abandon_w(&t);
		for (int i = 0; i < 4; i++) {
			h = h_write(t.w.stag, (uint64_t)i * DOOR / 4);
			raw_fpdu(&t, &h, NULL, DOOR / 4);
		}
		h = h_send(1, 0);
		h.op = DDP_OP_SEND_INV;
		h.stag = t.w.stag;
		raw_fpdu(&t, &h, "late", 4);
		end_poll(&t.e);
		assert_int_equal(t.e.n, 1);
		assert_int_equal(t.e.log[0].op, PROV_WC_RECV);
		assert_int_equal(t.e.log[0].len, 4);
		assert_false(t.e.log[0].invalidated);
		for (int i = 0; i < DOOR + 64; i++)
			assert_int_equal(t.writable[i], 0);
		/* the peer may say no more */
		h = h_send(2, 0);
		h.op = DDP_OP_SEND_INV;
		h.stag = t.w.stag;
		raw_fpdu(&t, &h, "later", 5);
		expect_terminate(&t, RDMAP_ERR_INVALIDATE, "not open");
	}
	raw_start(&t, false);
	abandon_w(&t);
	h = h_write(t.w.stag, 0);
	raw_fpdu(&t, &h, NULL, DOOR);
	raw_fpdu(&t, &h, NULL, 1);
	expect_terminate(&t, DDP_ERR_STAG, "again and again");
	raw_start(&t, false);
	abandon_w(&t);
	h = h_write(t.w.stag, 1);
	raw_fpdu(&t, &h, NULL, DOOR);
	expect_terminate(&t, DDP_ERR_BOUNDS, "RDMA Write of");
	raw_start(&t, false); /* a door that allows no reads */
	t.r.abandoned = true;
	assert_int_equal(prov_iwarp.withdraw(t.e.c, &t.r, 1, 0), 0);
	raw_read_req(&t, 1, &(struct ddp_read_req){.size = 10, .src_stag = t.r.stag});
	expect_terminate(&t, RDMAP_ERR_STAG, "RDMA Read of 10 bytes");
}

/* A door closes after half of a segment for the door has come: the other half must not be
 * placed. */
static void a_door_closes_inside_a_segment(void **state)
{
	struct ddp_hdr h;
	struct raw t;

	for (int crc = 0; crc < 2; crc++) {
		raw_start(&t, crc);
		h = h_write(t.w.stag, 0);
		t.cut = 1000;
		raw_fpdu(&t, &h, NULL, DOOR);
		end_poll(&t.e);
		assert_int_equal(t.writable[100], 0xa5);
		abandon_w(&t);
		memset(t.writable, 0, sizeof(t.writable));
		assert_int_equal(send(t.fd, t.rest, t.nrest, MSG_NOSIGNAL), t.nrest);
		h = h_send(1, 0);
		raw_fpdu(&t, &h, "on", 2);
		end_poll(&t.e);
		assert_int_equal(t.e.n, 1);
		assert_int_equal(t.e.log[0].op, PROV_WC_RECV);
		for (int i = 0; i < DOOR; i++)
			assert_int_equal(t.writable[i], 0);
		raw_finish(&t);
	}
}

static void wrong_sends(void **state)
{
	struct ddp_hdr h;
	struct raw t;

	raw_start(&t, false);
	h = h_send(2, 0);
	raw_fpdu(&t, &h, NULL, 8);
	expect_terminate(&t, DDP_ERR_MSN, "message 2 on queue 0, expected 1");

	raw_start(&t, false);
	h = h_send(1, 4);
	raw_fpdu(&t, &h, NULL, 8);
	expect_terminate(&t, DDP_ERR_MO, "expected 0");

	raw_start(&t, false);
	h = h_send(1, 0);
	raw_fpdu(&t, &h, NULL, RECV + 1);
	expect_terminate(&t, DDP_ERR_TOO_LONG, "513 bytes into a receive of 512");

	raw_start(&t, false);
	h = h_send(1, 0);
	h.last = false;
	raw_fpdu(&t, &h, NULL, RECV);
	h = h_send(1, RECV);
	raw_fpdu(&t, &h, NULL, 1);
	expect_terminate(&t, DDP_ERR_TOO_LONG, "513 bytes into a receive of 512");

	raw_start(&t, false);
	h = h_send(1, 0);
	h.last = false;
	raw_fpdu(&t, &h, NULL, 8);
	h = h_send(1, 7);
	raw_fpdu(&t, &h, NULL, 8);
	expect_terminate(&t, DDP_ERR_MO, "offset 7 on queue 0, expected 8");

	raw_start(&t, false);
	h = h_send(1, 0);
	h.last = false;
	raw_fpdu(&t, &h, NULL, 8);
	h = h_send(1, 8);
	h.op = DDP_OP_SEND_INV;
	h.stag = t.r.stag;
	raw_fpdu(&t, &h, NULL, 8);
	expect_terminate(&t, RDMAP_ERR_OPCODE, "opcode changes");

	raw_start(&t, false);
	for (unsigned i = 1; i < 5; i++) {
		h = h_send(i, 0);
		raw_fpdu(&t, &h, NULL, 8);
	}
	expect_terminate(&t, DDP_ERR_NO_BUFFER, "Send 4 finds no posted receive");

	raw_start(&t, false);
	h = h_send(1, 0);
	h.op = DDP_OP_SEND_INV;
	h.stag = t.w.stag + 1;
	raw_fpdu(&t, &h, NULL, 8);
	expect_terminate(&t, RDMAP_ERR_INVALIDATE, "not open");
}

static void wrong_headers(void **state)
{
	struct ddp_hdr h;
	struct raw t;

	raw_start(&t, false);
	h = h_send(1, 0);
	h.dv = 2;
	raw_fpdu(&t, &h, NULL, 8);
	expect_terminate(&t, DDP_ERR_U_VERSION, "DDP version 2");

	raw_start(&t, false);
	h = h_write(t.w.stag, 0);
	h.dv = 0;
	raw_fpdu(&t, &h, NULL, 8);
	expect_terminate(&t, DDP_ERR_T_VERSION, "DDP version 0");

	raw_start(&t, false);
	h = h_send(1, 0);
	h.rv = 3;
	raw_fpdu(&t, &h, NULL, 8);
	expect_terminate(&t, RDMAP_ERR_VERSION, "RDMAP version 3");

	raw_start(&t, false);
	h = h_send(1, 0);
	h.qn = 3;
	raw_fpdu(&t, &h, NULL, 8);
	expect_terminate(&t, DDP_ERR_QN, "queue 3");

	raw_start(&t, false);
	h = h_send(1, 0);
	h.qn = 1;
	raw_fpdu(&t, &h, NULL, 8);
	expect_terminate(&t, RDMAP_ERR_OPCODE, "opcode 3, queue 1");

	raw_start(&t, false);
	h = h_write(t.w.stag, 0);
	h.op = 9;
	raw_fpdu(&t, &h, NULL, 8);
	expect_terminate(&t, RDMAP_ERR_OPCODE, "opcode 9");
}

static void wrong_reads(void **state)
{
	struct ddp_read_req q;
	struct ddp_hdr h;
	struct raw t;

	static const struct {
		int64_t to;
		uint32_t size;
		int door; /* 0 readable, 1 writable, 2 none */
		unsigned err;
	} bad[] = {
		{0, DOOR + 1, 0, RDMAP_ERR_BOUNDS},
		{DOOR, 1, 0, RDMAP_ERR_BOUNDS},
		{0, UINT32_MAX, 0, RDMAP_ERR_BOUNDS},
		{-1, 2, 0, RDMAP_ERR_WRAP},
		{0, 1, 1, RDMAP_ERR_ACCESS},
		{0, 1, 2, RDMAP_ERR_STAG},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		raw_start(&t, false);
		q = (struct ddp_read_req){.size = bad[i].size,
			.src_to = (uint64_t)bad[i].to,
			.src_stag = bad[i].door == 0   ? t.r.stag
				    : bad[i].door == 1 ? t.w.stag
						       : t.r.stag ^ 1};
		raw_read_req(&t, 1, &q);
		expect_terminate(&t, bad[i].err, "RDMA Read of");
	}
	raw_start(&t, false);
	q = (struct ddp_read_req){.size = 1, .src_stag = t.r.stag};
	raw_read_req(&t, 5, &q);
	expect_terminate(&t, DDP_ERR_MSN, "message 5 on queue 1, expected 1");

	for (uint32_t n = 0; n < 60; n++) {
		if (n == DDP_READ_REQ_LEN)
			continue;
		raw_start(&t, false);
		h = h_read(1);
		raw_fpdu(&t, &h, NULL, n);
		expect_terminate(&t, DDP_ERR_TOO_LONG, "Read Request of");
	}
	/* a read of no bytes names no memory */
	raw_start(&t, false);
	raw_read_req(&t, 1, &(struct ddp_read_req){.sink_stag = 77, .sink_to = 5});
	end_poll(&t.e);
	assert_false(t.e.down);
	{
		uint8_t b[100];

		assert_int_equal(raw_receive(&t, &h, b), 0);
		assert_int_equal(h.op, DDP_OP_READ_RESP);
		assert_int_equal(h.stag, 77);
		assert_true(h.to == 5 && h.last);
	}
	raw_finish(&t);
}

/* The negotiated depth is 2: a third read while two answers are stuck is one too many. */
static void more_reads_than_ird(void **state)
{
	static uint8_t big[2 << 20];
	struct mem_sge s = sge_of(big, sizeof(big));
	struct prov_door d;
	struct ddp_read_req q = {.size = sizeof(big)};
	struct raw t;

	raw_start(&t, false);
	assert_int_equal(prov_iwarp.expose(t.e.c, &s, PROV_REMOTE_READ, &d), 0);
	q.src_stag = d.stag;
	raw_read_req(&t, 1, &q);
	raw_read_req(&t, 2, &q);
	end_poll(&t.e);
	assert_false(t.e.down);
	raw_read_req(&t, 3, &q);
	end_poll(&t.e);
	assert_true(t.e.down);
	assert_non_null(strstr(t.e.c->down_reason, "more than 2 RDMA Reads"));
	raw_finish(&t);
}

/* Reads of this end: answers that do not fit the request. */
static void wrong_read_responses(void **state)
{
	static const struct {
		uint32_t flip;
		uint64_t to;
		uint32_t len;
		bool last;
		unsigned err;
	} bad[] = {
		{1, 0, 100, true, DDP_ERR_STAG},
		{0, 1, 99, true, DDP_ERR_BOUNDS},
		{0, 0, 101, true, DDP_ERR_BOUNDS},
		{0, 0, 99, true, RDMAP_ERR_STREAM_LOST},
		{0, 0, 100, false, RDMAP_ERR_STREAM_LOST},
	};
	struct ddp_hdr h;
	struct raw t;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint8_t dst[200] = {0}, b[70000];
		struct prov_wr wr = {.op = PROV_READ, .nsge = 1, .remote_stag = 9};
		struct ddp_read_req q;

		raw_start(&t, false);
		h = h_send(1, 0);
		raw_fpdu(&t, &h, "x", 1);
		end_poll(&t.e);
		wr.sge[0] = sge_of(dst, 100);
		assert_int_equal(prov_iwarp.post(t.e.c, &wr), 0);
		assert_int_equal(raw_receive(&t, &h, b), DDP_READ_REQ_LEN);
		assert_int_equal(h.op, DDP_OP_READ_REQ);
		ddp_get_read_req(b, &q);
		assert_int_equal(q.size, 100);
		assert_int_equal(q.src_stag, 9);
		h = h_write(q.sink_stag ^ bad[i].flip, q.sink_to + bad[i].to);
		h.op = DDP_OP_READ_RESP;
		h.last = bad[i].last;
		raw_fpdu(&t, &h, NULL, bad[i].len);
		expect_terminate(&t, bad[i].err, "Read Response");
		for (int k = 0; k < 200; k++)
			assert_int_equal(dst[k], 0);
	}
	raw_start(&t, false);
	h = h_write(1, 0);
	h.op = DDP_OP_READ_RESP;
	raw_fpdu(&t, &h, NULL, 1);
	expect_terminate(&t, DDP_ERR_STAG, "not the oldest read's");
}

static void received_terminate_is_told(void **state)
{
	struct ddp_term term = {.err = DDP_ERR_NO_BUFFER};
	uint8_t p[DDP_TERM_MAX];
	struct ddp_hdr h;
	struct raw t;

	raw_start(&t, false);
	h = h_send(1, 0);
	h.op = DDP_OP_TERMINATE;
	h.qn = DDP_QN_TERMINATE;
	raw_fpdu(&t, &h, p, (uint32_t)ddp_put_term(p, &term));
	end_poll(&t.e);
	assert_true(t.e.down);
	assert_non_null(strstr(t.e.c->down_reason, "DDP: no buffer for the message (1202)"));
	raw_finish(&t);

	raw_start(&t, false);
	raw_fpdu(&t, &h, NULL, 2);
	end_poll(&t.e);
	assert_true(t.e.down);
	assert_non_null(strstr(t.e.c->down_reason, "without a readable reason"));
	raw_finish(&t);
}

static void disconnect_is_final(void **state)
{
	struct ddp_hdr h = h_send(1, 0);
	struct raw t;

	raw_start(&t, false);
	raw_fpdu(&t, &h, NULL, 8);
	prov_iwarp.disconnect(t.e.c);
	prov_iwarp.disconnect(t.e.c);
	prov_iwarp.wait(t.e.c, -1, -1);
	for (int i = 0; i < 3; i++)
		end_poll(&t.e);
	assert_int_equal(t.e.n, 1);
	assert_true(t.e.down);
	assert_non_null(strstr(t.e.c->down_reason, "by this side"));
	assert_int_equal(prov_iwarp.withdraw(t.e.c, &t.w, 1, 0), 0);
	raw_finish(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_segments_are_taken),
		cmocka_unit_test(wrong_writes),
		cmocka_unit_test(late_answers),
		cmocka_unit_test(a_door_closes_inside_a_segment),
		cmocka_unit_test(wrong_sends),
		cmocka_unit_test(wrong_headers),
		cmocka_unit_test(wrong_reads),
		cmocka_unit_test(more_reads_than_ird),
		cmocka_unit_test(wrong_read_responses),
		cmocka_unit_test(received_terminate_is_told),
		cmocka_unit_test(disconnect_is_final),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
