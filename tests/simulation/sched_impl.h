/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sched_impl: threads of the simulator, for threads.c.
 */
#ifndef RNFS_SIMULATION_SCHED_IMPL_H
#define RNFS_SIMULATION_SCHED_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include "tests/simulation/sched.h"

struct sched_thread {
	unsigned number;
	char name[32];
	atomic_int turn;   /* 1: the thread has the turn, or has just been given it */
	atomic_bool shows; /* the thread prints its stack */
	/* of one that waits */
	const void *on; /* NULL: ready */
	uint64_t deadline;
	const char *what;
	bool woken;
	unsigned process;
	unsigned statics; /* objects in static memory that the thread holds */
	uint64_t urgency; /* PCT */
	/* for threads.c */
	pthread_t id;
	bool ended, detached;
	void *(*start)(void *);
	void *arg, *result;
};

/* A new one, which is ready; the real thread calls sched_thread_begin() first and
 * sched_thread_end() last. */
struct sched_thread *sched_thread_new(void);
/* The thread takes (1) or leaves (-1) the object at p. */
void sched_holds(const void *p, int change);
/* Returns with the first turn. */
void sched_thread_begin(struct sched_thread *t);
/* Wakes all that wait for the thread, and gives the turn away for good. Frees nothing. */
void sched_thread_end(void);
struct sched_thread *sched_thread_self(void);

/* The system's usleep(3). */
void usleep_really(unsigned us);

#endif
