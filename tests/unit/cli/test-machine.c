/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/machine.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/machine.h"
#include "tests/unit/cache/fake-groups.h"

static int setup(void **state)
{
	fake_groups_begin();
	return 0;
}

static int teardown(void **state)
{
	fake_groups_end();
	return 0;
}

static void a_file_is_no_fuse_device(void **state)
{
	assert_int_equal(machine_fuse_device(fake_root), ENOENT);
	fake_file("dev/fuse", "");
	assert_int_equal(machine_fuse_device(fake_root), ENODEV);
}

static void a_word_stands_alone_on_its_line(void **state)
{
	assert_false(machine_fuse_conf(fake_root, "user_allow_other"));
	fake_file("etc/fuse.conf", "# user_allow_other\nuser_allow_others\nmount_max = 10\n");
	assert_false(machine_fuse_conf(fake_root, "user_allow_other"));
	fake_file("etc/fuse.conf", "mount_max = 10\n  user_allow_other # for all\n");
	assert_true(machine_fuse_conf(fake_root, "user_allow_other"));
}

static void a_number_is_the_first_word(void **state)
{
	assert_int_equal(machine_number(fake_root, "/proc/n"), -1);
	fake_file("proc/n", "12\n");
	assert_int_equal(machine_number(fake_root, "/proc/n"), 12);
	fake_file("proc/n", "max\n");
	assert_int_equal(machine_number(fake_root, "/proc/n"), -1);
}

static void each_reason_has_a_sentence(void **state)
{
	assert_null(machine_fusermount_says(FUSERMOUNT_WORKS));
	for (int is = FUSERMOUNT_MISSING; is <= FUSERMOUNT_RESTRICTED; is++)
		assert_non_null(strstr(machine_fusermount_says(is), "fusermount3"));
}

static void no_new_privs_restricts_fusermount(void **state)
{
	char path[PATH_MAX];
	int status;
	pid_t child;

	if (machine_fusermount(path) != FUSERMOUNT_WORKS)
		skip(); /* no fusermount3 works here */
	child = fork();
	if (!child) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(machine_fusermount(path) == FUSERMOUNT_RESTRICTED ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void descriptors_are_counted(void **state)
{
	struct rlimit was, few;
	bool enough;

	assert_true(machine_has_descriptors(32));
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = was;
	few.rlim_cur = 20;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	enough = machine_has_descriptors(32);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_false(enough);
	assert_true(machine_has_descriptors(32)); /* no descriptor was kept */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_file_is_no_fuse_device, setup, teardown),
		cmocka_unit_test_setup_teardown(a_word_stands_alone_on_its_line, setup, teardown),
		cmocka_unit_test_setup_teardown(a_number_is_the_first_word, setup, teardown),
		cmocka_unit_test(each_reason_has_a_sentence),
		cmocka_unit_test(no_new_privs_restricts_fusermount),
		cmocka_unit_test(descriptors_are_counted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
