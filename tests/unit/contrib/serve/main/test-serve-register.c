/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/main/register, with an rpcbind of the test's own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <netconfig.h>
#include <netinet/in.h>
#include <rpc/rpc.h>
#include <stdio.h>
#include <string.h>

#include "contrib/serve/main/register.h"

#define STATUS_MONITOR 100024u

/* The registered programs: "PROGRAM.VERSION " each, the last one last. */
static char registered[256];
static rpcprog_t refused; /* program of another server */
static bool silent;	  /* rpcbind does not answer */
static struct sockaddr_storage at;
static char netid[16];

static void key_of(char key[32], rpcprog_t prog, rpcvers_t vers)
{
	snprintf(key, 32, "%lu.%lu ", (unsigned long)prog, (unsigned long)vers);
}

bool_t __wrap_rpcb_set(const rpcprog_t prog, const rpcvers_t vers, const struct netconfig *nc,
	const struct netbuf *addr);
bool_t __wrap_rpcb_set(const rpcprog_t prog, const rpcvers_t vers, const struct netconfig *nc,
	const struct netbuf *addr)
{
	char key[32];

	if (silent || prog == refused)
		return FALSE;
	key_of(key, prog, vers);
	assert_null(strstr(registered, key));
	strcat(registered, key);
	memcpy(&at, addr->buf, addr->len);
	snprintf(netid, sizeof(netid), "%s", nc->nc_netid);
	return TRUE;
}

bool_t __wrap_rpcb_unset(const rpcprog_t prog, const rpcvers_t vers, const struct netconfig *nc);
bool_t __wrap_rpcb_unset(const rpcprog_t prog, const rpcvers_t vers, const struct netconfig *nc)
{
	char key[32], *where;

	key_of(key, prog, vers);
	where = strstr(registered, key);
	assert_non_null(where); /* no registration of another server is taken away */
	memmove(where, where + strlen(key), strlen(where + strlen(key)) + 1);
	return TRUE;
}

static const struct sockaddr_in here = {.sin_family = AF_INET};

static const struct sockaddr *here4(void)
{
	return (const struct sockaddr *)&here;
}

static int setup(void **state)
{
	registered[0] = '\0';
	refused = 0;
	silent = false;
	return 0;
}

static void all_are_registered_and_taken_back(void **state)
{
	struct err e = {0};

	assert_int_equal(register_set(here4(), sizeof(here), 12345, &e), 0);
	assert_string_equal(registered, "100003.3 100003.4 100005.3 100021.4 100024.1 ");
	assert_string_equal(netid, "tcp");
	assert_int_equal(((struct sockaddr_in *)&at)->sin_port, htons(12345));
	register_unset(here4());
	assert_string_equal(registered, "");
	register_unset(here4()); /* no second unset */
}

static void over_ipv6_it_is_said_so(void **state)
{
	struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_addr = in6addr_loopback};
	struct err e = {0};

	assert_int_equal(register_set((struct sockaddr *)&six, sizeof(six), 12345, &e), 0);
	assert_string_equal(netid, "tcp6");
	assert_int_equal(((struct sockaddr_in6 *)&at)->sin6_port, htons(12345));
	assert_memory_equal(&((struct sockaddr_in6 *)&at)->sin6_addr, &in6addr_loopback,
		sizeof(in6addr_loopback));
	register_unset((struct sockaddr *)&six);
	assert_string_equal(registered, "");
}

/* All or nothing, and the error names the program that another server has registered. */
static void another_server_is_left_alone(void **state)
{
	static const struct {
		rpcprog_t prog;
		const char *name;
	} cases[] = {
		{100003, "NFS version 3"}, {100005, "MOUNT version 3"}, {100021, "NLM version 4"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err e = {0};

		refused = cases[i].prog;
		assert_int_equal(register_set(here4(), sizeof(here), 1, &e), -1);
		assert_string_equal(registered, "");
		assert_non_null(strstr(e.msg, cases[i].name));
		register_unset(here4());
	}
}

static void another_status_monitor_may_stay(void **state)
{
	struct err e = {0};

	refused = STATUS_MONITOR;
	assert_int_equal(register_set(here4(), sizeof(here), 1, &e), 0);
	assert_string_equal(registered, "100003.3 100003.4 100005.3 100021.4 ");
	strcat(registered, "100024.1 "); /* of the status monitor */
	register_unset(here4());
	assert_string_equal(registered, "100024.1 ");
}

static void without_rpcbind_it_is_said_so(void **state)
{
	struct err e = {0};

	silent = true;
	assert_int_equal(register_set(here4(), sizeof(here), 1, &e), -1);
	assert_non_null(strstr(e.msg, "not running"));
}

#define TEST(fn) cmocka_unit_test_setup(fn, setup)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_are_registered_and_taken_back),
		TEST(over_ipv6_it_is_said_so),
		TEST(another_server_is_left_alone),
		TEST(another_status_monitor_may_stay),
		TEST(without_rpcbind_it_is_said_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
