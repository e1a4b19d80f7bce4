/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dirty: what was written to a file and may not be safe on the server yet, as extents of bytes.
 *
 * No two extents overlap. Each has one of these states:
 *
 *     NEW       write(2) was answered; no WRITE was sent. More may be added, or written over it.
 *     WRITING   a WRITE is under way that reads the extent's memory: nobody may change it
 *     UNSTABLE  the server has it, and may lose it if it restarts before a COMMIT: kept to be
 *               written again
 *
 * What brings it from one to the next:
 *
 *     dirty_put(), dirty_take()   -> NEW. UNSTABLE bytes that are written over go.
 *     dirty_writing()             NEW -> WRITING
 *     dirty_wrote()               WRITING -> UNSTABLE; -> gone, if the server has it on stable
 *                                 storage already, or the WRITE has failed
 *     dirty_committed()           UNSTABLE -> gone
 *     dirty_redo()                UNSTABLE -> NEW: the server has restarted; -> gone, if another
 *                                 client may have replaced it
 *     dirty_cut(), dirty_forget() -> gone
 *
 * What was UNSTABLE when a change of another kind was sent (a truncation, a direct write) may have
 * been changed by it, and must not be written again over it; what came to be UNSTABLE meanwhile may
 * have been written after it, and is kept. Until its answer is there (dirty_cut_begin(),
 * dirty_cut_end()) nobody knows what has become of the former: if the server restarts meanwhile it
 * stays UNSTABLE, and is *lost*.
 *
 * Small writes are gathered: an extent has room behind its bytes for those that follow, the more
 * the longer the stream of writes that it is part of. Extents end at multiples of DIRTY_RUN, where
 * a stream's WRITEs end, too.
 *
 * Everything here is under the lock of whoever has the dirty_file (cache/writeback.h), but for
 * dirty_bytes().
 */
#ifndef RNFS_CACHE_DIRTY_H
#define RNFS_CACHE_DIRTY_H

#include <bsd/sys/tree.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "transport/mem.h"

#define DIRTY_RUN (1u << 20) /* bytes that are written by one WRITE at most */
/* Extents of a run at most. */
#define DIRTY_RUN_EXTENTS 64u

enum dirty_state { DIRTY_NEW, DIRTY_WRITING, DIRTY_UNSTABLE, DIRTY_STATES };

/* Who wrote: an open file description. Extents of two are not mixed. */
struct dirty_owner {
	unsigned extents; /* that there are of it */
};

/* A block that one or more extents lie in. */
struct dirty_mem {
	struct mem_buf *buf;
	unsigned extents;
};

struct dirty_extent {
	RB_ENTRY(dirty_extent) node;
	struct dirty_owner *by;
	struct dirty_mem *mem;
	uint32_t at; /* in mem->buf */
	uint64_t off;
	uint32_t len, room; /* room: len and what may be added */
	uint32_t before;    /* bytes of the stream that it continues */
	enum dirty_state state;
	bool lost;	   /* UNSTABLE: by a restart while a cut is under way */
	uint64_t sent;	   /* WRITING, UNSTABLE: when the WRITE was sent */
	uint64_t gen, got; /* UNSTABLE: of the WRITE (filedata.h), and when that was answered */
};

/* Something that is to change bytes otherwise, and is under way. */
struct dirty_cut {
	uint64_t since;
	LIST_ENTRY(dirty_cut) link;
};

RB_HEAD(dirty_tree, dirty_extent);

/* Where memory comes from. get: size bytes or more, NULL: there is none now. */
struct dirty_memory {
	struct mem_buf *(*get)(void *ctx, size_t size);
	void (*put)(void *ctx, struct mem_buf *buf);
	void *ctx;
};

struct dirty_file {
	const struct dirty_memory *memory;
	struct dirty_tree tree;
	LIST_HEAD(, dirty_cut) cuts;
	unsigned lost;			      /* extents */
	uint64_t replaced;		      /* as of the last dirty_redo() */
	uint64_t given_up;		      /* bytes that dirty_redo() or dirty_cut_end() dropped
						 for that reason; the caller sets it back */
	_Atomic uint64_t bytes[DIRTY_STATES]; /* of extents in that state */
	_Atomic uint64_t end; /* where the last byte that is NEW or WRITING is in the file, about:
				 not before it */
};

void dirty_init(struct dirty_file *d, const struct dirty_memory *memory);
/* There may be no extent. */
void dirty_finish(struct dirty_file *d);

/* Any thread, without the lock. */
static inline uint64_t dirty_bytes(const struct dirty_file *d, enum dirty_state state)
{
	return atomic_load_explicit(&d->bytes[state], memory_order_relaxed);
}

enum dirty_put {
	DIRTY_DONE,
	DIRTY_BUSY, /* what is there must be written first */
	DIRTY_FULL, /* there is no memory */
};

/* Copies len bytes that `by` writes at off. *took: how many were, from the beginning, which is all
 * only if DONE. */
enum dirty_put dirty_put(struct dirty_file *d, struct dirty_owner *by, uint64_t off,
	const uint8_t *data, uint32_t len, uint32_t *took);
/* The same without copying: they lie at `at` of buf, as memory->get() gave it. DONE: buf has been
 * taken over. Else nothing has been done. */
enum dirty_put dirty_take(struct dirty_file *d, struct dirty_owner *by, uint64_t off,
	struct mem_buf *buf, uint32_t at, uint32_t len);

/* The first run of NEW extents at or behind *from that one WRITE can carry: of one owner, without a
 * gap, at most DIRTY_RUN bytes. Moves *from behind it. Returns how many, 0: none. */
unsigned dirty_run(struct dirty_file *d, uint64_t *from, struct dirty_extent *run[]);
/* The one that ends at `end`, as much of it as goes into one WRITE. */
unsigned dirty_run_to(struct dirty_file *d, uint64_t end, struct dirty_extent *run[]);

void dirty_writing(struct dirty_file *d, struct dirty_extent *run[], unsigned n, uint64_t now);
/* got: when that was answered. unstable: they are to be kept, with that gen; else they go. */
void dirty_wrote(struct dirty_file *d, struct dirty_extent *run[], unsigned n, bool unstable,
	uint64_t gen, uint64_t got);
/* A COMMIT has made safe what was UNSTABLE with this gen or an earlier one. */
void dirty_committed(struct dirty_file *d, uint64_t gen);
/* The server may have lost what is UNSTABLE: it is NEW again. Another client was last seen to have
 * changed the file at `replaced` (0: never): extents whose WRITE was sent before that are given up,
 * for the server may have the other client's bytes in their place. */
void dirty_redo(struct dirty_file *d, uint64_t replaced);
/* Bytes in [off, off + len) (len UINT64_MAX: all behind off) that are UNSTABLE since `until` or
 * earlier are not the file's any more. */
void dirty_cut(struct dirty_file *d, uint64_t off, uint64_t len, uint64_t until);
/* The same of something that is about to be sent, now; and has been answered, and has changed these
 * bytes, of len 0 none. What was lost is to be written again where it has not. */
void dirty_cut_begin(struct dirty_file *d, struct dirty_cut *cut, uint64_t now);
void dirty_cut_end(struct dirty_file *d, struct dirty_cut *cut, uint64_t off, uint64_t len);
/* What `by` has written goes, but for what is WRITING. */
void dirty_forget(struct dirty_file *d, struct dirty_owner *by);

/* Is any byte of [off, off + len) NEW or WRITING? */
bool dirty_overlaps(struct dirty_file *d, uint64_t off, uint64_t len);

#endif
