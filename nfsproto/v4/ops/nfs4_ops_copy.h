/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_copy: the kinds of op about copies by the server (nfs4_coder.h). Model: nfs4_ops_copy.c.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_OPS_COPY_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_OPS_COPY_H

#include "nfsproto/v4/ops/nfs4_coder.h"

/* The pause before an op that waits for CB_OFFLOAD asks the server. */
unsigned nfs4_offload_ms(struct nfs_op *op);
/* CB_OFFLOAD has come. No lock held but cb.lock. */
void nfs4_offload_called(struct nfs4_client *c, const struct nfs4_cb_offload_args *a);
/* Tells the server that op's asynchronous copy is no longer wanted. No lock held. */
void nfs4_offload_abandon(struct nfs4_client *c, const struct nfs_op *op);

#endif
