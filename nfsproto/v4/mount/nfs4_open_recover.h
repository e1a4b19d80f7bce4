/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_open_recover: recovery of open files and their locks. Model: nfs4_open_recover.c.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_OPEN_RECOVER_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_OPEN_RECOVER_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* The upcalls of the same names. */
void nfs4_open_reclaim(struct nfs4_client *c);
bool nfs4_open_revoked(struct nfs4_client *c);
bool nfs4_open_check(struct nfs4_client *c);

#endif
