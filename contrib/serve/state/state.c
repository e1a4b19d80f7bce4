/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * state: the server's whole memory of its clients.
 */
#include "contrib/serve/state/state.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/random.h>

#include "contrib/serve/state/client_end.h"
#include "contrib/serve/state/deleg.h"
#include "contrib/serve/state/grace.h"
#include "contrib/serve/state/inquiry.h"
#include "contrib/serve/state/layout.h"
#include "contrib/serve/state/stateid.h"
#include "contrib/serve/state/waiter.h"
#include "transport/clock.h"
#include "transport/log.h"

#define NLM_IDLE_NS (5 * NSEC_PER_SEC)
#define COURTESY_S  (24 * 3600ull) /* expired clients with opens are kept for so long */

int state_init(struct state *s, struct obj_table *objs, uint32_t lease_s)
{
	memset(s, 0, sizeof(*s));
	mutex_init(&s->lock);
	rwlock_init(&s->index_lock);
	TAILQ_INIT(&s->clients);
	TAILQ_INIT(&s->sessions);
	s->objs = objs;
	s->lease_s = lease_s;
	s->max_opens = (uint32_t)obj_table_opens(objs);
	share_init(&s->share);
	share_limit(&s->share, SHARE_CLIENTS, STATE_MAX_CLIENTS, STATE_MAX_CLIENTS / 2);
	share_limit(&s->share, SHARE_NLM, STATE_MAX_CLIENTS / 2, STATE_MAX_CLIENTS / 4);
	share_limit(&s->share, SHARE_CACHE, STATE_MAX_CACHE, STATE_MAX_CACHE / 2);
	share_limit(&s->share, SHARE_STATES, STATE_ALL_STATES, STATE_ALL_STATES / 2);
	share_limit(&s->share, SHARE_OPENS, s->max_opens, s->max_opens * 2ull / 3);
	share_limit(&s->share, SHARE_RANGES, STATE_ALL_RANGES, STATE_ALL_RANGES / 2);
	s->waits = waits_new();
	s->delegs = delegs_new(s->max_opens);
	s->layouts = layouts_new();
	if (!s->waits || !s->delegs || !s->layouts ||
		getrandom(&s->boot, sizeof(s->boot), 0) != sizeof(s->boot))
		return -1;
	return 0;
}

void state_finish(struct state *s)
{
	struct client *c;

	s->ending = true;
	for (;;) {
		mutex_lock(&s->lock);
		c = TAILQ_FIRST(&s->clients);
		if (c)
			client_remove_locked(s, c);
		mutex_unlock(&s->lock);
		if (!c)
			break;
		client_dispose(s, c);
	}
	s->waits = waits_free(s->waits);
	s->delegs = delegs_free(s->delegs);
	s->layouts = layouts_free(s->layouts);
	share_finish(&s->share);
	rwlock_destroy(&s->index_lock);
	mutex_destroy(&s->lock);
}

/* How long a silent record without state is kept. A record of an NLM host would only cause a
 * useless grace period after the next start. */
static uint64_t keep_ns(const struct state *s, const struct client *c)
{
	return c->nlm ? NLM_IDLE_NS : (c->confirmed ? 2ull : 1) * s->lease_s * NSEC_PER_SEC;
}

void state_tick(struct state *s)
{
	uint64_t now = clock_coarse_ns();
	struct client *c;

	grace_tick(s->grace, now);
	deleg_tick(s);
	inquiry_tick(s, false);
	layout_tick(s);
	for (;;) {
		mutex_lock(&s->lock);
		TAILQ_FOREACH (c, &s->clients, link) {
			uint64_t idle = clock_age(
				now, atomic_load_explicit(&c->seen_ns, memory_order_relaxed));

			if (idle < keep_ns(s, c))
				continue;
			if (!c->confirmed || (idle > COURTESY_S * NSEC_PER_SEC && !c->nlm) ||
				!st_holds_any(c))
				break;
		}
		if (c)
			client_remove_locked(s, c);
		mutex_unlock(&s->lock);
		if (!c)
			return;
		client_dispose(s, c);
	}
}

void state_report(struct state *s)
{
	struct client *c;

	mutex_lock(&s->lock);
	log_always_info("clients: %u", s->nclients);
	if (atomic_load_explicit(&s->layouts->n, memory_order_relaxed))
		log_always_info("layouts: %u", s->layouts->n);
	TAILQ_FOREACH (c, &s->clients, link) {
		mutex_lock(&c->lock);
		if (c->nlm)
			log_always_info(
				"NLM host %s: locks on %u files by its owners", c->who, c->nused);
		else
			log_always_info("client %016" PRIx64 " (%s): %u sessions, %u stateids",
				c->id, c->who, c->nsessions, c->nused);
		mutex_unlock(&c->lock);
	}
	mutex_unlock(&s->lock);
}
