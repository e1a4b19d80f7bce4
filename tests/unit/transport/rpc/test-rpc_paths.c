/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit test of transport/rpc/rpc_paths: several connections to one server.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/transport/rpc/rpc-pair.h"
#include "transport/rpc/rpc_paths.h"

#define PATHS 3

struct rig {
	struct srv s;
	uint16_t port;
	struct rpc_paths paths;
	struct cli c[PATHS];
};

static void rig_start(struct rig *r)
{
	memset(r, 0, sizeof(*r));
	r->s.pool = mem_pool_new(0);
	srv_start(&r->s, 0);
	r->port = rpc_server_port(r->s.server);
	rpc_paths_init(&r->paths);
	for (int i = 0; i < PATHS; i++) {
		r->c[i].pool = i ? r->c[0].pool : mem_pool_new(0);
		r->c[i].paths = &r->paths;
		cli_start(&r->c[i], r->port, 20000, 0);
		/* RPC-over-RDMA grants one credit before the first answer */
		assert_int_equal(simple(&r->c[i], P_NULL), 0);
	}
}

static void rig_stop(struct rig *r)
{
	for (int i = 0; i < PATHS; i++)
		rpc_client_free(r->c[i].c);
	rpc_paths_finish(&r->paths);
	srv_stop(&r->s);
	pool_end(r->c[0].pool);
	pool_end(r->s.pool);
}

static void wait_until(bool (*is)(struct rig *r), struct rig *r)
{
	struct timespec pause = {.tv_nsec = 1000000};

	for (int i = 0; i < 20000 && !is(r); i++)
		nanosleep(&pause, NULL);
	assert_true(is(r));
}

static bool all_up(struct rig *r)
{
	for (int i = 0; i < PATHS; i++)
		if (!rpc_client_is_up(r->c[i].c))
			return false;
	return true;
}

static bool none_up(struct rig *r)
{
	for (int i = 0; i < PATHS; i++)
		if (r->c[i].c && rpc_client_is_up(r->c[i].c))
			return false;
	return true;
}

/* The server ends the connection of path i, in place of an answer. */
static void cut(struct rig *r, int i)
{
	r->s.fault = FAULT_CLOSE;
	atomic_store(&r->s.faults_left, 1);
	assert_int_equal(simple(&r->c[i], P_NULL), 0);
}

/* A call of the procedure is sent over path i. */
static void begin(struct rig *r, struct one *o, int i, uint32_t proc)
{
	one_init(o, &r->c[i], proc);
	assert_int_equal(rpc_call_submit(&o->call), 0);
}

/* The same, and the server has the call, and answers when it is allowed to. */
static void begin_held(struct rig *r, struct one *o, int i)
{
	begin(r, o, i, P_ASYNC);
	sem_wait(&arrived);
}

/* The call of begin() has been answered. */
static void end(struct one *o)
{
	assert_int_equal(one_wait(o), 0);
	one_finish(o);
}

/* The calls of begin_held() are answered. */
static void end_held(struct one *o, int n)
{
	for (int i = 0; i < n; i++)
		sem_post(&allowed);
	for (int i = 0; i < n; i++) {
		sem_wait(&answered);
		end(&o[i]);
	}
}

static void small_calls_stay_and_large_ones_spread(void **state)
{
	struct rpc_client *seen[PATHS] = {0};
	struct rig r;

	rig_start(&r);
	for (int i = 0; i < 8; i++)
		assert_ptr_equal(rpc_paths_pick(&r.paths, false), r.c[0].c);
	for (int i = 0; i < PATHS; i++)
		seen[i] = rpc_paths_pick(&r.paths, true);
	assert_true(seen[0] != seen[1] && seen[1] != seen[2] && seen[0] != seen[2]);
	rpc_client_hold_back(r.c[0].c, true);
	assert_ptr_equal(rpc_paths_pick(&r.paths, false), r.c[1].c);
	for (int i = 0; i < PATHS; i++)
		assert_ptr_not_equal(rpc_paths_pick(&r.paths, true), r.c[0].c);
	rpc_client_hold_back(r.c[0].c, false);
	assert_ptr_equal(rpc_paths_pick(&r.paths, false), r.c[0].c);
	for (int i = 0; i < PATHS; i++) /* all are held back: better one of these than none */
		rpc_client_hold_back(r.c[i].c, true);
	assert_ptr_equal(rpc_paths_pick(&r.paths, false), r.c[0].c);
	rig_stop(&r);
}

/* A path that has enough calls leaves small ones to the next. */
static void many_small_calls_use_several_paths(void **state)
{
	struct one o[2];
	struct rig r;

	rig_start(&r);
	r.paths.enough = 1;
	for (int i = 0; i < 2; i++) {
		assert_ptr_equal(rpc_paths_pick(&r.paths, false), r.c[i].c);
		begin_held(&r, &o[i], i);
	}
	assert_ptr_equal(rpc_paths_pick(&r.paths, false), r.c[2].c);
	end_held(o, 2);
	assert_ptr_equal(rpc_paths_pick(&r.paths, false), r.c[0].c);
	rig_stop(&r);
}

/* The path with fewer calls gets the large call. */
static void large_calls_avoid_a_busy_path(void **state)
{
	struct one o;
	struct rig r;

	rig_start(&r);
	begin_held(&r, &o, 1);
	for (int i = 0; i < 2 * PATHS; i++)
		assert_ptr_not_equal(rpc_paths_pick(&r.paths, true), r.c[1].c);
	end_held(&o, 1);
	rig_stop(&r);
}

static void a_call_leaves_a_lost_path(void **state)
{
	struct one o;
	struct rig r;

	rig_start(&r);
	begin(&r, &o, 0, P_NEVER);
	cut(&r, 0);
	assert_int_equal(one_wait(&o), 0);
	assert_true(o.call.repeated);
	assert_ptr_not_equal(o.call.client, r.c[0].c);
	assert_int_equal(r.s.never, 2);
	one_finish(&o);
	wait_until(all_up, &r);
	assert_int_equal(r.c[0].reconnected, 1);
	assert_int_equal(r.c[1].reconnected + r.c[2].reconnected, 0);
	rig_stop(&r);
}

static int hellos; /* requests that are awaited */

static bool has_said_hello(struct rig *r)
{
	return r->s.requests >= hellos;
}

/* A server sees a call on each connection, also on one that no caller uses. */
static void a_path_says_hello_on_each_connection(void **state)
{
	struct cli c = {.hello = true};
	struct rig r;

	rig_start(&r);
	c.pool = r.c[0].pool;
	hellos = r.s.requests + 1;
	cli_start(&c, r.port, 20000, 0);
	wait_until(has_said_hello, &r);
	hellos++;
	srv_stop(&r.s);
	srv_start(&r.s, r.port);
	wait_until(has_said_hello, &r);
	/* twice, if the first new connection was to the listener that has ended */
	assert_true(c.reconnected >= 1);
	rpc_client_free(c.c);
	rig_stop(&r);
}

/* The server cannot be reached when the path begins. The path carries calls once the server is
 * there. */
static void a_path_may_connect_later(void **state)
{
	struct rpc_client_stats st;
	struct one o;
	struct rig r;
	struct cli *c;

	rig_start(&r);
	c = &r.c[PATHS - 1];
	c->c = rpc_client_free(c->c);
	srv_stop(&r.s);
	wait_until(none_up, &r);
	c->later = c->hello = true;
	cli_start(c, r.port, 20000, 0);
	assert_false(rpc_client_is_up(c->c));
	begin(&r, &o, PATHS - 1, P_NULL);
	srv_start(&r.s, r.port);
	end(&o);
	wait_until(all_up, &r);
	rpc_client_hold_back(r.c[0].c, true);
	rpc_client_hold_back(r.c[1].c, true);
	assert_ptr_equal(rpc_paths_pick(&r.paths, false), r.c[0].c); /* c has not joined */
	rpc_paths_join(&r.paths, c->c);
	assert_ptr_equal(rpc_paths_pick(&r.paths, false), c->c);
	assert_int_equal(c->reconnected, 1);
	rpc_client_stats(c->c, &st);
	assert_int_equal(st.reconnects, 0); /* nothing was lost */
	rig_stop(&r);
}

/* A client that is not one of the paths may lead to another server. */
static void an_answer_over_a_path_ends_the_silence(void **state)
{
	struct rig r;

	rig_start(&r);
	atomic_store(&r.paths.silent, true);
	rpc_paths_leave(&r.paths, r.c[2].c);
	assert_int_equal(simple(&r.c[2], P_NULL), 0);
	assert_true(atomic_load(&r.paths.silent));
	rpc_paths_join(&r.paths, r.c[2].c);
	assert_int_equal(simple(&r.c[2], P_NULL), 0);
	assert_false(atomic_load(&r.paths.silent));
	rig_stop(&r);
}

static void a_call_about_its_connection_stays(void **state)
{
	struct one o;
	struct rig r;

	rig_start(&r);
	one_init(&o, &r.c[0], P_NEVER);
	o.call.stays = true;
	assert_int_equal(rpc_call_submit(&o.call), 0);
	cut(&r, 0);
	assert_int_equal(one_wait(&o), 0);
	assert_ptr_equal(o.call.client, r.c[0].c);
	one_finish(&o);
	rig_stop(&r);
}

/* Such a call may leave a path that has never sent the call. */
static void a_call_for_once_stays_if_it_was_sent(void **state)
{
	struct one o[2];
	struct rig r;

	rig_start(&r);
	one_init(&o[0], &r.c[0], P_NEVER);
	o[0].call.once = true;
	assert_int_equal(rpc_call_submit(&o[0].call), 0);
	cut(&r, 0);
	one_init(&o[1], &r.c[0], P_NULL);
	o[1].call.once = true;
	assert_int_equal(rpc_call_submit(&o[1].call), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(one_wait(&o[i]), 0);
	assert_true(o[0].call.repeated);
	assert_ptr_equal(o[0].call.client, r.c[0].c);
	assert_int_equal(r.s.never_xid[0], r.s.never_xid[1]);
	for (int i = 0; i < 2; i++)
		one_finish(&o[i]);
	rig_stop(&r);
}

/* The server goes and comes back: calls of all paths wait, and are answered. */
static void calls_wait_while_no_path_is_up(void **state)
{
	struct one o[PATHS];
	struct rig r;

	rig_start(&r);
	srv_stop(&r.s);
	wait_until(none_up, &r);
	for (int i = 0; i < PATHS; i++)
		begin(&r, &o[i], i, P_NULL);
	assert_false(rpc_paths_other_up(&r.paths, NULL));
	srv_start(&r.s, r.port);
	for (int i = 0; i < PATHS; i++)
		end(&o[i]);
	rig_stop(&r);
}

/* A path ends for good: its calls end with it, and no call of another path comes to it. */
static void a_path_leaves(void **state)
{
	struct one o;
	struct rig r;

	rig_start(&r);
	begin(&r, &o, 2, P_LATER);
	r.c[2].c = rpc_client_free(r.c[2].c);
	assert_int_equal(one_wait(&o), -ENOTCONN);
	one_finish(&o);
	begin(&r, &o, 0, P_NEVER);
	cut(&r, 0);
	assert_int_equal(one_wait(&o), 0);
	assert_ptr_equal(o.call.client, r.c[1].c);
	one_finish(&o);
	rig_stop(&r);
}

/* Threads of other paths may still name a path that has ended: no call is lost, and no path is
 * asked that is gone. */
static void a_path_that_has_ended_is_still_there(void **state)
{
	struct one o;
	struct rig r;

	rig_start(&r);
	begin(&r, &o, 0, P_LATER);
	rpc_client_stop(r.c[0].c);
	assert_int_equal(one_wait(&o), -ENOTCONN);
	one_finish(&o);
	assert_false(rpc_client_is_up(r.c[0].c));
	assert_ptr_equal(rpc_paths_pick(&r.paths, false), r.c[1].c);
	for (int i = 1; i < PATHS; i++)
		rpc_client_stop(r.c[i].c);
	for (int i = 0; i < 2 * PATHS; i++) {
		assert_int_equal(rpc_call_init(&o.call, rpc_paths_pick(&r.paths, i % 2), 4096), 0);
		o.call.done = NULL; /* never called */
		assert_int_equal(rpc_call_submit(&o.call), -ENOTCONN);
		rpc_call_finish(&o.call);
	}
	assert_false(rpc_paths_other_up(&r.paths, NULL));
	rig_stop(&r);
}

static void a_moved_call_can_be_cancelled(void **state)
{
	struct one o;
	struct rig r;

	rig_start(&r);
	begin(&r, &o, 0, P_LATER);
	cut(&r, 0);
	assert_int_equal(simple(&r.c[0], P_NULL), 0);
	rpc_call_withdraw(&o.call); /* without effect: the server may have the call */
	assert_int_equal(simple(&r.c[1], P_NULL), 0);
	assert_int_equal(simple(&r.c[2], P_NULL), 0);
	assert_int_equal(o.error, 12345);
	rpc_call_cancel(&o.call);
	assert_int_equal(one_wait(&o), -ECANCELED);
	one_finish(&o);
	rig_stop(&r);
}

/* --- connections that are cut all the time -----------------------------------------------------
 */

#define STORM_CALLS   1500
#define STORM_THREADS 3

struct storm {
	struct rig *r;
	atomic_int left, ended, cancelled, bad;
};

struct drop {
	struct rpc_call call;
	sem_t sem;
	int error;
};

static void drop_done(struct rpc_call *call, int error, struct xdr_in *res)
{
	struct drop *d = call->ctx;

	d->error = error;
	sem_post(&d->sem);
}

/* Calls one after the other, each over the picked path; cancels each seventh. */
static void *storm_thread(void *arg)
{
	struct storm *s = arg;
	int i;

	while ((i = atomic_fetch_sub(&s->left, 1)) > 0) {
		struct drop d;

		sem_init(&d.sem, 0, 0);
		assert_int_equal(
			rpc_call_init(&d.call, rpc_paths_pick(&s->r->paths, i % 2), 4096), 0);
		d.call.proc = P_ECHO;
		d.call.done = drop_done;
		d.call.ctx = &d;
		d.call.reply_max = 4096;
		xdr_put_opaque(&d.call.args, "text", 4);
		assert_int_equal(rpc_call_submit(&d.call), 0);
		if (i % 7 == 0)
			rpc_call_cancel(&d.call);
		sem_wait(&d.sem);
		rpc_call_finish(&d.call);
		sem_destroy(&d.sem);
		s->cancelled += d.error == -ECANCELED;
		s->bad += d.error && (d.error != -ECANCELED || i % 7);
		s->ended++;
	}
	return NULL;
}

static bool one_came_back(struct rig *r)
{
	return r->c[0].reconnected + r->c[1].reconnected + r->c[2].reconnected > 0;
}

static void each_call_ends_once_however_paths_come_and_go(void **state)
{
	struct storm s = {0};
	pthread_t t[STORM_THREADS];
	struct rig r;

	rig_start(&r);
	s.r = &r;
	s.left = STORM_CALLS;
	r.s.fault = FAULT_CLOSE;
	atomic_store(&r.s.faults_left, 1);
	for (int i = 0; i < STORM_THREADS; i++)
		pthread_create(&t[i], NULL, storm_thread, &s);
	while (s.left > 0) {
		struct timespec pause = {.tv_nsec = 3000000};

		if (all_up(&r)) /* else the pauses between attempts grow */
			atomic_store(&r.s.faults_left, 1);
		nanosleep(&pause, NULL);
	}
	for (int i = 0; i < STORM_THREADS; i++)
		pthread_join(t[i], NULL);
	atomic_store(&r.s.faults_left, 0);
	assert_int_equal(s.ended, STORM_CALLS);
	assert_int_equal(s.bad, 0);
	wait_until(one_came_back, &r);
	wait_until(all_up, &r);
	rig_stop(&r);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_calls_stay_and_large_ones_spread),
		cmocka_unit_test(many_small_calls_use_several_paths),
		cmocka_unit_test(large_calls_avoid_a_busy_path),
		cmocka_unit_test(a_call_leaves_a_lost_path),
		cmocka_unit_test(a_path_says_hello_on_each_connection),
		cmocka_unit_test(a_path_may_connect_later),
		cmocka_unit_test(an_answer_over_a_path_ends_the_silence),
		cmocka_unit_test(a_call_about_its_connection_stays),
		cmocka_unit_test(a_call_for_once_stays_if_it_was_sent),
		cmocka_unit_test(calls_wait_while_no_path_is_up),
		cmocka_unit_test(a_path_leaves),
		cmocka_unit_test(a_path_that_has_ended_is_still_there),
		cmocka_unit_test(a_moved_call_can_be_cancelled),
		cmocka_unit_test(each_call_ends_once_however_paths_come_and_go),
	};

	return RPC_PAIR_RUN(argc, argv, tests);
}
