/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_task: the life of one op. nfs4_task_run.h makes its calls, nfs4_task_reply.h judges the
 * replies.
 *
 *     start --no slot, gate closed--> QUEUED --a slot comes free--> SENDING
 *     start --slot--> SENDING --> SENT --reply--> ENDING --> NEW, done
 *                                                   \--> DELAYED --> DUE --> start (DELAY, GRACE)
 *                                                   \--> start        (next step, new session)
 *
 * The user of an op counts the op from its start until done has returned. A user that wants to
 * leave waits until none is left.
 *
 * An op is encoded when it has its slot, never before. So a retry is a new encoding with a new
 * sequence id.
 *
 * The exception is a SEQUENCE that was answered DELAY. The server may still be executing the same
 * request, received over a connection that is lost by now. It will keep that request's answer under
 * the sequence id. So the op keeps its slot and asks again with the same sequence id (RFC 8881
 * 15.1.1.3). If the op cannot do so (it ends, a new session is made, or the op must wait for a lock
 * and no other slot is free), the slot is DOUBTFUL. A new session waits for some more tries of an
 * unsure op, since a restarted server may keep answers under the old session (rnfs-serve does).
 *
 * An op that changes the data of a file is not forgotten when it is cancelled after it was sent.
 * The server may execute calls of different slots in any order, and so execute this call over later
 * WRITEs. The op ends with its answer; if SEQUENCE was answered DELAY, the op asks on.
 *
 * The thread that submits an op sends it. The progress thread that gets a reply gives the slot to
 * the first op that waits. The thread sends that op before it looks at the results.
 *
 * Invariants. In ENDING only the thread that ends the op touches the op; a canceller sets a flag
 * and does no more. rpc_call_cancel() is called in state SENT only, with slots.lock held. A reply
 * first leaves SENT under slots.lock, so no finished call is ever cancelled. Only the step from
 * SENDING to SENT is made without the lock, by compare-and-swap, for speed. A canceller changes
 * SENDING to ABORTED in the same way, and one of the two wins.
 *
 * Every op knows its server, and its user (be.v4.user; NULL: the op is the server's own).
 * nfs4_task_bind() sets both before any other step. The connection (be.v4.conn) is chosen for each
 * call, but that of a sync op is the caller's choice. Only the thread that makes the call or reads
 * the reply looks at the connection: while the call is under way, the transport may move it.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_TASK_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_TASK_H

#include "nfsproto/v4/server/nfs4_server.h"

enum nfs4_task_state {	/* nfs_op.be.v4.state, under slots.lock but for nfs4_task_step() */
	NFS4_T_NEW,	/* bound, but not under way: not started, or ended */
	NFS4_T_QUEUED,	/* in slots.waiting: for a slot or the gate */
	NFS4_T_DELAYED, /* in srv->delayed: until due_ns */
	NFS4_T_DUE,	/* due_ns has passed: starts again */
	NFS4_T_SENDING, /* has all that its call needs; the call is being made */
	NFS4_T_ABORTED, /* cancelled while it was SENDING */
	NFS4_T_SENT,	/* has a call, which the transport has or is about to get */
	NFS4_T_ENDING,	/* its reply is being read; op may start again */
	NFS4_T_AWAY,	/* its user carries it out at other servers; op may start again, or end */
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
#define NFS4_F_PASSES	 256u /* with PRIV: passes the gate, and never queues for a slot */

static inline struct nfs4_server *nfs4_task_server(const struct nfs_op *op)
{
	return op->be.v4.srv;
}

static inline const struct nfs4_kind *nfs4_task_kind(const struct nfs_op *op)
{
	return &nfs4_task_server(op)->kinds[op->be.v4.kind];
}
/* The lock-free step of the state: true if the state was `from`. */
static inline bool nfs4_task_step(struct nfs_op *op, uint8_t from, uint8_t to)
{
	/* release: the call is made ready before; acquire: the call is read after */
	return atomic_compare_exchange_strong_explicit(
		&op->be.v4.state, &from, to, memory_order_acq_rel, memory_order_acquire);
}

/* Makes op, which is not under way, an op of kind for conn, of u or (NULL) of the server itself.
 * Clears all other back-end members of op. */
void nfs4_task_bind(struct nfs_op *op, struct nfs4_conn *conn, struct nfs4_user *u, unsigned kind);
/* Ends op: calls done. No lock held. */
void nfs4_task_end(struct nfs_op *op, int error);
/* Its user carries op, not started yet, out elsewhere, and then starts or ends op. False: op was
 * cancelled, or its user has stopped new ops. No lock held but the user's own. */
bool nfs4_task_away(struct nfs_op *op);
/* op, which is not under way, may have a slot with a request that the server may have counted. The
 * slot is given back as DOUBTFUL. */
void nfs4_task_give_up_slot_locked(struct nfs_op *op) REQUIRES(LOCK_OF(struct nfs4_slots, lock));
/* Asks op to end early (nfs_cancel()). Its done is called later, from another thread. */
void nfs4_task_cancel_locked(struct nfs_op *op) REQUIRES(LOCK_OF(struct nfs4_slots, lock));
/* Has op, perhaps cancelled, kept its slot, and may the server execute its call late? Then op asks
 * until the answer comes. */
bool nfs4_task_asks_on_locked(const struct nfs_op *op) REQUIRES(LOCK_OF(struct nfs4_slots, lock));
/* May op, which has kept its slot, go on asking on a session that is lost? */
bool nfs4_task_asks_old(const struct nfs_op *op);
/* u quits: cancels all ops of u that have a slot. Their end is -ENOTCONN. Unlike
 * nfs4_task_cancel_locked(), cancels calls that the server may execute late. No lock held. */
void nfs4_task_abandon(struct nfs4_server *srv, const struct nfs4_user *u);
/* Has op's user, or the server for its own op, stopped new ops? */
bool nfs4_task_stopping_locked(const struct nfs_op *op) REQUIRES(LOCK_OF(struct nfs4_slots, lock));
/* Sets op's state. The user counts an op that was NFS4_T_NEW until its done has returned. */
void nfs4_task_state_locked(struct nfs_op *op, enum nfs4_task_state state)
	REQUIRES(LOCK_OF(struct nfs4_slots, lock));
/* Starts op, which was bound to a server, again after ms. No lock held. */
void nfs4_task_delay(struct nfs_op *op, unsigned ms);
/* The first delayed op, if the op is due at `now`: the caller starts the op. Or NULL. */
struct nfs_op *nfs4_task_due_locked(struct nfs4_server *srv, uint64_t now)
	REQUIRES(srv->slots.lock);
/* Ends the ops listed by nfs4_task_end_later_locked(). No lock held. */
void nfs4_task_pump(struct nfs4_server *srv);
/* Has the thread end op, which is in no queue, with error. */
void nfs4_task_end_later_locked(struct nfs4_server *srv, struct nfs_op *op, int error)
	REQUIRES(srv->slots.lock);
/* Ends ops of u (NULL: of any user) that wait for a slot, for their due time, or for their end. No
 * lock held. */
void nfs4_task_fail_queued(struct nfs4_server *srv, const struct nfs4_user *u);
/* op was answered by an error that no server gives for long: a slot out of step, an unknown
 * stateid. Counts such answers, apart from tries: a server may ask for any number of tries before
 * (NFS4ERR_DELAY, NFS4ERR_GRACE). False: op has had `most` such answers, and must end. most:
 * below 255. */
bool nfs4_task_may_stray(struct nfs_op *op, unsigned most);

#endif
