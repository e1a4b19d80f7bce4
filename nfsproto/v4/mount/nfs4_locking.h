/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_locking: the locks of a mount, for its users, the state manager and the end of the mount
 * (nfs4_lock.h).
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCKING_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCKING_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* Takes a user's NFS_LOCK, and cancels one that waits. An unlock goes on without its user. at_once
 * false: a user whose call is under way gets the server's answer (nfs_interrupt()). */
void nfs4_lock_submit(struct nfs4_client *c, struct nfs_op *op);
void nfs4_lock_cancel(struct nfs4_client *c, struct nfs_op *op, bool at_once);
/* The state manager runs requests that are due. True if there was one; otherwise lowers *next to
 * the time when one will be. */
bool nfs4_lock_poll(struct nfs4_client *c, uint64_t now, uint64_t *next);
/* While the client stops: ends waiting requests, then clears all held locks. True if there is
 * any. */
void nfs4_lock_abort(struct nfs4_client *c);
bool nfs4_lock_clear_all(struct nfs4_client *c);

#endif
