/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/rpc_req: answers that come when they come. Over TCP, or, with the
 * argument "iwarp", over RPC-over-RDMA.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rpc-pair.h"

static void answers_may_come_from_another_thread(void **state)
{
	struct pair p;
	struct one o[4];

	pair_start(&p, 10000, 0);
	for (int i = 0; i < 4; i++) {
		one_init(&o[i], &p.c, P_ASYNC);
		assert_int_equal(rpc_call_submit(&o[i].call), 0);
	}
	for (int i = 0; i < 4; i++) {
		sem_wait(&arrived);
		sem_post(&allowed);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(one_wait(&o[i]), 0);
		one_finish(&o[i]);
		sem_wait(&answered);
	}
	/* one that is answered after its connection and server have gone */
	one_init(&o[0], &p.c, P_ASYNC);
	assert_int_equal(rpc_call_submit(&o[0].call), 0);
	sem_wait(&arrived);
	p.c.c = rpc_client_free(p.c.c);
	one_finish(&o[0]);
	srv_stop(&p.s);
	sem_post(&allowed);
	sem_wait(&answered);
	pair_stop(&p);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_may_come_from_another_thread),
	};

	return RPC_PAIR_RUN(argc, argv, tests);
}
