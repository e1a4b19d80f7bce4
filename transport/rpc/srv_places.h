/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * srv_places: the places for connections of a server, and the choice of a connection that gives its
 * place to a newcomer.
 *
 * Places are few. When all are taken, a newcomer gets the place of the connection idle longest, if
 * idle for longer than idle_ms. The owner of an evicted connection, if there still is one, connects
 * again when needed.
 *
 * If no connection is idle, the site or holder (share.h) with the most connections gives one up: at
 * once to another site or holder that would still have fewer. A newcomer of the same holder gets
 * the place of a connection quiet for 100 ms. Connections that have never called go first, then
 * those without a request, then those with requests that have stood still. Within a site the same
 * rule goes for its holders. The place counts as free from then on, though the thread takes a
 * moment to end.
 *
 * The owners of the server, root and its own user, get in whatever others do. The last places
 * (1/SRV_OWN of all) are for the owners' connections. Another peer's connection gives its place up
 * to an owner also while its requests are carried out. A client sends such requests again.
 *
 * `lock` guards the fields below it, and the marked fields of struct srv_conn. No other lock is
 * taken under it except in a connection's shutdown().
 */
#ifndef RNFS_TRANSPORT_RPC_SRV_PLACES_H
#define RNFS_TRANSPORT_RPC_SRV_PLACES_H

#include "transport/lock.h"
#include "transport/rpc/srv_conn_impl.h"

#define SRV_OWN 32 /* 1/SRV_OWN of the places are for owners of the server only */

struct srv_places {
	unsigned max;	  /* places */
	unsigned idle_ms; /* a connection longer without a request gives way to any newcomer */
	struct mutex lock;
	pthread_cond_t gone;			       /* with lock: a place was given back */
	GUARDED_BY(lock) TAILQ_HEAD(, srv_conn) conns; /* connections that have not left */
	unsigned nconns GUARDED_BY(lock);	       /* places not given back yet */
	unsigned nevicted GUARDED_BY(lock);	       /* of these, promised to newcomers */
	bool closed GUARDED_BY(lock);		       /* no connection enters any more */
};

/* max and idle_ms are at least 1. */
void srv_places_init(struct srv_places *p, unsigned max, unsigned idle_ms);
/* All places are free. */
void srv_places_finish(struct srv_places *p);

/* Gives c a place, perhaps of another connection, which is shut down. False: there is no place. */
bool srv_places_enter(struct srv_places *p, struct srv_conn *c);
/* c is on its way out. Returns the argument for srv_places_free(). */
bool srv_places_leave(struct srv_places *p, struct srv_conn *c);
/* Gives back the place of a connection that has left, and may be gone. The last act of its
 * thread. */
void srv_places_free(struct srv_places *p, bool evicted);

/* Shuts all connections down, lets none in any more, and waits until all places are free. */
void srv_places_close(struct srv_places *p);

#endif
