/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * pulse: shows that a thread goes on.
 *
 * A thread that serves others has a pulse. The thread counts in its pulse when it begins a piece of
 * work, which is bounded, and when it sleeps until there is more to do. One other thread looks at
 * all pulses at a steady pace. A pulse at the same piece of work at many looks in a row belongs to
 * a stuck thread. Looks count, and not seconds: looks stop with the process when the machine sleeps
 * or a debugger stops the process.
 */
#ifndef RNFS_TRANSPORT_PULSE_H
#define RNFS_TRANSPORT_PULSE_H

#include <stdatomic.h>
#include <sys/queue.h>

struct pulse {
	LIST_ENTRY(pulse) link;
	const char *name;    /* of the thread */
	atomic_uint count;   /* odd: at work. Written by the thread */
	unsigned seen, same; /* the looker's: count at the last look, and how often before that */
};

/* Begins to show p, which is the caller's until pulse_leave(). name is constant. The thread sleeps.
 * Any thread. */
void pulse_join(struct pulse *p, const char *name);
void pulse_leave(struct pulse *p);

/* The thread of p begins another piece of work, or goes to sleep. */
static inline void pulse_work(struct pulse *p)
{
	unsigned n = atomic_load_explicit(&p->count, memory_order_relaxed);

	atomic_store_explicit(&p->count, (n + 1) | 1u, memory_order_relaxed);
}

static inline void pulse_sleep(struct pulse *p)
{
	unsigned n = atomic_load_explicit(&p->count, memory_order_relaxed);

	atomic_store_explicit(&p->count, (n + 1) & ~1u, memory_order_relaxed);
}

/* One look at all pulses. Returns the name of a thread that was at the same piece of work at each
 * of more than `most` looks, or NULL. One thread calls this. */
const char *pulse_look(unsigned most);

#endif
