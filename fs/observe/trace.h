/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * trace: events on their way from the threads that answer requests to the control thread.
 *
 * A ring of TRACE_EVENTS places. The turn of a place names the owner: a writer if turn is the
 * writer's number, the reader if turn is one more. Any thread writes, one thread reads, and no
 * thread waits: while the ring is full, events are dropped and counted. While no command listens,
 * no event is written; then the cost is a look at a flag for each request.
 */
#ifndef RNFS_FS_OBSERVE_TRACE_H
#define RNFS_FS_OBSERVE_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define TRACE_EVENTS 4096u /* a power of two */
#define TRACE_PATH   200u
#define TRACE_COMM   16u

/* A request that has been answered. */
struct trace_event {
	uint64_t turn;	/* used by trace.c */
	uint64_t ended; /* on clock_ns() */
	uint64_t took_ns;
	uint64_t offset;
	uint32_t length;
	uint32_t opcode;
	uint32_t rpcs;
	int32_t error;	       /* 0 or a negative errno */
	uint32_t bytes;	       /* of file data read or written */
	pid_t pid;	       /* the process; 0: not known, or the kernel itself */
	char comm[TRACE_COMM]; /* the thread's name; empty: not known */
	char path[TRACE_PATH];
};

struct trace {
	atomic_bool on;
	struct trace_ring *ring; /* NULL until a command has listened; constant while on */
};

/* Does any command listen? */
static inline bool trace_is_on(const struct trace *t)
{
	return atomic_load_explicit(&t->on, memory_order_acquire);
}

/* --- for the reader --------------------------------------------------------------------------- */

/* Keeps events from now on; discards older events. False when out of memory. */
bool trace_start(struct trace *t);
/* Keeps events no more. The memory stays. */
void trace_stop(struct trace *t);
/* Frees the memory. No thread may write. */
void trace_finish(struct trace *t);
/* Takes the oldest event. False: there is none. */
bool trace_take(struct trace *t, struct trace_event *out);
/* How many events were dropped since the last call. */
uint64_t trace_dropped(struct trace *t);

/* --- for writers: any thread, while trace_is_on() --------------------------------------------- */

/* A place for an event. The caller sets all members but turn, and then calls trace_put(). NULL: no
 * place is free, and the event counts as dropped. */
struct trace_event *trace_place(struct trace *t);
void trace_put(struct trace_event *e);

#endif
