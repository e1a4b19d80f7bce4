/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/requester_call and requester_reply where little memory may be
 * exposed: calls wait for memory in order, and none fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "tests/unit/transport/rpcrdma/fake-provider.h"
#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"

#define KIB   1024u
#define CALLS 24

static const struct pair_params plain;

static int at_once(void **state)
{
	pair_prov = &prov_fake;
	fake_memory = SIZE_MAX;
	return 0;
}

static int later(void **state)
{
	pair_prov = &prov_fake_async;
	fake_memory = SIZE_MAX;
	return 0;
}

struct sinking {
	struct pair_call c; /* first */
	struct mem_buf *buf;
	struct seg seg;
	unsigned ended; /* the place of this call's end among all ends */
};

static unsigned ends;

static void note_end(struct pair_call *c, struct xdr_in *res)
{
	((struct sinking *)c)->ended = ++ends;
}

/* GET of n bytes into a sink of this size. */
static void submit(struct pair *p, struct sinking *s, uint32_t n)
{
	struct xdr_out *x;

	*s = (struct sinking){0};
	pair_call_init(p, &s->c, PAIR_GET, 16);
	x = &s->c.rpc.args;
	xdr_put_u32(x, n);
	s->buf = mem_buf_get(p->cpool, n);
	assert_non_null(s->buf);
	s->seg = (struct seg){.at = mem_buf_sge(s->buf, 0, n), .hold = s->buf};
	s->c.rpc.sink[0] = (struct seg_list){0};
	assert_int_equal(seg_list_init(&s->c.rpc.sink[0], &s->seg, 1), 0);
	s->c.rpc.nsinks = 1;
	s->c.rpc.reply_max = 64;
	s->c.check = note_end;
	pair_submit(p, &s->c);
}

static void finish(struct pair *p, struct sinking *s)
{
	pair_wait(p, &s->c);
	assert_int_equal(s->c.error, 0);
	assert_int_not_equal(s->ended, 0);
	pair_call_finish(&s->c);
	mem_buf_unref(s->buf);
}

/* A large call among small ones has its turn: no later call ends before it. */
static void the_large_are_not_overtaken(void **state)
{
	struct sinking s[CALLS];
	struct pair p;

	pair_init(&p, &plain);
	pair_null(&p);
	ends = 0;
	fake_memory = 100 * KIB;
	for (unsigned i = 0; i < CALLS; i++)
		submit(&p, &s[i], i % 4 == 2 ? 100 * KIB : 30 * KIB);
	for (unsigned i = 0; i < CALLS; i++)
		finish(&p, &s[i]);
	/* once the first large call waits, the order is that of the calls */
	for (unsigned i = 2; i < CALLS; i += 4)
		for (unsigned j = i + 1; j < CALLS; j++)
			assert_true(s[i].ended < s[j].ended);
	pair_finish(&p);
}

/* Other processes of the machine have all the memory for a while: the call waits, alone, and is
 * sent then. */
static void a_call_waits_with_none_under_way(void **state)
{
	struct sinking s;
	struct pair p;

	pair_init(&p, &plain);
	pair_null(&p);
	fake_memory = 0;
	submit(&p, &s, 64 * KIB);
	pair_progress(&p, 100);
	assert_false(s.c.done);
	fake_memory = 64 * KIB;
	finish(&p, &s);
	pair_finish(&p);
}

/* A waiting call can be taken back, and does not hold up the calls behind it. */
static void a_call_that_waits_is_taken_back(void **state)
{
	struct sinking s, other;
	struct pair p;

	pair_init(&p, &plain);
	pair_null(&p);
	fake_memory = 30 * KIB;
	submit(&p, &s, 64 * KIB);
	submit(&p, &other, 30 * KIB);
	pair_progress(&p, 50);
	assert_false(other.c.done);
	pair_forget(&p, &s.c);
	pair_call_finish(&s.c);
	mem_buf_unref(s.buf);
	finish(&p, &other);
	pair_finish(&p);
}

/* With doors that close at once, and with doors that close later. */
#define TEST(f)                                                                                    \
	{#f " (closed at once)", f, at_once, NULL, NULL},                                          \
	{                                                                                          \
#f " (closed later)", f, later, NULL, NULL                                         \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_large_are_not_overtaken),
		TEST(a_call_waits_with_none_under_way),
		TEST(a_call_that_waits_is_taken_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
