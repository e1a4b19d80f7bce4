/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg_return: how the delegations of a mount go back (nfs4_deleg.h). Model:
 * nfs4_deleg_return.c.
 *
 * No lock held but cb.lock.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_RETURN_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_RETURN_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* CB_RECALL. If the delegation is one of ours, starts its return: true. unseen: the same for a
 * delegation that no answer has brought, and none will; false: too many of these are on their way
 * back, or the stateid is that of another file's delegation. */
bool nfs4_deleg_recall(struct nfs4_client *c, const struct nfs_fh *fh,
	const struct nfs4_stateid *stateid, bool unseen);
/* CB_GETATTR: as the callback of nfs4_user.h. */
uint32_t nfs4_deleg_getattr(
	struct nfs4_client *c, const struct nfs_fh *fh, uint64_t *size, uint64_t *change);
/* CB_RECALL_ANY: returns HELD delegations until at most `keep` are left. */
void nfs4_deleg_recall_any(struct nfs4_client *c, uint32_t keep);
void nfs4_deleg_give_back(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id);
/* Data written under the delegation is safe, or has been reported as lost. */
void nfs4_deleg_flushed(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id);
/* The server refuses the stateid of generation gen that o has. True: the stateid is that of a
 * delegation, which goes back. */
bool nfs4_deleg_disowned(struct nfs4_client *c, struct nfs_open *o, uint32_t gen);
/* The upcall of the same name; the state manager's thread. */
bool nfs4_deleg_poll(struct nfs4_client *c, uint64_t now, uint64_t *next);
/* At unmount: begins to return all delegations. Returns how many. Delegations for which the server
 * answered "later" are left. */
unsigned nfs4_deleg_return_all(struct nfs4_client *c);
/* Are any left that nfs4_deleg_return_all() would begin to return? */
bool nfs4_deleg_left(struct nfs4_client *c);

/* PUTFH and DELEGRETURN. */
void nfs4_put_delegreturn(struct nfs4_client *c, const struct nfs4_deleg *d, struct nfs4_comp *k);
/* Does status, the answer to PUTFH or DELEGRETURN, say that the server has no such delegation?
 * *revoked: the server has revoked the delegation, and waits for FREE_STATEID. */
bool nfs4_delegreturn_gone(uint32_t status, bool *revoked);

#endif
