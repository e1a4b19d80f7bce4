/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_server: an NFSv4.1 server as its client sees it: connections, client ID, session, slots,
 * callback service, lease, and the state manager's thread, which keeps all that up. Nothing here
 * knows of exports, files or locks.
 *
 *     nfs4_server.c   its life
 *     nfs4_task.c     the life of one op: slot, send, reply, retry (nfs4_task.h)
 *     nfs4_sync.c     calls that a thread waits for
 *     nfs4_session.c  what is said about client ID and session
 *     nfs4_state.c    the state manager's thread: lease, time, work
 *     nfs4_recover.c  what it does when something was lost
 *     nfs4_cb.c       the callback service
 *
 * Who uses a server, a mount (nfs4_client.h), is a struct nfs4_user to it, and is reached through
 * that one's table of upcalls only. A server without any user can be had: it keeps its session.
 *
 * Locks. slots.lock is the short lock: slot table, queues, state of every op, the work list of the
 * state manager. It is held for some tens of instructions, never across a call to the server.
 * Order: cb.lock, a user's locks, slots.lock, then a leaf of the user's. The transport's locks may
 * be taken inside slots.lock (rpc_call_cancel), never the other way round: callbacks arrive without
 * any lock. No upcall is made with slots.lock held.
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
#define NFS4_CONNS 1u /* connections to one server */

struct nfs4_server;
struct nfs4_sync;
struct nfs4_user;

/* --- who uses a server --------------------------------------------------------------------- */

/* What a server asks of its user, and tells it. */
struct nfs4_upcalls {
	/* About one of the user's ops, which nobody else touches at that time. No lock held. */

	/* It is to be sent at `now`. 0; -EAGAIN: not yet, in a moment; or what it ends with. */
	int (*may_send)(struct nfs4_user *u, const struct nfs_op *op, uint64_t now);
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
	/* A lock that was denied to the lock-owner `owner` may be had now. */
	void (*notify_lock)(
		struct nfs4_user *u, const struct nfs_fh *fh, const struct nfs4_opaque *owner);
	/* An asynchronous copy, perhaps of this user's, has ended. */
	void (*offload)(struct nfs4_user *u, const struct nfs4_cb_offload_args *a);
};

struct nfs4_user {
	/* constant while it is joined */
	TAILQ_ENTRY(nfs4_user) link;
	const struct nfs4_upcalls *up;
	bool soft;
	unsigned soft_ms; /* soft: most time an op is retried */
	bool stopping;	  /* slots.lock: no new ops of this user */
};

/* --- connections --------------------------------------------------------------------------- */

struct nfs4_conn {
	struct nfs4_server *srv; /* constant */
	struct rpc_client *rpc;	 /* constant once connected */
	bool unbound;		 /* slots.lock: to be bound to the session */
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
	uint32_t lease_s;
	uint32_t request_max; /* bytes, of the first session; later ones are alike */
	struct nfs4_conn conn[NFS4_CONNS];
	unsigned nconns;
	TAILQ_HEAD(, nfs4_user) users; /* changes while nobody else is there: nfs4_server_join() */

	/* written by whoever runs nfs4_sync (mounting thread, state manager, unmounting thread: one
	 * after the other); session and minor are read by all while the gate is open */
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
	struct nfs4_sync *sync;			  /* under way, for cancelling */
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

/* A server as p names it, not connected. NULL: no memory, or no random numbers (errno). */
struct nfs4_server *nfs4_server_new(const struct nfs_mount_params *p);
/* It is not connected (any more), has no user, and its thread is not up. NULL. */
struct nfs4_server *nfs4_server_free(struct nfs4_server *srv);
/* The members that need it; finish: no thread may be up. For nfs4_server_new() and tests. */
void nfs4_server_init(struct nfs4_server *srv);
void nfs4_server_finish(struct nfs4_server *srv);
/* Makes the connection. 0, or -1 with *e set, as nfs_connect(). */
int nfs4_server_connect(struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e);
/* What is still under way ends. */
void nfs4_server_disconnect(struct nfs4_server *srv);
/* The connection for what may travel on any. */
static inline struct nfs4_conn *nfs4_server_conn(struct nfs4_server *srv)
{
	return &srv->conn[0];
}
/* A user comes before the state manager runs, and goes when there is no connection any more. */
void nfs4_server_join(struct nfs4_server *srv, struct nfs4_user *u);
void nfs4_server_leave(struct nfs4_server *srv, struct nfs4_user *u);

/* The end, in steps. Opens or closes the gate. */
void nfs4_server_gate(struct nfs4_server *srv, bool open);
/* Ends what waits for a slot, for its time, or for somebody to end it. No lock held. */
void nfs4_server_fail_queued(struct nfs4_server *srv);
/* Gives session and client ID back, until `until` at most. error: what has gone wrong before, or 0;
 * a silent server (-ETIMEDOUT) is not asked. */
void nfs4_server_goodbye(struct nfs4_server *srv, uint64_t until, int error);

/* --- asking the state manager -------------------------------------------------------------- */

int nfs4_state_start(struct nfs4_server *srv); /* 0 or -errno */
void nfs4_state_stop(struct nfs4_server *srv);
/* Adds work; the gate is closed for what needs it. slots.lock held. */
void nfs4_state_want_locked(struct nfs4_server *srv, uint32_t todo);
void nfs4_state_want(struct nfs4_server *srv, uint32_t todo);
/* Has its users polled soon. No lock of the server's held. */
void nfs4_state_poll(struct nfs4_server *srv);
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
void nfs4_state_wait_locked(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t until_ns);

/* nfs4_recover.c: the pieces of work, on the state manager's thread */
void nfs4_recover_session(struct nfs4_server *srv, uint32_t todo);
void nfs4_recover_bind(struct nfs4_server *srv);
void nfs4_recover_probe(struct nfs4_server *srv);
/* Is status, of an attempt to have something again, no verdict on that? */
bool nfs4_recover_undecided(uint32_t status);

/* --- client ID and session (nfs4_session.c) ------------------------------------------------ */

/* Both set srv's members and return as nfs4_sync_run(), s->status set. */
int nfs4_sync_exchange_id(struct nfs4_server *srv, struct nfs4_sync *s, unsigned timeout_ms);
int nfs4_sync_create_session(struct nfs4_server *srv, struct nfs4_sync *s, unsigned timeout_ms);

#endif
