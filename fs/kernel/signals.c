/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * signals: the signals that the daemon catches, and the duties of process 1 of a PID namespace.
 */
#include "fs/kernel/signals.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/clock.h"

/* Requests for the end. A signal to all processes of a group or a service comes twice, in any
 * order: the holder, our parent, passes its own on. So the two ways are counted apart. */
static atomic_uint passed_on, direct;
static _Atomic uint64_t stopped_at;
static atomic_bool wants_stats, wants_hangup;
static bool hangup_stops; /* constant once signals are caught, like wake_fd */
static int wake_fd = -1;

bool signals_first_process(void)
{
	return getpid() == 1;
}

static void end_at_once(int sig)
{
	_exit(128 + sig);
}

void signals_begin(void)
{
	static const int ends[] = {SIGTERM, SIGINT, SIGQUIT, SIGHUP};
	struct sigaction sa = {.sa_handler = end_at_once};

	if (!signals_first_process())
		return;
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaction(ends[i], &sa, NULL);
}

static void count(atomic_uint *way)
{
	if (!atomic_load(&stopped_at))
		atomic_store(&stopped_at, clock_ns());
	atomic_fetch_add(way, 1);
}

void signals_stop(void)
{
	count(&direct);
}

static bool is_of_parent(const siginfo_t *info)
{
	return info->si_code == SI_USER && info->si_pid == getppid();
}

static void note(int sig, siginfo_t *info, void *context)
{
	int saved = errno;

	if (sig == SIGUSR1)
		atomic_store(&wants_stats, true);
	else if (sig == SIGHUP && !hangup_stops)
		atomic_store(&wants_hangup, true);
	else if (sig != SIGUSR2)
		count(is_of_parent(info) ? &passed_on : &direct);
	/* If the eventfd is full the main thread will wake anyhow. */
	eventfd_write(wake_fd, 1);
	errno = saved;
}

void signals_catch(int fd, bool hangup)
{
	struct sigaction sa = {.sa_sigaction = note, .sa_flags = SA_RESTART | SA_SIGINFO};

	wake_fd = fd;
	hangup_stops = hangup;
	sigfillset(&sa.sa_mask);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	sa.sa_flags = SA_SIGINFO; /* without SA_RESTART: the signal must end a worker's read() */
	sigaction(SIGUSR2, &sa, NULL);
}

void signals_let_in(void)
{
	sigset_t none;

	sigemptyset(&none);
	pthread_sigmask(SIG_SETMASK, &none, NULL);
}

void signals_reap(void)
{
	if (signals_first_process())
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
}

unsigned signals_stops(void)
{
	unsigned a = atomic_load(&passed_on), b = atomic_load(&direct);

	return a > b ? a : b;
}

uint64_t signals_stopped_at(void)
{
	return atomic_load(&stopped_at);
}

bool signals_take_stats(void)
{
	return atomic_exchange(&wants_stats, false);
}

bool signals_take_hangup(void)
{
	return atomic_exchange(&wants_hangup, false);
}
