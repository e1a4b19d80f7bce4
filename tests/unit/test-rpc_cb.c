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
#include <cmocka.h>

#include "rpc-pair.h"

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
	xdr_put_u32(&o.call.args, CB_PROG + 1); /* nobody serves that */
	assert_int_equal(one_run(&o), 0);
	assert_int_equal((int)be32toh(*(uint32_t *)o.copy), -EPROTO);
	one_finish(&o);
	rpc_client_stats(p.c.c, &st);
	assert_int_equal(st.callbacks, 3);
	pair_stop(&p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_server_calls_back),
	};

	return RPC_PAIR_RUN(argc, argv, tests);
}
