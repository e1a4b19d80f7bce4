/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tables: the server's memory of its clients: client IDs, sessions with their slots and reply
 * caches, opens, byte-range locks and delegations (RFC 8881 sections 2.4, 2.10, 8 to 10).
 *
 * A client is a record of EXCHANGE_ID, unconfirmed until its first CREATE_SESSION. It owns sessions
 * and states (`struct st`: opens, lock owners, delegations). A record without a sign of life for a
 * lease is kept (courtesy), until another client needs its state or such records grow too many.
 * Unconfirmed records cost a client nothing, so a new one pushes out the oldest of too many.
 *
 * Descriptors are scarce. The opens of all clients together are limited to the rest of
 * RLIMIT_NOFILE, and those of one client to two thirds of that. An open with two descriptors of its
 * own counts twice.
 *
 * A full table of clients makes room for a new one by forgetting, in this order: a client that has
 * not renewed its lease; an unconfirmed one; a confirmed one without state. The last loses no more
 * than its session, and comes again.
 *
 * Holders (share.h) share each table. One holder has a half at most, and the last eighth is for new
 * holders. When a holder has its share of clients, its next client replaces one of its own. The
 * last eighth of a peer's share of opens and locked ranges, and of one client's limit, is for
 * principals that have few of them. Hosts that lock by NLM never expire. Their number is limited so
 * that NFSv4 clients find room. A new host replaces the host that has been silent for longest, with
 * the locks that it left, if its address has no NFSv4 client and it has been silent for a lease.
 *
 * A new session reserves memory for all replies that its slots may come to keep, so a slot never
 * has to break the promise. The memory comes from the heap as replies come. The fuller the common
 * budget, the fewer slots a new session gets.
 *
 * Principals. Operations that manage a client (CREATE_SESSION, BIND_CONN_TO_SESSION,
 * DESTROY_SESSION, DESTROY_CLIENTID) are done only for the principal of its EXCHANGE_ID. State
 * protection is SP4_NONE: a SEQUENCE from any sender binds its connection to the session that it
 * names. So session IDs are random, and only their client is told.
 *
 * Locks, in the order in which they may be taken together:
 *     state->lock       client and session lists, client records' confirmation, epochs
 *     state->index_lock the sessions by their number: read by every SEQUENCE, changed with both
 *     session->lock     slots, the backchannel
 *     obj->lock         a file's opens and locks
 *     delegs.lock       the list of delegations, recalls to be sent
 *     client->lock      the client's table of states
 *     waits.lock        lock owners that wait for locks; with obj->lock, not with client->lock
 * and, never together with any of them, the lock of grace.c for writing the record of clients. None
 * is held over a call to the transport; obj->lock is held over open(2) of its file.
 *
 * References. The table and each request that runs in a session hold the session. The table, its
 * sessions and requests hold a client. Its client's table, and each READ or WRITE that uses its
 * descriptors, hold a state.
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

/* Resources of which one holder (share.h: an address, and a local user) has its share only. */
enum state_share {
	SHARE_CLIENTS, /* STATE_MAX_CLIENTS: a half */
	SHARE_NLM,     /* half of the clients may be NLM hosts: a half of that */
	SHARE_CACHE,   /* STATE_MAX_CACHE: a half */
	SHARE_STATES,  /* STATE_ALL_STATES: a half */
	SHARE_OPENS,   /* descriptors: two thirds, as for one client */
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
	struct share share;	 /* by enum state_share */
	struct grace *grace;	 /* of clients with state; NULL: no record and no grace period */
	_Atomic uint32_t nopens; /* of all clients */
	uint32_t max_opens;
	uint32_t boot; /* in every id that this run gives out */
	uint32_t next_client;
	uint32_t lease_s;
};

#endif
