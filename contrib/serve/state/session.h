/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * session: sessions and their slots (RFC 8881 sections 2.10, 18.37, 18.46).
 */
#ifndef RNFS_SERVE_STATE_SESSION_H
#define RNFS_SERVE_STATE_SESSION_H

#include "contrib/serve/state/client.h"
#include "transport/lock.h"

struct slot {
	uint32_t seq;
	bool busy;
	bool used;	 /* a request ran here */
	bool have_reply; /* reply[0..len) is the whole COMPOUND result */
	uint32_t len;
	uint8_t *reply;	 /* room for session.cached_max bytes, from the slot's first request on */
	uint64_t sum;	 /* a checksum of the request: compound.h */
	uint32_t summed; /* how many operations sum covers */
};

/* The answer of a slot to a repeated request. */
struct slot_replay {
	uint8_t *reply; /* malloc'ed */
	uint32_t len;
	uint64_t sum;
	uint32_t summed;
};

enum notice_kind { NOTICE_LOCK, NOTICE_RECALL, NOTICE_GETATTR, NOTICE_LAYOUT };

/* A CB_NOTIFY_LOCK, CB_RECALL, CB_GETATTR or CB_LAYOUTRECALL to be sent. */
struct notice {
	STAILQ_ENTRY(notice) link;
	enum notice_kind kind;
	struct nfs4_sessionid session; /* not CB_NOTIFY_LOCK: or another one of the client's */
	struct nfs_fh fh;
	uint64_t clientid;
	/* of a delegation or a layout */
	struct nfs4_stateid sid;
	bool referring;			  /* the client may not have seen the answer to ... */
	struct nfs4_referring_call given; /* ... the request `given` */
	/* CB_NOTIFY_LOCK */
	uint32_t owner_len;
	uint8_t owner[];
};
STAILQ_HEAD(notices, notice);

struct session {
	struct nfs4_sessionid id;
	struct client *client; /* referenced */
	struct nfs4_channel_attrs fore, back;
	uint32_t cached_max; /* bytes of a reply that each slot may keep */
	uint32_t reserved;   /* bytes of state->cache_used */
	atomic_uint refs;
	bool dead;			  /* state->lock: out of the table */
	LIST_ENTRY(session) index_link;	  /* state->index_lock */
	TAILQ_ENTRY(session) link;	  /* state->lock */
	TAILQ_ENTRY(session) client_link; /* state->lock */

	struct mutex lock;
	struct slot *slots GUARDED_BY(lock); /* fore.maxrequests of them */
	/* backchannel */
	uint32_t cb_prog GUARDED_BY(lock);
	struct rpc_cred cb_cred GUARDED_BY(lock);
	struct rpc_xprt *cb_xprt GUARDED_BY(lock); /* referenced; NULL: none */
	uint32_t minor GUARDED_BY(lock);	   /* of the client's COMPOUNDs */
	uint32_t cb_seq GUARDED_BY(lock);
	struct notices notices GUARDED_BY(lock); /* to be sent when the slot is free */
	unsigned nnotices GUARDED_BY(lock);
	bool cb_busy GUARDED_BY(lock);
	bool cb_wanted GUARDED_BY(lock); /* the client asked for a backchannel */
	bool cb_down GUARDED_BY(lock);	 /* and the last probe failed, or the connection is gone */
	/* the client has accepted a CB_SEQUENCE over this connection */
	bool cb_proved GUARDED_BY(lock);
	uint64_t cb_again_ns GUARDED_BY(lock); /* when session_try_back() said so; 0: never */
};

/* Puts a new session of c into the tables, which have its first reference; */
void session_link_locked(struct state *s, struct client *c, struct session *ses) REQUIRES(s->lock);
/* Takes another reference; the caller has one, or state->lock. */
void session_ref(struct session *ses);
struct session *session_get(struct state *s, const struct nfs4_sessionid *id);
void session_put(struct state *s, struct session *ses);
/* A session of the client that can call back, or NULL. */
struct session *session_with_back(struct state *s, uint64_t clientid);
/* Takes ses out of the table. The caller gets the table's reference. */
void session_unlink_locked(struct state *s, struct session *ses) REQUIRES(s->lock);
uint32_t session_destroy(
	struct state *s, const struct rpc_cred *cred, const struct nfs4_sessionid *id);
/* Makes x (may be NULL: none) the connection for callbacks. */
void session_set_back(struct session *ses, struct rpc_xprt *x);
/* Is the backchannel to be probed again, because the client has answered, but not accepted a
 * CB_SEQUENCE? At most once a second. */
bool session_try_back(struct session *ses);
/* x is gone: no callback uses x any more. */
void session_conn_down(struct state *s, struct rpc_xprt *x);

enum slot_verdict { SLOT_RUN, SLOT_REPLAY, SLOT_ERROR };
/* The verdict on a request. SLOT_RUN: the slot is the caller's until slot_done(); *flags: the flags
 * for SEQUENCE. SLOT_REPLAY: *rep is the answer (the caller owns the answer's reply). SLOT_ERROR:
 * *status. */
enum slot_verdict slot_begin(struct session *ses, const struct nfs4_sequence_args *a,
	uint32_t *status, uint32_t *flags, struct slot_replay *rep);
/* The request has been executed. reply NULL: the answer is not kept. */
void slot_done(struct session *ses, uint32_t slotid, const void *reply, uint32_t len, uint64_t sum,
	uint32_t summed);

#endif
