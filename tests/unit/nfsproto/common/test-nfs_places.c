/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/common/nfs_places.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <cmocka.h>

#include "nfsproto/common/nfs_places.h"

static char a[] = "a.example", b[] = "b\nexample", vol[] = "/vol", other[] = "/other";
static const struct nfs_places two = {.n = 2, .place = {{a, vol}, {b, vol}}};

static void places_become_a_line(void **state)
{
	char text[100], small[16];

	nfs_places_text(&two, text, sizeof(text));
	assert_string_equal(text, "a.example:/vol or b?example:/vol");
	nfs_places_text(&two, small, sizeof(small));
	assert_string_equal(small, "a.example:/v...");
}

static void lists_are_equal_in_any_order(void **state)
{
	struct nfs_places one = {.n = 1, .place = {{a, vol}}}, elsewhere = two;
	struct nfs_places turned = {.n = 2, .place = {{b, vol}, {a, vol}}};

	assert_true(nfs_places_equal(&two, &turned));

	assert_true(nfs_places_equal(&two, &two));
	assert_false(nfs_places_equal(&two, &one));
	elsewhere.place[1].path = other;
	assert_false(nfs_places_equal(&two, &elsewhere));
}

static void a_universal_address_has_a_port(void **state)
{
	static const struct {
		const char *server, *host;
		uint16_t port;
	} cases[] = {
		{"nas.example", "nas.example", 0},
		{"192.0.2.1", "192.0.2.1", 0},
		{"192.0.2.1.8.1", "192.0.2.1", 2049},
		{"192.0.2.1.78.81", "192.0.2.1", 20049},
		{"2001:db8::1", "2001:db8::1", 0},
		{"[2001:db8::1]", "2001:db8::1", 0},
		{"2001:db8::1.8.1", "2001:db8::1", 2049},
		/* no addresses: names */
		{"192.0.2.1.8", "192.0.2.1.8", 0},
		{"192.0.2.1.8.256", "192.0.2.1.8.256", 0},
		{"1.2.3.4.5.6.7", "1.2.3.4.5.6.7", 0},
		{"host.8.1", "host.8.1", 0},
		{"192.0.2.1.8.", "192.0.2.1.8.", 0},
		{".8.1", ".8.1", 0},
	};
	char host[64], name[300];
	uint16_t port;

	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct nfs_place p = {.server = strcpy(name, cases[i].server)};

		assert_true(nfs_place_host(&p, host, sizeof(host), &port));
		assert_string_equal(host, cases[i].host);
		assert_int_equal(port, cases[i].port);
	}
}

static void an_address_has_a_name(void **state)
{
	struct sockaddr_storage at = {.ss_family = AF_INET6}, none = {.ss_family = AF_UNIX};
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&at;
	struct sockaddr_in *four = (struct sockaddr_in *)&at;
	char name[NFS_PLACE_ADDRESS_MAX], host[64];
	struct nfs_place p = {.server = name};
	uint16_t port;

	six->sin6_port = htons(20049);
	memset(&six->sin6_addr, 0xfd, sizeof(six->sin6_addr));
	nfs_place_name(&at, name);
	assert_string_equal(name, "fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd.78.81");
	assert_true(nfs_place_host(&p, host, sizeof(host), &port));
	assert_string_equal(host, "fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd:fdfd");
	assert_int_equal(port, 20049);
	*four = (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons(2049),
		.sin_addr.s_addr = htonl(0xc0000201)};
	nfs_place_name(&at, name);
	assert_string_equal(name, "192.0.2.1.8.1");
	nfs_place_name(&none, name);
	assert_string_equal(name, "");
}

static void an_impossible_host_is_refused(void **state)
{
	char host[8], none[] = "", too_long[] = "12345678", fits[] = "1234567";
	struct nfs_place p = {.server = none};
	uint16_t port;

	assert_false(nfs_place_host(&p, host, sizeof(host), &port));
	p.server = too_long;
	assert_false(nfs_place_host(&p, host, sizeof(host), &port));
	p.server = fits;
	assert_true(nfs_place_host(&p, host, sizeof(host), &port));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_become_a_line),
		cmocka_unit_test(lists_are_equal_in_any_order),
		cmocka_unit_test(a_universal_address_has_a_port),
		cmocka_unit_test(an_address_has_a_name),
		cmocka_unit_test(an_impossible_host_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
