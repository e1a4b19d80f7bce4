/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * times: see times.h. Processor time is the simulated time, too.
 */
#include "tests/simulation/times.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/simulation/sched_impl.h"

#define REAL(fn)  ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))
#define SECOND	  1000000000ull
#define CALL_NS	  30	  /* of a look at a clock */
#define TICK_NS	  4000000 /* of coarse clocks: CONFIG_HZ=250 */
#define FIRST_PID 1000

static uint64_t begin_of(clockid_t clock)
{
	return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE ? TIMES_EPOCH_S * SECOND
									 : 0;
}

uint64_t times_of(clockid_t clock, const struct timespec *ts)
{
	uint64_t at = (uint64_t)ts->tv_sec * SECOND + (uint64_t)ts->tv_nsec;

	if (ts->tv_sec < 0 || at < begin_of(clock))
		return 0;
	return at - begin_of(clock);
}

static bool is_coarse(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC_COARSE || clock == CLOCK_REALTIME_COARSE;
}

/* Two calls in a row give two times, but of a coarse clock. */
int clock_gettime(clockid_t clock, struct timespec *ts)
{
	uint64_t at;

	if (!sched_on())
		return REAL(clock_gettime)(clock, ts);
	sched_pass(CALL_NS);
	at = begin_of(clock) + sched_now();
	if (is_coarse(clock))
		at -= at % TICK_NS;
	ts->tv_sec = (time_t)(at / SECOND);
	ts->tv_nsec = (long)(at % SECOND);
	return 0;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	if (!sched_on())
		return REAL(gettimeofday)(tv, zone);
	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	time_t now;

	if (!sched_on())
		return REAL(time)(out);
	now = (time_t)(TIMES_EPOCH_S + sched_now() / SECOND);
	if (out)
		*out = now;
	return now;
}

static void sleep_until(uint64_t until)
{
	while (sched_now() < until)
		sched_wait(&sleep_until, until, "for a time");
}

int nanosleep(const struct timespec *length, struct timespec *left)
{
	if (!sched_on())
		return REAL(nanosleep)(length, left);
	sleep_until(sched_now() + (uint64_t)length->tv_sec * SECOND + (uint64_t)length->tv_nsec);
	return 0;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *ts, struct timespec *left)
{
	if (!sched_on())
		return REAL(clock_nanosleep)(clock, flags, ts, left);
	if (!(flags & TIMER_ABSTIME))
		return nanosleep(ts, left);
	sleep_until(times_of(clock, ts));
	return 0;
}

int usleep(useconds_t us)
{
	if (!sched_on())
		return REAL(usleep)(us);
	sleep_until(sched_now() + us * 1000ull);
	return 0;
}

unsigned sleep(unsigned s)
{
	if (!sched_on())
		return REAL(sleep)(s);
	sleep_until(sched_now() + s * SECOND);
	return 0;
}

int sched_yield(void)
{
	if (!sched_on())
		return REAL(sched_yield)();
	sched_give_way();
	return 0;
}

ssize_t getrandom(void *buf, size_t n, unsigned flags)
{
	uint8_t *at = buf;

	if (!sched_on())
		return REAL(getrandom)(buf, n, flags);
	for (size_t i = 0; i < n; i++)
		at[i] = (uint8_t)choices_below(CHOICES_DAEMONS, 256);
	return (ssize_t)n;
}

/* --- numbers of the machine that differ between runs of it ------------------------------------ */

pid_t getpid(void)
{
	return sched_on() ? FIRST_PID + (pid_t)sched_process() : REAL(getpid)();
}

int gethostname(char *name, size_t size)
{
	if (!sched_on())
		return REAL(gethostname)(name, size);
	snprintf(name, size, "host%u", sched_process());
	return 0;
}
