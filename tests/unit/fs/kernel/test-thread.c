/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/thread.
 */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "fs/kernel/service.h"
#include "fs/kernel/signals.h"
#include "fs/kernel/thread.h"
#include "fs/known/fs.h"

static unsigned attempts, failures, stops_after, alive;
static int error;

int __real_pthread_create(
	pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg);

/* The first attempts fail. */
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*run)(void *), void *arg)
{
	if (++attempts == stops_after)
		signals_stop();
	return attempts <= failures ? error : __real_pthread_create(t, attr, run, arg);
}

bool __wrap_sd_notify(const char *fmt, ...);

bool __wrap_sd_notify(const char *fmt, ...)
{
	alive += !strcmp(fmt, "WATCHDOG=1");
	return true;
}

static void *note_signals(void *arg)
{
	pthread_sigmask(SIG_BLOCK, NULL, arg);
	return NULL;
}

static int start_in(struct fs *fs, int allowed, sigset_t *blocked)
{
	pthread_t t;
	int rc = thread_start(fs, &t, note_signals, blocked, allowed);

	if (!rc)
		pthread_join(t, NULL);
	return rc;
}

static int start(bool waits, int allowed, sigset_t *blocked)
{
	struct fs fs = {.waits_for_threads = waits};

	return start_in(&fs, allowed, blocked);
}

static int begin(void **state)
{
	attempts = failures = stops_after = alive = 0;
	error = EAGAIN;
	return 0;
}

static void signals_are_for_the_main_thread(void **state)
{
	sigset_t blocked, own;

	assert_int_equal(start(false, 0, &blocked), 0);
	assert_true(sigismember(&blocked, SIGTERM) && sigismember(&blocked, SIGUSR2));
	assert_int_equal(start(false, SIGUSR2, &blocked), 0);
	assert_true(sigismember(&blocked, SIGTERM) && !sigismember(&blocked, SIGUSR2));
	pthread_sigmask(SIG_BLOCK, NULL, &own);
	assert_false(sigismember(&own, SIGTERM));
}

static void a_mount_that_begins_fails_without(void **state)
{
	sigset_t blocked;

	failures = 1;
	assert_int_equal(start(false, 0, &blocked), EAGAIN);
	assert_int_equal(attempts, 1);
}

static void a_mount_in_use_waits(void **state)
{
	sigset_t blocked;

	failures = 3;
	assert_int_equal(start(true, 0, &blocked), 0);
	assert_int_equal(attempts, 4);
}

static void no_wait_helps_against_other_errors(void **state)
{
	sigset_t blocked;

	failures = 1;
	error = EPERM;
	assert_int_equal(start(true, 0, &blocked), EPERM);
}

static void a_signal_ends_the_wait(void **state)
{
	sigset_t blocked;

	failures = UINT32_MAX;
	stops_after = 2;
	assert_int_equal(start(true, 0, &blocked), EAGAIN);
	assert_int_equal(attempts, 2);
}

/* The service manager kills a service that shows no sign of life. */
static void the_service_manager_hears_of_life(void **state)
{
	struct service service = {.on = true, .watchdog_ms = 1000};
	struct fs fs = {.waits_for_threads = true, .service = &service};
	sigset_t blocked;

	failures = 1;
	assert_int_equal(start_in(&fs, 0, &blocked), 0);
	assert_int_equal(alive, 1);
}

int __wrap_fuse_session_fd(const struct fuse_session *se);

int __wrap_fuse_session_fd(const struct fuse_session *se)
{
	return INT_MAX; /* no open file: poll(2) tells of it as of a device without a mount */
}

static void an_unmount_begins_the_end_of_a_wait(void **state)
{
	static const struct options opt = {.grace_s = 0};
	struct fs fs = {.opt = &opt, .waits_for_threads = true, .former = (void *)&opt};
	sigset_t blocked;

	failures = 1;
	assert_int_equal(start_in(&fs, 0, &blocked), 0);
	assert_int_equal(fs.ending_at, 0);
	begin(NULL);
	failures = 1;
	fs.se = (void *)&opt;
	assert_int_equal(start_in(&fs, 0, &blocked), 0);
	assert_int_not_equal(fs.ending_at, 0);
}

/* The signal of the test before is still there. A successor has written data to make safe. */
static void a_successor_of_a_killed_daemon_has_the_time_of_an_end(void **state)
{
	static const struct options opt = {.grace_s = 0}; /* as long as it takes */
	struct fs fs = {.opt = &opt, .waits_for_threads = true, .former = (void *)&opt};
	sigset_t blocked;

	failures = 3;
	assert_int_equal(start_in(&fs, 0, &blocked), 0);
	assert_int_equal(attempts, 4);
	begin(NULL);
	failures = UINT32_MAX;
	stops_after = 2; /* the second signal ends all waits */
	assert_int_equal(start_in(&fs, 0, &blocked), EAGAIN);
	assert_int_equal(attempts, 2);
}

#define TEST(name) cmocka_unit_test_setup(name, begin)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(signals_are_for_the_main_thread),
		TEST(a_mount_that_begins_fails_without),
		TEST(a_mount_in_use_waits),
		TEST(no_wait_helps_against_other_errors),
		TEST(an_unmount_begins_the_end_of_a_wait),
		TEST(the_service_manager_hears_of_life),
		/* the last ones: the signals stay noted */
		TEST(a_signal_ends_the_wait),
		TEST(a_successor_of_a_killed_daemon_has_the_time_of_an_end),
	};

	return cmocka_run_group_tests_name("thread", tests, NULL, NULL);
}
