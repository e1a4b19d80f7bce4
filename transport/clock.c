/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: The rnfs authors */
#include "transport/clock.h"

_Static_assert(CLOCK_BEGIN > UINT32_MAX * NSEC_PER_SEC, "no time less an interval wraps");

static uint64_t read_ns(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return CLOCK_BEGIN + (uint64_t)t.tv_sec * NSEC_PER_SEC + (uint64_t)t.tv_nsec;
}

uint64_t clock_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

uint64_t clock_coarse_ns(void)
{
	return read_ns(CLOCK_MONOTONIC_COARSE);
}

struct timespec clock_timespec(uint64_t ns)
{
	ns = clock_age(ns, CLOCK_BEGIN);
	return (struct timespec){
		.tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC)};
}

void clock_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &attr);
	pthread_condattr_destroy(&attr);
}

bool clock_join(pthread_t thread, uint64_t until)
{
	uint64_t left = clock_age(until, clock_ns());
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end); /* no other clock with every C library */
	end.tv_sec += left / NSEC_PER_SEC;
	end.tv_nsec += left % NSEC_PER_SEC;
	if (end.tv_nsec >= (long)NSEC_PER_SEC) {
		end.tv_nsec -= NSEC_PER_SEC;
		end.tv_sec++;
	}
	return !pthread_timedjoin_np(thread, NULL, &end);
}
