/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock_wait: requests that wait for a lock. Model: nfs4_lock_wait.c.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_WAIT_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_WAIT_H

#include "nfsproto/v4/mount/nfs4_mount.h"

#define NFS4_LOCK_BEHIND_MS 5000u /* after this time a request behind others asks all the same */

/* Does the user of req still want the lock? */
static inline bool nfs4_lock_wanted(const struct nfs4_lockreq *req) REQUIRES(NFS4_LOCKS)
{
	return req->user && !req->interrupted;
}
/* Has an older waiter asked for a lock that conflicts with req? */
bool nfs4_lock_behind_locked(struct nfs4_client *c, const struct nfs4_lockreq *req)
	REQUIRES(c->locks.lock);
void nfs4_lock_park_locked(struct nfs4_client *c, struct nfs4_lockreq *req, unsigned ms)
	REQUIRES(c->locks.lock);
void nfs4_lock_unwait_locked(struct nfs4_client *c, struct nfs4_lockreq *req)
	REQUIRES(c->locks.lock);
/* The range may be free now: the waiters for it that are behind no other ask again. */
void nfs4_lock_wake_locked(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t start,
	uint64_t end) REQUIRES(c->locks.lock);
/* CB_NOTIFY_LOCK: a denied lock may be free now. Any thread. */
void nfs4_lock_notify(
	struct nfs4_client *c, const struct nfs_fh *fh, const struct nfs4_opaque *owner);

#endif
