/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mem: the pool of registered memory. All bytes of messages and payload live here, so that no byte
 * is copied or registered on the way to the wire.
 *
 * Memory comes in slabs. A slab is mapped once, given once to the attached registrar (a provider
 * that needs local registration: verbs), and cut into blocks of one size class. A block is a
 * `struct mem_buf`, counted by reference, 4096-byte aligned. The last unref returns a block to its
 * slab's free list. Slabs are kept for reuse; the pool's limit bounds their sum. mem_pool_trim()
 * gives unused slabs back to the system.
 *
 * Registration of a slab only makes it known to the local device. A peer gets access only by
 * expose() of a provider, per RPC.
 *
 * A pool may be *shared* with a successor of the daemon, for the case that the daemon is killed:
 * all slabs lie in one memory file (mem_file.h), and are present. The successor takes over the
 * file, and with it the blocks of which the former daemon has left notes (ledger.h). All other
 * memory of the file is free again.
 *
 * Registered memory may be scarce (RLIMIT_MEMLOCK). Then the registrar is sparing: it registers
 * only the slabs of mem_buf_get_registered(), up to a limit of their own. Receives are posted in
 * these slabs, and Sends leave from them. The provider registers all other memory for one RPC.
 */
#ifndef RNFS_TRANSPORT_MEM_H
#define RNFS_TRANSPORT_MEM_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/err.h"

struct mem_pool;

struct mem_slab {
	void *base;
	size_t len;
	uint32_t block; /* bytes of each of its blocks */
	void *reg;	/* the registrar's handle (struct ibv_mr *), NULL without one */
	bool needs_reg; /* constant: useless without registration */
};

/* A piece of memory to send from or receive into. slab may be NULL for memory from outside the pool
 * (static headers): the iwarp and tcp transports accept that, verbs answers -EINVAL. */
struct mem_sge {
	void *addr;
	uint32_t len;
	struct mem_slab *slab;
};

struct mem_buf {
	uint8_t *data;
	uint32_t size; /* usable bytes: at least the requested size */
	struct mem_slab *slab;
	/* the rest is mem_pool.c's */
	bool dry; /* free, and its memory has been given back to the system */
	struct mem_pool *pool;
	struct mem_buf *next;
	unsigned class;
	_Atomic int refs;
};

/* Registers memory with a device. Called with the pool's lock held: must not call back. */
struct mem_registrar {
	/* Returns 0 and sets slab->reg, or leaves it NULL where the slab can be used unregistered;
	 * or a negative errno (-ENOMEM: RLIMIT_MEMLOCK is too small). unreg is called only if reg
	 * was set. */
	int (*reg)(void *ctx, struct mem_slab *slab);
	void (*unreg)(void *ctx, struct mem_slab *slab);
	void *ctx;
	/* Not 0: the registrar is sparing, and the value is the most bytes of slabs that need
	 * registration. */
	size_t sparing;
	/* Sparing: the most bytes that all RPCs under way may have registered together. */
	size_t per_rpcs;
};

/* Sizes served as a class of their own; anything up to MEM_MAX_SIZE is rounded up to one. The
 * largest holds a 1 MiB FUSE request with its headers. */
#define MEM_MAX_SIZE ((1u << 20) + (64u << 10))

/* limit: most bytes of slabs (0: no limit). NULL when out of memory. */
struct mem_pool *mem_pool_new(size_t limit);
/* All buffers must be back. The memory file of a shared pool keeps all bytes while another
 * descriptor is open. Accepts NULL, returns NULL. */
struct mem_pool *mem_pool_free(struct mem_pool *pool);

/* A shared pool in a new memory file. NULL with *e set: no memory, or no memory files. */
struct mem_pool *mem_pool_new_shared(size_t limit, struct err *e);
/* The memory file, which stays the pool's. -1: the pool is not shared. */
int mem_pool_fd(const struct mem_pool *pool);

/* Where a block lies in the memory file, in a form that a successor can check. */
struct mem_place {
	uint64_t slab;	 /* offset of the block's slab */
	uint32_t size;	 /* of each block of the slab */
	uint32_t blocks; /* of the slab */
	uint32_t index;	 /* of the block in the slab */
};

/* False: the pool is not shared. */
bool mem_buf_place(const struct mem_buf *buf, struct mem_place *place);

/* A shared pool in the file fd of the former daemon, which has ended; fd stays the caller's. The n
 * blocks at `kept`, in any order, the same place perhaps several times, keep their bytes. The pool
 * holds these blocks until mem_pool_kept_end(). Another successor can take over the same blocks
 * until then. The limit grows if the kept blocks would leave no room. NULL with *e set: no memory,
 * or the places or the file make no sense. */
struct mem_pool *mem_pool_take_over(
	size_t limit, int fd, const struct mem_place *kept, uint32_t n, struct err *e);
/* A reference to a kept block. NULL: no block was kept at that place. Not beside
 * mem_pool_kept_end(). */
struct mem_buf *mem_pool_kept(struct mem_pool *pool, const struct mem_place *place);
/* Frees the kept blocks that have no reference from mem_pool_kept(). */
void mem_pool_kept_end(struct mem_pool *pool);

/* Registers all slabs, present and future, with r. At most one registrar; *r is copied. Returns 0,
 * -EBUSY (another is attached) or the registrar's error (then nothing is attached). */
int mem_pool_attach(struct mem_pool *pool, const struct mem_registrar *r);
/* Unregisters all slabs. The registrar's device must not be using them any more. */
void mem_pool_detach(struct mem_pool *pool);

/* Most bytes of slabs: the limit of mem_pool_new(). 0: no limit. */
size_t mem_pool_limit(struct mem_pool *pool);
/* How many bytes of registered memory a connection may set aside now, as one of conns connections
 * to one peer. conns + 1 such shares are all that there is, so the next connection can be made
 * while another ends. Where less than half a share is left, because connections to other peers have
 * the rest, half of it: the connection after that gets something, too. conns 0: one of an unknown
 * number, a quarter of the rest. SIZE_MAX: the registrar is not sparing. Any thread. */
size_t mem_pool_set_aside(struct mem_pool *pool, unsigned conns);
/* The most bytes that one RPC may have registered, if several are to be under way. SIZE_MAX: there
 * is no such limit. Any thread. */
size_t mem_pool_rpc_most(struct mem_pool *pool);
/* While on, the system gives no more memory than is written to: no huge pages, also in the existing
 * slabs. A shared pool never has huge pages. Any thread. */
void mem_pool_save(struct mem_pool *pool, bool on);
/* Gives unused memory back to the system: slabs without a used block, and the free blocks of other
 * slabs. The free blocks of a registered slab stay: the memory is the device's until the slab is
 * unregistered. A free block of a shared pool becomes present again when it is taken. Any
 * thread. */
void mem_pool_trim(struct mem_pool *pool);

/* A block of at least size bytes (1..MEM_MAX_SIZE) with one reference, contents undefined; NULL
 * when the limit is reached. Any thread. */
struct mem_buf *mem_buf_get(struct mem_pool *pool, size_t size);
/* The same in registered memory, if a registrar is attached. The pool's limit does not count. */
struct mem_buf *mem_buf_get_registered(struct mem_pool *pool, size_t size);
struct mem_buf *mem_buf_ref(struct mem_buf *buf);
/* Any thread. Accepts NULL, returns NULL. */
struct mem_buf *mem_buf_unref(struct mem_buf *buf);
/* Is there a reference besides the caller's? If not, no other can appear. */
bool mem_buf_is_shared(const struct mem_buf *buf);

static inline struct mem_sge mem_buf_sge(const struct mem_buf *buf, size_t off, uint32_t len)
{
	return (struct mem_sge){.addr = buf->data + off, .len = len, .slab = buf->slab};
}

/* The free bytes of the limit; SIZE_MAX if there is no limit. Cheap, any thread. */
size_t mem_pool_room(struct mem_pool *pool);
/* The most memory that one user may keep for a peer slow to take it, and no more than most: a
 * sixteenth of the room. So some room is left for any number of such peers. At least
 * MEM_SHARE_MIN. */
#define MEM_SHARE_MIN (256u << 10)
size_t mem_pool_share(struct mem_pool *pool, size_t most);
/* Is memory so short that still connections should be given up for others? */
bool mem_pool_is_short(struct mem_pool *pool);

struct mem_stats {
	size_t slab_bytes; /* mapped */
	size_t used_bytes; /* in blocks that are handed out */
	size_t limit;
	size_t failures; /* times mem_buf_get returned NULL */
};
/* Any thread; takes no lock, so the numbers need not be of one moment. */
void mem_pool_stats(struct mem_pool *pool, struct mem_stats *out);

#endif
