/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/handle: the contents of a handle, and that the server takes
 * only
 * its own handles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "contrib/serve/export/handle.h"

static const uint8_t key[HANDLE_KEY] = "a test's secret";

static struct handle_id id_of(uint8_t kh_len)
{
	struct handle_id id = {
		.dev = 0x0102030405060708, .ino = 4711, .birth = 42, .kh_type = 0x81};

	id.kh_len = kh_len;
	for (unsigned i = 0; i < kh_len; i++)
		id.kh[i] = (uint8_t)(i + 1);
	return id;
}

static struct handle_trail trail_of(unsigned n)
{
	struct handle_trail t = {0};

	for (unsigned i = 0; i < n; i++)
		handle_trail_add(&t, 1000 + i);
	return t;
}

static void what_was_sealed_is_read_back(void **state)
{
	for (uint8_t kh = 0; kh <= HANDLE_KH_MAX; kh++) {
		for (unsigned n = 0; n <= HANDLE_TRAIL; n++) {
			struct handle_id id = id_of(kh), got;
			struct handle_trail t = trail_of(n), steps;
			uint8_t buf[HANDLE_MAX];
			uint32_t len = handle_seal(buf, &id, &t, key);

			assert_in_range(len, 1, HANDLE_MAX);
			assert_int_equal(len % 4, 0);
			assert_int_equal(handle_open(&got, &steps, buf, len, key), 0);
			assert_true(handle_id_equal(&id, &got));
			assert_int_equal(got.birth, id.birth);
			/* a short kernel handle leaves room for the whole trail */
			if (kh <= HANDLE_KH_FIT)
				assert_int_equal(steps.n, n);
			assert_true(steps.n <= n);
			assert_memory_equal(steps.step, t.step, steps.n * sizeof(t.step[0]));
		}
	}
}

static void any_bit_that_was_changed_is_seen(void **state)
{
	struct handle_id id = id_of(8), got;
	struct handle_trail t = trail_of(3), steps;
	uint8_t buf[HANDLE_MAX], bad[HANDLE_MAX];
	uint32_t len = handle_seal(buf, &id, &t, key);

	for (uint32_t bit = 0; bit < 8 * len; bit++) {
		memcpy(bad, buf, len);
		bad[bit / 8] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(handle_open(&got, &steps, bad, len, key), -EBADMSG);
	}
	assert_int_equal(handle_open(&got, &steps, buf, len, key), 0);
}

static void any_other_length_is_refused(void **state)
{
	struct handle_id id = id_of(8), got;
	struct handle_trail t = trail_of(3), steps;
	uint8_t buf[HANDLE_MAX + 4] = {0};
	uint32_t len = handle_seal(buf, &id, &t, key);

	for (uint32_t n = 0; n <= sizeof(buf); n++)
		assert_int_equal(handle_open(&got, &steps, buf, n, key), n == len ? 0 : -EBADMSG);
}

/* Counts above the maximum are refused also under a good seal. */
static void counts_are_checked_under_a_good_seal(void **state)
{
	struct handle_id id = id_of(HANDLE_KH_FIT), got;
	struct handle_trail t = trail_of(HANDLE_TRAIL), steps;
	uint8_t buf[HANDLE_MAX];
	uint32_t len = handle_seal(buf, &id, &t, key), good = 0;

	for (unsigned v = 0; v < 65536; v++) {
		uint64_t sum;

		buf[6] = (uint8_t)v; /* bytes of the kernel handle */
		buf[7] = (uint8_t)(v >> 8);
		sum = handle_siphash(key, buf, len - 8);
		for (unsigned i = 0; i < 8; i++)
			buf[len - 8 + i] = (uint8_t)(sum >> 8 * i);
		if (handle_open(&got, &steps, buf, len, key) < 0)
			continue;
		good++;
		assert_true(got.kh_len <= HANDLE_KH_MAX && steps.n <= HANDLE_TRAIL);
	}
	assert_true(good > 0);
}

static void another_key_is_another_server(void **state)
{
	static const uint8_t other[HANDLE_KEY] = "A test's secret";
	struct handle_id id = id_of(0), got;
	struct handle_trail steps;
	uint8_t buf[HANDLE_MAX];
	uint32_t len = handle_seal(buf, &id, NULL, key);

	assert_int_equal(handle_open(&got, &steps, buf, len, other), -EBADMSG);
}

static void the_same_number_is_not_the_same_object(void **state)
{
	struct handle_id a = id_of(8), b = a;

	assert_true(handle_id_equal(&a, &b));
	b.birth++; /* the kernel's handle decides */
	assert_true(handle_id_equal(&a, &b));
	b.kh[7]++;
	assert_false(handle_id_equal(&a, &b));
	b = a;
	b.kh_len = 0; /* present in one of the two only */
	assert_false(handle_id_equal(&a, &b));
	a.kh_len = 0;
	assert_true(handle_id_equal(&a, &b));
	b.birth++;
	assert_false(handle_id_equal(&a, &b));
	b = a;
	b.dev++;
	assert_false(handle_id_equal(&a, &b));
	assert_true(handle_id_lasts(&a));
	a.birth = 0;
	assert_false(handle_id_lasts(&a));
}

static void a_trail_takes_no_more_than_it_holds(void **state)
{
	struct handle_trail t = trail_of(HANDLE_TRAIL), full = t;

	handle_trail_add(&t, 4711);
	assert_memory_equal(&t, &full, sizeof(t));
}

/* The reference values of the function's authors: key 00..0f, message 00..(n-1). */
static void the_checksum_is_siphash(void **state)
{
	static const uint64_t want[] = {0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a,
		0x85676696d7fb7e2d, 0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce,
		0xab0200f58b01d137, 0x93f5f5799a932462};
	uint8_t k[16], msg[16];

	for (uint8_t i = 0; i < 16; i++)
		k[i] = msg[i] = i;
	for (size_t n = 0; n < sizeof(want) / sizeof(want[0]); n++)
		assert_true(handle_siphash(k, msg, n) == want[n]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_sealed_is_read_back),
		cmocka_unit_test(any_bit_that_was_changed_is_seen),
		cmocka_unit_test(any_other_length_is_refused),
		cmocka_unit_test(counts_are_checked_under_a_good_seal),
		cmocka_unit_test(another_key_is_another_server),
		cmocka_unit_test(the_same_number_is_not_the_same_object),
		cmocka_unit_test(a_trail_takes_no_more_than_it_holds),
		cmocka_unit_test(the_checksum_is_siphash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
