/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/admit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/admit.h"
#include "contrib/serve/export/ident.h"

static const struct sock_user elsewhere, unknown = {.local = true};

static struct sock_user user(uint32_t uid)
{
	return (struct sock_user){.local = true, .known = true, .uid = uid};
}

static enum admit_verdict check_at(
	const struct admit *a, uint32_t self, const char *ip, unsigned port, struct sock_user who)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
	struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	if (inet_pton(AF_INET, ip, &four.sin_addr) == 1)
		return admit_check(a, self, (struct sockaddr *)&four, &who);
	assert_int_equal(inet_pton(AF_INET6, ip, &six.sin6_addr), 1);
	return admit_check(a, self, (struct sockaddr *)&six, &who);
}

static int add(
	int (*fn)(struct admit *a, char *list, struct err *e), struct admit *a, const char *list)
{
	struct err e = {0};
	char copy[4000];

	snprintf(copy, sizeof(copy), "%s", list);
	return fn(a, copy, &e);
}

static void test_default(void **state)
{
	struct admit a = {0};

	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, user(1000)), ADMIT_YES);
	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, user(0)), ADMIT_YES);
	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, user(1001)), ADMIT_NOT_USER);
	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, unknown), ADMIT_NOT_KNOWN);
	assert_int_equal(check_at(&a, 1000, "192.0.2.1", 5000, elsewhere), ADMIT_YES);
	/* run by root: other users speak for themselves */
	assert_int_equal(check_at(&a, 0, "::1", 5000, user(1001)), ADMIT_YES);
	assert_int_equal(check_at(&a, 0, "::1", 5000, unknown), ADMIT_NOT_KNOWN);
}

static void test_users(void **state)
{
	struct admit a = {0};
	struct passwd *pw = getpwuid(0);

	assert_int_equal(add(admit_add_users, &a, "1001,2000000000"), 0);
	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, user(1001)), ADMIT_YES);
	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, user(2000000000)), ADMIT_YES);
	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, user(1002)), ADMIT_NOT_USER);
	if (pw) {
		assert_int_equal(add(admit_add_users, &a, pw->pw_name), 0);
		assert_int_equal(a.users[a.nusers - 1], 0);
	}
	assert_int_equal(add(admit_add_users, &a, "no-such-user-here"), -1);
	assert_int_equal(add(admit_add_users, &a, "-1"), -1);
	assert_int_equal(add(admit_add_users, &a, "4294967295"), -1);
	assert_int_equal(add(admit_add_users, &a, ""), -1);
	assert_int_equal(add(admit_add_users, &a, ","), -1);
	assert_int_equal(add(admit_add_users, &a, "all"), 0);
	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, user(1002)), ADMIT_YES);
	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, unknown), ADMIT_YES);
}

static void test_clients(void **state)
{
	struct admit a = {0};
	char many[4000] = "10.0.0.1";

	assert_int_equal(add(admit_add_clients, &a, "192.0.2.0/25,198.51.100.7,2001:db8::/33"), 0);
	assert_int_equal(check_at(&a, 0, "192.0.2.127", 5000, elsewhere), ADMIT_YES);
	assert_int_equal(check_at(&a, 0, "192.0.2.128", 5000, elsewhere), ADMIT_NOT_ADDRESS);
	assert_int_equal(check_at(&a, 0, "::ffff:192.0.2.1", 5000, elsewhere), ADMIT_YES);
	assert_int_equal(check_at(&a, 0, "198.51.100.7", 5000, elsewhere), ADMIT_YES);
	assert_int_equal(check_at(&a, 0, "198.51.100.6", 5000, elsewhere), ADMIT_NOT_ADDRESS);
	assert_int_equal(check_at(&a, 0, "2001:db8:7fff::1", 5000, elsewhere), ADMIT_YES);
	assert_int_equal(check_at(&a, 0, "2001:db8:8000::1", 5000, elsewhere), ADMIT_NOT_ADDRESS);
	/* the list is taken literally: this machine is not in the list, and a listed client is not
	 * trusted */
	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, user(1000)), ADMIT_NOT_ADDRESS);
	assert_int_equal(add(admit_add_clients, &a, "127.0.0.0/8"), 0);
	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, user(1000)), ADMIT_YES);
	assert_int_equal(check_at(&a, 1000, "127.0.0.1", 5000, user(1001)), ADMIT_NOT_USER);
	a = (struct admit){0};
	assert_int_equal(add(admit_add_clients, &a, "0.0.0.0/0"), 0);
	assert_int_equal(check_at(&a, 0, "203.0.113.9", 5000, elsewhere), ADMIT_YES);
	assert_int_equal(check_at(&a, 0, "2001:db8::1", 5000, elsewhere), ADMIT_NOT_ADDRESS);
	for (const char **bad = (const char *[]){"", ",", "localhost", "10.0.0.0/33", "::/129",
		     "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/8x", "10/8", NULL};
		*bad; bad++)
		assert_int_equal(add(admit_add_clients, &a, *bad), -1);
	for (unsigned i = 0; i < ADMIT_MAX_NETS; i++)
		strcat(many, ",10.0.0.1");
	assert_int_equal(add(admit_add_clients, &a, many), -1);
}

static void test_ports(void **state)
{
	struct admit a = {.privileged = true};

	assert_int_equal(check_at(&a, 0, "192.0.2.1", 1024, elsewhere), ADMIT_NOT_PORT);
	assert_int_equal(check_at(&a, 0, "192.0.2.1", 1023, elsewhere), ADMIT_YES);
	assert_int_equal(check_at(&a, 0, "2001:db8::1", 1023, elsewhere), ADMIT_YES);
	assert_int_equal(check_at(&a, 1000, "::1", 1000, user(1001)), ADMIT_NOT_USER);
}

static struct rpc_cred sys(uint32_t uid, uint32_t gid, uint32_t group)
{
	return (struct rpc_cred){
		.flavor = RPC_AUTH_SYS, .uid = uid, .gid = gid, .ngids = 1, .gids = {group}};
}

static void expect_cred(struct rpc_cred c, uint32_t uid, uint32_t gid, uint32_t ngids)
{
	assert_int_equal(c.uid, uid);
	assert_int_equal(c.gid, gid);
	assert_int_equal(c.ngids, ngids);
}

/* The credentials that local users may send to a server run by root. */
static void test_cred(void **state)
{
	struct admit a = {.users = {1005}, .nusers = 1};
	struct sock_user u = user(3999999999u), root = user(0), listed = user(1005);
	struct passwd *pw;
	struct rpc_cred c = sys(0, 0, 0);

	admit_cred(&a, &u, &c); /* another user, even root */
	expect_cred(c, IDENT_ANON, IDENT_ANON, 0);
	c = sys(1000, 1000, 4);
	admit_cred(&a, &u, &c);
	expect_cred(c, IDENT_ANON, IDENT_ANON, 0);
	c = sys(1000, 1000, 4);
	admit_cred(&a, &unknown, &c);
	expect_cred(c, IDENT_ANON, IDENT_ANON, 0);
	for (int again = 0; again < 2; again++) { /* asked, then remembered */
		c = sys(3999999999u, 0, 4);	  /* the user itself, with groups of other users */
		admit_cred(&a, &u, &c);
		expect_cred(c, 3999999999u, IDENT_ANON, 0);
	}
	c = sys(1000, 1000, 4);
	admit_cred(&a, &root, &c);
	expect_cred(c, 1000, 1000, 1);
	c = sys(1000, 1000, 4);
	admit_cred(&a, &listed, &c);
	expect_cred(c, 1000, 1000, 1);
	c = sys(1000, 1000, 4);
	admit_cred(&a, &elsewhere, &c);
	expect_cred(c, 1000, 1000, 1);
	c = (struct rpc_cred){.flavor = RPC_AUTH_NONE};
	admit_cred(&a, &u, &c);
	assert_int_equal(c.flavor, RPC_AUTH_NONE);
	/* a user that the machine knows keeps its real groups */
	pw = getpwnam("daemon");
	if (pw && pw->pw_uid) {
		u = user(pw->pw_uid);
		c = sys(pw->pw_uid, 0, pw->pw_gid);
		admit_cred(&a, &u, &c);
		expect_cred(c, pw->pw_uid, pw->pw_gid, 1);
		c = sys(pw->pw_uid, pw->pw_gid, 0);
		admit_cred(&a, &u, &c);
		expect_cred(c, pw->pw_uid, pw->pw_gid, 0);
	}
}

/* More users than the server remembers. */
static void test_many_users(void **state)
{
	struct admit a = {0};

	for (uint32_t i = 0; i < 100; i++) {
		struct sock_user u = user(3900000000u + i % 40);
		struct rpc_cred c = sys(3900000000u + i % 40, 0, 0);

		admit_cred(&a, &u, &c);
		expect_cred(c, 3900000000u + i % 40, IDENT_ANON, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_default),
		cmocka_unit_test(test_users),
		cmocka_unit_test(test_clients),
		cmocka_unit_test(test_ports),
		cmocka_unit_test(test_cred),
		cmocka_unit_test(test_many_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
