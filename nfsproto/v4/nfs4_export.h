/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_export: the steps of a mount once there is a server: the walk to the export and its limits.
 */
#ifndef RNFS_NFSPROTO_V4_NFS4_EXPORT_H
#define RNFS_NFSPROTO_V4_NFS4_EXPORT_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* 0, or -1 with *e set. Blocks. */
int nfs4_export_walk(struct nfs4_client *c, const struct nfs_mount_params *p, struct err *e);
/* Asks the server for further addresses of its own (trunkdiscovery). Blocks for one call, and for
 * the names that the server tells. Without an answer there are none. */
void nfs4_export_trunk(struct nfs4_client *c, const struct nfs_mount_params *p);

#endif
