/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * writeback: sends to the server the data that programs wrote to files (cache/dirty.h).
 *
 * A write(2) is answered when its data is in an extent. Several WRITEs are in flight at a time,
 * each as large as possible. A WRITE is sent when
 *
 *     a stream of writes has filled one
 *     much data is NEW, or there is no room for more
 *     data has been NEW for a second or two (writeback_tick())
 *     a caller waits for the data (writeback_wait()): fsync, close, an operation that must follow
 *
 * WRITEs are UNSTABLE. Their data is kept until a COMMIT returns the same verifier as the WRITEs
 * (filedata.h). A COMMIT is sent when a program waits for one or when much data is kept. Otherwise
 * writeback_tick() sends one some seconds after the file's last WRITE, or ten seconds after the
 * first. If another client is seen to have changed the file, a COMMIT is sent at once
 * (writeback_commit()).
 *
 * Another verifier means that the server has restarted and may have lost the UNSTABLE data. The
 * data is written again, and no program notices, if no other client was seen to have changed the
 * file since the WRITE was sent (filechange_replaced()). The answer to the COMMIT that tells of the
 * restart brings the file's version, so any change shows by then. After such a change the server
 * may have another client's bytes in the same place, or a file that the other client has cut short.
 * Then no data is written again, and filedata tells of a loss. There is one exception: bytes under
 * a byte-range lock of this mount from the WRITE until now. No other client has changed those
 * bytes, so they are written again (nfs_lock_guard()).
 *
 * A server's verifier may change again and again. After several changes the file's WRITEs are
 * stable, and depend on no verifier, until all data is safe. So no program is told of a loss, and
 * the data is not written again for ever.
 *
 * A READ of the range would prove nothing: after a failed sync a server may read from memory bytes
 * that are not on the disk. One case stays unproved, over NFSv4 where the change attribute does not
 * count changes: a WRITE hides a change by another client just before the WRITE. If that WRITE is
 * also the first with the new verifier, the data from before is written again.
 *
 * If a caller waits until the data is safe, and one WRITE can carry all data that is not safe, then
 * that WRITE is stable and needs no COMMIT. The same WRITE carries the operation that the caller
 * wants done behind the data (struct nfs_then). So the file's times are set behind the last WRITE,
 * and no later WRITE changes the times, because nothing is left to be written again.
 *
 * A COMMIT is sent with the credential of the last writer (filedata.h). If the server refuses that
 * credential, the COMMIT is tried once with the credential of each waiting caller. If no caller
 * waits, the next caller's wait sends another COMMIT.
 *
 * A COMMIT that fails is a loss, too, but its data is kept while the file is open: another fsync
 * sends another COMMIT, which may show that the data is to be written again. Once a program was
 * told of the loss and the file is closed, the data is dropped (writeback_give_up()). The program
 * takes the data as lost, so another client may have written the file since, unknown to this mount.
 *
 * A WRITE that fails is a loss: its data is dropped, filedata tells of the loss, and the file's
 * `failing` is set until a write has succeeded. While `failing` is set, a writer should wait for
 * the server's answer.
 *
 * A writer is an open file. WRITEs are sent with the writer's open state and credential. The writer
 * must stay until none of its extents is left: wait for STABLE, then call writeback_close().
 *
 * With a ledger, all of this outlives the daemon: see dirty_note.h, filedata.h, and
 * written_former().
 *
 * Locks. written.lock guards a file's extents, operations and waits. writeback.lock guards the
 * fields of the mount; a thread takes writeback.lock after written.lock. No callback runs with
 * either lock held, except the two for memory, which only count and free.
 */
#ifndef RNFS_CACHE_WRITEBACK_H
#define RNFS_CACHE_WRITEBACK_H

#include <sys/queue.h>

#include "cache/batch.h"
#include "cache/dirty.h"
#include "cache/filedata.h"
#include "transport/lock.h"

struct writeback;
struct writeout;
struct written;
struct writer;

struct writeback_ops {
	/* Memory for data, as in struct dirty_memory. */
	struct mem_buf *(*get)(void *ctx, size_t size);
	void (*put)(void *ctx, struct mem_buf *buf);
	/* buf, a block of the former daemon, counts as if got by get() from now on. */
	void (*kept)(void *ctx, struct mem_buf *buf);
	/* Hold and release a file: an operation of a held file is in flight. */
	void (*hold)(struct written *f);
	void (*release)(struct written *f);
	/* Before a WRITE is sent; after it has ended, with or without success. */
	void (*write_begin)(struct writer *by);
	void (*write_end)(struct writer *by, const struct nfs_op *op);
	/* A COMMIT that was sent at `asked` has ended. again: the COMMIT failed, but may be tried
	 * with another credential, and so is no loss yet. */
	void (*commit_end)(
		void *ctx, struct written *f, const struct nfs_op *op, uint64_t asked, bool again);
	void *ctx;
};

struct writer {
	struct dirty_owner owner; /* first */
	/* constant */
	struct written *to;
	struct nfs_open *open;
	const struct rpc_cred *cred;
};

enum written_level {
	WRITTEN,    /* the server has the data */
	TRY_STABLE, /* WRITTEN; STABLE if one WRITE can carry all */
	STABLE,	    /* the server has the data, and keeps the data in a restart */
};

/* A caller's wait until all data written before has reached a level, or has been lost (filedata
 * tells). ready() is called once, on the thread that saw the end. */
struct writeback_wait {
	void (*ready)(struct writeback_wait *w);
	/* An operation to be done behind the data, or NULL. The operation is tried if the data goes
	 * in one WRITE of the same user, cred; then->done tells whether the operation was done.
	 * `then` and cred must stay until the end of the wait. */
	struct nfs_then *then;
	const struct rpc_cred *cred;
	/* the file's lock */
	enum written_level level;
	bool waits, commits;
	bool refused;	 /* the server refused a COMMIT with cred, or cred is NULL */
	uint64_t target; /* WRITEs with a smaller id must have ended; UINT64_MAX: not known yet */
	uint64_t need;	 /* commits: a COMMIT with this gen or a later one must have ended */
	unsigned rounds; /* COMMITs with another verifier */
	TAILQ_ENTRY(writeback_wait) link;
};

TAILQ_HEAD(writeback_waits, writeback_wait);

/* A change of another kind that is in flight: a truncation, a direct write. */
struct written_cut {
	struct dirty_cut dirty; /* the file's lock */
	bool begun;
};

/* The data that was written to one file. */
struct written {
	/* constant */
	const struct nfs_fh *fh;
	struct filedata *data;
	atomic_bool failing;
	_Atomic uint64_t redone_at; /* when lost data last became NEW; 0: never */
	struct mutex lock;	    /* taken before writeback.lock */
	struct writeback *all; /* constant once there was an extent; NULL before; set under lock */
	struct dirty_file dirty; /* under lock, but for its atomic fields */
	GUARDED_BY(lock) TAILQ_HEAD(, writeout) under_way; /* WRITEs, by id */
	uint64_t next_id GUARDED_BY(lock);
	struct writeback_waits waits GUARDED_BY(lock);
	uint64_t since GUARDED_BY(lock); /* when the oldest NEW extent was made, on clock_ns() */
	/* when the oldest and the newest UNSTABLE extent became UNSTABLE, the oldest roughly */
	uint64_t kept_since GUARDED_BY(lock), kept_last GUARDED_BY(lock);
	/* other verifiers since all data was safe, or a COMMIT told of the same verifier */
	unsigned others GUARDED_BY(lock);
	bool committing GUARDED_BY(lock);
	/* the last COMMIT failed: no other is sent until a caller waits */
	bool stuck GUARDED_BY(lock);
	/* memory was too short to send all data that a caller waits for */
	bool starved GUARDED_BY(lock);
	bool listed GUARDED_BY(lock); /* changed under writeback.lock, too */
	/* Until written_former_end(): operations of the former daemon may be in flight. */
	struct written_cut former;
	LIST_ENTRY(written) link; /* writeback.lock */
};

/* A writer's wait for room. ready() as in struct writeback_wait. */
struct writeback_room {
	void (*ready)(struct writeback_room *w);
	/* writeback.lock */
	bool waits;
	uint64_t id;
	TAILQ_ENTRY(writeback_room) link;
};

struct writeback_stats {
	_Atomic uint64_t gathered;  /* bytes that were copied to extents */
	_Atomic uint64_t taken;	    /* bytes that were not copied */
	_Atomic uint64_t writes;    /* WRITEs sent */
	_Atomic uint64_t commits;   /* COMMITs sent */
	_Atomic uint64_t rewritten; /* times that a file was written again after a server restart */
	_Atomic uint64_t full;	    /* times that a writer waited for room */
};

/* A limit on the bytes of blocks; 0: no data is ever taken. NULL when out of memory. *ops must
 * stay. */
struct writeback *writeback_new(const struct writeback_ops *ops, size_t limit);
/* No file may have an extent. Accepts NULL, returns NULL. */
struct writeback *writeback_free(struct writeback *all);
/* Sets another limit, unless the limit was 0. Above the limit, writers wait until COMMITs have
 * freed enough. Any thread. */
void writeback_set_limit(struct writeback *all, size_t limit);
/* WRITEs of at most wsize bytes are sent to client from now on. */
void writeback_start(struct writeback *all, struct nfs_client *client, uint32_t wsize);
struct writeback_stats *writeback_stats(struct writeback *all);
/* Bytes of blocks in use. */
size_t writeback_bytes(const struct writeback *all);

void written_init(struct written *f, const struct nfs_fh *fh, struct filedata *data);
/* f may have no extents and no waits. */
void written_finish(struct written *f);
/* Is there data that the server does not have? Any thread. */
static inline bool written_dirty(const struct written *f)
{
	return dirty_bytes(&f->dirty, DIRTY_NEW) || dirty_bytes(&f->dirty, DIRTY_WRITING);
}
/* The end in the file of the data that the server does not have, or an offset behind that end; 0:
 * no such data. */
static inline uint64_t written_end(const struct written *f)
{
	return atomic_load_explicit(&f->dirty.end, memory_order_relaxed);
}
/* Could one WRITE carry all data that the server does not have or might lose? whole: is that data
 * also probably the whole file? Both answers are estimates. */
bool written_is_one(struct written *f, bool whole);
/* Finds the file with the handle fh among the files with extents. Returns the file held, or
 * NULL. */
struct written *writeback_find(struct writeback *all, const struct nfs_fh *fh);
/* Does any NEW or WRITING data lie in [off, off + len)? */
bool written_overlaps(struct written *f, uint64_t off, uint64_t len);
/* May the server have lost UNSTABLE data in [off, off + len)? The connection was lost after the
 * WRITE, so another run of the server may answer, and no COMMIT has told yet. */
bool written_may_be_lost(struct written *f, uint64_t off, uint64_t len);
/* The end in the file of the data that written_may_be_lost() means; 0: no such data. */
uint64_t written_lost_end(struct written *f);
/* May a READ of [off, off + len) that was sent at `sent` or later have brought bytes from before
 * lost data? Yes, if the data may be lost, or has become NEW since. */
bool written_may_miss(struct written *f, uint64_t off, uint64_t len, uint64_t sent);
/* Another operation has changed [off, off + len) (len UINT64_MAX: all behind off). Drops the
 * UNSTABLE data there that the server had at `since`: writing that data again would undo the
 * operation. */
void written_cut(struct written *f, uint64_t off, uint64_t len, uint64_t since);
/* An operation that changes the file by other means. written_cut_begin(): the operation is about to
 * be sent. written_cut_part(), written_cut_end(): a part of the operation, or the whole, was
 * answered and has changed [off, off + len), as far as is known; len 0: no bytes. Only data that
 * the server had before written_cut_begin() is cut. None of that data is written again until
 * written_cut_end(). */
void written_cut_begin(struct written *f, struct written_cut *cut);
void written_cut_part(struct written *f, struct written_cut *cut, uint64_t off, uint64_t len);
void written_cut_end(struct written *f, struct written_cut *cut, uint64_t off, uint64_t len);

/* Notes of f go to the ledger from now on, and name the file by id, its number of the kernel's.
 * NULL: no notes. Before f has any data. */
void written_note(struct written *f, struct ledger *l, uint64_t id);
/* Notes name the writer by `number`, the kernel's number of the open file. Before `by` has any
 * data. */
static inline void writer_note(struct writer *by, uint64_t number)
{
	by->owner.number = number;
}

void writer_init(
	struct writer *by, struct written *to, struct nfs_open *open, const struct rpc_cred *cred);

/* See dirty_put(). */
enum dirty_put writeback_put(struct writeback *all, struct writer *by, uint64_t off,
	const uint8_t *data, uint32_t len, uint32_t *took);
/* See dirty_take(). */
enum dirty_put writeback_take(struct writeback *all, struct writer *by, uint64_t off,
	struct mem_buf *buf, uint32_t at, uint32_t len);

/* Brings all data written before to `level`. The caller has set ready and then of w, which waits
 * for the end. False: the data is at that level already, w does not wait, and w->then was not
 * done. */
bool writeback_wait(struct writeback *all, struct written *f, struct writeback_wait *w,
	enum written_level level);
/* Ends the wait of w. False: w does not wait; ready() has been called or is about to be. */
bool writeback_unwait(struct written *f, struct writeback_wait *w);
/* Waits for room after FULL. False: there may be room already, or none will come. */
bool writeback_wait_room(struct writeback *all, struct writeback_room *w);
bool writeback_unwait_room(struct writeback *all, struct writeback_room *w);

/* No program has the file of `by` open any more. Drops the data of `by` that could not be
 * committed, if a program was told of the loss: the data must not be written over another client's
 * data later. */
void writeback_give_up(struct writer *by);
/* `by` ends. Drops the extents of `by`, which could not be made safe; the loss was noted. False: a
 * WRITE of `by` is in flight; call again after another wait. */
bool writeback_close(struct writer *by);

/* An answer to an operation other than a WRITE or COMMIT of this module has told of a server
 * restart (FILEDATA_OTHER). Writes again the UNSTABLE data of f. */
void writeback_redo(struct written *f);

/* Another client may have changed f. Sends a COMMIT for the UNSTABLE data: after a server restart
 * the data could not be written again. No program waits. Any thread; does not wait. */
void writeback_commit(struct written *f);

/* The connection to the server was lost just now. Any thread; takes no lock. */
void writeback_connection_lost(struct writeback *all);
/* Call about once a second. */
void writeback_tick(struct writeback *all);
/* Starts WRITEs and COMMITs for all data. True: some data is left. */
bool writeback_sync(struct writeback *all);
/* Is a WRITE or COMMIT in flight? */
bool writeback_busy(struct writeback *all);
/* Gives up to max of the files that have extents, from the n-th on, each held. Returns the
 * number. */
unsigned writeback_files(struct writeback *all, unsigned n, struct written *file[], unsigned max);

/* --- a successor of the daemon ------------------------------------------------------------------
 */

/* The pool of a successor (mem_pool_take_over()), with the blocks of which the former daemon has
 * left notes. fd: the memory file of the former daemon's pool, which stays the caller's. To be
 * called before all else that needs memory. NULL with *e set: no memory, or damage. */
struct mem_pool *written_former_pool(size_t limit, int fd, const struct former *f, struct err *e);

/* How many bytes the former daemon may not have made safe. The notes are those of a pool that
 * written_former_pool() has made. */
uint64_t written_former_bytes(const struct former *f);

/* How written_former() finds the successor's objects by the numbers of the notes. NULL: there is no
 * such object. */
struct written_find {
	struct written *(*written)(void *ctx, uint64_t id);
	struct writer *(*writer)(void *ctx, uint64_t number);
	void *ctx;
};

/* Takes over the written data, the losses, and the state of unstable data. The files have had
 * written_note(), and the writers writer_note(). pool: from written_former_pool(). A file that
 * `find` does not know is one that the kernel does not know either, and its data is dropped. To be
 * called before any request is served and before any operation is sent; sends nothing. False with
 * *e set: no memory, or damage; part of the data may have been taken over. */
bool written_former(struct writeback *all, struct mem_pool *pool, const struct former *f,
	const struct written_find *find, struct err *e);
/* No operation of the former daemon can be in flight any more, all requests of the kernel that the
 * former daemon had not answered have come again and been answered, and the former daemon's notes
 * are not needed any more. Until this call, or for half a minute, no UNSTABLE data of the former
 * daemon is written again: an fsync(2) that was sent again may wait for this call, and this call
 * for the answer to the fsync(2). Call once, on the thread of writeback_tick(). */
void written_former_end(struct writeback *all, struct mem_pool *pool);

#endif
