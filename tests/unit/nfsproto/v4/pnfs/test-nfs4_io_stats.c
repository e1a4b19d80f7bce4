/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_io_stats: counts and times, on a clock of the test.
 */
#include <arpa/inet.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/v4/pnfs/nfs4_io_stats.h"
#include "transport/clock.h"

static const struct nfs_fh fh = {.len = 2, .data = "DS"};

static struct nfs4_ds server(void)
{
	struct nfs4_ds ds = {.nplaces = 2, .answered = 1, .place[1].proto = RPC_RDMA};
	struct sockaddr_in *in = (struct sockaddr_in *)&ds.place[1].ss;

	in->sin_family = AF_INET;
	in->sin_port = htons(2049);
	in->sin_addr.s_addr = htonl(0x0a000001);
	return ds;
}

static int begun(struct nfs4_io_stats *s, uint8_t device, bool write, uint32_t len, uint64_t now)
{
	const struct nfs4_deviceid id = {{device}};
	const struct nfs4_ds ds = server();

	return nfs4_io_stats_begun(s, &id, &fh, &ds, write, len, now);
}

static void times_do_not_count_twice_where_io_overlaps(void **state)
{
	struct nfs4_io_stats s = {.n = 0};
	char text[NFS4_UADDR_MAX];
	struct nfs4_ff_update u;
	int n = begun(&s, 1, true, 100, 1000);

	assert_int_equal(begun(&s, 1, true, 200, 1500), n);
	nfs4_io_stats_ended(&s, n, true, true, 100, 100, 1000, 2000);
	nfs4_io_stats_ended(&s, n, true, true, 200, 200, 1500, 3000);
	assert_int_equal(begun(&s, 1, true, 50, 10000), n);
	nfs4_io_stats_tell(&s, (unsigned)n, 10500, text, &u);
	assert_int_equal(u.write.ops_requested, 3);
	assert_int_equal(u.write.bytes_requested, 350);
	assert_int_equal(u.write.ops_completed, 2);
	assert_int_equal(u.write.bytes_completed, 300);
	assert_int_equal(u.write.busy.tv_nsec, 2000 + 500); /* one is still under way */
	assert_int_equal(u.write.completion.tv_nsec, 1000 + 1500);
	assert_int_equal(u.read.ops_requested, 0);
	assert_int_equal(u.duration.tv_nsec, 9500);
	assert_memory_equal(u.addr.netid.s, "rdma", u.addr.netid.len);
	assert_int_equal(u.addr.addr.len, strlen("10.0.0.1.8.1"));
	assert_memory_equal(u.addr.addr.s, "10.0.0.1.8.1", u.addr.addr.len);
	assert_true(nfs_fh_equal(&u.fh, &fh));
	nfs4_io_stats_ended(&s, n, true, true, 50, 50, 10000, 10000 + 3 * NSEC_PER_SEC);
	nfs4_io_stats_tell(&s, (unsigned)n, 0, text, &u);
	assert_int_equal(u.write.completion.tv_sec, 3);
	assert_int_equal(u.duration.tv_sec, 0); /* a clock that another thread has read before */
}

static void io_that_fails_is_not_completed(void **state)
{
	struct nfs4_io_stats s = {.n = 0};
	char text[NFS4_UADDR_MAX];
	struct nfs4_ff_update u;
	int n = begun(&s, 1, false, 4096, 1000);

	assert_false(s.news);
	nfs4_io_stats_ended(&s, n, false, false, 4096, 0, 1000, 5000);
	assert_true(s.news);
	nfs4_io_stats_tell(&s, (unsigned)n, 6000, text, &u);
	assert_int_equal(u.read.ops_requested, 1);
	assert_int_equal(u.read.ops_completed, 0);
	assert_int_equal(u.read.bytes_completed, 0);
	assert_int_equal(u.read.bytes_not_delivered, 4096);
	assert_int_equal(u.read.busy.tv_nsec, 4000);
	assert_int_equal(u.read.completion.tv_nsec, 0);
}

static void the_number_of_data_servers_is_bounded(void **state)
{
	struct nfs4_io_stats s = {.n = 0};

	for (unsigned i = 0; i < NFS4_IO_STATS; i++)
		assert_int_equal(begun(&s, (uint8_t)i, false, 1, 1), i);
	assert_int_equal(begun(&s, NFS4_IO_STATS, false, 1, 1), -1);
	assert_int_equal(s.n, NFS4_IO_STATS);
	nfs4_io_stats_ended(&s, -1, false, true, 1, 1, 1, 2);
	assert_false(s.news);
	assert_int_equal(begun(&s, 2, true, 1, 1), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(times_do_not_count_twice_where_io_overlaps),
		cmocka_unit_test(io_that_fails_is_not_completed),
		cmocka_unit_test(the_number_of_data_servers_is_bounded),
	};

	return cmocka_run_group_tests_name("nfs4_io_stats", tests, NULL, NULL);
}
