/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/data.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fs/kernel/data.h"

static struct fs fs;

static int setup(void **state)
{
	fs.pool = mem_pool_new(16 << 20);
	fs.data_limit = 4 << 20;
	return 0;
}

static int teardown(void **state)
{
	fs.pool = mem_pool_free(fs.pool);
	return 0;
}

static void data_memory_is_bounded(void **state)
{
	struct mem_buf *b[8];
	unsigned n = 0;

	while (n < 8 && (b[n] = data_get(&fs, MEM_MAX_SIZE)))
		n++;
	assert_int_equal(n, 3);
	assert_true(fs.data_used <= fs.data_limit);
	while (n)
		data_put(&fs, b[--n]);
	assert_int_equal(fs.data_used, 0);
}

/* Blocks that are not used leave memory for a request. */
static void idle_blocks_leave_memory(void **state)
{
	struct mem_buf *b[8], *request;
	unsigned n = 0;

	while (n < 8 && (b[n] = data_get_idle(&fs, MEM_MAX_SIZE)))
		n++;
	assert_int_equal(n, 2);
	request = data_get(&fs, MEM_MAX_SIZE);
	assert_non_null(request);
	data_put(&fs, request);
	while (n)
		data_put(&fs, b[--n]);
	assert_int_equal(fs.data_used, 0);
}

static void a_list_is_one_block_where_there_is_one(void **state)
{
	struct seg_list l;

	assert_true(data_get_list(&fs, 1 << 20, &l));
	assert_int_equal(l.n, 1);
	assert_int_equal(l.len, 1 << 20);
	assert_int_equal(fs.data_used, 1 << 20);
	data_put_list(&fs, &l);
	assert_int_equal(fs.data_used, 0);
}

/* Takes blocks of size bytes until the pool has no more, at most max. */
static unsigned take_all(struct mem_buf **b, unsigned max, size_t size)
{
	unsigned n = 0;

	while (n < max && (b[n] = mem_buf_get(fs.pool, size)))
		n++;
	return n;
}

/* The pool has no room for a large block, but has free blocks that are smaller. */
static void a_list_is_several_blocks_where_there_is_no_large_one(void **state)
{
	struct mem_buf *small[32], *large[16];
	unsigned n, m;
	struct seg_list l;
	const struct seg *last;

	fs.data_limit = 16 << 20;
	n = take_all(small, 32, DATA_PIECE_MIN);
	m = take_all(large, 16, 1 << 20);
	assert_int_equal(n, 32);
	/* one block of each slab stays in use: no slab can go to the larger class */
	for (unsigned i = 0; i < n; i++)
		if (i % 3 == 0)
			mem_buf_unref(small[i]);
	assert_true(data_get_list(&fs, 1000000, &l));
	assert_true(l.n > 1);
	assert_int_equal(l.len, 1000000);
	last = &l.seg[l.n - 1];
	assert_in_range(last->at.len, 1, last->hold->size);
	memset(last->at.addr, 1, last->at.len);
	assert_true(fs.data_used >= l.n * DATA_PIECE_MIN);
	/* there is no memory for a second list, and the blocks found for the list are not kept */
	assert_false(data_get_list(&fs, 1000000, &(struct seg_list){0}));
	assert_int_equal(fs.data_used, l.n * DATA_PIECE_MIN);
	data_put_list(&fs, &l);
	assert_int_equal(fs.data_used, 0);
	for (unsigned i = 0; i < n; i++)
		if (i % 3)
			mem_buf_unref(small[i]);
	while (m)
		mem_buf_unref(large[--m]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(data_memory_is_bounded, setup, teardown),
		cmocka_unit_test_setup_teardown(idle_blocks_leave_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_list_is_one_block_where_there_is_one, setup, teardown),
		cmocka_unit_test_setup_teardown(
			a_list_is_several_blocks_where_there_is_no_large_one, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
