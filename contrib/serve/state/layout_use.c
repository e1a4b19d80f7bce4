/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * layout_use: decides whether a client may change the rights to a file.
 */
#include "contrib/serve/state/layout_use.h"

#include <stdatomic.h>

#include "contrib/serve/state/client_end.h"

uint32_t layout_recall(struct state *s, struct obj *o, const struct client *by)
{
	uint32_t status;
	uint64_t holder;
	struct st *st;

	do {
		if (atomic_load_explicit(&s->layouts->n, memory_order_relaxed) == 0)
			return NFS4_OK;
		status = NFS4_OK;
		holder = 0;
		mutex_lock(&o->lock);
		LIST_FOREACH (st, &o->states, obj_link) {
			if (st->kind != ST_LAYOUT)
				continue;
			layout_recall_locked(s, st);
			if (st->client == by)
				continue;
			status = NFS4ERR_DELAY;
			if (client_expired(s, st->client))
				holder = st->client->id;
		}
		mutex_unlock(&o->lock);
	} while (holder && client_evict_expired(s, holder));
	return status;
}
