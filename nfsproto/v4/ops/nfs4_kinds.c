/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_kinds: the table of all kinds of op.
 */
#include "nfsproto/v4/ops/nfs4_kinds.h"

#include <errno.h>

#include "nfsproto/v4/ops/nfs4_ops_space.h"
#include "nfsproto/v4/ops/nfs4_ops_xattr.h"
#include "nfsproto/v4/server/nfs4_session_ops.h"

#define KIND(id, label, f, x)                                                                      \
	[id] = {.name = label, .flags = f, .put = nfs4_put_op_##x, .get = nfs4_get_op_##x},
#define SERVER_KIND(id, label, f, x)                                                               \
	[id] = {.name = label,                                                                     \
		.flags = f,                                                                        \
		.server_put = nfs4_put_op_##x,                                                     \
		.server_get = nfs4_get_op_##x},

const struct nfs4_kind nfs4_kinds[NFS4_KINDS] = {
	NFS4_TYPE_KINDS(KIND) NFS4_OWN_KINDS(KIND, SERVER_KIND)};

static int copy_kind(struct nfs4_client *c, const struct nfs_op *op)
{
	uint64_t mask = c->clone_blksize ? c->clone_blksize - 1 : 0;

	/* The end is not checked: it may be the end of the source, which only the server knows. */
	if (!nfs4_lacks(c, OP_CLONE) && !(op->u.copy.from & mask) && !(op->u.copy.to & mask))
		return NFS4_K_CLONE;
	return nfs4_lacks(c, OP_COPY) ? -EOPNOTSUPP : NFS_COPY;
}

int nfs4_kind_of(struct nfs4_client *c, const struct nfs_op *op)
{
	uint32_t needed = NFS4_KF_NEEDED(nfs4_kinds[op->type].flags);
	int error = nfs4_xattr_check(c, op);
	bool has = c->srv->minor >= 2;

	if (error)
		return error;
	if (needed && (!has || nfs4_lacks(c, needed)))
		return -EOPNOTSUPP;
	switch (op->type) {
	case NFS_READ:
		return c->read_plus && has && !nfs4_lacks(c, OP_READ_PLUS) ? NFS4_K_READ_PLUS
									   : NFS_READ;
	case NFS_WRITE:
		if (op->u.write.append)
			return NFS4_K_APPEND;
		return op->u.write.then && op->u.write.then->set.mask ? NFS4_K_WRITE_SET
								      : NFS_WRITE;
	case NFS_ALLOCATE:
		has = has && !nfs4_lacks(c, op->u.allocate.dealloc ? OP_DEALLOCATE : OP_ALLOCATE);
		return has ? NFS_ALLOCATE : -EOPNOTSUPP;
	case NFS_COPY:
		return has ? copy_kind(c, op) : -EOPNOTSUPP;
	default:
		return (int)op->type;
	}
}
