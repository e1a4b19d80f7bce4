/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/rpc_cb: a server's calls to its client. Over TCP, or, with the
 * argument "iwarp", over RPC-over-RDMA.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/unit/transport/rpc/rpc-pair.h"

static void the_server_calls_back(void **state)
{
	struct rpc_client_stats st;
	struct pair p;
	struct one o;

	pair_start(&p, 10000, 0);
	for (int i = 0; i < 3; i++) {
		one_init(&o, &p.c, P_CALLBACK);
		xdr_put_u32(&o.call.args, CB_PROG);
		assert_int_equal(one_run(&o), 0);
		assert_int_equal(be32toh(*(uint32_t *)o.copy), 0);
		assert_int_equal(be32toh(*(uint32_t *)(o.copy + 4)), 42);
		one_finish(&o);
	}
	one_init(&o, &p.c, P_CALLBACK);
	xdr_put_u32(&o.call.args, CB_PROG + 1); /* a program without a service */
	assert_int_equal(one_run(&o), 0);
	assert_int_equal((int)be32toh(*(uint32_t *)o.copy), -EPROTO);
	one_finish(&o);
	rpc_client_stats(p.c.c, &st);
	assert_int_equal(st.callbacks, 3);
	pair_stop(&p);
}

/* A client that does not answer costs the call its time, and nothing else. */
static void a_callback_times_out(void **state)
{
	struct pair p;
	struct one o;

	pair_start(&p, 20000, 0);
	p.c.mute = true;
	p.s.cb_timeout_ms = 50;
	one_init(&o, &p.c, P_CALLBACK);
	xdr_put_u32(&o.call.args, CB_PROG);
	assert_int_equal(one_run(&o), 0);
	assert_int_equal((int)be32toh(*(uint32_t *)o.copy), -ETIMEDOUT);
	one_finish(&o);
	p.c.mute = false;
	p.s.cb_timeout_ms = 0;
	if (proto == RPC_TCP) { /* over RDMA the unanswered call still holds its credit */
		one_init(&o, &p.c, P_CALLBACK);
		xdr_put_u32(&o.call.args, CB_PROG);
		assert_int_equal(one_run(&o), 0);
		assert_int_equal(be32toh(*(uint32_t *)o.copy), 0);
		one_finish(&o);
	}
	assert_int_equal(simple(&p.c, P_NULL), 0);
	pair_stop(&p);
	assert_int_equal(p.s.ups, 1); /* the connection stayed */
}

/* The connection goes while the client has the call: the call ends, and so does the request that
 * made the call. */
static void a_connection_may_close_during_a_callback(void **state)
{
	struct rpc_client_stats st = {0};
	struct pair p;
	struct one o;

	for (int from_server = 0; from_server < 2; from_server++) {
		pair_start(&p, 20000, 0);
		p.c.mute = true;
		p.s.cb_timeout_ms = 600000;
		one_init(&o, &p.c, P_CALLBACK);
		xdr_put_u32(&o.call.args, CB_PROG);
		assert_int_equal(rpc_call_submit(&o.call), 0);
		while (!st.callbacks) {
			usleep(1000);
			rpc_client_stats(p.c.c, &st);
		}
		st.callbacks = 0;
		if (from_server)
			srv_stop(&p.s);
		p.c.c = rpc_client_free(p.c.c);
		assert_int_equal(one_wait(&o), -ENOTCONN);
		one_finish(&o);
		pair_stop(&p);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_server_calls_back),
		cmocka_unit_test(a_callback_times_out),
		cmocka_unit_test(a_connection_may_close_during_a_callback),
	};

	return RPC_PAIR_RUN(argc, argv, tests);
}
