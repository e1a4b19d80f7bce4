/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_count: how many operations a mount has sent to the server, and how long they took.
 *
 * An operation counts when it ends, if a call was made for it. The queue time goes from the
 * caller's request (nfs_op.since_ns) until the first call was handed to a connection. The answer
 * time goes from there to the end, repetitions included. The cost is a clock reading and some
 * additions to memory that one thread mostly has for itself.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS_COUNT_H
#define RNFS_NFSPROTO_COMMON_NFS_COUNT_H

#include "nfsproto/common/nfs_op.h"
#include "transport/histogram.h"

struct nfs_counts { /* all zeros at first */
	struct {
		struct {
			_Atomic uint64_t errors, bytes, calls;
			struct histogram_live queue, answer;
		} of[NFS_OP_TYPES];
	} shard[HISTOGRAM_SHARDS];
};

/* Operations of one type so far. */
struct nfs_count {
	uint64_t errors; /* ended with an error, such as ENOENT of a LOOKUP */
	uint64_t bytes;	 /* of file data, read or written */
	uint64_t calls;	 /* RPCs: more than operations if some were repeated */
	struct histogram queue, answer;
};

/* op has ended, at op->ended_ns. Any thread. */
void nfs_count_note(struct nfs_counts *c, const struct nfs_op *op);
/* Adds those of c to *out. Any thread; takes no lock. */
void nfs_count_add(const struct nfs_counts *c, enum nfs_op_type t, struct nfs_count *out);

#endif
