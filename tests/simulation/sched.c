/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sched: hands the turn from thread to thread (baton.h).
 */
#include "tests/simulation/sched.h"

#include <execinfo.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/choices.h"
#include "tests/simulation/pieces.h"
#include "tests/simulation/sched_impl.h"

#define THREADS_MAX   1024
#define PROCESSES_MAX 256
#define FRAMES	      24
#define STEP_NS	      1000  /* the clock at each point, at most */
#define STALL_ONE_IN  20000 /* points: the machine stops for a moment */
#define STALL_MS      20    /* at most */
#define WALK_ONE_IN   4	    /* points at which another thread may be chosen */
#define LAG_MS	      20    /* at most; see lag_one_in */
#define LAST_POINTS   1000
#define DEPTH_MAX     32

static struct {
	bool on;
	struct sched_params p;
	uint64_t now, steps, digest;
	struct sched_thread *thread[THREADS_MAX];
	unsigned n;
	uint64_t change_at[DEPTH_MAX];
	uint64_t lowest;     /* PCT: the priority that the next change gives */
	unsigned lag_one_in; /* points at which the machine has no time for the thread; 0: never */
	struct sched_thread *failing;
	unsigned processes;
	bool killed[PROCESSES_MAX];
} run;

static __thread struct sched_thread *self;

/* --- events ----------------------------------------------------------------------------------- */

static void digest(const char *text)
{
	for (; *text; text++)
		run.digest = (run.digest ^ (uint8_t)*text) * 0x100000001b3;
}

static __attribute__((format(printf, 2, 0))) void tell(unsigned level, const char *fmt, va_list ap)
{
	char line[1000];

	vsnprintf(line, sizeof(line), fmt, ap);
	digest(line);
	if (run.p.trace >= level)
		fprintf(run.p.out, "%10llu.%06llu %-16s %s\n",
			(unsigned long long)run.now / 1000000,
			(unsigned long long)run.now % 1000000, self ? self->name : "-", line);
}

void sched_event(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(1, fmt, ap);
	va_end(ap);
}

void sched_detail(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	tell(2, fmt, ap);
	va_end(ap);
}

uint64_t sched_digest(void)
{
	return run.digest ^ run.steps * 0x9e3779b97f4a7c15 ^ run.now;
}

static void print_stack(const struct sched_thread *t)
{
	void *frame[FRAMES];
	int n = backtrace(frame, FRAMES);

	fprintf(run.p.out, "\n%u %s: %s\n", t->number, t->name, t->what ? t->what : "runs");
	fflush(run.p.out);
	backtrace_symbols_fd(frame + 2, n - 2, fileno(run.p.out));
}

/* --- the turn --------------------------------------------------------------------------------- */

/* The turn of the calling thread begins. After a failure each thread only shows its stack. */
static void begin_turn(struct sched_thread *t)
{
	if (!run.failing)
		return;
	print_stack(t);
	baton_pass(&t->baton, &run.failing->baton);
}

static void tell_pieces(void)
{
	if (run.p.pieces)
		pieces_print(run.p.out);
	fflush(run.p.out);
}

void sched_fail(const char *fmt, ...)
{
	va_list ap;

	if (run.failing)
		_exit(1);
	run.failing = self;
	if (!run.p.out)
		run.p.out = stderr;
	fflush(stdout);
	fprintf(run.p.out, "seed %llu, step %llu, %llu ms: ", (unsigned long long)run.p.seed,
		(unsigned long long)run.steps, (unsigned long long)run.now / 1000000);
	va_start(ap, fmt);
	vfprintf(run.p.out, fmt, ap);
	va_end(ap);
	fprintf(run.p.out, "\n");
	if (!self)
		_exit(1);
	print_stack(self);
	for (unsigned i = 0; i < run.n; i++) {
		if (run.thread[i] != self)
			baton_pass(&self->baton, &run.thread[i]->baton);
	}
	tell_pieces();
	_exit(1);
}

static bool is_ready(const struct sched_thread *t)
{
	return !run.killed[t->process] && (!t->on || t->deadline <= run.now);
}

/* Lists the ready threads, in order of run.thread[]. Returns the number. */
static unsigned list_ready(struct sched_thread **ready)
{
	unsigned n = 0;

	for (unsigned i = 0; i < run.n; i++)
		if (is_ready(run.thread[i]))
			ready[n++] = run.thread[i];
	return n;
}

/* While no thread is ready the clock goes on. */
static void wait_for_clock(void)
{
	uint64_t next = SCHED_NEVER;

	for (unsigned i = 0; i < run.n; i++)
		if (!run.killed[run.thread[i]->process] && run.thread[i]->deadline < next)
			next = run.thread[i]->deadline;
	if (next == SCHED_NEVER)
		sched_fail("deadlock: all threads wait, and nothing can happen");
	if (next > run.now)
		run.now = next;
}

static struct sched_thread *most_urgent(struct sched_thread *const *ready, unsigned n)
{
	struct sched_thread *best = ready[0];

	for (unsigned i = 1; i < n; i++)
		if (ready[i]->urgency > best->urgency)
			best = ready[i];
	return best;
}

/* Each has the same chance. A run in which other threads are ready beside these often chooses the
 * same one. */
static struct sched_thread *any_of(struct sched_thread *const *threads, unsigned n)
{
	uint64_t number = choices_wide(&self->stream[CHOICES_SCHEDULE]), most = 0;
	struct sched_thread *best = threads[0];

	for (unsigned i = 0; i < n; i++) {
		uint64_t weight = choices_mix(number, threads[i]->key);

		if (weight > most) {
			most = weight;
			best = threads[i];
		}
	}
	return best;
}

static struct sched_thread *choose(bool stays)
{
	struct sched_thread *ready[THREADS_MAX];
	unsigned n;

	if (run.p.policy == SCHED_WALK && stays && !choices_once_in(CHOICES_SCHEDULE, WALK_ONE_IN))
		return self;
	if (stays && pieces_switch_left_out(run.steps))
		return self;
	n = list_ready(ready);
	if (!n) {
		wait_for_clock();
		n = list_ready(ready);
	}
	if (run.p.policy == SCHED_PCT)
		return most_urgent(ready, n);
	return any_of(ready, n);
}

static void change_urgency(void)
{
	for (unsigned i = 0; i < run.p.depth && i < DEPTH_MAX; i++)
		if (run.change_at[i] == run.steps)
			self->urgency = --run.lowest;
}

static void count_step(void)
{
	if (++run.steps > run.p.most_steps)
		sched_fail("livelock: the run has not ended after so many steps");
	run.now += choices_below(CHOICES_SCHEDULE, STEP_NS);
	if (choices_once_in(CHOICES_SCHEDULE, STALL_ONE_IN))
		run.now += choices_below(CHOICES_SCHEDULE, STALL_MS * 1000000);
	if (run.p.policy == SCHED_PCT)
		change_urgency();
}

/* Ends the turn of the calling thread; stays: the thread could go on. Returns at its next turn. */
static void end_turn(bool stays)
{
	struct sched_thread *me = self, *next = choose(stays);

	if (next != me) {
		baton_pass(&me->baton, &next->baton);
		begin_turn(me);
	}
	me->on = NULL;
	me->deadline = SCHED_NEVER;
}

/* The calling thread does not run for a while, and all others may go on. Such a thread misses
 * events that come between two of its steps. */
static bool lags(void)
{
	bool hurries = self->hurries && self->hurries--;

	if (!run.lag_one_in || !choices_once_in(CHOICES_SCHEDULE, run.lag_one_in) ||
		pieces_switch_left_out(run.steps) || hurries)
		return false;
	self->on = &run.lag_one_in;
	self->deadline = run.now + choices_below(CHOICES_SCHEDULE, LAG_MS * 1000000);
	self->what = "for a processor";
	return true;
}

void sched_point(void)
{
	bool lagging;

	if (!self)
		return;
	count_step();
	lagging = lags();
	end_turn(!lagging);
	if (lagging)
		self->what = NULL;
}

void sched_hurry(unsigned points)
{
	self->hurries = points;
}

void sched_give_way(void)
{
	if (!self)
		return;
	count_step();
	self->urgency = --run.lowest;
	end_turn(false);
}

bool sched_wait(const void *on, uint64_t deadline, const char *what)
{
	struct sched_thread *t = self;

	count_step();
	t->on = on;
	t->deadline = deadline;
	t->what = what;
	t->woken = false;
	end_turn(false);
	t->what = NULL;
	return t->woken;
}

static void make_ready(struct sched_thread *t)
{
	t->on = NULL;
	t->woken = true;
}

void sched_wake_all(const void *on)
{
	for (unsigned i = 0; i < run.n; i++)
		if (run.thread[i]->on == on)
			make_ready(run.thread[i]);
}

void sched_wake_one(const void *on)
{
	struct sched_thread *waits[THREADS_MAX];
	unsigned n = 0;

	for (unsigned i = 0; i < run.n; i++)
		if (run.thread[i]->on == on)
			waits[n++] = run.thread[i];
	if (n)
		make_ready(any_of(waits, n));
}

/* --- processes -------------------------------------------------------------------------------- */

extern char __data_start, _end; /* of the linker: initialized data to the end of the rest */

void sched_holds(const void *p, int change)
{
	if (self && (const char *)p >= &__data_start && (const char *)p < &_end)
		self->statics += (unsigned)change;
}

unsigned sched_process_new(const char *name)
{
	if (++run.processes == PROCESSES_MAX)
		sched_fail("more than %d processes", PROCESSES_MAX);
	sched_event("process %u is %s", run.processes, name);
	return self->process = run.processes;
}

unsigned sched_process(void)
{
	return self ? self->process : 0;
}

void sched_process_enter(unsigned number)
{
	self->process = number;
}

static bool holds_statics(unsigned process)
{
	for (unsigned i = 0; i < run.n; i++)
		if (run.thread[i]->process == process && run.thread[i]->statics)
			return true;
	return false;
}

void sched_process_kill(unsigned number)
{
	while (holds_statics(number))
		sched_give_way();
	run.killed[number] = true;
	sched_event("process %u is killed", number);
}

/* Threads that could run again. */
static unsigned count_alive(void)
{
	unsigned n = 0;

	for (unsigned i = 0; i < run.n; i++)
		n += !run.killed[run.thread[i]->process];
	return n;
}

/* --- threads ---------------------------------------------------------------------------------- */

struct sched_thread *sched_thread_new(void)
{
	static unsigned last;
	struct sched_thread *t = calloc(1, sizeof(*t));

	if (run.n == THREADS_MAX)
		sched_fail("more than %d threads", THREADS_MAX);
	if (!t)
		abort();
	t->number = ++last;
	t->deadline = SCHED_NEVER;
	t->process = self ? self->process : 0;
	t->key = self ? choices_mix(self->key, ++self->children) : 1;
	choices_plant_all(t->stream, t->key);
	t->urgency = (uint64_t)1 << 62 | choices_wide(&t->stream[CHOICES_SCHEDULE]) >> 4;
	snprintf(t->name, sizeof(t->name), "%u", t->number);
	run.thread[run.n++] = t;
	return t;
}

static void live(void *ctx)
{
	struct sched_thread *t = ctx;

	begin_turn(t);
	t->lives(t);
}

void sched_thread_begin(struct sched_thread *t, void (*fn)(struct sched_thread *t))
{
	self = t;
	t->lives = fn;
	baton_begin(&t->baton, live, t);
}

void sched_thread_end(void)
{
	struct sched_thread *me = self;

	for (unsigned i = 0; i < run.n; i++)
		if (run.thread[i] == me) {
			run.thread[i] = run.thread[--run.n];
			run.thread[run.n] = NULL;
			break;
		}
	me->ended = true;
	sched_wake_all(me);
	baton_leave(&me->baton, &choose(false)->baton);
	self = NULL;
}

struct sched_thread *sched_thread_self(void)
{
	return self;
}

bool sched_on(void)
{
	return self;
}

uint64_t sched_now(void)
{
	return run.now;
}

void sched_pass(uint64_t ns)
{
	run.now += ns;
}

uint64_t sched_steps(void)
{
	return run.steps;
}

unsigned sched_self(void)
{
	return self ? self->number : 0;
}

void sched_name(const char *name)
{
	if (self)
		snprintf(self->name, sizeof(self->name), "%u-%.20s", self->number, name);
}

void sched_run(const struct sched_params *p, void (*first)(void *), void *ctx)
{
	static const unsigned lag[] = {0, 0, 3000, 300};
	cpu_set_t one;

	/* a turn handed to a thread on the same processor takes half the time */
	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	run.p = *p;
	run.now = 1000000000;
	run.digest = 0xcbf29ce484222325;
	run.lowest = (uint64_t)1 << 40;
	choices_begin(p->seed, p->schedule ? p->schedule : p->seed);
	for (unsigned i = 0; i < DEPTH_MAX; i++)
		run.change_at[i] = p->span ? choices_below(CHOICES_SCHEDULE, (uint32_t)p->span) : 0;
	self = sched_thread_new();
	run.lag_one_in = lag[choices_below(CHOICES_SCHEDULE, sizeof(lag) / sizeof(*lag))];
	baton_take(&self->baton);
	sched_name("main");
	run.on = true;
	first(ctx);
	run.lag_one_in = 0;
	sched_wake_all(&run.lag_one_in);
	/* detached threads that have done all but end */
	for (int i = 0; i < LAST_POINTS && count_alive() > 1; i++)
		sched_give_way();
	if (count_alive() > 1)
		sched_fail("%u threads are left", count_alive() - 1);
	tell_pieces();
	run.on = false;
	run.n = 0;
	free(self);
	self = NULL;
}
