/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/srv_places: which connections keep their place at a server with two
 * places, and which must give their place up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/transport/rpc/bare-tcp.h"
#include "transport/clock.h"
#include "transport/log.h"
#include "transport/rpc/rpc.h"
#include "transport/rpc/srv_places.h"

static struct mem_pool *pool;
static struct rpc_server *server;
static struct sockaddr_in server_addr;

static void service(void *ctx, struct rpc_req *req)
{
	rpc_req_reply(req, RPC_ACCEPT_SUCCESS);
}

static int setup(void **state)
{
	struct rpc_server_params p = {
		.service = service, .max_conns = 2, .first_ms = 3000, .idle_ms = 3000};

	server = bare_server(&p, &server_addr);
	pool = p.pool;
	return 0;
}

static int teardown(void **state)
{
	bare_server_end(server, pool);
	return 0;
}

static int dial_from(const char *ip)
{
	return bare_dial(&server_addr, ip);
}

static int dial(void)
{
	return dial_from("127.0.0.1");
}

static bool answers(int fd)
{
	uint32_t call[] = {LAST | 40, 77, 0, 2, 1, 1, 0, 0, 0, 0, 0}, w[32];

	for (int i = 0; i < 11; i++)
		call[i] = htonl(call[i]);
	return send(fd, call, sizeof(call), MSG_NOSIGNAL) == sizeof(call) &&
	       read_words(fd, w, 32) == 6;
}

static void who_never_calls_is_closed(void **state)
{
	int a = dial(), b = dial();
	uint32_t w[4];
	double t = now();

	assert_true(answers(b));
	assert_int_equal(read_words(a, w, 4), -1);
	assert_true(now() - t > 2.9);
	assert_true(answers(b));
	close(a);
	close(b);
}

/* Two places: the third connection gets the place of the one that was idle longest, if for long
 * enough. */
static void the_idle_give_their_place(void **state)
{
	int a = dial(), b = dial(), c = dial();
	double t = now();

	assert_true(answers(a));
	assert_true(answers(b));
	assert_false(answers(c));
	do { /* until b has been idle for long enough */
		close(c);
		usleep(100000);
		assert_true(answers(a));
		c = dial();
	} while (!answers(c) && now() - t < 60);
	assert_true(answers(c));
	assert_false(answers(b));
	assert_true(answers(a));
	close(a);
	close(b);
	close(c);
}

/* --- without sockets: connections of holders that one process cannot be ----------------------- */

#define PLACES (2 * SRV_OWN)
#define OTHERS (PLACES - 2) /* places that are not for owners of the server */

static struct srv_places places;
static struct srv_conn conns[4 * PLACES];
static struct rpc_xprt xprts[4 * PLACES];
static unsigned nconns;
static struct rpc_xprt *was_shut;

static void fake_shutdown(struct rpc_xprt *x)
{
	was_shut = x;
}

static const struct rpc_xprt_ops fake_ops = {.shutdown = fake_shutdown};

static int places_setup(void **state)
{
	srv_places_init(&places, PLACES, 60000);
	memset(conns, 0, sizeof(conns));
	memset(xprts, 0, sizeof(xprts));
	nconns = 0;
	was_shut = NULL;
	return 0;
}

static int places_teardown(void **state)
{
	for (unsigned i = 0; i < nconns; i++)
		if (conns[i].x->owner)
			srv_places_free(&places, srv_places_leave(&places, &conns[i]));
	srv_places_finish(&places);
	return 0;
}

/* A connection that has called wants a place; busy: and one of its requests is being carried
 * out. */
static bool enters(struct share_key key, bool busy)
{
	struct srv_conn *c = &conns[nconns];

	c->x = &xprts[nconns++];
	c->x->ops = &fake_ops;
	snprintf(c->x->peer, sizeof(c->x->peer), "peer %u", nconns);
	c->key = key;
	c->since_ns = clock_ns();
	atomic_store(&c->x->active_ns, clock_ns());
	atomic_store(&c->x->reqs, busy);
	was_shut = NULL;
	if (!srv_places_enter(&places, c))
		return false;
	c->x->owner = c; /* the connection has a place */
	return true;
}

static struct share_key of_user(uint32_t uid, unsigned address)
{
	struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(address)};
	struct sock_user user = {.local = true, .known = true, .uid = uid};

	return share_key((struct sockaddr *)&in, &user);
}

static struct share_key of_net(unsigned site, unsigned net)
{
	struct sockaddr_in6 in = {.sin6_family = AF_INET6};
	const uint8_t a[8] = {0x20, 1, 0xd, 0xb8, 0, (uint8_t)site, 0, (uint8_t)net};
	struct sock_user elsewhere = {.local = false};

	memcpy(&in.sin6_addr, a, sizeof(a));
	return share_key((struct sockaddr *)&in, &elsewhere);
}

/* Any user of this machine except its owners. */
static uint32_t other_uid(void)
{
	return geteuid() == 65534 ? 65533 : 65534;
}

static void who_has_most_gives_a_place(void **state)
{
	uint32_t a = other_uid(), b = a - 10, c = a - 20;

	for (unsigned i = 0; i < OTHERS; i++)
		assert_true(enters(of_user(a, 0x7f000001 + i), false));
	/* another of the same holder: too soon */
	assert_false(enters(of_user(a, 0x7f000101), false));
	assert_true(enters(of_user(b, 0x7f000001), false));
	assert_ptr_equal(was_shut, &xprts[0]);
	for (unsigned i = 1; i < OTHERS / 2; i++)
		assert_true(enters(of_user(b, 0x7f000001), false));
	assert_false(enters(of_user(b, 0x7f000001), false)); /* both have the same number now */
	assert_true(enters(of_user(c, 0x7f000001), false));
}

/* A connection at work keeps its place, also if there are more like that. */
static void who_is_at_work_keeps_a_place(void **state)
{
	for (unsigned i = 0; i < OTHERS; i++)
		assert_true(enters(of_user(other_uid(), 0x7f000001 + i), true));
	assert_false(enters(of_user(other_uid() - 1, 0x7f000001), false));
	assert_null(was_shut);
}

/* But a busy connection never keeps out the owners of the server: places are reserved for owners,
 * and owners may take any place of others. */
static void owners_get_in(void **state)
{
	struct share_key root = of_user(0, 0x7f000001), own = of_user(geteuid(), 0x7f000001);
	struct sock_user hidden = {.local = true};

	for (unsigned i = 0; i < OTHERS; i++)
		assert_true(enters(of_user(other_uid(), 0x7f000001 + i), true));
	for (unsigned i = 0; i < PLACES - OTHERS; i++) {
		assert_true(enters(i % 2 ? root : own, true));
		assert_null(was_shut);
	}
	assert_true(enters(root, false));
	assert_ptr_equal(was_shut, &xprts[0]);
	assert_true(enters(own, false));
	assert_ptr_equal(was_shut, &xprts[1]);
	assert_false(enters(share_key(NULL, &hidden), false));
}

/* The networks of one site have together as many places as one holder. */
static void sites_are_counted(void **state)
{
	for (unsigned i = 0; i < OTHERS; i++)
		assert_true(enters(of_net(1, i), false));
	assert_true(enters(of_net(2, 1), false));
	assert_ptr_equal(was_shut, &xprts[0]);
	assert_true(enters(of_net(3, 1), false));
	assert_ptr_equal(was_shut, &xprts[1]);
	assert_false(enters(of_net(1, 99), false)); /* each network has a place */
}

/* Within a site, the connections of one network do not keep out the others. */
static void networks_of_a_site_share(void **state)
{
	for (unsigned i = 0; i < OTHERS; i++)
		assert_true(enters(of_net(1, i < 2 ? i : 2), false));
	assert_true(enters(of_net(1, 3), false));
	assert_ptr_equal(was_shut, &xprts[2]);
	assert_true(enters(of_net(2, 0), false));
	assert_ptr_equal(was_shut, &xprts[3]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_never_calls_is_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(the_idle_give_their_place, setup, teardown),
		cmocka_unit_test_setup_teardown(
			who_has_most_gives_a_place, places_setup, places_teardown),
		cmocka_unit_test_setup_teardown(
			who_is_at_work_keeps_a_place, places_setup, places_teardown),
		cmocka_unit_test_setup_teardown(owners_get_in, places_setup, places_teardown),
		cmocka_unit_test_setup_teardown(sites_are_counted, places_setup, places_teardown),
		cmocka_unit_test_setup_teardown(
			networks_of_a_site_share, places_setup, places_teardown),
	};

	log_init("test", LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
