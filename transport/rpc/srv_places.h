/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * srv_places: which connections a server has, and who gives his place to a newcomer.
 *
 * Places are few. When all are taken, a newcomer gets that of the connection idle longest, if it
 * has been so for idle_ms: its owner, if there still is one, connects again when it needs to. If
 * there is none, the site or holder (share.h) with the most connections gives one up: at once to
 * another that would still have fewer, and to another of its own if one has been quiet for 100 ms;
 * first those that have never called, then those without a request, then those whose requests have
 * stood still. Within a site the same goes for its holders. The place counts as free from then on,
 * though the thread takes a moment to end.
 *
 * The owners of the server, root and its own user, get in whatever others do: the last places are
 * for their connections (1/SRV_OWN of all), and a connection of another gives its place up to them
 * also while its requests are carried out. A client sends such requests again.
 *
 * `lock` guards what is below it, and the fields of struct srv_conn that say so. No other lock is
 * taken under it but those of a connection's shutdown().
 */
#ifndef RNFS_TRANSPORT_RPC_SRV_PLACES_H
#define RNFS_TRANSPORT_RPC_SRV_PLACES_H

#include "transport/rpc/srv_conn.h"

#define SRV_OWN 32 /* 1/SRV_OWN of the places are for owners of the server only */

struct srv_places {
	unsigned max;	  /* places */
	unsigned idle_ms; /* who has been without a request for longer gives way to anybody */
	pthread_mutex_t lock;
	pthread_cond_t gone;	      /* with lock: a place was given back */
	TAILQ_HEAD(, srv_conn) conns; /* lock: those that have not left */
	unsigned nconns;	      /* lock: places that have not been given back */
	unsigned nevicted;	      /* lock: of them, promised to others */
	bool closed;		      /* lock: nobody enters any more */
};

/* max and idle_ms are at least 1. */
void srv_places_init(struct srv_places *p, unsigned max, unsigned idle_ms);
/* All places are free. */
void srv_places_finish(struct srv_places *p);

/* Gives c a place, perhaps that of another, which is shut down. False: there is none. */
bool srv_places_enter(struct srv_places *p, struct srv_conn *c);
/* c is on its way out. Returns what srv_places_free() is to be told. */
bool srv_places_leave(struct srv_places *p, struct srv_conn *c);
/* Gives the place back of a connection that has left, and may be gone; the last thing its thread
 * does. */
void srv_places_free(struct srv_places *p, bool evicted);

/* Shuts all connections down, lets nobody in any more, and waits until all places are free. */
void srv_places_close(struct srv_places *p);

#endif
