/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of transport/sd_notify.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "transport/sd_notify.h"

static int manager = -1;
static char dir[] = "/tmp/test-sd_notify.XXXXXX";
static char path[100], got[2000];

/* A socket of this name, where "@" begins an abstract one; the environment names the socket as the
 * service manager's. */
static void listen_at(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	size_t len = strlen(name);

	memcpy(a.sun_path, name, len);
	if (name[0] == '@')
		a.sun_path[0] = 0;
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	assert_int_equal(bind(manager, (struct sockaddr *)&a,
				 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)),
		0);
	setenv("NOTIFY_SOCKET", name, 1);
}

static const char *received(void)
{
	ssize_t n = recv(manager, got, sizeof(got) - 1, 0);

	got[n > 0 ? n : 0] = 0;
	return got;
}

static int setup(void **state)
{
	assert_non_null(mkdtemp(strcpy(dir, "/tmp/test-sd_notify.XXXXXX")));
	snprintf(path, sizeof(path), "%s/socket", dir);
	return 0;
}

static int teardown(void **state)
{
	close(manager);
	unlink(path);
	rmdir(dir);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
	return 0;
}

static void a_path(void **state)
{
	listen_at(path);
	sd_notify_init();
	assert_true(sd_notify("READY=%d", 1));
	assert_string_equal(received(), "READY=1");
}

static void an_abstract_name(void **state)
{
	char name[120];

	snprintf(name, sizeof(name), "@%s", path);
	listen_at(name);
	sd_notify_init();
	assert_true(sd_notify("STOPPING=1"));
	assert_string_equal(received(), "STOPPING=1");
}

static void programs_that_are_started_do_not_have_it(void **state)
{
	listen_at(path);
	setenv("WATCHDOG_USEC", "1000000", 1);
	sd_notify_init();
	assert_null(getenv("NOTIFY_SOCKET"));
	assert_null(getenv("WATCHDOG_USEC"));
}

static void lines_are_one_line(void **state)
{
	char text[1500];

	listen_at(path);
	sd_notify_init();
	assert_true(sd_notify("STATUS=%s", "a\nREADY=1\x7f\x1b"));
	assert_string_equal(received(), "STATUS=a?READY=1??");
	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = 0;
	assert_true(sd_notify("%s", text));
	assert_int_equal(strlen(received()), 1023);
}

static void nobody_listens(void **state)
{
	static const char *const names[] = {
		"", "@", "relative", "vsock:2:1", "/nowhere/at/all", NULL};

	unsetenv("NOTIFY_SOCKET");
	sd_notify_init();
	assert_false(sd_notify("READY=1"));
	for (int i = 0; names[i]; i++) {
		setenv("NOTIFY_SOCKET", names[i], 1);
		setenv("WATCHDOG_USEC", "1000000", 1);
		sd_notify_init();
		assert_false(sd_notify("READY=1"));
	}
	memset(got, 'x', 500);
	got[0] = '/';
	got[500] = 0;
	setenv("NOTIFY_SOCKET", got, 1);
	sd_notify_init();
	assert_false(sd_notify("READY=1"));
	assert_int_equal(sd_notify_watchdog_ms(), 0);
}

static unsigned watchdog(const char *us, const char *pid)
{
	setenv("NOTIFY_SOCKET", path, 1);
	setenv("WATCHDOG_USEC", us, 1);
	if (pid)
		setenv("WATCHDOG_PID", pid, 1);
	sd_notify_init();
	return sd_notify_watchdog_ms();
}

static void the_watchdog_is_of_one_process(void **state)
{
	char own[20], parent[20];

	snprintf(own, sizeof(own), "%d", (int)getpid());
	snprintf(parent, sizeof(parent), "%d", (int)getppid());
	listen_at(path);
	assert_int_equal(watchdog("30000000", own), 30000);
	assert_int_equal(watchdog("30000000", parent), 30000);
	assert_int_equal(watchdog("30000000", "4194305"), 0); /* no process has that number */
	assert_int_equal(watchdog("1500", NULL), 1);
	assert_int_equal(watchdog("junk", own), 0);
	assert_int_equal(watchdog("18446744073709551615", own), UINT32_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_path, setup, teardown),
		cmocka_unit_test_setup_teardown(an_abstract_name, setup, teardown),
		cmocka_unit_test_setup_teardown(
			programs_that_are_started_do_not_have_it, setup, teardown),
		cmocka_unit_test_setup_teardown(lines_are_one_line, setup, teardown),
		cmocka_unit_test_setup_teardown(nobody_listens, setup, teardown),
		cmocka_unit_test_setup_teardown(the_watchdog_is_of_one_process, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
