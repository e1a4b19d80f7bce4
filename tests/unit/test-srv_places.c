/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/srv_places: who has a place among the connections of a server with
 * two of them, and who must give it up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "bare-tcp.h"
#include "transport/log.h"
#include "transport/rpc/rpc.h"

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

/* Two places: the third gets the place of who was idle longest, if for long enough. */
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

/* Who has most gives up a place for who has none; at once, but for a call that is still being
 * ended. */
static void who_has_most_gives_a_place(void **state)
{
	int a = dial(), b = dial(), c = -1, d;
	double t = now();

	assert_true(answers(a));
	assert_true(answers(b));
	do {
		close(c);
		c = dial_from("127.0.0.2");
	} while (!answers(c) && now() - t < 60);
	assert_true(answers(c));
	if (answers(a)) { /* the one whose call was ended gave it up */
		close(b);
		b = a;
	} else {
		close(a);
	}
	assert_true(answers(b));
	d = dial_from("127.0.0.3"); /* nobody has more than one now */
	assert_false(answers(d));
	assert_true(answers(b));
	assert_true(answers(c));
	close(b);
	close(c);
	close(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(who_never_calls_is_closed, setup, teardown),
		cmocka_unit_test_setup_teardown(the_idle_give_their_place, setup, teardown),
		cmocka_unit_test_setup_teardown(who_has_most_gives_a_place, setup, teardown),
	};

	log_init("test", LOG_L_ERROR);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
