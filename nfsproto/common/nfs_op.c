/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_op: the names of the operations.
 */
#include "nfsproto/common/nfs_op.h"

const char *nfs_op_name(enum nfs_op_type t)
{
#define NAME(op) [op] = &#op[sizeof("NFS_") - 1],
	static const char *const names[] = {NFS_OPS(NAME)};
#undef NAME

	return (unsigned)t < NFS_OP_TYPES ? names[t] : "unknown";
}
