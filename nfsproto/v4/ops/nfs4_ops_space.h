/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_space: the kinds of op about the space and the data of files that NFSv4.2 adds
 * (nfs4_coder.h).
 *
 * All of these operations are optional for a server, and so are those of nfs4_ops_copy.h. After
 * NFS4ERR_NOTSUPP the client does not send the same operation again; the caller gets -EOPNOTSUPP
 * and does without.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_OPS_SPACE_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_OPS_SPACE_H

#include "nfsproto/v4/ops/nfs4_coder.h"

/* Does the server lack the operation, as far as is known? */
bool nfs4_lacks(struct nfs4_client *c, uint32_t op);
/* Steps to the result of op; remembers if the server does not know op: -EOPNOTSUPP. */
int nfs4_reply_optional(struct nfs4_client *c, struct nfs4_reply *r, uint32_t op);
/* A COMMIT behind the operation that changed the range. get: *unsafe is the error of the COMMIT, or
 * 0; the operations before COMMIT have succeeded. */
void nfs4_put_commit_behind(struct nfs4_comp *k, uint64_t offset, uint64_t length);
int nfs4_get_commit_behind(struct nfs4_reply *r, int *unsafe);

#endif
