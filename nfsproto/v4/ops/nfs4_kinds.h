/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_kinds: the table of all kinds of op, by enum nfs4_kind_id.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_KINDS_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_KINDS_H

#include "nfsproto/v4/server/nfs4_kind.h"

extern const struct nfs4_kind nfs4_kinds[NFS4_KINDS];

/* The kind that op begins as; or the error of an op that need not be sent: -EOPNOTSUPP: the minor
 * version or the server lacks a needed feature. */
int nfs4_kind_of(struct nfs4_client *c, const struct nfs_op *op);

#endif
