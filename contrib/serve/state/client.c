/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * client: the record of one client.
 */
#include "contrib/serve/state/client.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "contrib/serve/state/grace.h"
#include "transport/clock.h"

bool client_same_principal(const struct rpc_cred *a, const struct rpc_cred *b)
{
	return a->flavor == b->flavor && (a->flavor != RPC_AUTH_SYS || a->uid == b->uid);
}

bool client_expired(struct state *s, struct client *c)
{
	uint64_t seen = atomic_load_explicit(&c->seen_ns, memory_order_relaxed);

	return !c->nlm && clock_coarse_ns() > seen + s->lease_s * NSEC_PER_SEC;
}

static struct grace_who who_of(const struct client *c)
{
	return (struct grace_who){c->owner, c->owner_len, &c->cred};
}

uint32_t client_may_claim(struct state *s, struct client *c, bool reclaim)
{
	enum grace_phase phase = grace_phase(s->grace);
	struct grace_who who = who_of(c);
	bool done = atomic_load_explicit(&c->reclaim_done, memory_order_acquire);

	if (!reclaim) /* section 18.51.3: no reclaim after the client's RECLAIM_COMPLETE either */
		return phase == GRACE_OVER && done ? NFS4_OK : NFS4ERR_GRACE;
	if (phase == GRACE_STARTING)
		return NFS4ERR_DELAY;
	/* an NLM host never sends RECLAIM_COMPLETE */
	return (!done || c->nlm) && grace_may_reclaim(s->grace, &who) ? NFS4_OK : NFS4ERR_NO_GRACE;
}

bool client_reclaimed(struct state *s, struct client *c)
{
	struct grace_who who = who_of(c);

	if (atomic_exchange_explicit(&c->reclaim_done, true, memory_order_acq_rel))
		return false;
	grace_reclaimed(s->grace, &who);
	return true;
}

void client_note(struct state *s, struct client *c)
{
	struct grace_who who = who_of(c);
	bool gone;

	if (atomic_load_explicit(&c->recorded, memory_order_acquire))
		return;
	/* of two threads at once both wait for the file; a second entry does no harm */
	grace_note(s->grace, &who, c->id);
	atomic_store_explicit(&c->recorded, true, memory_order_release);
	mutex_lock(&s->lock);
	gone = c->gone;
	mutex_unlock(&s->lock);
	if (gone) /* client_dispose() may have come before the note */
		grace_forget(s->grace, c->id);
}

struct client *client_find_locked(struct state *s, uint64_t clientid) REQUIRES(s->lock)
{
	struct client *c;

	TAILQ_FOREACH (c, &s->clients, link) {
		if (c->id == clientid) {
			c->refs++;
			return c;
		}
	}
	return NULL;
}

void client_unref(struct state *s, struct client *c)
{
	bool last;

	if (!c)
		return;
	mutex_lock(&s->lock);
	last = --c->refs == 0;
	mutex_unlock(&s->lock);
	if (!last)
		return;
	share_put(&s->share, c->holder);
	mutex_destroy(&c->nlm_lock);
	mutex_destroy(&c->lock);
	free(c->tab);
	free(c->owner);
	free(c);
}
