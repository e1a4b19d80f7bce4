/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/iwarp/ddp.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "transport/iwarp/ddp.h"

/* RFC 5044 figure 5, behind the marker and the length. */
static void send_has_the_golden_bytes(void **state)
{
	static const uint8_t golden[18] = {0x41, 0x43, [13] = 1};
	uint8_t buf[18];
	struct ddp_hdr h;

	assert_int_equal(ddp_put_untagged(buf, DDP_OP_SEND, true, 0, 1, 0), 18);
	assert_memory_equal(buf, golden, 18);
	assert_int_equal(ddp_get(golden, 18, &h), 18);
	assert_true(h.last && !h.tagged);
	assert_int_equal(h.op, DDP_OP_SEND);
	assert_int_equal(h.qn, 0);
	assert_int_equal(h.msn, 1);
	assert_int_equal(h.mo, 0);
	assert_int_equal(ddp_check(&h), DDP_OK);
}

static void write_has_the_golden_bytes(void **state)
{
	static const uint8_t golden[14] = {
		0xc1, 0x40, 0xde, 0xad, 0xbe, 0xef, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08};
	uint8_t buf[14];
	struct ddp_hdr h;

	assert_int_equal(
		ddp_put_tagged(buf, DDP_OP_WRITE, true, 0xdeadbeef, 0x0102030405060708), 14);
	assert_memory_equal(buf, golden, 14);
	assert_int_equal(ddp_get(golden, 14, &h), 14);
	assert_true(h.last && h.tagged);
	assert_int_equal(h.stag, 0xdeadbeef);
	assert_true(h.to == 0x0102030405060708);
	assert_int_equal(ddp_check(&h), DDP_OK);
	ddp_put_tagged(buf, DDP_OP_READ_RESP, false, 1, 0);
	assert_int_equal(buf[0], 0x81);
	assert_int_equal(buf[1], 0x42);
}

static void read_request_has_the_golden_bytes(void **state)
{
	static const uint8_t golden[46] = {0x41, 0x41, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 9, 0, 0, 0,
		0, 0x11, 0x11, 0x11, 0x11, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0x10, 0, 0, 0x22, 0x22, 0x22,
		0x22, 0, 0, 0, 4, 0, 0, 0, 5};
	struct ddp_read_req q = {.sink_stag = 0x11111111,
		.sink_to = 0x200000003,
		.size = 0x100000,
		.src_stag = 0x22222222,
		.src_to = 0x400000005};
	struct ddp_read_req r;
	uint8_t buf[46];

	assert_int_equal(ddp_put_untagged(buf, DDP_OP_READ_REQ, true, 0, 9, 0), 18);
	ddp_put_read_req(buf + 18, &q);
	assert_memory_equal(buf, golden, 46);
	ddp_get_read_req(buf + 18, &r);
	assert_int_equal(r.sink_stag, q.sink_stag);
	assert_true(r.sink_to == q.sink_to && r.src_to == q.src_to);
	assert_int_equal(r.size, q.size);
	assert_int_equal(r.src_stag, q.src_stag);
}

static void invalidation_names_its_stag(void **state)
{
	uint8_t buf[18];
	struct ddp_hdr h;

	ddp_put_untagged(buf, DDP_OP_SEND_INV, false, 0x01020304, 0xfffffffe, 77);
	assert_int_equal(buf[0], 0x01);
	assert_int_equal(buf[1], 0x44);
	assert_int_equal(ddp_get(buf, 18, &h), 18);
	assert_int_equal(h.stag, 0x01020304);
	assert_int_equal(h.msn, 0xfffffffe);
	assert_int_equal(h.mo, 77);
	assert_false(h.last);
}

static void short_headers_need_more(void **state)
{
	uint8_t buf[18];
	struct ddp_hdr h;

	ddp_put_untagged(buf, DDP_OP_SEND, true, 0, 1, 0);
	for (size_t n = 0; n < 18; n++)
		assert_int_equal(ddp_get(buf, n, &h), 0);
	ddp_put_tagged(buf, DDP_OP_WRITE, true, 1, 0);
	for (size_t n = 0; n < 14; n++)
		assert_int_equal(ddp_get(buf, n, &h), 0);
	assert_int_equal(ddp_get(buf, 18, &h), 14);
}

/* All control words, judged by RFC 5040 figure 4 written out here once more. */
static void check_knows_every_control_word(void **state)
{
	static const int queue[16] = {-1, 1, -1, 0, 0, 0, 0, 2, -1, -1, -1, -1, -1, -1, -1, -1};

	for (unsigned w = 0; w < 65536; w++) {
		for (unsigned qn = 0; qn < 4; qn++) {
			uint8_t buf[18] = {(uint8_t)(w >> 8), (uint8_t)w, [9] = (uint8_t)qn};
			bool tagged = w & 0x8000;
			unsigned op = w & 15, rv = w >> 6 & 3;
			struct ddp_hdr h;
			int want = DDP_OK;

			ddp_get(buf, 18, &h);
			if ((w >> 8 & 3) != 1)
				want = tagged ? 0x1104 : 0x1206;
			else if (!tagged && qn > 2)
				want = 0x1201;
			else if (rv != 1)
				want = 0x0205;
			else if (tagged ? op != 0 && op != 2 : queue[op] != (int)qn)
				want = 0x0206;
			assert_int_equal(ddp_check(&h), want);
		}
	}
}

static void terminate_comes_back(void **state)
{
	/* a Write to a closed door: layer DDP, tagged buffer error, invalid STag; M and D */
	static const uint8_t golden[] = {
		0x11, 0x00, 0xc0, 0x00, 0x10, 0x0e, 0xc1, 0x40, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 9};
	struct ddp_term u, t = {.err = DDP_ERR_STAG,
				   .has_len = true,
				   .has_ddp = true,
				   .seg_len = 0x100e,
				   .ddp_len = 14};
	uint8_t buf[DDP_TERM_MAX];

	ddp_put_tagged(t.ddp, DDP_OP_WRITE, true, 7, 9);
	assert_int_equal(ddp_put_term(buf, &t), sizeof(golden));
	assert_memory_equal(buf, golden, sizeof(golden));
	assert_int_equal(ddp_get_term(golden, sizeof(golden), &u), 0);
	assert_int_equal(u.err, DDP_ERR_STAG);
	assert_int_equal(u.seg_len, 0x100e);
	assert_int_equal(u.ddp_len, 14);
	assert_memory_equal(u.ddp, t.ddp, 14);
	for (size_t n = 0; n < sizeof(golden); n++)
		assert_int_equal(ddp_get_term(golden, n, &u), -EBADMSG);
}

static void terminate_of_a_read_request(void **state)
{
	struct ddp_term u, t = {.err = RDMAP_ERR_BOUNDS,
				   .has_len = true,
				   .has_ddp = true,
				   .has_rdma = true,
				   .seg_len = 46,
				   .ddp_len = 18};
	uint8_t buf[DDP_TERM_MAX];

	ddp_put_untagged(t.ddp, DDP_OP_READ_REQ, true, 0, 1, 0);
	memset(t.rdma, 0x5a, sizeof(t.rdma));
	assert_int_equal(ddp_put_term(buf, &t), DDP_TERM_MAX);
	assert_int_equal(ddp_get_term(buf, DDP_TERM_MAX, &u), 0);
	assert_true(u.has_rdma);
	assert_memory_equal(u.rdma, t.rdma, sizeof(t.rdma));
	for (size_t n = 0; n < DDP_TERM_MAX; n++)
		assert_int_equal(ddp_get_term(buf, n, &u), -EBADMSG);
	t = (struct ddp_term){.err = MPA_ERR_CRC};
	assert_int_equal(ddp_put_term(buf, &t), 4);
	assert_int_equal(ddp_get_term(buf, 4, &u), 0);
	assert_int_equal(u.err, 0x2002);
}

static void every_error_has_a_text(void **state)
{
	for (unsigned e = 0; e < 65536; e++)
		assert_non_null(ddp_err_text(e));
	assert_string_equal(ddp_err_text(DDP_ERR_BOUNDS), "DDP: base or bounds violation");
	assert_string_equal(ddp_err_text(0x0042), "RDMAP: local catastrophic error");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(send_has_the_golden_bytes),
		cmocka_unit_test(write_has_the_golden_bytes),
		cmocka_unit_test(read_request_has_the_golden_bytes),
		cmocka_unit_test(invalidation_names_its_stag),
		cmocka_unit_test(short_headers_need_more),
		cmocka_unit_test(check_knows_every_control_word),
		cmocka_unit_test(terminate_comes_back),
		cmocka_unit_test(terminate_of_a_read_request),
		cmocka_unit_test(every_error_has_a_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
