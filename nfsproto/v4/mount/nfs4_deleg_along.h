/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg_along: delegations that go back in the COMPOUND that removes or replaces a name of the
 * delegated file. Model: nfs4_deleg_along.c.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_ALONG_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_ALONG_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* op, a REMOVE or RENAME that is about to start, is to take a delegation along.
 * Otherwise the delegation goes back by itself. */
void nfs4_deleg_take_along(struct nfs4_client *c, struct nfs_op *op);
/* put: the operations that return the delegation, before any other. get: does the walk go on? Else
 * *out is the outcome of op. */
void nfs4_deleg_put_along(struct nfs4_client *c, const struct nfs_op *op, struct nfs4_comp *k);
bool nfs4_deleg_get_along(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r, enum nfs_outcome *out);
/* op ends: a delegation that op still has goes back by itself. */
void nfs4_deleg_stays(struct nfs4_client *c, struct nfs_op *op);

#endif
