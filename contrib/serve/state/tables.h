/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tables: what the server remembers about its clients: client IDs, sessions with their slots and
 * reply caches, opens, byte-range locks and delegations (RFC 8881 sections 2.4, 2.10, 8 to 10).
 *
 * A client is a record of EXCHANGE_ID, unconfirmed until its first CREATE_SESSION. It owns sessions
 * and states (`struct st`: opens, lock owners, delegations). Records that have not been heard of
 * for a lease are kept (courtesy) until somebody else needs what they hold or their number grows
 * too large. Unconfirmed records cost nothing to make, so a new one pushes out the oldest of too
 * many.
 *
 * Descriptors are scarce: opens of all clients together are bounded by what RLIMIT_NOFILE leaves,
 * and one client gets two thirds of them at most. One with two descriptors of its own counts twice.
 *
 * A full table of clients makes room for a newcomer by forgetting, in this order, one that has not
 * renewed its lease, an unconfirmed one, and one that is confirmed but holds nothing: that one
 * loses no more than its session and comes again.
 *
 * What a table has is shared by holders (share.h): one has a half at most, and the last eighth is
 * for newcomers. When a holder has its share of clients, its next one takes the place of one of its
 * own. Of opens and locked ranges the last eighth of a peer's share, and of what one client may
 * have, is for principals that have few of them. Hosts that lock by NLM never expire: there is room
 * for so many only that clients of NFSv4 find theirs, and a new host takes the place of one whose
 * address has no client of NFSv4 and that has been silent for longest, with the locks that it left,
 * if it has been silent for a lease.
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
 *     delegs.lock       the list of delegations, recalls to be sent
 *     client->lock      the client's table of states
 *     waits.lock        those who wait for locks; with obj->lock, not with client->lock
 * and, never together with any of them, grace.c's over the writing of the record of clients.
 * None is held over a call to the transport; obj->lock is held over open(2) of its file.
 *
 * References. A session is held by the table and by each request that runs in it; a client by the
 * table, by its sessions and by requests; a state by its client's table and by each READ or WRITE
 * that is using its descriptors.
 */
#ifndef RNFS_SERVE_STATE_TABLES_H
#define RNFS_SERVE_STATE_TABLES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "contrib/serve/export/object.h"
#include "transport/share.h"

#define STATE_MAX_CLIENTS  1024
#define STATE_MAX_UNCONF   256	 /* of them not confirmed yet */
#define STATE_MAX_ALL	   4096	 /* sessions of all clients */
#define STATE_MAX_SESSIONS 64	 /* of one client */
#define STATE_MAX_SLOTS	   128	 /* of one session */
#define STATE_MAX_OPENS	   65536 /* opens and lock owners of one client */
#define STATE_MAX_RANGES   16384 /* locked byte ranges of one client */
#define STATE_MAX_OPS	   64	 /* operations in a COMPOUND */
#define STATE_MAX_MSG                                                                              \
	((1u << 20) + (16u << 10))   /* bytes of a request or a reply, payload and all */
#define STATE_MAX_CACHED 4096	     /* bytes of a reply that a slot keeps */
#define STATE_MIN_CACHED 512	     /* and that it may keep even if the client asked for less */
#define STATE_MAX_CACHE	 (64u << 20) /* bytes of slots and kept replies of all sessions */

#define STATE_ALL_RANGES 65536	/* locked byte ranges of all clients */
#define STATE_ALL_STATES 262144 /* opens and lock owners of all clients */

/* Of what one holder (share.h: an address, and a local user) has its share only. */
enum state_share {
	SHARE_CLIENTS, /* STATE_MAX_CLIENTS: a half */
	SHARE_NLM,     /* half of these may be hosts of NLM: a half of that */
	SHARE_CACHE,   /* STATE_MAX_CACHE: a half */
	SHARE_STATES,  /* STATE_ALL_STATES: a half */
	SHARE_OPENS,   /* descriptors: two thirds, as one client may have */
	SHARE_RANGES,  /* STATE_ALL_RANGES: a half */
};

struct client;	/* client.h */
struct grace;	/* grace.h */
struct session; /* session.h */
struct waits;	/* waiter.h */
struct delegs;	/* deleg.h */

#define STATE_BUCKETS 256

struct state {
	pthread_mutex_t lock;
	pthread_rwlock_t index_lock;
	LIST_HEAD(, session) index[STATE_BUCKETS]; /* by the last word of the session ID */
	TAILQ_HEAD(, client) clients;
	TAILQ_HEAD(, session) sessions;
	unsigned nclients, nsessions;
	_Atomic uint32_t cache_used; /* of STATE_MAX_CACHE, set aside for sessions */
	struct obj_table *objs;
	struct waits *waits; /* waiter.h */
	struct delegs *delegs;
	struct share share;  /* by enum state_share */
	struct grace *grace; /* whom the state outlives; NULL: nobody, there is no grace period */
	_Atomic uint32_t nopens; /* of all clients */
	uint32_t max_opens;
	uint32_t boot; /* in every id that this run gives out */
	uint32_t next_client;
	uint32_t lease_s;
};

#endif
