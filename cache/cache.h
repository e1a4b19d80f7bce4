/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cache: file data in blocks of registered memory.
 *
 * A cache block holds the bytes of one file from a multiple of CACHE_BLOCK on, or a piece of them
 * for a reader who wants no more. READ data lands in it and the kernel is answered from it: nothing
 * is copied. A block has one of these states:
 *
 *     absent    there is none
 *     READING   a READ is under way that will fill it; who wants its bytes waits for that
 *     VALID     its first len bytes are the file's; eof: the file ended there
 *
 * What brings it from one to the next:
 *
 *     cache_reserve()   absent -> READING, for somebody who then sends the READ and calls
 *     cache_filled()    READING -> VALID; -> absent, if the file ended before it, if the READ has
 *                       failed, or if the file ended in it and anything of the file was dropped
 *                       meanwhile: a change elsewhere may have moved its end
 *     cache_drop()      VALID -> absent: what it held may be wrong. READING -> absent for all who
 *                       look from now on: what the READ brings, before or after a change, is thrown
 *                       away when it comes.
 *     (eviction)        VALID -> absent: memory is wanted for other blocks
 *
 * Which data may be believed is not decided here: whoever learns of a change drops (fs/change.c).
 *
 * Eviction. VALID blocks of all files stand in a ring. Its hand passes over a block as often as the
 * block has chances: two while the kernel has not got all of it, for it was read ahead to be read
 * once; none when it has, for then it stands in the kernel's own cache; one if the kernel came back
 * for it all the same. So what is read once from end to end makes room for itself.
 *
 * Locks. cache_file.lock guards the file's blocks and who waits for them; cache.lock, which is
 * taken after it, the ring. The hand goes the other way round, and passes over blocks of a file
 * whose lock it does not get at once. No callback runs with one of them held.
 */
#ifndef RNFS_CACHE_CACHE_H
#define RNFS_CACHE_CACHE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "transport/rpc/seg.h"

#define CACHE_BLOCK (128u << 10)
/* Blocks that the largest request may touch. */
#define CACHE_HIT_MAX (MEM_MAX_SIZE / CACHE_BLOCK + 2)

struct cache_wait;
struct cache_file;

enum cache_state { CACHE_READING, CACHE_VALID };

struct cache_block {
	struct cache_file *file; /* constant */
	uint64_t index;		 /* constant: of CACHE_BLOCK bytes */
	/* Constant once it is VALID: CACHE_BLOCK bytes, or less at the end of the file, which begin
	 * `at` bytes behind the beginning of buf. */
	struct mem_buf *buf;
	uint32_t at;
	uint32_t in;	/* constant: where in the block they begin; a multiple of 4096 */
	uint32_t cap;	/* constant: how many bytes are to be read */
	bool piece;	/* constant: in place of all of the block */
	unsigned drops; /* constant: file->drops when it was made */
	/* file->lock */
	enum cache_state state;
	bool dropped; /* READING: not the file's any more */
	bool eof;
	uint32_t len;
	uint32_t given; /* bytes that the kernel was given */
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
	atomic_uint count;    /* blocks, READING ones included; changed under lock */
	atomic_uint drops;    /* calls of cache_drop() so far */
	pthread_mutex_t lock; /* what follows */
	struct cache *cache;  /* NULL until there was a block */
	unsigned nchains;     /* a power of two, or 0 */
	struct cache_chain *chains;
	struct cache_chain ends; /* blocks that end with the file, as far as is known */
};

typedef _Atomic uint64_t cache_counter;

struct cache_stats {
	cache_counter hits;    /* requests answered from VALID blocks at once */
	cache_counter joined;  /* times that one waited for a READ under way */
	cache_counter misses;  /* requests of which a block was absent */
	cache_counter fetches; /* READs into blocks */
	cache_counter evicted; /* blocks */
	cache_counter wasted;  /* of evicted: those that nobody had read */
	cache_counter dropped; /* blocks */
};

struct cache;

/* Blocks of pool's memory, limit bytes of it at most; 0: no block is ever made. NULL when out of
 * memory. */
struct cache *cache_new(struct mem_pool *pool, size_t limit);
/* No file may have a block. Accepts NULL, returns NULL. */
struct cache *cache_free(struct cache *c);
struct cache_stats *cache_stats(struct cache *c);
/* Bytes of all blocks, and how many there may be. */
size_t cache_bytes(const struct cache *c);
size_t cache_limit(const struct cache *c);
/* From now on it is another limit: blocks are evicted until no more are left, but for those that
 * are READING and those of a file whose lock somebody has. A cache that was made with 0 is left as
 * it is. */
void cache_set_limit(struct cache *c, size_t limit);

void cache_file_init(struct cache_file *f);
/* No READ may be under way into a block of it. */
void cache_file_finish(struct cache_file *f);

/* --- looking ---------------------------------------------------------------------------------- */

enum cache_found {
	CACHE_HIT,     /* all of it is there */
	CACHE_PENDING, /* the first of it that is not VALID is READING */
	CACHE_MISS,    /* ... is absent */
};

/* What was found: a list of segments over seg[], with a reference on each block's memory. It ends
 * early where the file does. */
struct cache_hit {
	struct seg_list data;
	struct seg seg[CACHE_HIT_MAX];
	unsigned n;
};

/* Somebody who waits for a READ. ready() is called once, on the thread that saw its end or that of
 * the block; then he looks again. */
struct cache_wait {
	void (*ready)(struct cache_wait *w);
	struct cache_block *block; /* the file's lock; NULL: does not wait */
	TAILQ_ENTRY(cache_wait) link;
};

/* Looks for len bytes (1..MEM_MAX_SIZE) at off. A hit must be ended by cache_hit_end(). PENDING: w,
 * if it is not NULL, waits; ready() may be called before this returns. */
enum cache_found cache_find(struct cache_file *f, uint64_t off, uint32_t len, struct cache_hit *hit,
	struct cache_wait *w);
void cache_hit_end(struct cache_hit *hit);
/* w is not to wait any more. False: it does not, ready() has been called or is about to be. */
bool cache_unwait(struct cache_file *f, struct cache_wait *w);

/* --- filling ---------------------------------------------------------------------------------- */

/* Makes blocks, READING, for the first run of absent ones in [off, end), at most max of them. The
 * last one is not made larger than the file, of which size bytes are known, needs. *at: where in
 * the file the run begins. Returns how many, 0: none is absent, or there is no memory. They are the
 * caller's until cache_filled(). */
unsigned cache_reserve(struct cache *c, struct cache_file *f, uint64_t off, uint64_t end,
	uint64_t size, struct cache_block **b, unsigned max, uint64_t *at);
/* The same for [off, end) alone, in whole pages: the first and the last block are pieces. *at:
 * where the data of the first one begins. cache_reserve() puts a whole block in the place of a
 * piece; this puts another piece there, if the kernel has got the first. */
unsigned cache_reserve_piece(struct cache *c, struct cache_file *f, uint64_t off, uint64_t end,
	uint64_t size, struct cache_block **b, unsigned max, uint64_t *at);
/* The READ into a run of n blocks has brought got bytes from its beginning, and the file ended
 * there (eof) or not. got 0 without eof: it has failed. Calls ready() of those who wait. */
void cache_filled(struct cache_file *f, struct cache_block **b, unsigned n, uint64_t got, bool eof);
/* The READ into a block, of the run or alone, has brought its data in another place, `to`, one
 * segment: from now on that is the block's. To be called before cache_filled(). Takes a reference
 * of its own. False: the block to lies in is so much larger than that, that it had better be
 * copied.
 */
bool cache_move(struct cache_block *b, const struct seg_list *to);
/* The first bytes of a file have come in buf, otherwise than by a READ into a block, and were asked
 * for when f->drops was `drops`: they become a block, unless there is one, they may be out of date,
 * or buf is not of the size that a block of a file of size bytes has (cache_first()). got and eof
 * as above. Takes a reference of its own on buf. */
void cache_give(struct cache *c, struct cache_file *f, struct mem_buf *buf, uint64_t size,
	unsigned drops, uint32_t got, bool eof);
/* How many bytes of a file of size bytes its first block holds. */
uint32_t cache_first(uint64_t size);
/* The bytes [off, off + len) have changed, or may have: len UINT64_MAX: all behind off. A block
 * that ends with the file goes too, for the file may be longer now. */
void cache_drop(struct cache_file *f, uint64_t off, uint64_t len);
static inline void cache_drop_all(struct cache_file *f)
{
	cache_drop(f, 0, UINT64_MAX);
}

#endif
