/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/server/nfs4_server: a server alone, without any mount, with users that
 * are no mounts, with two mounts, with two connections.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/nfs4_client.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/server/nfs4_join.h"
#include "nfsproto/v4/server/nfs4_session.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/clock.h"
#include "transport/log.h"

#define WAIT_MS 60000u

struct user {
	struct nfs4_user base;
	atomic_uint polls, reclaims, checks, revoked;
	unsigned unknown; /* how often the user cannot find the revoked state */
	unsigned moves;	  /* how often the user moves on instead of a reclaim */
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

static bool reclaim(struct nfs4_user *u)
{
	return atomic_fetch_add(&user_of(u)->reclaims, 1) < user_of(u)->moves;
}

static bool revoked(struct nfs4_user *u)
{
	return atomic_fetch_add(&user_of(u)->revoked, 1) < user_of(u)->unknown;
}

static bool check(struct nfs4_user *u)
{
	atomic_fetch_add(&user_of(u)->checks, 1);
	return false;
}

static const struct nfs4_upcalls upcalls = {
	.poll = poll_user, .reclaim = reclaim, .revoked = revoked, .check = check};

static struct nfs_mount_params params(struct fix *f)
{
	return (struct nfs_mount_params){
		.proto = RPC_TCP,
		.host = "127.0.0.1",
		.port = rpc_server_port(f->srv.server),
		.export = "/",
		.vers_major = 4,
		.vers_minor = 1,
		.pool = f->pool,
		.connect_ms = WAIT_MS,
		.timeo_ms = WAIT_MS,
		.retrans = 1,
		.rsize = 1 << 20,
		.wsize = 1 << 20,
	};
}

/* A server that is up, with this number of connections; n users join the server. */
static struct nfs4_server *start(struct fix *f, unsigned conns, struct user *users, unsigned n)
{
	struct nfs_mount_params p = params(f);
	struct nfs4_server *srv;
	struct err e = {.kind = ERR_NONE};

	p.nconnect = conns;
	srv = nfs4_server_new(&p, nfs4_kinds);
	assert_non_null(srv);
	for (unsigned i = 0; i < n; i++) {
		users[i].base.up = &upcalls;
		nfs4_user_join(srv, &users[i].base);
	}
	if (nfs4_server_start(srv, &p, &e))
		fail_msg("%s", e.msg);
	return srv;
}

/* Gives the server up; no state of ours may be left at the peer. */
static void give_up(struct fix *f, struct nfs4_server *srv, struct user *users, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		nfs4_user_quit(srv, &users[i].base);
		nfs4_user_leave(srv, &users[i].base, 0, 0);
	}
	assert_int_equal(f->srv.nsessions, 1);
	assert_null(nfs4_server_unref(srv));
	assert_int_equal(f->srv.nsessions, 0);
	assert_int_equal(f->srv.nclients, 0);
}

static void needs_no_mount(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv = start(f, 1, NULL, 0);

	assert_int_equal(f->srv.nsessions, 1);
	assert_int_equal(srv->nconns, 1);
	assert_ptr_equal(nfs4_server_conn(srv)->srv, srv);
	give_up(f, srv, NULL, 0);
}

/* The state manager has done all its work. */
static void settle(struct nfs4_server *srv)
{
	bool busy = true;

	while (busy) {
		struct timespec pause = {.tv_nsec = 1000 * 1000};

		nanosleep(&pause, NULL);
		mutex_lock(&srv->slots.lock);
		busy = srv->todo || srv->state != NFS4_S_RUNNING;
		mutex_unlock(&srv->slots.lock);
	}
}

static void has_all_users_reclaim(void **state)
{
	struct fix *f = *state;
	static struct user users[2];
	struct nfs4_server *srv = start(f, 1, users, 2);

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

static void begins_anew_when_a_user_moves_on(void **state)
{
	struct fix *f = *state;
	static struct user users[2];
	struct nfs4_server *srv = start(f, 1, users, 2);

	users[0].moves = 1;
	nfs4_state_want(srv, NFS4_TODO_SESSION | NFS4_TODO_CLIENT);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_RECLAIM_COMPLETE], 2));
	settle(srv);
	assert_int_equal(f->srv.count[OP_RECLAIM_COMPLETE], 2); /* with that of the start */
	assert_int_equal(f->srv.count[OP_EXCHANGE_ID], 3);
	assert_int_equal(users[0].reclaims, 2);
	assert_int_equal(users[1].reclaims, 1);
	give_up(f, srv, users, 2);
}

static void binds_the_connection_that_is_unbound(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv = start(f, 1, NULL, 0);

	nfs4_state_unbound(nfs4_server_conn(srv));
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_BIND_CONN_TO_SESSION], 1));
	settle(srv);
	nfs4_state_want(srv, NFS4_TODO_BIND); /* no connection is unbound */
	settle(srv);
	give_up(f, srv, NULL, 0);
	assert_int_equal(f->srv.count[OP_BIND_CONN_TO_SESSION], 1);
}

static void tells_all_users_of_revoked_state(void **state)
{
	struct fix *f = *state;
	static struct user users[2];
	struct nfs4_server *srv = start(f, 1, users, 2);

	nfs4_state_flags(srv, SEQ4_STATUS_ADMIN_STATE_REVOKED, clock_ns());
	while (atomic_load(&users[1].checks) == 0)
		sched_yield();
	give_up(f, srv, users, 2);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(users[i].revoked, 1);
		assert_int_equal(users[i].checks, 1);
		assert_int_equal(users[i].reclaims, 0);
	}
}

/* A user that could not find the revoked state is asked again, and no state counts until then. */
static void asks_again_what_is_revoked(void **state)
{
	struct fix *f = *state;
	static struct user user = {.unknown = 1};
	struct nfs4_server *srv = start(f, 1, &user, 1);

	nfs4_state_flags(srv, SEQ4_STATUS_ADMIN_STATE_REVOKED, clock_ns());
	while (atomic_load(&user.revoked) < 2) {
		assert_true(atomic_load(&srv->revoking) || atomic_load(&user.revoked) == 2);
		sched_yield();
	}
	while (atomic_load(&srv->revoking))
		sched_yield();
	give_up(f, srv, &user, 1);
	assert_int_equal(user.revoked, 2);
}

/* While users reclaim, news of revoked state counts. Other flags count on the next session. */
static void keeps_flags_that_come_while_users_reclaim(void **state)
{
	struct fix *f = *state;
	static struct user user;
	struct nfs4_server *srv = start(f, 1, &user, 1);

	nfs4_state_set(srv, NFS4_S_RECLAIM);
	nfs4_state_flags(
		srv, SEQ4_STATUS_ADMIN_STATE_REVOKED | SEQ4_STATUS_CB_PATH_DOWN, clock_ns());
	while (atomic_load(&user.checks) == 0)
		sched_yield();
	assert_int_equal(user.revoked, 1);
	nfs4_state_set(srv, NFS4_S_RUNNING);
	settle(srv);
	assert_int_equal(f->srv.count[OP_BIND_CONN_TO_SESSION], 0);
	nfs4_state_flags(srv, SEQ4_STATUS_CB_PATH_DOWN, clock_ns());
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_BIND_CONN_TO_SESSION], 1));
	give_up(f, srv, &user, 1);
}

/* --- two mounts ------------------------------------------------------------------------------- */

struct pair {
	struct nfs_client *mount[2];
	struct nfs_open *open[2];
	struct nfs_fh fh;
};

/* Ops of f go through mount i. */
static void on(struct fix *f, const struct pair *two, unsigned i)
{
	f->nfs = two->mount[i];
	nfs_client_root(f->nfs, &f->root, NULL);
}

static void reads(struct fix *f, const struct pair *two, unsigned i)
{
	uint32_t n;

	on(f, two, i);
	assert_int_equal(fix_read(f, two->open[i], &two->fh, 1000, &n), 0);
	assert_int_equal(n, 1000);
}

/* Two mounts, both with an open file. */
static void mount_two(struct fix *f, struct pair *two)
{
	struct nfs_mount_params p = params(f);
	struct nfs4_server *srv = start(f, 1, NULL, 0);
	struct err e = {.kind = ERR_NONE};

	for (unsigned i = 0; i < 2; i++) {
		two->mount[i] = nfs4_mount_on(srv, &p, &e);
		assert_non_null(two->mount[i]);
		on(f, two, i);
		two->open[i] = fix_open(f, O_RDWR, &two->fh);
	}
	nfs4_server_unref(srv); /* each mount has a reference */
	assert_int_equal(f->srv.nopens, 2);
	assert_int_equal(f->srv.count[OP_EXCHANGE_ID], 1);
	assert_int_equal(f->srv.count[OP_CREATE_SESSION], 1);
}

static void two_mounts_share_a_session(void **state)
{
	struct fix *f = *state;
	struct pair two;

	mount_two(f, &two);
	reads(f, &two, 0);
	reads(f, &two, 1);
	assert_null(nfs_client_free(two.mount[0]));
	assert_int_equal(f->srv.nopens, 1); /* the first mount has closed its own open */
	assert_int_equal(f->srv.nsessions, 1);
	reads(f, &two, 1);
	mean_lose_session(&f->srv);
	reads(f, &two, 1);
	assert_int_equal(f->srv.count[OP_CREATE_SESSION], 2);
	assert_int_equal(fix_close(f, two.open[1]), 0);
	fix_unmount_clean(f);
}

static void a_restart_has_both_mounts_reclaim(void **state)
{
	struct fix *f = *state;
	struct pair two;

	mount_two(f, &two);
	mean_reboot(&f->srv);
	reads(f, &two, 1);
	reads(f, &two, 0);
	assert_int_equal(f->srv.reclaims, 2);
	assert_int_equal(f->srv.reopens, 0);
	assert_int_equal(f->srv.count[OP_EXCHANGE_ID], 2);
	assert_int_equal(f->srv.count[OP_RECLAIM_COMPLETE], 2);
	assert_int_equal(f->srv.nopens, 2);
	assert_null(nfs_client_free(two.mount[1]));
	mean_reboot(&f->srv);
	reads(f, &two, 0);
	assert_int_equal(f->srv.reclaims, 3);
	fix_unmount_clean(f); /* with the file open */
}

/* Ops of the leaving mount end with the mount; ops of the other mount do not. */
static void one_leaves_a_server_that_is_silent(void **state)
{
	struct fix *f = *state;
	struct nfs_op op[2];
	struct pair two;
	sem_t sem[2];

	mount_two(f, &two);
	f->srv.hold_op = OP_GETATTR;
	for (unsigned i = 0; i < 2; i++) {
		on(f, &two, i);
		op[i] = (struct nfs_op){.type = NFS_GETATTR, .u.getattr = {.fh = f->root}};
		fix_start(f, &op[i], &sem[i]);
	}
	assert_true(mean_wait(&f->srv, &f->srv.nheld, 2));
	assert_null(nfs_client_free(two.mount[0]));
	assert_true(fix_ends_within(&sem[0], 0));
	assert_int_equal(op[0].error, -ENOTCONN);
	assert_false(fix_ends_within(&sem[1], 0));
	mean_release(&f->srv);
	assert_true(fix_ends_within(&sem[1], WAIT_MS));
	assert_int_equal(op[1].error, 0);
	reads(f, &two, 1);
	fix_forget_opens(f); /* the open of the mount that left is still there: it was not closed */
	f->nfs = nfs_client_free(f->nfs);
	assert_int_equal(f->srv.nsessions, 0);
}

/* A mount that fails leaves the server to the others. */
static void a_mount_that_fails_disturbs_nobody(void **state)
{
	struct fix *f = *state;
	struct nfs_mount_params p = params(f);
	struct nfs4_server *srv = start(f, 1, NULL, 0);
	struct err e = {.kind = ERR_NONE};

	p.export = "/dir/nope";
	assert_null(nfs4_mount_on(srv, &p, &e));
	assert_int_equal(e.kind, ERR_NO_EXPORT);
	assert_int_equal(f->srv.nsessions, 1);
	p.export = "/";
	mean_lose_session(&f->srv); /* and the next mount repairs the session */
	f->nfs = nfs4_mount_on(srv, &p, &e);
	assert_non_null(f->nfs);
	assert_int_equal(f->srv.count[OP_CREATE_SESSION], 2);
	nfs4_server_unref(srv);
	fix_unmount_clean(f);
}

/* --- several connections ---------------------------------------------------------------------- */

static void ops_are_spread_over_connections_that_are_bound(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv;
	struct nfs_mount_params p = params(f);
	struct err e = {.kind = ERR_NONE};

	f->srv.strict = true;
	srv = start(f, 2, NULL, 0);
	assert_int_equal(srv->nconns, 2);
	assert_int_equal(f->srv.nbound, 2);
	assert_int_equal(f->srv.bind_dir, CDFC4_FORE_OR_BOTH);
	f->nfs = nfs4_mount_on(srv, &p, &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(fix_getattr(f), 0);
	assert_true(f->srv.sequences[0] >= 4);
	assert_int_equal(f->srv.sequences[1], 0); /* one connection is enough for small ones */
	srv->paths.enough = 0;			  /* now it is not */
	mutex_lock(&srv->slots.lock);
	nfs4_server_unbound_locked(&srv->conn[0], true);
	mutex_unlock(&srv->slots.lock);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(f->srv.sequences[1], 4);
	mutex_lock(&srv->slots.lock);
	nfs4_server_unbound_locked(&srv->conn[0], false);
	nfs4_server_unbound_locked(&srv->conn[1], true);
	mutex_unlock(&srv->slots.lock);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(f->srv.sequences[1], 4);
	nfs4_server_unref(srv);
	fix_unmount_clean(f);
}

/* The second connection is cut off by an answer on it, then the session is lost. */
static void a_connection_that_is_back_is_bound_anew(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv;
	struct nfs_mount_params p = params(f);
	struct err e = {.kind = ERR_NONE};
	unsigned binds;

	f->srv.strict = true;
	srv = start(f, 2, NULL, 0);
	f->nfs = nfs4_mount_on(srv, &p, &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	binds = f->srv.count[OP_BIND_CONN_TO_SESSION];
	nfs4_state_unbound(&srv->conn[1]);
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_BIND_CONN_TO_SESSION], binds + 1));
	settle(srv);
	/* any connection may be the backchannel */
	nfs4_state_flags(srv, SEQ4_STATUS_CB_PATH_DOWN, clock_ns());
	assert_true(mean_wait(&f->srv, &f->srv.count[OP_BIND_CONN_TO_SESSION], binds + 3));
	settle(srv);
	assert_int_equal(f->srv.bind_dir, CDFC4_FORE_OR_BOTH);
	mean_lose_session(&f->srv);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(fix_getattr(f), 0);
	assert_true(mean_wait(&f->srv, &f->srv.nbound, 2));
	settle(srv);
	assert_int_equal(f->srv.count[OP_CREATE_SESSION], 2);
	assert_true(f->srv.count[OP_BIND_CONN_TO_SESSION] >= binds + 4);
	nfs4_server_unref(srv);
	fix_unmount_clean(f);
}

/* A connection that cannot be bound, because it leads to another server, is not used. */
static void does_without_a_second_connection(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv;

	fix_fails(f, OP_BIND_CONN_TO_SESSION, NFS4ERR_BADSESSION, 1);
	srv = start(f, 2, NULL, 0);
	assert_int_equal(srv->nconns, 1);
	give_up(f, srv, NULL, 0);
}

/* The server binds the connection later, after a refusal that does not last. */
static void a_second_connection_is_bound_later(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv;

	f->srv.strict = true;
	fix_fails(f, OP_BIND_CONN_TO_SESSION, NFS4ERR_DELAY, 2);
	srv = start(f, 3, NULL, 0);
	assert_int_equal(srv->nconns, 3);
	assert_true(mean_wait(&f->srv, &f->srv.nbound, 3));
	settle(srv);
	assert_int_equal(atomic_load(&srv->paths.n), 3);
	give_up(f, srv, NULL, 0);
}

/* The first n connections must be bound, and the server refuses that: it has lost the session. */
static void refuse_to_bind(struct fix *f, struct nfs4_server *srv, unsigned n)
{
	fix_fails(f, OP_BIND_CONN_TO_SESSION, NFS4ERR_BADSESSION, n);
	mutex_lock(&srv->slots.lock);
	for (unsigned i = 0; i < n; i++)
		nfs4_server_unbound_locked(&srv->conn[i], true);
	nfs4_state_want_locked(srv, NFS4_TODO_BIND);
	mutex_unlock(&srv->slots.lock);
}

/* A connection that makes the next session is good again, as one that is bound to it is. */
static void each_lost_session_is_made_anew(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv = start(f, 2, NULL, 0);

	for (unsigned i = 1; i <= 3; i++) {
		refuse_to_bind(f, srv, i == 1 ? 2 : 1);
		assert_true(mean_wait(&f->srv, &f->srv.count[OP_CREATE_SESSION], i + 1));
		assert_true(mean_wait(&f->srv, &f->srv.nbound, 2));
		settle(srv);
	}
	give_up(f, srv, NULL, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fix_setup_unmounted, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(needs_no_mount),
		TEST(has_all_users_reclaim),
		TEST(begins_anew_when_a_user_moves_on),
		TEST(binds_the_connection_that_is_unbound),
		TEST(tells_all_users_of_revoked_state),
		TEST(asks_again_what_is_revoked),
		TEST(keeps_flags_that_come_while_users_reclaim),
		TEST(two_mounts_share_a_session),
		TEST(a_restart_has_both_mounts_reclaim),
		TEST(one_leaves_a_server_that_is_silent),
		TEST(a_mount_that_fails_disturbs_nobody),
		TEST(ops_are_spread_over_connections_that_are_bound),
		TEST(a_connection_that_is_back_is_bound_anew),
		TEST(does_without_a_second_connection),
		TEST(a_second_connection_is_bound_later),
		TEST(each_lost_session_is_made_anew),
	};

	log_init("test-nfs4_server", getenv("V") ? LOG_L_CTRL : LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
