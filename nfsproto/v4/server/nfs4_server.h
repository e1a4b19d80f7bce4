/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_server: an NFSv4.1 server as the client sees it: connections, client ID, session, slots,
 * callback service, lease, and the state manager's thread, which keeps all of these up. Exports,
 * files and locks are unknown here.
 *
 * The files, from below; each calls only files above it in this list, and none calls a mount:
 *
 *     nfs4_slots        slots of the fore channel
 *     nfs4_cb           slots of the backchannel
 *     nfs4_compound     building a COMPOUND and walking through the reply
 *     nfs4_kind.h       the kinds of op; nfs4_user.h: the users of a server
 *     nfs4_server       the struct: making and freeing
 *     nfs4_state        work for the state manager
 *     nfs4_replay       calls that change the file system, for a successor
 *     nfs4_task         the life of one op: its states, its end
 *     nfs4_task_reply   the reply to an op, judged
 *     nfs4_task_run     slot, call, reply, next call of an op
 *     nfs4_sync         calls that a thread waits for
 *     nfs4_session_ops  calls about client ID, session and stateids
 *     nfs4_cb_run       the callback service
 *     nfs4_conn         making and ending connections
 *     nfs4_recover      the state manager's work after a loss
 *     nfs4_manager      the state manager's thread: lease, time, work
 *     nfs4_trunk        further connections
 *     nfs4_session      establishing client ID and session, and giving both back
 *     nfs4_join         joining a server and leaving it
 *
 * A mount that uses a server is a struct nfs4_user here. The server reaches the user only through
 * the user's table of upcalls, and the coders of the user's ops through the table of kinds. There
 * may be several users, and none. Each user has one reference to the server. The server ends with
 * the last reference.
 *
 * Locks. slots.lock is the short lock: slot table, queues, state of every op, the work list of the
 * state manager. slots.lock is held for some tens of instructions, never across a call to the
 * server. Order: cb.lock, a user's locks, slots.lock, then a leaf of the user's. The transport's
 * locks may be taken inside slots.lock (rpc_call_cancel), never the other way round: callbacks
 * arrive without any lock. No upcall is made with slots.lock held.
 *
 * The list of users changes with cb.lock and slots.lock held, so that a callback finds no user that
 * has left. The state manager visits one user after the other (nfs4_state_visit()). A user that
 * wants to leave calls nfs4_user_quit(), is visited no more, and waits for a visit to end.
 *
 * Connections. All connections to one server are bound to the one session, each for both
 * directions: the server calls back over any of them. Ops are spread over the bound connections
 * (nfs4_server_pick()). A call whose connection is lost goes over another at once (rpc_paths.h), in
 * the same slot and with the same sequence id, so the server executes it once. When a lost
 * connection is back, the state manager binds it anew, before ops use it.
 */
#ifndef RNFS_NFSPROTO_V4_SERVER_NFS4_SERVER_H
#define RNFS_NFSPROTO_V4_SERVER_NFS4_SERVER_H

#include <stdatomic.h>

#include "nfsproto/common/nfs_backend.h"
#include "nfsproto/common/nfs_links.h"
#include "nfsproto/v4/server/nfs4_cb.h"
#include "nfsproto/v4/server/nfs4_kind.h"
#include "nfsproto/v4/server/nfs4_slots.h"
#include "nfsproto/v4/server/nfs4_user.h"
#include "transport/rpc/rpc_paths.h"

#define NFS4_MSEC  1000000ull
#define NFS4_SEC   1000000000ull
#define NFS4_CONNS ((unsigned)RPC_PATHS_MAX)

#define NFS4_LEASE_S 15u /* until the server's is known */

/* --- connections --------------------------------------------------------------------------- */

/* An opaque value of the server's, or none (len 0). */
struct nfs4_kept {
	uint32_t len;
	uint8_t data[NFS4_OPAQUE_LIMIT];
};

struct nfs4_conn {
	struct nfs4_server *srv;	/* constant */
	struct rpc_client *_Atomic rpc; /* constant once connected */
	/* after the mount only a migration changes these, on the state manager's thread */
	struct sockaddr_storage to; /* the address; changes under slots.lock */
	bool other;		    /* to another address than the first */
	bool told;		    /* constant: the server has told the address (trunkdiscovery) */
	unsigned refused;	    /* the state manager's: answers BADSESSION to BIND, in a row */
	unsigned wait_s;	    /* the state manager's: while apart, the last pause, */
	uint64_t due_ns;	    /* and its end */
	atomic_bool unbound;	    /* changes under slots.lock: must be bound to the session */
	atomic_bool down;	    /* lost, and not back yet; or not made so far */
	atomic_bool ended;	    /* counted no more */
	atomic_bool apart;	    /* no path (rpc_paths.h) until it has been bound */
};

/* --- the state manager --------------------------------------------------------------------- */

enum nfs4_state {
	NFS4_S_NEW,	  /* mounting; no thread yet */
	NFS4_S_RUNNING,	  /* gate open */
	NFS4_S_DRAINING,  /* gate closed, requests under way on the dead session are coming home */
	NFS4_S_CLIENT_ID, /* EXCHANGE_ID */
	NFS4_S_SESSION,	  /* CREATE_SESSION */
	NFS4_S_RECLAIM,	  /* the users' state, RECLAIM_COMPLETE */
	NFS4_S_STOPPED,
};

/* The state manager's work: srv->todo */
#define NFS4_TODO_BIND	  0x01u /* BIND_CONN_TO_SESSION for connections that are unbound */
#define NFS4_TODO_SESSION 0x02u /* the session is gone: make a new one */
#define NFS4_TODO_CLIENT  0x04u /* the client ID too */
#define NFS4_TODO_DESTROY 0x08u /* with SESSION: the old one may still be there and must go */
#define NFS4_TODO_PROBE	  0x10u /* doubtful slots */
#define NFS4_TODO_CHECK	  0x20u /* users have suspect state */
#define NFS4_TODO_REVOKED 0x40u /* the server revoked state: users find out which */

#define NFS4_TODO_GATE (NFS4_TODO_SESSION | NFS4_TODO_CLIENT) /* work that closes the gate */

/* --- the whole ----------------------------------------------------------------------------- */

struct nfs4_replay;

struct nfs4_server {
	/* constant once established */
	char name[256];
	unsigned minor;
	bool any_minor; /* minor may be lowered to the server's newest */
	/* EXCHGID4_FLAG_USE_*: roles of the server that the client asks for, and has got */
	uint32_t roles, roles_given;
	const struct nfs4_kind *kinds;
	struct rpc_cred cred;
	char owner[160];    /* co_ownerid */
	char major_id[128]; /* so_major_id, printable */
	uint8_t verf[NFS4_VERIFIER_SIZE];
	bool borrowed; /* constant: owner and verf are those of another server of this mount */
	uint32_t slots_wanted;
	unsigned conns_wanted;
	uint32_t request_max,
		response_max; /* bytes, of the first session; later sessions have the same */
	struct nfs4_conn conn[NFS4_CONNS];
	struct rpc_client *rpcs[NFS4_CONNS]; /* of each connection */
	atomic_uint nconns;
	struct rpc_client_params rp; /* of the first connection, for more */
	struct rpc_paths paths;	     /* all connections, if there may be several */
	struct nfs_links links GUARDED_BY(cb.lock);

	atomic_uint refs;
	atomic_uint lease_s;	       /* as the last user has told: nfs4_server_lease() */
	TAILQ_HEAD(, nfs4_user) users; /* changes under cb.lock and slots.lock */

	/* Written by the thread that establishes, then by the state manager, then by the last user
	 * that leaves. All threads read session and minor while the gate is open. */
	uint64_t clientid;
	uint32_t create_seq;	    /* csa_sequence of the next CREATE_SESSION */
	unsigned create_misordered; /* in a row: the server expects another csa_sequence */
	struct nfs4_sessionid session;
	struct nfs4_kept owner_major, scope; /* as EXCHANGE_ID told them */
	uint64_t owner_minor;
	bool have_clientid, have_session, confirmed;
	char refused[400]; /* why a session was refused, as a sentence; or empty */
	struct nfs4_channel_attrs fore;

	/* constant after mount; NULL: this daemon keeps no notes, and has no former one's */
	struct nfs4_replay *replay;
	bool reclaiming; /* of a new client ID: state is not reclaimed yet */

	struct nfs4_slots slots;
	bool stopping GUARDED_BY(slots.lock); /* no new ops of the server's own */
	GUARDED_BY(slots.lock) TAILQ_HEAD(nfs4_delayed, nfs_op) delayed; /* by due_ns */
	/* to be ended by the state manager's thread */
	GUARDED_BY(slots.lock) TAILQ_HEAD(, nfs_op) ended;
	/* the state manager's, under way, for cancelling */
	struct nfs_op *sync GUARDED_BY(slots.lock);
	/* the user that the state manager visits */
	struct nfs4_user *visited GUARDED_BY(slots.lock);
	/* the visited user does not wait for its calls any longer */
	bool visit_cancelled GUARDED_BY(slots.lock);
	enum nfs4_state state GUARDED_BY(slots.lock);
	uint32_t todo GUARDED_BY(slots.lock);
	/* sr_status_flags that have been acted upon since flags_ns */
	uint32_t flags_seen GUARDED_BY(slots.lock);
	uint64_t flags_ns GUARDED_BY(slots.lock);
	/* when a flag about revoked state was last acted upon */
	uint64_t revoked_ns GUARDED_BY(slots.lock);
	/* when users must check their state again; 0: not */
	uint64_t check_ns GUARDED_BY(slots.lock);
	/* when connections that could not be bound are tried again; 0: none */
	uint64_t bind_ns GUARDED_BY(slots.lock);
	uint64_t probe_ns GUARDED_BY(slots.lock);
	bool renewing GUARDED_BY(slots.lock);	 /* renew is under way */
	bool poll_wanted GUARDED_BY(slots.lock); /* a user may have work that is due */
	/* when the last user that leaves wants to be gone; 0: not told */
	uint64_t goodbye_ns GUARDED_BY(slots.lock);
	int goodbye_error GUARDED_BY(slots.lock); /* error from before the goodbye */
	pthread_cond_t wake;			  /* of the state manager */
	pthread_t thread;			  /* constant while thread_up */
	bool thread_up GUARDED_BY(slots.lock);
	bool stop_thread GUARDED_BY(slots.lock);

	struct nfs_op renew; /* SEQUENCE alone */
	atomic_uint_least64_t
		renewed_ns; /* when the request was sent that last renewed the lease */
	/* when a call outside of the session was last answered, such as EXCHANGE_ID; 0: never */
	atomic_uint_least64_t heard_ns;
	bool may_leave;		 /* constant: a user may go on at another server (nfs4_user.h) */
	atomic_bool lease_moved; /* SEQUENCE: a file system with state of ours has moved */
	atomic_bool revoking;	 /* changes under slots.lock: NFS4_TODO_REVOKED is not done yet */
	atomic_uint_least64_t next_owner; /* open-owners and lock-owners of all users */
	/* learnt from the server: the operations that the server lacks, and whether it refuses to
	 * copy while the caller waits */
	atomic_uint lacks;
	atomic_bool copies_async;
	struct nfs4_cb cb;
};

/* The bit of op, one of NFSv4.2 alone, in nfs4_server.lacks. */
static inline uint32_t nfs4_lacks_bit(uint32_t op)
{
	return 1u << (op - OP_ALLOCATE);
}
static inline bool nfs4_server_lacks(struct nfs4_server *srv, uint32_t op)
{
	return atomic_load_explicit(&srv->lacks, memory_order_relaxed) & nfs4_lacks_bit(op);
}
/* The server has shown that op is of no use there. True: for the first time. */
static inline bool nfs4_server_note_lack(struct nfs4_server *srv, uint32_t op)
{
	uint32_t bit = nfs4_lacks_bit(op);

	return !(atomic_fetch_or_explicit(&srv->lacks, bit, memory_order_relaxed) & bit);
}

/* Makes the server of p, not connected, with one reference. NULL: no memory, or no random numbers
 * (errno). kinds: the table of nfs4_kind.h, constant. */
struct nfs4_server *nfs4_server_new(
	const struct nfs_mount_params *p, const struct nfs4_kind *kinds);
struct nfs4_server *nfs4_server_ref(struct nfs4_server *srv);
/* init: sets up the members that need a set-up. finish: no thread may be up. For nfs4_server_new()
 * and tests. */
void nfs4_server_init(struct nfs4_server *srv, const struct nfs4_kind *kinds);
void nfs4_server_finish(struct nfs4_server *srv);
/* A connection for calls that a thread waits for: the first path that is up and bound to the
 * session, as far as is known; else the first that is up; else the first. */
struct nfs4_conn *nfs4_server_conn(struct nfs4_server *srv);
/* The connection for op's next call: the only place that spreads ops over connections. */
struct nfs4_conn *nfs4_server_pick(struct nfs4_server *srv, const struct nfs_op *op);
/* The connection that carried call, which has ended. */
struct nfs4_conn *nfs4_server_carrier(struct nfs4_server *srv, const struct rpc_call *call);
/* Notes whether conn must be bound to the session before ops use it. */
void nfs4_server_unbound_locked(struct nfs4_conn *conn, bool unbound)
	REQUIRES(conn->srv->slots.lock);

/* Is the visited user u about to leave? */
bool nfs4_server_quitting(struct nfs4_server *srv, const struct nfs4_user *u)
	EXCLUDES(srv->slots.lock);
/* The lease time that a user has learnt; the last one counts. */
void nfs4_server_lease(struct nfs4_server *srv, uint32_t s);

void nfs4_server_gate(struct nfs4_server *srv, bool open) EXCLUDES(srv->slots.lock);

#endif
