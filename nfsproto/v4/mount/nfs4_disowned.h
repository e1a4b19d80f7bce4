/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_disowned: the server refuses the stateid of an op. The op is sent again, or fails.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_DISOWNED_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_DISOWNED_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* op failed with a status about its stateid. NFS_RECOVER: try again after ms; NFS_FAILED. */
enum nfs_outcome nfs4_disowned(
	struct nfs4_client *c, struct nfs_op *op, uint32_t status, unsigned *ms);

#endif
