/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock_push: local locks (nfs4_lock_local.h) become the server's before a delegation goes.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_PUSH_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_PUSH_H

#include "nfsproto/v4/mount/nfs4_mount.h"

enum nfs4_push {
	NFS4_PUSH_GRANTED,
	NFS4_PUSH_REFUSED,
	NFS4_PUSH_LEFT, /* not answered: later again */
};
/* A delegation of fh is going back: the next range to send to the server, and its context,
 * referenced; NULL: the server knows all. */
struct nfs4_lockctx *nfs4_lock_push_next(
	struct nfs4_client *c, const struct nfs_fh *fh, struct lock_range *g);
/* The result of sending such a range, by the delegation `by`; takes the reference. */
void nfs4_lock_pushed(
	struct nfs4_client *c, struct nfs4_lockctx *ctx, uint64_t by, enum nfs4_push push);
/* fh is not delegated any more, and may not have been for a while: local locks become suspect, and
 * so do locks that went to the server from the delegation `by` (0: none). */
void nfs4_lock_undelegated(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t by);

#endif
