/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * request_waits: the requests that are under way, and the end of waits that are too long.
 */
#include "fs/kernel/request_waits.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "fs/kernel/process.h"
#include "fs/known/fs.h"
#include "transport/clock.h"

#define SHORT_WAIT_NS 10000000ull
#define LONG_WAIT_NS  1000000000ull
#define END_WAIT_NS   5000000000ull /* for a process that ends by itself */
#define HURRY_NS      2000000000ull /* after a killed process with a long wait was found */
#define BEHIND_NS     1000000000ull /* for how long requests come that have waited in the kernel */

/* Has r waited so long that a process with that fate need not wait longer? */
static bool is_overdue(const struct request *r, enum process_fate fate, uint64_t now, bool hurry)
{
	switch (fate) {
	case PROCESS_KILLED:
		return hurry || clock_age(now, r->born) >= LONG_WAIT_NS;
	case PROCESS_ENDING:
		return clock_age(now, r->born) >= (hurry ? LONG_WAIT_NS : END_WAIT_NS);
	default:
		return false;
	}
}

/* A thread that has waited long, and its state in /proc. */
struct waiter {
	pid_t tid;
	enum process_fate fate;
};

static bool has_waited(const struct request *r, uint64_t now, uint64_t ns)
{
	return clock_age(now, r->born) >= ns;
}

static bool in_hurry_locked(const struct request_pool *p, uint64_t now) REQUIRES(p->lock)
{
	return p->killed_ns && clock_age(now, p->killed_ns) < HURRY_NS;
}

/* Lists the threads of requests that have waited long in w, unless w is NULL: oldest first, at most
 * max. A thread with several requests in a row comes once. Returns the number of threads. */
static unsigned list_waiters_locked(const struct request_pool *p, uint64_t now, struct waiter *w,
	unsigned max) REQUIRES(p->lock)
{
	uint64_t long_ns = in_hurry_locked(p, now) ? SHORT_WAIT_NS : LONG_WAIT_NS;
	const struct request *r;
	pid_t last = 0;
	unsigned n = 0;

	TAILQ_FOREACH (r, &p->live, live) {
		if (n == max || !has_waited(r, now, long_ns))
			break;
		if (!r->pid || r->pid == last || request_is_gone(r))
			continue;
		last = r->pid;
		if (w)
			w[n].tid = r->pid;
		n++;
	}
	return n;
}

static enum process_fate fate_of(pid_t tid, const struct waiter *w, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (w[i].tid == tid)
			return w[i].fate;
	return PROCESS_UNKNOWN;
}

static void kill_overdue_locked(
	struct request_pool *p, uint64_t now, const struct waiter *w, unsigned n) REQUIRES(p->lock)
{
	bool hurry = in_hurry_locked(p, now);
	struct request *r;

	TAILQ_FOREACH (r, &p->live, live) {
		if (!has_waited(r, now, hurry ? SHORT_WAIT_NS : LONG_WAIT_NS))
			break;
		if (!r->pid || request_is_gone(r) ||
			!is_overdue(r, fate_of(r->pid, w, n), now, hurry))
			continue;
		request_kill(r);
		atomic_store(&r->fate.gone, true);
		p->killed_ns = now;
	}
}

static void cancel_interrupted_locked(struct request_pool *p, uint64_t now) REQUIRES(p->lock)
{
	struct request *r;

	TAILQ_FOREACH (r, &p->live, live) {
		uint64_t since = atomic_load(&r->fate.interrupted_ns);

		if (since && clock_age(now, since) >= LONG_WAIT_NS)
			request_kill(r);
	}
}

/* Ends the requests that have timed out. Otherwise the kernel would end the mount because of one of
 * them. */
static void end_timed_out_locked(struct request_pool *p, uint64_t now) REQUIRES(p->lock)
{
	unsigned awaited = 0;
	struct request *r;
	bool any = false;

	if (!p->patience_ns)
		return;
	TAILQ_FOREACH (r, &p->live, live) {
		if (!atomic_load(&r->fate.awaited))
			continue;
		awaited++;
		if (!has_waited(r, now, p->patience_ns) ||
			(request_is_gone(r) && !r->fate.keeps_going))
			continue;
		request_time_out_locked(r);
		any |= !r->fate.any_signal;
	}
	if (any && awaited >= REQUEST_BACKGROUND)
		p->behind_until = now + BEHIND_NS;
}

bool request_pool_overdue(struct request_pool *p, uint64_t since)
{
	uint64_t now = clock_ns();
	bool overdue, behind;

	mutex_lock(&p->lock);
	behind = now < p->behind_until;
	overdue = p->patience_ns && clock_age(now, since) >= p->patience_ns;
	if (overdue)
		p->behind_until = now + BEHIND_NS;
	mutex_unlock(&p->lock);
	return overdue || behind;
}

void request_pool_limit(struct request_pool *p, uint64_t ns)
{
	mutex_lock(&p->lock);
	p->patience_ns = ns;
	mutex_unlock(&p->lock);
}

void request_pool_put_off(struct request_pool *p)
{
	struct request *r;

	mutex_lock(&p->lock);
	TAILQ_FOREACH (r, &p->live, live) {
		if (!r->fate.any_signal || !r->account.unique || request_is_gone(r) ||
			atomic_load(&r->fate.interrupted_ns) ||
			atomic_exchange(&r->fate.put_off, true))
			continue;
		/* as a signal does: a lock that the server grants meanwhile is not given back */
		batch_interrupt(&r->batch);
	}
	mutex_unlock(&p->lock);
}

bool request_pool_is_idle(struct request_pool *p)
{
	bool idle;

	mutex_lock(&p->lock);
	idle = TAILQ_EMPTY(&p->live);
	mutex_unlock(&p->lock);
	return idle;
}

uint64_t request_oldest_ns(struct request_pool *p)
{
	uint64_t now = clock_ns(), oldest = 0;
	struct request *r;

	if (!mutex_trylock(&p->lock))
		return 0;
	TAILQ_FOREACH (r, &p->live, live) {
		if (!atomic_load(&r->fate.awaited) || r->fate.any_signal)
			continue;
		oldest = clock_age(now, r->born);
		break;
	}
	mutex_unlock(&p->lock);
	return oldest;
}

bool request_check_killed(struct request_pool *p)
{
	uint64_t now = clock_ns();
	struct waiter *w = NULL;
	unsigned n;
	bool hurry;

	mutex_lock(&p->lock);
	n = list_waiters_locked(p, now, NULL, UINT_MAX);
	mutex_unlock(&p->lock);
	if (n)
		w = calloc(n, sizeof(*w));
	if (w) {
		mutex_lock(&p->lock);
		n = list_waiters_locked(p, now, w, n);
		mutex_unlock(&p->lock);
		for (unsigned i = 0; i < n; i++)
			w[i].fate = process_fate(w[i].tid);
	}
	mutex_lock(&p->lock);
	if (w)
		kill_overdue_locked(p, now, w, n);
	cancel_interrupted_locked(p, now);
	end_timed_out_locked(p, now);
	hurry = in_hurry_locked(p, now);
	mutex_unlock(&p->lock);
	free(w);
	return hurry;
}

void request_pool_end(struct request_pool *p)
{
	struct request *r;

	mutex_lock(&p->lock);
	p->ending = true;
	TAILQ_FOREACH (r, &p->live, live) {
		request_kill(r);
		atomic_store(&r->fate.gone, true);
	}
	mutex_unlock(&p->lock);
}
