/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * writeback_impl: declarations shared by the files of writeback.h. Each calls only those below:
 *
 *     written_former.c  the data of a former daemon
 *     written_all.c     the work that callers begin: puts, waits, the tick; all files of a mount
 *     writeout.c        WRITEs and COMMITs from start to end, and the work behind the end
 *     written.c         the state of one file's data and of the waits for the data; sends nothing
 */
#ifndef RNFS_CACHE_WRITEBACK_IMPL_H
#define RNFS_CACHE_WRITEBACK_IMPL_H

#include "cache/writeback.h"
#include "transport/lock.h"

#define WHOLE_FILE_MAX (64u << 10) /* a file of so many bytes is probably complete */

/* A WRITE of one run of extents, or a COMMIT (n is 0). */
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
	bool unstable;	   /* an answer was UNSTABLE */
	bool redo;	   /* an answer had another verifier */
	uint64_t restarts; /* filedata_restarts() before the first unstable answer */
	int error;
	uint64_t gen, asked; /* of a COMMIT */
	bool carries; /* `then` goes with the WRITE, for waiter; waiter is under the file's lock,
			 NULL: gone */
	struct writeback_wait *waiter;
	struct nfs_then then;
	TAILQ_ENTRY(writeout) link;
	SLIST_ENTRY(writeout) spare;
};

struct writeback {
	const struct writeback_ops *ops;
	struct dirty_memory memory;
	atomic_size_t limit; /* if 0, constant */
	atomic_size_t used;
	struct nfs_client *client;
	_Atomic uint64_t lost_at; /* when the connection was last lost, on clock_ns(); 0: never */
	uint32_t wsize;
	struct batch_pool parts;
	struct writeback_stats stats;
	struct mutex lock; /* taken after written.lock */
	GUARDED_BY(lock) SLIST_HEAD(, writeout) spare;
	unsigned under_way GUARDED_BY(lock);
	GUARDED_BY(lock) LIST_HEAD(, written) files; /* files that have extents */
	GUARDED_BY(lock) TAILQ_HEAD(room_list, writeback_room) rooms;
	uint64_t next_room GUARDED_BY(lock);
};

/* Calls fn for each file that has extents. */
void written_for_all(struct writeback *all, void (*fn)(struct written *f));

static inline void writeback_count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

/* --- written.c -------------------------------------------------------------------------------- */

/* f belongs to `all` from now on. */
void written_join_locked(struct written *f, struct writeback *all) REQUIRES(f->lock);
/* Puts f on the list of files with extents, or takes f off, as f has extents or not. */
void written_list_locked(struct written *f) REQUIRES(f->lock);
/* An operation of f has ended. Moves the waits that are complete to `done`, for written_tell().
 * True: the caller must call writeout_commit(). */
bool written_look(struct written *f, struct writeback_waits *done);
/* Calls ready of each wait. No lock held. */
void written_tell(struct writeback_waits *done);
/* written_cut_end(), without the work behind it. True: as after written_redo_locked(). */
bool written_cut_over(struct written *f, struct written_cut *cut, uint64_t off, uint64_t len);
/* All NEW data has been sent, unless memory was short. The waits now wait for the WRITEs sent so
 * far. */
void written_all_sent_locked(struct written *f) REQUIRES(f->lock);
/* After an answer with another verifier: the UNSTABLE data becomes NEW. The caller must call
 * writeout_send_new() behind the lock. */
void written_redo_locked(struct written *f) REQUIRES(f->lock);
/* Has the server's verifier changed several times? Then WRITEs are stable. */
bool written_is_unsteady_locked(const struct written *f) REQUIRES(f->lock);
/* nfs_lock_guard() for len bytes at off that `by`, a writer, has written. */
uint64_t written_guard(const struct dirty_owner *by, uint64_t off, uint64_t len);
/* More data of f is about to be UNSTABLE. */
void written_keeps_locked(struct written *f) REQUIRES(f->lock);
/* Is the UNSTABLE data of f old enough for a COMMIT although no program waits? */
bool written_is_old_locked(const struct written *f) REQUIRES(f->lock);
/* May a COMMIT of f be sent? If so, the caller must call writeout_commit(). */
bool written_commits_locked(struct written *f) REQUIRES(f->lock);
/* Does the verdict on a verifier tell of a restart? */
bool written_restarted(enum filedata_verf is);
/* The server refuses a COMMIT of f with the credential *by. COMMIT_AGAIN: try the credential of a
 * waiting caller, now in *by. COMMIT_LATER: no caller waits; the COMMIT has ended. COMMIT_NEVER: no
 * waiting caller may commit. */
enum commit_refused { COMMIT_AGAIN, COMMIT_LATER, COMMIT_NEVER };
enum commit_refused written_refused(struct written *f, struct rpc_cred *by);
/* A COMMIT of f with gen has ended, and filedata has noted the result. */
void written_committed(struct written *f, uint64_t gen, bool failed, bool redo);

/* --- writeout.c --------------------------------------------------------------------------------
 */

/* Sends the run of NEW extents that ends at `end`, if there is one. */
void writeout_send_to(struct written *f, uint64_t end);
/* Sends all NEW data. stable: a caller waits until the data is safe. w: the wait that is about to
 * begin, with an operation that a WRITE may carry, or NULL. */
void writeout_send_all(struct written *f, bool stable, struct writeback_wait *w);
/* Sends all NEW data; the waits now wait for the WRITEs sent so far. */
void writeout_send_new(struct written *f);
/* Sends a COMMIT. The caller has set f->committing. */
void writeout_commit(struct written *f);
/* An operation of f has ended. Ends the waits that are complete, and sends a COMMIT if needed. */
void writeout_look(struct written *f);
/* Frees a spare writeout. */
void writeout_destroy(struct writeout *x);

#endif
