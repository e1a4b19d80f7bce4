/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * times: the clocks and sleeps that the product asks for, by the simulated time; and getrandom(2),
 * by the seed.
 */
#ifndef RNFS_SIMULATION_TIMES_H
#define RNFS_SIMULATION_TIMES_H

#include <stdint.h>
#include <time.h>

/* CLOCK_REALTIME at simulated time 0, in seconds */
#define TIMES_EPOCH_S 1800000000ull

/* The simulated time, as sched_now(), that the clock reads as *ts. */
uint64_t times_of(clockid_t clock, const struct timespec *ts);

#endif
