/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * batch: operations on the server that are carried out together, in steps, for whoever wants them.
 *
 * A batch holds no thread while it waits. Its owner makes one or more parts ready (each an nfs_op)
 * and submits; when all have ended the owner's function is called, on the thread that saw the last
 * one, and makes parts ready again or ends the batch:
 *
 *     batch_begin -> [part_op -> batch_submit -> done]... -> batch_end
 *
 * The submitter counts as one pending part, so done never begins before the last nfs_submit() has
 * returned, and the batch cannot vanish under it. Between the steps the batch is the owner's, one
 * thread at a time; only batch_cancel() may come from any thread at any moment up to batch_end().
 *
 * Cancellation. batch_cancel() cancels what is pending and what is submitted afterwards, unless the
 * owner has said that what follows must be done in any case (batch_keep_going()). Every operation
 * still ends, and done is called as ever. One that changes the data of a file may end late, if the
 * server has got it (nfs_cancel()); in a batch that was cancelled before, none is sent.
 *
 * Memory. A batch has one part of its own. What it needs besides is reserved from the pool before
 * the first step that cannot be taken back, so that nothing fails half way.
 *
 * Data. A batch that carries READs or WRITEs has a list of segments, data, in which all of their
 * bytes lie, wherever the blocks are that hold them. batch_cut() divides it among the parts; each
 * then is submitted, again if its operation has come back short, until it has got all that it wants
 * or its owner settles it for another reason (the end of the file, an error).
 *
 * Locks. batch.lock guards what is marked below; nfs_cancel() is called under it, so that the
 * operation that it names cannot end meanwhile. batch_pool.lock, a leaf, guards the pool's list. No
 * callback runs with one of them held.
 */
#ifndef RNFS_CACHE_BATCH_H
#define RNFS_CACHE_BATCH_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfsproto/nfs_client.h"

struct batch;

enum part_state {
	PART_IDLE,
	PART_SUBMITTING, /* nfs_submit() has not returned yet, or is about to be called */
	PART_PENDING,	 /* may be cancelled */
};

struct part {
	struct nfs_op op;
	struct batch *batch;
	enum part_state state; /* batch.lock */
	bool ready;	       /* goes with the next batch_submit() */
	/* of a READ or WRITE: which bytes of batch.data, and how many of them are done */
	uint32_t off, want, got;
	bool settled; /* the owner's: nothing more is to be done for it */
	STAILQ_ENTRY(part) next;
};

STAILQ_HEAD(part_list, part);

typedef void batch_done_fn(struct batch *b);
typedef void batch_op_fn(struct batch *b, const struct nfs_op *op);

struct batch_pool {
	pthread_mutex_t lock;
	struct part_list free;
};

struct batch {
	struct batch_pool *pool;
	struct nfs_client *client;
	struct rpc_cred cred; /* of operations that are made ready from now on */
	/* Since when the owner wants the operations of a step (nfs_op.since_ns): for the first one
	 * the owner may say so, then that is the end of the step before. */
	uint64_t since_ns;
	batch_op_fn *op_ended; /* called for each as it ends, before done; may be NULL */
	batch_done_fn *done;
	struct part_list spare; /* reserved */
	struct seg_list
		data; /* of READs or WRITEs; the segments and their blocks are the owner's */

	pthread_mutex_t lock; /* what follows */
	unsigned pending;     /* parts that have not ended, the submitter included */
	bool cancelled, keep_going;
	uint64_t ended_ns;	/* when the last operation ended, on clock_ns(); 0: none has */
	struct part_list parts; /* the first, then more; changed by the owner between steps */
	struct part first;
};

void batch_pool_init(struct batch_pool *p);
/* No batch may have parts of it. */
void batch_pool_finish(struct batch_pool *p);

/* The storage of a batch, which may be used for one after the other. */
void batch_init(struct batch *b, struct batch_pool *pool);
void batch_finish(struct batch *b);

/* A batch begins: its first part is idle, op_ended NULL, data empty. */
void batch_begin(struct batch *b, struct nfs_client *client, const struct rpc_cred *cred);
/* It ends; nothing of it is pending. Its parts go back to the pool. */
void batch_end(struct batch *b);

/* Makes sure of n further parts for batch_part(). False when out of memory. */
bool batch_reserve(struct batch *b, unsigned n);
/* A further part, which must have been reserved; idle. */
struct part *batch_part(struct batch *b);

/* The op of a part that is not pending, made ready for the next batch_submit(): type and credential
 * set, the member of u of that size zeroed. */
struct nfs_op *part_op_sized(struct part *p, enum nfs_op_type type, size_t size);
#define part_op(p, type, member) part_op_sized(p, type, sizeof(((struct nfs_op *)0)->u.member))

/* Divides data, which is not empty, among parts of max bytes at most: the first one and further
 * ones. No byte of it is done. False when out of memory. */
bool batch_cut(struct batch *b, uint32_t max);
/* Where the bytes of p lie that are not done. */
struct seg_list part_rest(const struct part *p);
/* How many bytes are done up to the first that is not. */
uint32_t batch_done_bytes(const struct batch *b);

/* Submits every part that is ready; done follows, also if there is none, perhaps before this
 * returns. */
void batch_submit(struct batch *b, batch_done_fn *done);
/* Is any part ready to be submitted? */
bool batch_ready(const struct batch *b);

/* Any thread. False: it was cancelled before. */
bool batch_cancel(struct batch *b);
/* What is submitted from now on must be done even if the batch is cancelled. */
void batch_keep_going(struct batch *b);

#endif
