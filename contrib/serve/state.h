/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * state: what the server remembers about its clients: client IDs, sessions with their slots and
 * reply caches, opens and byte-range locks (RFC 8881 sections 2.4, 2.10, 8 and 9).
 *
 * A client is a record of EXCHANGE_ID, unconfirmed until its first CREATE_SESSION. It owns sessions
 * and states (`struct st`: opens and lock owners). Records that have not been heard of for a lease
 * are kept (courtesy) until somebody else needs what they hold or their number grows too large.
 * Unconfirmed records cost nothing to make, so a new one pushes out the oldest of too many.
 *
 * Descriptors are scarce: opens of all clients together are bounded by what RLIMIT_NOFILE leaves,
 * and one client gets two thirds of them at most. One with two descriptors of its own counts twice.
 *
 * A full table of clients makes room for a newcomer by forgetting, in this order, one that has not
 * renewed its lease, an unconfirmed one, and one that is confirmed but holds nothing: that one
 * loses no more than its session and comes again.
 *
 * Memory for replies is set aside when a session is made, for all that its slots may come to keep,
 * so that a slot never has to break the promise; it is taken from the heap as replies come. The
 * fuller the common budget, the fewer slots a new session gets.
 *
 * Principals. What manages a client (CREATE_SESSION, BIND_CONN_TO_SESSION, DESTROY_SESSION,
 * DESTROY_CLIENTID) is done only for the principal of its EXCHANGE_ID. State protection is
 * SP4_NONE: a SEQUENCE binds its connection to the session it names, whoever sends it, so that
 * session IDs are random and told to nobody else.
 *
 * Locks, in the order in which they may be taken together:
 *     state->lock       client and session lists, client records' confirmation, epochs
 *     state->index_lock the sessions by their number: read by every SEQUENCE, changed with both
 *     session->lock     slots, the backchannel
 *     obj->lock         a file's opens and locks
 *     client->lock      the client's table of states
 *     waits.lock        those who wait for locks; with obj->lock, not with client->lock
 * and, never together with any of them, grace.c's over the writing of the record of clients.
 * None is held over a call to the transport; obj->lock is held over open(2) of its file.
 *
 * References. A session is held by the table and by each request that runs in it; a client by the
 * table, by its sessions and by requests; a state by its client's table and by each READ or WRITE
 * that is using its descriptors.
 */
#ifndef RNFS_SERVE_STATE_H
#define RNFS_SERVE_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "contrib/serve/object.h"
#include "contrib/serve/waiter.h"
#include "nfsproto/lock_ranges.h"
#include "nfsproto/nfs4_xdr.h"
#include "transport/rpc.h"

#define STATE_MAX_CLIENTS  1024
#define STATE_MAX_UNCONF   256	       /* of them not confirmed yet */
#define STATE_MAX_ALL	   4096	       /* sessions of all clients */
#define STATE_MAX_SESSIONS 64	       /* of one client */
#define STATE_MAX_SLOTS	   128	       /* of one session */
#define STATE_MAX_OPENS	   65536       /* opens and lock owners of one client */
#define STATE_MAX_RANGES   16384       /* locked byte ranges of one client */
#define STATE_MAX_OPS	   64	       /* operations in a COMPOUND */
#define STATE_MAX_CACHED   4096	       /* bytes of a reply that a slot keeps */
#define STATE_MIN_CACHED   512	       /* and that it may keep even if the client asked for less */
#define STATE_MAX_CACHE	   (64u << 20) /* bytes of slots and kept replies of all sessions */

struct client;
struct grace; /* grace.h */
struct session;

struct slot {
	uint32_t seq;
	bool busy;
	bool used;	 /* a request ran here */
	bool have_reply; /* reply[0..len) is its whole COMPOUND result */
	uint32_t len, cap;
	uint8_t *reply;
	uint64_t print;	  /* of the request's first printed operations (serve.h) */
	uint32_t printed; /* behind SEQUENCE */
};

/* What is known of a request that a slot has answered. */
struct slot_replay {
	uint8_t *reply; /* malloc'ed */
	uint32_t len;
	uint64_t print;
	uint32_t printed;
};

struct session {
	struct nfs4_sessionid id;
	struct client *client; /* referenced */
	struct nfs4_channel_attrs fore, back;
	uint32_t cached_max;		  /* bytes of a reply that each slot may keep */
	uint32_t reserved;		  /* bytes of state->cache_used */
	unsigned refs;			  /* atomic */
	bool dead;			  /* state->lock: out of the table */
	LIST_ENTRY(session) index_link;	  /* state->index_lock */
	TAILQ_ENTRY(session) link;	  /* state->lock */
	TAILQ_ENTRY(session) client_link; /* state->lock */

	pthread_mutex_t lock;
	struct slot *slots; /* fore.maxrequests of them; lock */
	/* backchannel; lock */
	uint32_t cb_prog;
	struct rpc_cred cb_cred;
	struct rpc_xprt *cb_xprt; /* referenced; NULL: none */
	uint32_t minor;		  /* of the client's COMPOUNDs */
	uint32_t cb_seq;
	struct notices notices; /* to be sent when the slot is free */
	unsigned nnotices;
	bool cb_busy;
	bool cb_wanted; /* the client asked for one */
	bool cb_down;	/* and the last probe failed, or the connection is gone */
};

enum st_kind { ST_OPEN, ST_LOCK };

struct st {
	enum st_kind kind;
	struct nfs4_stateid sid; /* seqid: obj->lock and client->lock to change */
	struct client *client;
	struct obj *obj; /* referenced */
	uint32_t owner_len;
	uint8_t *owner;
	unsigned refs;	 /* client->lock */
	bool closed;	 /* obj->lock and client->lock to change */
	uint8_t counted; /* times in nopens; obj->lock to change */
	/* ST_OPEN, obj->lock (descriptors: set once, closed at the last reference) */
	uint32_t access, deny;
	int fd_r, fd_w;
	/* ST_LOCK */
	struct st *open;	   /* referenced */
	struct lock_ranges ranges; /* obj->lock */
	LIST_ENTRY(st) obj_link;   /* obj->lock */
};

struct client {
	uint64_t id;
	uint8_t verf[NFS4_VERIFIER_SIZE];
	uint32_t owner_len;
	uint8_t *owner;
	struct rpc_cred cred; /* of EXCHANGE_ID: the principal */
	bool confirmed;	      /* state->lock */
	bool reclaim_done;    /* atomic: RECLAIM_COMPLETE has come */
	bool nlm;	      /* not of EXCHANGE_ID, but a host that locks by NLM (nlm.h) */
	uint32_t nlm_state;   /* state->lock: of its status monitor; 0: not known */
	bool noted;	      /* atomic: it is in the record of clients (grace.h) */
	bool gone;	      /* state->lock: out of the table */
	unsigned refs;	      /* state->lock */
	unsigned nsessions;   /* state->lock */
	uint32_t seq;	      /* state->lock: of the next CREATE_SESSION */
	uint32_t cs_status;   /* state->lock: answer to the last one, for a replay */
	struct nfs4_create_session_res cs_res;
	uint64_t seen_ns; /* atomic: last SEQUENCE */
	uint32_t nopens;  /* atomic: opens, each with its descriptors */
	uint32_t nranges; /* atomic: of all its lock owners */
	char who[128];	  /* for the log */
	TAILQ_ENTRY(client) link;
	TAILQ_HEAD(, session) sessions; /* state->lock */

	pthread_mutex_t lock;
	struct st **tab; /* lock */
	uint32_t ntab, nused, next_free;
	uint32_t stamp; /* makes stateids of a re-used place differ */
	bool ended;	/* lock: out of the table of clients, nothing is put into tab any more */
};

#define STATE_BUCKETS 256

struct state {
	pthread_mutex_t lock;
	pthread_rwlock_t index_lock;
	LIST_HEAD(, session) index[STATE_BUCKETS]; /* by the last word of the session ID */
	TAILQ_HEAD(, client) clients;
	TAILQ_HEAD(, session) sessions;
	unsigned nclients, nsessions;
	uint32_t cache_used; /* atomic; of STATE_MAX_CACHE, set aside for sessions */
	struct obj_table *objs;
	struct waits waits;
	struct grace *grace; /* whom the state outlives; NULL: nobody, there is no grace period */
	uint32_t nopens;     /* atomic: of all clients */
	uint32_t max_opens;
	uint32_t boot; /* in every id that this run gives out */
	uint32_t next_client;
	uint32_t lease_s;
};

uint64_t state_now_ns(void);
int state_init(struct state *s, struct obj_table *objs, uint32_t lease_s);
/* No request may be running. */
void state_finish(struct state *s);
/* Forgets unconfirmed records that are old, and expired ones that hold nothing. Once a second or
 * so. */
void state_tick(struct state *s);
/* Writes into the log how many clients there are and what each of them holds. */
void state_report(struct state *s);
/* x is gone: nobody calls back over it any more. */
void state_conn_down(struct state *s, struct rpc_xprt *x);

/* --- clients (client.c): return a status of NFSv4 -----------------------------------------------
 */

uint32_t client_exchange_id(struct state *s, const struct rpc_cred *cred, const char *peer,
	const struct nfs4_exchange_id_args *a, struct nfs4_exchange_id_res *r);
uint32_t client_destroy(struct state *s, const struct rpc_cred *cred, uint64_t clientid);
/* Are both of one flavor and, with AUTH_SYS, of one user? */
bool client_same_principal(const struct rpc_cred *a, const struct rpc_cred *b);
/* A reference to the record of the host owner (its name, at most NFS4_OPAQUE_LIMIT bytes) that
 * locks by NLM; made if there is none and make. Its locks have no lease: it never expires. NULL:
 * there is none, or no room. */
struct client *client_nlm(
	struct state *s, const char *peer, const struct nfs4_opaque *owner, bool make);
/* A reference to a client record, or NULL. Called with state->lock held. */
struct client *client_find_locked(struct state *s, uint64_t clientid);
void client_unref(struct state *s, struct client *c);
/* The client has been confirmed: older records of the same owner go. state->lock held. Those that
 * the caller must give to client_dispose() after unlocking come back as a list through link. */
struct client *client_confirm_locked(struct state *s, struct client *c);
/* Takes c out of the table (state->lock held). The table's reference is the caller's. */
void client_remove_locked(struct state *s, struct client *c);
/* Ends sessions and states of a removed client and drops the table's reference. No lock held. */
void client_dispose(struct state *s, struct client *c);
/* May c open or lock something: again what it held before a restart of the server (reclaim), or
 * anew? NFS4_OK, or NFS4ERR_GRACE, _NO_GRACE, _DELAY. */
uint32_t client_may_claim(struct state *s, struct client *c, bool reclaim);
/* c has sent RECLAIM_COMPLETE. False: it had done so before. */
bool client_reclaimed(struct state *s, struct client *c);
/* c is about to get its first state: it goes into the record of clients. No lock held. */
void client_note(struct state *s, struct client *c);
bool client_expired(struct state *s, struct client *c);
/* An expired client that is in the way of another loses everything. True if it was one. */
bool client_evict_expired(struct state *s, uint64_t clientid);
/* The longest expired client other than clientid loses everything. True if there was one. */
bool client_evict_one(struct state *s, uint64_t clientid);

/* --- sessions (session.c) ------------------------------------------------------------------------
 */

/* *out (may be NULL) is a referenced session when it was newly made. cred must be the principal of
 * EXCHANGE_ID. */
uint32_t session_create(struct state *s, struct rpc_xprt *x, const struct rpc_cred *cred,
	const struct nfs4_create_session_args *a, struct nfs4_create_session_res *r,
	struct session **out);
struct session *session_get(struct state *s, const struct nfs4_sessionid *id);
void session_put(struct state *s, struct session *ses);
/* Takes ses out of the table; state->lock is held. The table's reference is the caller's. */
void session_unlink_locked(struct state *s, struct session *ses);
uint32_t session_destroy(
	struct state *s, const struct rpc_cred *cred, const struct nfs4_sessionid *id);
/* Makes x (may be NULL: none) the connection for callbacks. */
void session_set_back(struct session *ses, struct rpc_xprt *x);

enum slot_verdict { SLOT_RUN, SLOT_REPLAY, SLOT_ERROR };
/* What is to be done with a request. SLOT_RUN: the slot is the caller's until slot_done().
 * SLOT_REPLAY: *rep (its reply is the caller's) is the answer. SLOT_ERROR: *status. */
enum slot_verdict slot_begin(struct session *ses, const struct nfs4_sequence_args *a,
	uint32_t *status, struct slot_replay *rep);
/* The request has been carried out. reply NULL: the answer is not kept. */
void slot_done(struct session *ses, uint32_t slotid, const void *reply, uint32_t len,
	uint64_t print, uint32_t printed);

/* --- opens (open.c) and locks (lock.c)
 * ------------------------------------------------------------ */

/* Adds share access and deny to what owner has open of o, opening descriptors. fd (-1: none) is one
 * that the caller already has, opened with fd_flags; consumed in any case. A status. */
uint32_t st_open(struct state *s, struct client *c, struct obj *o, const struct nfs4_opaque *owner,
	uint32_t access, uint32_t deny, int fd, bool fd_rdwr, struct nfs4_stateid *out);
/* Is there room for another open of c? NFS4_OK; NFS4ERR_NOSPC: c itself holds its share, two
 * thirds; NFS4ERR_DELAY: until somebody closes something. Expired clients are evicted to make room.
 */
uint32_t st_open_room(struct state *s, struct client *c);
uint32_t st_close(struct state *s, struct client *c, struct obj *o, const struct nfs4_stateid *sid,
	struct nfs4_stateid *out);
uint32_t st_downgrade(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_stateid *sid, uint32_t access, uint32_t deny, struct nfs4_stateid *out);
/* The descriptor to read or write o with under sid. NFS4_OK with *out (to be given to st_put()) and
 * *fd, which is valid until then. */
uint32_t st_io(struct client *c, struct obj *o, const struct nfs4_stateid *sid, bool write,
	struct st **out, int *fd);
void st_put(struct state *s, struct st *st);
/* A duplicate (the caller's) of any descriptor that somebody has o open with, or -1. */
int st_any_fd(struct obj *o);
/* May a stateid-less I/O go on, or do share reservations, also such as may still be reclaimed,
 * forbid it? */
uint32_t st_anonymous_ok(struct state *s, struct obj *o, bool write);
uint32_t st_test(struct client *c, const struct nfs4_stateid *sid);
uint32_t st_free(struct state *s, struct client *c, const struct nfs4_stateid *sid);
/* Ends everything c holds. No lock held, c out of the table. */
void st_drop_all(struct state *s, struct client *c);
bool st_holds_any(struct client *c);

/* obj->lock is held: ends all ranges of a lock state (nothing for an open); has it any? */
void lock_drop_locked(struct st *st);
bool lock_any_locked(const struct st *st);
/* A conflicting or granted byte range. end is inclusive. */
struct lock_want {
	uint32_t type; /* nfs_lock_type4 */
	uint64_t first, last;
};
bool lock_type_writes(uint32_t type);
/* obj->lock is held: would the owner get it, as far as what others hold goes? */
bool lock_free_locked(struct obj *o, uint64_t clientid, const struct nfs4_opaque *owner,
	const struct lock_want *w);
uint32_t lock_set(struct state *s, struct session *ses, struct obj *o,
	const struct nfs4_lock_args *a, struct nfs4_lock_res *r, uint8_t *denied_owner);
uint32_t lock_test(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_lockt_args *a, struct nfs4_lock_denied *d, uint8_t *denied_owner);
/* The same for owners that have no open: NLM's. *d is filled in with NFS4ERR_DENIED. */
uint32_t lock_set_plain(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *w, struct nfs4_lock_denied *d,
	uint8_t *denied_owner);
uint32_t lock_clear_plain(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_opaque *owner, uint64_t first, uint64_t last);
uint32_t lock_clear(struct state *s, struct client *c, struct obj *o,
	const struct nfs4_locku_args *a, struct nfs4_stateid *out);

/* Looks sid up for file o (NULL: any); client->lock is held. A status. */
uint32_t st_find_locked(
	struct client *c, const struct obj *o, const struct nfs4_stateid *sid, struct st **out);
struct st *st_alloc(
	struct client *c, struct obj *o, enum st_kind kind, const void *owner, uint32_t owner_len);
/* Gives st a place and a stateid. client->lock is taken. NFS4_OK; NFS4ERR_DELAY: there is no room;
 * NFS4ERR_DEADSESSION: the client was disposed of while its request ran. */
uint32_t st_insert(struct client *c, struct st *st);
/* Takes st out of the client's table; the table's reference becomes the caller's. False: somebody
 * else was faster. */
bool st_remove(struct client *c, struct st *st);

#endif
