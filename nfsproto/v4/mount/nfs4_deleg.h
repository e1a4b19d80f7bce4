/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_deleg: delegations of files to a mount (RFC 8881 section 10.4).
 *
 *     OPEN brings one --> HELD --recalled, given back, idle, too many--> DUE --> RETURNING --> gone
 *                    \--not wanted, recalled already--------------------/ |^          \
 *             HELD, DUE, FLUSHING --revoked, not reclaimed--> gone        v|           \--> REVOKED
 *             HELD --its name goes--> LEAVING --> gone, REVOKED, DUE  FLUSHING
 *
 *     HELD       the server recalls the delegation before another client changes the file (a write
 *                delegation: looks at the file). The client's data is right (nfs4_deleg_holds()).
 *                The file may be opened to read, or to write, without asking (a local open)
 *     DUE        not held any more; waits for the state manager, which returns a few at a time
 *     FLUSHING   a write delegation: the user was told to make written data safe (the upcall
 *                `flush`), and has not done so yet. Afterwards the delegation is DUE again, and
 *                `flushed`
 *     RETURNING  its op is under way: OPEN with CLAIM_DELEG_CUR_FH for each local open, one after
 *                the other, LOCK for each local lock (nfs4_lock_local.c), and then DELEGRETURN
 *     LEAVING    the file is not open here, and the delegation goes back with the op that removes
 *                or replaces a name of the file (nfs4_deleg_along.c)
 *     REVOKED    the server has revoked the delegation: FREE_STATEID is due
 *
 * Written data goes to the server with the stateid of the delegation or of an open, like any other.
 * So the loss of a delegation loses no data, only knowledge. If the server refuses the delegation's
 * stateid, the delegation is not flushed: the flush could wait for its own end.
 *
 * A local open acts with the stateid of the delegation until the open becomes a real one. A local
 * open is in the delegation's list, not among the mount's opens. If the delegation is lost, the
 * local open becomes a suspect open of the mount, and is opened anew (nfs4_open_recover.c).
 *
 * A caller that relies on the delegation must also know two things: the lease has not run out, and
 * no revocation by the server is still unknown here.
 *
 * Locks. The mount's lock guards the table and all delegations in the table. Only the state
 * manager's thread, or the thread that unmounts, frees a delegation that is HELD, DUE or FLUSHING.
 * A delegation that is RETURNING or LEAVING is freed by the end of its op, or before. None becomes
 * LEAVING while the state manager goes through a list.
 *
 *     nfs4_deleg_table.c   the table, local opens
 *     nfs4_deleg_return.c  how delegations go back
 *     nfs4_deleg_along.c   ... with an op of the user's
 *     nfs4_deleg_recover.c after a restart of the server, or a revocation
 *     nfs4_ops_deleg.c     calls to the server
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_DELEG_H

#include "nfsproto/v4/server/nfs4_task.h"

#define NFS4_DELEGS_MAX	     4096u /* delegations that are HELD */
#define NFS4_DELEG_BUCKETS   1024u
#define NFS4_DELEG_RETURNS   8u			  /* under way at a time */
#define NFS4_DELEG_FLUSHES   64u		  /* likewise */
#define NFS4_DELEG_IDLE_NS   (15 * 60 * NFS4_SEC) /* unused for so long: goes back */
#define NFS4_DELEG_FRESH_NS  (30 * NFS4_SEC)	  /* used in this time: does not give way */
#define NFS4_DELEG_LOOK_NS   (60 * NFS4_SEC)	  /* between two looks for idle delegations */
#define NFS4_DELEG_RECLAIMED 512u		  /* most reclaims after a restart of the server */

enum nfs4_deleg_state {
	NFS4_D_HELD,
	NFS4_D_DUE,
	NFS4_D_FLUSHING,
	NFS4_D_RETURNING,
	NFS4_D_LEAVING,
	NFS4_D_REVOKED,
	NFS4_D_STATES,
};

struct nfs4_deleg {
	LIST_ENTRY(nfs4_deleg) hash;
	TAILQ_ENTRY(nfs4_deleg)
	link; /* in the list of its state; HELD: least recently used first */
	enum nfs4_deleg_state state;
	/* constant */
	uint64_t id; /* never 0 */
	struct nfs_fh fh;
	enum open_delegation_type4 type; /* OPEN_DELEGATE_READ or OPEN_DELEGATE_WRITE */
	struct rpc_cred cred;		 /* credential of the opener */
	uint64_t since_ns;		 /* when the delegation came */

	struct nfs4_stateid stateid;
	bool flushed;	   /* DUE: no data to be flushed, or no more */
	bool change_known; /* `change` is set */
	uint64_t change;   /* the change attribute that came with the delegation (section 10.4.3) */
	_Atomic uint64_t used_ns;
	TAILQ_HEAD(, nfs_open) opens; /* local opens */
	struct nfs_open *claiming;    /* RETURNING: the local open that is becoming a real one */
	/* RETURNING: the context of the range being sent to the server, referenced; or NULL */
	struct nfs4_lockctx *pushing;
	struct lock_range range;
	struct nfs_op *op; /* RETURNING */
	/* RETURNING: the restarted server does not give the delegation back: its opens and locks
	 * are reclaimed like any others */
	bool forgotten;
};

TAILQ_HEAD(nfs4_deleg_list, nfs4_deleg);

/* The delegations of a mount. */
struct nfs4_delegs {
	enum nfs_delegations wanted; /* constant: the kind to ask for */
	struct nfs4_deleg_list list[NFS4_D_STATES];
	unsigned n[NFS4_D_STATES];
	LIST_HEAD(, nfs4_deleg) bucket[NFS4_DELEG_BUCKETS]; /* all */
	uint64_t last_id;
	bool visited;	   /* the state manager goes through a list of delegations */
	unsigned opening;  /* OPENs under way, which may bring one */
	uint64_t look_ns;  /* when to look for idle delegations next; 0: never yet */
	uint64_t again_ns; /* no memory or no connection for a return: try again at this time */
};

struct nfs4_client;

/* --- the table (nfs4_deleg_table.c); no lock held ------------------------------------------- */

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

/* --- the return of delegations (nfs4_deleg_return.c); no lock held but cb.lock ---------------- */

/* CB_RECALL. If the delegation is one of ours, starts its return: true. */
bool nfs4_deleg_recall(
	struct nfs4_client *c, const struct nfs_fh *fh, const struct nfs4_stateid *stateid);
/* CB_GETATTR: as the callback of nfs4_server.h. */
uint32_t nfs4_deleg_getattr(
	struct nfs4_client *c, const struct nfs_fh *fh, uint64_t *size, uint64_t *change);
/* CB_RECALL_ANY: returns HELD delegations until at most `keep` are left. */
void nfs4_deleg_recall_any(struct nfs4_client *c, uint32_t keep);
void nfs4_deleg_give_back(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id);
/* nfs4_deleg_along.c: op, a REMOVE or RENAME that is about to start, is to take a delegation along.
 * Otherwise the delegation goes back by itself. */
void nfs4_deleg_take_along(struct nfs4_client *c, struct nfs_op *op);
/* put: the operations that return the delegation, before any other. get: does the walk go on? Else
 * *out is the outcome of op. */
void nfs4_deleg_put_along(const struct nfs_op *op, struct nfs4_comp *k);
bool nfs4_deleg_get_along(
	struct nfs4_client *c, struct nfs_op *op, struct nfs4_reply *r, enum nfs_outcome *out);
/* op ends: a delegation that op still has goes back by itself. */
void nfs4_deleg_stays(struct nfs4_client *c, struct nfs_op *op);
/* Data written under the delegation is safe, or has been reported as lost. */
void nfs4_deleg_flushed(struct nfs4_client *c, const struct nfs_fh *fh, uint64_t id);
/* The server refuses the stateid of generation gen that o has. True: the stateid is that of a
 * delegation, which goes back. */
bool nfs4_deleg_disowned(struct nfs4_client *c, struct nfs_open *o, uint32_t gen);
/* The upcalls of the same names; the state manager's thread. */
bool nfs4_deleg_poll(struct nfs4_client *c, uint64_t now, uint64_t *next);
void nfs4_deleg_reclaim(struct nfs4_client *c);
bool nfs4_deleg_revoked(struct nfs4_client *c);
/* At unmount: begins to return all delegations. Returns how many. Delegations for which the server
 * answered "later" are left. */
unsigned nfs4_deleg_return_all(struct nfs4_client *c);
/* Are any left that nfs4_deleg_return_all() would begin to return? */
bool nfs4_deleg_left(struct nfs4_client *c);

/* --- calls to the server (nfs4_ops_deleg.c) -------------------------------------------------- */

/* PUTFH and DELEGRETURN. */
void nfs4_put_delegreturn(const struct nfs4_deleg *d, struct nfs4_comp *k);
/* Does status, the answer to PUTFH or DELEGRETURN, say that the server has no such delegation?
 * *revoked: the server has revoked the delegation, and waits for FREE_STATEID. */
bool nfs4_delegreturn_gone(uint32_t status, bool *revoked);

#endif
