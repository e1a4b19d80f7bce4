/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_more: connections of a mount beside those of its server, for statistics.
 *
 * The owner of the connections adds and removes them at any time. Each other thread looks at a
 * connection under the lock, so a connection that the owner has removed may be freed. `lock` is
 * taken before the locks of a connection, and no call waits under it.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS_MORE_H
#define RNFS_NFSPROTO_COMMON_NFS_MORE_H

#include <stdbool.h>

#include "transport/lock.h"
#include "transport/rpc/rpc.h"

#define NFS_MORE_MAX 16u /* further ones are not shown */

struct nfs_more {
	struct mutex lock;
	unsigned n GUARDED_BY(lock);
	struct rpc_client *rpc[NFS_MORE_MAX] GUARDED_BY(lock); /* n of them are set */
	struct rpc_client_stats gone GUARDED_BY(lock);	       /* of those that were removed */
};

void nfs_more_init(struct nfs_more *m);
void nfs_more_finish(struct nfs_more *m);
/* Shows rpc, if there is room. */
void nfs_more_add(struct nfs_more *m, struct rpc_client *rpc) EXCLUDES(m->lock);
/* Shows rpc no more, if it is shown. No thread uses rpc through m after the return. */
void nfs_more_remove(struct nfs_more *m, struct rpc_client *rpc) EXCLUDES(m->lock);
/* Connection number i. False: there are fewer, and *count grows by their number. Any thread. */
bool nfs_more_look(struct nfs_more *m, unsigned i, struct rpc_client_info *info,
	struct rpc_client_stats *stats, unsigned *count) EXCLUDES(m->lock);
/* Adds the counters of all connections to *sum, also of those that were removed. Any thread. */
void nfs_more_sum(struct nfs_more *m, struct rpc_client_stats *sum) EXCLUDES(m->lock);

#endif
