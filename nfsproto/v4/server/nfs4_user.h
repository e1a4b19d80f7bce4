/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_user: what a server (nfs4_server.h) asks a user, and tells a user. A mount is a user.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_USER_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_USER_H

#include <stdatomic.h>
#include <sys/queue.h>

#include "nfsproto/common/nfs_backend.h"
#include "nfsproto/v4/server/nfs4_compound.h"
#include "nfsproto/v4/server/nfs4_slots.h"
#include "nfsproto/wire/nfs4_xdr_cb.h"

struct nfs4_user;

/* The server's questions to its user, and news for it. */
struct nfs4_upcalls {
	/* About one of the user's ops, which no other thread touches at that time. No lock held. */

	/* op is to be sent at `now`. NFS_DONE: op may be sent; NFS_LATER: not yet, in a moment;
	 * NFS_FAILED: op ends with op->error. */
	enum nfs_outcome (*may_send)(struct nfs4_user *u, struct nfs_op *op, uint64_t now);
	/* put: puts op's operations. get: walks through the results to the end: nfs4_kind.h. */
	void (*put)(struct nfs4_user *u, struct nfs_op *op, struct nfs4_comp *k);
	enum nfs_outcome (*get)(struct nfs4_user *u, struct nfs_op *op, struct nfs4_reply *r);
	/* get or failed returned NFS_LATER: pass op to nfs4_task_delay(). */
	void (*later)(struct nfs4_user *u, struct nfs_op *op);
	/* op was answered with a status that is not about the session. NFS_STATUS: op ends with
	 * that status. NFS_AGAIN; NFS_LATER; NFS_RECOVER: again after *ms, any number of times;
	 * NFS_FAILED: op ends with op->error. */
	enum nfs_outcome (*failed)(
		struct nfs4_user *u, struct nfs_op *op, uint32_t status, unsigned *ms);
	/* op ends now: op->error is set, done is called next. */
	void (*ended)(struct nfs4_user *u, struct nfs_op *op);

	/* On the state manager's thread; these upcalls may make blocking calls. No lock held. */

	/* Does one thing that is due, if any: true. Otherwise lowers *next to the time when one
	 * will be. */
	bool (*poll)(struct nfs4_user *u, uint64_t now, uint64_t *next);
	/* In the middle of a recovery, and each second or so: the server may be silent. True: the
	 * user has had all connections go to another server. May be NULL. */
	bool (*leave)(struct nfs4_user *u, uint64_t now);
	/* The server has forgotten all state: the user establishes as much state as possible again.
	 * The gate is closed. True: the user has had the connections go to another server, or the
	 * session is gone. Then the recovery begins anew, with a client ID. */
	bool (*reclaim)(struct nfs4_user *u);
	/* The server has revoked state: the user finds out which. A check follows. True: some state
	 * is not known yet; again in a second. */
	bool (*revoked)(struct nfs4_user *u);
	/* Handles all suspect state. True: some is left, again in a second. */
	bool (*check)(struct nfs4_user *u);

	/* Callbacks, on the progress thread, with cb.lock held: each only notes the news. */

	/* Does the user hold the delegation? If so, the delegation is on its way back. unseen: no
	 * answer to come can bring the delegation, and no user holds it; it goes back unseen, if
	 * the user takes it. */
	bool (*recall)(struct nfs4_user *u, const struct nfs_fh *fh,
		const struct nfs4_stateid *stateid, bool unseen);
	/* Is an OPEN under way that may bring a delegation? May be NULL, as the next six may. */
	bool (*opening)(struct nfs4_user *u);
	/* The attributes of fh, if this user has a write delegation of fh. NFS4_OK; NFS4ERR_DELAY:
	 * unknown now; NFS4ERR_BADHANDLE: no such delegation here. */
	uint32_t (*getattr)(
		struct nfs4_user *u, const struct nfs_fh *fh, uint64_t *size, uint64_t *change);
	/* At most `keep` delegations may be kept. */
	void (*recall_any)(struct nfs4_user *u, uint32_t keep);
	/* Layouts are recalled: NFS4_OK; NFS4ERR_DELAY: one may be on its way to this user;
	 * NFS4ERR_NOMATCHING_LAYOUT: there are none here. */
	uint32_t (*layoutrecall)(struct nfs4_user *u, const struct nfs4_cb_layoutrecall_args *a);
	/* Devices of layouts have changed, or are gone. */
	void (*notify_deviceid)(struct nfs4_user *u, const struct nfs4_cb_notify_deviceid_args *a);
	/* recall has returned true. */
	void (*recalled)(struct nfs4_user *u, const struct nfs_fh *fh);
	/* News of the connection: no callback, but reported in the same way. */
	void (*connection)(struct nfs4_user *u, enum nfs_connection what);
	/* A lock that was denied to the lock-owner `owner` may be free now. */
	void (*notify_lock)(
		struct nfs4_user *u, const struct nfs_fh *fh, const struct nfs4_opaque *owner);
	/* An asynchronous copy, perhaps of this user, has ended. */
	void (*offload)(struct nfs4_user *u, const struct nfs4_cb_offload_args *a);
};

struct nfs4_user {
	TAILQ_ENTRY(nfs4_user) link; /* in srv->users: cb.lock and slots.lock */
	/* constant while joined */
	const struct nfs4_upcalls *up;
	bool soft;
	unsigned soft_ms; /* soft: longest time of retries of an op */
	/* No op waits for the next session. An op ends with -EAGAIN if the server has surely not
	 * executed the op, else with -ENOTCONN. */
	bool hasty;
	/* no new ops of this user, and no visits */
	bool stopping GUARDED_BY(LOCK_OF(struct nfs4_slots, lock));
	/* Started ops of this user until done has returned. Counts up under slots.lock. */
	atomic_uint nops;
};

#endif
