/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/setup/rpcrdma_fit: credits where few receives can be registered,
 * and several connections that share the registered memory of one process.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "transport/mem.h"
#include "transport/rpcrdma/rpcrdma_conn.h"
#include "transport/rpcrdma/setup/rpcrdma_fit.h"

#define KIB 1024u

/* A requester's connection with the defaults, of version 2 and version 1. */
static const struct rpcrdma_fit whole = {
	.recvs = 64 + RPCRDMA_REVERSE_CREDITS + 2 * RPCRDMA_ROOM_MAX + RPCRDMA_BATCH,
	.credits = 64,
	.reverse = RPCRDMA_REVERSE_CREDITS,
	.batch = RPCRDMA_BATCH,
};

static void enough_changes_nothing(void **state)
{
	struct rpcrdma_fit f = whole;

	assert_false(rpcrdma_fit(&f, SIZE_MAX, 1, true));
	assert_false(rpcrdma_fit(&f, whole.recvs, 1, true));
	assert_memory_equal(&f, &whole, sizeof(f));
}

/* Each call, each call in reverse and each buffer elsewhere has its receive. */
static void no_more_credits_than_receives(void **state)
{
	for (size_t most = 0; most < whole.recvs; most++) {
		for (int v1 = 0; v1 < 2; v1++) {
			struct rpcrdma_fit f = whole;

			assert_true(rpcrdma_fit(&f, most, 1, v1));
			assert_int_equal(
				f.recvs, most < RPCRDMA_FIT_LEAST ? RPCRDMA_FIT_LEAST : most);
			assert_true(f.credits >= 1 && f.credits <= 64);
			assert_true(v1 || !f.v1);
			if (f.v1)
				assert_true(f.credits + f.reverse + f.batch <= f.recvs);
		}
	}
}

static void version_1_makes_the_most_of_few(void **state)
{
	struct rpcrdma_fit least = whole, some = whole, many = whole;

	assert_true(rpcrdma_fit(&least, 0, 1, true));
	assert_true(least.v1 && least.credits == 3 && least.reverse == 2);
	assert_true(rpcrdma_fit(&some, 84, 1, true));
	assert_true(some.v1 && some.credits == 56);
	assert_true(rpcrdma_fit(&many, 150, 1, true));
	assert_true(!many.v1 && many.credits == 54);
}

static void version_1_alone_needs_no_others(void **state)
{
	struct rpcrdma_fit f = whole;

	f.v1 = true;
	assert_true(rpcrdma_fit(&f, 150, 1, true));
	assert_true(f.v1 && f.credits == 64);
}

static int reg(void *ctx, struct mem_slab *slab)
{
	slab->reg = slab->needs_reg ? ctx : NULL;
	return 0;
}

static void unreg(void *ctx, struct mem_slab *slab)
{
}

#define BOUNCES 16

struct connection {
	struct rpcrdma_fit f;
	struct mem_buf *bounce[BOUNCES], *recv[512];
	unsigned bounces;
};

/* Takes the memory of one of conns connections, as the verbs provider and rpcrdma_setup do. */
static bool take(struct connection *c, struct mem_pool *pool, unsigned conns, uint32_t size)
{
	size_t most = mem_pool_set_aside(pool, conns) / 8 / 4096;
	bool whole_one = true;

	c->f = whole;
	c->bounces = most < 2 ? 2 : most > BOUNCES ? BOUNCES : (unsigned)most;
	for (unsigned i = 0; i < c->bounces; i++) {
		c->bounce[i] = mem_buf_get_registered(pool, 4096);
		whole_one = whole_one && c->bounce[i];
	}
	rpcrdma_fit(&c->f, mem_pool_set_aside(pool, conns) / size, 1, true);
	for (unsigned i = 0; i < c->f.recvs; i++) {
		c->recv[i] = mem_buf_get_registered(pool, size);
		whole_one = whole_one && c->recv[i];
	}
	return whole_one;
}

static void give(struct connection *c)
{
	for (unsigned i = 0; i < c->bounces; i++)
		mem_buf_unref(c->bounce[i]);
	for (unsigned i = 0; i < c->f.recvs; i++)
		mem_buf_unref(c->recv[i]);
}

static struct mem_pool *pool_of(size_t sparing)
{
	static int device;
	struct mem_registrar r = {.reg = reg, .unreg = unreg, .ctx = &device, .sparing = sparing};
	struct mem_pool *pool = mem_pool_new(64 << 20);

	assert_non_null(pool);
	assert_int_equal(mem_pool_attach(pool, &r), 0);
	return pool;
}

static void end(struct mem_pool *pool)
{
	mem_pool_detach(pool);
	mem_pool_free(pool);
}

static struct connection c[17];

/* An ordinary user may have 8 MiB registered, of which receives get this. */
#define USERS (1792 * KIB)
/* The same with 640 KiB. */
#define LEAST_OF_4 (140 * KIB)

/* conns connections come up, each with `credits` or more. */
static void all_come_up(size_t sparing, unsigned conns, uint32_t size, uint32_t credits)
{
	struct mem_pool *pool = pool_of(sparing);

	for (unsigned i = 0; i < conns; i++) {
		assert_true(take(&c[i], pool, conns, size));
		assert_true(c[i].f.credits >= credits);
	}
	for (unsigned i = 0; i < conns; i++)
		give(&c[i]);
	end(pool);
}

static void as_many_as_nconnect_allows(void **state)
{
	all_come_up(USERS, 1, 4096, 64);
	all_come_up(USERS, 2, 4096, 48);
	all_come_up(USERS, 4, 4096, 48);
	all_come_up(USERS, 8, 4096, 24);
	all_come_up(USERS, 16, 4096, 3);
	all_come_up(USERS, 4, 16384, 8);
	all_come_up(LEAST_OF_4, 4, 4096, 3);
}

/* A connection has the same share whenever it is made, and the next can be made while one ends. */
static void one_is_made_while_another_ends(void **state)
{
	for (unsigned conns = 1; conns <= 4; conns++) {
		struct mem_pool *pool = pool_of(USERS);

		for (unsigned i = 0; i < conns; i++)
			assert_true(take(&c[i], pool, conns, 4096));
		for (unsigned i = 1; i < conns; i++)
			assert_int_equal(c[i].f.credits, c[0].f.credits);
		for (unsigned i = 0; i < 8; i++) {
			assert_true(take(&c[conns], pool, conns, 4096));
			give(&c[conns]);
			give(&c[i % conns]);
			assert_true(take(&c[i % conns], pool, conns, 4096));
			assert_int_equal(c[i % conns].f.credits, c[(i + 1) % conns].f.credits);
		}
		for (unsigned i = 0; i < conns; i++)
			give(&c[i]);
		end(pool);
	}
}

/* Connections to other servers leave memory for one connection more. */
static void other_servers_have_their_part(void **state)
{
	struct mem_pool *pool = pool_of(USERS);

	for (unsigned i = 0; i < 5; i++)
		assert_true(take(&c[i], pool, 1, 4096));
	assert_int_equal(c[0].f.credits, 64);
	assert_int_equal(c[1].f.credits, 64);
	for (unsigned i = 0; i < 5; i++)
		give(&c[i]);
	end(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(enough_changes_nothing),
		cmocka_unit_test(no_more_credits_than_receives),
		cmocka_unit_test(version_1_makes_the_most_of_few),
		cmocka_unit_test(version_1_alone_needs_no_others),
		cmocka_unit_test(as_many_as_nconnect_allows),
		cmocka_unit_test(one_is_made_while_another_ends),
		cmocka_unit_test(other_servers_have_their_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
