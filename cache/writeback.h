/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * writeback: what was written to files (cache/dirty.h), on its way to the server.
 *
 * write(2) is answered when its data is in an extent. WRITEs are sent, several at a time and each
 * as large as one can be, when
 *
 *     a stream of writes has filled one
 *     much is NEW, or there is no room for more
 *     it has been NEW for a second or two (writeback_tick())
 *     somebody waits for it (writeback_wait()): fsync, close, what must come after it
 *
 * They are UNSTABLE, and what they carried is kept until a COMMIT has come back with the verifier
 * that they came back with (filedata.h). A COMMIT is sent when a program waits for it, when much is
 * kept, and else by writeback_tick(): some seconds after the last WRITE of the file, or ten after
 * the first. One is sent at once when another client is seen to have changed the file
 * (writeback_commit()).
 *
 * With another verifier the server has restarted, and may have lost what is UNSTABLE. That is
 * written again, and no program notices, if no other client was seen to have changed the file since
 * the WRITE was sent (filechange_replaced()): the answer to the COMMIT that tells of the restart
 * brings the file's version, so a change that was not seen before is seen then. Else the server may
 * have another client's bytes there, or have cut the file short for it. Then nothing is written
 * again, and filedata tells of a loss. If somebody waits for the data to be safe, and one
 * WRITE carries all that is not, that WRITE makes it so, and there is no COMMIT. What somebody
 * wants to be done when it is (struct nfs_then) goes with that WRITE: the file's times are set
 * behind it, and as there is nothing left to be written again they stay as they are set.
 *
 * A COMMIT goes in the name of who has written (filedata.h). If he may not write the file any more
 * it is tried once more as each of those who wait for it, and if nobody does, when somebody will.
 *
 * A WRITE that fails is a loss: its data goes, filedata tells of it, and until a write has
 * succeeded the file's `failing` is set: then whoever writes should wait for the server's answer.
 *
 * A writer is an open file, in whose name the WRITEs are sent. It must stay until no extent of it
 * is left: wait for STABLE, then writeback_close().
 *
 * Locks. written.lock guards a file's extents, operations and waits; writeback.lock, which is taken
 * after it, what is of the mount. No callback runs with one of them held, but for the two of
 * memory, which only count and free.
 */
#ifndef RNFS_CACHE_WRITEBACK_H
#define RNFS_CACHE_WRITEBACK_H

#include <pthread.h>
#include <sys/queue.h>

#include "cache/batch.h"
#include "cache/dirty.h"
#include "cache/filedata.h"

struct writeback;
struct writeout;
struct written;
struct writer;

struct writeback_ops {
	/* Memory for data, as in struct dirty_memory. */
	struct mem_buf *(*get)(void *ctx, size_t size);
	void (*put)(void *ctx, struct mem_buf *buf);
	/* A file must stay while an operation of it is under way. */
	void (*hold)(struct written *f);
	void (*release)(struct written *f);
	/* A WRITE is about to be sent, and has ended with or without success. */
	void (*write_begin)(struct writer *by);
	void (*write_end)(struct writer *by, const struct nfs_op *op);
	/* A COMMIT that was sent at asked has ended; again: it failed, and is no loss yet. */
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
	WRITTEN, /* the server has it */
	SENT,	 /* the same; what one WRITE can carry it will not lose either */
	STABLE,	 /* ... and will not lose any of it */
};

/* Somebody who waits until what was written before is WRITTEN or STABLE, or has been lost, which
 * filedata tells. ready() is called once, on the thread that saw the end. */
struct writeback_wait {
	void (*ready)(struct writeback_wait *w);
	/* Is to be done behind what was written, which is tried if that goes in one WRITE, in the
	 * name of the same user, cred; see done. NULL: nothing. Both stay. */
	struct nfs_then *then;
	const struct rpc_cred *cred;
	/* the file's lock */
	enum written_level level;
	bool waits, commits;
	bool refused;	 /* COMMIT in the name of cred; or there is none */
	uint64_t target; /* WRITEs with a smaller id must have ended; UINT64_MAX: not known yet */
	uint64_t need;	 /* commits: a COMMIT with this gen or a later one must have ended */
	unsigned rounds; /* times that a COMMIT came back with another verifier */
	TAILQ_ENTRY(writeback_wait) link;
};

TAILQ_HEAD(writeback_waits, writeback_wait);

/* What was written to one file. */
struct written {
	/* constant */
	const struct nfs_fh *fh;
	struct filedata *data;
	atomic_bool failing;
	pthread_mutex_t lock;  /* what follows */
	struct writeback *all; /* NULL until there was an extent */
	struct dirty_file dirty;
	TAILQ_HEAD(, writeout) under_way; /* WRITEs, by id */
	uint64_t next_id;
	struct writeback_waits waits;
	uint64_t since;	     /* when the oldest NEW extent was made, on clock_ns() */
	uint64_t kept_since; /* when the oldest UNSTABLE extent, about, became that */
	uint64_t kept_last;  /* and the newest */
	bool committing;
	bool stuck;   /* the last COMMIT failed: no other follows until somebody waits */
	bool starved; /* there was no memory to send all that somebody waits for */
	bool listed;  /* writeback.lock */
	LIST_ENTRY(written) link;
};

/* Somebody who waits for room. ready() as above. */
struct writeback_room {
	void (*ready)(struct writeback_room *w);
	/* writeback.lock */
	bool waits;
	uint64_t id;
	TAILQ_ENTRY(writeback_room) link;
};

/* A change of another kind that is under way: a truncation, a direct write. */
struct written_cut {
	struct dirty_cut dirty; /* the file's lock */
	bool begun;
};

struct writeback_stats {
	_Atomic uint64_t gathered;  /* bytes that were copied to extents */
	_Atomic uint64_t taken;	    /* bytes that were not copied */
	_Atomic uint64_t writes;    /* WRITEs sent */
	_Atomic uint64_t commits;   /* COMMITs sent */
	_Atomic uint64_t rewritten; /* times that a server's restart had a file written again */
	_Atomic uint64_t full;	    /* times that a writer waited for room */
};

/* Blocks of limit bytes at most; 0: nothing is ever taken. NULL when out of memory. *ops must stay.
 */
struct writeback *writeback_new(const struct writeback_ops *ops, size_t limit);
/* No file may have an extent. Accepts NULL, returns NULL. */
struct writeback *writeback_free(struct writeback *all);
/* Another most, unless that was 0. Where more is in use, writers wait until COMMITs have brought it
 * below. Any thread. */
void writeback_set_limit(struct writeback *all, size_t limit);
/* WRITEs of at most wsize bytes are sent to client from now on. */
void writeback_start(struct writeback *all, struct nfs_client *client, uint32_t wsize);
struct writeback_stats *writeback_stats(struct writeback *all);
/* Bytes of blocks that are in use. */
size_t writeback_bytes(const struct writeback *all);

void written_init(struct written *f, const struct nfs_fh *fh, struct filedata *data);
/* Nothing may be left of it. */
void written_finish(struct written *f);
/* Is there anything that the server does not have? Any thread. */
static inline bool written_dirty(const struct written *f)
{
	return dirty_bytes(&f->dirty, DIRTY_NEW) || dirty_bytes(&f->dirty, DIRTY_WRITING);
}
/* Where the last byte of that is in the file, or a byte behind that; 0: there is none. */
static inline uint64_t written_end(const struct written *f)
{
	return atomic_load_explicit(&f->dirty.end, memory_order_relaxed);
}
/* Does all that the server does not have, or might lose, go in one WRITE, as far as can be seen?
 * whole: and is that probably all that there will be? */
bool written_is_one(struct written *f, bool whole);
/* The file of all with that handle that has extents, held, or NULL. */
struct written *writeback_find(struct writeback *all, const struct nfs_fh *fh);
/* Is any of it in [off, off + len)? */
bool written_overlaps(struct written *f, uint64_t off, uint64_t len);
/* What was written to [off, off + len) (UINT64_MAX: all behind off) and the server had at `since`
 * has been changed otherwise, and is not to be written again. */
void written_cut(struct written *f, uint64_t off, uint64_t len, uint64_t since);
/* Something that will change it otherwise is about to be sent; and has been answered in
 * part, or at all: has changed that, of len 0 nothing, as far as is known. Only what was on the
 * server before begin is cut, and until end none of it is written again. */
void written_cut_begin(struct written *f, struct written_cut *cut);
void written_cut_part(struct written *f, struct written_cut *cut, uint64_t off, uint64_t len);
void written_cut_end(struct written *f, struct written_cut *cut, uint64_t off, uint64_t len);

void writer_init(
	struct writer *by, struct written *to, struct nfs_open *open, const struct rpc_cred *cred);

/* See dirty_put(). */
enum dirty_put writeback_put(struct writeback *all, struct writer *by, uint64_t off,
	const uint8_t *data, uint32_t len, uint32_t *took);
/* See dirty_take(). */
enum dirty_put writeback_take(struct writeback *all, struct writer *by, uint64_t off,
	struct mem_buf *buf, uint32_t at, uint32_t len);

/* What was written before is to be on the server: w, whose ready and then are set, waits for that.
 * False: it is; w does not wait, and then was not done. */
bool writeback_wait(struct writeback *all, struct written *f, struct writeback_wait *w,
	enum written_level level);
/* w is not to wait any more. False: it does not, ready() has been called or is about to be. */
bool writeback_unwait(struct written *f, struct writeback_wait *w);
/* Waits for room after FULL. False: there may be some already, or none will come. */
bool writeback_wait_room(struct writeback *all, struct writeback_room *w);
bool writeback_unwait_room(struct writeback *all, struct writeback_room *w);

/* `by` ends: what is left of it is given up, for it could not be made safe, and that was noted.
 * False: a WRITE of it is still under way; to be called again after another wait. */
bool writeback_close(struct writer *by);

/* An answer that did not come to a WRITE or COMMIT from here has told that the server has restarted
 * (FILEDATA_OTHER): what it had of f is written again. */
void writeback_redo(struct written *f);

/* Another client may have changed f: has what is UNSTABLE committed, before there is any reason to
 * write it again. No program waits. Any thread; does not wait. */
void writeback_commit(struct written *f);

/* To be called about once a second. */
void writeback_tick(struct writeback *all);
/* Has all be written and committed. True: there is something left. */
bool writeback_sync(struct writeback *all);
/* Is a WRITE or COMMIT under way? */
bool writeback_busy(struct writeback *all);
/* Up to max files that have extents, held, from the n-th on; returns how many. */
unsigned writeback_files(struct writeback *all, unsigned n, struct written *file[], unsigned max);

#endif
