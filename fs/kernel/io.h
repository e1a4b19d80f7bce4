/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * io: the state of a READ or WRITE (request_state()). One thread at a time has the request; the
 * lock of cached.c guards cache and waiting.
 */
#ifndef RNFS_FS_KERNEL_IO_H
#define RNFS_FS_KERNEL_IO_H

#include "cache/cache.h"
#include "fs/kernel/request.h"

struct io_state {
	uint64_t offset; /* in the file, of batch.data */
	int flags;	 /* of the descriptor, at the time of the request */
	int error;	 /* the first error of its parts */
	uint32_t took;	 /* bytes of a WRITE that were gathered */
	bool writepage;	 /* the kernel writes back mapped pages */
	bool asked;	 /* a READ: its parts are cut */
	unsigned again;	 /* how often the server was asked again */
	uint64_t sent;	 /* when the server was last asked, or since then a READ began anew */

	struct {		   /* of append.c: an append that lost its answer */
		uint64_t at;	   /* offset at which the data may stand */
		uint32_t compared; /* bytes of the data found there so far */
		bool ours;	   /* this append has written the found bytes */
		bool astray;	   /* counted in inode.append.astray */
	} append;

	struct {		/* of repeat.c: a READ that may have to be repeated */
		uint64_t held;	/* since when the request waits; 0: no wait */
		uint64_t since; /* the earliest time at which the kernel made the READ */
		uint64_t end;	/* where the file ends */
	} repeat;

	STAILQ_ENTRY(io_state) queue; /* of append.c or repeat.c, under its lock */

	/* of cached.c: a READ that waits for a cache block */
	struct cache_wait wait;
	TAILQ_ENTRY(io_state) waiting;
};

static inline struct io_state *io_of(const struct request *r)
{
	return request_state(r, struct io_state);
}

static inline struct request *request_of_io(struct io_state *io)
{
	return (struct request *)((char *)io - offsetof(struct request, state));
}

#endif
