/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_kinds: the table of the kinds of call.
 */
#include "nfsproto/v3/nfs3_client.h"

#define KIND(id, label, fn) [id] = {.name = label, .put = nfs3_put_op_##fn, .get = nfs3_get_op_##fn}
#define KIND_F(id, label, fn)                                                                      \
	[id] = {.name = label,                                                                     \
		.put = nfs3_put_op_##fn,                                                           \
		.get = nfs3_get_op_##fn,                                                           \
		.fail = nfs3_fail_op_##fn}

const struct nfs3_kind nfs3_kinds[NFS3_KINDS] = {
	[NFS_LOOKUP] = {.name = "LOOKUP",
		.put = nfs3_put_op_lookup,
		.get = nfs3_get_op_lookup,
		.failed = nfs3_failed_op_lookup},
	KIND(NFS_GETATTR, "GETATTR", getattr),
	KIND(NFS_SETATTR, "SETATTR", setattr),
	KIND(NFS_ACCESS, "ACCESS", access),
	KIND(NFS_READLINK, "READLINK", readlink),
	KIND(NFS_READ, "READ", read),
	KIND(NFS_WRITE, "WRITE", write),
	KIND(NFS_COMMIT, "COMMIT", commit),
	KIND(NFS_CREATE, "MKDIR, SYMLINK or MKNOD", create),
	KIND_F(NFS_REMOVE, "REMOVE", remove),
	KIND(NFS_RENAME, "RENAME", rename),
	KIND(NFS_LINK, "LINK", link),
	KIND_F(NFS_READDIR, "READDIR", readdir),
	KIND(NFS_STATFS, "FSSTAT", statfs),
	KIND(NFS3_K_LOOKUP_AFTER, "LOOKUP of what was made", lookup_after),
	KIND_F(NFS3_K_LOOK, "LOOKUP after a lost answer", look),
	KIND_F(NFS3_K_GETATTR_AFTER, "GETATTR after another call", getattr_after),
	KIND_F(NFS3_K_OPEN_CREATE, "CREATE", open_create),
	KIND_F(NFS3_K_OPEN_LOOKUP, "LOOKUP for opening", open_lookup),
	KIND(NFS3_K_OPEN_ACCESS, "ACCESS for opening", open_access),
	KIND(NFS3_K_OPEN_SETATTR, "SETATTR after CREATE", open_setattr),
	KIND(NFS3_K_OPEN_TRUNCATE, "SETATTR for opening", open_truncate),
	KIND(NFS3_K_APPEND_SIZE, "GETATTR for appending", append_size),
	KIND(NFS3_K_APPEND, "WRITE at the end", append),
};
