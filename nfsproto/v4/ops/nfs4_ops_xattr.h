/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_xattr: the kinds of op about user extended attributes (RFC 8276) and ACLs
 * (nfs4_coder.h).
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_OPS_XATTR_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_OPS_XATTR_H

#include "nfsproto/v4/ops/nfs4_coder.h"

/* 0, or the error of an op about extended attributes or ACLs that need not be sent. */
int nfs4_xattr_check(const struct nfs4_client *c, const struct nfs_op *op);

#endif
