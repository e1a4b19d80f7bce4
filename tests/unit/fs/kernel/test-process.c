/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/kernel/process.
 */
#include <fcntl.h>
#include <grp.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "fs/kernel/process.h"

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

static void groups_are_a_line_of_numbers(void **state)
{
	uint32_t g[3] = {0};

	assert_int_equal(process_groups_of("", g, 3), 0);
	/* from the name of a process */
	assert_int_equal(process_groups_of("Groups:\t1 \n", g, 3), 0);
	assert_int_equal(process_groups_of("Name:\tx\nGroups:\t \nNStgid:\t7\n", g, 3), 0);
	assert_int_equal(process_groups_of("Name:\tx\nGroups:\t4 24 1000 \nN:\t7\n", g, 3), 3);
	assert_int_equal(g[0], 4);
	assert_int_equal(g[2], 1000);
	assert_int_equal(process_groups_of("Name:\tx\nGroups:\t1 2 3 4 \n", g, 3), 3);
	assert_int_equal(process_groups_of("Name:\tx\nGroups:\t65534", g, 3), 0); /* cut off */
	assert_int_equal(process_groups_of("Name:\tx\nGroups:\t5 65534", g, 3), 1);
	assert_int_equal(g[0], 5);
}

static void assert_has_groups(pid_t tid, const gid_t *want, int n)
{
	uint32_t g[16];

	assert_int_equal(process_groups(tid, g, 16), n);
	for (int i = 0; i < n; i++)
		assert_int_equal(g[i], want[i]);
}

static void groups_are_those_of_now(void **state)
{
	gid_t mine[64];
	int n = getgroups(64, mine), down[2], up[2];
	pid_t pid;
	char c;

	if (n > 16)
		n = 16;
	assert_has_groups(getpid(), mine, n);
	assert_has_groups(0, NULL, 0);
	assert_has_groups(0x7fffffff, NULL, 0);
	assert_int_equal(pipe(down) || pipe(up), 0);
	pid = fork();
	if (pid == 0) {
		const gid_t other[] = {7, 4000000000u};

		/* as root the child changes its groups when told */
		if (read(down[0], &c, 1) == 1)
			setgroups(2, other);
		if (write(up[1], &c, 1) == 1)
			pause();
		_exit(0);
	}
	assert_has_groups(pid, mine, n);
	assert_has_groups(getpid(), mine, n);
	assert_int_equal(write(down[1], "x", 1), 1);
	assert_int_equal(read(up[0], &c, 1), 1);
	if (geteuid() == 0)
		assert_has_groups(pid, (gid_t[]){7, 4000000000u}, 2);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_has_groups(pid, NULL, 0);
	process_forget();
	process_forget();
	assert_has_groups(getpid(), mine, n);
	process_forget();
}

static unsigned descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1024; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void only_the_last_few_are_kept(void **state)
{
	unsigned before = descriptors();
	uint32_t g[16];
	pid_t pid[12];

	for (int i = 0; i < 12; i++) {
		pid[i] = fork();
		if (pid[i] == 0) {
			pause();
			_exit(0);
		}
	}
	for (int i = 0; i < 24; i++)
		process_groups(pid[i % 12], g, 16);
	assert_in_range(descriptors(), before + 1, before + 8);
	process_forget();
	assert_int_equal(descriptors(), before);
	for (int i = 0; i < 12; i++) {
		kill(pid[i], SIGKILL);
		assert_int_equal(waitpid(pid[i], NULL, 0), pid[i]);
	}
}

static void a_thread_has_a_name_and_a_process(void **state)
{
	char name[16], small[4];

	assert_int_equal(process_name_of("Name:\ta (b) c\nUmask:\t0\nTgid:\t12\nNgid:\t0\n", name,
				 sizeof(name)),
		12);
	assert_string_equal(name, "a (b) c");
	assert_int_equal(process_name_of("Name:\tabcdef\nTgid:\t12\n", small, sizeof(small)), 12);
	assert_string_equal(small, "abc");
	assert_int_equal(process_name_of("Name:\tcut", name, sizeof(name)), 0);
	assert_string_equal(name, "");
	assert_int_equal(process_name_of("", name, sizeof(name)), 0);
	assert_int_equal(process_name(getpid(), name, sizeof(name)), getpid());
	assert_string_equal(name, "test-process");
	assert_int_equal(process_name(0, name, sizeof(name)), 0);
	assert_string_equal(name, "");
}

static void *own_tid(void *tid)
{
	atomic_store((_Atomic pid_t *)tid, gettid());
	pause();
	return NULL;
}

static void threads_of_a_process_are_known(void **state)
{
	_Atomic pid_t tid = 0;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, own_tid, &tid), 0);
	while (!tid)
		sched_yield();
	assert_true(process_has_thread(getpid(), tid));
	assert_true(process_has_thread(tid, getpid()));
	assert_true(process_has_thread(tid, tid));
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	assert_false(process_has_thread(getpid(), 1));
	assert_false(process_has_thread(getpid(), 0));
	assert_false(process_has_thread(-1, getpid()));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pending_sigkill_kills),
		cmocka_unit_test(so_does_what_nobody_has_provided_for),
		cmocka_unit_test(one_that_ends_tells_by_its_flags),
		cmocka_unit_test(what_cannot_be_read_is_not_known),
		cmocka_unit_test(a_zombie_shows_how_it_ended),
		cmocka_unit_test(groups_are_a_line_of_numbers),
		cmocka_unit_test(groups_are_those_of_now),
		cmocka_unit_test(only_the_last_few_are_kept),
		cmocka_unit_test(a_thread_has_a_name_and_a_process),
		cmocka_unit_test(threads_of_a_process_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
