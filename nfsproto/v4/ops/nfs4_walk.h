/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_walk: the kinds of op of the walk to the export, and of its limits (nfs4_coder.h).
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_WALK_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_WALK_H

#include "nfsproto/v4/ops/nfs4_coder.h"

/* The beginning of NFS4_K_WALK and NFS4_K_LOCATIONS: to u.walk.path. */
void nfs4_put_walk_path(struct nfs_op *op, struct nfs4_comp *k);
int nfs4_get_walk_path(struct nfs_op *op, struct nfs4_reply *r);

#endif
