/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_openreq: NFS_OPEN and NFS_CLOSE. Model: nfs4_openreq.c.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_OPENREQ_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_OPENREQ_H

#include "nfsproto/v4/mount/nfs4_open.h"

/* NFS_OPEN and NFS_CLOSE of a user. */
void nfs4_open_submit(struct nfs4_client *c, struct nfs_op *op);
void nfs4_close_submit(struct nfs4_client *c, struct nfs_op *op);
/* NFS_OPEN or NFS_CLOSE of a user is cancelled. */
void nfs4_open_cancel(struct nfs4_client *c, struct nfs_op *op);
/* OPEN, or SETATTR after OPEN, is about to be encoded so that it truncates the file of o. False:
 * the call must not truncate any more. */
bool nfs4_open_truncates(struct nfs4_client *c, struct nfs_open *o);
/* The server has answered such a call. */
void nfs4_open_answered(struct nfs4_client *c, struct nfs_open *o);
/* Sends a CLOSE of o without a waiting user. */
void nfs4_close_start(struct nfs4_client *c, struct nfs_open *o);
/* The user of o was told that o is closed, before o could be. Closes o. */
void nfs4_close_late(struct nfs4_client *c, struct nfs_open *o);
/* At unmount, when no own op is under way: begins to close all open files. Returns their number. */
unsigned nfs4_close_all(struct nfs4_client *c);

#endif
