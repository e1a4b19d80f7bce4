/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_names: owners by name (RFC 8881 section 5.9), for ops that must not block. Model:
 * nfs4_names.c.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_NAMES_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_NAMES_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* Makes c->idmap by p's settings. 0 or -ENOMEM. */
int nfs4_names_init(struct nfs4_client *c, const struct nfs_mount_params *p);
/* For the coders of c's attributes. not_yet: an owner was decoded as nobody because the owner's
 * name is not known yet. */
struct nfs4_owners nfs4_names_owners(struct nfs4_client *c);
/* op, which is not under way, has succeeded except for such names. True: it must wait and then get
 * the attributes again. */
bool nfs4_names_wait(struct nfs_op *op);
/* op, which is about to start, may be a SETATTR that needs the names of owners. True: op must wait
 * for the names. */
bool nfs4_names_wanted(struct nfs4_client *c, struct nfs_op *op);
/* Starts op in time, after one of these functions has told that op waits. */
void nfs4_names_later(struct nfs4_client *c, struct nfs_op *op);
/* op was answered NFS4ERR_BADOWNER. True: op goes on, with names. False: the function has written
 * to the log. */
bool nfs4_names_refused(struct nfs4_client *c, struct nfs_op *op);

#endif
