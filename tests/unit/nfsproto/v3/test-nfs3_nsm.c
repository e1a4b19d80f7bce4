/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of nfsproto/v3/nfs3_nsm: a mount's record of its locks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "nfsproto/v3/nfs3_nsm.h"

static int setup(void **state)
{
	*state = strdup("/tmp/rnfs-nsm-XXXXXX");
	return mkdtemp(*state) ? 0 : -1;
}

static int teardown(void **state)
{
	int rc = rmdir(*state); /* a clean end has left no file */

	free(*state);
	return rc;
}

static void who_succeeds_a_killed_one_has_its_name_and_another_number(void **state)
{
	struct nfs3_nsm a, b;

	assert_int_equal(nfs3_nsm_open(&a, *state, "mount"), 0);
	assert_false(a.former);
	assert_int_equal(a.state, 1);
	nfs3_nsm_close(&a, false); /* as the kernel does for a killed mount */
	assert_int_equal(nfs3_nsm_open(&b, *state, "mount"), 0);
	assert_true(b.former);
	assert_int_equal(b.state, 3);
	assert_string_equal(a.name, b.name);
	nfs3_nsm_close(&b, true);
	assert_int_equal(nfs3_nsm_open(&b, *state, "mount"), 0);
	assert_false(b.former);
	assert_string_not_equal(a.name, b.name);
	nfs3_nsm_close(&b, true);
}

static void those_that_live_share_no_name(void **state)
{
	struct nfs3_nsm a, b, c;

	assert_int_equal(nfs3_nsm_open(&a, *state, "mount"), 0);
	assert_int_equal(nfs3_nsm_open(&b, *state, "mount"), 0);
	assert_int_equal(nfs3_nsm_open(&c, *state, "another"), 0);
	assert_false(b.former || c.former);
	assert_string_not_equal(a.name, b.name);
	assert_string_not_equal(a.name, c.name);
	nfs3_nsm_close(&a, true);
	nfs3_nsm_close(&b, true);
	nfs3_nsm_close(&c, true);
}

static void a_damaged_file_is_as_none(void **state)
{
	struct nfs3_nsm a;
	int fd;

	assert_int_equal(nfs3_nsm_open(&a, *state, "mount"), 0);
	fd = open(a.path, O_WRONLY | O_TRUNC);
	assert_true(fd >= 0 && write(fd, "rnfs host 1 what?\n", 18) == 18);
	close(fd);
	nfs3_nsm_close(&a, false);
	assert_int_equal(nfs3_nsm_open(&a, *state, "mount"), 0);
	assert_false(a.former);
	nfs3_nsm_close(&a, true);
}

static void who_cannot_write_the_file_takes_no_former_name(void **state)
{
	struct rlimit none = {.rlim_cur = 0, .rlim_max = RLIM_INFINITY}, before;
	struct nfs3_nsm a, b;

	assert_int_equal(nfs3_nsm_open(&a, *state, "mount"), 0);
	nfs3_nsm_close(&a, false);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_int_equal(nfs3_nsm_open(&b, *state, "mount"), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_true(b.fd == -1 && !b.former && b.state == 1);
	assert_string_not_equal(a.name, b.name);
	/* the file is free for another mount */
	assert_int_equal(nfs3_nsm_open(&b, *state, "mount"), 0);
	assert_true(b.former);
	assert_string_equal(a.name, b.name);
	nfs3_nsm_close(&b, true);
}

static void without_a_place_nothing_is_remembered(void **state)
{
	struct nfs3_nsm a, b;

	assert_int_equal(nfs3_nsm_open(&a, NULL, "mount"), 0);
	assert_int_equal(nfs3_nsm_open(&b, "/nowhere", "mount"), 0);
	assert_true(a.fd == -1 && b.fd == -1 && !a.former && !b.former);
	assert_string_not_equal(a.name, b.name);
	nfs3_nsm_close(&a, true);
	nfs3_nsm_close(&b, true);
}

static void a_place_whose_path_is_too_long_is_none(void **state)
{
	char dir[PATH_MAX - 1];
	struct nfs3_nsm a;
	int null = open("/dev/null", O_RDONLY);

	memset(dir, '/', sizeof(dir));
	dir[sizeof(dir) - 1] = '\0';
	dup2(null, 0);
	assert_int_equal(nfs3_nsm_open(&a, dir, "mount"), 0);
	assert_true(a.fd == -1 && !a.former);
	assert_true(fcntl(0, F_GETFD) >= 0); /* which is not ours to close */
	nfs3_nsm_close(&a, true);
	close(null);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
		T(who_succeeds_a_killed_one_has_its_name_and_another_number),
		T(those_that_live_share_no_name),
		T(a_damaged_file_is_as_none),
		T(who_cannot_write_the_file_takes_no_former_name),
		T(without_a_place_nothing_is_remembered),
		T(a_place_whose_path_is_too_long_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
