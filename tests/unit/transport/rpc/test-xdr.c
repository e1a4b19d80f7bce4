/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/xdr.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "transport/rpc/xdr.h"

static void golden_bytes(void **state)
{
	static const uint8_t want[] = {0, 0, 0, 7, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 1, 0, 0, 0, 5,
		'h', 'e', 'l', 'l', 'o', 0, 0, 0, 0xaa, 0xbb, 0, 0};
	uint8_t buf[64];
	struct xdr_out x;

	memset(buf, 0xff, sizeof(buf));
	xdr_out_init(&x, buf, sizeof(buf));
	xdr_put_u32(&x, 7);
	xdr_put_u64(&x, 0x0102030405060708);
	xdr_put_bool(&x, true);
	xdr_put_opaque(&x, "hello", 5);
	xdr_put_fixed(&x, "\xaa\xbb", 2);
	assert_true(xdr_out_ok(&x));
	assert_int_equal(x.len, sizeof(want));
	assert_memory_equal(buf, want, sizeof(want));
}

static void round_trip(void **state)
{
	uint8_t buf[64], two[2];
	struct xdr_out o;
	struct xdr_in i;
	const uint8_t *p;
	size_t at;
	uint32_t n;

	xdr_out_init(&o, buf, sizeof(buf));
	at = xdr_skip_u32(&o);
	xdr_put_u64(&o, UINT64_MAX - 1);
	xdr_put_opaque(&o, "abc", 3);
	xdr_put_fixed(&o, "xy", 2);
	xdr_put_bool(&o, false);
	xdr_patch_u32(&o, at, 99);
	xdr_in_init(&i, buf, o.len);
	assert_int_equal(xdr_get_u32(&i), 99);
	assert_true(xdr_get_u64(&i) == UINT64_MAX - 1);
	p = xdr_get_opaque(&i, 3, &n);
	assert_int_equal(n, 3);
	assert_memory_equal(p, "abc", 3);
	xdr_get_fixed(&i, two, 2);
	assert_memory_equal(two, "xy", 2);
	assert_false(xdr_in_done(&i));
	assert_false(xdr_get_bool(&i));
	assert_true(xdr_in_done(&i));
}

static void overflow_sticks(void **state)
{
	uint8_t buf[8];
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	assert_null(xdr_reserve(&x, SIZE_MAX));
	xdr_out_init(&x, buf, sizeof(buf));
	assert_non_null(xdr_reserve(&x, 5));
	assert_int_equal(x.len, 8);
	assert_null(xdr_reserve(&x, 1));
	xdr_put_u32(&x, 1);
	assert_false(xdr_out_ok(&x));
	assert_int_equal(x.len, 8);
	xdr_out_init(&x, buf, 7);
	assert_null(xdr_reserve(&x, 5)); /* the round-up does not fit */
}

static void short_input_is_bad(void **state)
{
	uint8_t buf[8] = {0, 0, 0, 5, 1, 2, 3, 4};
	uint8_t dst[4] = {9, 9, 9, 9};
	struct xdr_in x;
	uint32_t n;

	xdr_in_init(&x, buf, 8);
	assert_null(xdr_get_opaque(&x, 100, &n));
	assert_int_equal(n, 0);
	assert_int_equal(xdr_get_u32(&x), 0);
	xdr_get_fixed(&x, dst, 4);
	assert_int_equal(dst[0], 0);
	assert_int_equal(xdr_in_left(&x), 0);
	assert_false(xdr_in_ok(&x));
	xdr_in_init(&x, buf, 8);
	assert_null(xdr_get_opaque(&x, 4, &n)); /* over the maximum */
	xdr_in_init(&x, buf, 3);
	assert_int_equal(xdr_get_u32(&x), 0);
	assert_false(xdr_in_ok(&x));
	xdr_in_init(&x, buf, 8);
	assert_null(xdr_consume(&x, SIZE_MAX));
	xdr_in_init(&x, "\0\0\0\2", 4);
	xdr_get_bool(&x);
	assert_false(xdr_in_ok(&x));
}

static void counts_are_capped(void **state)
{
	uint8_t buf[12] = {0, 0, 0, 2};
	struct xdr_in x;

	xdr_in_init(&x, buf, 12);
	assert_int_equal(xdr_get_count(&x, 2, 4), 2);
	xdr_in_init(&x, buf, 12);
	assert_int_equal(xdr_get_count(&x, 1, 4), 0);
	assert_false(xdr_in_ok(&x));
	xdr_in_init(&x, buf, 11);
	assert_int_equal(xdr_get_count(&x, 100, 4), 0);
	assert_false(xdr_in_ok(&x));
	memset(buf, 0xff, 4);
	xdr_in_init(&x, buf, 12);
	assert_int_equal(xdr_get_count(&x, UINT32_MAX, 4), 0);
	assert_false(xdr_in_ok(&x));
}

static void payload_stays_outside(void **state)
{
	struct mem_sge data = {.addr = (void *)"payload", .len = 7};
	struct mem_sge none = {.addr = NULL, .len = 0};
	uint8_t buf[32];
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	xdr_put_u32(&x, 1);
	xdr_put_payload(&x, &data);
	xdr_put_u32(&x, 2);
	xdr_put_payload(&x, &none);
	assert_int_equal(x.len, 16);
	assert_int_equal(x.npayloads, 1);
	assert_int_equal(x.payload[0].pos, 8);
	assert_int_equal(xdr_out_total(&x), 24);
	for (int i = 0; i < 4; i++) {
		assert_true(xdr_out_ok(&x));
		xdr_put_payload(&x, &data);
	}
	assert_false(xdr_out_ok(&x));
}

/* word 7, payload of 5 somewhere else, word 9 */
static const uint8_t placed_stream[] = {0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0, 9};

static void check_placed(uint32_t pos, uint32_t len, bool good)
{
	struct mem_sge data = {.addr = (void *)"abcde\0\0", .len = len};
	struct xdr_in x;
	const uint8_t *p;
	uint32_t n;
	bool placed;

	xdr_in_init(&x, placed_stream, sizeof(placed_stream));
	x.payload[x.npayloads++] =
		(struct xdr_payload){.pos = pos, .data = seg_list_of(data, NULL)};
	assert_int_equal(xdr_get_u32(&x), 7);
	p = xdr_get_payload(&x, 5, &n, &placed);
	if (good) {
		assert_ptr_equal(p, data.addr);
		assert_int_equal(n, 5);
		assert_true(placed);
		assert_int_equal(xdr_get_u32(&x), 9);
	}
	assert_int_equal(xdr_in_done(&x), good);
}

static void placed_payload_is_found(void **state)
{
	check_placed(8, 5, true);
	check_placed(8, 8, true); /* with the round-up */
	check_placed(XDR_POS_NEXT, 5, true);
	check_placed(8, 6, false);
	check_placed(XDR_POS_NEXT, 4, false);
	check_placed(12, 5, false); /* never taken, and the stream is short */
}

static void an_empty_payload_takes_nothing(void **state)
{
	static const uint8_t s[] = {0, 0, 0, 0, 0, 0, 0, 2};
	struct mem_sge data = {.addr = (void *)"xy", .len = 2}, unused = {.len = 0};
	struct xdr_in x;
	uint32_t n;
	bool placed;

	xdr_in_init(&x, s, sizeof(s));
	x.payload[x.npayloads++] =
		(struct xdr_payload){.pos = XDR_POS_NEXT, .data = seg_list_of(unused, NULL)};
	x.payload[x.npayloads++] =
		(struct xdr_payload){.pos = XDR_POS_NEXT, .data = seg_list_of(data, NULL)};
	assert_non_null(xdr_get_payload(&x, 9, &n, &placed));
	assert_int_equal(n, 0);
	assert_false(placed);
	assert_ptr_equal(xdr_get_payload(&x, 9, &n, &placed), data.addr);
	assert_int_equal(n, 2);
	assert_true(placed);
	assert_true(xdr_in_done(&x));
}

static void a_payload_in_pieces(void **state)
{
	char a[] = "abc", b[] = "de";
	struct seg s[] = {{.at = {.addr = a, .len = 3}}, {.at = {.addr = b, .len = 2}}};
	struct seg_list l, got;
	uint8_t buf[64];
	struct xdr_out o;
	struct xdr_in x;
	uint32_t n;
	bool placed;
	char all[6] = "";

	assert_int_equal(seg_list_init(&l, s, 2), 0);
	xdr_out_init(&o, buf, sizeof(buf));
	xdr_put_u32(&o, 7);
	xdr_put_payload_list(&o, &l);
	xdr_put_u32(&o, 9);
	assert_int_equal(o.len, sizeof(placed_stream));
	assert_memory_equal(buf, placed_stream, o.len);
	assert_int_equal(xdr_out_total(&o), o.len + 8);
	for (int whole = 0; whole < 2; whole++) {
		xdr_in_init(&x, placed_stream, sizeof(placed_stream));
		x.payload[x.npayloads++] = (struct xdr_payload){.pos = 8, .data = l};
		xdr_get_u32(&x);
		if (whole) { /* there is no single place to point to */
			assert_null(xdr_get_payload(&x, 5, &n, &placed));
			assert_false(xdr_in_ok(&x));
			continue;
		}
		assert_true(xdr_get_payload_list(&x, 5, &got, &placed));
		assert_true(placed && got.len == 5 && got.n == 2);
		seg_list_gather(&got, all);
		assert_string_equal(all, "abcde");
		assert_int_equal(xdr_get_u32(&x), 9);
		assert_true(xdr_in_done(&x));
	}
	xdr_in_init(&x, "\0\0\0\2xy\0", 8);
	assert_true(xdr_get_payload_list(&x, 2, &got, &placed));
	assert_true(!placed && got.len == 2 && !memcmp(got.one.at.addr, "xy", 2));
	xdr_in_init(&x, "\0\0\0\2xy\0", 8);
	assert_false(xdr_get_payload_list(&x, 1, &got, &placed));
	assert_int_equal(got.len, 0);
}

/* Each payload names its operation; where items are noted, an operation without data has an item,
 * too. */
static void items_are_noted(void **state)
{
	struct mem_sge data = {.addr = (void *)"payload", .len = 7};
	struct mem_sge none = {.addr = NULL, .len = 0};
	uint8_t buf[128];
	struct xdr_out x;

	xdr_out_init(&x, buf, sizeof(buf));
	x.notes_items = true;
	x.from = 40;
	xdr_put_payload(&x, &none);
	x.from = 60;
	xdr_put_payload(&x, &data);
	x.from = XDR_FROM_NONE;
	xdr_put_payload(&x, &none);
	assert_int_equal(x.npayloads, 2);
	xdr_put_payload(&x, &data);
	x.from = 80;
	xdr_put_opaque(&x, "inline", 6);
	xdr_note_item(&x);
	assert_int_equal(x.npayloads, 4);
	assert_int_equal(x.payload[0].from, 40);
	assert_int_equal(x.payload[0].data.len, 0);
	assert_int_equal(x.payload[1].from, 60);
	assert_int_equal(x.payload[2].from, XDR_FROM_NONE);
	assert_int_equal(x.payload[3].from, 80);
	assert_int_equal(x.payload[3].pos, x.len);
	assert_int_equal(xdr_out_total(&x), x.len + 16);
	xdr_put_payload(&x, &none); /* there is no room, and no need */
	assert_true(xdr_out_ok(&x));
	assert_int_equal(x.npayloads, 4);
}

/* Displacements count the payloads that were taken before. */
static void a_cursor_knows_its_displacement(void **state)
{
	const struct mem_sge data = {.addr = (void *)"abcde", .len = 5};
	struct xdr_in x;
	uint32_t n;

	xdr_in_init(&x, placed_stream, sizeof(placed_stream));
	x.payload[x.npayloads++] = (struct xdr_payload){.pos = 8, .data = seg_list_of(data, NULL)};
	assert_int_equal(xdr_in_disp(&x), 0);
	xdr_get_u32(&x);
	assert_int_equal(xdr_in_disp(&x), 4);
	assert_non_null(xdr_get_payload(&x, 5, &n, NULL));
	assert_int_equal(xdr_in_disp(&x), 16);
	xdr_get_u32(&x);
	assert_int_equal(xdr_in_disp(&x), 20);
}

static void payload_in_the_stream(void **state)
{
	static const uint8_t s[] = {0, 0, 0, 3, 'a', 'b', 'c', 0, 0, 0, 0, 1};
	struct xdr_in x;
	uint32_t n;
	bool placed = true;

	xdr_in_init(&x, s, sizeof(s));
	assert_ptr_equal(xdr_get_payload(&x, 3, &n, &placed), s + 4);
	assert_int_equal(n, 3);
	assert_false(placed);
	assert_int_equal(xdr_get_u32(&x), 1);
	assert_true(xdr_in_done(&x));
	xdr_in_init(&x, s, sizeof(s));
	assert_null(xdr_get_payload(&x, 2, &n, NULL));
	assert_int_equal(xdr_in_fail(&x), -EBADMSG);
}

static void a_payload_never_taken_is_noticed(void **state)
{
	struct xdr_in x;

	xdr_in_init(&x, "", 0);
	x.payload[x.npayloads++] = (struct xdr_payload){.pos = XDR_POS_NEXT, .data = {.len = 1}};
	assert_true(xdr_in_ok(&x));
	assert_false(xdr_in_done(&x));
}

/* RDMA_MSGP of RPC-over-RDMA as of 2005: an opaque that is long enough begins at a multiple of 16,
 * counted from 8 bytes before. */
static void padding_is_passed_over(void **state)
{
	static const uint8_t in[] = {0, 0, 0, 4, 'a', 'b', 'c', 'd', /* below the threshold */
		0, 0, 0, 5, 'p', 'p', 'p', 'p', 'p', 'p', 'p', 'p', 'p', 'p', 'p', 'p', /* to 24 */
		1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 8, 'p', 'p', 'p', 'p',			/* to 40 */
		1, 2, 3, 4, 5, 6, 7, 8};
	const struct xdr_padding by_16 = {16, 5, 8}, too_far = {64, 5, 4},
				 huge = {UINT32_MAX - 3, 0, 4};
	struct xdr_in x;
	bool placed;
	uint32_t n;

	xdr_in_init(&x, in, sizeof(in));
	x.padding = by_16;
	assert_memory_equal(xdr_get_opaque(&x, 10, &n), in + 4, 4);
	assert_ptr_equal(xdr_get_payload(&x, 10, &n, &placed), in + 24);
	assert_int_equal(n, 5);
	assert_false(placed);
	assert_ptr_equal(xdr_get_opaque(&x, 10, &n), in + 40);
	assert_int_equal(n, 8);
	assert_true(xdr_in_done(&x));

	xdr_in_init(&x, in, sizeof(in));
	x.padding = too_far;
	xdr_get_opaque(&x, 10, &n);
	assert_null(xdr_get_opaque(&x, 10, &n));
	assert_int_equal(n, 0);
	assert_false(xdr_in_ok(&x));

	xdr_in_init(&x, in, sizeof(in));
	x.padding = huge;
	assert_null(xdr_get_opaque(&x, 10, &n));
	assert_false(xdr_in_ok(&x));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_bytes),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(overflow_sticks),
		cmocka_unit_test(short_input_is_bad),
		cmocka_unit_test(counts_are_capped),
		cmocka_unit_test(payload_stays_outside),
		cmocka_unit_test(placed_payload_is_found),
		cmocka_unit_test(an_empty_payload_takes_nothing),
		cmocka_unit_test(a_payload_in_pieces),
		cmocka_unit_test(items_are_noted),
		cmocka_unit_test(a_cursor_knows_its_displacement),
		cmocka_unit_test(payload_in_the_stream),
		cmocka_unit_test(a_payload_never_taken_is_noticed),
		cmocka_unit_test(padding_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
