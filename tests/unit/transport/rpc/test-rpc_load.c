/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit test of transport/rpc under load: many calls at once, from many threads.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/transport/rpc/rpc-pair.h"

#define STORM_THREADS 4
#define STORM_DEPTH   250
#define STORM_CALLS   2000

struct storm {
	struct cli *c;
	pthread_mutex_t lock;
	int started, ended, bad; /* lock */
	sem_t all;
};

struct drop {
	struct rpc_call call;
	struct storm *storm;
	struct mem_buf *sink;
	uint32_t n;
};

static void drop_done(struct rpc_call *call, int error, struct xdr_in *res);

static void drop_submit(struct drop *d, uint32_t i)
{
	assert_int_equal(rpc_call_init(&d->call, d->storm->c->c, 8192), 0);
	d->n = i * 37 % 5000;
	d->call.done = drop_done;
	d->call.ctx = d;
	d->call.reply_max = 8192;
	if (i % 3 == 0) {
		d->call.proc = P_READ;
		d->call.nsinks = 1;
		d->call.sink[0] = seg_list_of_buf(d->sink, 0, d->sink->size);
		d->call.peek = i % 2 ? peek_read : NULL;
		if (i % 5 == 0)
			d->n = 40000;
		xdr_put_u32(&d->call.args, d->n);
		xdr_put_u32(&d->call.args, d->n);
	} else {
		uint8_t *p;

		d->call.proc = P_ECHO;
		xdr_put_u32(&d->call.args, d->n);
		p = xdr_reserve(&d->call.args, d->n);
		fill(p, d->n, d->n);
	}
	assert_int_equal(rpc_call_submit(&d->call), 0);
}

static void drop_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct drop *d = call->ctx;
	struct storm *s = d->storm;
	uint8_t want[40000];
	const uint8_t *p;
	uint32_t n = 0;
	int next = 0;
	bool good = error == 0;

	fill(want, d->n, d->n);
	if (call->proc == P_READ) {
		xdr_get_u32(res);
		if (rpc_call_take_sink(call, res, 0, &n) < 0)
			good = false;
		xdr_get_u32(res);
		p = d->sink->data;
	} else {
		p = xdr_get_opaque(res, 8192, &n);
	}
	good = good && xdr_in_done(res) && n == d->n && memcmp(p, want, n) == 0;
	rpc_call_finish(call);
	pthread_mutex_lock(&s->lock);
	s->bad += !good;
	if (s->started < STORM_CALLS)
		next = ++s->started;
	if (++s->ended == STORM_CALLS)
		sem_post(&s->all);
	pthread_mutex_unlock(&s->lock);
	if (next)
		drop_submit(d, next);
}

static void *storm_thread(void *arg)
{
	struct drop *d = arg;

	for (int i = 0; i < STORM_DEPTH; i++)
		drop_submit(&d[i], i);
	return NULL;
}

static void a_thousand_calls_at_once(void **state)
{
	struct storm s = {.lock = PTHREAD_MUTEX_INITIALIZER};
	struct drop *d = calloc(STORM_THREADS * STORM_DEPTH, sizeof(*d));
	pthread_t t[STORM_THREADS];
	struct pair p;

	pair_start(&p, 20000, 0);
	s.c = &p.c;
	s.started = STORM_THREADS * STORM_DEPTH;
	sem_init(&s.all, 0, 0);
	for (int i = 0; i < STORM_THREADS * STORM_DEPTH; i++) {
		d[i].storm = &s;
		d[i].sink = mem_buf_get(p.c.pool, 65536);
	}
	for (int i = 0; i < STORM_THREADS; i++)
		pthread_create(&t[i], NULL, storm_thread, d + i * STORM_DEPTH);
	for (int i = 0; i < STORM_THREADS; i++)
		pthread_join(t[i], NULL);
	sem_wait(&s.all);
	assert_int_equal(s.bad, 0);
	for (int i = 0; i < STORM_THREADS * STORM_DEPTH; i++)
		mem_buf_unref(d[i].sink);
	pair_stop(&p);
	free(d);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thousand_calls_at_once),
	};

	return RPC_PAIR_RUN(argc, argv, tests);
}
