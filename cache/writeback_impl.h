/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * writeback_impl: what the files of writeback.h share: written_all.c has what is of the mount,
 * written.c a file and who waits for it, writeout.c its WRITEs and COMMITs.
 */
#ifndef RNFS_CACHE_WRITEBACK_IMPL_H
#define RNFS_CACHE_WRITEBACK_IMPL_H

#include "cache/writeback.h"

#define WHOLE_FILE_MAX (64u << 10) /* bytes that are probably all that will be written */

/* One run of extents that is being written, or a COMMIT (n is 0). */
struct writeout {
	struct batch batch;
	struct written *f;
	struct writer *by;
	uint64_t id;
	uint64_t off; /* in the file */
	struct dirty_extent *run[DIRTY_RUN_EXTENTS];
	struct seg seg[DIRTY_RUN_EXTENTS];
	unsigned n;
	enum nfs_stable stable;
	bool unstable;	   /* so was an answer */
	bool redo;	   /* an answer had another verifier */
	uint64_t restarts; /* filedata_restarts() before the first unstable answer */
	int error;
	uint64_t gen, asked; /* of a COMMIT */
	bool carries;	     /* `then`, for waiter; the latter under the file's lock, NULL: gone */
	struct writeback_wait *waiter;
	struct nfs_then then;
	TAILQ_ENTRY(writeout) link;
	SLIST_ENTRY(writeout) spare;
};

struct writeback {
	const struct writeback_ops *ops;
	struct dirty_memory memory;
	atomic_size_t limit; /* 0: constant */
	atomic_size_t used;
	struct nfs_client *client;
	uint32_t wsize;
	struct batch_pool parts;
	struct writeback_stats stats;
	pthread_mutex_t lock; /* what follows */
	SLIST_HEAD(, writeout) spare;
	unsigned under_way;
	LIST_HEAD(, written) files; /* those that have extents */
	TAILQ_HEAD(room_list, writeback_room) rooms;
	uint64_t next_room;
};

static inline void writeback_count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* --- written.c. _locked: under the file's lock -------------------------------------------------
 */

/* f is one of all's from now on. */
void written_join_locked(struct written *f, struct writeback *all);
/* f is among the files with extents, or not, as it has some now or not. */
void written_list_locked(struct written *f);
/* Something of f has ended: who waits for that goes on, and a COMMIT is sent if it is time. */
void written_look(struct written *f);
/* All that is NEW has been sent, or there was no memory for that: who waits for it waits for those
 * WRITEs. */
void written_all_sent_locked(struct written *f);
/* The server has answered with another verifier: what it had is written again; and then, without
 * the lock. */
void written_redo_locked(struct written *f);
void written_redone(struct written *f);
/* More of f is about to be UNSTABLE. */
void written_keeps_locked(struct written *f);
/* Is what is UNSTABLE of f to be committed although no program waits, now? */
bool written_is_old_locked(const struct written *f);
/* f is to have a COMMIT: may it be sent? Then writeout_commit() follows. */
bool written_commits_locked(struct written *f);
/* Has that verifier told of a restart? */
bool written_restarted(enum filedata_verf is);
/* The server does not let *by COMMIT f. COMMIT_AGAIN: who waits is to try it, *by now.
 * COMMIT_LATER: nobody waits, and it has ended. COMMIT_NEVER: none of those who wait may. */
enum commit_refused { COMMIT_AGAIN, COMMIT_LATER, COMMIT_NEVER };
enum commit_refused written_refused(struct written *f, struct rpc_cred *by);
/* A COMMIT of f with that gen has ended, and filedata knows how. */
void written_committed(struct written *f, uint64_t gen, bool failed, bool redo);

/* --- writeout.c --------------------------------------------------------------------------------
 */

/* Sends the run that ends at `end`, if there is one. */
void writeout_send_to(struct written *f, uint64_t end);
/* Sends all that is NEW; stable: somebody waits for it to be safe. w: who is about to wait, and may
 * have something done with it, or NULL. */
void writeout_send_all(struct written *f, bool stable, struct writeback_wait *w);
/* w does not wait any more: nothing is done for it. */
void writeout_forget_locked(struct written *f, const struct writeback_wait *w);
/* Sends a COMMIT; f->committing has been set. */
void writeout_commit(struct written *f);
/* One that can be used again goes. */
void writeout_destroy(struct writeout *x);

#endif
