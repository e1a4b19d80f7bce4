/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dirty: data that was written to a file and may not be safe on the server yet, as extents of
 * bytes.
 *
 * No two extents overlap. Each has one of these states:
 *
 *     NEW       write(2) was answered; no WRITE was sent. Bytes may be added or overwritten.
 *     WRITING   a WRITE in flight reads the extent's memory: no thread may change the bytes
 *     UNSTABLE  the server has the data, and may lose the data in a restart before a COMMIT. The
 *               extent is kept, to be written again.
 *
 * Transitions:
 *
 *     dirty_put(), dirty_take()   -> NEW. UNSTABLE bytes in the same place are dropped.
 *     dirty_writing()             NEW -> WRITING
 *     dirty_wrote()               WRITING -> UNSTABLE; -> gone, if the server has put the data on
 *                                 stable storage, or the WRITE has failed
 *     dirty_committed()           UNSTABLE -> gone
 *     dirty_redo()                UNSTABLE -> NEW: the server has restarted; -> gone, if another
 *                                 client may have replaced the data
 *     dirty_cut(), dirty_forget(), dirty_give_up() -> gone
 *
 * Cuts. A truncation or a direct write changes bytes by other means. The server may execute such an
 * operation after the WRITE of data that was UNSTABLE when the operation was sent. Then that data
 * must not be written again over the result. Data that became UNSTABLE later may have been written
 * after the operation, and is kept. The effect on the earlier data is unknown until the answer
 * comes (dirty_cut_begin(), dirty_cut_end()). If the server restarts before the answer, the earlier
 * data stays UNSTABLE and is marked *lost*.
 *
 * Small writes are gathered. An extent has room behind its bytes for the following writes. The
 * longer the stream of writes, the larger the room. Extents end at multiples of DIRTY_RUN, as do
 * the WRITEs of a stream.
 *
 * With a ledger, each extent has a note for a successor of the daemon (dirty_note.h).
 *
 * The lock of the dirty_file's owner (cache/writeback.h) guards everything here, except
 * dirty_bytes().
 */
#ifndef RNFS_CACHE_DIRTY_H
#define RNFS_CACHE_DIRTY_H

#include <bsd/sys/tree.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "transport/ledger.h"
#include "transport/mem.h"

#define DIRTY_RUN (1u << 20) /* most bytes of one WRITE */
/* Most extents of a run. */
#define DIRTY_RUN_EXTENTS 64u

enum dirty_state { DIRTY_NEW, DIRTY_WRITING, DIRTY_UNSTABLE, DIRTY_STATES };

/* A writer: an open file description. No extent has bytes of two writers. */
struct dirty_owner {
	unsigned extents; /* its extents */
	uint64_t number;  /* names the writer in notes */
};

/* A block of memory that holds one or more extents. */
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
	uint32_t len, room; /* room: len and the bytes that may be added */
	uint32_t before;    /* bytes of the same stream in front of the extent */
	enum dirty_state state;
	bool lost;     /* UNSTABLE: the server restarted while a cut was in flight */
	uint64_t sent; /* WRITING, UNSTABLE: when the WRITE was sent */
	/* WRITING, UNSTABLE: the number of the byte-range lock that covered the extent's bytes at
	 * the WRITE (nfs_lock_guard()). 0: no lock, or the lock was no longer held at
	 * dirty_redo(). */
	uint64_t guard;
	uint64_t gen, got; /* UNSTABLE: gen of the WRITE (filedata.h), and when its answer came */
	struct note note;
	SLIST_ENTRY(dirty_extent) given_up;
};

/* An operation in flight that changes bytes by other means. */
struct dirty_cut {
	uint64_t since;
	LIST_ENTRY(dirty_cut) link;
};

RB_HEAD(dirty_tree, dirty_extent);

/* Memory for blocks. get: size bytes or more; NULL: none now. */
struct dirty_memory {
	struct mem_buf *(*get)(void *ctx, size_t size);
	void (*put)(void *ctx, struct mem_buf *buf);
	void *ctx;
};

struct dirty_file {
	const struct dirty_memory *memory;
	struct dirty_tree tree;
	LIST_HEAD(, dirty_cut) cuts;
	unsigned lost;	   /* number of extents marked lost */
	uint64_t replaced; /* as of the last dirty_redo() */
	/* Bytes that dirty_redo() or dirty_cut_end() gave up because another client may have
	 * replaced the bytes, and their extents, until dirty_gave_up(). */
	uint64_t given_up;
	SLIST_HEAD(, dirty_extent) gone;
	_Atomic uint64_t bytes[DIRTY_STATES]; /* of the extents in each state */
	_Atomic uint64_t end;  /* the end in the file of the last NEW or WRITING byte, or an offset
				  behind that end */
	struct ledger *ledger; /* of the notes; NULL: none */
	uint64_t id;	       /* names the file in notes */
};

void dirty_init(struct dirty_file *d, const struct dirty_memory *memory);
/* d may have no extents. */
void dirty_finish(struct dirty_file *d);

/* Any thread, without the lock. */
static inline uint64_t dirty_bytes(const struct dirty_file *d, enum dirty_state state)
{
	return atomic_load_explicit(&d->bytes[state], memory_order_acquire);
}

enum dirty_put {
	DIRTY_DONE,
	DIRTY_BUSY, /* an extent in the way must be written first */
	DIRTY_FULL, /* no memory */
};

/* Copies len bytes that `by` writes at off. *took: how many bytes were copied, from the first on;
 * all of them only if DONE. */
enum dirty_put dirty_put(struct dirty_file *d, struct dirty_owner *by, uint64_t off,
	const uint8_t *data, uint32_t len, uint32_t *took);
/* Takes over len bytes without copying. The bytes lie at `at` of buf, a buffer from memory->get().
 * DONE: buf belongs to d. Otherwise nothing was done. */
enum dirty_put dirty_take(struct dirty_file *d, struct dirty_owner *by, uint64_t off,
	struct mem_buf *buf, uint32_t at, uint32_t len);

/* Finds the first run of NEW extents at or behind *from that fits one WRITE: one writer, no gap, at
 * most DIRTY_RUN bytes. Sets *from to the end of the run. Returns the number of extents; 0: no
 * run. */
unsigned dirty_run(struct dirty_file *d, uint64_t *from, struct dirty_extent *run[]);
/* Finds the run that ends at `end`, or the last part of the run that fits one WRITE. */
unsigned dirty_run_to(struct dirty_file *d, uint64_t end, struct dirty_extent *run[]);

/* guard: as in struct dirty_extent. */
void dirty_writing(
	struct dirty_file *d, struct dirty_extent *run[], unsigned n, uint64_t now, uint64_t guard);
/* The WRITE was answered at `got`. unstable: the extents become UNSTABLE with gen; otherwise the
 * extents are dropped. */
void dirty_wrote(struct dirty_file *d, struct dirty_extent *run[], unsigned n, bool unstable,
	uint64_t gen, uint64_t got);
/* A COMMIT has succeeded. Drops the UNSTABLE extents with this gen or an earlier one. */
void dirty_committed(struct dirty_file *d, uint64_t gen);
/* The server may have lost the UNSTABLE data, which becomes NEW. replaced: when another client was
 * last seen to have changed the file (0: never). Extents sent by a WRITE before `replaced` are
 * dropped: the server may have the other client's bytes in their place. But an extent stays if the
 * lock on its bytes was held all the time. guard() is nfs_lock_guard() of the bytes, and returns
 * the same number as at the WRITE in that case. */
void dirty_redo(struct dirty_file *d, uint64_t replaced,
	uint64_t (*guard)(const struct dirty_owner *by, uint64_t off, uint64_t len));
/* The loss of the d->given_up bytes was noted. Frees their extents. */
void dirty_gave_up(struct dirty_file *d);
/* Drops bytes in [off, off + len) (len UINT64_MAX: all behind off) that became UNSTABLE at `until`
 * or earlier. */
void dirty_cut(struct dirty_file *d, uint64_t off, uint64_t len, uint64_t until);
/* dirty_cut_begin(): an operation that changes bytes by other means is about to be sent, at `now`.
 * dirty_cut_end(): the operation was answered and has changed [off, off + len); len 0: no bytes.
 * The rest of the lost extents go on as in dirty_redo(). */
void dirty_cut_begin(struct dirty_file *d, struct dirty_cut *cut, uint64_t now);
void dirty_cut_end(struct dirty_file *d, struct dirty_cut *cut, uint64_t off, uint64_t len);
/* Drops the extents of `by` that are not WRITING. */
void dirty_forget(struct dirty_file *d, struct dirty_owner *by);

/* Drops the UNSTABLE extents of `by` with this gen or an earlier one. */
void dirty_give_up(struct dirty_file *d, struct dirty_owner *by, uint64_t gen);

/* Is any byte of [off, off + len) NEW or WRITING? */
bool dirty_overlaps(struct dirty_file *d, uint64_t off, uint64_t len);
/* Is any byte of [off, off + len) UNSTABLE by a WRITE that was sent at `until` or earlier? */
bool dirty_unstable_since(struct dirty_file *d, uint64_t off, uint64_t len, uint64_t until);
/* The end of the last extent of the file that is UNSTABLE by a WRITE sent at `until` or earlier; 0:
 * none. */
uint64_t dirty_unstable_end(struct dirty_file *d, uint64_t until);

/* A successor takes over extents. dirty_mem_begin(): a block of the former daemon from
 * memory->get() or counted like one; NULL: out of memory. dirty_former(): adds the bytes of `like`
 * that lie in the place of no extent, with like->mem. False: out of memory; a part may have been
 * added. dirty_mem_end(): all extents of mem were added. */
struct dirty_mem *dirty_mem_begin(struct mem_buf *buf);
bool dirty_former(struct dirty_file *d, const struct dirty_extent *like);
void dirty_mem_end(struct dirty_file *d, struct dirty_mem *mem);

#endif
