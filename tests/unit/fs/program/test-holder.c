/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Unit tests of fs/program/holder. The program is daemon and successor, too: the holder starts it
 * again with HOLDER_VARIABLE.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/kernel/signals.h"
#include "fs/program/holder.h"

enum plan {
	PLAN_EXIT,	 /* the first daemon ends by itself */
	PLAN_UNHELD,	 /* the first daemon is killed before it has given its files */
	PLAN_LEAVE,	 /* the first daemon is killed at its end */
	PLAN_KILLED,	 /* three daemons are killed, the fourth ends with 7 */
	PLAN_CRASH,	 /* each daemon crashes */
	PLAN_NO_TAKING,	 /* each successor is killed before it has given its files */
	PLAN_LINGERS,	 /* the first daemon ends by itself, and a thread takes its time */
	PLAN_CRAMPED,	 /* the second daemon is killed when the holder cannot take its files */
	PLAN_FAILS,	 /* two successors end by themselves before they hold, the fourth daemon
			    ends with 7 */
	PLAN_GIVES_UP,	 /* the second daemon says that it leaves, and ends by itself */
	PLAN_ENDING,	 /* the first daemon is killed when SIGTERM ends the mount, the second
			    ends with 7 */
	PLAN_REPLACED,	 /* two daemons give their place to a program, the third is killed, the
			    fourth ends with 7 */
	PLAN_REFUSED,	 /* another program ends without taking over, the former one ends with 7 */
	PLAN_CUT,	 /* the same with another program that is killed */
	PLAN_NO_PROGRAM, /* the same with a file that is no program */
	PLAN_HANGS,	 /* the same with a program that does nothing */
	PLAN_STOPPED,	 /* the same with a program that SIGTERM has ended */
	PLAN_LATE,	 /* another program takes over, after a wait for its process */
	PLAN_NO_PROCESS, /* the first daemon is killed, and there is no process for a second one */
};

#define WORD	  'w' /* of the command */
#define STARTS	  8u
#define PAUSED_AT 12345u

/* In the memory file that stands for the pool. */
struct story {
	enum plan plan;
	unsigned daemons; /* that were started */
	enum holder_way way[STARTS];
	bool asked[STARTS]; /* has the command's descriptor */
	atomic_uint denied; /* processes that there were not */
	unsigned alive;	    /* signs of life for the service manager meanwhile */
};

static struct story *denies; /* in the holder, if processes are scarce */
static unsigned forks;

pid_t __real_fork(void);
pid_t __wrap_fork(void);

pid_t __wrap_fork(void)
{
	bool is_first = !forks++;

	if (!denies || is_first || (denies->plan == PLAN_LATE && forks > 6))
		return __real_fork();
	atomic_fetch_add(&denies->denied, 1);
	errno = EAGAIN;
	return -1;
}

unsigned __wrap_sd_notify_watchdog_ms(void);
bool __wrap_sd_notify(const char *fmt, ...);

unsigned __wrap_sd_notify_watchdog_ms(void)
{
	return 1000;
}

bool __wrap_sd_notify(const char *fmt, ...)
{
	if (denies)
		denies->alive += !strcmp(fmt, "WATCHDOG=1");
	return true;
}

static struct story *map_story(int fd)
{
	struct story *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	assert_true(s != MAP_FAILED);
	return s;
}

static void hold(int holder, int pool)
{
	int file[HOLDER_FILES] = {
		[HOLDER_DEVICE] = 1, [HOLDER_LEDGER] = 2, [HOLDER_POOL] = pool, [HOLDER_ROW] = -1};

	assert_true(holder_hold(holder, file));
}

/* Gives the place to the program at path. */
__attribute__((noreturn)) static void replace(int holder, const char *path)
{
	int program = open(path, O_RDONLY | O_CLOEXEC), end[2];

	assert_true(program >= 0);
	assert_int_equal(pipe2(end, O_CLOEXEC), 0);
	assert_int_equal(write(end[1], &(char){WORD}, 1), 1);
	assert_true(holder_replace(holder, program, end[0], PAUSED_AT));
	_exit(0);
}

static void *end_late(void *none)
{
	sleep(2); /* the holder looks at the daemon several times */
	_exit(5);
}

/* The daemon of PLAN_LINGERS: the thread that started it ends before the other one. */
__attribute__((noreturn)) static void linger(void)
{
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, end_late, NULL), 0);
	syscall(SYS_exit, 5);
	abort();
}

/* The successors of the plans in which one does not take over; n: 2 the first. */
static void do_not_take_over(struct story *s, int holder, int pool, unsigned n)
{
	const struct rlimit none = {3, 3};

	if (s->plan == PLAN_CRAMPED) {
		assert_int_equal(prlimit(getppid(), RLIMIT_NOFILE, &none, NULL), 0);
		hold(holder, pool);
		kill(getpid(), SIGKILL);
	}
	if (s->plan == PLAN_FAILS && n < 4)
		_exit(2);
	if (s->plan == PLAN_FAILS) {
		hold(holder, pool);
		_exit(7);
	}
	if (s->plan == PLAN_GIVES_UP) {
		holder_leave(holder);
		_exit(6);
	}
}

/* The second daemon: without SIGTERM, which the holder is to send again, ends with 96. */
__attribute__((noreturn)) static void end_by_signal(void)
{
	const struct timespec most = {.tv_sec = 60};
	sigset_t term;

	sigemptyset(&term);
	sigaddset(&term, SIGTERM);
	_exit(sigtimedwait(&term, NULL, &most) == SIGTERM ? 7 : 96);
}

/* The daemons of plans with another program; n: 1 the first. */
static void live_with_others(struct story *s, int holder, int pool, unsigned n)
{
	if (s->plan == PLAN_REPLACED && n < 4) {
		hold(holder, pool);
		if (n < 3)
			replace(holder, "/proc/self/exe");
		kill(getpid(), SIGKILL);
	}
	if (s->plan == PLAN_NO_PROGRAM && n == 1) {
		hold(holder, pool);
		replace(holder, "/dev/null");
	}
	if (s->plan == PLAN_NO_PROCESS) {
		hold(holder, pool);
		kill(getpid(), SIGKILL);
	}
	if (s->plan >= PLAN_REFUSED && n == 1) {
		hold(holder, pool);
		replace(holder, "/proc/self/exe");
	}
	if (s->plan == PLAN_REFUSED && n == 2)
		_exit(1);
	if (s->plan == PLAN_CUT && n == 2)
		kill(getpid(), SIGKILL);
	while (s->plan == PLAN_HANGS && n == 2)
		pause();
	if (s->plan == PLAN_STOPPED && n == 2) {
		kill(getppid(), SIGTERM); /* which the holder passes on */
		signals_let_in();
		for (;;)
			pause();
	}
	if (s->plan == PLAN_STOPPED) {
		sigset_t term;
		int sig;

		sigemptyset(&term);
		sigaddset(&term, SIGTERM);
		sigwait(&term, &sig);
	}
	if (s->plan >= PLAN_REPLACED) {
		hold(holder, pool);
		_exit(7);
	}
}

__attribute__((noreturn)) static void live(struct story *s, int holder, int pool, bool first)
{
	s->daemons++;
	live_with_others(s, holder, pool, s->daemons);
	if (!first)
		do_not_take_over(s, holder, pool, s->daemons);
	if (s->plan == PLAN_EXIT)
		_exit(5);
	if (s->plan == PLAN_LINGERS && first) {
		hold(holder, pool);
		linger();
	}
	if (s->plan == PLAN_LINGERS)
		_exit(96);
	if (s->plan == PLAN_ENDING && !first) {
		hold(holder, pool);
		end_by_signal();
	}
	if (s->plan != PLAN_UNHELD && (first || s->plan != PLAN_NO_TAKING))
		hold(holder, pool);
	if (s->plan == PLAN_LEAVE)
		holder_leave(holder);
	if (s->plan == PLAN_ENDING)
		kill(getppid(), SIGTERM);
	if (s->plan == PLAN_KILLED && s->daemons == 4)
		_exit(7);
	signal(SIGSEGV, SIG_DFL);
	signals_let_in();
	kill(getpid(), s->plan == PLAN_CRASH ? SIGSEGV : SIGKILL);
	for (;;)
		pause();
}

/* The successor: the holder has started this program again. */
static int successor(const char *variable)
{
	int holder, device, ledger, pool, row, asker;
	unsigned long long died_at;
	unsigned way;
	struct story *s;
	char word;

	if (sscanf(variable, "%d,%d,%d,%d,%d,%llu,%d,%u", &holder, &device, &ledger, &pool, &row,
		    &died_at, &asker, &way) != 8 ||
		row != -1 || !died_at)
		return 99;
	s = map_story(pool);
	if (s->daemons < STARTS) {
		s->way[s->daemons] = (enum holder_way)way;
		s->asked[s->daemons] = died_at == PAUSED_AT && fcntl(asker, F_GETFD) >= 0;
	}
	if (way == HOLDER_BACK && (read(asker, &word, 1) != 1 || word != WORD))
		return 97;
	live(map_story(pool), holder, pool, false);
}

static struct story last;

/* Ends the holder, which waits for a process, by two signals. Returns its status; a holder that
 * goes on waiting is killed. */
static int stop(pid_t pid, struct story *s)
{
	int status;

	for (unsigned ms = 0; ms < 30000; ms++) {
		if (atomic_load(&s->denied) == 2) {
			kill(pid, SIGTERM);
			kill(pid, SIGINT);
		}
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		usleep(1000);
	}
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* Returns the status of the holder, and how many daemons there were. */
static int play(enum plan plan, unsigned *daemons)
{
	int pool = memfd_create("pool", MFD_CLOEXEC), status;
	struct story *s;
	pid_t pid;

	assert_int_equal(ftruncate(pool, sizeof(*s)), 0);
	s = map_story(pool);
	s->plan = plan;
	pid = fork();
	if (!pid) {
		struct daemon d = {.verdict_fd = -1, .auto_unmount_fd = -1};
		struct err e = {0};
		unsigned trial_ms = plan == PLAN_HANGS	? 100
				    : plan == PLAN_LATE ? 2000
							: HOLDER_TRIAL_MS;
		int holder;

		denies = plan >= PLAN_LATE ? s : NULL;
		forks = 0;
		holder = holder_start(&d, true, "/nonexistent", trial_ms, &e);
		if (holder < 0)
			_exit(98);
		live(s, holder, pool, true);
	}
	if (plan == PLAN_NO_PROCESS)
		status = stop(pid, s);
	else
		assert_int_equal(waitpid(pid, &status, 0), pid);
	*daemons = s->daemons;
	last = *s;
	munmap(s, sizeof(*s));
	close(pool);
	return status;
}

static void test_a_daemon_that_ends_by_itself(void **state)
{
	unsigned daemons;
	int status = play(PLAN_EXIT, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 5);
	assert_int_equal(daemons, 1);
}

static void test_a_daemon_that_takes_its_time_to_end(void **state)
{
	unsigned daemons;
	int status = play(PLAN_LINGERS, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 5);
	assert_int_equal(daemons, 1);
}

static void test_a_daemon_that_is_killed_before_it_holds(void **state)
{
	unsigned daemons;
	int status = play(PLAN_UNHELD, &daemons);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGKILL);
	assert_int_equal(daemons, 1);
}

static void test_a_daemon_that_is_killed_at_its_end(void **state)
{
	unsigned daemons;
	int status = play(PLAN_LEAVE, &daemons);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(daemons, 1);
}

static void test_successors_get_the_files(void **state)
{
	unsigned daemons;
	int status = play(PLAN_KILLED, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(daemons, 4);
}

static void test_a_program_that_crashes_is_given_up(void **state)
{
	unsigned daemons;
	int status = play(PLAN_CRASH, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(daemons, HOLDER_CRASHES);
}

static void test_successors_that_do_not_take_over_are_given_up(void **state)
{
	unsigned daemons;
	int status = play(PLAN_NO_TAKING, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(daemons, HOLDER_FAILURES + 1);
}

/* Another successor would have a ledger that is out of date. */
static void test_files_that_the_holder_cannot_take_end_the_mount(void **state)
{
	unsigned daemons;
	int status = play(PLAN_CRAMPED, &daemons);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(daemons, 2);
}

static void test_a_successor_that_fails_has_a_successor(void **state)
{
	unsigned daemons;
	int status = play(PLAN_FAILS, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(daemons, 4);
}

static void test_a_successor_may_end_the_mount(void **state)
{
	unsigned daemons;
	int status = play(PLAN_GIVES_UP, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 6);
	assert_int_equal(daemons, 2);
}

static void test_another_program_takes_over(void **state)
{
	unsigned daemons;
	int status = play(PLAN_REPLACED, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(daemons, 4);
	assert_int_equal(last.way[1], HOLDER_TRIAL);
	assert_int_equal(last.way[2], HOLDER_TRIAL);
	assert_int_equal(last.way[3], HOLDER_KILLED);
	assert_true(last.asked[1] && last.asked[2]);
	assert_false(last.asked[3]);
}

static void goes_on_after(enum plan plan)
{
	unsigned daemons;
	int status = play(plan, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(daemons, 3);
	assert_int_equal(last.way[1], HOLDER_TRIAL);
	assert_int_equal(last.way[2], HOLDER_BACK);
	assert_true(last.asked[2]);
}

static void test_the_former_program_goes_on(void **state)
{
	goes_on_after(PLAN_REFUSED);
}

static void test_another_program_is_killed(void **state)
{
	goes_on_after(PLAN_CUT);
}

static void test_another_program_that_hangs_is_killed(void **state)
{
	goes_on_after(PLAN_HANGS);
}

static void test_a_file_that_is_no_program(void **state)
{
	unsigned daemons;
	int status = play(PLAN_NO_PROGRAM, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(daemons, 2);
	assert_int_equal(last.way[1], HOLDER_BACK);
}

static void test_a_signal_during_a_trial_is_not_lost(void **state)
{
	unsigned daemons;
	int status = play(PLAN_STOPPED, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(daemons, 3);
	assert_int_equal(last.way[2], HOLDER_BACK);
}

static void test_a_signal_to_a_daemon_that_dies_is_not_lost(void **state)
{
	unsigned daemons;
	int status = play(PLAN_ENDING, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(daemons, 2);
}

/* The time of the trial begins with the other program. */
static void test_another_program_may_wait_for_its_process(void **state)
{
	unsigned daemons;
	int status = play(PLAN_LATE, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 7);
	assert_int_equal(daemons, 2);
	assert_int_equal(last.way[1], HOLDER_TRIAL);
	assert_int_equal(atomic_load(&last.denied), 5);
}

static void test_a_wait_for_a_process_ends_by_signals(void **state)
{
	unsigned daemons;
	int status = play(PLAN_NO_PROCESS, &daemons);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(daemons, 1);
	assert_true(atomic_load(&last.denied) >= 2);
	assert_true(last.alive >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_daemon_that_ends_by_itself),
		cmocka_unit_test(test_a_daemon_that_takes_its_time_to_end),
		cmocka_unit_test(test_a_daemon_that_is_killed_before_it_holds),
		cmocka_unit_test(test_a_daemon_that_is_killed_at_its_end),
		cmocka_unit_test(test_successors_get_the_files),
		cmocka_unit_test(test_a_program_that_crashes_is_given_up),
		cmocka_unit_test(test_successors_that_do_not_take_over_are_given_up),
		cmocka_unit_test(test_files_that_the_holder_cannot_take_end_the_mount),
		cmocka_unit_test(test_a_successor_that_fails_has_a_successor),
		cmocka_unit_test(test_a_successor_may_end_the_mount),
		cmocka_unit_test(test_another_program_takes_over),
		cmocka_unit_test(test_the_former_program_goes_on),
		cmocka_unit_test(test_another_program_is_killed),
		cmocka_unit_test(test_another_program_that_hangs_is_killed),
		cmocka_unit_test(test_a_file_that_is_no_program),
		cmocka_unit_test(test_a_signal_during_a_trial_is_not_lost),
		cmocka_unit_test(test_a_signal_to_a_daemon_that_dies_is_not_lost),
		cmocka_unit_test(test_another_program_may_wait_for_its_process),
		cmocka_unit_test(test_a_wait_for_a_process_ends_by_signals),
	};
	const char *variable = getenv(HOLDER_VARIABLE);

	if (variable)
		return successor(variable);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
