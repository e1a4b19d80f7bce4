/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/common/nfs_more, with connections that are only numbers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nfsproto/common/nfs_more.h"

static uint64_t calls[NFS_MORE_MAX + 1];

static struct rpc_client *number(unsigned i)
{
	return (struct rpc_client *)&calls[i];
}

void __wrap_rpc_client_info(struct rpc_client *c, struct rpc_client_info *out);
void __wrap_rpc_client_stats(struct rpc_client *c, struct rpc_client_stats *out);

void __wrap_rpc_client_info(struct rpc_client *c, struct rpc_client_info *out)
{
	*out = (struct rpc_client_info){.credits = (uint32_t)((uint64_t *)c - calls)};
}

void __wrap_rpc_client_stats(struct rpc_client *c, struct rpc_client_stats *out)
{
	*out = (struct rpc_client_stats){.calls = *(uint64_t *)c};
}

static int begin(void **state)
{
	static struct nfs_more m;

	nfs_more_init(&m);
	for (unsigned i = 0; i <= NFS_MORE_MAX; i++)
		calls[i] = 1 + i;
	*state = &m;
	return 0;
}

static int end(void **state)
{
	nfs_more_finish(*state);
	return 0;
}

static void shows(struct nfs_more *m, unsigned i, unsigned which)
{
	struct rpc_client_stats stats;
	struct rpc_client_info info;
	unsigned count = 0;

	assert_true(nfs_more_look(m, i, &info, &stats, &count));
	assert_int_equal(info.credits, which);
	assert_int_equal(stats.calls, calls[which]);
	assert_int_equal(count, 0);
}

static void shows_no(struct nfs_more *m, unsigned i, unsigned has)
{
	struct rpc_client_stats stats;
	struct rpc_client_info info;
	unsigned count = 100;

	assert_false(nfs_more_look(m, i, &info, &stats, &count));
	assert_int_equal(count, 100 + has);
}

static uint64_t sum(struct nfs_more *m)
{
	struct rpc_client_stats s = {.calls = 1000};

	nfs_more_sum(m, &s);
	return s.calls;
}

static void connections_come_and_go(void **state)
{
	struct nfs_more *m = *state;

	shows_no(m, 0, 0);
	for (unsigned i = 0; i < 3; i++)
		nfs_more_add(m, number(i));
	shows(m, 0, 0);
	nfs_more_remove(m, number(0));
	shows(m, 0, 1);
	shows(m, 1, 2);
	shows_no(m, 2, 2);
	nfs_more_remove(m, number(0));
	shows_no(m, 2, 2);
}

static void further_ones_are_not_shown(void **state)
{
	struct nfs_more *m = *state;

	for (unsigned i = 0; i <= NFS_MORE_MAX; i++)
		nfs_more_add(m, number(i));
	shows(m, NFS_MORE_MAX - 1, NFS_MORE_MAX - 1);
	shows_no(m, NFS_MORE_MAX, NFS_MORE_MAX);
	nfs_more_remove(m, number(NFS_MORE_MAX));
	shows(m, NFS_MORE_MAX - 1, NFS_MORE_MAX - 1);
}

static void calls_of_a_connection_that_has_gone_count(void **state)
{
	struct nfs_more *m = *state;

	nfs_more_add(m, number(4));
	nfs_more_add(m, number(6));
	assert_int_equal(sum(m), 1000 + 5 + 7);
	nfs_more_remove(m, number(4));
	calls[4] = 99;
	assert_int_equal(sum(m), 1000 + 5 + 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(connections_come_and_go, begin, end),
		cmocka_unit_test_setup_teardown(further_ones_are_not_shown, begin, end),
		cmocka_unit_test_setup_teardown(
			calls_of_a_connection_that_has_gone_count, begin, end),
	};

	return cmocka_run_group_tests_name("nfs_more", tests, NULL, NULL);
}
