/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sched: the scheduler of the simulator. Of all threads exactly one runs at a time, on a clock that
 * is simulated, and a seed decides each choice.
 *
 * Threads are real ones, made by the product's own calls of pthread_create(). Each but one waits
 * for its turn. A turn ends at a point: sched_point(), or a wait. Points are in front of each
 * operation on a lock, a condition or a descriptor (threads.c, descriptors.c). A thread that waits
 * becomes ready by sched_wake_one() or sched_wake_all(), or when its deadline has come. While no
 * thread is ready the clock jumps to the next deadline. Without a deadline all threads wait for
 * ever: that is a deadlock, which ends the run with the stacks of all.
 *
 * Data of the simulator needs no lock: its code runs between points.
 */
#ifndef RNFS_SIMULATION_SCHED_H
#define RNFS_SIMULATION_SCHED_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define SCHED_NEVER UINT64_MAX

/* How the next thread is chosen at a point. */
enum sched_policy {
	SCHED_WALK, /* at random, often the same again */
	SCHED_PCT,  /* by random priorities that change a few times (Burckhardt et al., 2010) */
};

struct sched_params {
	uint64_t seed;
	uint64_t schedule; /* the seed of the schedule alone; 0: as seed */
	enum sched_policy policy;
	unsigned depth;	     /* PCT: how many times a priority changes in a run */
	uint64_t span;	     /* PCT: the points within which the changes fall */
	uint64_t most_steps; /* a run with more points ends as a livelock */
	unsigned trace;	     /* 1: events are told in words; 2: details, too */
	bool pieces;	     /* the pieces that were begun are told at the end (pieces.h) */
	FILE *out;	     /* where those and failures go */
};

/* Runs first(ctx) as the first thread, until first returns. Threads that are left then are a
 * failure, too. Once in a process. Failures end the process (sched_fail). */
void sched_run(const struct sched_params *p, void (*first)(void *ctx), void *ctx);

/* Does the calling thread belong to a run? Else the calls of the system are the real ones. */
bool sched_on(void);

/* The simulated time, in ns since the simulated machine has started. */
uint64_t sched_now(void);
/* The time passes by ns. Not a point. */
void sched_pass(uint64_t ns);
/* Points so far. */
uint64_t sched_steps(void);

/* A number below n (n > 0), by the seed. Any thread of the run; not a point. */
uint32_t sched_choose(uint32_t n);
/* True once in n times. */
bool sched_once_in(uint32_t n);

/* Another thread may run before this one goes on. */
void sched_point(void);
/* The calling thread does not lose the processor for longer at its next points. */
void sched_hurry(unsigned points);
/* The same as sched_point(), for a thread that cannot go on before others do (sched_yield). */
void sched_give_way(void);

/* Waits for sched_wake(on), until the simulated time `deadline` (SCHED_NEVER: for ever). The last
 * argument, a literal, names the wait in a report. False: the deadline came first. A thread may be
 * woken without a reason: callers check their condition again. */
bool sched_wait(const void *on, uint64_t deadline, const char *what);
/* Makes threads ready that wait for `on`: one, of the seed's choice, or all. Not a point. */
void sched_wake_one(const void *on);
void sched_wake_all(const void *on);

/* A small number for the calling thread, from 1 in order of creation; 0: not in a run. */
unsigned sched_self(void);
/* A short name of the calling thread in the trace; the text is copied. */
void sched_name(const char *name);

/* --- processes that are killed ---------------------------------------------------------------- */

/* From now on the calling thread, and the threads that the calling thread makes, belong to a new
 * process with the name. Returns the number of the process, from 1; the run begins in process 0. */
unsigned sched_process_new(const char *name);
/* The number of the caller's. */
unsigned sched_process(void);
/* Goes back to the process with the number, for a thread that has begun another process. */
void sched_process_enter(unsigned number);
/* SIGKILL: no thread of the process runs again. Waits for a moment in which no thread of the
 * process holds an object in static memory, because the processes of a run share that memory.
 * Memory of the process is lost. The caller belongs to another process. */
void sched_process_kill(unsigned number);

/* One event, for --trace: no line feed. Nothing happens without a trace. Part of the run's digest
 * in any case: two runs of one seed must have the same digest. */
__attribute__((format(printf, 1, 2))) void sched_event(const char *fmt, ...);
/* The same of a detail: one of many. */
__attribute__((format(printf, 1, 2))) void sched_detail(const char *fmt, ...);
uint64_t sched_digest(void);

/* Ends the process with status 1 and the sentence, after the seed and the stacks of all threads. */
__attribute__((format(printf, 1, 2), noreturn)) void sched_fail(const char *fmt, ...);

#endif
