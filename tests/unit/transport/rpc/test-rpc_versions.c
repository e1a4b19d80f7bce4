/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/rpc/rpc_versions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "transport/rpc/rpc.h"

static void lists(void **state)
{
	static const struct {
		const char *list;
		unsigned set; /* 0: is refused */
	} l[] = {
		{"1", RPC_RDMA_V1},
		{"2", RPC_RDMA_V2},
		{"2-2016", RPC_RDMA_V2_2016},
		{"1,2", RPC_RDMA_V1 | RPC_RDMA_V2},
		{"2-2016,1", RPC_RDMA_V1 | RPC_RDMA_V2_2016},
		{"1,1", RPC_RDMA_V1},
		{"1-legacy", RPC_RDMA_V1_LEGACY},
		{"2,1-legacy,1", RPC_RDMA_V1 | RPC_RDMA_V1_LEGACY | RPC_RDMA_V2},
		{"1-legac", 0},
		{"1,2-rtr", RPC_RDMA_V1 | RPC_RDMA_V2_RTR},
		{"2,2-2016", 0},
		{"2-2016-rtr", RPC_RDMA_V2_2016_RTR},
		{"2-rtr,2", 0},
		{"", 0},
		{"1,", 0},
		{",1", 0},
		{"3", 0},
		{"12", 0},
		{"2-201", 0},
		{"1 2", 0},
	};

	for (size_t i = 0; i < sizeof(l) / sizeof(l[0]); i++) {
		unsigned set;

		assert_int_equal(rpc_rdma_versions_parse(l[i].list, &set), l[i].set != 0);
		if (l[i].set)
			assert_int_equal(set, l[i].set);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
