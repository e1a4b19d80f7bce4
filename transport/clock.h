/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: The rnfs authors */
/* The clock that measures waits and ages: CLOCK_MONOTONIC in nanoseconds, which no program sets.
 * The machine starts at CLOCK_BEGIN, not at 0. So a time less an interval of up to 2^32 - 1 seconds
 * does not wrap on a machine that has just started, and neither does a time plus such an interval.
 * A field that is 0 stands for "never", and "never" is longer ago than any such interval.
 * clock_ns() and clock_coarse_ns() count from the same beginning, and their times may be compared.
 * The coarse time is up to a few milliseconds behind and costs one load from memory: it is for
 * times that each request notes. All functions may be called from any thread. */
#ifndef RNFS_CLOCK_H
#define RNFS_CLOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)

#define CLOCK_BEGIN (UINT64_C(1) << 62)

uint64_t clock_ns(void);
uint64_t clock_coarse_ns(void);

/* How long before now the time then was, in ns; 0 if then is later, since another thread may have
 * noted then after this thread read the clock. */
static inline uint64_t clock_age(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

/* A time on this clock in the form that cond_timedwait() takes. A time before CLOCK_BEGIN
 * becomes 0, which has passed. */
struct timespec clock_timespec(uint64_t ns);

/* Joins the thread if the thread ends before `until`. False: the thread still runs. */
bool clock_join(pthread_t thread, uint64_t until);

/* Makes a condition with timed waits by this clock. pthread_cond_destroy() ends the condition. */
void clock_cond_init(pthread_cond_t *cond);

#endif
