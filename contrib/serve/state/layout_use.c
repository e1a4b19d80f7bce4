/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * layout_use: decides whether a client may change the rights to a file.
 */
#include "contrib/serve/state/layout_use.h"

#include <stdatomic.h>

#include "contrib/serve/export/fence.h"
#include "contrib/serve/export/ident.h"
#include "contrib/serve/state/client_end.h"
#include "transport/clock.h"

/* So long no layout is given while a change waits: longer than the pauses of clients that ask
 * again. */
#define WANTED_NS (16 * NSEC_PER_SEC)

/* Will the kernel let the caller change the rights to o? Others must not disturb the holders. */
static bool may_change(const struct obj *o)
{
	struct statx st;

	return ident_uid() == 0 || (obj_stat(o, &st) == 0 && st.stx_uid == ident_uid());
}

/* Recalls the layouts of o. NFS4_OK: only `by` has one at all, and no client gets one until
 * rights_end(). */
static uint32_t recall(struct state *s, struct obj *o, const struct client *by)
{
	uint32_t status;
	uint64_t holder;
	struct st *st;

	do {
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
		if (status == NFS4_OK)
			o->rights_changing++;
		else
			o->wanted_ns = clock_coarse_ns() + WANTED_NS;
		mutex_unlock(&o->lock);
	} while (holder && client_evict_expired(s, holder));
	return status;
}

uint32_t rights_begin(
	struct state *s, struct obj *o, const struct client *by, struct rights_change *ch)
{
	uint32_t status;

	*ch = (struct rights_change){false, false};
	if (!S_ISREG(o->type) || !may_change(o))
		return NFS4_OK;
	status = recall(s, o, by);
	if (status != NFS4_OK)
		return status;
	ch->begun = true;
	/* not behind the change, which may take the right away from a server that is not root */
	ch->fenced = fence_try(o);
	return NFS4_OK;
}

void rights_end(struct state *s, struct obj *o, const struct rights_change *ch, bool changed)
{
	if (!ch->begun)
		return;
	if (changed && !ch->fenced)
		fence_raise(s->objs, o);
	mutex_lock(&o->lock);
	o->rights_changing--;
	if (changed)
		o->wanted_ns = 0;
	mutex_unlock(&o->lock);
}
