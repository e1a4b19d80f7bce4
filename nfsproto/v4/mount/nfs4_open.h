/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_open: an open of a file: its stateid, and the op that opens and closes the file
 * (nfs4_openreq.h). A local open (nfs4_deleg.h) has the stateid of a delegation.
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_OPEN_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_OPEN_H

#include "nfsproto/v4/mount/nfs4_mount.h"

struct nfs_open {
	struct nfs_open_head head;
	TAILQ_ENTRY(nfs_open) link GUARDED_BY(NFS4_MOUNT); /* in c->opens, or its delegation's */
	bool linked GUARDED_BY(NFS4_MOUNT);		   /* in c->opens */
	/* the delegation of a local open; NULL: no local open */
	struct nfs4_deleg *local GUARDED_BY(NFS4_MOUNT);
	bool close_wanted GUARDED_BY(NFS4_MOUNT); /* NFS_CLOSE has begun */
	/* the close begins when the claim has ended (nfs4_deleg_return.c) */
	bool close_put_off GUARDED_BY(NFS4_MOUNT);
	/* the NFS_OPEN or NFS_CLOSE to answer; NULL: none */
	struct nfs_op *user GUARDED_BY(NFS4_MOUNT);
	atomic_uint refs;     /* one by the user until CLOSE has ended, one for each op under way */
	uint64_t owner;	      /* constant: our open-owner's number */
	uint32_t access;      /* constant: OPEN4_SHARE_ACCESS_*, as requested */
	atomic_uint nlockctx; /* changes under locks.lock: lock contexts bound to the open */
	bool close_deferred GUARDED_BY(NFS4_LOCKS); /* until no such context holds a lock */
	struct nfs_fh fh;			    /* constant after OPEN */
	uint64_t asked_ns;			    /* constant: when OPEN began */
	bool answered;				    /* OPEN has ended, the first time */
	uint64_t close_ns;			    /* when the last CLOSE began */
	uint32_t number; /* in the record for a successor (nfs4_state_record.c); 0: none */
	bool patient;	 /* no user waits for CLOSE */
	/* OPEN was cancelled, and no truncation is sent any more */
	bool gone GUARDED_BY(NFS4_MOUNT);
	/* the server may have a call that truncates the file; a cancelled OPEN is answered when
	 * that call has ended */
	bool truncating GUARDED_BY(NFS4_MOUNT);
	/* until OPEN has ended: the place for the first data, with references on its blocks, and
	 * the copy of its array, or NULL */
	struct seg_list to;
	struct seg *to_seg;
	struct mutex lock ACQUIRED_AFTER(LOCK_OF(struct nfs4_slots, lock));
	struct nfs4_stateid stateid GUARDED_BY(lock);
	uint32_t gen GUARDED_BY(lock); /* counts changes of stateid */
	/* access granted by the server, with more for locks; a local open: none */
	uint32_t wire_access GUARDED_BY(lock);
	/* the server has disowned stateid: the state manager opens anew */
	bool suspect GUARDED_BY(lock);
	bool lost GUARDED_BY(lock); /* opening anew failed: operations fail with -EIO */
	struct note note GUARDED_BY(lock);
	/* constant after OPEN: the kernel's request that has opened the file, if it is noted */
	uint64_t request;
	/* made from a note, and its user has not asked for it so far */
	bool former GUARDED_BY(NFS4_MOUNT);
	/* likewise: a local open, which has not found its delegation again so far */
	bool was_local GUARDED_BY(NFS4_MOUNT);
	struct nfs_op own; /* its cred, the opener's, is constant and goes with all calls about o */
	char name[NFS_NAME_MAX];
};

struct nfs_open *nfs4_open_ref(struct nfs_open *o);
void nfs4_open_unref(struct nfs_open *o);
/* Makes an open with an open-owner of its own. NULL: no memory. */
struct nfs_open *nfs4_open_new(struct nfs4_client *c, uint32_t access, const struct rpc_cred *cred);
/* The access for an open with these flags (O_RDONLY, O_TRUNC...): OPEN4_SHARE_ACCESS_*. */
uint32_t nfs4_share_access(int flags);
/* The server has opened o (again), with this additional access. */
void nfs4_open_got(struct nfs_open *o, const struct nfs4_stateid *id, uint32_t more);
/* The stateid to send in op now; the anonymous one without o. */
struct nfs4_stateid nfs4_open_stateid(struct nfs_op *op, struct nfs_open *o);
/* nfs4_sync_run_as() for the mount, about o, with the credential of o's opener. The open state
 * belongs to the opener, also after recovery; the mount's own user may not even be allowed to look
 * at the file. */
int nfs4_open_run(struct nfs4_client *c, struct nfs_open *o, struct nfs4_sync *s, unsigned kind,
	unsigned timeout_ms);

#endif
