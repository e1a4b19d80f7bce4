/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/export/ident: the powers of a thread while it acts for a caller. If
 * not
 * run by root, there is nothing to switch, and nothing changes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/ident.h"

static struct rpc_cred alice = {.flavor = RPC_AUTH_SYS, .uid = 1000, .gid = 1000};
static struct rpc_cred bob = {
	.flavor = RPC_AUTH_SYS, .uid = 1001, .gid = 1001, .ngids = 1, .gids = {7}};
static struct rpc_cred root = {.flavor = RPC_AUTH_SYS};
static struct rpc_cred nobody = {.flavor = RPC_AUTH_NONE};

/* The thread's effective capabilities. */
static uint64_t effective(void)
{
	FILE *f = fopen("/proc/thread-self/status", "r");
	uint64_t caps = 0;
	char line[256];
	bool found = false;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		found |= sscanf(line, "CapEff: %" SCNx64, &caps) == 1;
	fclose(f);
	assert_true(found);
	return caps;
}

/* No capability is left, except one that has nothing to do with files. */
static void assert_powerless(uint64_t before)
{
	uint64_t left = ident_switches() ? 1ull << CAP_IPC_LOCK : UINT64_MAX;

	assert_true(effective() == (before & left));
}

static int back(void **state)
{
	ident_init(false);
	return ident_assume(&root);
}

static void a_user_has_no_capabilities(void **state)
{
	uint64_t before = effective();

	ident_init(true);
	assert_int_equal(ident_assume(&alice), 0);
	assert_powerless(before);
	assert_int_equal(ident_assume(&bob), 0); /* from one user to the next */
	assert_powerless(before);
	assert_int_equal(ident_assume(&root), 0); /* squashed */
	assert_powerless(before);
	assert_int_equal(ident_assume(&nobody), 0);
	assert_powerless(before);
}

static void the_server_has_its_own_in_between(void **state)
{
	uint64_t before = effective();

	ident_init(true);
	assert_int_equal(ident_assume(&alice), 0);
	ident_suspend();
	assert_true(effective() == before);
	ident_resume();
	assert_powerless(before);
	assert_int_equal(ident_uid(), ident_switches() ? alice.uid : geteuid());
}

static void root_that_is_let_in_has_them(void **state)
{
	uint64_t before = effective();

	ident_init(false);
	assert_int_equal(ident_assume(&alice), 0);
	assert_int_equal(ident_assume(&root), 0);
	assert_true(effective() == before);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, NULL, back)
	const struct CMUnitTest tests[] = {
		TEST(a_user_has_no_capabilities),
		TEST(the_server_has_its_own_in_between),
		TEST(root_that_is_let_in_has_them),
	};

	return cmocka_run_group_tests_name("serve-ident", tests, NULL, NULL);
}
