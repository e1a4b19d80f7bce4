/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_space: the kinds of op that NFSv4.2 adds (nfs4_coder.h). Model: nfs4_ops_space.c.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_OPS_SPACE_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_OPS_SPACE_H

#include "nfsproto/v4/ops/nfs4_coder.h"

NFS4_CODERS(op_seek);
NFS4_CODERS(op_allocate);
NFS4_CODERS(op_clone);
NFS4_CODERS(op_copy);
NFS4_CODERS(op_offload_status);
NFS4_CODERS(op_offload_cancel);
NFS4_CODERS(op_read_plus);

/* The kind that op begins as; -EOPNOTSUPP: the minor version or the server lacks a needed
 * feature. */
int nfs4_space_kind(struct nfs4_client *c, const struct nfs_op *op);
/* The pause before an op that waits for CB_OFFLOAD asks the server. */
unsigned nfs4_offload_ms(struct nfs_op *op);
/* CB_OFFLOAD has come. No lock held but cb.lock. */
void nfs4_offload_called(struct nfs4_client *c, const struct nfs4_cb_offload_args *a);
/* Tells the server that op's asynchronous copy is no longer wanted. No lock held. */
void nfs4_offload_abandon(struct nfs4_client *c, const struct nfs_op *op);

#endif
