/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_coder: the two functions of a kind of op (struct nfs4_kind).
 *
 * A put function only puts arguments; a get function only fills in the op's outputs. Both may run
 * several times for one op. The call is finished after get returns: nothing may point into the
 * reply.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_CODER_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_CODER_H

#include "nfsproto/v4/mount/nfs4_mount.h"

#define CODERS(id, label, flags, x)                                                                \
	void nfs4_put_op_##x(struct nfs4_client *c, struct nfs_op *op, struct nfs4_comp *k);       \
	enum nfs_outcome nfs4_get_op_##x(                                                          \
		struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r);
NFS4_TYPE_KINDS(CODERS)
NFS4_OWN_KINDS(CODERS, NFS4_SKIP)
#undef CODERS

#endif
