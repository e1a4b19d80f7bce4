/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/wire/nfs4_netaddr.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nfsproto/wire/nfs4_netaddr.h"

#include <string.h>

static struct nfs_name name(const char *s)
{
	return (struct nfs_name){s, (uint32_t)strlen(s)};
}

static void addresses_go_both_ways(void **state)
{
	static const struct {
		const char *netid, *addr;
		int family;
		uint16_t port;
		bool rdma;
	} good[] = {
		{"tcp", "192.0.2.1.8.1", AF_INET, 2049, false},
		{"rdma", "10.0.0.255.78.81", AF_INET, 20049, true},
		{"tcp6", "2001:db8::1.8.1", AF_INET6, 2049, false},
		{"rdma6", "::ffff:192.0.2.1.255.255", AF_INET6, 65535, true},
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct nfs4_netaddr n = {name(good[i].netid), name(good[i].addr)}, again;
		struct sockaddr_storage sa;
		char text[NFS4_UADDR_MAX];
		bool rdma;

		assert_true(nfs4_netaddr_parse(&n, &sa, &rdma));
		assert_int_equal(sa.ss_family, good[i].family);
		assert_int_equal(rdma, good[i].rdma);
		/* both families have the port at the same place */
		assert_int_equal(ntohs(((struct sockaddr_in *)&sa)->sin_port), good[i].port);
		assert_true(nfs4_netaddr_format((const struct sockaddr *)&sa, rdma, text, &again));
		assert_string_equal(again.addr.s, good[i].addr);
		assert_string_equal(again.netid.s, good[i].netid);
		assert_int_equal(again.addr.len, n.addr.len);
		assert_int_equal(again.netid.len, n.netid.len);
	}
}

static void malformed_addresses_are_refused(void **state)
{
	static const char *const bad[][2] = {
		{"tcp", ""},
		{"tcp", "192.0.2.1"}, /* the last two numbers are not an address */
		{"tcp", "192.0.2.1.8"},
		{"tcp", "192.0.2.1.8.256"},
		{"tcp", "192.0.2.1.8.0001"},
		{"tcp", "192.0.2.1.8."},
		{"tcp", "192.0.2.1.-8.1"},
		{"tcp", "192.0.2.1.0.0"},
		{"tcp", "2001:db8::1.8.1"}, /* the other family */
		{"tcp6", "192.0.2.1.8.1"},
		{"udp", "192.0.2.1.8.1"},
		{"tc", "192.0.2.1.8.1"},
		{"", "192.0.2.1.8.1"},
		{"tcp6", "1111:1111:1111:1111:1111:1111:1111:1111:1111:1111:1111:1111.8.1"},
		{"tcp", "host.example.8.1"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct nfs4_netaddr n = {name(bad[i][0]), name(bad[i][1])};
		struct sockaddr_storage sa;
		bool rdma;

		assert_false(nfs4_netaddr_parse(&n, &sa, &rdma));
	}
}

static void a_zero_byte_ends_no_address(void **state)
{
	struct nfs4_netaddr n = {name("tcp"), {"192.0.2.1.8.1\0.9", 16}};
	struct sockaddr_storage sa;
	bool rdma;

	assert_false(nfs4_netaddr_parse(&n, &sa, &rdma));
}

static void other_families_have_no_address(void **state)
{
	struct sockaddr sa = {.sa_family = AF_UNIX};
	char text[NFS4_UADDR_MAX];
	struct nfs4_netaddr n;

	assert_false(nfs4_netaddr_format(&sa, false, text, &n));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_go_both_ways),
		cmocka_unit_test(malformed_addresses_are_refused),
		cmocka_unit_test(a_zero_byte_ends_no_address),
		cmocka_unit_test(other_families_have_no_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
