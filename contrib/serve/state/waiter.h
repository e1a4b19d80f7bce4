/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * waiter: a list of NFSv4 lock owners that were refused a lock and asked to wait (READW_LT,
 * WRITEW_LT), in order of arrival (RFC 8881 section 9.6). The module also prepares the notices for
 * the lock owners when the range is free (CB_NOTIFY_LOCK, section 20.11).
 *
 *     LOCK denied --> listed --range free--> notified, for a second it has precedence
 *                       |  \--LOCK granted--> gone
 *                       \--not asked again for long, or its client has gone--> gone
 *
 * Precedence: while an owner is notified, other waiters for the same range are refused. The
 * exception is a waiter with a lock in the same file, because the notified owner might need the
 * waiter's range in turn. Requests that do not wait are served as they come.
 *
 * The list is a help, not a promise. It is bounded, and owners beyond the bound are not listed.
 * Clients have to ask again anyhow. waits.lock may be taken with obj->lock held. Inside waits.lock
 * only the lock of the table of objects may be taken.
 */
#ifndef RNFS_SERVE_STATE_WAITER_H
#define RNFS_SERVE_STATE_WAITER_H

#include "contrib/serve/state/ranges.h"
#include "contrib/serve/state/session.h"
#include "transport/lock.h"

#define WAITERS_MAX	   4096 /* of all clients */
#define WAITERS_OF_CLIENT  512
#define WAITER_NOTICES_MAX 256 /* not sent yet */

struct waiter;
struct waits {
	struct mutex lock;
	GUARDED_BY(lock) TAILQ_HEAD(, waiter) list; /* oldest first */
	_Atomic uint32_t n;	   /* changed under lock, read without: are there any waiters? */
	_Atomic uint32_t nnotices; /* the same, of notices */
	struct notices notices GUARDED_BY(lock);
};

/* NULL without memory. */
struct waits *waits_new(void);
struct waits *waits_free(struct waits *w); /* accepts NULL, returns NULL */

/* The lock w on o was refused to an owner of ses's client. Lists the owner, or keeps the owner's
 * place. */
void waiter_add(struct state *s, struct session *ses, struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *w);
/* The owner has got the lock, or does not ask any more. */
void waiter_remove(struct state *s, const struct client *c, const struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *w);
/* Removes all waiters of a client. */
void waiter_forget(struct state *s, const struct client *c);
/* Has another owner precedence over owner, which waits for w on o? */
bool waiter_first(struct state *s, const struct client *c, const struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *w);
/* Ranges of o have become free. Prepares notices for the waiters that can get a lock now. No lock
 * held. */
void waiter_released(struct state *s, struct obj *o);
/* Takes all notices to be sent; the caller frees each. */
void waiter_take_notices(struct state *s, struct notices *out);

#endif
