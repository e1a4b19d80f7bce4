/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_attr: the kinds of op about the attributes of one object (nfs4_coder.h).
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_OPS_ATTR_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_OPS_ATTR_H

#include "nfsproto/v4/ops/nfs4_coder.h"

/* SETATTR. get: as nfs4_reply_op(). */
void nfs4_put_setattr(
	struct nfs4_comp *k, const struct nfs4_stateid *stateid, const struct nfs_sattr *set);
int nfs4_get_setattr(struct nfs4_reply *r);
/* The attributes of an OPEN op have come. If the caller must set the times, the times in op become
 * those of the change: the server's values there are a verifier. */
void nfs4_open_times(struct nfs_op *op);

#endif
