/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * batch: operations on the server that are executed together, in steps.
 *
 * A batch holds no thread while waiting. The owner makes one or more parts ready (each an nfs_op)
 * and submits them. When all have ended, the owner's function is called, on the thread that saw the
 * last end. The function makes parts ready again or ends the batch:
 *
 *     batch_begin -> [part_op -> batch_submit -> done]... -> batch_end
 *
 * The submitter counts as one pending part. So done never begins before the last nfs_submit() has
 * returned, and the batch cannot vanish under the submitter. Between the steps the batch is the
 * owner's, one thread at a time. Only batch_cancel() may come from any thread at any moment up to
 * batch_end().
 *
 * Cancellation. batch_cancel() cancels all pending and later operations, unless the owner has said
 * that the later ones must be done anyway (batch_keep_going()). Every operation still ends, and
 * done is called as usual. An operation that changes a file's data may end late, if the server has
 * the request (nfs_cancel()). A cancelled batch sends no further change without batch_keep_going().
 * batch_interrupt() does the same with nfs_interrupt(), and may be followed by batch_cancel().
 *
 * Memory. A batch has one part of its own. The owner reserves further parts from the pool before
 * the first step that cannot be undone. So no batch fails half way.
 *
 * Data. A batch of READs or WRITEs has one list of segments, data, for the bytes of all parts, in
 * any blocks. batch_cut() divides the list among the parts. Each part is submitted, and again after
 * a short answer, until the part has all its bytes. The owner may settle a part earlier (the end of
 * the file, an error).
 *
 * Locks. batch.lock guards the fields marked below. nfs_cancel() is called under batch.lock, so
 * that the operation cannot end meanwhile. batch_pool.lock, a leaf, guards the pool's list. No
 * callback runs with either lock held.
 */
#ifndef RNFS_CACHE_BATCH_H
#define RNFS_CACHE_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nfsproto/nfs_client.h"
#include "transport/lock.h"

struct batch;

enum part_state {
	PART_IDLE,
	PART_SUBMITTING, /* nfs_submit() has not returned yet, or is about to be called */
	PART_PENDING,	 /* may be cancelled */
};

struct part {
	struct nfs_op op;
	struct batch *batch;
	enum part_state state; /* batch->lock */
	bool ready;	       /* goes out with the next batch_submit() */
	/* of a READ or WRITE: the part's range in batch.data, and the bytes done */
	uint32_t off, want, got;
	bool settled; /* set by the owner: the part is complete */
	STAILQ_ENTRY(part) next;
};

STAILQ_HEAD(part_list, part);

typedef void batch_done_fn(struct batch *b);
typedef void batch_op_fn(struct batch *b, const struct nfs_op *op);

struct batch_pool {
	struct mutex lock;
	struct part_list free GUARDED_BY(lock);
};

/* The caller's wish; later values go before earlier ones. */
enum batch_wish { BATCH_GO_ON, BATCH_INTERRUPT, BATCH_CANCEL };

struct batch {
	struct batch_pool *pool;
	struct nfs_client *client;
	struct rpc_cred cred; /* for operations made ready from now on */
	/* When the owner began to want the operations of a step (nfs_op.since_ns). The owner may
	 * set the time of the first step; the time of a later step is the end of the step
	 * before. */
	uint64_t since_ns;
	/* The operations belong to this noted request of the kernel (nfs_op.noted); 0: to none. Set
	 * by the owner after batch_begin(). */
	uint64_t noted;
	batch_op_fn *op_ended; /* called as each operation ends, before done; may be NULL */
	batch_done_fn *done;
	struct part_list spare; /* reserved */
	struct seg_list data; /* of READs or WRITEs; the owner has the segments and their blocks */

	struct mutex lock;
	unsigned pending GUARDED_BY(lock); /* parts that have not ended, the submitter included */
	enum batch_wish wish GUARDED_BY(lock);
	bool keep_going GUARDED_BY(lock);
	/* when the last operation ended, on clock_ns(); 0: none has ended */
	uint64_t ended_ns GUARDED_BY(lock);
	/* The owner changes the list between steps, under lock, and reads it without. */
	struct part_list parts; /* the first, then more */
	struct part first;
};

void batch_pool_init(struct batch_pool *p);
/* No batch may have parts of the pool. */
void batch_pool_finish(struct batch_pool *p);

/* The storage of a batch, which may be used for one batch after another. */
void batch_init(struct batch *b, struct batch_pool *pool);
void batch_finish(struct batch *b);

/* Begins a batch: the first part is idle, op_ended NULL, data empty. */
void batch_begin(struct batch *b, struct nfs_client *client, const struct rpc_cred *cred);
/* Ends a batch without pending parts. Its parts go back to the pool. */
void batch_end(struct batch *b);

/* Reserves parts, so that batch_part() can be called n times. False when out of memory. */
bool batch_reserve(struct batch *b, unsigned n);
/* Adds a reserved part; idle. */
struct part *batch_part(struct batch *b);

/* Makes the op of a part that is not pending ready for the next batch_submit(). Sets type and
 * credential, and zeroes the first size bytes of u. */
struct nfs_op *part_op_sized(struct part *p, enum nfs_op_type type, size_t size);
#define part_op(p, type, member) part_op_sized(p, type, sizeof(((struct nfs_op *)0)->u.member))

/* Divides data, which is not empty, among the first part and further ones, each of max bytes at
 * most. No bytes are done yet. False when out of memory. */
bool batch_cut(struct batch *b, uint32_t max);
/* The bytes of p that are not done. */
struct seg_list part_rest(const struct part *p);
/* The number of bytes done in front of the first byte not done. */
uint32_t batch_done_bytes(const struct batch *b);

/* Submits all ready parts. Calls done when all have ended, at once if no part is ready; perhaps
 * before this function returns. */
void batch_submit(struct batch *b, batch_done_fn *done);
/* Is any part ready? */
bool batch_ready(const struct batch *b);

/* Any thread. False: the batch was cancelled, or interrupted, before. */
bool batch_cancel(struct batch *b);
bool batch_interrupt(struct batch *b);
/* Later operations must be done even if the batch is cancelled. */
void batch_keep_going(struct batch *b);

#endif
