/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * seg: payload as a list of segments: the data of one item (of a READ, of a WRITE) in the order of
 * its bytes, wherever the bytes lie.
 *
 * A segment is a piece of memory of any address and length, with the pool's block that keeps the
 * memory alive. A list of one segment carries the segment inside. A list of several points to an
 * array of the caller's. The array must stay unchanged until the message is done. So a list is a
 * value: a user may copy it, and cut it without touching the array. XDR's rule of four bytes holds
 * for the item as a whole only, at its end; segments know nothing of the rule.
 *
 * A list holds no references. seg_list_ref() takes one on each block, for as long as another owner
 * may let go of the block; seg_list_unref() of the same list drops the references.
 *
 * Pure but for the references. A list is owned by one thread at a time; several lists may share an
 * array.
 */
#ifndef RNFS_TRANSPORT_RPC_SEG_H
#define RNFS_TRANSPORT_RPC_SEG_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "transport/mem.h"

/* Most segments of a list: pages of 4 KiB for the largest message, wherever it begins. */
#define SEG_LIST_MAX (MEM_MAX_SIZE / 4096 + 1)

struct seg {
	struct mem_sge at;
	struct mem_buf *hold; /* the block that keeps `at` alive; NULL: the owner of the memory
			       * keeps it */
};

struct seg_list {
	uint32_t len;	       /* bytes in all; segments behind them do not count */
	uint32_t n;	       /* segments; 0: empty */
	uint32_t skip;	       /* bytes at the head of the first one that do not belong to it */
	const struct seg *seg; /* n > 1: the segments */
	struct seg one;	       /* n == 1: the segment */
};

/* The same as an initialiser, of len bytes at addr outside all pools. */
#define SEG_LIST_MEM(addr_, len_)                                                                  \
	{                                                                                          \
		.len = (len_), .n = 1, .one = {.at = {.addr = (addr_), .len = (len_)} }            \
	}

/* A list of one segment, or of none if there are no bytes. */
static inline struct seg_list seg_list_of(struct mem_sge at, struct mem_buf *hold)
{
	return (struct seg_list){.len = at.len, .n = at.len != 0, .one = {.at = at, .hold = hold}};
}

/* len bytes at off of buf. */
static inline struct seg_list seg_list_of_buf(struct mem_buf *buf, size_t off, uint32_t len)
{
	return seg_list_of(mem_buf_sge(buf, off, len), buf);
}

/* A list of the n segments of an array; they may be of any length, 0 too. 0, or -E2BIG: more than
 * SEG_LIST_MAX segments or MEM_MAX_SIZE bytes. */
int seg_list_init(struct seg_list *l, const struct seg *seg, unsigned n);

/* The bytes [off, off + len) of l; less if l has less. */
struct seg_list seg_list_cut(const struct seg_list *l, uint32_t off, uint32_t len);

/* Do both begin at the same byte of memory? */
bool seg_list_same(const struct seg_list *a, const struct seg_list *b);

/* Takes one reference on each block, one for several segments in a row in the same block; and drops
 * them. Any thread. */
void seg_list_ref(const struct seg_list *l);
void seg_list_unref(const struct seg_list *l);
/* The blocks of l, once for each row of segments in the same block: as seg_list_unref() would drop
 * them. At most SEG_LIST_MAX. Returns how many. */
unsigned seg_list_holds(const struct seg_list *l, struct mem_buf **hold);

/* Bytes of those blocks: at least the bytes of l, if each segment has a block. */
size_t seg_list_kept(const struct seg_list *l);

/* --- walking ---------------------------------------------------------------------------------- */

struct seg_iter {
	const struct seg_list *l;
	uint32_t i;    /* the segment that comes next ... */
	uint32_t off;  /* ... and the bytes already taken of the segment */
	uint32_t left; /* bytes of the list not taken yet */
};

static inline struct seg_iter seg_iter_of(const struct seg_list *l)
{
	return (struct seg_iter){.l = l, .off = l->skip, .left = l->len};
}

/* The next bytes that lie in one piece, at most max, in *at; *hold: their block (may be NULL).
 * False at the end. */
bool seg_next(struct seg_iter *it, uint32_t max, struct mem_sge *at, struct mem_buf **hold);
/* As seg_next(), but neighbours that continue each other in the same slab come as one, of at most
 * max bytes (1 or more). */
bool seg_next_joined(struct seg_iter *it, uint32_t max, struct mem_sge *at);
/* How many times seg_next_joined() returns true. */
unsigned seg_list_count_joined(const struct seg_list *l, uint32_t max);
/* The rest of the list as iovecs, at most max of them. Returns how many. The iterator does not
 * move. */
unsigned seg_iter_iov(struct seg_iter it, struct iovec *iov, unsigned max);
/* Passes over the next n bytes. */
void seg_iter_skip(struct seg_iter *it, uint32_t n);

/* Copies the next n bytes (no more than there are) from src. */
void seg_iter_put(struct seg_iter *it, const void *src, uint32_t n);
void seg_iter_zero(struct seg_iter *it, uint32_t n);
/* Copies the bytes of l to dst, which has room for l->len. */
void seg_list_gather(const struct seg_list *l, void *dst);
/* Copies the bytes of src to the beginning of dst, which is no shorter. */
void seg_list_copy(const struct seg_list *dst, const struct seg_list *src);

#endif
