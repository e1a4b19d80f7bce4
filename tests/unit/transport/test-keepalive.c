/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/keepalive.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include "transport/keepalive.h"

static const struct keepalive usual = {
	.idle_s = 60, .interval_s = 20, .probes = 3, .lost_ms = 60000};

static void a_lease_makes_it_shorter(void **state)
{
	struct keepalive k = keepalive_within(&usual, 90);

	assert_int_equal(k.idle_s, 30);
	assert_int_equal(k.interval_s, 7);
	assert_int_equal(k.probes, usual.probes);
	assert_int_equal(k.lost_ms, usual.lost_ms);
	k = keepalive_within(&usual, 30);
	assert_int_equal(k.idle_s, 10);
	assert_int_equal(k.interval_s, 2);
	assert_int_equal(k.lost_ms, 30000);
	/* unacknowledged bytes have some time in any case: the server may only be slow */
	k = keepalive_within(&usual, 1);
	assert_int_equal(k.idle_s, 1);
	assert_int_equal(k.interval_s, 1);
	assert_int_equal(k.lost_ms, 10000);
}

static void nothing_makes_it_longer(void **state)
{
	static const struct keepalive brief = {
		.idle_s = 2, .interval_s = 1, .probes = 4, .lost_ms = 5000};
	static const unsigned leases[] = {0, 1, 2, 10, 3600, UINT32_MAX};
	struct keepalive k = keepalive_within(&usual, 0);

	assert_memory_equal(&k, &usual, sizeof(k));
	for (unsigned i = 0; i < sizeof(leases) / sizeof(leases[0]); i++) {
		k = keepalive_within(&brief, leases[i]);
		assert_true(k.idle_s >= 1 && k.idle_s <= brief.idle_s);
		assert_int_equal(k.interval_s, 1);
		assert_int_equal(k.lost_ms, brief.lost_ms);
	}
}

static unsigned option(int fd, int level, int name)
{
	socklen_t len = sizeof(int);
	int n = -1;

	assert_int_equal(getsockopt(fd, level, name, &n, &len), 0);
	return (unsigned)n;
}

static void the_socket_has_it(void **state)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	keepalive_set(fd, &usual);
	assert_int_equal(option(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPIDLE), usual.idle_s);
	assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPINTVL), usual.interval_s);
	assert_int_equal(option(fd, IPPROTO_TCP, TCP_KEEPCNT), usual.probes);
	assert_int_equal(option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), usual.lost_ms);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lease_makes_it_shorter),
		cmocka_unit_test(nothing_makes_it_longer),
		cmocka_unit_test(the_socket_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
