/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_kinds: the table of all kinds of op.
 */
#include "nfsproto/v4/ops/nfs4_kinds.h"

#include <errno.h>

#include "nfsproto/v4/ops/nfs4_locations.h"
#include "nfsproto/v4/ops/nfs4_ops_attr.h"
#include "nfsproto/v4/ops/nfs4_ops_copy.h"
#include "nfsproto/v4/ops/nfs4_ops_data.h"
#include "nfsproto/v4/ops/nfs4_ops_deleg.h"
#include "nfsproto/v4/ops/nfs4_ops_dir.h"
#include "nfsproto/v4/ops/nfs4_ops_lock.h"
#include "nfsproto/v4/ops/nfs4_ops_open.h"
#include "nfsproto/v4/ops/nfs4_ops_space.h"
#include "nfsproto/v4/ops/nfs4_ops_xattr.h"
#include "nfsproto/v4/ops/nfs4_walk.h"
#include "nfsproto/v4/server/nfs4_session_ops.h"

#define KIND(id, label, f, fn)                                                                     \
	[id] = {.name = label, .flags = f, .put = nfs4_put_##fn, .get = nfs4_get_##fn}
#define SERVER_KIND(id, label, f, fn)                                                              \
	[id] = {.name = label, .flags = f, .server_put = nfs4_put_##fn, .server_get = nfs4_get_##fn}

const struct nfs4_kind nfs4_kinds[NFS4_KINDS] = {
	KIND(NFS_LOOKUP, "LOOKUP", 0, op_lookup),
	KIND(NFS_GETATTR, "GETATTR", 0, op_getattr),
	KIND(NFS_SETATTR, "SETATTR", NFS4_KF_CACHE, op_setattr),
	KIND(NFS_ACCESS, "ACCESS", 0, op_access),
	KIND(NFS_READLINK, "READLINK", 0, op_readlink),
	KIND(NFS_OPEN, "OPEN", NFS4_KF_CACHE, op_open),
	KIND(NFS_CLOSE, "CLOSE", NFS4_KF_CACHE, op_close),
	KIND(NFS_READ, "READ", 0, op_read),
	KIND(NFS_WRITE, "WRITE", 0, op_write),
	KIND(NFS_COMMIT, "COMMIT", 0, op_commit),
	KIND(NFS_CREATE, "CREATE", NFS4_KF_CACHE, op_create),
	KIND(NFS_REMOVE, "REMOVE", NFS4_KF_CACHE, op_remove),
	KIND(NFS_RENAME, "RENAME", NFS4_KF_CACHE, op_rename),
	KIND(NFS_LINK, "LINK", NFS4_KF_CACHE, op_link),
	KIND(NFS_READDIR, "READDIR", 0, op_readdir),
	KIND(NFS_STATFS, "STATFS", 0, op_statfs),
	KIND(NFS_LOCK, "LOCK", NFS4_KF_CACHE, op_lock),
	KIND(NFS_LOCKT, "LOCKT", 0, op_lockt),
	KIND(NFS_SEEK, "SEEK", 0, op_seek),
	KIND(NFS_ALLOCATE, "ALLOCATE", 0, op_allocate),
	KIND(NFS_COPY, "COPY", 0, op_copy),
	KIND(NFS_GETXATTR, "GETXATTR", 0, op_getxattr),
	KIND(NFS_SETXATTR, "SETXATTR", NFS4_KF_CACHE, op_setxattr),
	KIND(NFS_LISTXATTR, "LISTXATTRS", 0, op_listxattr),
	KIND(NFS_REMOVEXATTR, "REMOVEXATTR", NFS4_KF_CACHE, op_removexattr),
	KIND(NFS_GETACL, "GETATTR of an ACL", 0, op_getacl),
	KIND(NFS_SETACL, "SETATTR of an ACL", NFS4_KF_CACHE, op_setacl),
	KIND(NFS4_K_CLONE, "CLONE", 0, op_clone),
	KIND(NFS4_K_OFFLOAD_STATUS, "OFFLOAD_STATUS", 0, op_offload_status),
	KIND(NFS4_K_OFFLOAD_CANCEL, "OFFLOAD_CANCEL", 0, op_offload_cancel),
	KIND(NFS4_K_APPEND, "WRITE at the end", NFS4_KF_CACHE, op_append),
	KIND(NFS4_K_WRITE_SET, "WRITE and SETATTR", NFS4_KF_CACHE, op_write),
	KIND(NFS4_K_READ_PLUS, "READ_PLUS", 0, op_read_plus),
	KIND(NFS4_K_LOOKUP_AFTER, "LOOKUP after CREATE", 0, op_lookup_after),
	KIND(NFS4_K_LOOK, "LOOKUP after a lost answer", 0, op_look),
	KIND(NFS4_K_GETATTR_AFTER, "GETATTR after a change", 0, op_getattr_after),
	KIND(NFS4_K_OPEN_SETATTR, "SETATTR after OPEN", NFS4_KF_CACHE, op_open_setattr),
	KIND(NFS4_K_OPEN_READ, "OPEN with READ", 0, op_open),
	KIND(NFS4_K_OPEN_UNDO, "CLOSE after a failed OPEN", NFS4_KF_CACHE, op_open_undo),
	KIND(NFS4_K_OPEN_MORE, "OPEN for a lock", NFS4_KF_CACHE, op_open_more),
	KIND(NFS4_K_LOCKU, "LOCKU", NFS4_KF_CACHE, op_locku),
	KIND(NFS4_K_LOCK_FREE, "FREE_STATEID of a lock-owner", NFS4_KF_CACHE, op_lock_free),
	SERVER_KIND(NFS4_K_SEQUENCE, "SEQUENCE", 0, op_sequence),
	KIND(NFS4_K_DELEGRETURN, "DELEGRETURN", NFS4_KF_CACHE, op_delegreturn),
	KIND(NFS4_K_DELEG_OPEN, "OPEN of what was delegated", NFS4_KF_CACHE, op_deleg_open),
	KIND(NFS4_K_DELEG_LOCK, "LOCK of what was delegated", NFS4_KF_CACHE, op_deleg_lock),
	SERVER_KIND(NFS4_K_EXCHANGE_ID, "EXCHANGE_ID", NFS4_KF_NOSEQ, op_exchange_id),
	SERVER_KIND(NFS4_K_CREATE_SESSION, "CREATE_SESSION", NFS4_KF_NOSEQ, op_create_session),
	SERVER_KIND(NFS4_K_BIND, "BIND_CONN_TO_SESSION", NFS4_KF_NOSEQ, op_bind),
	SERVER_KIND(NFS4_K_DESTROY_SESSION, "DESTROY_SESSION", NFS4_KF_NOSEQ, op_destroy_session),
	SERVER_KIND(
		NFS4_K_DESTROY_CLIENTID, "DESTROY_CLIENTID", NFS4_KF_NOSEQ, op_destroy_clientid),
	SERVER_KIND(
		NFS4_K_RECLAIM_COMPLETE, "RECLAIM_COMPLETE", NFS4_KF_CACHE, op_reclaim_complete),
	KIND(NFS4_K_WALK, "LOOKUP of the export", 0, op_walk),
	KIND(NFS4_K_LOCATIONS, "GETATTR of the locations", 0, op_locations),
	KIND(NFS4_K_FSINFO, "GETATTR of the export", 0, op_fsinfo),
	KIND(NFS4_K_REOPEN, "OPEN anew", NFS4_KF_CACHE, op_reopen),
	KIND(NFS4_K_REDELEG, "OPEN of what is delegated anew", NFS4_KF_CACHE, op_redeleg),
	KIND(NFS4_K_RELOCK, "LOCK anew", NFS4_KF_CACHE, op_relock),
	SERVER_KIND(NFS4_K_TEST_STATEID, "TEST_STATEID", 0, op_test_stateid),
	SERVER_KIND(NFS4_K_FREE_STATEID, "FREE_STATEID", NFS4_KF_CACHE, op_free_stateid),
};

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
	int error = nfs4_xattr_check(c, op);
	bool has = c->srv->minor >= 2;

	if (error)
		return error;
	switch (op->type) {
	case NFS_READ:
		return c->read_plus && has && !nfs4_lacks(c, OP_READ_PLUS) ? NFS4_K_READ_PLUS
									   : NFS_READ;
	case NFS_WRITE:
		if (op->u.write.append)
			return NFS4_K_APPEND;
		return op->u.write.then && op->u.write.then->set.mask ? NFS4_K_WRITE_SET
								      : NFS_WRITE;
	case NFS_SEEK:
		return has && !nfs4_lacks(c, OP_SEEK) ? NFS_SEEK : -EOPNOTSUPP;
	case NFS_ALLOCATE:
		has = has && !nfs4_lacks(c, op->u.allocate.dealloc ? OP_DEALLOCATE : OP_ALLOCATE);
		return has ? NFS_ALLOCATE : -EOPNOTSUPP;
	case NFS_COPY:
		return has ? copy_kind(c, op) : -EOPNOTSUPP;
	default:
		return (int)op->type;
	}
}
