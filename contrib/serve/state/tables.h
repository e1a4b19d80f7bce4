/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tables: the server's memory of its clients: client IDs, sessions with their slots and reply
 * caches, opens, byte-range locks, delegations and layouts (RFC 8881 sections 2.4, 2.10, 8 to
 * 10, 12.5).
 *
 * A client is a record of EXCHANGE_ID, unconfirmed until its first CREATE_SESSION. A client owns
 * sessions and states (`struct st`: opens, lock owners, delegations). A record without a sign of
 * life for a lease is kept (courtesy), until another client needs the state or too many such
 * records exist. Unconfirmed records cost a client nothing. So when too many exist, a new one
 * replaces the oldest.
 *
 * Descriptors are scarce. The opens of all clients together are limited to the rest of
 * RLIMIT_NOFILE, and the opens of one client to two thirds of the rest. An open with two own
 * descriptors counts twice.
 *
 * A full table of clients makes room for a new one by dropping, in this order: a client with an
 * expired lease; an unconfirmed one; a confirmed one without state. A client without state loses
 * only the session, and connects again.
 *
 * Holders (share.h) share each table. One holder has a half at most, and the last eighth is for new
 * holders. When a holder's share of clients is full, the holder's next client replaces one of the
 * same holder. The last eighth of a peer's share of opens and locked ranges, and of one client's
 * limit, is for principals with few opens and ranges. Hosts that lock by NLM never expire. The
 * number of hosts is limited, to leave room for NFSv4 clients. A new host replaces the host that
 * has been silent for longest, together with the remaining locks of the old host. The old host must
 * have been silent for a lease, and its address must have no NFSv4 client.
 *
 * A new session reserves a part of the common budget for all replies that the slots may have to
 * keep, so a slot can always keep the promised reply. Heap memory is allocated only when a reply is
 * kept. The fuller the common budget, the fewer slots a new session gets.
 *
 * Principals. Operations that manage a client (CREATE_SESSION, BIND_CONN_TO_SESSION,
 * DESTROY_SESSION, DESTROY_CLIENTID) are done only for the principal of the client's EXCHANGE_ID.
 * State protection is SP4_NONE: a SEQUENCE from any sender binds the sender's connection to the
 * named session. So session IDs are random, and the server tells a session ID only to the session's
 * client.
 *
 * Locks, in the order in which one thread may take several:
 *     state->lock       client and session lists, client records' confirmation, epochs
 *     state->index_lock the sessions by their number: read by every SEQUENCE, changed with both
 *     session->lock     slots, the backchannel
 *     obj->lock         a file's opens and locks
 *     delegs.lock       the list of delegations, recalls to be sent
 *     layouts.lock      the list of recalled layouts, recalls to be sent
 *     client->lock      the client's table of states
 *     waits.lock        lock owners that wait for locks; with obj->lock, not with client->lock
 * and, never together with any other lock, the lock of grace.c for writing the record of clients.
 * No lock is held over a call to the transport; obj->lock is held over open(2) of the file.
 *
 * References. The table and each request that runs in a session hold the session. The table, the
 * client's sessions and the client's requests hold a client. The client's table of states, and each
 * READ or WRITE with the state's descriptors, hold a state.
 */
#ifndef RNFS_SERVE_STATE_TABLES_H
#define RNFS_SERVE_STATE_TABLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "contrib/serve/export/object.h"
#include "transport/lock.h"
#include "transport/share.h"

#define STATE_MAX_CLIENTS  1024
#define STATE_MAX_UNCONF   256	 /* clients not confirmed yet */
#define STATE_MAX_ALL	   4096	 /* sessions of all clients */
#define STATE_MAX_SESSIONS 64	 /* of one client */
#define STATE_MAX_SLOTS	   128	 /* of one session */
#define STATE_MAX_OPENS	   65536 /* opens and lock owners of one client */
#define STATE_MAX_RANGES   16384 /* locked byte ranges of one client */
#define STATE_MAX_OPS	   64	 /* operations in a COMPOUND */
#define STATE_MAX_MSG                                                                              \
	((1u << 20) + (16u << 10))   /* bytes of a request or a reply, payload and all */
#define STATE_MAX_CACHED 4096	     /* bytes of a reply that a slot keeps */
#define STATE_MIN_CACHED 512	     /* no slot has a lower limit */
#define STATE_MAX_CACHE	 (64u << 20) /* bytes of slots and kept replies of all sessions */

#define STATE_ALL_RANGES 65536	/* locked byte ranges of all clients */
#define STATE_ALL_STATES 262144 /* opens and lock owners of all clients */

/* Resources of which one holder (share.h: an address, and a local user) has its share only. */
enum state_share {
	SHARE_CLIENTS, /* STATE_MAX_CLIENTS: a half */
	SHARE_NLM,     /* half of the clients may be NLM hosts; one holder has half of the hosts */
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
struct layouts; /* layout.h */

#define STATE_BUCKETS 256

struct state {
	struct mutex lock ACQUIRED_BEFORE(index_lock);
	struct rwlock index_lock;
	/* by the last word of the session ID */
	GUARDED_BY(index_lock) LIST_HEAD(, session) index[STATE_BUCKETS];
	GUARDED_BY(lock) TAILQ_HEAD(, client) clients;
	GUARDED_BY(lock) TAILQ_HEAD(, session) sessions;
	unsigned nclients GUARDED_BY(lock), nsessions GUARDED_BY(lock);
	_Atomic uint32_t cache_used; /* of STATE_MAX_CACHE, set aside for sessions */
	struct obj_table *objs;
	struct waits *waits; /* waiter.h */
	struct delegs *delegs;
	struct layouts *layouts;
	bool ending;		 /* the server ends; set once */
	struct share share;	 /* by enum state_share */
	struct grace *grace;	 /* of clients with state; NULL: no record and no grace period */
	_Atomic uint32_t nopens; /* of all clients */
	uint32_t max_opens;
	uint32_t boot; /* in every id of this run */
	uint32_t next_client GUARDED_BY(lock);
	uint32_t lease_s;
};

#endif
