/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v4/pnfs/nfs4_ds: addresses. Connections and calls: test-nfs4_pnfs.c.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/v4/pnfs/nfs4_ds.h"

static bool place(struct nfs4_ds_place *p, const char *netid, const char *addr)
{
	const struct nfs4_netaddr a = {
		.netid = {netid, (uint32_t)strlen(netid)}, .addr = {addr, (uint32_t)strlen(addr)}};

	return nfs4_ds_place(p, &a, RPC_IWARP);
}

static void an_address_names_host_port_and_transport(void **state)
{
	const struct sockaddr_in *in;
	const struct sockaddr_in6 *in6;
	struct nfs4_ds_place p;

	assert_true(place(&p, "tcp", "10.1.2.3.8.1"));
	in = (const struct sockaddr_in *)&p.ss;
	assert_int_equal(p.proto, RPC_TCP);
	assert_int_equal(p.len, sizeof(*in));
	assert_int_equal(in->sin_family, AF_INET);
	assert_int_equal(ntohs(in->sin_port), 2049);
	assert_int_equal(ntohl(in->sin_addr.s_addr), 0x0a010203);
	assert_string_equal(p.name, "10.1.2.3:2049");
	assert_true(place(&p, "rdma6", "fe80::1.78.81"));
	in6 = (const struct sockaddr_in6 *)&p.ss;
	assert_int_equal(p.proto, RPC_IWARP);
	assert_int_equal(in6->sin6_family, AF_INET6);
	assert_int_equal(ntohs(in6->sin6_port), 20049);
	assert_string_equal(p.name, "[fe80::1]:20049");
	assert_true(place(&p, "tcp6", "::1.255.255"));
	assert_int_equal(p.proto, RPC_TCP);
	assert_true(place(&p, "rdma", "127.0.0.1.0.1"));
}

static void an_address_of_no_host_is_refused(void **state)
{
	static const char *const bad[][2] = {
		{"udp", "10.1.2.3.8.1"},
		{"", "10.1.2.3.8.1"},
		{"tcp", ""},
		{"tcp", "8.1"},
		{"tcp", ".8.1"},
		{"tcp", "10.1.2.3"},	   /* the host would be 10.1 */
		{"tcp", "10.1.2.3.0.0"},   /* no port */
		{"tcp", "10.1.2.3.256.1"}, /* no byte */
		{"tcp", "10.1.2.3.1.1000"},
		{"tcp", "10.1.2.3.8.1 "},
		{"tcp", "10.1.2.3.8.1x"},
		{"tcp", "10.1.2.3.8.-1"},
		{"tcp", "0.0.0.0.8.1"},	  /* any host */
		{"tcp", "224.0.0.1.8.1"}, /* a group */
		{"tcp", "255.255.255.255.8.1"},
		{"tcp", "example.net.8.1"}, /* a name */
		{"tcp", "fe80::1.8.1"},
		{"tcp6", "10.1.2.3.8.1"},
		{"tcp6", "::.8.1"},
		{"tcp6", "ff02::1.8.1"},
	};
	char lengthy[200];
	struct nfs4_ds_place p;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(place(&p, bad[i][0], bad[i][1]));
	memset(lengthy, '1', sizeof(lengthy) - 1);
	lengthy[sizeof(lengthy) - 1] = '\0';
	assert_false(place(&p, "tcp", lengthy));
}

static void an_address_with_a_nul_is_refused(void **state)
{
	const struct nfs4_netaddr a = {.netid = {"tcp", 3}, .addr = {"10.1.2.3\0.8.1", 13}};
	struct nfs4_ds_place p;

	assert_false(nfs4_ds_place(&p, &a, RPC_RDMA));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_address_names_host_port_and_transport),
		cmocka_unit_test(an_address_of_no_host_is_refused),
		cmocka_unit_test(an_address_with_a_nul_is_refused),
	};

	return cmocka_run_group_tests_name("nfs4_ds", tests, NULL, NULL);
}
