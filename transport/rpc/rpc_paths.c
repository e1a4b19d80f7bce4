/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_paths: several connections to one server. Model: rpc_paths.h.
 */
#include "transport/rpc/rpc_paths.h"

#include <assert.h>
#include <limits.h>

#include "transport/rpc/rpc_client_impl.h"

/* The path of this thread's small calls, counted from 1; 0: the thread has none yet. */
static _Thread_local unsigned home;
static atomic_uint next_home;

void rpc_paths_init(struct rpc_paths *p)
{
	mutex_init(&p->lock);
	for (unsigned i = 0; i < RPC_PATHS_MAX; i++)
		atomic_init(&p->path[i], NULL);
	atomic_init(&p->n, 0);
	atomic_init(&p->next, 0);
	atomic_init(&p->silent, false);
}

void rpc_paths_finish(struct rpc_paths *p)
{
	assert(atomic_load(&p->n) == 0);
	mutex_destroy(&p->lock);
}

void rpc_paths_join(struct rpc_paths *p, struct rpc_client *c)
{
	unsigned n;

	mutex_lock(&p->lock);
	n = atomic_load_explicit(&p->n, memory_order_relaxed);
	assert(n < RPC_PATHS_MAX);
	atomic_store_explicit(&p->path[n], c, memory_order_relaxed);
	/* release: a reader of n sees the member */
	atomic_store_explicit(&p->n, n + 1, memory_order_release);
	mutex_unlock(&p->lock);
}

static struct rpc_client *member(const struct rpc_paths *p, unsigned i)
{
	return atomic_load_explicit(&p->path[i], memory_order_relaxed);
}

static unsigned members(const struct rpc_paths *p)
{
	return atomic_load_explicit(&p->n, memory_order_acquire);
}

struct rpc_client *rpc_paths_member_locked(const struct rpc_paths *p, unsigned i) REQUIRES(p->lock)
{
	return i < members(p) ? member(p, i) : NULL;
}

void rpc_paths_leave(struct rpc_paths *p, struct rpc_client *c)
{
	unsigned i, n;

	mutex_lock(&p->lock);
	n = members(p);
	for (i = 0; i < n && member(p, i) != c; i++)
		;
	if (i < n) {
		for (; i + 1 < n; i++)
			atomic_store_explicit(&p->path[i], member(p, i + 1), memory_order_relaxed);
		atomic_store_explicit(&p->n, n - 1, memory_order_release);
	}
	mutex_unlock(&p->lock);
}

bool rpc_client_is_up(const struct rpc_client *c)
{
	return atomic_load_explicit(&c->up, memory_order_relaxed);
}

static bool is_ready(const struct rpc_client *c)
{
	return rpc_client_is_up(c) && !atomic_load_explicit(&c->held_back, memory_order_relaxed);
}

static uint32_t load_of(const struct rpc_client *c)
{
	return rpc_table_count(&c->table);
}

/* The best member, from number `at` on, but `not`: one that is ready, else one that is up, else
 * NULL. least: the one with the fewest calls, else the first with a credit left. */
static struct rpc_client *best(
	const struct rpc_paths *p, unsigned at, bool least, const struct rpc_client * not )
{
	struct rpc_client *ready = NULL, *up = NULL;
	uint32_t fewest = UINT32_MAX;
	unsigned n = members(p);

	for (unsigned i = 0; i < n; i++) {
		struct rpc_client *c = member(p, (at + i) % n);
		uint32_t load;

		if (c == not || !rpc_client_is_up(c))
			continue;
		up = up ? up : c;
		if (!is_ready(c))
			continue;
		load = load_of(c);
		if (!least && load < c->most_calls)
			return c;
		if (load < fewest) {
			fewest = load;
			ready = c;
		}
	}
	return ready ? ready : up;
}

void rpc_paths_stay(unsigned at)
{
	home = at + 1;
}

struct rpc_client *rpc_paths_pick(struct rpc_paths *p, bool large)
{
	struct rpc_client *c;
	unsigned at;

	if (members(p) == 1)
		return member(p, 0);
	if (large)
		at = atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed);
	else if (home)
		at = home - 1;
	else
		rpc_paths_stay(at = atomic_fetch_add_explicit(&next_home, 1, memory_order_relaxed) %
				    RPC_PATHS_MAX);
	c = best(p, at, large, NULL);
	return c ? c : member(p, at % members(p));
}

void rpc_client_hold_back(struct rpc_client *c, bool held_back)
{
	atomic_store_explicit(&c->held_back, held_back, memory_order_relaxed);
}

bool rpc_paths_other_up(const struct rpc_paths *p, const struct rpc_client *c)
{
	return best(p, 0, true, c) != NULL;
}

struct rpc_client *rpc_paths_relief_locked(struct rpc_paths *p, const struct rpc_client *c)
	REQUIRES(p->lock)
{
	return best(p, atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed), true, c);
}
