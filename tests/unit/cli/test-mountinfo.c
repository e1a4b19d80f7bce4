/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cli/mountinfo.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "cli/mountinfo.h"

static struct mountinfo m;

static bool parse(const char *text)
{
	static char line[4000];

	snprintf(line, sizeof(line), "%s", text);
	return mountinfo_parse(line, &m);
}

static void a_mount_of_ours_has_an_owner(void **state)
{
	assert_true(parse("612 29 0:55 / /home/u/data rw,nosuid,nodev,relatime shared:311 - "
			  "fuse.rnfs server:/e rw,user_id=1000,group_id=100\n"));
	assert_int_equal(m.id, 612);
	assert_int_equal(m.major, 0);
	assert_int_equal(m.minor, 55);
	assert_string_equal(m.dir, "/home/u/data");
	assert_string_equal(m.flags, "rw,nosuid,nodev,relatime");
	assert_string_equal(m.type, "fuse.rnfs");
	assert_string_equal(m.source, "server:/e");
	assert_true(m.owned);
	assert_false(m.shared);
	assert_int_equal(m.uid, 1000);
	assert_int_equal(m.gid, 100);
	assert_true(parse("1 2 0:3 / /m rw - fuse.rnfs s:/ rw,user_id=0,group_id=0,allow_other\n"));
	assert_true(m.owned && m.shared);
}

static void others_have_none(void **state)
{
	assert_true(parse("22 29 254:0 / / rw - ext4 /dev/vda rw,user_id=1,group_id=1\n"));
	assert_false(m.owned || m.shared);
	assert_true(parse("22 29 0:7 / /c rw - fusectl fusectl rw\n"));
	assert_false(m.owned);
}

static void optional_fields_are_any_number(void **state)
{
	assert_true(parse("1 2 8:1 /a /b ro - ext4 /dev/sda1 rw"));
	assert_string_equal(m.type, "ext4");
	assert_true(parse("1 2 8:1 /a /b ro shared:1 master:2 unbindable - ext4 /dev/sda1 rw"));
	assert_string_equal(m.source, "/dev/sda1");
}

static void escapes_are_replaced(void **state)
{
	assert_true(parse("1 2 0:3 / /my\\040data\\134x rw - fuse.rnfs s:/a\\011b rw\n"));
	assert_string_equal(m.dir, "/my data\\x");
	assert_string_equal(m.source, "s:/a\tb");
	assert_true(parse("1 2 0:3 / /a\\04 rw - t \\ rw\n")); /* no escapes */
	assert_string_equal(m.dir, "/a\\04");
	assert_string_equal(m.source, "\\");
}

static void long_words_are_cut(void **state)
{
	char line[3500];
	int n = snprintf(line, sizeof(line), "1 2 0:3 / /%02000d rw - t %0600d rw", 0, 0);

	assert_in_range(n, 2600, sizeof(line) - 1);
	assert_true(parse(line));
	assert_int_equal(strlen(m.dir), sizeof(m.dir) - 1);
	assert_int_equal(strlen(m.source), sizeof(m.source) - 1);
}

static void other_lines_are_none(void **state)
{
	assert_false(parse(""));
	assert_false(parse("\n"));
	assert_false(parse("1 2 0:3 / /m rw"));
	assert_false(parse("1 2 0:3 / /m rw - fuse.rnfs"));
	assert_false(parse("1 2 3 / /m rw - t s rw"));
	assert_false(parse("x 2 0:3 / /m rw - t s rw"));
}

static void an_open_file_is_on_a_mount(void **state)
{
	int fd = open("/proc/self", O_PATH | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_true(mountinfo_of(fd, &m));
	assert_string_equal(m.type, "proc");
	assert_string_equal(m.dir, "/proc");
	close(fd);
	assert_false(mountinfo_of(fd, &m));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_mount_of_ours_has_an_owner),
		cmocka_unit_test(others_have_none),
		cmocka_unit_test(optional_fields_are_any_number),
		cmocka_unit_test(escapes_are_replaced),
		cmocka_unit_test(long_words_are_cut),
		cmocka_unit_test(other_lines_are_none),
		cmocka_unit_test(an_open_file_is_on_a_mount),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
