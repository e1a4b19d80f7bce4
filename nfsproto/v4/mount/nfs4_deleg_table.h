/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg_table: the delegations of a mount, and local opens (nfs4_deleg.h).
 *
 * No lock held, except as the names and comments say.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_TABLE_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_TABLE_H

#include "nfsproto/v4/mount/nfs4_mount.h"

void nfs4_deleg_init(struct nfs4_delegs *t, enum nfs_delegations wanted);
/* Frees all; no op may be under way. */
void nfs4_deleg_finish(struct nfs4_client *c);
/* The delegation that an OPEN with that access, about to be encoded, should ask for.
 * OPEN_DELEGATE_NONE: none. An unused delegation makes room. */
enum open_delegation_type4 nfs4_deleg_wanted(struct nfs4_client *c, uint32_t access);
/* OPEN of fh as cred, begun at asked_ns, has brought g after asking for `wanted`. Returns the
 * number of the file's delegation at the time of the answer, or 0, and whether it is a write
 * delegation. An unwanted delegation goes back. */
uint64_t nfs4_deleg_came(struct nfs4_client *c, const struct rpc_cred *cred,
	const struct nfs_fh *fh, const struct nfs4_delegation *g, uint64_t asked_ns,
	enum open_delegation_type4 wanted, bool *writes);
/* Notes the change attribute that came with delegation id, or a later one if none came. */
void nfs4_deleg_note_change(
	struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id, uint64_t change);
/* An OPEN that may bring a delegation begins, or has ended. */
void nfs4_deleg_opening(struct nfs4_client *c, int by);
bool nfs4_deleg_holds(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id);
/* The number of the write delegation of fh, if the mount certainly holds one; otherwise 0.
 * locks.lock may be held. */
uint64_t nfs4_deleg_is_alone(struct nfs4_client *c, const struct nfs_fh *fh);
/* Makes a local open as cred with flags. NULL: no held delegation allows a local open, or no
 * memory. */
struct nfs_open *nfs4_deleg_open(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id,
	int flags, const struct rpc_cred *cred);
/* The user closes o. True: o was a local open, and is closed. */
bool nfs4_deleg_close(struct nfs4_client *c, struct nfs_open *o);
/* o has a stateid of its own. If o was a local open, o becomes one of the mount's opens. */
void nfs4_deleg_leave(struct nfs4_client *c, struct nfs_open *o);
void nfs4_deleg_leave_locked(struct nfs4_client *c, struct nfs_open *o); /* o is a local open */
/* The HELD delegation of fh; with stateid, one of fh and stateid in any state; or NULL. The mount's
 * lock held. */
struct nfs4_deleg *nfs4_deleg_find_locked(
	struct nfs4_client *c, const struct nfs_fh *fh, const struct nfs4_stateid *stateid);
void nfs4_deleg_move_locked(
	struct nfs4_client *c, struct nfs4_deleg *d, enum nfs4_deleg_state state);
/* Takes d out of the table, and frees d. d has no local opens any more. */
void nfs4_deleg_free_locked(struct nfs4_client *c, struct nfs4_deleg *d);

#endif
