/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_open: the kinds of op about opens (nfs4_coder.h). Model: nfs4_ops_open.c.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_OPS_OPEN_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_OPS_OPEN_H

#include "nfsproto/v4/ops/nfs4_coder.h"

/* CLAIM_FH, CLAIM_PREVIOUS or, with a delegation's stateid, CLAIM_DELEG_CUR_FH for o's owner. The
 * OPEN asks for o's access and `more`. get: takes the new stateid. */
void nfs4_put_open_again(struct nfs4_client *c, struct nfs_open *o, struct nfs4_comp *k,
	uint32_t more, enum open_claim_type4 claim, const struct nfs4_stateid *deleg);
int nfs4_get_open_again(struct nfs4_client *c, const struct nfs_op *op, struct nfs_open *o,
	struct nfs4_reply *r, struct nfs4_stateid *id);

#endif
