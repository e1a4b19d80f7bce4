/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/cork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"
#include "transport/rpc/cork.h"

static unsigned flushed, destroyed;

static void count_flush(struct rpc_xprt *x)
{
	flushed++;
}

static void count_destroy(struct rpc_xprt *x)
{
	destroyed++;
	rpc_xprt_fini(x);
}

static const struct rpc_xprt_ops counting = {.flush = count_flush, .destroy = count_destroy};

static void without_it_nothing_waits(void **state)
{
	struct rpc_xprt x = {0};

	assert_int_equal(rpc_xprt_init(&x, &counting, NULL), 0);
	flushed = destroyed = 0;
	assert_false(cork_keeps(&x));
	assert_int_equal(cork_held(), 0);
	cork_pull();
	assert_int_equal(flushed, 0);
	rpc_xprt_unref(&x);
	assert_int_equal(destroyed, 1);
}

/* Each connection is flushed once, and stays until then. */
static void connections_are_flushed_once(void **state)
{
	struct rpc_xprt x[2] = {{0}, {0}};

	flushed = destroyed = 0;
	cork_put();
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rpc_xprt_init(&x[i], &counting, NULL), 0);
		assert_true(cork_keeps(&x[i]));
		assert_true(cork_keeps(&x[i]));
		rpc_xprt_unref(&x[i]);
	}
	assert_int_equal(cork_held(), 4);
	assert_int_equal(flushed, 0);
	assert_int_equal(destroyed, 0);
	cork_pull();
	assert_int_equal(cork_held(), 0);
	assert_int_equal(flushed, 2);
	assert_int_equal(destroyed, 2);
}

/* Messages and connections are bounded. */
static void what_waits_is_bounded(void **state)
{
	struct rpc_xprt x[64] = {0};
	unsigned n = 0;

	flushed = 0;
	for (int i = 0; i < 64; i++)
		assert_int_equal(rpc_xprt_init(&x[i], &counting, NULL), 0);
	cork_put();
	while (cork_keeps(&x[0]))
		assert_true(++n < 100);
	assert_false(cork_keeps(&x[1]));
	cork_pull();
	assert_int_equal(flushed, 1);
	cork_put();
	for (n = 0; n < 64 && cork_keeps(&x[n]);)
		n++;
	assert_true(n < 64);
	cork_pull();
	assert_int_equal(flushed, 1 + n);
	for (int i = 0; i < 64; i++)
		rpc_xprt_unref(&x[i]);
}

/* A lone call leaves at once; calls of a row leave together. */
static void calls_of_a_row_wait(void **state)
{
	struct pair_call first, c[3];
	struct pair p;

	pair_init(&p, &(struct pair_params){0});
	pair_null(&p); /* and also the credits */
	cork_put();
	pair_call_init(&p, &first, PAIR_LATER, 64);
	pair_submit(&p, &first);
	assert_int_equal(cork_held(), 0);
	while (p.served < 2)
		pair_progress(&p, 1);
	for (int i = 0; i < 3; i++) {
		pair_call_init(&p, &c[i], PAIR_NULL, 64);
		pair_submit(&p, &c[i]);
	}
	assert_int_equal(cork_held(), pair_prov->flush ? 3 : 0);
	cork_pull();
	for (int i = 0; i < 3; i++) {
		pair_end(&p, &c[i], 0);
		pair_call_finish(&c[i]);
	}
	assert_int_equal(pair_release(&p), 1);
	pair_end(&p, &first, 0);
	pair_call_finish(&first);
	pair_finish(&p);
}

/* Waiting messages end with the connection. */
static void the_connection_ends_meanwhile(void **state)
{
	struct pair_call c[3];
	struct pair p;

	pair_init(&p, &(struct pair_params){0});
	pair_null(&p);
	cork_put();
	for (int i = 0; i < 3; i++) {
		pair_call_init(&p, &c[i], PAIR_LATER, 64);
		pair_submit(&p, &c[i]);
	}
	p.client->ops->shutdown(p.client);
	for (int i = 0; i < 3; i++) {
		pair_wait(&p, &c[i]);
		assert_int_not_equal(c[i].error, 0);
		pair_call_finish(&c[i]);
	}
	cork_pull();
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_it_nothing_waits),
		cmocka_unit_test(connections_are_flushed_once),
		cmocka_unit_test(what_waits_is_bounded),
		cmocka_unit_test(calls_of_a_row_wait),
		cmocka_unit_test(the_connection_ends_meanwhile),
	};

	return PAIR_RUN(tests);
}
