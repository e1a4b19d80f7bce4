/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock_local: locks of a file with a write delegation to this mount. Model: nfs4_lock_local.c.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_LOCAL_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_LOCAL_H

#include "nfsproto/v4/mount/nfs4_mount.h"

enum nfs4_lock_way {
	NFS4_LW_ASK,   /* ask the server, if there is a need */
	NFS4_LW_LOCAL, /* nfs4_lock_take_locked() */
	NFS4_LW_WAIT,  /* nfs4_lock_stall_locked() */
};
enum nfs4_lock_way nfs4_lock_way_locked(struct nfs4_client *c, const struct nfs4_lockreq *req)
	REQUIRES(c->locks.lock);
/* Grants req, for which its context has room; false: another owner's lock conflicts. */
bool nfs4_lock_take_locked(struct nfs4_client *c, struct nfs4_lockreq *req) REQUIRES(c->locks.lock);
/* A request waits: contexts are run again soon. */
void nfs4_lock_stall_locked(struct nfs4_client *c) REQUIRES(c->locks.lock);
/* Are there any local locks of fh? */
bool nfs4_lock_any_local(struct nfs4_client *c, const struct nfs_fh *fh);
/* NFS_LOCKT; false: ask the server. */
bool nfs4_lock_test_local(struct nfs4_client *c, struct nfs_op *op);

#endif
