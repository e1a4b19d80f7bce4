/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sched_impl: threads of the simulator, for threads.c.
 */
#ifndef RNFS_SIMULATION_SCHED_IMPL_H
#define RNFS_SIMULATION_SCHED_IMPL_H

#include <pthread.h>

#include "tests/simulation/baton.h"
#include "tests/simulation/pieces.h"
#include "tests/simulation/sched.h"

struct sched_thread {
	unsigned number;
	char name[32];
	struct baton baton;
	struct piece piece;
	uint64_t key; /* from the maker's key and the thread's number among the maker's threads */
	unsigned children;
	struct choices stream[CHOICES_STREAMS];
	void (*lives)(struct sched_thread *); /* the whole life of the thread */
	/* of one that waits */
	const void *on; /* NULL: ready */
	uint64_t deadline;
	const char *what;
	bool woken;
	unsigned process;
	unsigned statics; /* objects in static memory that the thread holds */
	uint64_t urgency; /* PCT */
	unsigned hurries; /* points at which the machine has time for the thread */
	/* for threads.c */
	pthread_t id;
	bool ended, detached;
	void *(*start)(void *);
	void *arg, *result;
};

/* A new one, which is ready; the real thread calls sched_thread_begin(). */
struct sched_thread *sched_thread_new(void);
/* The thread takes (1) or leaves (-1) the object at p. */
void sched_holds(const void *p, int change);
/* Calls fn(t) in the first turn. fn calls sched_thread_end() last. */
void sched_thread_begin(struct sched_thread *t, void (*fn)(struct sched_thread *t));
/* Wakes all that wait for the thread, and gives the turn away for good. Frees nothing. */
void sched_thread_end(void);
struct sched_thread *sched_thread_self(void);

#endif
