/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * waiter: a list of lock owners that wait for a byte-range lock.
 */
#include "contrib/serve/state/waiter.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "transport/clock.h"

#define FIRST_NS  1000000000ull	 /* precedence after a notice */
#define FORGET_NS 60000000000ull /* without asking again */
#define AT_ONCE	  32		 /* notified for one release */

struct waiter {
	TAILQ_ENTRY(waiter) link;
	const struct obj *obj; /* only compared with an object that the caller holds */
	struct nfs4_sessionid session;
	uint64_t clientid;
	struct lock_want want;
	uint64_t asked_ns, told_ns;
	uint32_t owner_len;
	uint8_t owner[];
};

struct waits *waits_new(void)
{
	struct waits *ws = calloc(1, sizeof(*ws));

	if (!ws)
		return NULL;
	mutex_init(&ws->lock);
	TAILQ_INIT(&ws->list);
	STAILQ_INIT(&ws->notices);
	return ws;
}

static void drop_locked(struct waits *ws, struct waiter *w) REQUIRES(ws->lock)
{
	TAILQ_REMOVE(&ws->list, w, link);
	atomic_fetch_sub_explicit(&ws->n, 1, memory_order_relaxed);
	free(w);
}

struct waits *waits_free(struct waits *ws)
{
	struct waiter *w;
	struct notice *n;

	if (!ws)
		return NULL;
	mutex_destroy(&ws->lock);
	while ((w = TAILQ_FIRST(&ws->list)))
		drop_locked(ws, w);
	while ((n = STAILQ_FIRST(&ws->notices))) {
		STAILQ_REMOVE_HEAD(&ws->notices, link);
		free(n);
	}
	free(ws);
	return NULL;
}

static bool nobody(const struct waits *ws)
{
	return atomic_load_explicit(&ws->n, memory_order_relaxed) == 0;
}

static bool is_of(const struct waiter *w, const struct client *c, const struct nfs4_opaque *owner)
{
	return w->clientid == c->id && w->owner_len == owner->len &&
	       memcmp(w->owner, owner->data, owner->len) == 0;
}

static bool overlaps(const struct lock_want *a, const struct lock_want *b)
{
	return a->first <= b->last && a->last >= b->first;
}

static bool excludes(const struct lock_want *a, const struct lock_want *b)
{
	return overlaps(a, b) && (lock_type_writes(a->type) || lock_type_writes(b->type));
}

void waiter_add(struct state *s, struct session *ses, struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *want)
{
	struct waits *ws = s->waits;
	struct waiter *w, *next, *mine = NULL;
	uint64_t now = clock_coarse_ns();
	unsigned of_client = 0;

	mutex_lock(&ws->lock);
	for (w = TAILQ_FIRST(&ws->list); w; w = next) {
		next = TAILQ_NEXT(w, link);
		if (clock_age(now, w->asked_ns) > FORGET_NS) {
			drop_locked(ws, w);
			continue;
		}
		of_client += w->clientid == ses->client->id;
		if (w->obj == o && is_of(w, ses->client, owner) && w->want.first == want->first &&
			w->want.last == want->last)
			mine = w;
	}
	if (!mine && of_client < WAITERS_OF_CLIENT && ws->n < WAITERS_MAX) {
		mine = calloc(1, sizeof(*mine) + owner->len);
		if (mine) {
			mine->obj = o;
			mine->clientid = ses->client->id;
			mine->owner_len = owner->len;
			memcpy(mine->owner, owner->data, owner->len);
			TAILQ_INSERT_TAIL(&ws->list, mine, link);
			atomic_fetch_add_explicit(&ws->n, 1, memory_order_relaxed);
		}
	}
	if (mine) {
		mine->session = ses->id;
		mine->want = *want;
		mine->asked_ns = now;
		mine->told_ns = 0;
	}
	mutex_unlock(&ws->lock);
}

void waiter_remove(struct state *s, const struct client *c, const struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *want)
{
	struct waits *ws = s->waits;
	struct waiter *w, *next;

	if (nobody(ws))
		return;
	mutex_lock(&ws->lock);
	for (w = TAILQ_FIRST(&ws->list); w; w = next) {
		next = TAILQ_NEXT(w, link);
		if (w->obj == o && is_of(w, c, owner) && overlaps(&w->want, want))
			drop_locked(ws, w);
	}
	mutex_unlock(&ws->lock);
}

void waiter_forget(struct state *s, const struct client *c)
{
	struct waits *ws = s->waits;
	struct waiter *w, *next;

	if (nobody(ws))
		return;
	mutex_lock(&ws->lock);
	for (w = TAILQ_FIRST(&ws->list); w; w = next) {
		next = TAILQ_NEXT(w, link);
		if (w->clientid == c->id)
			drop_locked(ws, w);
	}
	mutex_unlock(&ws->lock);
}

bool waiter_first(struct state *s, const struct client *c, const struct obj *o,
	const struct nfs4_opaque *owner, const struct lock_want *want)
{
	struct waits *ws = s->waits;
	uint64_t now = clock_coarse_ns();
	struct waiter *w;
	bool first = false;

	if (nobody(ws))
		return false;
	mutex_lock(&ws->lock);
	TAILQ_FOREACH (w, &ws->list, link) {
		if (w->obj != o)
			continue;
		if (is_of(w, c, owner))
			break; /* later waiters have no precedence over w */
		first = w->told_ns && clock_age(now, w->told_ns) < FIRST_NS &&
			excludes(&w->want, want);
		if (first)
			break;
	}
	mutex_unlock(&ws->lock);
	return first;
}

static void prepare_notice_locked(struct state *s, struct obj *o, const struct waiter *w)
	REQUIRES(o->lock, s->waits->lock)
{
	struct notice *n;

	if (s->waits->nnotices >= WAITER_NOTICES_MAX)
		return;
	n = calloc(1, sizeof(*n) + w->owner_len);
	if (!n)
		return;
	n->session = w->session;
	n->fh.len = obj_handle(s->objs, o, n->fh.data);
	n->clientid = w->clientid;
	n->owner_len = w->owner_len;
	memcpy(n->owner, w->owner, w->owner_len);
	STAILQ_INSERT_TAIL(&s->waits->notices, n, link);
	atomic_fetch_add_explicit(&s->waits->nnotices, 1, memory_order_relaxed);
}

/* Did w get a notice, and not ask again in time? */
static bool missed_its_turn(const struct waiter *w, uint64_t now)
{
	return w->told_ns && clock_age(now, w->told_ns) >= FIRST_NS;
}

void waiter_released(struct state *s, struct obj *o)
{
	struct waits *ws = s->waits;
	struct lock_want told[AT_ONCE];
	uint64_t now = clock_coarse_ns();
	struct waiter *w, *next;
	unsigned n = 0;

	if (nobody(ws))
		return;
	mutex_lock(&o->lock);
	mutex_lock(&ws->lock);
	for (w = TAILQ_FIRST(&ws->list); w && n < AT_ONCE; w = next) {
		struct nfs4_opaque owner = {w->owner, w->owner_len};
		bool free = w->obj == o;

		next = TAILQ_NEXT(w, link);
		if (w->obj == o && missed_its_turn(w, now)) {
			drop_locked(ws, w);
			continue;
		}
		for (unsigned i = 0; free && i < n; i++)
			free = !excludes(&told[i], &w->want);
		if (!free || !ranges_free_locked(o, w->clientid, &owner, &w->want))
			continue;
		told[n++] = w->want;
		if (w->told_ns)
			continue; /* w still has its turn */
		w->told_ns = now;
		prepare_notice_locked(s, o, w);
	}
	mutex_unlock(&ws->lock);
	mutex_unlock(&o->lock);
}

void waiter_take_notices(struct state *s, struct notices *out)
{
	struct waits *ws = s->waits;

	STAILQ_INIT(out);
	if (atomic_load_explicit(&ws->nnotices, memory_order_relaxed) == 0)
		return;
	mutex_lock(&ws->lock);
	STAILQ_CONCAT(out, &ws->notices);
	atomic_store_explicit(&ws->nnotices, 0, memory_order_relaxed);
	mutex_unlock(&ws->lock);
}
