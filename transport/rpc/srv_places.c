/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * srv_places: the places for connections of a server, and the choice of a connection that gives its
 * place to a newcomer.
 */
#include "transport/rpc/srv_places.h"

#include "transport/clock.h"
#include "transport/log.h"

#define QUIET_MS 100

void srv_places_init(struct srv_places *p, unsigned max, unsigned idle_ms)
{
	*p = (struct srv_places){.max = max, .idle_ms = idle_ms};
	mutex_init(&p->lock);
	pthread_cond_init(&p->gone, NULL);
	TAILQ_INIT(&p->conns);
}

void srv_places_finish(struct srv_places *p)
{
	pthread_cond_destroy(&p->gone);
	mutex_destroy(&p->lock);
}

/* --- giving way --------------------------------------------------------------------------------
 */

/* The connection idle longest, and long enough; NULL if there is none. */
static struct srv_conn *find_idle_locked(struct srv_places *p) REQUIRES(p->lock)
{
	uint64_t oldest = clock_ns() - p->idle_ms * NSEC_PER_MSEC;
	struct srv_conn *c, *best = NULL;

	TAILQ_FOREACH (c, &p->conns, link) {
		uint64_t last;

		/* acquire: the end of a request has left its time in active_ns */
		if (c->evicted || atomic_load_explicit(&c->x->reqs, memory_order_acquire))
			continue;
		last = atomic_load_explicit(&c->x->active_ns, memory_order_relaxed);
		if (!last)
			last = c->since_ns;
		if (last < oldest) {
			oldest = last;
			best = c;
		}
	}
	return best;
}

/* Is c of the set: the connections of one holder or, for a site's key, of one site? */
static bool is_of(const struct srv_conn *c, const struct share_key *set)
{
	struct share_key site;

	if (!set->site)
		return share_key_same(&c->key, set);
	return share_key_site(&c->key, &site) && share_key_same(&site, set);
}

/* The largest set that key belongs to. */
static struct share_key widest(const struct share_key *key)
{
	struct share_key site;

	return share_key_site(key, &site) ? site : *key;
}

/* The connection that a set can best spare, quiet for at least quiet_ns; or NULL. any: also one
 * whose requests are carried out at this moment. */
static struct srv_conn *find_spare_locked(struct srv_places *p, const struct share_key *set,
	uint64_t quiet_ns, bool any) REQUIRES(p->lock)
{
	uint64_t now = clock_ns(), best_last = 0;
	struct srv_conn *c, *best = NULL;
	unsigned best_rank = 3;

	TAILQ_FOREACH (c, &p->conns, link) {
		/* acquire: as in find_idle_locked() */
		bool busy = atomic_load_explicit(&c->x->reqs, memory_order_acquire);
		uint64_t called = atomic_load_explicit(&c->x->active_ns, memory_order_relaxed);
		uint64_t last = called ? called : c->since_ns;
		uint64_t quiet = busy && !any && quiet_ns < SRV_STILL_MS * NSEC_PER_MSEC
					 ? SRV_STILL_MS * NSEC_PER_MSEC
					 : quiet_ns;
		unsigned rank = busy ? 2 : called ? 1 : 0;

		if (c->evicted || !is_of(c, set) || clock_age(now, last) < quiet)
			continue;
		if (rank < best_rank || (rank == best_rank && last < best_last)) {
			best_rank = rank;
			best_last = last;
			best = c;
		}
	}
	return best;
}

static unsigned count_locked(struct srv_places *p, const struct share_key *set) REQUIRES(p->lock)
{
	struct srv_conn *c;
	unsigned n = 0;

	TAILQ_FOREACH (c, &p->conns, link)
		n += !c->evicted && is_of(c, set);
	return n;
}

/* The set with the most connections, of all sets or, within a site, of its holders; `own` wins a
 * tie. *n: its number of connections. */
static struct share_key find_largest_locked(struct srv_places *p, const struct share_key *site,
	const struct share_key *own, unsigned *n) REQUIRES(p->lock)
{
	struct share_key largest = *own;
	struct srv_conn *c;

	*n = count_locked(p, own);
	TAILQ_FOREACH (c, &p->conns, link) {
		struct share_key k = site ? c->key : widest(&c->key);
		unsigned m;

		if (c->evicted || (site && !is_of(c, site)) || share_key_same(&k, &largest))
			continue;
		m = count_locked(p, &k);
		if (m > *n) {
			*n = m;
			largest = k;
		}
	}
	return largest;
}

/* A connection that the set with the most of them is to give up for one of key's, or NULL. */
static struct srv_conn *find_fair_locked(struct srv_places *p, const struct share_key *key)
	REQUIRES(p->lock)
{
	const struct share_key none = {.site = UINT32_MAX};
	struct share_key own = widest(key), largest;
	struct srv_conn *c = NULL;
	unsigned most, n;

	largest = find_largest_locked(p, NULL, &own, &most);
	if (own.site && share_key_same(&largest, &own)) { /* one of the site's holders, then */
		largest = find_largest_locked(p, &own, key, &most);
		own = *key;
	}
	if (most > count_locked(p, &own) + 1) {
		if (largest.site)
			largest = find_largest_locked(p, &largest, &none, &n);
		c = find_spare_locked(p, &largest, 0, share_key_owns(key));
	}
	return c ? c : find_spare_locked(p, key, QUIET_MS * NSEC_PER_MSEC, false);
}

/* Is there a place for a connection of key's? If not, makes one if possible. */
static bool make_place_locked(struct srv_places *p, const struct share_key *key) REQUIRES(p->lock)
{
	unsigned kept = share_key_owns(key) ? 0 : p->max / SRV_OWN;
	struct srv_conn *c;

	if (p->closed || p->nconns >= 2 * p->max - kept)
		return false;
	if (p->nconns - p->nevicted < p->max - kept)
		return true;
	c = find_idle_locked(p);
	if (!c)
		c = find_fair_locked(p, key);
	if (!c)
		return false;
	log_ctrl("connection from %s gives its place to another", c->x->peer);
	c->evicted = true;
	p->nevicted++;
	c->x->ops->shutdown(c->x);
	return true;
}

/* --- in and out --------------------------------------------------------------------------------
 */

bool srv_places_enter(struct srv_places *p, struct srv_conn *c)
{
	bool ok;

	mutex_lock(&p->lock);
	ok = make_place_locked(p, &c->key);
	if (ok) {
		TAILQ_INSERT_TAIL(&p->conns, c, link);
		p->nconns++;
	}
	mutex_unlock(&p->lock);
	return ok;
}

bool srv_places_leave(struct srv_places *p, struct srv_conn *c)
{
	bool evicted;

	mutex_lock(&p->lock);
	TAILQ_REMOVE(&p->conns, c, link);
	evicted = c->evicted;
	mutex_unlock(&p->lock);
	return evicted;
}

void srv_places_free(struct srv_places *p, bool evicted)
{
	mutex_lock(&p->lock);
	p->nconns--;
	p->nevicted -= evicted;
	pthread_cond_broadcast(&p->gone);
	mutex_unlock(&p->lock);
}

void srv_places_close(struct srv_places *p)
{
	struct srv_conn *c;

	mutex_lock(&p->lock);
	p->closed = true;
	TAILQ_FOREACH (c, &p->conns, link)
		c->x->ops->shutdown(c->x);
	while (p->nconns)
		cond_wait(&p->gone, &p->lock);
	mutex_unlock(&p->lock);
}
