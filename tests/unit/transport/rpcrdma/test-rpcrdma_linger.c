/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpcrdma/rpcrdma_linger.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/transport/rpcrdma/fake-provider.h"
#include "tests/unit/transport/rpcrdma/rpcrdma-pair.h"
#include "transport/rpc/cork.h"

static void start(struct pair *p)
{
	pair_init(p, &(struct pair_params){0});
	pair_null(p); /* and also the credits */
}

static void submit_patient(struct pair *p, struct pair_call *c, enum pair_proc proc)
{
	pair_call_init(p, c, proc, 64);
	c->rpc.patient = true;
	pair_submit(p, c);
}

static bool lingers(const struct pair *p)
{
	return atomic_load(&rpcrdma_conn_of(p->client)->linger.since_ns) != 0;
}

static void wait_served(struct pair *p, unsigned n)
{
	while (atomic_load(&p->served) < n)
		nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void it_stays_and_leaves_in_the_end(void **state)
{
	struct pair_call c;
	struct pair p;

	start(&p);
	submit_patient(&p, &c, PAIR_NULL);
	assert_int_equal(lingers(&p), pair_prov->flush != NULL);
	pair_end(&p, &c, 0);
	/* the Send that took the call along need not have said so: then the call is flushed once
	 * more, for nothing */
	for (int i = 0; i < 1000 && lingers(&p); i++)
		pair_progress(&p, 1);
	assert_false(lingers(&p));
	pair_call_finish(&c);
	pair_finish(&p);
}

static void the_next_message_takes_it_along(void **state)
{
	struct pair_call patient, next;
	struct pair p;

	start(&p);
	submit_patient(&p, &patient, PAIR_NULL);
	pair_call_init(&p, &next, PAIR_NULL, 64);
	pair_submit(&p, &next);
	assert_false(lingers(&p));
	wait_served(&p, 3); /* without any progress on this side */
	pair_end(&p, &patient, 0);
	pair_end(&p, &next, 0);
	pair_call_finish(&patient);
	pair_call_finish(&next);
	pair_finish(&p);
}

/* No thread would send the call while the progress thread sleeps for long. */
static void who_sleeps_soundly_is_not_relied_on(void **state)
{
	struct pair_call c;
	struct pair p;

	start(&p);
	atomic_store(&rpcrdma_conn_of(p.client)->linger.sound_asleep, true);
	submit_patient(&p, &c, PAIR_NULL);
	assert_false(lingers(&p));
	wait_served(&p, 2);
	pair_end(&p, &c, 0);
	pair_call_finish(&c);
	pair_finish(&p);
}

/* A call with a waiting thread counts as alone beside patient ones. */
static void others_do_not_wait_for_it(void **state)
{
	struct pair_call patient, next;
	struct pair p;

	start(&p);
	submit_patient(&p, &patient, PAIR_LATER);
	while (atomic_load(&p.served) < 2)
		pair_progress(&p, 1);
	cork_put();
	pair_call_init(&p, &next, PAIR_NULL, 64);
	pair_submit(&p, &next);
	assert_int_equal(cork_held(), 0);
	cork_pull();
	pair_end(&p, &next, 0);
	assert_int_equal(pair_release(&p), 1);
	pair_end(&p, &patient, 0);
	pair_call_finish(&patient);
	pair_call_finish(&next);
	pair_finish(&p);
}

static void it_is_taken_back(void **state)
{
	struct pair_call c;
	struct pair p;

	start(&p);
	submit_patient(&p, &c, PAIR_NULL);
	pair_forget(&p, &c);
	pair_call_finish(&c);
	for (int i = 0; i < 100; i++)
		pair_null(&p);
	assert_int_equal(rpcrdma_conn_of(p.client)->patient, 0);
	pair_finish(&p);
}

static void the_connection_ends_meanwhile(void **state)
{
	struct pair_call c;
	struct pair p;

	start(&p);
	submit_patient(&p, &c, PAIR_NULL);
	p.client->ops->shutdown(p.client);
	pair_wait(&p, &c);
	assert_int_not_equal(c.error, 0);
	pair_call_finish(&c);
	pair_finish(&p);
}

#define MANY 100

struct sender {
	struct pair *p;
	struct pair_call *call;
	uint32_t *off;
};

/* One after the other: each call must leave although no call follows. */
static void *send_patiently(void *arg)
{
	struct sender *s = arg;

	for (int i = 0; i < MANY; i++) {
		if (s->p->client->ops->send_call(s->p->client, &s->call[i].rpc, s->off[i]))
			abort();
		wait_served(s->p, 2 + (unsigned)i);
		if (i % 25 == 0) /* by then the progress thread may sleep soundly */
			nanosleep(&(struct timespec){.tv_nsec = 60000000}, NULL);
	}
	return NULL;
}

static void each_leaves_whenever_it_comes(void **state)
{
	static struct pair_call c[MANY];
	static uint32_t off[MANY];
	struct sender s = {.call = c, .off = off};
	pthread_t thread;
	struct pair p;

	memset(c, 0, sizeof(c));
	start(&p);
	s.p = &p;
	for (int i = 0; i < MANY; i++) {
		pair_call_init(&p, &c[i], PAIR_NULL, 64);
		c[i].rpc.patient = true;
		off[i] = pair_enter(&p, &c[i]);
	}
	pthread_create(&thread, NULL, send_patiently, &s);
	for (int i = 0; i < MANY; i++)
		pair_end(&p, &c[i], 0);
	pthread_join(thread, NULL);
	for (int i = 0; i < MANY; i++)
		pair_call_finish(&c[i]);
	pair_finish(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_stays_and_leaves_in_the_end),
		cmocka_unit_test(the_next_message_takes_it_along),
		cmocka_unit_test(who_sleeps_soundly_is_not_relied_on),
		cmocka_unit_test(others_do_not_wait_for_it),
		cmocka_unit_test(it_is_taken_back),
		cmocka_unit_test(the_connection_ends_meanwhile),
		cmocka_unit_test(each_leaves_whenever_it_comes),
	};

	fake_lingers = true;
	return PAIR_RUN(tests);
}
