/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/nfs4_server: a server by itself, without any mount, and with users that
 * are no mounts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sched.h>
#include <cmocka.h>

#include "nfs4-fixture.h"
#include "nfsproto/v4/nfs4_task.h"
#include "transport/clock.h"

#define WAIT_MS 60000u

struct user {
	struct nfs4_user base;
	atomic_uint polls, reclaims, checks, revoked;
};

static struct user *user_of(struct nfs4_user *u)
{
	return container_of(u, struct user, base);
}

static bool poll_user(struct nfs4_user *u, uint64_t now, uint64_t *next)
{
	atomic_fetch_add(&user_of(u)->polls, 1);
	return false;
}

static void reclaim(struct nfs4_user *u)
{
	atomic_fetch_add(&user_of(u)->reclaims, 1);
}

static void revoked(struct nfs4_user *u)
{
	atomic_fetch_add(&user_of(u)->revoked, 1);
}

static bool check(struct nfs4_user *u)
{
	atomic_fetch_add(&user_of(u)->checks, 1);
	return false;
}

static const struct nfs4_upcalls upcalls = {
	.poll = poll_user, .reclaim = reclaim, .revoked = revoked, .check = check};

/* A server with a session; users, n of them, join it. */
static struct nfs4_server *establish(struct fix *f, struct user *users, unsigned n)
{
	struct nfs_mount_params p = {
		.proto = RPC_TCP,
		.host = "127.0.0.1",
		.port = rpc_server_port(f->srv.server),
		.vers_major = 4,
		.vers_minor = 1,
		.pool = f->pool,
		.connect_ms = WAIT_MS,
		.timeo_ms = WAIT_MS,
		.retrans = 1,
	};
	struct err e = {.kind = ERR_NONE};
	struct nfs4_server *srv = nfs4_server_new(&p);
	struct nfs4_sync s;

	assert_non_null(srv);
	for (unsigned i = 0; i < n; i++) {
		users[i].base.up = &upcalls;
		nfs4_server_join(srv, &users[i].base);
	}
	assert_int_equal(nfs4_server_connect(srv, &p, &e), 0);
	assert_int_equal(nfs4_sync_exchange_id(srv, &s, WAIT_MS), 0);
	assert_int_equal(nfs4_sync_create_session(srv, &s, WAIT_MS), 0);
	assert_int_equal(nfs4_sync_run(srv, &s, NFS4_K_RECLAIM_COMPLETE, WAIT_MS), 0);
	srv->lease_s = 60;
	assert_int_equal(nfs4_state_start(srv), 0);
	return srv;
}

/* Gives it up; the peer must be left without any state of ours. */
static void give_up(struct fix *f, struct nfs4_server *srv, struct user *users, unsigned n)
{
	pthread_mutex_lock(&srv->slots.lock);
	srv->stopping = true;
	pthread_mutex_unlock(&srv->slots.lock);
	nfs4_state_stop(srv);
	nfs4_server_gate(srv, false);
	nfs4_server_fail_queued(srv);
	nfs4_server_goodbye(srv, clock_ns() + WAIT_MS * NFS4_MSEC, 0);
	nfs4_server_disconnect(srv);
	for (unsigned i = 0; i < n; i++)
		nfs4_server_leave(srv, &users[i].base);
	assert_null(nfs4_server_free(srv));
	assert_int_equal(f->srv.nsessions, 0);
	assert_int_equal(f->srv.nclients, 0);
}

static void needs_no_mount(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv = establish(f, NULL, 0);

	assert_int_equal(f->srv.nsessions, 1);
	assert_int_equal(srv->nconns, 1);
	assert_ptr_equal(nfs4_server_conn(srv)->srv, srv);
	give_up(f, srv, NULL, 0);
}

/* What the state manager was asked for has been done. */
static void settle(struct nfs4_server *srv)
{
	bool busy = true;

	while (busy) {
		struct timespec pause = {.tv_nsec = 1000 * 1000};

		nanosleep(&pause, NULL);
		pthread_mutex_lock(&srv->slots.lock);
		busy = srv->todo || srv->state != NFS4_S_RUNNING;
		pthread_mutex_unlock(&srv->slots.lock);
	}
}

static void has_all_users_reclaim(void **state)
{
	struct fix *f = *state;
	static struct user users[2];
	struct nfs4_server *srv = establish(f, users, 2);

	nfs4_state_want(srv, NFS4_TODO_SESSION | NFS4_TODO_CLIENT | NFS4_TODO_DESTROY);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_CREATE_SESSION], 2));
	settle(srv);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(users[i].reclaims, 1);
		assert_int_equal(users[i].revoked, 0);
		assert_true(users[i].polls > 0);
	}
	give_up(f, srv, users, 2);
}

static void binds_the_connection_that_is_unbound(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv = establish(f, NULL, 0);

	nfs4_conn_unbound(nfs4_server_conn(srv));
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_BIND_CONN_TO_SESSION], 1));
	settle(srv);
	nfs4_state_want(srv, NFS4_TODO_BIND); /* none is unbound */
	settle(srv);
	give_up(f, srv, NULL, 0);
	assert_int_equal(f->srv.count[OP_BIND_CONN_TO_SESSION], 1);
}

static void tells_all_users_of_revoked_state(void **state)
{
	struct fix *f = *state;
	static struct user users[2];
	struct nfs4_server *srv = establish(f, users, 2);

	nfs4_state_flags(srv, SEQ4_STATUS_ADMIN_STATE_REVOKED);
	while (atomic_load(&users[1].checks) == 0)
		sched_yield();
	give_up(f, srv, users, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(users[i].revoked, 1);
		assert_int_equal(users[i].checks, 1);
		assert_int_equal(users[i].reclaims, 0);
	}
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fix_setup_unmounted, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(needs_no_mount),
		TEST(has_all_users_reclaim),
		TEST(binds_the_connection_that_is_unbound),
		TEST(tells_all_users_of_revoked_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
