/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * client: the record of one client (RFC 8881 section 2.4), and its permissions.
 */
#ifndef RNFS_SERVE_STATE_CLIENT_H
#define RNFS_SERVE_STATE_CLIENT_H

#include "contrib/serve/state/devices.h"
#include "contrib/serve/state/tables.h"
#include "nfsproto/wire/nfs4_xdr.h"
#include "transport/lock.h"
#include "transport/quote.h"
#include "transport/rpc/rpc.h"

struct st; /* stateid.h */

struct client {
	uint64_t id;
	uint8_t verf[NFS4_VERIFIER_SIZE];
	uint32_t owner_len;
	uint8_t *owner;
	struct rpc_cred cred;	     /* of EXCHANGE_ID: the principal */
	struct share *share;	     /* the state's */
	struct share_holder *holder; /* referenced: the holder that the client counts for */
	bool confirmed;		     /* state->lock */
	atomic_bool reclaim_done;    /* RECLAIM_COMPLETE has come */
	bool nlm;		     /* a host that locks by NLM (nlm.h), without EXCHANGE_ID */
	/* outside all others; held while a restart ends the states */
	struct mutex nlm_lock ACQUIRED_BEFORE(lock);
	uint32_t nlm_state GUARDED_BY(nlm_lock); /* of its status monitor; 0: unknown */
	atomic_bool limit_said; /* the log has said that the client has too many opens */
	atomic_bool recorded;	/* it is in the record of clients (grace.h) */
	bool gone;		/* state->lock: out of the table */
	unsigned refs;		/* state->lock */
	unsigned nsessions;	/* state->lock */
	uint32_t seq;		/* state->lock: of the next CREATE_SESSION */
	uint32_t cs_status;	/* state->lock: answer to the last one, for a replay */
	struct nfs4_create_session_res cs_res;
	_Atomic uint64_t seen_ns; /* last SEQUENCE */
	_Atomic uint32_t nopens;  /* opens, each with its descriptors */
	_Atomic uint32_t nranges; /* of all lock owners of the client */
	_Atomic uint32_t ndelegs; /* not revoked */
	atomic_bool no_delegs; /* the client let a delegation be revoked: no more for the client */
	/* when a data server is offered again, by its place in devices.h; 0: now */
	_Atomic uint64_t ds_again_ns[DEVICES_MAX];
	char who[40 + 3 + QUOTE_MAX]; /* for the log */
	TAILQ_ENTRY(client) link;
	TAILQ_HEAD(, session) sessions; /* state->lock */

	struct mutex lock;
	struct st **tab GUARDED_BY(lock);
	uint32_t ntab GUARDED_BY(lock), nused GUARDED_BY(lock), next_free GUARDED_BY(lock);
	_Atomic uint32_t nrevoked; /* of nused: delegations that were revoked; lock to change */
	uint32_t stamp GUARDED_BY(lock); /* makes stateids of a re-used place differ */
	/* out of the table of clients, no state is put into tab any more */
	bool ended GUARDED_BY(lock);
};

/* Are both of one flavor and, with AUTH_SYS, of one user? */
bool client_same_principal(const struct rpc_cred *a, const struct rpc_cred *b);
/* A reference to a client record, or NULL. */
struct client *client_find_locked(struct state *s, uint64_t clientid) REQUIRES(s->lock);
void client_unref(struct state *s, struct client *c);
/* May c open or lock? reclaim: again, the same as before a restart of the server; otherwise anew.
 * NFS4_OK, or NFS4ERR_GRACE, _NO_GRACE, _DELAY. */
uint32_t client_may_claim(struct state *s, struct client *c, bool reclaim);
/* c has sent RECLAIM_COMPLETE. False: it had done so before. */
bool client_reclaimed(struct state *s, struct client *c);
/* c is about to get its first state. Adds c to the record of clients. No lock held. */
void client_note(struct state *s, struct client *c);
bool client_expired(struct state *s, struct client *c);

#endif
