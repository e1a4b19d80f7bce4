/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_server: an NFSv4.1 server as the client sees it: connections, client ID, session, slots,
 * callback service, lease, and the state manager's thread, which keeps all of these up. Exports,
 * files and locks are unknown here.
 *
 *     nfs4_server.c       making and freeing, connections, users
 *     nfs4_session.c      establishing client ID and session, and giving both back
 *     nfs4_session_ops.c  calls about client ID, session and stateids
 *     nfs4_task.c         the life of one op: slot, send (nfs4_task.h)
 *     nfs4_task_reply.c   the reply to an op, and how the op goes on
 *     nfs4_sync.c         calls that a thread waits for
 *     nfs4_state.c        the state manager's thread: lease, time, work
 *     nfs4_recover.c      the work of that thread after a loss
 *     nfs4_cb_run.c       the callback service (nfs4_cb.h)
 *
 * A mount (nfs4_mount.h) that uses a server is a struct nfs4_user here. The server reaches the
 * user only through the user's table of upcalls. There may be several users, and none. Each user
 * has one reference to the server. The server ends with the last reference.
 *
 * Locks. slots.lock is the short lock: slot table, queues, state of every op, the work list of the
 * state manager. slots.lock is held for some tens of instructions, never across a call to the
 * server. Order: cb.lock, a user's locks, slots.lock, then a leaf of the user's. The transport's
 * locks may be taken inside slots.lock (rpc_call_cancel), never the other way round: callbacks
 * arrive without any lock. No upcall is made with slots.lock held.
 *
 * The list of users changes with cb.lock and slots.lock held, so that a callback finds no user that
 * has left. The state manager visits one user after the other (nfs4_state_visit()). A user that
 * wants to leave calls nfs4_server_quit(), is visited no more, and waits for a visit to end.
 *
 * Connections. All connections to one server are bound to the one session. The first connection
 * made client ID and session, has the backchannel, and carries the blocking calls of the server and
 * its users (nfs4_sync.c). Ops of users are spread over all bound connections (nfs4_server_pick()).
 * When a lost connection is back, the state manager binds it anew.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_SERVER_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_SERVER_H

#include <stdatomic.h>

#include "nfsproto/common/nfs_backend.h"
#include "nfsproto/v4/server/nfs4_cb.h"
#include "nfsproto/v4/server/nfs4_kind.h"
#include "nfsproto/v4/server/nfs4_slots.h"

#define NFS4_MSEC  1000000ull
#define NFS4_SEC   1000000000ull
#define NFS4_CONNS 4u /* connections to one server, at most */

#define NFS4_LEASE_S 15u /* until the server's is known */

struct nfs4_server;
struct nfs4_sync;
struct nfs4_user;

/* --- users of a server --------------------------------------------------------------------- */

/* The server's questions to its user, and news for it. */
struct nfs4_upcalls {
	/* About one of the user's ops, which no other thread touches at that time. No lock held. */

	/* op is to be sent at `now`. NFS_DONE: op may be sent; NFS_LATER: not yet, in a moment;
	 * NFS_FAILED: op ends with op->error. */
	enum nfs_outcome (*may_send)(struct nfs4_user *u, struct nfs_op *op, uint64_t now);
	/* put: puts op's operations. get: walks through the results to the end: nfs4_task.h. */
	void (*put)(struct nfs4_user *u, struct nfs_op *op, struct nfs4_comp *k);
	enum nfs_outcome (*get)(struct nfs4_user *u, struct nfs_op *op, struct nfs4_reply *r);
	/* get or failed returned NFS_LATER: pass op to nfs4_state_delay(). */
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
	/* The server has forgotten all state: the user establishes as much state as possible again.
	 * The gate is closed. */
	void (*reclaim)(struct nfs4_user *u);
	/* The server has revoked state: the user finds out which. A check follows. True: some state
	 * is not known yet; again in a second. */
	bool (*revoked)(struct nfs4_user *u);
	/* Handles all suspect state. True: some is left, again in a second. */
	bool (*check)(struct nfs4_user *u);

	/* Callbacks, on the progress thread, with cb.lock held: each only notes the news. */

	/* Does the user hold the delegation? If so, the delegation is on its way back. */
	bool (*recall)(
		struct nfs4_user *u, const struct nfs_fh *fh, const struct nfs4_stateid *stateid);
	/* Is an OPEN under way that may bring a delegation? May be NULL, as the next four may. */
	bool (*opening)(struct nfs4_user *u);
	/* The attributes of fh, if this user has a write delegation of fh. NFS4_OK; NFS4ERR_DELAY:
	 * unknown now; NFS4ERR_BADHANDLE: no such delegation here. */
	uint32_t (*getattr)(
		struct nfs4_user *u, const struct nfs_fh *fh, uint64_t *size, uint64_t *change);
	/* At most `keep` delegations may be kept. */
	void (*recall_any)(struct nfs4_user *u, uint32_t keep);
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
	bool stopping;	  /* slots.lock: no new ops of this user, and no visits */
	/* Started ops of this user until done has returned. Counts up under slots.lock. */
	atomic_uint nops;
};

/* --- connections --------------------------------------------------------------------------- */

struct nfs4_conn {
	struct nfs4_server *srv; /* constant */
	struct rpc_client *rpc;	 /* constant once connected */
	bool back;		 /* constant: has the backchannel */
	atomic_bool unbound;	 /* changes under slots.lock: must be bound to the session */
};

/* conn is not bound to the session (any more): the state manager binds it. No lock held. */
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

/* The state manager's work: srv->todo, slots.lock */
#define NFS4_TODO_BIND	  0x01u /* BIND_CONN_TO_SESSION for connections that are unbound */
#define NFS4_TODO_SESSION 0x02u /* the session is gone: make a new one */
#define NFS4_TODO_CLIENT  0x04u /* the client ID too */
#define NFS4_TODO_DESTROY 0x08u /* with SESSION: the old one may still be there and must go */
#define NFS4_TODO_PROBE	  0x10u /* doubtful slots */
#define NFS4_TODO_CHECK	  0x20u /* users have suspect state */
#define NFS4_TODO_REVOKED 0x40u /* the server revoked state: users find out which */

#define NFS4_TODO_GATE (NFS4_TODO_SESSION | NFS4_TODO_CLIENT) /* work that closes the gate */

/* --- the whole ----------------------------------------------------------------------------- */

struct nfs4_server {
	/* constant once established */
	char name[256];
	unsigned minor;
	bool any_minor; /* minor may be lowered to the server's newest */
	const struct nfs4_kind *kinds;
	struct rpc_cred cred;
	char owner[160];    /* co_ownerid */
	char major_id[128]; /* so_major_id, printable */
	uint8_t verf[NFS4_VERIFIER_SIZE];
	uint32_t slots_wanted;
	unsigned conns_wanted; /* 1 */
	uint32_t request_max,
		response_max; /* bytes, of the first session; later sessions have the same */
	struct nfs4_conn conn[NFS4_CONNS];
	unsigned nconns;

	atomic_uint refs;
	atomic_uint next_conn;	       /* connections that ops are spread over */
	atomic_uint lease_s;	       /* as the last user has told: nfs4_server_lease() */
	TAILQ_HEAD(, nfs4_user) users; /* changes under cb.lock and slots.lock */
	uint64_t goodbye_ns; /* when the last user that leaves wants to be gone; 0: not told */
	int goodbye_error;   /* error from before the goodbye */

	/* Written by the thread that establishes, then by the state manager, then by the last user
	 * that leaves. All threads read session and minor while the gate is open. */
	uint64_t clientid;
	uint32_t create_seq;	/* csa_sequence of the next CREATE_SESSION */
	bool create_misordered; /* the server expects another csa_sequence */
	struct nfs4_sessionid session;
	bool have_clientid, have_session, confirmed;
	char refused[400]; /* why a session was refused, as a sentence; or empty */
	struct nfs4_channel_attrs fore;

	struct nfs4_slots slots;
	/* slots.lock */
	bool stopping;				  /* no new ops of the server's own */
	TAILQ_HEAD(nfs4_delayed, nfs_op) delayed; /* by due_ns */
	TAILQ_HEAD(, nfs_op) ended;		  /* to be ended by the state manager's thread */
	struct nfs4_sync *sync;	   /* the state manager's, under way, for cancelling */
	struct nfs4_user *visited; /* the user that the state manager visits */
	bool visit_cancelled;	   /* the visited user does not wait for its calls any longer */
	enum nfs4_state state;
	uint32_t todo;
	uint32_t flags_seen; /* sr_status_flags that have been acted upon since flags_ns */
	uint64_t flags_ns;
	uint64_t revoked_ns; /* when a flag about revoked state was last acted upon */
	uint64_t check_ns;   /* when users must check their state again; 0: not */
	uint64_t probe_ns;
	bool renewing;	     /* renew is under way */
	bool poll_wanted;    /* a user may have work that is due */
	pthread_cond_t wake; /* of the state manager */
	pthread_t thread;
	bool thread_up;
	bool stop_thread;

	struct nfs_op renew; /* SEQUENCE alone */
	atomic_uint_least64_t
		renewed_ns;   /* when the request was sent that last renewed the lease */
	atomic_bool revoking; /* changes under slots.lock: NFS4_TODO_REVOKED is not done yet */
	atomic_uint_least64_t next_owner; /* open-owners and lock-owners of all users */
	/* learnt from the server: operations that the server lacks (nfs4_ops_space.c), and whether
	 * it refuses to copy while the caller waits */
	atomic_uint lacks;
	atomic_bool copies_async;
	struct nfs4_cb cb;
};

/* Makes the server of p, not connected, with one reference. NULL: no memory, or no random numbers
 * (errno). kinds: the table of nfs4_kind.h, constant. */
struct nfs4_server *nfs4_server_new(
	const struct nfs_mount_params *p, const struct nfs4_kind *kinds);
struct nfs4_server *nfs4_server_ref(struct nfs4_server *srv);
/* Dropping the last reference gives back session and client ID, and disconnects. That blocks, for
 * some seconds at most. Not on a progress thread. NULL. */
struct nfs4_server *nfs4_server_unref(struct nfs4_server *srv);
/* init: sets up the members that need a set-up. finish: no thread may be up. For nfs4_server_new()
 * and tests. */
void nfs4_server_init(struct nfs4_server *srv, const struct nfs4_kind *kinds);
void nfs4_server_finish(struct nfs4_server *srv);
/* Makes one more connection, which is not bound to a session. 0, or -1 with *e set, as
 * nfs_connect(). */
int nfs4_server_connect(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e);
/* Ends all calls under way. */
void nfs4_server_disconnect(struct nfs4_server *srv);
/* The connection with the backchannel, for calls that a thread waits for. */
static inline struct nfs4_conn *nfs4_server_conn(struct nfs4_server *srv)
{
	return &srv->conn[0];
}
/* The connection for the next op that may use any: the only place that chooses a connection. */
struct nfs4_conn *nfs4_server_pick(struct nfs4_server *srv);

/* Adds a user at any time. The user takes a reference. */
void nfs4_server_join(struct nfs4_server *srv, struct nfs4_user *u);
/* The user is about to leave: only its ops with NFS4_F_LAST start any more, and the state manager
 * visits the user no more. Waits for the end of a visit; a visit's calls to the server have some
 * seconds. */
void nfs4_server_quit(struct nfs4_server *srv, struct nfs4_user *u);
/* The user's last op has ended: the user leaves, and its reference goes. For the last user: until:
 * the latest end of the goodbye (clock_ns()); error: 0 or an error from before. */
void nfs4_server_leave(struct nfs4_server *srv, struct nfs4_user *u, uint64_t until, int error);
/* Is the visited user u about to leave? */
bool nfs4_server_quitting(struct nfs4_server *srv, const struct nfs4_user *u);
/* The lease time that a user has learnt; the last one counts. */
void nfs4_server_lease(struct nfs4_server *srv, uint32_t s);

void nfs4_server_gate(struct nfs4_server *srv, bool open);
/* Ends ops of u (NULL: of any user) that wait for a slot, for their due time, or for their end. No
 * lock held. */
void nfs4_server_fail_queued(struct nfs4_server *srv, const struct nfs4_user *u);

/* --- establishing (nfs4_session.c) --------------------------------------------------------- */

/* Makes the connections, client ID and session, and has the state manager keep all up. 0, or -1
 * with *e set. Blocks, p->connect_ms for each step at most. */
int nfs4_server_start(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e);
/* For nfs4_server_unref(): gives back session and client ID. */
void nfs4_server_end(struct nfs4_server *srv);
/* Reports why a step failed (0 < s->status, or s->op.error), for errors that all steps have in
 * common. */
void nfs4_server_step_error(
	struct nfs4_server *srv, const struct nfs4_sync *s, const char *step, struct err *e);
/* A pause between attempts at a step, *ms to begin with 0. */
void nfs4_server_step_pause(unsigned *ms);
/* Is status "not now"? */
bool nfs4_status_passes(uint32_t status);

/* --- asking the state manager -------------------------------------------------------------- */

int nfs4_state_start(struct nfs4_server *srv); /* 0 or -errno */
void nfs4_state_stop(struct nfs4_server *srv);
/* Adds work; closes the gate if the work needs a closed gate. slots.lock held. */
void nfs4_state_want_locked(struct nfs4_server *srv, uint32_t todo);
void nfs4_state_want(struct nfs4_server *srv, uint32_t todo);
/* Has the server's users polled soon. No lock of the server's held. */
void nfs4_state_poll(struct nfs4_server *srv);
/* Judges the session by the status of an op on conn, and asks for the remedy. False: the session is
 * not in doubt, or a new one would not help. */
bool nfs4_state_doubt(struct nfs4_conn *conn, uint32_t status);
/* Handles the sr_status_flags of a SEQUENCE that was sent at sent_ns. Need not be called with 0
 * while no flags have been seen. No lock held. */
void nfs4_state_flags(struct nfs4_server *srv, uint32_t flags, uint64_t sent_ns);
/* Starts op, which was bound to a server, again after ms. No lock held. */
void nfs4_state_delay(struct nfs_op *op, unsigned ms);
/* The first delayed op, if the op is due at `now`: the caller starts the op. Or NULL. */
struct nfs_op *nfs4_state_due_locked(struct nfs4_server *srv, uint64_t now);
/* Ends the ops listed by nfs4_state_end_later_locked(). No lock held. */
void nfs4_state_pump(struct nfs4_server *srv);
/* Has the thread end op with error. slots.lock held; op is in no queue. */
void nfs4_state_end_later_locked(struct nfs4_server *srv, struct nfs_op *op, int error);

/* For the state manager's thread itself. pause returns false when the thread must stop. */
void nfs4_state_set(struct nfs4_server *srv, enum nfs4_state s);
bool nfs4_state_pause(struct nfs4_server *srv, uint64_t ns);
bool nfs4_state_stopping(struct nfs4_server *srv);
/* Ends the visit of u, and begins a visit of the user behind u (NULL: of the first) that does not
 * quit, if any. visit_end: ends the visit and begins none. */
struct nfs4_user *nfs4_state_visit(struct nfs4_server *srv, struct nfs4_user *u);
void nfs4_state_visit_end(struct nfs4_server *srv);
void nfs4_state_wait_locked(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until_ns);

/* nfs4_recover.c: the pieces of work, on the state manager's thread */
void nfs4_recover_session(struct nfs4_server *srv, uint32_t todo);
void nfs4_recover_bind(struct nfs4_server *srv);
void nfs4_recover_probe(struct nfs4_server *srv);
/* Does status, of an attempt to get state again, leave the state undecided? */
bool nfs4_recover_undecided(uint32_t status);

/* --- client ID and session (nfs4_session_ops.c) -------------------------------------------- */

/* All return as nfs4_sync_run(), s->status set; the first two set srv's members. */
int nfs4_sync_exchange_id(struct nfs4_server *srv, struct nfs4_sync *s, unsigned timeout_ms);
int nfs4_sync_create_session(struct nfs4_server *srv, struct nfs4_sync *s, unsigned timeout_ms);
/* BIND_CONN_TO_SESSION. */
int nfs4_sync_bind(struct nfs4_conn *conn, struct nfs4_sync *s, unsigned timeout_ms);

#endif
