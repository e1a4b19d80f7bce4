/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of cache/pressure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cache/pressure.h"
#include "tests/unit/cache/fake-groups.h"

#define GROUP  "sys/fs/cgroup/pods/one"
#define GROUP1 "sys/fs/cgroup/memory/pods/one"

static struct pressure p;

static int setup(void **state)
{
	fake_groups_begin();
	return 0;
}

static int teardown(void **state)
{
	pressure_finish(&p);
	fake_groups_end();
	return 0;
}

static void begin(void)
{
	pressure_init(&p, fake_root);
}

static void without_a_system_there_is_nothing(void **state)
{
	begin();
	assert_int_equal(p.fd, -1);
	assert_true(pressure_limit(&p) == SIZE_MAX);
	assert_true(pressure_room(&p, PRESSURE_ROOM) == SIZE_MAX);
}

static void the_least_limit_counts(void **state)
{
	fake_file("proc/self/cgroup", "0::/pods/one\n");
	fake_file(GROUP "/memory.max", "100000000\n");
	fake_file(GROUP "/memory.high", "max\n");
	fake_file("sys/fs/cgroup/pods/memory.max", "max\n");
	begin();
	assert_int_equal(pressure_limit(&p), 100000000);
	fake_file(GROUP "/memory.high", "90000000\n");
	assert_int_equal(pressure_limit(&p), 90000000);
	fake_file("sys/fs/cgroup/pods/memory.max", "70000000\n");
	assert_int_equal(pressure_limit(&p), 70000000);
	fake_file("sys/fs/cgroup/pods/memory.max", "nonsense\n");
	assert_int_equal(pressure_limit(&p), 90000000);
	fake_file("sys/fs/cgroup/pods/memory.max", "");
	assert_int_equal(pressure_limit(&p), 90000000);
}

/* In a container: the machine's path, but the group's files where groups begin. */
static void a_group_may_be_seen_from_within(void **state)
{
	fake_file("proc/self/cgroup", "0::/machine/slice/container\n");
	fake_file("sys/fs/cgroup/memory.max", "50000000\n");
	begin();
	assert_int_equal(pressure_limit(&p), 50000000);
	pressure_finish(&p);
	fake_file("proc/self/cgroup", "0::/../../other\n");
	begin();
	assert_int_equal(pressure_limit(&p), 50000000);
}

static void version_1_is_known(void **state)
{
	fake_file(
		"proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/pods/one\n3:cpuset:/\n0::/\n");
	fake_file(GROUP1 "/memory.limit_in_bytes", "9223372036854771712\n");
	fake_file("sys/fs/cgroup/memory/pods/memory.limit_in_bytes", "60000000\n");
	fake_file("sys/fs/cgroup/memory.max", "5\n");
	begin();
	assert_int_equal(pressure_limit(&p), 60000000);
	fake_file("sys/fs/cgroup/memory/pods/memory.usage_in_bytes", "59000000\n");
	fake_file("sys/fs/cgroup/memory/pods/memory.stat",
		"cache 1\ninactive_file 7\ntotal_cache 9\ntotal_inactive_file 3000000\n"
		"total_active_file 1000000\n");
	assert_int_equal(pressure_room(&p, PRESSURE_ROOM), 1250000);
	fake_file("sys/fs/cgroup/memory/pods/memory.stat", "total_active_file 1000000\n");
	assert_int_equal(pressure_room(&p, PRESSURE_ROOM), 0);
}

/* Pages of files are as good as free. */
static void room_is_what_nobody_holds(void **state)
{
	fake_file("proc/self/cgroup", "0::/pods/one\n");
	fake_file(GROUP "/memory.max", "160000000\n");
	fake_file(GROUP "/memory.current", "160000000\n");
	fake_file(GROUP "/memory.stat", "anon 1\ninactive_file 10000000\nactive_file 1000000\n");
	begin();
	assert_int_equal(pressure_room(&p, PRESSURE_ROOM), 1000000);
	assert_int_equal(pressure_room(&p, 8), 0);
	assert_int_equal(pressure_room(&p, 32), 6000000);
	fake_file(GROUP "/memory.stat", "anon 1\ninactive_file 8000000\nactive_file 1000000\n");
	assert_int_equal(pressure_room(&p, PRESSURE_ROOM), 0);
	fake_file(GROUP "/memory.max", "max\n");
	assert_true(pressure_room(&p, PRESSURE_ROOM) == SIZE_MAX);
	/* and in a group above */
	fake_file("sys/fs/cgroup/pods/memory.max", "1000\n");
	fake_file("sys/fs/cgroup/pods/memory.current", "1000\n");
	fake_file("sys/fs/cgroup/pods/memory.stat", "anon 900\n");
	assert_int_equal(pressure_room(&p, PRESSURE_ROOM), 0);
}

static void asked(const char *name)
{
	char path[PATH_MAX], text[100] = "";
	FILE *f;

	fake_path(path, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	assert_string_equal(text, "some 200000 2000000");
}

static void the_groups_stalls_are_asked_for_or_the_machines(void **state)
{
	fake_file("proc/self/cgroup", "0::/pods/one\n");
	fake_file(GROUP "/memory.max", "160000000\n");
	fake_file("proc/pressure/memory", "");
	begin();
	assert_true(p.fd >= 0);
	asked("proc/pressure/memory");
	pressure_lost(&p);
	assert_int_equal(p.fd, -1);
	pressure_finish(&p);
	fake_file(GROUP "/memory.pressure", "");
	begin();
	assert_true(p.fd >= 0);
	asked(GROUP "/memory.pressure");
}

#define PLENTY "MemTotal: 24000000 kB\nMemFree: 900000 kB\nMemAvailable: 22000000 kB\n"
#define LITTLE "MemTotal: 24000000 kB\nMemFree: 900000 kB\nMemAvailable: 2900000 kB\n"

/* Other groups stall at their own limits, and the machine has plenty. */
static void the_machines_stalls_count_if_it_has_little_left(void **state)
{
	fake_file("proc/pressure/memory", "");
	begin();
	assert_true(pressure_stall_counts(&p)); /* the free memory is unknown */
	fake_file("proc/meminfo", PLENTY);
	assert_false(pressure_stall_counts(&p));
	fake_file("proc/meminfo", LITTLE);
	assert_true(pressure_stall_counts(&p));
	fake_file("proc/meminfo", "nonsense\n");
	assert_true(pressure_stall_counts(&p));
}

static void the_machines_stalls_count_if_our_group_is_full(void **state)
{
	fake_file("proc/self/cgroup", "0::/pods/one\n");
	fake_file("proc/pressure/memory", "");
	fake_file("proc/meminfo", PLENTY);
	fake_file(GROUP "/memory.max", "max\n");
	begin();
	assert_false(p.of_group);
	assert_false(pressure_stall_counts(&p));
	/* full of pages of files, as every group is in time */
	fake_file(GROUP "/memory.max", "160000000\n");
	fake_file(GROUP "/memory.current", "160000000\n");
	fake_file(GROUP "/memory.stat", "anon 1\ninactive_file 60000000\nactive_file 10000000\n");
	assert_false(pressure_stall_counts(&p));
	fake_file(GROUP "/memory.stat", "anon 1\ninactive_file 6000000\nactive_file 10000000\n");
	assert_true(pressure_stall_counts(&p));
	/* and a group above ours */
	fake_file(GROUP "/memory.max", "max\n");
	fake_file("sys/fs/cgroup/pods/memory.max", "1000\n");
	fake_file("sys/fs/cgroup/pods/memory.current", "1000\n");
	fake_file("sys/fs/cgroup/pods/memory.stat", "anon 900\ninactive_file 100\n");
	assert_true(pressure_stall_counts(&p));
}

/* Our own processes wait for pages of files to be taken. */
static void the_groups_stalls_count_if_it_is_full(void **state)
{
	fake_file("proc/self/cgroup", "0::/pods/one\n");
	fake_file("proc/meminfo", PLENTY);
	fake_file(GROUP "/memory.pressure", "");
	fake_file(GROUP "/memory.max", "160000000\n");
	fake_file(GROUP "/memory.current", "140000000\n");
	fake_file(GROUP "/memory.stat", "anon 1\ninactive_file 100000000\nactive_file 1\n");
	begin();
	assert_true(p.of_group);
	assert_false(pressure_stall_counts(&p));
	fake_file(GROUP "/memory.current", "159000000\n");
	assert_true(pressure_stall_counts(&p));
	fake_file(GROUP "/memory.max", "max\n");
	assert_false(pressure_stall_counts(&p));
	fake_file("proc/meminfo", LITTLE);
	assert_true(pressure_stall_counts(&p));
}

static void what_is_no_list_of_groups_is_passed_over(void **state)
{
	static const char *const texts[] = {"\n", ":", "::", "0:", "0:\n0:\n", "memory", "4:memory",
		"4:memory\n:/x\n", "x:xmemory,memoryx:/pods/one\n"};

	fake_file("sys/fs/cgroup/memory/memory.limit_in_bytes", "5\n");
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		fake_file("proc/self/cgroup", texts[i]);
		begin();
		assert_true(pressure_limit(&p) == SIZE_MAX);
		pressure_finish(&p);
	}
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(without_a_system_there_is_nothing),
		TEST(the_least_limit_counts),
		TEST(a_group_may_be_seen_from_within),
		TEST(version_1_is_known),
		TEST(room_is_what_nobody_holds),
		TEST(the_groups_stalls_are_asked_for_or_the_machines),
		TEST(the_machines_stalls_count_if_it_has_little_left),
		TEST(the_machines_stalls_count_if_our_group_is_full),
		TEST(the_groups_stalls_count_if_it_is_full),
		TEST(what_is_no_list_of_groups_is_passed_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
