/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stats: what a mount has done so far, as one line.
 */
#ifndef RNFS_FS_STATS_H
#define RNFS_FS_STATS_H

#include <stddef.h>
#include <stdint.h>

#include "nfsproto/nfs_client.h"

struct stats { /* each member is counted atomically, without order */
	uint64_t ops[NFS_OP_TYPES];
	uint64_t errors[NFS_OP_TYPES]; /* of these, ended with an error (ENOENT of a LOOKUP too) */
	uint64_t requests;	       /* from the kernel */
	uint64_t read_bytes, write_bytes;
	uint64_t small_bytes; /* of these, WRITE data that went to a smaller block by a copy */
	uint64_t interrupts;  /* requests given up because their process was being killed */
	uint64_t starved;     /* times that a worker waited for memory */
};

static inline void stats_add(uint64_t *counter, uint64_t n)
{
	__atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

static inline uint64_t stats_get(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* What client and server have agreed upon, as a part of a sentence (terminated) in buf. */
void stats_negotiated(const struct nfs_client_info *i, char *buf, size_t size);

/* Writes the line (terminated, no newline) to buf. rpc and mem may be NULL. */
void stats_format(const struct stats *s, unsigned inodes, unsigned open_files,
	const struct rpc_client_stats *rpc, const struct mem_stats *mem, char *buf, size_t size);

#endif
