/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/dirty: written data reaches the server under all events.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "cache/dirty.h"

#define BASE  (DIRTY_RUN - 100000u) /* the written bytes lie about the end of a run */
#define SPAN  300000u
#define LIMIT (600u << 10)

static struct mem_pool *pool;
static struct dirty_file d;
static struct dirty_owner one, two;
static size_t used, limit;
static uint8_t data[2 << 20];

static struct mem_buf *get(void *ctx, size_t size)
{
	struct mem_buf *buf;

	if (used + size > limit)
		return NULL;
	buf = mem_buf_get(pool, size);
	used += buf->size;
	return buf;
}

static void put(void *ctx, struct mem_buf *buf)
{
	used -= buf->size;
	mem_buf_unref(buf);
}

static const struct dirty_memory memory = {.get = get, .put = put};

static int setup(void **state)
{
	pool = mem_pool_new(64 << 20);
	dirty_init(&d, &memory);
	one = two = (struct dirty_owner){0};
	used = 0;
	limit = 16 << 20;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + i / 256);
	return 0;
}

static int teardown(void **state)
{
	dirty_forget(&d, &one);
	dirty_forget(&d, &two);
	dirty_gave_up(&d);
	dirty_finish(&d);
	assert_int_equal(used, 0);
	assert_int_equal(one.extents + two.extents, 0);
	mem_pool_free(pool);
	return 0;
}

static enum dirty_put write_at(struct dirty_owner *by, uint64_t off, uint32_t len)
{
	uint32_t took;

	return dirty_put(&d, by, off, data, len, &took);
}

/* The lock of the bytes from 100000 on. */
static uint64_t guard_is;

static uint64_t guard_now(const struct dirty_owner *by, uint64_t off, uint64_t len)
{
	return off >= 100000 ? guard_is : 0;
}

/* Writes all NEW data, stable. Returns the number of runs. */
static unsigned drain(void)
{
	struct dirty_extent *run[DIRTY_RUN_EXTENTS];
	unsigned n, runs = 0;
	uint64_t from = 0;

	while ((n = dirty_run(&d, &from, run))) {
		dirty_writing(&d, run, n, 1, 0);
		dirty_wrote(&d, run, n, false, 0, 0);
		runs++;
	}
	return runs;
}

static void a_stream_becomes_few_extents(void **state)
{
	struct dirty_extent *run[DIRTY_RUN_EXTENTS];
	unsigned n;

	for (uint64_t off = 0; off < 3 * DIRTY_RUN; off += 4096)
		assert_int_equal(write_at(&one, off, 4096), DIRTY_DONE);
	assert_true(one.extents < 10);
	assert_true(used < 4 * DIRTY_RUN);
	assert_int_equal(d.end, 3 * DIRTY_RUN);
	n = dirty_run_to(&d, DIRTY_RUN, run);
	assert_true(n > 0);
	assert_int_equal(run[0]->off, 0);
	assert_int_equal(run[n - 1]->off + run[n - 1]->len, DIRTY_RUN);
	assert_int_equal(drain(), 3);
	assert_int_equal(d.end, 0);
}

static void small_writes_pin_little(void **state)
{
	for (unsigned i = 0; i < 100; i++)
		assert_int_equal(write_at(&one, i * 65536ull, 100), DIRTY_DONE);
	assert_int_equal(used, 100 * 4096);
	assert_int_equal(drain(), 100);
}

static void what_is_being_written_is_not_changed(void **state)
{
	struct dirty_extent *run[DIRTY_RUN_EXTENTS];
	uint64_t from = 0;
	unsigned n;

	write_at(&one, 1000, 1000);
	n = dirty_run(&d, &from, run);
	dirty_writing(&d, run, n, 1, 0);
	assert_int_equal(write_at(&one, 1500, 100), DIRTY_BUSY);
	assert_int_equal(write_at(&one, 2000, 100), DIRTY_DONE);
	assert_true(dirty_overlaps(&d, 0, 1001));
	assert_false(dirty_overlaps(&d, 0, 1000));
	assert_false(dirty_overlaps(&d, 2100, UINT64_MAX));
	dirty_wrote(&d, run, n, false, 0, 0);
	assert_int_equal(drain(), 1);
}

static void two_writers_are_not_mixed(void **state)
{
	write_at(&one, 0, 1000);
	write_at(&two, 1000, 1000);
	assert_int_equal(write_at(&two, 999, 1), DIRTY_BUSY);
	assert_int_equal(drain(), 2);
}

static void a_large_block_is_taken_over(void **state)
{
	struct mem_buf *buf = get(NULL, MEM_MAX_SIZE);

	assert_int_equal(write_at(&one, 5000, 10), DIRTY_DONE);
	assert_int_equal(dirty_take(&d, &one, 0, buf, 100, 1 << 20), DIRTY_BUSY);
	assert_int_equal(drain(), 1);
	assert_int_equal(dirty_take(&d, &one, 0, buf, 100, 1 << 20), DIRTY_DONE);
	assert_int_equal(drain(), 1);
}

static void without_memory_nothing_is_half_done(void **state)
{
	uint32_t took;

	limit = 100000;
	assert_int_equal(dirty_put(&d, &one, DIRTY_RUN - 65536, data, 1 << 20, &took), DIRTY_FULL);
	assert_true(took <= 100000);
	assert_int_equal(dirty_bytes(&d, DIRTY_NEW), took);
	dirty_forget(&d, &one);
}

/* The server has the NEW data and may lose the data, by WRITEs sent at `sent`. */
static void make_unstable_under(uint64_t sent, uint64_t guard)
{
	struct dirty_extent *run[DIRTY_RUN_EXTENTS];
	uint64_t from = 0;
	unsigned n;

	while ((n = dirty_run(&d, &from, run))) {
		dirty_writing(&d, run, n, sent, guard);
		dirty_wrote(&d, run, n, true, 1, sent + 1);
	}
}

static void make_unstable(uint64_t sent)
{
	make_unstable_under(sent, 0);
}

static void without_memory_what_was_to_be_replaced_stays(void **state)
{
	struct mem_buf *buf = get(NULL, 65536);

	assert_int_equal(write_at(&one, 0, 40000), DIRTY_DONE);
	make_unstable(1);
	limit = used;
	assert_int_equal(write_at(&one, 0, 40000), DIRTY_FULL);
	assert_int_equal(write_at(&one, 1000, 10), DIRTY_FULL);
	assert_int_equal(dirty_bytes(&d, DIRTY_UNSTABLE), 40000);
	limit = 16 << 20;
	assert_int_equal(write_at(&one, 1000, 10), DIRTY_DONE);
	assert_int_equal(dirty_bytes(&d, DIRTY_UNSTABLE), 40000 - 10);
	assert_int_equal(dirty_bytes(&d, DIRTY_NEW), 10);
	dirty_redo(&d, 0, guard_now);
	assert_int_equal(drain(), 1);
	put(NULL, buf);
}

static void what_another_client_may_have_replaced_is_given_up(void **state)
{
	assert_int_equal(write_at(&one, 0, 1000), DIRTY_DONE);
	make_unstable(10);
	assert_int_equal(write_at(&one, 5000, 500), DIRTY_DONE);
	make_unstable(20);
	dirty_redo(&d, 15, guard_now);
	assert_int_equal(d.given_up, 1000);
	assert_int_equal(dirty_bytes(&d, DIRTY_NEW), 500);
	assert_int_equal(dirty_bytes(&d, DIRTY_UNSTABLE), 0);
	assert_int_equal(drain(), 1);
}

static void what_a_lock_still_guards_is_kept(void **state)
{
	guard_is = 5;
	assert_int_equal(write_at(&one, 0, 1000), DIRTY_DONE);
	make_unstable(10);
	assert_int_equal(write_at(&one, 100000, 200), DIRTY_DONE);
	make_unstable_under(11, 5);
	assert_int_equal(write_at(&one, 200000, 30), DIRTY_DONE);
	make_unstable_under(12, 4); /* the lock was released */
	assert_int_equal(write_at(&one, 300000, 4), DIRTY_DONE);
	make_unstable(13); /* the lock was taken later */
	dirty_redo(&d, 15, guard_now);
	assert_int_equal(d.given_up, 1034);
	assert_int_equal(dirty_bytes(&d, DIRTY_NEW), 200);
	make_unstable_under(16, 5);
	guard_is = 6;
	dirty_gave_up(&d);
	assert_int_equal(d.given_up, 0);
	dirty_redo(&d, 17, guard_now);
	assert_int_equal(d.given_up, 200);
	assert_int_equal(drain(), 0);
}

/* --- random events ---------------------------------------------------------------------------- */

/* The file as the writers see it, as the server has it, and as a restart would leave it. */
static uint8_t want[SPAN], server[SPAN], safe[SPAN];
static uint64_t gen;

static struct flight {
	struct dirty_extent *run[DIRTY_RUN_EXTENTS];
	unsigned n;
} flight[8];
static unsigned nflights;

/* A change of another kind that turns these bytes into 0xdd. */
static struct dirty_cut cut;
static uint32_t cut_off, cut_len; /* 0: no cut is under way */
static bool cut_works;

static uint64_t now(void)
{
	static uint64_t t;

	return ++t;
}

static unsigned below(unsigned n)
{
	return (unsigned)rand() % n;
}

static void take_off(void)
{
	struct flight *f = &flight[nflights];
	uint64_t from = BASE + below(SPAN);

	if (nflights == 8)
		return;
	f->n = dirty_run(&d, &from, f->run);
	if (!f->n)
		return;
	dirty_writing(&d, f->run, f->n, now(), 0);
	nflights++;
}

/* The server has got a WRITE: on stable storage or not. */
static void land(void)
{
	bool unstable = below(4);
	struct flight *f;
	unsigned i;

	if (!nflights)
		return;
	i = below(nflights);
	f = &flight[i];
	for (unsigned k = 0; k < f->n; k++) {
		const struct dirty_extent *x = f->run[k];
		const uint8_t *from = x->mem->buf->data + x->at;

		memcpy(server + (x->off - BASE), from, x->len);
		if (!unstable)
			memcpy(safe + (x->off - BASE), from, x->len);
	}
	dirty_wrote(&d, f->run, f->n, unstable, gen + 1, now());
	gen++;
	*f = flight[--nflights];
}

static void land_all(void)
{
	while (nflights)
		land();
}

static void write_somewhere(void)
{
	uint32_t off = below(SPAN), len = 1 + below(below(4) ? 5000 : 200000), took;
	struct dirty_owner *by = below(8) ? &one : &two;
	uint8_t with = (uint8_t)rand();

	if (len > SPAN - off)
		len = SPAN - off;
	memset(data, with, len);
	for (uint32_t done = 0;; done += took) {
		switch (dirty_put(&d, by, BASE + off + done, data, len - done, &took)) {
		case DIRTY_DONE:
			memset(want + off, with, len);
			return;
		case DIRTY_BUSY:
			for (unsigned n = nflights + 1; n != nflights;) {
				n = nflights;
				take_off();
			}
			land_all();
			break;
		case DIRTY_FULL:
			take_off();
			land_all();
			memcpy(safe, server, SPAN);
			dirty_committed(&d, gen);
			break;
		}
	}
}

static void restart(void)
{
	land_all();
	memcpy(server, safe, SPAN);
	dirty_redo(&d, 0, guard_now);
}

/* Another client writes, after the writes of this mount. */
static void write_beside(void)
{
	uint32_t off = below(SPAN), len = 1 + below(SPAN - off);

	if (dirty_overlaps(&d, BASE + off, len))
		return;
	memset(want + off, 0xee, len);
	memset(server + off, 0xee, len);
	memset(safe + off, 0xee, len);
	dirty_cut(&d, BASE + off, len, UINT64_MAX);
}

/* The server carries the change out at once, or refuses it, and answers later. */
static void cut_beside(void)
{
	uint32_t off = below(SPAN), len = 1 + below(SPAN - off);

	if (cut_len || dirty_overlaps(&d, BASE + off, len))
		return;
	cut_off = off;
	cut_len = len;
	cut_works = below(3);
	dirty_cut_begin(&d, &cut, now());
	if (!cut_works)
		return;
	memset(want + off, 0xdd, len);
	memset(server + off, 0xdd, len);
	memset(safe + off, 0xdd, len);
}

static void cut_answered(void)
{
	if (!cut_len)
		return;
	dirty_cut_end(&d, &cut, BASE + cut_off, cut_works ? cut_len : 0);
	assert_int_equal(d.lost, 0);
	cut_len = 0;
}

static void everything(unsigned seed)
{
	srand(seed);
	for (unsigned i = 0; i < 3000; i++) {
		switch (below(14)) {
		case 0:
		case 1:
			take_off();
			break;
		case 2:
			land();
			break;
		case 3:
			if (!below(10))
				restart();
			break;
		case 4:
			memcpy(safe, server, SPAN);
			dirty_committed(&d, gen);
			break;
		case 5:
			write_beside();
			break;
		case 6:
			cut_beside();
			break;
		case 7:
			cut_answered();
			break;
		default:
			write_somewhere();
		}
	}
	cut_answered();
	while (dirty_bytes(&d, DIRTY_NEW) || nflights) {
		take_off();
		land();
	}
	assert_memory_equal(server, want, SPAN);
	restart();
	while (dirty_bytes(&d, DIRTY_NEW) || nflights) {
		take_off();
		land();
	}
	assert_memory_equal(server, want, SPAN);
	memcpy(safe, server, SPAN);
	dirty_committed(&d, gen);
	assert_int_equal(dirty_bytes(&d, DIRTY_UNSTABLE), 0);
}

static void nothing_is_lost_in_any_order(void **state)
{
	limit = LIMIT;
	for (unsigned seed = 1; seed <= 20; seed++)
		everything(seed);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_stream_becomes_few_extents),
		TEST(small_writes_pin_little),
		TEST(what_is_being_written_is_not_changed),
		TEST(two_writers_are_not_mixed),
		TEST(a_large_block_is_taken_over),
		TEST(without_memory_nothing_is_half_done),
		TEST(without_memory_what_was_to_be_replaced_stays),
		TEST(what_another_client_may_have_replaced_is_given_up),
		TEST(what_a_lock_still_guards_is_kept),
		TEST(nothing_is_lost_in_any_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
