/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_lock_io: reads and changes of a file that rely on locks of the file (nfs4_lock.h).
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_IO_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_LOCK_IO_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* op is about to be sent at `now`: 0; -EAGAIN: not yet, a lock that op relies on is in doubt; -EIO:
 * such a lock is lost. */
int nfs4_lock_io(struct nfs4_client *c, const struct nfs_op *op, uint64_t now);
/* Is all of first..last certainly locked exclusively, at `now`, by an owner on which changes of the
 * file through o rely? Returns a number that stays the same while the owner's locks do; 0: no. */
uint64_t nfs4_lock_covers(struct nfs4_client *c, const struct nfs_open *o, uint64_t first,
	uint64_t last, uint64_t now);
/* nfs_lock_guard(). */
uint64_t nfs4_lock_guard(
	struct nfs4_client *c, const struct nfs_open *o, uint64_t first, uint64_t last);
/* nfs_locks_doubtful(): may any lock of the mount be lost, at `now`? */
bool nfs4_locks_doubtful(struct nfs4_client *c, uint64_t now);
/* As nfs4_open_stateid(), for reads and changes of data. */
struct nfs4_stateid nfs4_io_stateid(struct nfs4_client *c, struct nfs_op *op, struct nfs_open *o);

#endif
