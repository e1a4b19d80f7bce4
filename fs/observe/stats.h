/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stats: counters of a mount, a snapshot of all of them, and the snapshot as one line.
 */
#ifndef RNFS_FS_OBSERVE_STATS_H
#define RNFS_FS_OBSERVE_STATS_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "nfsproto/nfs_client.h"
#include "transport/rpc/rpc_paths.h"

typedef _Atomic uint64_t stats_counter;

struct stats {
	stats_counter ops[NFS_OP_TYPES];
	stats_counter errors[NFS_OP_TYPES]; /* of ops, ended with an error (LOOKUP's ENOENT too) */
	stats_counter requests;		    /* from the kernel, and the daemon's own */
	stats_counter read_bytes, write_bytes;
	/* of write_bytes, data that was copied, into gathered data or to a smaller block */
	stats_counter small_bytes;
	stats_counter interrupts;  /* requests given up because their process was being killed */
	stats_counter starved;	   /* times that a worker waited for memory */
	stats_counter local_opens; /* opens of delegated files without asking the server */
	stats_counter foreign;	   /* changes by other clients, seen in answers about data */
};

static inline void stats_add(stats_counter *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static inline uint64_t stats_get(const stats_counter *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

/* Writes the terms that client and server have agreed on to buf, as a part of a sentence
 * (terminated). */
void stats_negotiated(const struct nfs_client_info *i, char *buf, size_t size);

/* One connection of a mount. */
struct stats_path {
	struct rpc_client_info info;
	struct rpc_client_stats rpc;
};

/* All counters of a mount. fs_snapshot() fills it; together the counters need not be of one moment.
 */
struct stats_snapshot {
	uint64_t ops[NFS_OP_TYPES],
		errors[NFS_OP_TYPES]; /* this and the next lines: struct stats */
	uint64_t requests, read_bytes, write_bytes, small_bytes;
	uint64_t interrupts, starved, local_opens, foreign;
	unsigned inodes, open_files;
	struct nfs_client_info info;
	struct rpc_client_stats rpc;
	struct stats_path path[RPC_PATHS_MAX];
	unsigned paths, paths_up;
	struct mem_stats mem;
	struct {
		size_t used, limit; /* bytes */
		uint64_t hits, joined, misses, fetches, evicted, wasted, dropped;
	} cache;
	struct {
		size_t used; /* bytes */
		uint64_t gathered, taken, writes, commits, rewritten, full;
	} written;
};

/* Copies the counters of s, the first part of a snapshot. */
void stats_read(const struct stats *s, struct stats_snapshot *to);
/* Writes the line (terminated, no newline) to buf. */
void stats_format(const struct stats_snapshot *s, char *buf, size_t size);
/* The same for the connection number i, below s->paths. */
void stats_format_path(const struct stats_snapshot *s, unsigned i, char *buf, size_t size);

#endif
