/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/fields.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "transport/rpc/fields.h"

struct all {
	uint64_t large;
	bool yes, no;
	uint16_t small;
	int32_t negative;
	uint8_t bytes[8];
	char left_out;
};

static const struct field list[] = {
	FIELD(struct all, large),
	FIELD(struct all, yes),
	FIELD(struct all, no),
	FIELD(struct all, small),
	FIELD(struct all, negative),
	FIELD(struct all, bytes),
};

static const struct all sample = {
	.large = UINT64_MAX - 1,
	.yes = true,
	.small = 65535,
	.negative = -7,
	.bytes = {0, 0, 0, 0, 0, 0, 0, 9},
	.left_out = 'x',
};

static void members_go_through(void **state)
{
	struct all got = {.large = 3, .no = true, .left_out = 'y'};
	uint8_t buf[200];
	struct xdr_out o;
	struct xdr_in i;

	xdr_out_init(&o, buf, sizeof(buf));
	fields_put(&o, &sample, FIELDS(list));
	assert_true(xdr_out_ok(&o));
	assert_int_equal(o.len, 8 + 5 * 8); /* the mask, and all but `no` */
	xdr_in_init(&i, buf, o.len);
	fields_get(&i, &got, FIELDS(list));
	assert_true(xdr_in_done(&i));
	assert_true(got.large == sample.large);
	assert_true(got.yes && !got.no);
	assert_int_equal(got.small, sample.small);
	assert_int_equal(got.negative, sample.negative);
	assert_memory_equal(got.bytes, sample.bytes, sizeof(got.bytes));
	assert_int_equal(got.left_out, 'y');
}

/* A stream with the members of `mask`, each with this value. False: it was refused. */
static bool takes(uint64_t mask, uint64_t value)
{
	struct all got = {0};
	uint8_t buf[200];
	struct xdr_out o;
	struct xdr_in i;

	xdr_out_init(&o, buf, sizeof(buf));
	xdr_put_u64(&o, mask);
	for (uint64_t left = mask; left; left &= left - 1)
		xdr_put_u64(&o, value);
	xdr_in_init(&i, buf, o.len);
	fields_get(&i, &got, FIELDS(list));
	return xdr_in_done(&i);
}

static void numbers_must_fit(void **state)
{
	assert_true(takes(1 << 0, UINT64_MAX));
	assert_true(takes(1 << 1, 1));
	assert_false(takes(1 << 1, 2));
	assert_true(takes(1 << 3, UINT16_MAX));
	assert_false(takes(1 << 3, UINT16_MAX + 1));
	assert_true(takes(1 << 4, UINT32_MAX));
	assert_false(takes(1 << 4, UINT64_C(1) << 32));
	assert_false(takes(1 << 6, 1)); /* no such member */
	assert_false(takes(UINT64_C(1) << 63, 1));
}

static void a_short_stream_is_refused(void **state)
{
	struct all got;
	uint8_t buf[200];
	struct xdr_out o;
	struct xdr_in i;

	xdr_out_init(&o, buf, sizeof(buf));
	fields_put(&o, &sample, FIELDS(list));
	for (size_t len = 0; len < o.len; len += 4) {
		xdr_in_init(&i, buf, len);
		fields_get(&i, &got, FIELDS(list));
		assert_false(xdr_in_ok(&i));
	}
	xdr_out_init(&o, buf, 20);
	fields_put(&o, &sample, FIELDS(list));
	assert_false(xdr_out_ok(&o));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members_go_through),
		cmocka_unit_test(numbers_must_fit),
		cmocka_unit_test(a_short_stream_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
