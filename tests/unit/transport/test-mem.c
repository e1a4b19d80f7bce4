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
#include <sys/mman.h>
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

/* The share of one user shrinks with the free memory, down to a minimum. */
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
	assert_null(mem_buf_get(pool, 512 * 1024)); /* the slab cannot be registered */
	d.full = false;
	d.fail_at = d.calls + 1;
	e = mem_buf_get(pool, 512 * 1024); /* but a slab of a single block can */
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

static int sparing_reg(void *ctx, struct mem_slab *slab)
{
	return slab->needs_reg ? fake_reg(ctx, slab) : 0;
}

/* Where little memory can be registered, that memory is for callers that ask for registered memory,
 * and has a separate limit. */
static void a_sparing_registrar_has_two_kinds(void **state)
{
	struct fake_device d = {0};
	struct mem_registrar r = {.reg = sparing_reg,
		.unreg = fake_unreg,
		.ctx = &d,
		.sparing = 256 * 1024,
		.per_rpcs = 768 * 1024};
	struct mem_pool *pool = mem_pool_new(2 * MIB);
	struct mem_buf *b[65], *big[2];
	struct mem_stats st;

	assert_true(mem_pool_set_aside(pool, 1) == SIZE_MAX && mem_pool_rpc_most(pool) == SIZE_MAX);
	assert_int_equal(mem_pool_attach(pool, &r), 0);
	assert_int_equal(mem_pool_set_aside(pool, 1), 128 * 1024);
	assert_int_equal(mem_pool_set_aside(pool, 0), 64 * 1024);
	assert_int_equal(mem_pool_rpc_most(pool), 384 * 1024);
	assert_int_equal(mem_pool_limit(pool), 2 * MIB);
	for (int i = 0; i < 2; i++) {
		big[i] = mem_buf_get(pool, MIB);
		assert_non_null(big[i]);
		assert_null(big[i]->slab->reg);
	}
	/* the pool is full, which does not count here */
	assert_null(mem_buf_get(pool, 4096));
	for (int i = 0; i < 64; i++) {
		b[i] = mem_buf_get_registered(pool, 4096);
		assert_non_null(b[i]);
		assert_ptr_equal(b[i]->slab->reg, &d);
	}
	assert_null(mem_buf_get_registered(pool, 4096));
	assert_int_equal(mem_pool_set_aside(pool, 1), 0);
	mem_pool_stats(pool, &st);
	assert_int_equal(st.slab_bytes, 2 * MIB + 256 * 1024);
	assert_int_equal(st.used_bytes, 2 * MIB + 256 * 1024);
	for (int i = 0; i < 32; i++)
		mem_buf_unref(b[i]);
	assert_int_equal(mem_pool_set_aside(pool, 1), 128 * 1024);
	/* nor is registered memory used for data that need not be registered */
	assert_null(mem_buf_get(pool, 4096));
	mem_buf_unref(big[0]);
	assert_int_equal(mem_pool_room(pool), MIB);
	b[64] = mem_buf_get(pool, 4096);
	assert_non_null(b[64]);
	assert_null(b[64]->slab->reg);
	for (int i = 32; i < 65; i++)
		mem_buf_unref(b[i]);
	mem_buf_unref(big[1]);
	mem_pool_trim(pool);
	assert_int_equal(d.registered, 0);
	mem_pool_detach(pool);
	assert_true(mem_pool_set_aside(pool, 1) == SIZE_MAX);
	mem_pool_free(pool);
}

/* If a slab cannot be registered, receives get a block of another slab. */
static void what_must_be_registered_is(void **state)
{
	struct fake_device d = {0};
	struct mem_registrar r = {.reg = sparing_reg, .unreg = fake_unreg, .ctx = &d};
	struct mem_pool *pool = mem_pool_new(0);
	struct mem_buf *a = mem_buf_get_registered(pool, 4096), *b;

	assert_null(a->slab->reg); /* there is no device */
	assert_int_equal(mem_pool_attach(pool, &r), 0);
	b = mem_buf_get_registered(pool, 4096);
	assert_ptr_equal(b->slab->reg, &d);
	d.full = true;
	assert_null(mem_buf_get_registered(pool, 8192));
	mem_buf_unref(a);
	mem_buf_unref(b);
	mem_pool_detach(pool);
	mem_pool_free(pool);
}

/* Pages of a block that are in memory. */
static unsigned resident(const struct mem_buf *b)
{
	unsigned char in[MEM_MAX_SIZE / 4096];
	unsigned n = 0;

	assert_int_equal(mincore(b->data, b->size, in), 0);
	for (unsigned i = 0; i < b->size / 4096; i++)
		n += in[i] & 1;
	return n;
}

/* Fills a pool's slabs, leaves one block of the last slab in use and has the rest given back. The
 * address of that block's neighbour is still mapped. */
static struct mem_buf *trimmed(struct mem_pool *pool, struct mem_buf **neighbour)
{
	struct mem_buf *b[40], *kept;

	for (int i = 0; i < 40; i++) {
		b[i] = mem_buf_get(pool, 128 * 1024);
		memset(b[i]->data, i + 1, b[i]->size);
	}
	kept = b[39];
	*neighbour = NULL;
	for (int i = 0; i < 39; i++) {
		if (b[i]->slab == kept->slab)
			*neighbour = b[i];
		mem_buf_unref(b[i]);
	}
	mem_pool_trim(pool);
	mem_pool_trim(pool);
	assert_int_equal(kept->data[0], 40);
	assert_int_equal(kept->data[kept->size - 1], 40);
	assert_non_null(*neighbour);
	return kept;
}

static void what_is_not_in_use_is_given_back(void **state)
{
	struct mem_pool *pool = mem_pool_new(0);
	struct mem_buf *kept, *neighbour, *again;
	struct mem_stats st;

	kept = trimmed(pool, &neighbour);
	mem_pool_stats(pool, &st);
	assert_int_equal(st.slab_bytes, kept->slab->len);
	assert_int_equal(resident(kept), kept->size / 4096);
	assert_int_equal(resident(neighbour), 0);
	again = mem_buf_get(pool, 128 * 1024);
	memset(again->data, 1, again->size);
	mem_buf_unref(again);
	mem_buf_unref(kept);
	mem_pool_trim(pool);
	mem_pool_stats(pool, &st);
	assert_int_equal(st.slab_bytes, 0);
	assert_non_null(kept = mem_buf_get(pool, 128 * 1024));
	mem_buf_unref(kept);
	mem_pool_free(pool);
}

/* The device uses the pages. After a give-back, the device would go on using pages that no process
 * sees. */
static void what_is_registered_stays_in_memory(void **state)
{
	struct fake_device d = {0};
	struct mem_registrar r = {.reg = fake_reg, .unreg = fake_unreg, .ctx = &d};
	struct mem_pool *pool = mem_pool_new(0);
	struct mem_buf *kept, *neighbour;
	struct mem_stats st;

	assert_int_equal(mem_pool_attach(pool, &r), 0);
	kept = trimmed(pool, &neighbour);
	assert_int_equal(d.registered, 1);
	mem_pool_stats(pool, &st);
	assert_int_equal(st.slab_bytes, kept->slab->len);
	assert_int_equal(resident(neighbour), neighbour->size / 4096);
	mem_buf_unref(kept);
	mem_pool_trim(pool);
	assert_int_equal(d.registered, 0);
	mem_pool_free(pool);
}

/* Large slabs lie where huge pages may be. */
static void large_slabs_are_aligned(void **state)
{
	struct mem_pool *pool = mem_pool_new(0);
	struct mem_buf *b[160];
	size_t largest = 0;

	for (int i = 0; i < 160; i++) {
		b[i] = mem_buf_get(pool, 128 * 1024);
		memset(b[i]->data, 1, b[i]->size);
		if (b[i]->slab->len >= 2 * MIB)
			assert_int_equal((uintptr_t)b[i]->slab->base % (2 * MIB), 0);
		if (b[i]->slab->len > largest)
			largest = b[i]->slab->len;
	}
	assert_int_equal(largest, 8 * MIB);
	mem_pool_save(pool, true);
	mem_pool_save(pool, false);
	for (int i = 0; i < 160; i++)
		mem_buf_unref(b[i]);
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
	for (int i = 0; i < 200; i++)
		mem_pool_trim(pool);
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
		cmocka_unit_test(a_sparing_registrar_has_two_kinds),
		cmocka_unit_test(what_must_be_registered_is),
		cmocka_unit_test(what_is_not_in_use_is_given_back),
		cmocka_unit_test(what_is_registered_stays_in_memory),
		cmocka_unit_test(large_slabs_are_aligned),
		cmocka_unit_test(threads_share_a_pool),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
