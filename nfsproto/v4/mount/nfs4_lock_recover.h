/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock_recover: the state manager's recovery of locks after a loss. Model:
 * nfs4_lock_recover.c. State manager's thread only.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_RECOVER_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_RECOVER_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* o is about to get a new stateid: locks under the old one are gone. */
void nfs4_lock_reopened(struct nfs4_client *c, struct nfs_open *o);
/* reclaim: establishes all locks again, within the server's grace period. Otherwise suspect locks
 * become lost. True: some could not be tried now. */
bool nfs4_lock_recover(struct nfs4_client *c, bool reclaim);
/* Finds out which lock states the server has revoked; each becomes suspect. True: some are not
 * known yet. */
bool nfs4_lock_test(struct nfs4_client *c);

#endif
