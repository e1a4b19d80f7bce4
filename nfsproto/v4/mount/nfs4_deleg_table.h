/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg_table: the delegations of a mount, and local opens (nfs4_deleg.h).
 *
 * No lock held, except as annotations and comments say.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_TABLE_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_TABLE_H

#include "nfsproto/v4/mount/nfs4_deleg_note.h"
#include "nfsproto/v4/mount/nfs4_mount.h"

struct nfs4_deleg {
	LIST_ENTRY(nfs4_deleg) hash GUARDED_BY(NFS4_MOUNT);
	/* in the list of its state; HELD: least recently used first */
	TAILQ_ENTRY(nfs4_deleg) link GUARDED_BY(NFS4_MOUNT);
	enum nfs4_deleg_state state GUARDED_BY(NFS4_MOUNT);
	/* constant */
	uint64_t id; /* never 0 */
	struct nfs_fh fh;
	enum open_delegation_type4 type; /* OPEN_DELEGATE_READ or OPEN_DELEGATE_WRITE */
	struct rpc_cred cred;		 /* credential of the opener */
	uint64_t since_ns;		 /* when the delegation came */
	bool unseen;			 /* known by its recall alone; never HELD */

	struct nfs4_stateid stateid GUARDED_BY(NFS4_MOUNT);
	bool flushed GUARDED_BY(NFS4_MOUNT);	  /* DUE: no data to be flushed, or no more */
	bool change_known GUARDED_BY(NFS4_MOUNT); /* `change` is set */
	/* the change attribute that came with the delegation, or when the restarted server gave the
	 * delegation again (section 10.4.3) */
	uint64_t change GUARDED_BY(NFS4_MOUNT);
	struct note note GUARDED_BY(NFS4_MOUNT); /* nfs4_deleg_note.h */
	_Atomic uint64_t used_ns;
	GUARDED_BY(NFS4_MOUNT) TAILQ_HEAD(, nfs_open) opens; /* local opens */
	/* RETURNING: the local open that is becoming a real one */
	struct nfs_open *claiming GUARDED_BY(NFS4_MOUNT);
	/* RETURNING: the restarted server does not give the delegation back: its opens and locks
	 * are reclaimed like any others */
	bool forgotten GUARDED_BY(NFS4_MOUNT);
	/* RETURNING: only the op uses these */
	struct nfs_op *op;
	/* the context of the range being sent to the server, referenced; or NULL */
	struct nfs4_lockctx *pushing;
	struct lock_range range;
};

void nfs4_deleg_init(struct nfs4_client *c, enum nfs_delegations wanted) REQUIRES(c->lock);
/* Frees all; no op may be under way. */
void nfs4_deleg_finish(struct nfs4_client *c) REQUIRES(c->lock);
/* The delegation that an OPEN with that access, about to be encoded, should ask for.
 * OPEN_DELEGATE_NONE: none. An unused delegation makes room. */
enum open_delegation_type4 nfs4_deleg_wanted(struct nfs4_client *c, uint32_t access);
/* OPEN of fh as cred, begun at asked_ns, has brought g after asking for `wanted`. Returns the
 * number of the file's delegation at the time of the answer, or 0, and whether it is a write
 * delegation. An unwanted delegation goes back. former: a former daemon may have had the answer: a
 * delegation without a note goes back, too, because it may have ended since. */
uint64_t nfs4_deleg_came(struct nfs4_client *c, const struct rpc_cred *cred,
	const struct nfs_fh *fh, const struct nfs4_delegation *g, uint64_t asked_ns,
	enum open_delegation_type4 wanted, bool former, bool *writes);
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
/* The same; o is a local open. */
void nfs4_deleg_leave_locked(struct nfs4_client *c, struct nfs_open *o) REQUIRES(c->lock);
/* The HELD delegation of fh; with stateid, one of fh and stateid in any state; or NULL. */
struct nfs4_deleg *nfs4_deleg_find_locked(struct nfs4_client *c, const struct nfs_fh *fh,
	const struct nfs4_stateid *stateid) REQUIRES(c->lock);
/* Enters a delegation that the server recalls, and that no OPEN has brought: DUE. NULL: there are
 * NFS4_DELEG_UNSEEN, or no memory, or the stateid is a special one or that of another file's
 * delegation. */
struct nfs4_deleg *nfs4_deleg_unseen_locked(struct nfs4_client *c, const struct nfs_fh *fh,
	const struct nfs4_stateid *stateid) REQUIRES(c->lock);
void nfs4_deleg_move_locked(
	struct nfs4_client *c, struct nfs4_deleg *d, enum nfs4_deleg_state state) REQUIRES(c->lock);
/* A noted member of d has changed. */
void nfs4_deleg_note_locked(struct nfs4_client *c, struct nfs4_deleg *d) REQUIRES(c->lock);
/* Enters a delegation of a former daemon. NULL: no memory. */
struct nfs4_deleg *nfs4_deleg_former_locked(struct nfs4_client *c, const struct nfs4_deleg_noted *n)
	REQUIRES(c->lock);
/* o, one of the mount's opens, was a local open of a former daemon. False: there is no such
 * delegation any more, and o stays where it is. */
bool nfs4_deleg_rejoin_locked(struct nfs4_client *c, struct nfs_open *o) REQUIRES(c->lock);
/* Takes d out of the table, and frees d. d has no local opens any more. */
void nfs4_deleg_free_locked(struct nfs4_client *c, struct nfs4_deleg *d) REQUIRES(c->lock);

#endif
