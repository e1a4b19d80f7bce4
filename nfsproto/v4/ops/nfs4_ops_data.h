/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_data: the kinds of op about the data of one file (nfs4_coder.h).
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_OPS_DATA_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_OPS_DATA_H

#include "nfsproto/v4/ops/nfs4_coder.h"

/* The attributes that come with a READ or READ_PLUS, if the caller wants any. get: 0; otherwise
 * *out is the outcome of op. */
void nfs4_put_read_attr(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k);
int nfs4_get_read_attr(struct nfs_op *op, struct nfs4_reply *r, enum nfs_outcome *out);

#endif
