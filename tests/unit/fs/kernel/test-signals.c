/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/signals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/kernel/signals.h"

static int wake_fd;

static void is_woken(void)
{
	eventfd_t n;

	assert_int_equal(eventfd_read(wake_fd, &n), 0);
}

static void a_log_and_statistics_are_asked_for(void **state)
{
	signals_catch(wake_fd, false);
	assert_false(signals_take_stats() || signals_take_hangup());
	raise(SIGUSR1);
	raise(SIGHUP);
	is_woken();
	assert_true(signals_take_stats() && signals_take_hangup());
	assert_false(signals_take_stats() || signals_take_hangup());
	assert_int_equal(signals_stops(), 0);
}

static void each_signal_to_end_counts(void **state)
{
	uint64_t first;

	signals_catch(wake_fd, true);
	raise(SIGHUP);
	is_woken();
	assert_int_equal(signals_stops(), 1);
	first = signals_stopped_at();
	raise(SIGTERM);
	raise(SIGINT);
	raise(SIGUSR2); /* for a worker */
	assert_int_equal(signals_stops(), 3);
	assert_int_equal(signals_stopped_at(), first);
	assert_false(signals_take_hangup());
}

/* Sends SIGTERM to pid from another child of this process. */
static void send_from_another(pid_t pid)
{
	pid_t other = fork();

	if (!other)
		_exit(kill(pid, SIGTERM) ? 1 : 0);
	assert_int_equal(waitpid(other, NULL, 0), other);
}

/* The stops that a child counts after each signal: 'p' is one of its parent, 'o' one of another
 * process. */
static void child_counts(const char *signals, const unsigned expected[])
{
	int told[2];
	unsigned n;
	pid_t child;

	assert_int_equal(pipe(told), 0);
	child = fork();
	if (!child) {
		struct pollfd p = {.fd = eventfd(0, EFD_CLOEXEC), .events = POLLIN};
		eventfd_t woken;

		prctl(PR_SET_PDEATHSIG, SIGKILL); /* a failed test leaves no child */
		signals_catch(p.fd, false);
		for (n = 0; write(told[1], &n, sizeof(n)) == sizeof(n); n = signals_stops()) {
			while (poll(&p, 1, -1) != 1)
				;
			eventfd_read(p.fd, &woken);
		}
		_exit(1);
	}
	assert_int_equal(read(told[0], &n, sizeof(n)), sizeof(n)); /* signals are caught */
	for (unsigned i = 0; signals[i]; i++) {
		if (signals[i] == 'p')
			kill(child, SIGTERM);
		else
			send_from_another(child);
		assert_int_equal(read(told[0], &n, sizeof(n)), sizeof(n));
		assert_int_equal(n, expected[i]);
	}
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
	close(told[0]);
	close(told[1]);
}

/* The service manager signals the holder and the daemon, in one order or the other. */
static void a_signal_that_comes_in_two_ways_counts_once(void **state)
{
	child_counts("pop", (const unsigned[]){1, 1, 2});
	child_counts("opo", (const unsigned[]){1, 1, 2});
	child_counts("pp", (const unsigned[]){1, 2});
	child_counts("oo", (const unsigned[]){1, 2});
}

/* For a process other than the first one nothing changes. */
static void children_of_others_are_left(void **state)
{
	pid_t child = fork();
	siginfo_t info;

	if (!child)
		_exit(0);
	assert_int_equal(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
	signals_begin();
	signals_reap();
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_false(signals_first_process());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_signal_that_comes_in_two_ways_counts_once), /* none came yet */
		cmocka_unit_test(a_log_and_statistics_are_asked_for),
		cmocka_unit_test(each_signal_to_end_counts),
		cmocka_unit_test(children_of_others_are_left),
	};

	wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return cmocka_run_group_tests_name("signals", tests, NULL, NULL);
}
