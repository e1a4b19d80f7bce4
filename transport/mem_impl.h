/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mem_impl: declarations shared by the files of mem.h. Each calls only those below:
 *
 *     mem_kept.c  pools that a successor takes over
 *     mem_pool.c  pools, slabs and blocks
 */
#ifndef RNFS_TRANSPORT_MEM_IMPL_H
#define RNFS_TRANSPORT_MEM_IMPL_H

#include <sys/queue.h>

#include "transport/lock.h"
#include "transport/mem.h"
#include "transport/mem_file.h"

#define MEM_SIZES    14u	/* sizes of blocks */
#define MEM_SLAB_MAX (8u << 20) /* bytes of a slab with several blocks */
#define MEM_CLASSES                                                                                \
	(2 * MEM_SIZES) /* class i + MEM_SIZES: the same size, needs to be registered              \
			 */

extern const uint32_t mem_class_size[MEM_SIZES];

struct slab {
	struct mem_slab pub; /* first: mem_buf.slab points here */
	unsigned class;
	unsigned used, nblocks; /* class->lock */
	struct mem_buf *free;	/* class->lock; linked by next */
	bool listed;		/* class->lock: on class->avail */
	TAILQ_ENTRY(slab) avail;
	TAILQ_ENTRY(slab) all; /* pool->lock */
	struct mem_buf buf[];
};

TAILQ_HEAD(slab_list, slab);

struct class
{
	_Alignas(64) struct mutex lock;
	struct slab_list avail GUARDED_BY(lock);
	size_t used GUARDED_BY(lock);	 /* blocks handed out */
	size_t nblocks GUARDED_BY(lock); /* blocks in all slabs of the class */
};

struct mem_pool {
	struct mutex lock;
	struct slab_list all GUARDED_BY(lock);
	_Atomic size_t slab_bytes;	   /* changed under lock */
	size_t needs_reg GUARDED_BY(lock); /* of slab_bytes, of slabs that need to be registered */
	size_t limit;			   /* constant */
	struct mem_file *file;		   /* constant; NULL: the pool is not shared */
	/* mem_pool_take_over(): blocks with data of the former daemon, in the order of the file.
	 * Constant until mem_pool_kept_end(). */
	struct mem_buf **kept;
	uint32_t nkept;
	_Atomic size_t failures;
	/* bytes in blocks that are handed out: what the limit counts, and blocks that need to be
	 * registered */
	_Atomic size_t used, used_reg;
	bool attached GUARDED_BY(lock);
	bool saves GUARDED_BY(lock); /* mem_pool_save() */
	bool ends GUARDED_BY(lock);  /* the file keeps its bytes, perhaps for a successor */
	struct mem_registrar reg;
	_Atomic size_t sparing, per_rpcs; /* reg's, 0 without one; changed under lock */
	struct class class[MEM_CLASSES];
};

/* A new slab, known to the registrar, on no class list yet. base: its memory, or NULL for fresh
 * memory. NULL: no memory. */
struct slab *mem_slab_new_locked(
	struct mem_pool *pool, unsigned class, unsigned nblocks, void *base) REQUIRES(pool->lock);
/* Gives b, which is on no list, to a first user. */
struct mem_buf *mem_block_hand_out(struct mem_buf *b);

#endif
