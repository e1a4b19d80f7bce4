/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * choices: the numbers that a run takes from its seed, in streams of their own. A change of the run
 * that takes more or fewer numbers from one stream leaves the numbers of the others as they are.
 * Each thread has streams of its own. A thread has the same ones in each run of the seed in which
 * the thread that makes it has made as many threads before.
 *
 * Programs and the weather have a stream for each piece (pieces.h), from which sched_choose() takes
 * in their threads. In all other threads sched_choose() takes from CHOICES_DAEMONS.
 */
#ifndef RNFS_SIMULATION_CHOICES_H
#define RNFS_SIMULATION_CHOICES_H

#include <stdbool.h>
#include <stdint.h>

enum choices_stream {
	CHOICES_SCHEDULE, /* which thread is next, and how long a step takes */
	CHOICES_NETWORK,
	CHOICES_DISK,
	CHOICES_KERNEL, /* the kernel's side of mounts */
	CHOICES_DAEMONS,
	CHOICES_STREAMS
};

/* One stream. */
struct choices {
	uint64_t random[2];
};

void choices_plant(struct choices *c, uint64_t seed);
uint32_t choices_next(struct choices *c, uint32_t n);

/* The seeds of the run; the schedule's streams have one of their own. */
void choices_begin(uint64_t seed, uint64_t schedule);
/* Plants the streams of a new thread. key: the thread's in all runs. */
void choices_plant_all(struct choices *streams, uint64_t key);
/* A number below n (n > 0), of the calling thread's. */
uint32_t choices_below(enum choices_stream s, uint32_t n);
uint64_t choices_wide(struct choices *c);
/* Some number for a and b. */
uint64_t choices_mix(uint64_t a, uint64_t b);
/* True once in n times. Never, if the stream's rare events are left out. */
bool choices_once_in(enum choices_stream s, uint32_t n);

#endif
