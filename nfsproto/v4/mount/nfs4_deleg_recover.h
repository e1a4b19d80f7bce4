/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg_recover: the state manager's work on delegations after a loss. Model:
 * nfs4_deleg_recover.c.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_RECOVER_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_RECOVER_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* The upcalls of the same names. */
void nfs4_deleg_reclaim(struct nfs4_client *c);
bool nfs4_deleg_revoked(struct nfs4_client *c);

#endif
