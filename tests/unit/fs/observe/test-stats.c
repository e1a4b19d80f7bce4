/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/observe/stats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fs/observe/stats.h"

static void what_was_negotiated_is_one_line(void **state)
{
	struct nfs_client_info i = {
		.rpc = {.proto = RPC_IWARP,
			.provider = "iwarp",
			.rdma_dialect = "1",
			.inline_send = 4096,
			.inline_recv = 8192,
			.credits = 32},
		.vers_major = 4,
		.vers_minor = 2,
		.rsize = 1048576,
		.wsize = 524288,
		.slots = 64,
		.lease_s = 90,
		.server_owner = "abc",
	};
	char line[500], small[20];

	stats_negotiated(&i, line, sizeof(line));
	assert_string_equal(line,
		"NFS 4.2 over iwarp, provider iwarp, RPC-over-RDMA version 1, inline 4096 bytes "
		"sent and 8192 received, 32 credits, rsize 1048576, wsize 524288, 64 slots, lease "
		"90 s, server owner abc");
	stats_negotiated(&i, small, sizeof(small));
	assert_string_equal(small, "NFS 4.2 over iwarp,");
}

static void what_there_is_not_is_left_out(void **state)
{
	struct nfs_client_info i = {
		.rpc = {.proto = RPC_TCP},
		.vers_major = 3,
		.rsize = 4096,
		.wsize = 8192,
	};
	char line[500];

	stats_negotiated(&i, line, sizeof(line));
	assert_string_equal(line, "NFS 3 over tcp, rsize 4096, wsize 8192");
}

static void counters_are_one_line(void **state)
{
	struct stats_snapshot now = {.inodes = 5, .open_files = 2, .cache.hits = 8};
	struct stats s = {.requests = 7, .read_bytes = 4096};
	char line[1000];

	s.ops[NFS_LOOKUP] = 3;
	s.errors[NFS_LOOKUP] = 1;
	stats_read(&s, &now);
	stats_format(&now, line, sizeof(line));
	assert_non_null(strstr(line, "requests=7 inodes=5 open=2 read=4096B"));
	assert_non_null(strstr(line, " hits=8 "));
	assert_null(strstr(line, "padded="));
	assert_non_null(strstr(line, " ops: LOOKUP=3(1)"));
	assert_null(strstr(line, "GETATTR"));
}

static void each_of_several_connections_has_a_line(void **state)
{
	struct stats_snapshot now = {
		.rpc = {.calls = 12, .bytes_pulled_up = 9},
		.paths = 1,
		.paths_up = 1,
		.path[1] = {.info = {.connected = true, .credits = 32, .under_way = 1},
			.rpc = {.calls = 5, .replies = 4, .reconnects = 2, .bytes_placed = 8}},
	};
	char line[1000];

	stats_format(&now, line, sizeof(line));
	assert_non_null(strstr(line, " rpc: calls=12 timeouts=0 reconnects=0 placed=0B copied=0B "
				     "exposed=0B pulled_up=9B memory: "));
	now.paths = 2;
	stats_format(&now, line, sizeof(line));
	assert_non_null(strstr(line, " pulled_up=9B connections=2 up=1 memory: "));
	stats_format_path(&now, 0, line, sizeof(line));
	assert_string_equal(line, "connection 1: lost calls=0 replies=0 under_way=0 credits=0 "
				  "timeouts=0 reconnects=0 placed=0B copied=0B exposed=0B "
				  "pulled_up=0B");
	stats_format_path(&now, 1, line, sizeof(line));
	assert_string_equal(line, "connection 2: up calls=5 replies=4 under_way=1 credits=32 "
				  "timeouts=0 reconnects=2 placed=8B copied=0B exposed=0B "
				  "pulled_up=0B");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_negotiated_is_one_line),
		cmocka_unit_test(what_there_is_not_is_left_out),
		cmocka_unit_test(counters_are_one_line),
		cmocka_unit_test(each_of_several_connections_has_a_line),
	};

	return cmocka_run_group_tests_name("stats", tests, NULL, NULL);
}
