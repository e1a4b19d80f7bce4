/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * rpc_table: the calls under way on one side, found by XID in constant time.
 *
 * The table is direct-mapped: a call lives at slot[xid & (cap - 1)]. XIDs are handed out in order
 * from a random start. An XID with a taken slot is skipped, so calls never collide. When the table
 * is half full it doubles, and calls in different slots stay in different slots.
 *
 * A call is handed to a connection outside the lock. `senders` counts threads between adding a call
 * and the return of send_call(). rpc_table_quiesce_locked() waits for these threads. The progress
 * thread can then take calls back from a connection without a sender at work. A sender never takes
 * the lock before it is done.
 */
#ifndef RNFS_TRANSPORT_RPC_RPC_TABLE_H
#define RNFS_TRANSPORT_RPC_RPC_TABLE_H

#include "transport/lock.h"
#include "transport/rpc/rpc.h"

/* rpc_call.state, guarded by the table's lock. */
enum rpc_call_state {
	RPC_CALL_IDLE, /* not in a table */
	RPC_CALL_WAIT, /* in the table, no connection has it */
	RPC_CALL_SENT, /* given to the connection, or about to be by its sender */
};

struct rpc_table {
	struct mutex lock;
	struct rpc_call **slot GUARDED_BY(lock);
	uint32_t cap GUARDED_BY(lock); /* a power of two */
	_Atomic uint32_t count;	       /* changes under lock */
	uint32_t next_xid GUARDED_BY(lock);
	_Atomic int senders; /* incremented under lock only */
};

/* An empty table. XIDs begin at a random number. 0 or -ENOMEM. */
int rpc_table_init(struct rpc_table *t);
/* No call is in it. */
void rpc_table_fini(struct rpc_table *t);

/* The calls in the table. Any thread, without the lock. */
static inline uint32_t rpc_table_count(const struct rpc_table *t)
{
	return atomic_load_explicit(&t->count, memory_order_relaxed);
}

/* Gives call an XID and a place. 0, or -ENOMEM: the table is full, and call is not in it. */
int rpc_table_add_locked(struct rpc_table *t, struct rpc_call *call) REQUIRES(t->lock);
/* Takes call out, if it is there; then its state is IDLE. */
void rpc_table_remove_locked(struct rpc_table *t, struct rpc_call *call) REQUIRES(t->lock);
/* The call with that XID in state SENT, or NULL. Takes the lock. The result stays valid only on a
 * thread that alone removes calls: the progress thread. */
struct rpc_call *rpc_table_find(struct rpc_table *t, uint32_t xid);

/* The first call at slot *at or later; *at then stands behind it. NULL at the end. When the table
 * grows during a walk, the walk may see calls twice, but misses none; a caller must allow for
 * repeats. */
struct rpc_call *rpc_table_next_locked(struct rpc_table *t, uint32_t *at) REQUIRES(t->lock);

/* Waits until no sender is under way (they never block). */
void rpc_table_quiesce_locked(struct rpc_table *t) REQUIRES(t->lock);

#endif
