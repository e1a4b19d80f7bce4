/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_task: one op on its way to a server: its state, and the ops that a thread waits
 * for. Model: nfs4_task.c. Handling of replies: nfs4_task_reply.c.
 *
 * Every op knows its connection (be.v4.conn), through the connection its server, and its user
 * (be.v4.user; NULL: the op is the server's own). nfs4_task_bind() sets both before any other step.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_TASK_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_TASK_H

#include "nfsproto/v4/server/nfs4_server.h"
#include "nfsproto/common/lock_ranges.h"

#define NFS4_WHERE_MAX 300 /* of other servers named in a sentence */

struct nfs4_deleg;
struct nfs4_lockctx;

/* nfs4_session_ops.c: the coders of kinds about the server itself */
#define NFS4_SERVER_CODERS(x)                                                                      \
	void nfs4_put_##x(struct nfs4_server *srv, struct nfs_op *op, struct nfs4_comp *k);        \
	enum nfs_outcome nfs4_get_##x(                                                             \
		struct nfs4_server *srv, struct nfs_op *op, struct nfs4_reply *r)
NFS4_SERVER_CODERS(op_sequence);
NFS4_SERVER_CODERS(op_exchange_id);
NFS4_SERVER_CODERS(op_create_session);
NFS4_SERVER_CODERS(op_bind);
NFS4_SERVER_CODERS(op_destroy_session);
NFS4_SERVER_CODERS(op_destroy_clientid);
NFS4_SERVER_CODERS(op_reclaim_complete);
NFS4_SERVER_CODERS(op_test_stateid);
NFS4_SERVER_CODERS(op_free_stateid);

/* --- one op (nfs4_task.c) ------------------------------------------------------------------ */

enum nfs4_task_state {	/* nfs_op.be.v4.state, under slots.lock but for one step, see nfs4_task.c */
	NFS4_T_NEW,	/* bound, but not under way: not started, or ended */
	NFS4_T_QUEUED,	/* in slots.waiting: for a slot or the gate */
	NFS4_T_DELAYED, /* in srv->delayed: until due_ns */
	NFS4_T_DUE,	/* due_ns has passed: starts again */
	NFS4_T_SENDING, /* has all that its call needs; the call is being made */
	NFS4_T_ABORTED, /* cancelled while it was SENDING */
	NFS4_T_SENT,	/* has a call, which the transport has or is about to get */
	NFS4_T_ENDING,	/* its reply is being read; op may start again */
};

/* nfs_op.be.v4.flags: written by the thread that starts the op or looks at its reply;
 * be.v4.cancelled is under slots.lock */
#define NFS4_F_PRIV	 1u   /* a nfs4_sync: never retried */
#define NFS4_F_OWN	 2u   /* a nfs_open's own op */
#define NFS4_F_SLOT_SET	 4u   /* comes with its slot: finding out about a doubtful one */
#define NFS4_F_SLOT_KEPT 8u   /* has kept its slot and sequence id: SEQUENCE was answered DELAY */
#define NFS4_F_LAST	 16u  /* at unmount: goes although the client stops, is never retried */
#define NFS4_F_UNCACHED	 32u  /* the reply is too large for the server's cache */
#define NFS4_F_NAMING	 64u  /* waits for the name service */
#define NFS4_F_LOCK_ID	 128u /* was sent with the stateid of a lock */

static inline struct nfs4_server *nfs4_task_server(const struct nfs_op *op)
{
	return op->be.v4.conn->srv;
}

/* The outcome of an op after a walk (nfs4_compound.h) that ended with rc, or after a negative
 * errno. */
static inline enum nfs_outcome nfs4_outcome(struct nfs_op *op, int rc)
{
	return rc > 0 ? NFS_STATUS : nfs_failed(op, rc);
}

/* Makes op, which is not under way, an op of kind for conn, of u or (NULL) of the server itself.
 * Clears all other back-end members of op. */
void nfs4_task_bind(struct nfs_op *op, struct nfs4_conn *conn, struct nfs4_user *u, unsigned kind);
/* Starts (or starts again) an op with its kind set. Any thread, no lock held. */
void nfs4_task_start(struct nfs_op *op);
/* Ends op: calls done. No lock held. */
void nfs4_task_end(struct nfs_op *op, int error);
/* op, which is not under way, may have a slot with a request that the server may have counted. The
 * slot is given back as DOUBTFUL. slots.lock held. */
void nfs4_task_give_up_slot_locked(struct nfs_op *op);
/* Asks op to end early (nfs_cancel()); slots.lock held. Its done is called later, from another
 * thread. */
void nfs4_task_cancel_locked(struct nfs_op *op);
/* Has op, perhaps cancelled, kept its slot, and may the server execute its call late? Then op asks
 * until the answer comes. slots.lock held. */
bool nfs4_task_asks_on_locked(const struct nfs_op *op);
/* u quits: cancels all ops of u that have a slot. Their end is -ENOTCONN. Unlike
 * nfs4_task_cancel_locked(), cancels calls that the server may execute late. No lock held. */
void nfs4_task_abandon(struct nfs4_server *srv, const struct nfs4_user *u);
/* Has op's user, or the server for its own op, stopped new ops? slots.lock held. */
bool nfs4_task_stopping_locked(const struct nfs_op *op);
/* Sets op's state. The user counts an op that was NFS4_T_NEW until its done has returned.
 * slots.lock held. */
void nfs4_task_state_locked(struct nfs_op *op, enum nfs4_task_state state);
/* Starts the waiting ops for which there are slots, now that the gate is open. No lock held. */
void nfs4_task_kick(struct nfs4_server *srv);

/* Between nfs4_task.c and nfs4_task_reply.c. */
static inline const struct nfs4_kind *nfs4_task_kind(const struct nfs_op *op)
{
	return &nfs4_task_server(op)->kinds[op->be.v4.kind];
}
/* The done of the call. */
void nfs4_task_replied(struct rpc_call *call, int error, struct xdr_in *res);
/* Starts op, which makes no progress because of `why`, again after ms (0: at once), unless a soft
 * mount has waited long enough. No lock held. */
void nfs4_task_wait(struct nfs_op *op, const char *why, unsigned ms);
/* op was answered by an error that no server gives for long: a slot out of step, an unknown
 * stateid. Counts such answers, apart from tries: a server may ask for any number of tries before
 * (NFS4ERR_DELAY, NFS4ERR_GRACE). False: op has had `most` such answers, and must end. most:
 * below 255. */
bool nfs4_task_may_stray(struct nfs_op *op, unsigned most);
/* May op, which has kept its slot, go on asking on a session that is lost? */
bool nfs4_task_asks_old(const struct nfs_op *op);
/* The same because the server answered status. The attempt counts in op->tries. */
void nfs4_task_again(struct nfs_op *op, uint32_t status, unsigned ms);
/* Gives op's slot back, and op has none then. Takes a slot for the first waiting op, if there is
 * one. Returns that op, now SENDING, to be sent with *highest; or NULL. */
struct nfs_op *nfs4_task_release_locked(
	struct nfs4_server *srv, struct nfs_op *op, enum nfs4_slot_end end, uint32_t *highest);
/* Sends op, which is SENDING and has its slot. */
void nfs4_task_send(struct nfs4_server *srv, struct nfs_op *op, uint32_t highest);

/* --- blocking calls (nfs4_sync.c) ---------------------------------------------------------- */

struct nfs4_sync {
	struct nfs_op op;
	pthread_mutex_t lock; /* of ended */
	pthread_cond_t cond;
	bool ended;
	bool passes; /* passes the gate; constant while the op is under way */
	/* how it ended: status is the nfsstat4 if op.error comes from one */
	uint32_t status;
	uint32_t walked; /* operations that succeeded before the end */
	/* in and out, by kind */
	union {
		struct {
			uint64_t clientid;
			uint32_t sequence, flags;
		} exchange_id;
		struct {
			const char *path;  /* names separated by one '/', no leading one */
			uint32_t from_len; /* 0: from the root of the server, else fh */
			struct nfs_fh fh;  /* in and out */
			struct nfs_attr attr;
			char where[NFS4_WHERE_MAX]; /* NFS4_K_LOCATIONS: out */
		} walk;
		struct nfs4_attrs fsinfo; /* mask, in: attributes to ask for; out: those that came
					   */
		struct {
			struct nfs_open *open;
			bool reclaim; /* CLAIM_PREVIOUS, else CLAIM_FH */
			struct nfs4_stateid stateid;
		} reopen;
		struct {
			struct nfs4_deleg *deleg;
			/* out */
			enum open_delegation_type4 type;
			struct nfs4_stateid stateid;
			bool recall;
		} redeleg;
		struct {
			struct nfs4_lockctx *ctx;
			struct lock_range range;
		} relock;
		struct {
			struct nfs4_stateid ids[32];
			uint32_t n;
			uint32_t code[32];
		} test;
		struct nfs4_stateid free_id;
	} u;
};

/* Runs one op of a kind that is about the server, and waits at most timeout_ms for its end. Not on
 * a progress thread. Returns op.error: 0; -EAGAIN (no slot, for an op that passes the gate);
 * -ETIMEDOUT (silence); -EINTR (the server stops, or the visited user quits); ... */
int nfs4_sync_run(struct nfs4_server *srv, struct nfs4_sync *s, unsigned kind, unsigned timeout_ms);
/* The same on a certain connection, for u (NULL: no user) as cred, about o (or NULL). */
int nfs4_sync_run_as(struct nfs4_conn *conn, struct nfs4_user *u, const struct rpc_cred *cred,
	struct nfs_open *o, struct nfs4_sync *s, unsigned kind, unsigned timeout_ms);

#endif
