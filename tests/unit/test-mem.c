/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/mem.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "transport/mem.h"

#define MIB (1024u * 1024)

static void every_size_is_served(void **state)
{
	static const size_t sizes[] = {
		1, 4096, 4097, 65536, 65537, 131072 + 300, MIB, MIB + 1, MEM_MAX_SIZE};
	struct mem_pool *pool = mem_pool_new(0);
	struct mem_stats st;

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct mem_buf *b = mem_buf_get(pool, sizes[i]);

		assert_non_null(b);
		assert_true(b->size >= sizes[i]);
		assert_int_equal((uintptr_t)b->data % 4096, 0);
		assert_true(b->data >= (uint8_t *)b->slab->base);
		assert_true(b->data + b->size <= (uint8_t *)b->slab->base + b->slab->len);
		memset(b->data, 0x5a, b->size);
		mem_buf_unref(b);
	}
	assert_null(mem_buf_get(pool, (size_t)MEM_MAX_SIZE + 1));
	mem_pool_stats(pool, &st);
	assert_int_equal(st.failures, 1);
	assert_int_equal(st.used_bytes, 0);
	assert_null(mem_pool_free(pool));
	assert_null(mem_pool_free(NULL));
}

static void blocks_do_not_overlap(void **state)
{
	struct mem_pool *pool = mem_pool_new(0);
	struct mem_buf *b[600];
	struct mem_stats st;

	for (int i = 0; i < 600; i++) {
		b[i] = mem_buf_get(pool, 4096);
		memset(b[i]->data, i, 4096);
	}
	for (int i = 0; i < 600; i++) {
		assert_int_equal(b[i]->data[0], i & 0xff);
		assert_int_equal(b[i]->data[4095], i & 0xff);
	}
	mem_pool_stats(pool, &st);
	assert_int_equal(st.used_bytes, 600 * 4096);
	assert_true(st.slab_bytes >= st.used_bytes);
	for (int i = 0; i < 600; i++)
		assert_null(mem_buf_unref(b[i]));
	mem_pool_free(pool);
}

static void the_last_reference_frees(void **state)
{
	struct mem_pool *pool = mem_pool_new(0);
	struct mem_buf *b = mem_buf_get(pool, 100), *again;
	struct mem_stats st;

	assert_ptr_equal(mem_buf_ref(b), b);
	mem_buf_unref(b);
	mem_pool_stats(pool, &st);
	assert_int_equal(st.used_bytes, 4096);
	mem_buf_unref(b);
	assert_null(mem_buf_unref(NULL));
	mem_pool_stats(pool, &st);
	assert_int_equal(st.used_bytes, 0);
	again = mem_buf_get(pool, 100);
	assert_ptr_equal(again, b);
	mem_buf_unref(again);
	mem_pool_free(pool);
}

/* What one may keep shrinks with what is free, to a least. */
static void shares_follow_the_room(void **state)
{
	struct mem_pool *pool = mem_pool_new(16 * MIB), *endless = mem_pool_new(0);
	struct mem_buf *b[14];

	assert_int_equal(mem_pool_room(endless), SIZE_MAX);
	assert_int_equal(mem_pool_share(endless, 77), 77);
	assert_false(mem_pool_is_short(endless));
	assert_int_equal(mem_pool_room(pool), 16 * MIB);
	assert_int_equal(mem_pool_share(pool, 64 * MIB), MIB);
	assert_int_equal(mem_pool_share(pool, 1000), 1000);
	for (int i = 0; i < 14; i++) {
		b[i] = mem_buf_get(pool, MIB);
		assert_non_null(b[i]);
		assert_int_equal(mem_pool_is_short(pool), i >= 12);
	}
	assert_int_equal(mem_pool_room(pool), 2 * MIB);
	assert_int_equal(mem_pool_share(pool, 64 * MIB), MEM_SHARE_MIN);
	for (int i = 0; i < 14; i++)
		mem_buf_unref(b[i]);
	assert_int_equal(mem_pool_room(pool), 16 * MIB);
	mem_pool_free(pool);
	mem_pool_free(endless);
}

static void the_limit_holds(void **state)
{
	struct mem_pool *pool = mem_pool_new(2 * MIB);
	struct mem_buf *b[512], *big;
	struct mem_stats st;
	int n = 0;

	while (n < 512 && (b[n] = mem_buf_get(pool, 4096)))
		n++;
	assert_int_equal(n, 512);
	assert_null(mem_buf_get(pool, 1));
	assert_null(mem_buf_get(pool, MIB));
	mem_pool_stats(pool, &st);
	assert_int_equal(st.slab_bytes, 2 * MIB);
	assert_int_equal(st.limit, 2 * MIB);
	/* free slabs of one class make room for another */
	while (n)
		mem_buf_unref(b[--n]);
	big = mem_buf_get(pool, MIB);
	assert_non_null(big);
	mem_pool_stats(pool, &st);
	assert_true(st.slab_bytes <= 2 * MIB);
	mem_buf_unref(big);
	mem_pool_free(pool);
}

struct fake_device {
	int registered, fail_at, calls;
	bool full;
};

static int fake_reg(void *ctx, struct mem_slab *slab)
{
	struct fake_device *d = ctx;

	if (++d->calls == d->fail_at || d->full)
		return -ENOMEM;
	slab->reg = d;
	d->registered++;
	return 0;
}

static void fake_unreg(void *ctx, struct mem_slab *slab)
{
	struct fake_device *d = ctx;

	assert_ptr_equal(slab->reg, d);
	d->registered--;
}

static void slabs_are_registered(void **state)
{
	struct fake_device d = {.fail_at = 2};
	struct mem_registrar r = {.reg = fake_reg, .unreg = fake_unreg, .ctx = &d};
	struct mem_pool *pool = mem_pool_new(0);
	struct mem_buf *a = mem_buf_get(pool, 4096), *b = mem_buf_get(pool, MIB), *c, *e;

	assert_null(a->slab->reg);
	assert_int_equal(mem_pool_attach(pool, &r), -ENOMEM);
	assert_int_equal(d.registered, 0);
	assert_null(a->slab->reg);
	d.fail_at = 0;
	assert_int_equal(mem_pool_attach(pool, &r), 0);
	assert_int_equal(d.registered, 2);
	assert_int_equal(mem_pool_attach(pool, &r), -EBUSY); /* one device at a time */
	assert_int_equal(d.registered, 2);
	assert_ptr_equal(b->slab->reg, &d);
	c = mem_buf_get(pool, 65536);
	assert_ptr_equal(c->slab->reg, &d);
	d.full = true;
	assert_null(mem_buf_get(pool, 512 * 1024)); /* its slab cannot be registered */
	d.full = false;
	d.fail_at = d.calls + 1;
	e = mem_buf_get(pool, 512 * 1024); /* but one with a single block can */
	assert_non_null(e);
	assert_int_equal(e->slab->len, 512 * 1024);
	assert_int_equal(e->slab->block, 512 * 1024);
	mem_pool_detach(pool);
	assert_int_equal(d.registered, 0);
	assert_null(c->slab->reg);
	mem_buf_unref(a);
	mem_buf_unref(b);
	mem_buf_unref(c);
	mem_buf_unref(e);
	mem_pool_free(pool);
}

static void *churn(void *arg)
{
	struct mem_pool *pool = arg;
	struct mem_buf *b[8] = {0};
	unsigned seed = (unsigned)(uintptr_t)b;

	for (int i = 0; i < 20000; i++) {
		unsigned k;

		seed = seed * 1664525 + 1013904223;
		k = (seed >> 16) % 8;
		if (b[k]) {
			if (b[k]->data[0] != (uint8_t)k || b[k]->data[b[k]->size - 1] != (uint8_t)k)
				return arg;
			b[k] = mem_buf_unref(b[k]);
		} else if ((b[k] = mem_buf_get(pool, 4096u << (seed >> 20) % 5))) {
			b[k]->data[0] = b[k]->data[b[k]->size - 1] = k;
		}
	}
	for (int k = 0; k < 8; k++)
		mem_buf_unref(b[k]);
	return NULL;
}

static void threads_share_a_pool(void **state)
{
	struct mem_pool *pool = mem_pool_new(3 * MIB);
	struct mem_stats st;
	pthread_t t[4];
	void *failed;

	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, churn, pool), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], &failed);
		assert_null(failed);
	}
	mem_pool_stats(pool, &st);
	assert_int_equal(st.used_bytes, 0);
	assert_true(st.slab_bytes <= 3 * MIB);
	mem_pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size_is_served),
		cmocka_unit_test(blocks_do_not_overlap),
		cmocka_unit_test(the_last_reference_frees),
		cmocka_unit_test(shares_follow_the_room),
		cmocka_unit_test(the_limit_holds),
		cmocka_unit_test(slabs_are_registered),
		cmocka_unit_test(threads_share_a_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
