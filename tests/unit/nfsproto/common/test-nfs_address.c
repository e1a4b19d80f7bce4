/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/common/nfs_address, with a resolver of this file.
 */
#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "nfsproto/common/nfs_address.h"

int __real_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
	struct addrinfo **list);
void __real_freeaddrinfo(struct addrinfo *list);
int __wrap_getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
	struct addrinfo **list);
void __wrap_freeaddrinfo(struct addrinfo *list);

/* The answers of the resolver; NULL: the real one is asked. */
static const char *const *answers;
static struct addrinfo *fake;

int __wrap_getaddrinfo(
	const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **list)
{
	struct addrinfo **end = &fake;
	struct addrinfo numeric = *hints;

	if (!answers)
		return __real_getaddrinfo(host, service, hints, list);
	numeric.ai_flags = AI_NUMERICHOST;
	for (unsigned i = 0; answers[i]; i++) {
		assert_int_equal(__real_getaddrinfo(answers[i], service, &numeric, end), 0);
		end = &(*end)->ai_next;
	}
	*list = fake;
	return 0;
}

void __wrap_freeaddrinfo(struct addrinfo *list)
{
	while (fake && list == fake) {
		struct addrinfo *next = fake->ai_next;

		fake->ai_next = NULL;
		__real_freeaddrinfo(fake);
		list = fake = next;
	}
	if (list)
		__real_freeaddrinfo(list);
}

static struct dial_addr out[DIAL_ADDRS_MAX];
static struct err e;

static unsigned find(const char *host, int family)
{
	e = (struct err){0};
	return nfs_address_find(host, family, 2049, out, &e);
}

static void answered(const char *const *from, const char *const *to)
{
	unsigned n;

	answers = from;
	n = find("name", AF_UNSPEC);
	answers = NULL;
	for (unsigned i = 0; i < n; i++) {
		char text[NI_MAXHOST], port[8];

		assert_non_null(to[i]);
		assert_int_equal(
			getnameinfo((struct sockaddr *)&out[i].ss, out[i].len, text, sizeof(text),
				port, sizeof(port), NI_NUMERICHOST | NI_NUMERICSERV),
			0);
		assert_string_equal(text, to[i]);
		assert_string_equal(port, "2049");
		assert_int_equal(out[i].outcome, DIAL_UNTRIED);
	}
	assert_null(to[n]);
}

#define LIST(...)                                                                                  \
	(const char *const[])                                                                      \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}

static void families_take_turns(void **state)
{
	answered(LIST("fd00::1", "fd00::2", "fd00::3", "10.0.0.1", "10.0.0.2"),
		LIST("fd00::1", "10.0.0.1", "fd00::2", "10.0.0.2", "fd00::3"));
	answered(LIST("10.0.0.1", "10.0.0.2", "fd00::1"), LIST("10.0.0.1", "fd00::1", "10.0.0.2"));
	answered(LIST("10.0.0.1", "10.0.0.2"), LIST("10.0.0.1", "10.0.0.2"));
	answered(LIST("::1"), LIST("::1"));
}

static void addresses_are_tried_once(void **state)
{
	answered(LIST("10.0.0.1", "10.0.0.1", "fd00::1", "fd00::1"), LIST("10.0.0.1", "fd00::1"));
	answered(LIST("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6",
			 "10.0.0.7", "10.0.0.8", "10.0.0.9"),
		LIST("10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5", "10.0.0.6",
			"10.0.0.7", "10.0.0.8"));
}

static void local_addresses_have_a_scope(void **state)
{
	answered(LIST("fe80::1", "10.0.0.1"), LIST("10.0.0.1"));
	assert_int_equal(find("fe80::1%lo", AF_UNSPEC), 1);
	assert_true(((struct sockaddr_in6 *)&out[0].ss)->sin6_scope_id > 0);
	assert_int_equal(find("fe80::1", AF_UNSPEC), 0);
	assert_int_equal(e.kind, ERR_RESOLVE);
	assert_non_null(strstr(e.msg, "[fe80::1%eth0]:/EXPORT"));
	assert_int_equal(find("fe80::1%nosuch9", AF_UNSPEC), 0);
	assert_non_null(strstr(e.msg, "no network interface nosuch9"));
}

static void families_can_be_asked_for(void **state)
{
	assert_int_equal(find("::1", AF_INET6), 1);
	assert_int_equal(find("127.0.0.1", AF_INET6), 0);
	assert_non_null(strstr(e.msg, "does not resolve to an IPv6 address"));
	assert_int_equal(e.kind, ERR_RESOLVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(families_take_turns),
		cmocka_unit_test(addresses_are_tried_once),
		cmocka_unit_test(local_addresses_have_a_scope),
		cmocka_unit_test(families_can_be_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
