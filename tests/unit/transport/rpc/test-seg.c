/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/seg.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "transport/rpc/seg.h"

static struct seg piece(void *addr, uint32_t len)
{
	return (struct seg){.at = {.addr = addr, .len = len}};
}

static struct seg_list list_of(const struct seg *seg, unsigned n)
{
	struct seg_list l;

	assert_int_equal(seg_list_init(&l, seg, n), 0);
	return l;
}

static void expect(const struct seg_list *l, const char *want)
{
	char got[64] = "";

	assert_int_equal(l->len, strlen(want));
	seg_list_gather(l, got);
	assert_string_equal(got, want);
}

static void one_piece(void **state)
{
	char a[] = "hello";
	struct seg s = piece(a, 5);
	struct seg_list l = list_of(&s, 1), cut, copy;
	struct seg_iter it;
	struct mem_sge at;

	s = piece(NULL, 0); /* the list holds the segment itself */
	copy = l;
	expect(&copy, "hello");
	cut = seg_list_cut(&copy, 1, 3);
	expect(&cut, "ell");
	assert_ptr_equal(cut.one.at.addr, a + 1);
	it = seg_iter_of(&cut);
	assert_true(seg_next(&it, 2, &at, NULL));
	assert_int_equal(at.len, 2);
	assert_true(seg_next(&it, UINT32_MAX, &at, NULL));
	assert_int_equal(at.len, 1);
	assert_false(seg_next(&it, UINT32_MAX, &at, NULL));
	l = list_of(&s, 1);
	assert_int_equal(l.n, 0);
	expect(&l, "");
	l = seg_list_of((struct mem_sge){0}, NULL);
	expect(&l, "");
}

/* Every part of a list, cut twice. */
static void cut_anywhere(void **state)
{
	char a[] = "abc", b[] = "d", c[] = "efghij", d[] = "kl";
	const char all[] = "abcdefghijkl";
	struct seg s[] = {piece(a, 0), piece(a, 3), piece(b, 1), piece(NULL, 0), piece(c, 6),
		piece(d, 2), piece(d, 0)};
	struct seg_list l = list_of(s, 7);

	expect(&l, all);
	for (uint32_t off = 0; off <= 13; off++)
		for (uint32_t len = 0; len <= 13; len++) {
			struct seg_list x = seg_list_cut(&l, off, len), y;
			char want[16];

			snprintf(want, sizeof(want), "%.*s", (int)len, off < 12 ? all + off : "");
			expect(&x, want);
			y = seg_list_cut(&x, 1, len);
			expect(&y, want[0] ? want + 1 : "");
		}
}

static void too_much_is_refused(void **state)
{
	struct seg *s = calloc(SEG_LIST_MAX + 1, sizeof(*s));
	struct seg_list l;
	char c;

	for (unsigned i = 0; i <= SEG_LIST_MAX; i++)
		s[i] = piece(&c, 1);
	assert_int_equal(seg_list_init(&l, s, SEG_LIST_MAX), 0);
	assert_int_equal(l.len, SEG_LIST_MAX);
	assert_int_equal(seg_list_init(&l, s, SEG_LIST_MAX + 1), -E2BIG);
	s[0].at.len = MEM_MAX_SIZE;
	assert_int_equal(seg_list_init(&l, s, 1), 0);
	assert_int_equal(seg_list_init(&l, s, 2), -E2BIG);
	s[0].at.len = s[1].at.len = UINT32_MAX;
	assert_int_equal(seg_list_init(&l, s, 2), -E2BIG);
	free(s);
}

static void nothing_in_it(void **state)
{
	char c[3] = "";
	struct seg s[] = {piece(c, 0), piece(c + 1, 0)}, one = piece(c + 2, 1);
	struct seg_list l = list_of(s, 2), other = list_of(&one, 1);
	struct seg_iter it = seg_iter_of(&l);
	struct mem_sge at;

	assert_int_equal(l.len, 0);
	assert_false(seg_next(&it, UINT32_MAX, &at, NULL));
	assert_false(seg_next_joined(&it, UINT32_MAX, &at));
	assert_false(seg_list_same(&l, &l));
	assert_false(seg_list_same(&other, &l));
	assert_int_equal(seg_list_count_joined(&l, UINT32_MAX), 0);
}

static void neighbours_join(void **state)
{
	char a[16];
	struct mem_slab other = {0};
	struct seg s[] = {piece(a, 4), piece(a + 4, 0), piece(a + 4, 2), piece(a + 8, 2),
		piece(a + 10, 1), piece(a + 11, 1)};
	struct seg_list l, cut;
	struct seg_iter it;
	struct mem_sge at;

	s[5].at.slab = &other;
	l = list_of(s, 6);
	assert_int_equal(seg_list_count_joined(&l, UINT32_MAX), 3);
	it = seg_iter_of(&l);
	assert_true(seg_next_joined(&it, UINT32_MAX, &at));
	assert_ptr_equal(at.addr, a);
	assert_int_equal(at.len, 6);
	assert_true(seg_next_joined(&it, UINT32_MAX, &at));
	assert_int_equal(at.len, 3);
	assert_true(seg_next_joined(&it, UINT32_MAX, &at));
	assert_ptr_equal(at.slab, &other);
	assert_false(seg_next_joined(&it, UINT32_MAX, &at));
	cut = seg_list_cut(&l, 1, 4);
	it = seg_iter_of(&cut);
	assert_true(seg_next_joined(&it, UINT32_MAX, &at));
	assert_ptr_equal(at.addr, a + 1);
	assert_int_equal(at.len, 4);
	assert_false(seg_next_joined(&it, UINT32_MAX, &at));
}

/* As a receiver fills a list: some bytes, then the rest. */
static void filled_bit_by_bit(void **state)
{
	char a[4] = "", b[8] = "", all[] = "0123456789";
	struct seg s[] = {piece(a, 3), piece(b, 7)};
	struct seg_list l = list_of(s, 2), same = seg_list_cut(&l, 0, 5);
	struct iovec iov[3];

	for (uint32_t step = 1; step <= 10; step++) {
		struct seg_iter it = seg_iter_of(&l);
		size_t left = 0;

		memset(a, 0, sizeof(a));
		memset(b, 0, sizeof(b));
		seg_iter_put(&it, all, step);
		for (unsigned i = seg_iter_iov(it, iov, 3); i; i--)
			left += iov[i - 1].iov_len;
		assert_int_equal(left, 10 - step);
		if (left)
			assert_ptr_equal(iov[0].iov_base, step < 3 ? a + step : b + (step - 3));
		seg_iter_put(&it, all + step, 10 - step);
		expect(&l, all);
	}
	assert_int_equal(seg_iter_iov(seg_iter_of(&l), iov, 1), 1);
	assert_true(seg_list_same(&l, &same));
	same = seg_list_cut(&l, 1, 5);
	assert_false(seg_list_same(&l, &same));
}

static void copied_across_different_cuts(void **state)
{
	char a[] = "012", b[] = "3456789", c[12] = "", d[12] = "";
	struct seg from[] = {piece(a, 3), piece(b, 7)}, to[] = {piece(c, 6), piece(d, 5)};
	struct seg_list src = list_of(from, 2), dst = list_of(to, 2), head;
	struct seg_iter it = seg_iter_of(&dst);

	seg_list_copy(&dst, &src);
	assert_string_equal(c, "012345");
	assert_string_equal(d, "6789");
	seg_iter_skip(&it, 4);
	seg_iter_zero(&it, 4);
	assert_memory_equal(c, "0123\0\0", 6);
	assert_memory_equal(d,
		"\0\0"
		"89",
		4);
	head = seg_list_cut(&dst, 0, 2);
	seg_list_copy(&dst, &head); /* onto itself */
	assert_memory_equal(c, "0123", 4);
}

static void blocks_are_referenced(void **state)
{
	struct mem_pool *pool = mem_pool_new(0);
	struct mem_buf *a = mem_buf_get(pool, 100), *b = mem_buf_get(pool, 100), *hold[4];
	struct seg s[] = {{mem_buf_sge(a, 0, 10), a}, {mem_buf_sge(a, 20, 10), a},
		{mem_buf_sge(b, 0, 10), b}, {mem_buf_sge(a, 30, 10), a}};
	struct seg_list l = list_of(s, 4), one = seg_list_of_buf(b, 4, 8);
	struct mem_stats st;

	assert_int_equal(seg_list_holds(&l, hold), 3);
	assert_ptr_equal(hold[1], b);
	assert_int_equal(seg_list_holds(&one, hold), 1);
	seg_list_ref(&l);
	seg_list_ref(&one);
	mem_buf_unref(a);
	mem_buf_unref(b);
	mem_pool_stats(pool, &st);
	assert_true(st.used_bytes >= 200);
	seg_list_unref(&l);
	seg_list_unref(&one);
	mem_pool_stats(pool, &st);
	assert_int_equal(st.used_bytes, 0);
	mem_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_piece),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(too_much_is_refused),
		cmocka_unit_test(nothing_in_it),
		cmocka_unit_test(neighbours_join),
		cmocka_unit_test(filled_bit_by_bit),
		cmocka_unit_test(copied_across_different_cuts),
		cmocka_unit_test(blocks_are_referenced),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
