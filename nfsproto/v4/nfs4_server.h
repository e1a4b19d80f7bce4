/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_server: an NFSv4.1 server as its client sees it: connections, client ID, session, slots,
 * callback service, lease, and the state manager's thread, which keeps all that up. Nothing here
 * knows of exports, files or locks.
 *
 *     nfs4_server.c       making and freeing, connections, users
 *     nfs4_session.c      establishing client ID and session, and giving them back
 *     nfs4_session_ops.c  what is said about client ID, session and stateids
 *     nfs4_task.c         the life of one op: slot, send (nfs4_task.h)
 *     nfs4_task_reply.c   its reply: what becomes of the op
 *     nfs4_sync.c         calls that a thread waits for
 *     nfs4_state.c        the state manager's thread: lease, time, work
 *     nfs4_recover.c      what it does when something was lost
 *     nfs4_cb_run.c       the callback service (nfs4_cb.h)
 *
 * Who uses a server, a mount (nfs4_client.h), is a struct nfs4_user to it, and is reached through
 * that one's table of upcalls only. There may be several, and none: the server is counted by
 * reference, each user has one, and it ends with the last.
 *
 * Locks. slots.lock is the short lock: slot table, queues, state of every op, the work list of the
 * state manager. It is held for some tens of instructions, never across a call to the server.
 * Order: cb.lock, a user's locks, slots.lock, then a leaf of the user's. The transport's locks may
 * be taken inside slots.lock (rpc_call_cancel), never the other way round: callbacks arrive without
 * any lock. No upcall is made with slots.lock held.
 *
 * The list of users changes with cb.lock and slots.lock held, so that a callback finds nobody who
 * has left. The state manager visits one user after the other (nfs4_state_visit()); whoever wants
 * to leave says so (nfs4_server_quit()), is visited no more, and waits for a visit to end.
 *
 * Connections. All that one server has are bound to the one session. The first one made client ID
 * and session, has the backchannel, and carries what the server and its users must wait for
 * (nfs4_sync.c); ops of users are spread over all that are bound (nfs4_server_pick()). One that was
 * lost and is back is bound anew by the state manager.
 */
#ifndef RNFS_NFSPROTO_V4_NFS4_SERVER_H
#define RNFS_NFSPROTO_V4_NFS4_SERVER_H

#include <stdatomic.h>

#include "nfsproto/nfs_backend.h"
#include "nfsproto/v4/nfs4_cb.h"
#include "nfsproto/v4/nfs4_compound.h"
#include "nfsproto/v4/nfs4_slots.h"

#define NFS4_MSEC  1000000ull
#define NFS4_SEC   1000000000ull
#define NFS4_CONNS 4u /* connections to one server, at most */

#define NFS4_LEASE_S 15u /* until the server's is known */

struct nfs4_server;
struct nfs4_sync;
struct nfs4_user;

/* --- who uses a server --------------------------------------------------------------------- */

/* What a server asks of its user, and tells it. */
struct nfs4_upcalls {
	/* About one of the user's ops, which nobody else touches at that time. No lock held. */

	/* It is to be sent at `now`. NFS_DONE: it may; NFS_LATER: not yet, in a moment; NFS_FAILED:
	 * op->error is how it ends. */
	enum nfs_outcome (*may_send)(struct nfs4_user *u, struct nfs_op *op, uint64_t now);
	/* Puts its operations, walks through their results to the end: nfs4_task.h. */
	void (*put)(struct nfs4_user *u, struct nfs_op *op, struct nfs4_comp *k);
	enum nfs_outcome (*get)(struct nfs4_user *u, struct nfs_op *op, struct nfs4_reply *r);
	/* get, or failed, said later: it is to be handed to nfs4_state_delay(). */
	void (*later)(struct nfs4_user *u, struct nfs_op *op);
	/* It was answered a status that is not about the session. NFS_STATUS: that is how it ends.
	 * NFS_AGAIN; NFS_LATER; NFS_RECOVER: again after *ms, as often as it takes;
	 * NFS_FAILED: op->error is how it ends. */
	enum nfs_outcome (*failed)(
		struct nfs4_user *u, struct nfs_op *op, uint32_t status, unsigned *ms);
	/* It ends now: op->error is set, done is called next. */
	void (*ended)(struct nfs4_user *u, struct nfs_op *op);

	/* On the state manager's thread; these may make calls that they wait for. No lock held. */

	/* Does one thing that is due, if any: true. Else *next is lowered to when one will be. */
	bool (*poll)(struct nfs4_user *u, uint64_t now, uint64_t *next);
	/* The server has forgotten all: establishes again what it can. The gate is closed. */
	void (*reclaim)(struct nfs4_user *u);
	/* The server has revoked something: finds out what. A check follows. */
	void (*revoked)(struct nfs4_user *u);
	/* Sees to all state that is suspect. True: not all could be done, again in a second. */
	bool (*check)(struct nfs4_user *u);

	/* Callbacks, on the progress thread, with cb.lock held: they only leave word. */

	/* Is that delegation held? It is on its way back then. */
	bool (*recall)(
		struct nfs4_user *u, const struct nfs_fh *fh, const struct nfs4_stateid *stateid);
	/* Is an OPEN under way that may bring one? May be NULL, as the next four may. */
	bool (*opening)(struct nfs4_user *u);
	/* What does fh look like, if it is held delegated to write? NFS4_OK; NFS4ERR_DELAY: that is
	 * not known; NFS4ERR_BADHANDLE: it is none of ours. */
	uint32_t (*getattr)(
		struct nfs4_user *u, const struct nfs_fh *fh, uint64_t *size, uint64_t *change);
	/* No more than so many delegations are to be kept. */
	void (*recall_any)(struct nfs4_user *u, uint32_t keep);
	/* It has said yes to recall. */
	void (*recalled)(struct nfs4_user *u, const struct nfs_fh *fh);
	/* What has become of the connection: no callback, but told likewise. */
	void (*connection)(struct nfs4_user *u, enum nfs_connection what);
	/* A lock that was denied to the lock-owner `owner` may be had now. */
	void (*notify_lock)(
		struct nfs4_user *u, const struct nfs_fh *fh, const struct nfs4_opaque *owner);
	/* An asynchronous copy, perhaps of this user's, has ended. */
	void (*offload)(struct nfs4_user *u, const struct nfs4_cb_offload_args *a);
};

struct nfs4_user {
	TAILQ_ENTRY(nfs4_user) link; /* in srv->users: cb.lock and slots.lock */
	/* constant while it is joined */
	const struct nfs4_upcalls *up;
	bool soft;
	unsigned soft_ms; /* soft: most time an op is retried */
	bool stopping;	  /* slots.lock: no new ops of this user, and no visits */
	/* Ops of its that have started and whose done has not returned. Counts up under slots.lock.
	 */
	atomic_uint nops;
};

/* --- connections --------------------------------------------------------------------------- */

struct nfs4_conn {
	struct nfs4_server *srv; /* constant */
	struct rpc_client *rpc;	 /* constant once connected */
	bool back;		 /* constant: it is to have the backchannel */
	atomic_bool unbound;	 /* changes under slots.lock: to be bound to the session */
};

/* The session does not know conn (any more): the state manager binds it. No lock held. */
void nfs4_conn_unbound(struct nfs4_conn *conn);

/* --- the state manager (nfs4_state.c) ------------------------------------------------------ */

enum nfs4_state {
	NFS4_S_NEW,	  /* mounting; no thread yet */
	NFS4_S_RUNNING,	  /* gate open */
	NFS4_S_DRAINING,  /* gate closed, requests under way on the dead session are coming home */
	NFS4_S_CLIENT_ID, /* EXCHANGE_ID */
	NFS4_S_SESSION,	  /* CREATE_SESSION */
	NFS4_S_RECLAIM,	  /* the users' state, RECLAIM_COMPLETE */
	NFS4_S_STOPPED,
};
const char *nfs4_state_name(enum nfs4_state s);

/* what the state manager is to do: srv->todo, slots.lock */
#define NFS4_TODO_BIND	  0x01u /* BIND_CONN_TO_SESSION for connections that are unbound */
#define NFS4_TODO_SESSION 0x02u /* the session is gone: a new one */
#define NFS4_TODO_CLIENT  0x04u /* the client ID too */
#define NFS4_TODO_DESTROY 0x08u /* with SESSION: the old one may still be there and must go */
#define NFS4_TODO_PROBE	  0x10u /* doubtful slots */
#define NFS4_TODO_CHECK	  0x20u /* users have state that is suspect */
#define NFS4_TODO_REVOKED 0x40u /* the server revoked state: users find out which */

#define NFS4_TODO_GATE (NFS4_TODO_SESSION | NFS4_TODO_CLIENT) /* what closes the gate */

/* --- the whole ----------------------------------------------------------------------------- */

struct nfs4_server {
	/* constant once it is established */
	char name[256];
	unsigned minor;
	bool any_minor; /* minor may be lowered to what the server has */
	struct rpc_cred cred;
	char owner[160];    /* co_ownerid */
	char major_id[128]; /* so_major_id, printable */
	uint8_t verf[NFS4_VERIFIER_SIZE];
	uint32_t slots_wanted;
	unsigned conns_wanted;		    /* 1 */
	uint32_t request_max, response_max; /* bytes, of the first session; later ones are alike */
	struct nfs4_conn conn[NFS4_CONNS];
	unsigned nconns;

	atomic_uint refs;
	atomic_uint next_conn;	       /* of those that ops are spread over */
	atomic_uint lease_s;	       /* as a user has heard it: nfs4_server_lease() */
	TAILQ_HEAD(, nfs4_user) users; /* changes under cb.lock and slots.lock */
	uint64_t goodbye_ns; /* of who leaves last: when he wants to be gone; 0: nobody said */
	int goodbye_error;   /* what had gone wrong by then */

	/* written by who establishes, then the state manager, then who leaves last; session and
	 * minor are read by all while the gate is open */
	uint64_t clientid;
	uint32_t create_seq;	/* csa_sequence of the next CREATE_SESSION */
	bool create_misordered; /* the server expects another one */
	struct nfs4_sessionid session;
	bool have_clientid, have_session, confirmed;
	char refused[400]; /* why a session was not good enough, a sentence; else empty */
	struct nfs4_channel_attrs fore;

	struct nfs4_slots slots;
	/* slots.lock */
	bool stopping;				  /* no new ops of its own */
	TAILQ_HEAD(nfs4_delayed, nfs_op) delayed; /* by due_ns */
	TAILQ_HEAD(, nfs_op) ended;		  /* to be ended by the state manager's thread */
	struct nfs4_sync *sync;	   /* the state manager's, under way, for cancelling */
	struct nfs4_user *visited; /* whom the state manager visits */
	bool visit_cancelled;	   /* and who does not wait for its calls any longer */
	enum nfs4_state state;
	uint32_t todo;
	uint32_t flags_seen; /* sr_status_flags that have been acted upon since flags_ns */
	uint64_t flags_ns;
	uint64_t check_ns; /* when users are asked again to check their state; 0: not */
	uint64_t probe_ns;
	bool renewing;	     /* renew is under way */
	bool poll_wanted;    /* a user may have something that is due */
	pthread_cond_t wake; /* of the state manager */
	pthread_t thread;
	bool thread_up;
	bool stop_thread;

	struct nfs_op renew;		  /* SEQUENCE alone */
	atomic_uint_least64_t renewed_ns; /* when what last renewed the lease was sent */
	atomic_bool revoking; /* changes under slots.lock: NFS4_TODO_REVOKED is not done yet */
	atomic_uint_least64_t next_owner; /* open-owners and lock-owners of all users */
	/* what has been learnt of it: operations it does not have (nfs4_ops_space.c), and that it
	 * refuses to copy while the caller waits */
	atomic_uint lacks;
	atomic_bool copies_async;
	struct nfs4_cb cb;
};

/* A server as p names it, not connected, with one reference. NULL: no memory, or no random numbers
 * (errno). */
struct nfs4_server *nfs4_server_new(const struct nfs_mount_params *p);
struct nfs4_server *nfs4_server_ref(struct nfs4_server *srv);
/* The last one ends it: session and client ID are given back, it is disconnected. That blocks, for
 * some seconds at most. Not on a progress thread. NULL. */
struct nfs4_server *nfs4_server_unref(struct nfs4_server *srv);
/* The members that need it; finish: no thread may be up. For nfs4_server_new() and tests. */
void nfs4_server_init(struct nfs4_server *srv);
void nfs4_server_finish(struct nfs4_server *srv);
/* Makes one more connection, which is not bound to anything. 0, or -1 with *e set, as
 * nfs_connect(). */
int nfs4_server_connect(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e);
/* What is still under way ends. */
void nfs4_server_disconnect(struct nfs4_server *srv);
/* The connection with the backchannel, for what is waited for. */
static inline struct nfs4_conn *nfs4_server_conn(struct nfs4_server *srv)
{
	return &srv->conn[0];
}
/* The connection for the next op that may travel on any: the only place where one is chosen. */
struct nfs4_conn *nfs4_server_pick(struct nfs4_server *srv);

/* A user comes, any time, and takes a reference. */
void nfs4_server_join(struct nfs4_server *srv, struct nfs4_user *u);
/* It is about to leave: no op of its starts any more but what has NFS4_F_LAST, it is visited no
 * more. Waits for the end of a visit; what that still asks the server has some seconds. */
void nfs4_server_quit(struct nfs4_server *srv, struct nfs4_user *u);
/* Its last op has ended: it leaves with its reference. If that is the last: until when (clock_ns())
 * the goodbye may take, and 0 or what has gone wrong before. */
void nfs4_server_leave(struct nfs4_server *srv, struct nfs4_user *u, uint64_t until, int error);
/* Is u, which is visited, to be left soon? */
bool nfs4_server_quitting(struct nfs4_server *srv, const struct nfs4_user *u);
/* What a user has learnt of the lease; the last one counts. */
void nfs4_server_lease(struct nfs4_server *srv, uint32_t s);

void nfs4_server_gate(struct nfs4_server *srv, bool open);
/* Ends what waits of u (NULL: of anybody) for a slot, for its time, or for somebody to end it. No
 * lock held. */
void nfs4_server_fail_queued(struct nfs4_server *srv, const struct nfs4_user *u);

/* --- establishing (nfs4_session.c) --------------------------------------------------------- */

/* Makes the connections, client ID and session, and has the state manager keep them up. 0, or -1
 * with *e set. Blocks, p->connect_ms for each step at most. */
int nfs4_server_start(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e);
/* For nfs4_server_unref(): the end of it. */
void nfs4_server_end(struct nfs4_server *srv);
/* Why a step failed (0 < s->status, or s->op.error), for what all steps have in common. */
void nfs4_server_step_error(
	struct nfs4_server *srv, const struct nfs4_sync *s, const char *step, struct err *e);
/* A pause between attempts at a step, *ms to begin with 0. */
void nfs4_server_step_pause(unsigned *ms);
/* Is status "not now"? */
bool nfs4_status_passes(uint32_t status);

/* --- asking the state manager -------------------------------------------------------------- */

int nfs4_state_start(struct nfs4_server *srv); /* 0 or -errno */
void nfs4_state_stop(struct nfs4_server *srv);
/* Adds work; the gate is closed for what needs it. slots.lock held. */
void nfs4_state_want_locked(struct nfs4_server *srv, uint32_t todo);
void nfs4_state_want(struct nfs4_server *srv, uint32_t todo);
/* Has its users polled soon. No lock of the server's held. */
void nfs4_state_poll(struct nfs4_server *srv);
/* What status, of an op on conn, says of the session: asks for the remedy. False: nothing, or
 * nothing that a new session would mend. */
bool nfs4_state_doubt(struct nfs4_conn *conn, uint32_t status);
/* A SEQUENCE's sr_status_flags, when not 0. */
void nfs4_state_flags(struct nfs4_server *srv, uint32_t flags);
/* Starts op, which has been bound to a server, again after ms. No lock held. */
void nfs4_state_delay(struct nfs_op *op, unsigned ms);
/* Ends what nfs4_state_end_later_locked() has listed. No lock held. */
void nfs4_state_pump(struct nfs4_server *srv);
/* Has the thread end op with error. slots.lock held; op is in no queue. */
void nfs4_state_end_later_locked(struct nfs4_server *srv, struct nfs_op *op, int error);

/* For the state manager's thread itself. pause returns false when it is to stop. */
void nfs4_state_set(struct nfs4_server *srv, enum nfs4_state s);
bool nfs4_state_pause(struct nfs4_server *srv, uint64_t ns);
bool nfs4_state_stopping(struct nfs4_server *srv);
/* Begins a visit of the user behind u (NULL: of the first), if there is one that does not quit, and
 * ends that of u. visit_end: no further one. */
struct nfs4_user *nfs4_state_visit(struct nfs4_server *srv, struct nfs4_user *u);
void nfs4_state_visit_end(struct nfs4_server *srv);
void nfs4_state_wait_locked(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until_ns);

/* nfs4_recover.c: the pieces of work, on the state manager's thread */
void nfs4_recover_session(struct nfs4_server *srv, uint32_t todo);
void nfs4_recover_bind(struct nfs4_server *srv);
void nfs4_recover_probe(struct nfs4_server *srv);
/* Is status, of an attempt to have something again, no verdict on that? */
bool nfs4_recover_undecided(uint32_t status);

/* --- client ID and session (nfs4_session_ops.c) -------------------------------------------- */

/* All return as nfs4_sync_run(), s->status set; the first two set srv's members. */
int nfs4_sync_exchange_id(struct nfs4_server *srv, struct nfs4_sync *s, unsigned timeout_ms);
int nfs4_sync_create_session(struct nfs4_server *srv, struct nfs4_sync *s, unsigned timeout_ms);
/* BIND_CONN_TO_SESSION. */
int nfs4_sync_bind(struct nfs4_conn *conn, struct nfs4_sync *s, unsigned timeout_ms);

#endif
