/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_paths: several connections to one server. Model: rpc_paths.h.
 */
#include "transport/rpc/rpc_paths.h"

#include <assert.h>
#include <unistd.h>

#include "transport/rpc/rpc_client_impl.h"

/* Calls of one path before small ones take the next, too. With two processors a second progress
 * thread has no processor of its own, and gets fewer answers for each time that it wakes. */
#define FEW_PROCESSORS 2
#define ENOUGH_OF_FEW  64
#define ENOUGH	       8

void rpc_paths_init(struct rpc_paths *p)
{
	mutex_init(&p->lock);
	for (unsigned i = 0; i < RPC_PATHS_MAX; i++)
		atomic_init(&p->path[i], NULL);
	atomic_init(&p->n, 0);
	atomic_init(&p->next, 0);
	atomic_init(&p->silent, false);
	p->enough = sysconf(_SC_NPROCESSORS_ONLN) > FEW_PROCESSORS ? ENOUGH : ENOUGH_OF_FEW;
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
	atomic_store_explicit(&c->is_path, true, memory_order_relaxed);
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
		atomic_store_explicit(&c->is_path, false, memory_order_relaxed);
	}
	mutex_unlock(&p->lock);
}

bool rpc_client_is_up(const struct rpc_client *c)
{
	return atomic_load_explicit(&c->up, memory_order_relaxed);
}

bool rpc_client_is_ready(const struct rpc_client *c)
{
	return rpc_client_is_up(c) && !atomic_load_explicit(&c->held_back, memory_order_relaxed);
}

static uint32_t load_of(const struct rpc_client *c)
{
	return rpc_table_count(&c->table);
}

/* The best member, from number `at` on, but `not`: one that is ready, else one that is up, else
 * NULL. The first with fewer calls than enough, or else the one with the fewest. */
static struct rpc_client *best(
	const struct rpc_paths *p, unsigned at, uint32_t enough, const struct rpc_client * not )
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
		if (!rpc_client_is_ready(c))
			continue;
		load = load_of(c);
		if (load < enough && load < c->most_calls)
			return c;
		if (load < fewest) {
			fewest = load;
			ready = c;
		}
	}
	return ready ? ready : up;
}

struct rpc_client *rpc_paths_pick(struct rpc_paths *p, bool large)
{
	struct rpc_client *c;
	unsigned at;

	if (members(p) == 1)
		return member(p, 0);
	at = large ? atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed) : 0;
	c = best(p, at, large ? 0 : p->enough, NULL);
	return c ? c : member(p, at % members(p));
}

void rpc_client_hold_back(struct rpc_client *c, bool held_back)
{
	atomic_store_explicit(&c->held_back, held_back, memory_order_relaxed);
}

bool rpc_paths_other_up(struct rpc_paths *p, const struct rpc_client *c)
{
	bool is;

	mutex_lock(&p->lock);
	is = best(p, 0, 0, c) != NULL;
	mutex_unlock(&p->lock);
	return is;
}

struct rpc_client *rpc_paths_relief_locked(struct rpc_paths *p, const struct rpc_client *c)
	REQUIRES(p->lock)
{
	return best(p, atomic_fetch_add_explicit(&p->next, 1, memory_order_relaxed), 0, c);
}
