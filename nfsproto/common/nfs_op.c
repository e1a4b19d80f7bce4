/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_op: the names of the operations.
 */
#include "nfsproto/common/nfs_op.h"

const char *nfs_op_name(enum nfs_op_type t)
{
	static const char *const names[NFS_OP_TYPES] = {
		[NFS_LOOKUP] = "LOOKUP",
		[NFS_GETATTR] = "GETATTR",
		[NFS_SETATTR] = "SETATTR",
		[NFS_ACCESS] = "ACCESS",
		[NFS_READLINK] = "READLINK",
		[NFS_OPEN] = "OPEN",
		[NFS_CLOSE] = "CLOSE",
		[NFS_READ] = "READ",
		[NFS_WRITE] = "WRITE",
		[NFS_COMMIT] = "COMMIT",
		[NFS_CREATE] = "CREATE",
		[NFS_REMOVE] = "REMOVE",
		[NFS_RENAME] = "RENAME",
		[NFS_LINK] = "LINK",
		[NFS_READDIR] = "READDIR",
		[NFS_STATFS] = "STATFS",
		[NFS_LOCK] = "LOCK",
		[NFS_LOCKT] = "LOCKT",
		[NFS_SEEK] = "SEEK",
		[NFS_ALLOCATE] = "ALLOCATE",
		[NFS_COPY] = "COPY",
		[NFS_GETXATTR] = "GETXATTR",
		[NFS_SETXATTR] = "SETXATTR",
		[NFS_LISTXATTR] = "LISTXATTR",
		[NFS_REMOVEXATTR] = "REMOVEXATTR",
		[NFS_GETACL] = "GETACL",
		[NFS_SETACL] = "SETACL",
	};

	return (unsigned)t < NFS_OP_TYPES ? names[t] : "unknown";
}
