/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit test of nfsproto/v4/server/nfs4_trunk: connections to several addresses of one server.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "tests/unit/nfsproto/v4/nfs4-fixture.h"
#include "nfsproto/v4/nfs4_client.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/server/nfs4_conn.h"
#include "nfsproto/v4/server/nfs4_session.h"
#include "nfsproto/v4/server/nfs4_state.h"
#include "transport/rpc/rpc_client_impl.h"

#define SECOND (INADDR_LOOPBACK + 1)

/* --- the name of the server has two addresses ------------------------------------------------- */

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
	struct addrinfo **list);
void __real_freeaddrinfo(struct addrinfo *list);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
	struct addrinfo **list);
void __wrap_freeaddrinfo(struct addrinfo *list);

int __wrap_getaddrinfo(
	const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
	if (strcmp(host, "both"))
		return __real_getaddrinfo(host, service, hints, list);
	assert_int_equal(__real_getaddrinfo("127.0.0.1", service, hints, list), 0);
	return __real_getaddrinfo("127.0.0.2", service, hints, &(*list)->ai_next);
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
	while (list) {
		struct addrinfo *next = list->ai_next;

		list->ai_next = NULL;
		__real_freeaddrinfo(list);
		list = next;
	}
}

/* --- */

static struct nfs_mount_params params(struct fix *f, unsigned conns)
{
	return (struct nfs_mount_params){
		.proto = RPC_TCP,
		.host = "both",
		.port = rpc_server_port(f->srv.server),
		.export = "/",
		.vers_major = 4,
		.vers_minor = 1,
		.pool = f->pool,
		.connect_ms = PATIENCE_MS,
		.timeo_ms = PATIENCE_MS,
		.retrans = 1,
		.rsize = 1 << 20,
		.wsize = 1 << 20,
		.nconnect = conns,
		.max_connect = 2,
	};
}

static struct nfs4_server *start(struct fix *f, unsigned conns)
{
	struct nfs_mount_params p = params(f, conns);
	struct nfs4_server *srv = nfs4_server_new(&p, nfs4_kinds);
	struct err e = {.kind = ERR_NONE};

	assert_non_null(srv);
	f->srv.strict = true;
	if (nfs4_server_start(srv, &p, &e))
		fail_msg("%s", e.msg);
	return srv;
}

static void stop(struct fix *f, struct nfs4_server *srv)
{
	assert_null(nfs4_server_unref(srv));
	assert_int_equal(f->srv.nsessions, 0);
	assert_int_equal(f->srv.nclients, 0);
}

static unsigned npaths(struct nfs4_server *srv)
{
	return atomic_load(&srv->paths.n);
}

static void wait_for_paths(struct nfs4_server *srv, unsigned n)
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000};

	for (unsigned i = 0; i < PATIENCE_MS && npaths(srv) < n; i++)
		nanosleep(&pause, NULL);
	assert_int_equal(npaths(srv), n);
}

static void connections_go_to_the_addresses_by_turns(void **state)
{
	struct fix *f = *state;
	struct rpc_server *second = mean_listen(&f->srv, SECOND, rpc_server_port(f->srv.server));
	struct nfs4_server *srv = start(f, 4);

	assert_int_equal(srv->nconns, 4);
	assert_int_equal(npaths(srv), 4);
	assert_int_equal(f->srv.nbound, 4);
	assert_int_equal(f->srv.count[OP_EXCHANGE_ID], 3); /* one for each other connection */
	stop(f, srv);
	rpc_server_free(second);
}

/* The dead address keeps one place, and the other gets the rest. */
static void a_dead_address_is_used_when_it_is_there(void **state)
{
	struct nfs_mount_params p = params(*state, 3);
	struct err e = {.kind = ERR_NONE};
	struct rpc_server *second;
	struct fix *f = *state;
	struct nfs4_server *srv = start(f, 3);

	assert_int_equal(srv->nconns, 3);
	assert_int_equal(npaths(srv), 2);
	assert_int_equal(f->srv.nbound, 2);
	f->nfs = nfs4_mount_on(srv, &p, &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	assert_int_equal(fix_getattr(f), 0);
	second = mean_listen(&f->srv, SECOND, rpc_server_port(f->srv.server));
	wait_for_paths(srv, 3);
	assert_int_equal(f->srv.nbound, 3);
	assert_int_equal(f->srv.count[OP_EXCHANGE_ID], 2); /* the address has proved itself */
	rpc_client_hold_back(srv->conn[0].rpc, true);
	rpc_client_hold_back(srv->conn[1].rpc, true);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(f->srv.sequences[2], 1);
	nfs4_server_unref(srv);
	fix_unmount_clean(f);
	rpc_server_free(second);
}

/* The address belongs to another server at first, which gets no op. */
static void a_dead_address_may_become_another_servers(void **state)
{
	struct mean_srv other;
	struct rpc_server *second;
	struct fix *f = *state;
	struct nfs4_server *srv = start(f, 0);

	assert_int_equal(npaths(srv), 1);
	mean_start(&other);
	second = mean_listen(&other, SECOND, rpc_server_port(f->srv.server));
	assert_true(mean_wait(&other, &other.count[OP_EXCHANGE_ID], 2)); /* after a pause */
	assert_int_equal(npaths(srv), 1);
	assert_int_equal(other.count[OP_BIND_CONN_TO_SESSION] + other.count[OP_SEQUENCE], 0);
	rpc_server_free(second);
	second = mean_listen(&f->srv, SECOND, rpc_server_port(f->srv.server));
	wait_for_paths(srv, 2);
	assert_int_equal(other.count[OP_BIND_CONN_TO_SESSION] + other.count[OP_SEQUENCE], 0);
	stop(f, srv);
	rpc_server_free(second);
	mean_stop(&other);
}

/* The address of the second connection moves to another server, and comes back. */
static void an_address_moves_to_another_server(void **state)
{
	struct mean_srv other;
	struct fix *f = *state;
	struct rpc_server *second = mean_listen(&f->srv, SECOND, rpc_server_port(f->srv.server));
	struct nfs4_server *srv = start(f, 0);

	assert_int_equal(npaths(srv), 2);
	mean_start(&other);
	other.name = "other";
	rpc_server_free(second);
	second = mean_listen(&other, SECOND, rpc_server_port(f->srv.server));
	assert_true(
		mean_wait(&other, &other.count[OP_EXCHANGE_ID], 2)); /* once more after a pause */
	assert_int_equal(npaths(srv), 1);
	rpc_client_stop(srv->conn[0].rpc); /* even then no call goes to the other server */
	assert_true(rpc_client_is_up(srv->conn[1].rpc));
	assert_ptr_equal(nfs4_server_conn(srv), &srv->conn[0]);
	assert_ptr_equal(rpc_paths_pick(&srv->paths, true), srv->conn[0].rpc);
	assert_int_equal(f->srv.count[OP_DESTROY_SESSION], 0);
	assert_int_equal(other.count[OP_CREATE_SESSION] + other.count[OP_SEQUENCE], 0);
	rpc_server_free(second);
	second = mean_listen(&f->srv, SECOND, rpc_server_port(f->srv.server));
	wait_for_paths(srv, 2);
	assert_int_equal(f->srv.count[OP_CREATE_SESSION], 1);
	stop(f, srv);
	rpc_server_free(second);
	mean_stop(&other);
}

/* --- both addresses are lost, and the second comes back as another server's --------------------
 */

static bool is_at_work(struct nfs4_server *srv)
{
	bool is;

	mutex_lock(&srv->slots.lock);
	is = srv->sync != NULL;
	mutex_unlock(&srv->slots.lock);
	return is;
}

static void lose_both(struct fix *f, struct nfs4_server *srv, struct rpc_server *second)
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000};

	rpc_server_free(second);
	f->srv.server = rpc_server_free(f->srv.server);
	while (rpc_client_is_up(srv->conn[0].rpc) || rpc_client_is_up(srv->conn[1].rpc))
		nanosleep(&pause, NULL);
}

/* Meanwhile the state manager has work, and a call of its own waits for a connection. The mount
 * goes on at the first address, with all that it has there. */
static void another_server_comes_first(
	struct fix *f, void (*work)(struct fix *f, struct nfs4_server *srv))
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000};
	struct nfs_mount_params p = params(f, 0);
	struct rpc_server *second = mean_listen(&f->srv, SECOND, p.port);
	struct nfs4_server *srv = start(f, 0);
	struct err e = {.kind = ERR_NONE};
	uint64_t clientid = srv->clientid;
	struct mean_srv other;

	f->nfs = nfs4_mount_on(srv, &p, &e);
	assert_non_null(f->nfs);
	nfs_client_root(f->nfs, &f->root, NULL);
	mean_start(&other);
	other.name = "other";
	other.clientid = 1000;
	lose_both(f, srv, second);
	work(f, srv);
	while (!is_at_work(srv))
		nanosleep(&pause, NULL);
	second = mean_listen(&other, SECOND, p.port);
	while (npaths(srv) > 1) /* the mount waits for the first address alone */
		nanosleep(&pause, NULL);
	assert_true(other.count[OP_EXCHANGE_ID] > 0);
	f->srv.server = mean_listen(&f->srv, INADDR_LOOPBACK, p.port);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(other.nsessions, 0);
	assert_int_equal(srv->clientid, clientid);
	nfs4_server_unref(srv);
	fix_unmount_clean(f);
	rpc_server_free(second);
	mean_stop(&other);
}

/* A process is killed while its request waits: what has become of the request? */
static void kill_a_process(struct fix *f, struct nfs4_server *srv)
{
	struct nfs_op op = {.type = NFS_GETATTR, .u.getattr = {.fh = f->root}};
	sem_t sem;

	fix_start(f, &op, &sem);
	nfs_cancel(&op);
	assert_true(fix_ends_within(&sem, PATIENCE_MS));
	assert_int_equal(op.error, -EINTR);
}

static void doubt_the_session(struct fix *f, struct nfs4_server *srv)
{
	nfs4_state_want(srv, NFS4_TODO_SESSION | NFS4_TODO_DESTROY);
}

static void doubt_the_client_id(struct fix *f, struct nfs4_server *srv)
{
	nfs4_state_want(srv, NFS4_TODO_SESSION | NFS4_TODO_CLIENT);
}

static void another_server_gets_no_session(void **state)
{
	another_server_comes_first(*state, kill_a_process);
}

static void another_server_is_no_next_server(void **state)
{
	another_server_comes_first(*state, doubt_the_session);
}

static void another_server_gives_no_client_id(void **state)
{
	another_server_comes_first(*state, doubt_the_client_id);
}

/* The first address becomes another server's, and the second does not. */
static void the_first_address_moves_to_another_server(void **state)
{
	struct fix *f = *state;
	uint16_t port = rpc_server_port(f->srv.server);
	struct rpc_server *second = mean_listen(&f->srv, SECOND, port);
	struct nfs4_server *srv = start(f, 0);
	uint64_t clientid = srv->clientid;
	struct rpc_server *first;
	struct mean_srv other;

	mean_start(&other);
	other.name = "other";
	other.clientid = 1000;
	f->srv.server = rpc_server_free(f->srv.server);
	first = mean_listen(&other, INADDR_LOOPBACK, port);
	assert_true(mean_wait(&other, &other.count[OP_BIND_CONN_TO_SESSION], 2));
	assert_int_equal(other.count[OP_EXCHANGE_ID], 0);
	assert_int_equal(srv->clientid, clientid);
	assert_ptr_equal(rpc_paths_pick(&srv->paths, true), srv->conn[1].rpc);
	stop(f, srv);
	rpc_server_free(first);
	rpc_server_free(second);
	mean_stop(&other);
}

/* The server's program ends. The program at an address that is another server's tells nothing. */
static void another_server_does_not_stand_for_the_server(void **state)
{
	struct fix *f = *state;
	struct mean_srv other;
	struct rpc_server *second;
	struct nfs4_server *srv;

	mean_start(&other);
	other.name = "other";
	srv = start(f, 0);
	second = mean_listen(&other, SECOND, rpc_server_port(f->srv.server));
	assert_true(mean_wait(&other, &other.count[OP_EXCHANGE_ID], 1));
	assert_false(nfs4_conn_refused(srv, PATIENCE_MS));
	f->srv.server = rpc_server_free(f->srv.server);
	assert_true(nfs4_conn_refused(srv, PATIENCE_MS));
	assert_null(nfs4_server_unref(srv));
	rpc_server_free(second);
	mean_stop(&other);
}

/* As by a migration: no connection is held against the others any more. */
static void all_connections_move_to_one_address(void **state)
{
	struct mean_srv other;
	struct fix *f = *state;
	struct err e = {.kind = ERR_NONE};
	struct rpc_server *second = mean_listen(&f->srv, SECOND, rpc_server_port(f->srv.server));
	struct nfs4_server *srv = start(f, 0);

	assert_int_equal(npaths(srv), 2);
	mean_start(&other);
	other.name = "other";
	other.strict = true;
	assert_int_equal(nfs4_conn_redirect(
				 srv, "127.0.0.1", rpc_server_port(other.server), PATIENCE_MS, &e),
		0);
	assert_true(mean_wait(&other, &other.nbound, 2));
	assert_int_equal(npaths(srv), 2);
	assert_int_equal(other.count[OP_EXCHANGE_ID], 1); /* for the new session alone */
	assert_null(nfs4_server_unref(srv));
	assert_int_equal(other.nsessions, 0);
	rpc_server_free(second);
	mean_stop(&other);
}

/* The mount ends before the address is there. */
static void a_dead_address_stays_dead(void **state)
{
	struct fix *f = *state;
	struct nfs4_server *srv = start(f, 2);

	assert_int_equal(srv->nconns, 2);
	assert_int_equal(npaths(srv), 1);
	stop(f, srv);
}

/* --- addresses that the server tells --------------------------------------------------------- */

/* Mounts from the first address. */
static void mount_and_discover(struct fix *f, bool discover, unsigned max_connect)
{
	struct nfs_mount_params p = params(f, 0);
	struct err e = {.kind = ERR_NONE};

	p.host = "127.0.0.1";
	p.max_connect = max_connect;
	p.trunk_discovery = discover;
	f->nfs = nfs_client_new(&p, &e);
	if (!f->nfs)
		fail_msg("%s", e.msg);
	nfs_client_root(f->nfs, &f->root, NULL);
}

static struct nfs4_server *server_of(struct fix *f)
{
	return nfs4_client(f->nfs)->srv;
}

static unsigned lease_of(struct rpc_client *c)
{
	unsigned s;

	mutex_lock(&c->table.lock);
	s = c->lease_s;
	mutex_unlock(&c->table.lock);
	return s;
}

static void addresses_that_the_server_tells_are_used(void **state)
{
	struct fix *f = *state;
	uint16_t port = rpc_server_port(f->srv.server);
	struct rpc_server *second = mean_listen(&f->srv, SECOND, port);

	f->srv.strict = true;
	/* the address of the first connection, and another one twice */
	f->srv.trunk[0] = "127.0.0.1";
	f->srv.trunk[1] = "127.0.0.2";
	f->srv.trunk[2] = "127.0.0.2";
	mount_and_discover(f, true, 3);
	wait_for_paths(server_of(f), 2);
	assert_int_equal(f->nfs->nrpcs, 2);
	assert_int_equal(f->srv.nbound, 2);
	assert_int_equal(lease_of(f->nfs->rpcs[1]), f->srv.lease_s);
	rpc_client_hold_back(f->nfs->rpcs[0], true);
	assert_int_equal(fix_getattr(f), 0);
	assert_int_equal(f->srv.sequences[1], 1);
	fix_unmount_clean(f);
	rpc_server_free(second);
}

static void only_so_many_and_only_if_asked(void **state)
{
	struct fix *f = *state;
	unsigned getattrs;

	f->srv.trunk[0] = "127.0.0.2";
	f->srv.trunk[1] = "127.0.0.3";
	f->srv.trunk[2] = "127.0.0.4";
	mount_and_discover(f, true, 3);
	assert_int_equal(f->nfs->nrpcs, 3); /* no address is there so far */
	assert_int_equal(npaths(server_of(f)), 1);
	getattrs = fix_count(f, OP_GETATTR);
	fix_unmount_clean(f);
	mount_and_discover(f, false, 3);
	assert_int_equal(f->nfs->nrpcs, 1);
	assert_int_equal(fix_count(f, OP_GETATTR), 2 * getattrs - 1);
	fix_unmount_clean(f);
	mount_and_discover(f, true, 1);
	assert_int_equal(f->nfs->nrpcs, 1);
	assert_int_equal(fix_count(f, OP_GETATTR), 3 * getattrs - 2);
	fix_unmount_clean(f);
}

/* A replica of the file system on another server. */
static void an_address_of_another_server_is_given_up(void **state)
{
	struct fix *f = *state;
	struct mean_srv other;
	struct rpc_server *second;
	const struct timespec pause = {.tv_nsec = 1000 * 1000};

	mean_start(&other);
	other.name = "other";
	second = mean_listen(&other, SECOND, rpc_server_port(f->srv.server));
	f->srv.trunk[0] = "127.0.0.2";
	mount_and_discover(f, true, 2);
	assert_true(mean_wait(&other, &other.count[OP_EXCHANGE_ID], 1));
	while (rpc_client_is_up(f->nfs->rpcs[1]))
		nanosleep(&pause, NULL);
	assert_int_equal(npaths(server_of(f)), 1);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(fix_getattr(f), 0);
	mean_lose_session(&f->srv); /* all connections are bound anew */
	assert_int_equal(fix_getattr(f), 0);
	fix_unmount_clean(f);
	assert_int_equal(other.count[OP_EXCHANGE_ID], 1);
	assert_int_equal(other.count[OP_BIND_CONN_TO_SESSION] + other.count[OP_SEQUENCE], 0);
	rpc_server_free(second);
	mean_stop(&other);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, fix_setup_unmounted, fix_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(connections_go_to_the_addresses_by_turns),
		TEST(a_dead_address_is_used_when_it_is_there),
		TEST(a_dead_address_may_become_another_servers),
		TEST(an_address_moves_to_another_server),
		TEST(another_server_gets_no_session),
		TEST(another_server_is_no_next_server),
		TEST(another_server_gives_no_client_id),
		TEST(the_first_address_moves_to_another_server),
		TEST(another_server_does_not_stand_for_the_server),
		TEST(all_connections_move_to_one_address),
		TEST(a_dead_address_stays_dead),
		TEST(addresses_that_the_server_tells_are_used),
		TEST(only_so_many_and_only_if_asked),
		TEST(an_address_of_another_server_is_given_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
