/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/rpc_connector.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <cmocka.h>

#include "transport/rpc/rpc_connector.h"

#define WAIT_MS 20000

static int thread_error; /* of pthread_create(); 0: none */

int __real_pthread_create(
	pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	return thread_error ? thread_error : __real_pthread_create(t, attr, run, arg);
}

struct env {
	struct rpc_client_params p;
	struct rpc_counts stats;
	struct rpc_connector n;
	int listener; /* bound; listening as the test wishes */
	int kick_fd;
};

static void env_start(struct env *v, enum rpc_proto proto, bool listening)
{
	struct sockaddr_in sin = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(sin);
	struct rpc_xprt_up up = {0};

	memset(v, 0, sizeof(*v));
	v->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(v->listener, (struct sockaddr *)&sin, sizeof(sin)), 0);
	if (listening)
		assert_int_equal(listen(v->listener, 8), 0);
	assert_int_equal(getsockname(v->listener, (struct sockaddr *)&sin, &len), 0);
	v->p = (struct rpc_client_params){.proto = proto,
		.peer_len = sizeof(sin),
		.peer_name = "test",
		.pool = mem_pool_new(0),
		.connect_ms = 600000};
	memcpy(&v->p.peer, &sin, sizeof(sin));
	v->kick_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	assert_int_equal(rpc_connector_init(&v->n, &v->p, &up, &v->stats, v->kick_fd), 0);
}

static void env_stop(struct env *v)
{
	rpc_connector_finish(&v->n);
	close(v->listener);
	close(v->kick_fd);
	mem_pool_free(v->p.pool);
}

static void wait_readable(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	assert_int_equal(poll(&p, 1, WAIT_MS), 1);
}

static void wait_kick(struct env *v)
{
	uint64_t n;

	wait_readable(v->kick_fd);
	assert_int_equal(read(v->kick_fd, &n, sizeof(n)), sizeof(n));
}

/* Makes the next attempt without the pause, and waits for the end of the attempt. */
static struct rpc_xprt *attempt(struct env *v)
{
	struct rpc_xprt *x = NULL;

	v->n.retry_at = 0;
	assert_int_equal(rpc_connector_start(&v->n, 1000), 1000);
	assert_true(v->n.running);
	wait_kick(v);
	assert_true(rpc_connector_collect(&v->n, &x));
	return x;
}

static void a_failure_has_a_reason_and_a_growing_pause(void **state)
{
	static const unsigned next[] = {200, 400, 800, 1600, 3200, 5000, 5000};
	struct rpc_xprt *x;
	struct env v;

	env_start(&v, RPC_TCP, false);
	assert_false(rpc_connector_collect(&v.n, &x)); /* no attempt was started */
	for (unsigned i = 0; i < sizeof(next) / sizeof(next[0]); i++) {
		assert_null(attempt(&v));
		assert_true(strlen(v.n.err.msg) > 0);
		assert_int_equal(v.n.backoff_ms, next[i]);
		v.n.retry_at = UINT64_MAX;
		assert_int_equal(rpc_connector_start(&v.n, 77), 77);
		assert_false(v.n.running); /* not before the pause is over */
	}
	env_stop(&v);
}

static void without_a_thread_an_attempt_fails(void **state)
{
	struct rpc_xprt *x = NULL;
	struct env v;

	env_start(&v, RPC_TCP, true);
	thread_error = EAGAIN;
	assert_int_equal(rpc_connector_start(&v.n, 1000), 0);
	thread_error = 0;
	assert_true(rpc_connector_collect(&v.n, &x));
	assert_null(x);
	assert_int_equal(v.n.err.kind, ERR_INTERNAL);
	assert_string_equal(v.n.err.msg, "cannot start a thread: Resource temporarily unavailable");
	assert_int_equal(v.n.backoff_ms, 200); /* the next attempt waits */
	assert_false(rpc_connector_collect(&v.n, &x));
	x = attempt(&v);
	assert_non_null(x);
	x->ops->shutdown(x);
	rpc_xprt_unref(x);
	env_stop(&v);
}

static void a_connection_is_handed_over_once(void **state)
{
	struct rpc_xprt *x, *again = NULL;
	struct env v;

	env_start(&v, RPC_TCP, true);
	x = attempt(&v);
	assert_non_null(x);
	assert_ptr_equal(x->stats, &v.stats);
	assert_false(rpc_connector_collect(&v.n, &again));
	rpc_connector_lost(&v.n, x, false, UINT64_MAX);
	assert_int_equal(v.n.backoff_ms, 100);
	rpc_connector_lost(&v.n, x, false, UINT64_MAX); /* never answered */
	assert_int_equal(v.n.backoff_ms, 200);
	rpc_connector_lost(&v.n, x, true, UINT64_MAX);
	assert_int_equal(v.n.backoff_ms, 100); /* this connection worked, and is replaced at once */
	rpc_xprt_unref(x);
	env_stop(&v);
}

/* The next connection, after x, which lived for this long. */
static struct rpc_xprt *replace(struct env *v, struct rpc_xprt *x, uint64_t lived_s)
{
	rpc_connector_lost(&v->n, x, true, lived_s * 1000000000);
	rpc_xprt_unref(x);
	x = attempt(v);
	assert_non_null(x);
	return x;
}

/* The next attempt uses the last connection's knowledge of the server. */
static void the_next_begins_where_the_last_ended(void **state)
{
	struct rpc_xprt *x;
	uint16_t port;
	struct env v;

	env_start(&v, RPC_TCP, true);
	v.p.same_port = true;
	x = attempt(&v);
	assert_non_null(x);
	assert_int_not_equal(x->local_port, 0);
	assert_int_equal(x->up.rdma_version, 0);
	assert_int_equal(x->up.from_port, 0);
	x->rdma_version = 7;
	port = x->local_port;
	x = replace(&v, x, 599);
	assert_int_equal(x->up.rdma_version, 7);
	assert_int_equal(x->up.from_port, port);
	rpc_xprt_unref(x);
	env_stop(&v);
}

/* The server knows repeated calls by the client's port. So the first connection to a server that
 * has started comes from the old port, however long the start has taken. */
static void a_server_that_starts_sees_the_old_port(void **state)
{
	struct rpc_xprt *x;
	uint16_t port;
	struct env v;

	env_start(&v, RPC_TCP, true);
	v.p.same_port = true;
	x = attempt(&v);
	assert_non_null(x);
	port = x->local_port;
	rpc_connector_lost(&v.n, x, true, UINT64_MAX);
	rpc_xprt_unref(x);
	close(v.listener);
	v.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(v.listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
	assert_int_equal(bind(v.listener, (struct sockaddr *)&v.p.peer, v.p.peer_len), 0);
	for (unsigned i = 0; i < 7; i++)
		assert_null(attempt(&v));
	assert_int_equal(listen(v.listener, 8), 0);
	x = attempt(&v);
	assert_non_null(x);
	assert_int_equal(x->up.from_port, port);
	rpc_xprt_unref(x);
	env_stop(&v);
}

/* A server that has refused a version is asked again when it may have been replaced. */
static void the_best_version_is_tried_again(void **state)
{
	struct rpc_xprt *x;
	struct env v;

	env_start(&v, RPC_TCP, true);
	x = attempt(&v);
	assert_non_null(x);
	x->rdma_version = 7;
	x = replace(&v, x, 600);
	assert_int_equal(x->up.rdma_version, 0);
	x->rdma_version = 7; /* the server still refuses */
	x = replace(&v, x, 1);
	assert_int_equal(x->up.rdma_version, 7);
	rpc_xprt_unref(x);
	env_stop(&v);
}

static void the_end_closes_what_nobody_collected(void **state)
{
	struct env v;
	char byte;
	int fd;

	env_start(&v, RPC_TCP, true);
	rpc_connector_start(&v.n, 1000);
	fd = accept(v.listener, NULL, NULL);
	assert_true(fd >= 0);
	wait_kick(&v);
	rpc_connector_finish(&v.n);
	wait_readable(fd);
	assert_int_equal(read(fd, &byte, 1), 0);
	close(fd);
	env_stop(&v);
}

/* A peer that takes the connection and says nothing does not hold up an abort. */
static void an_attempt_can_be_aborted(void **state)
{
	struct rpc_xprt *x = NULL;
	struct env v;
	int fd;

	env_start(&v, RPC_IWARP, true);
	rpc_connector_start(&v.n, 1000);
	fd = accept(v.listener, NULL, NULL);
	assert_true(fd >= 0);
	assert_false(rpc_connector_collect(&v.n, &x));
	rpc_connector_abort(&v.n);
	wait_kick(&v);
	assert_true(rpc_connector_collect(&v.n, &x));
	assert_null(x);
	assert_null(attempt(&v)); /* and so do all others */
	close(fd);
	env_stop(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_has_a_reason_and_a_growing_pause),
		cmocka_unit_test(without_a_thread_an_attempt_fails),
		cmocka_unit_test(a_connection_is_handed_over_once),
		cmocka_unit_test(the_next_begins_where_the_last_ended),
		cmocka_unit_test(a_server_that_starts_sees_the_old_port),
		cmocka_unit_test(the_best_version_is_tried_again),
		cmocka_unit_test(the_end_closes_what_nobody_collected),
		cmocka_unit_test(an_attempt_can_be_aborted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
