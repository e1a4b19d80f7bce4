/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_table: the calls under way on one side.
 */
#include "transport/rpc/rpc_table.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/random.h>

#include "transport/clock.h"

#define CAP_START 64

int rpc_table_init(struct rpc_table *t)
{
	mutex_init(&t->lock);
	t->slot = calloc(CAP_START, sizeof(t->slot[0]));
	if (!t->slot)
		return -ENOMEM;
	t->cap = CAP_START;
	atomic_init(&t->count, 0);
	t->senders = 0;
	/* So a restarted client does not reuse XIDs of a server's duplicate request cache. */
	if (getrandom(&t->next_xid, sizeof(t->next_xid), GRND_NONBLOCK) < 0)
		t->next_xid = (uint32_t)clock_coarse_ns() * 2654435761u;
	return 0;
}

void rpc_table_fini(struct rpc_table *t)
{
	mutex_destroy(&t->lock);
	free(t->slot);
	t->slot = NULL;
}

static int table_grow_locked(struct rpc_table *t) REQUIRES(t->lock)
{
	uint32_t cap = t->cap * 2;
	struct rpc_call **slot = calloc(cap, sizeof(slot[0]));

	if (!slot)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->cap; i++)
		if (t->slot[i])
			slot[t->slot[i]->xid & (cap - 1)] = t->slot[i];
	free(t->slot);
	t->slot = slot;
	t->cap = cap;
	return 0;
}

int rpc_table_add_locked(struct rpc_table *t, struct rpc_call *call) REQUIRES(t->lock)
{
	uint32_t n = rpc_table_count(t);

	if (n >= t->cap / 2 && table_grow_locked(t) < 0 && n == t->cap)
		return -ENOMEM;
	while (t->slot[t->next_xid & (t->cap - 1)])
		t->next_xid++;
	call->xid = t->next_xid++;
	t->slot[call->xid & (t->cap - 1)] = call;
	atomic_store_explicit(&t->count, n + 1, memory_order_relaxed);
	return 0;
}

void rpc_table_remove_locked(struct rpc_table *t, struct rpc_call *call) REQUIRES(t->lock)
{
	struct rpc_call **s = &t->slot[call->xid & (t->cap - 1)];

	if (*s != call)
		return;
	*s = NULL;
	atomic_store_explicit(&t->count, rpc_table_count(t) - 1, memory_order_relaxed);
	call->state = RPC_CALL_IDLE;
}

struct rpc_call *rpc_table_find(struct rpc_table *t, uint32_t xid)
{
	struct rpc_call *call;

	mutex_lock(&t->lock);
	call = t->slot[xid & (t->cap - 1)];
	if (call && (call->xid != xid || call->state != RPC_CALL_SENT))
		call = NULL;
	mutex_unlock(&t->lock);
	return call;
}

struct rpc_call *rpc_table_next_locked(struct rpc_table *t, uint32_t *at) REQUIRES(t->lock)
{
	while (*at < t->cap) {
		struct rpc_call *call = t->slot[(*at)++];

		if (call)
			return call;
	}
	return NULL;
}

void rpc_table_quiesce_locked(struct rpc_table *t) REQUIRES(t->lock)
{
	/* acquire: pairs with the release of a sender's decrement */
	while (atomic_load_explicit(&t->senders, memory_order_acquire) != 0)
		sched_yield();
}
