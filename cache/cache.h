/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cache: file data in blocks of registered memory.
 *
 * A cache block holds bytes of one file from a multiple of CACHE_BLOCK on, or a piece of a block
 * for a reader that wants no more. READ data lands in the block, and the daemon answers the kernel
 * from there without a copy. A block has one of these states:
 *
 *     absent    there is no block
 *     READING   a READ in flight will fill the block; readers of the block's bytes wait
 *     VALID     the first len bytes are the file's; eof: the file ended there
 *
 * Transitions:
 *
 *     cache_reserve()   absent -> READING. The caller then sends the READ and calls cache_filled().
 *     cache_filled()    READING -> VALID. READING -> absent if the READ has failed, or if the file
 *                       ended before the block. READING -> absent, too, if the file ended in the
 *                       block and any data of the file was dropped during the READ: another client
 *                       may have moved the end.
 *     cache_drop()      VALID -> absent: the bytes may be stale. READING -> absent for all later
 *                       readers. The READ may bring data from before or after the change, so
 *                       cache_filled() discards that data.
 *     (eviction)        VALID -> absent: other blocks need the memory
 *
 * This module does not decide which data is right: the thread that learns of a change drops the
 * data (fs/coherence/change.c).
 *
 * Eviction. VALID blocks of all files stand in a ring. A hand goes round, and passes over a block
 * as often as the block has chances. A block that the kernel has not fully read has two chances:
 * the block was read ahead, to be read once. A block that the kernel has fully read has none: the
 * kernel has the data in the page cache. Such a block gets one chance if the kernel reads the block
 * again all the same. So a file that is read once from end to end makes room for itself.
 *
 * Locks. cache_file.lock guards the file's blocks and their waits. cache.lock guards the ring; a
 * thread takes cache.lock after cache_file.lock. The hand needs the opposite order, so the hand
 * only tries the lock of a file, and passes over the file's blocks if the lock is taken. No
 * callback runs with either lock held.
 */
#ifndef RNFS_CACHE_CACHE_H
#define RNFS_CACHE_CACHE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "transport/lock.h"
#include "transport/rpc/seg.h"

#define CACHE_BLOCK (128u << 10)
/* Most blocks that a request touches. */
#define CACHE_HIT_MAX (MEM_MAX_SIZE / CACHE_BLOCK + 2)

struct cache_wait;
struct cache_file;

enum cache_state { CACHE_READING, CACHE_VALID };

struct cache_block {
	struct cache_file *file; /* constant */
	uint64_t index;		 /* constant: in blocks */
	/* Constant once VALID: buf holds the block's bytes from offset `at` of buf on. */
	struct mem_buf *buf;
	uint32_t at;
	uint32_t in;  /* constant: where in the block the bytes of buf begin; a multiple of 4096 */
	uint32_t cap; /* constant: bytes to read */
	bool piece;   /* constant: not the whole block */
	unsigned drops; /* constant: file->drops when the block was made */
	/* file->lock */
	enum cache_state state;
	bool dropped; /* READING: dropped from the file */
	bool eof;
	uint32_t len;
	uint32_t given; /* bytes that the kernel has read */
	LIST_ENTRY(cache_block) chain;
	LIST_ENTRY(cache_block) end; /* in file->ends, if at_end */
	bool at_end;
	TAILQ_HEAD(, cache_wait) waits;
	/* cache.lock */
	TAILQ_ENTRY(cache_block) ring;
	atomic_uint chances; /* set under either lock */
};

LIST_HEAD(cache_chain, cache_block);

/* The blocks of one file. */
struct cache_file {
	atomic_uint count;   /* blocks, READING ones included; changed under lock */
	atomic_uint drops;   /* calls of cache_drop() */
	struct mutex lock;   /* taken before cache.lock; guards the blocks, too */
	struct cache *cache; /* constant once there was a block; NULL before; set under lock */
	unsigned nchains GUARDED_BY(lock); /* a power of two, or 0 */
	struct cache_chain *chains GUARDED_BY(lock);
	/* blocks that end with the file, as far as is known */
	struct cache_chain ends GUARDED_BY(lock);
};

typedef _Atomic uint64_t cache_counter;

struct cache_stats {
	cache_counter hits;    /* requests answered from VALID blocks at once */
	cache_counter joined;  /* times that a request waited for a READ in flight */
	cache_counter misses;  /* requests with an absent block */
	cache_counter fetches; /* READs into blocks */
	cache_counter evicted; /* blocks */
	cache_counter wasted;  /* of evicted: blocks that no request had read */
	cache_counter dropped; /* blocks */
};

struct cache;

/* Blocks from pool, limit bytes of them at most; 0: no block is ever made. NULL when out of
 * memory. */
struct cache *cache_new(struct mem_pool *pool, size_t limit);
/* No file may have a block. Accepts NULL, returns NULL. */
struct cache *cache_free(struct cache *c);
struct cache_stats *cache_stats(struct cache *c);
/* The bytes of all blocks, and their limit. */
size_t cache_bytes(const struct cache *c);
size_t cache_limit(const struct cache *c);
/* Sets another limit, and evicts blocks until the bytes in use are within the limit. READING blocks
 * stay, and so do blocks of files with a taken lock. No effect on a cache made with limit 0. */
void cache_set_limit(struct cache *c, size_t limit);

void cache_file_init(struct cache_file *f);
/* No READ into a block of f may be in flight. */
void cache_file_finish(struct cache_file *f);

/* --- looking ---------------------------------------------------------------------------------- */

enum cache_found {
	CACHE_HIT,     /* all bytes are there */
	CACHE_PENDING, /* the first block that is not VALID is READING */
	CACHE_MISS,    /* the first block that is not VALID is absent */
};

/* Data found: segments over seg[], with a reference on each block's memory. The segments end early
 * where the file ends. */
struct cache_hit {
	struct seg_list data;
	struct seg seg[CACHE_HIT_MAX];
	unsigned n;
};

/* A reader's wait for a READ in flight. ready() is called once, on the thread that saw the end of
 * the READ or of the block. Then the reader calls cache_find() again. */
struct cache_wait {
	void (*ready)(struct cache_wait *w);
	struct cache_block *block; /* the file's lock; NULL: does not wait */
	TAILQ_ENTRY(cache_wait) link;
};

/* Looks for len bytes (1..MEM_MAX_SIZE) at off. After a hit, call cache_hit_end(). PENDING: w,
 * unless NULL, waits; ready() may be called before this function returns. */
enum cache_found cache_find(struct cache_file *f, uint64_t off, uint32_t len, struct cache_hit *hit,
	struct cache_wait *w);
void cache_hit_end(struct cache_hit *hit);
/* Ends the wait of w. False: w does not wait; ready() has been called or is about to be. */
bool cache_unwait(struct cache_file *f, struct cache_wait *w);

/* --- filling ---------------------------------------------------------------------------------- */

/* Makes READING blocks for the first run of absent blocks in [off, end), at most max blocks. The
 * last block is no larger than a file of size bytes needs. *at: where in the file the run begins.
 * Returns the number of blocks; 0: no block is absent, or no memory. The caller owns the blocks
 * until cache_filled(). */
unsigned cache_reserve(struct cache *c, struct cache_file *f, uint64_t off, uint64_t end,
	uint64_t size, struct cache_block **b, unsigned max, uint64_t *at);
/* cache_reserve() for [off, end) alone, in whole pages: the first and the last block are pieces.
 * *at: where the data of the first block begins. cache_reserve() replaces a piece by a whole block.
 * This function replaces a piece that the kernel has fully read by another piece. */
unsigned cache_reserve_piece(struct cache *c, struct cache_file *f, uint64_t off, uint64_t end,
	uint64_t size, struct cache_block **b, unsigned max, uint64_t *at);
/* The READ into a run of n blocks has brought got bytes from the beginning of the run. eof: the
 * file ended behind those bytes. got 0 without eof: the READ has failed. Calls ready() of the
 * waits. */
void cache_filled(struct cache_file *f, struct cache_block **b, unsigned n, uint64_t got, bool eof);
/* The READ into a block, alone or in a run, has brought the block's data in another place: `to`,
 * one segment. The block takes its own reference on the buffer around `to`, and frees its old
 * memory. Call before cache_filled(). False: the buffer is so much larger than `to` that copying is
 * better. */
bool cache_move(struct cache_block *b, const struct seg_list *to);
/* The first bytes of a file have come in buf, but not by a READ into a block. drops: f->drops when
 * the bytes were asked for. The bytes become the file's first block, unless the block exists, or
 * f->drops has changed, or buf has another size than the first block of a file of size bytes
 * (cache_first()). got and eof as in cache_filled(). Takes its own reference on buf. */
void cache_give(struct cache *c, struct cache_file *f, struct mem_buf *buf, uint64_t size,
	unsigned drops, uint32_t got, bool eof);
/* How many bytes the first block of a file of size bytes holds. */
uint32_t cache_first(uint64_t size);
/* The bytes [off, off + len) (len UINT64_MAX: all behind off) may have changed: drops their blocks.
 * Also drops blocks that end with the file, for the file may be longer now. */
void cache_drop(struct cache_file *f, uint64_t off, uint64_t len);
static inline void cache_drop_all(struct cache_file *f)
{
	cache_drop(f, 0, UINT64_MAX);
}

#endif
