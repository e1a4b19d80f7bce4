/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/process.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/process.h"

#define SIG(n) (1ull << ((n)-1))

struct sets {
	uint64_t own, shared, blocked, ignored, caught;
	unsigned flags;
	int tracer;
};

static enum process_fate fate(struct sets s)
{
	char status[500], stat[100];

	snprintf(status, sizeof(status),
		"Name:\t) S 1\nTracerPid:\t%d\nGroups:\t1 2 "
		"\nSigQ:\t0/1\nSigPnd:\t%016llx\nShdPnd:\t%016llx\n"
		"SigBlk:\t%016llx\nSigIgn:\t%016llx\nSigCgt:\t%016llx\n",
		s.tracer, (unsigned long long)s.own, (unsigned long long)s.shared,
		(unsigned long long)s.blocked, (unsigned long long)s.ignored,
		(unsigned long long)s.caught);
	snprintf(stat, sizeof(stat), "7 () D 4 (x) D 1 2 3 4 -1 %u 0 0", s.flags);
	return process_fate_of(status, stat);
}

static void a_pending_sigkill_kills(void **state)
{
	assert_int_equal(fate((struct sets){0}), PROCESS_LIVES);
	assert_int_equal(fate((struct sets){.own = SIG(SIGKILL)}), PROCESS_KILLED);
	assert_int_equal(fate((struct sets){.shared = SIG(SIGKILL)}), PROCESS_KILLED);
	assert_int_equal(fate((struct sets){.shared = SIG(SIGKILL), .tracer = 1}), PROCESS_KILLED);
}

static void so_does_what_nobody_has_provided_for(void **state)
{
	assert_int_equal(fate((struct sets){.shared = SIG(SIGTERM)}), PROCESS_KILLED);
	assert_int_equal(fate((struct sets){.own = SIG(SIGQUIT)}), PROCESS_KILLED);
	assert_int_equal(fate((struct sets){.own = SIG(64)}), PROCESS_KILLED);
	for (int sig = 1; sig <= 64; sig++) {
		uint64_t s = SIG(sig);

		if (sig == SIGKILL)
			continue;
		assert_int_equal(fate((struct sets){.own = s, .blocked = s}), PROCESS_LIVES);
		assert_int_equal(fate((struct sets){.shared = s, .ignored = s}), PROCESS_LIVES);
		assert_int_equal(fate((struct sets){.shared = s, .caught = s}), PROCESS_LIVES);
		assert_int_equal(fate((struct sets){.own = s, .tracer = 1}), PROCESS_LIVES);
	}
	assert_int_equal(fate((struct sets){.own = SIG(SIGCHLD) | SIG(SIGWINCH) | SIG(SIGCONT) |
						   SIG(SIGSTOP) | SIG(SIGTSTP) | SIG(SIGURG)}),
		PROCESS_LIVES);
}

static void one_that_ends_tells_by_its_flags(void **state)
{
	assert_int_equal(fate((struct sets){.flags = 0x400140}), PROCESS_LIVES);
	assert_int_equal(fate((struct sets){.flags = 0x400144}), PROCESS_ENDING);
	assert_int_equal(fate((struct sets){.flags = 0x400544}), PROCESS_KILLED);
}

static void what_cannot_be_read_is_not_known(void **state)
{
	assert_int_equal(process_fate(0), PROCESS_UNKNOWN);
	assert_int_equal(process_fate(0x7fffffff), PROCESS_UNKNOWN);
	assert_int_equal(process_fate_of("", ""), PROCESS_LIVES);
	assert_int_equal(process_fate_of("\nSigPnd:", "1 (x) R 2 3"), PROCESS_LIVES);
}

/* By the real kernel: the flags keep their meaning. */
static void a_zombie_shows_how_it_ended(void **state)
{
	for (int killed = 0; killed < 2; killed++) {
		siginfo_t info;
		pid_t pid = fork();

		if (pid == 0) {
			if (killed)
				raise(SIGKILL);
			_exit(0);
		}
		assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
		assert_int_equal(process_fate(pid), killed ? PROCESS_KILLED : PROCESS_ENDING);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	assert_int_equal(process_fate(getpid()), PROCESS_LIVES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pending_sigkill_kills),
		cmocka_unit_test(so_does_what_nobody_has_provided_for),
		cmocka_unit_test(one_that_ends_tells_by_its_flags),
		cmocka_unit_test(what_cannot_be_read_is_not_known),
		cmocka_unit_test(a_zombie_shows_how_it_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
