/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_route: which client of a mount, the mount itself or a submount (nfs_submount.h), executes an
 * operation. Any thread; takes no lock.
 */
#ifndef RNFS_NFSPROTO_NFS_ROUTE_H
#define RNFS_NFSPROTO_NFS_ROUTE_H

#include "nfsproto/common/nfs_backend.h"

/* The client for a handle that callers of c know. NULL: there is no such server, or the mount
 * ends. */
struct nfs_client *nfs_route_fh(struct nfs_client *c, const struct nfs_fh *fh);
/* The clients of the mount c, *i from 0: c itself, then its submounts that are up. NULL: there are
 * no more. */
struct nfs_client *nfs_route_each(struct nfs_client *c, unsigned *i);

/* The client that executes op, which a caller of c submits. Cuts op to the sizes of a submount. The
 * results then are as those of a short READ or WRITE. NULL: as above. */
struct nfs_client *nfs_route(struct nfs_client *c, struct nfs_op *op);
/* The error of an op that concerns two servers: -EXDEV, or -EBUSY for the removal of a submount.
 * 0: one server can execute op. */
int nfs_route_check(const struct nfs_op *op);
/* op was executed by a submount: its handles and attributes become those that the callers of the
 * mount know. */
void nfs_route_results(struct nfs_op *op);

#endif
