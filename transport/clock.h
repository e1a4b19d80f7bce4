/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SPDX-FileCopyrightText: The rnfs authors */
/* The clock that waits and ages are measured by: nanoseconds of CLOCK_MONOTONIC, which nobody sets.
 * Both forms count from the same beginning and may be compared: the coarse one is up to a few
 * milliseconds behind and costs a load from memory, for what is noted with each request. From any
 * thread, all of it. */
#ifndef RNFS_CLOCK_H
#define RNFS_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

#define NSEC_PER_SEC  UINT64_C(1000000000)
#define NSEC_PER_MSEC UINT64_C(1000000)

uint64_t clock_ns(void);
uint64_t clock_coarse_ns(void);

/* A time on this clock in the form that pthread_cond_timedwait() takes. */
struct timespec clock_timespec(uint64_t ns);

/* A condition whose timed waits end by this clock. pthread_cond_destroy() ends it. */
void clock_cond_init(pthread_cond_t *cond);

#endif
