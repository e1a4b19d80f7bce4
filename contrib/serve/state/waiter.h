/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * waiter: lock owners of NFSv4 clients that were refused a lock they said they would wait for
 * (READW_LT, WRITEW_LT), in the order in which they came (RFC 8881 section 9.6), and the notices
 * that they are owed once the range is free (CB_NOTIFY_LOCK, section 20.11).
 *
 *     LOCK denied --> listed --range free--> notified, for a second it has precedence
 *                       |  \--LOCK granted--> gone
 *                       \--not asked again for long, or its client has gone--> gone
 *
 * Precedence: while somebody has been told that it is his turn, others who wait for what he waits
 * for are refused, unless they hold something in that file, which he might be waiting for in turn.
 * Those who do not wait are served as they come.
 *
 * The list is a help, not a promise: it is bounded, what does not fit is not remembered, and
 * clients have to ask again anyhow. waits.lock may be taken with obj->lock held; inside it only
 * that of the table of objects.
 */
#ifndef RNFS_SERVE_STATE_WAITER_H
#define RNFS_SERVE_STATE_WAITER_H

#include "contrib/serve/state/ranges.h"
#include "contrib/serve/state/session.h"

#define WAITERS_MAX	   4096 /* of all clients */
#define WAITERS_OF_CLIENT  512
#define WAITER_NOTICES_MAX 256 /* not sent yet */

struct waiter;
struct waits {
	pthread_mutex_t lock;
	TAILQ_HEAD(, waiter) list; /* oldest first */
	_Atomic uint32_t n;	   /* changed under lock, read without: is there anybody? */
	_Atomic uint32_t nnotices; /* the same, of notices */
	struct notices notices;
};

/* NULL without memory. */
struct waits *waits_new(void);
struct waits *waits_free(struct waits *w); /* accepts NULL, returns NULL */

/* owner of ses's client was refused w on o: it is remembered, or keeps its place. */
void waiter_add(struct state *s, struct session *ses, struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *w);
/* It has got it, or asks for it no more. */
void waiter_remove(struct state *s, const struct client *c, const struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *w);
/* All of a client. */
void waiter_forget(struct state *s, const struct client *c);
/* Has somebody else precedence over owner, who waits for w on o? */
bool waiter_first(struct state *s, const struct client *c, const struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *w);
/* Ranges of o have become free: prepares notices for those who may have theirs now. No lock held.
 */
void waiter_released(struct state *s, struct obj *o);
/* Takes all notices that are to be sent; each is the caller's to free. */
void waiter_take_notices(struct state *s, struct notices *out);

#endif
