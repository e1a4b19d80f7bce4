/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of contrib/serve/state/deleg_watch.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "contrib/serve/state/deleg_watch.h"

static char dir[] = "/tmp/rnfs-watch.XXXXXX";
static int watches, file, wd;
static struct deleg_seen seen;

static int setup(void **state)
{
	watches = deleg_watch_new();
	assert_true(watches >= 0);
	file = open("watched", O_RDWR | O_CREAT | O_TRUNC, 0600);
	assert_true(file >= 0);
	wd = deleg_watch_add(watches, file);
	assert_true(wd >= 0);
	return 0;
}

static int teardown(void **state)
{
	deleg_watch_end(watches, wd);
	close(watches);
	close(file);
	unlink("watched");
	unlink("other");
	return 0;
}

/* Was an event of the watched file seen? */
static bool saw(void)
{
	bool any = deleg_watch_take(watches, &seen);

	assert_int_equal(any, any && deleg_watch_has(&seen, wd));
	assert_false(deleg_watch_has(&seen, wd + 1));
	return any;
}

static void what_changes_attributes_or_names_is_seen(void **state)
{
	assert_false(saw());
	assert_int_equal(fchmod(file, 0640), 0);
	assert_true(saw());
	assert_int_equal(futimens(file, NULL), 0);
	assert_true(saw());
	assert_int_equal(link("watched", "other"), 0);
	assert_true(saw());
	assert_int_equal(rename("watched", "moved"), 0);
	assert_true(saw());
	assert_int_equal(unlink("moved"), 0);
	assert_true(saw());
	assert_int_equal(unlink("other"), 0);
	saw();
}

static void what_is_replaced_is_seen(void **state)
{
	int by = open("other", O_RDWR | O_CREAT, 0600);

	assert_int_equal(rename("other", "watched"), 0);
	assert_true(saw());
	close(by);
}

/* Reads and writes go through a lease. */
static void reading_and_writing_are_not(void **state)
{
	char c;

	assert_int_equal(write(file, "x", 1), 1);
	assert_int_equal(pread(file, &c, 1, 0), 1);
	assert_false(saw());
}

static void a_watch_is_the_files(void **state)
{
	int same = open("watched", O_RDONLY);

	assert_int_equal(deleg_watch_add(watches, same), wd);
	close(same);
	deleg_watch_end(watches, wd);
	assert_int_equal(fchmod(file, 0640), 0);
	while (deleg_watch_take(watches, &seen)) /* the end of the watch */
		assert_false(deleg_watch_has(&seen, wd));
}

/* For changes by the server. */
static void one_may_look_away(void **state)
{
	assert_int_equal(fchmod(file, 0640), 0);
	deleg_watch_pause(watches, file);
	assert_true(saw()); /* earlier events */
	assert_int_equal(fchmod(file, 0600), 0);
	assert_int_equal(rename("watched", "other"), 0);
	assert_int_equal(rename("other", "watched"), 0);
	assert_int_equal(deleg_watch_add(watches, file), wd);
	assert_false(saw());
	assert_int_equal(fchmod(file, 0640), 0);
	assert_true(saw());
}

/* More events than are kept at a time: the rest comes the next time. */
static void much_is_seen_bit_by_bit(void **state)
{
	unsigned n = 0;

	for (unsigned i = 0; i < 3 * DELEG_WATCH_SEEN; i++) {
		int by = open("other", O_RDWR | O_CREAT, 0600);
		int w = deleg_watch_add(watches, by);

		assert_true(w > wd);
		assert_int_equal(fchmod(by, 0640), 0);
		deleg_watch_end(watches, w);
		unlink("other");
		close(by);
	}
	assert_int_equal(fchmod(file, 0640), 0);
	while (deleg_watch_take(watches, &seen))
		n += deleg_watch_has(&seen, wd);
	assert_int_equal(n, 1);
}

static void without_there_is_nothing(void **state)
{
	assert_int_equal(deleg_watch_add(-1, file), -1);
	assert_false(deleg_watch_take(-1, &seen));
	assert_false(deleg_watch_has(&seen, wd));
	deleg_watch_end(-1, wd);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_changes_attributes_or_names_is_seen),
		TEST(what_is_replaced_is_seen),
		TEST(reading_and_writing_are_not),
		TEST(a_watch_is_the_files),
		TEST(one_may_look_away),
		TEST(much_is_seen_bit_by_bit),
		TEST(without_there_is_nothing),
	};
	int r;

	signal(SIGIO, SIG_IGN);
	if (!mkdtemp(dir) || chdir(dir))
		return 1;
	r = cmocka_run_group_tests(tests, NULL, NULL);
	return chdir("/") || rmdir(dir) ? 1 : r;
}
