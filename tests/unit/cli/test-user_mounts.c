/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/user_mounts: names of units. The rest is in tests/e2e/service.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "cli/user_mounts.h"

static char name[300];

static const char *unit(const char *dir)
{
	return user_mounts_unit(dir, name, sizeof(name)) ? name : NULL;
}

/* The output of systemd-escape --path --template=rnfs@.service. */
static void names_are_those_of_systemd_escape(void **state)
{
	assert_string_equal(unit("/home/u/data"), "rnfs@home-u-data.service");
	assert_string_equal(unit("/"), "rnfs@-.service");
	assert_string_equal(unit("/My data-x"), "rnfs@My\\x20data\\x2dx.service");
	assert_string_equal(unit("/.a/.b:c_d"), "rnfs@\\x2ea-.b:c_d.service");
	assert_string_equal(unit("/\xc3\xa4\\"), "rnfs@\\xc3\\xa4\\x5c.service");
}

static void names_have_a_limit(void **state)
{
	char dir[400];

	memset(dir, 'a', sizeof(dir));
	dir[0] = '/';
	dir[1 + 242] = 0;
	assert_int_equal(strlen(unit(dir)), 255);
	dir[1 + 242] = 'a';
	dir[1 + 243] = 0;
	assert_null(unit(dir));
	dir[1 + 243] = 'a';
	dir[399] = 0;
	assert_null(unit(dir));
	assert_false(user_mounts_unit("/a", name, sizeof("rnfs@a.service") - 1));
	assert_true(user_mounts_unit("/a", name, sizeof("rnfs@a.service")));
}

static void the_name_tells(void **state)
{
	assert_true(
		user_mounts_is_generator("/usr/lib/systemd/user-generators/rnfs-user-generator"));
	assert_true(user_mounts_is_generator("rnfs-user-generator"));
	assert_false(user_mounts_is_generator("rnfs"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_those_of_systemd_escape),
		cmocka_unit_test(names_have_a_limit),
		cmocka_unit_test(the_name_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
