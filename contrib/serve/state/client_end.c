/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * client_end: ends a client's record.
 */
#include "contrib/serve/state/client_end.h"

#include <stdlib.h>

#include "contrib/serve/export/fence.h"
#include "contrib/serve/state/deleg.h"
#include "contrib/serve/state/grace.h"
#include "contrib/serve/state/layout.h"
#include "contrib/serve/state/ranges.h"
#include "contrib/serve/state/session.h"
#include "contrib/serve/state/stateid.h"
#include "contrib/serve/state/waiter.h"
#include "transport/log.h"

void client_remove_locked(struct state *s, struct client *c) REQUIRES(s->lock)
{
	struct session *ses;

	TAILQ_REMOVE(&s->clients, c, link);
	s->nclients--;
	share_give(&s->share, c->holder, SHARE_CLIENTS, 1);
	if (c->nlm)
		share_give(&s->share, c->holder, SHARE_NLM, 1);
	c->gone = true;
	TAILQ_FOREACH (ses, &c->sessions, client_link) {
		if (!ses->dead)
			session_unlink_locked(s, ses);
	}
}

/* Ends st. */
static void drop(struct state *s, struct client *c, struct st *st)
{
	struct obj *o = st->obj;

	mutex_lock(&o->lock);
	if (!st_remove(c, st)) {
		mutex_unlock(&o->lock);
		return;
	}
	ranges_drop_locked(st);
	if (st->kind == ST_DELEG && !st->revoked)
		deleg_end_locked(s, st);
	else if (st->kind == ST_LAYOUT)
		layout_end_locked(s, st);
	else if (st->kind != ST_DELEG)
		LIST_REMOVE(st, obj_link);
	mutex_unlock(&o->lock);
	if (st->kind == ST_LOCK)
		waiter_released(s, o);
	st_put(s, st); /* the table's reference */
}

/* A reference to c's state at place i of the table, if there is one. False: i is behind the end. */
static bool state_at(struct client *c, uint32_t i, struct st **out)
{
	bool within;

	mutex_lock(&c->lock);
	within = i < c->ntab;
	*out = within ? c->tab[i] : NULL;
	if (*out)
		st_ref(*out);
	mutex_unlock(&c->lock);
	return within;
}

void client_drop_states(struct state *s, struct client *c)
{
	struct st *st;

	waiter_forget(s, c);
	/* first, so that no other client gets a lock while data servers still take c's WRITEs */
	for (uint32_t i = 0; state_at(c, i, &st); i++) {
		if (st && st->kind == ST_LAYOUT) {
			drop(s, c, st);
			if (!s->ending) /* the next run fences all */
				fence_raise(s->objs, st->obj);
		}
		st_put(s, st);
	}
	for (uint32_t i = 0; state_at(c, i, &st); i++) {
		if (st)
			drop(s, c, st);
		st_put(s, st);
	}
}

void client_dispose(struct state *s, struct client *c)
{
	struct session *ses;

	log_ctrl("client %s is forgotten", c->who);
	for (;;) {
		mutex_lock(&s->lock);
		ses = TAILQ_FIRST(&c->sessions);
		if (ses) {
			TAILQ_REMOVE(&c->sessions, ses, client_link);
			c->nsessions--;
		}
		mutex_unlock(&s->lock);
		if (!ses)
			break;
		session_set_back(ses, NULL);
		session_put(s, ses);
	}
	mutex_lock(&c->lock);
	c->ended = true;
	mutex_unlock(&c->lock);
	client_drop_states(s, c);
	grace_forget(s->grace, c->id);
	client_unref(s, c);
}

struct client *client_victim_locked(struct state *s, const struct share_holder *h, uint64_t spare)
	REQUIRES(s->lock)
{
	struct client *c, *best = NULL;

	TAILQ_FOREACH (c, &s->clients, link)
		if ((!h || c->holder == h) && c->id != spare && client_expired(s, c) &&
			(!best || c->seen_ns < best->seen_ns))
			best = c;
	return best;
}

struct client *client_idle_locked(struct state *s, const struct share_holder *h, uint64_t spare)
	REQUIRES(s->lock)
{
	struct client *c, *best = NULL;

	TAILQ_FOREACH (c, &s->clients, link)
		if ((!h || c->holder == h) && c->confirmed && c->id != spare &&
			(!best || c->seen_ns < best->seen_ns) && !st_holds_any(c))
			best = c;
	return best;
}

uint32_t client_destroy(struct state *s, const struct rpc_cred *cred, uint64_t clientid)
{
	uint32_t status = NFS4_OK;
	struct client *c;

	mutex_lock(&s->lock);
	c = client_find_locked(s, clientid);
	if (!c)
		status = NFS4ERR_STALE_CLIENTID;
	else if (!client_same_principal(&c->cred, cred))
		status = NFS4ERR_WRONG_CRED;
	else if (c->nsessions || st_holds_any(c))
		status = NFS4ERR_CLIENTID_BUSY;
	else
		client_remove_locked(s, c);
	mutex_unlock(&s->lock);
	if (status == NFS4_OK)
		client_dispose(s, c);
	client_unref(s, c);
	return status;
}

bool client_evict_expired(struct state *s, uint64_t clientid)
{
	struct client *c;
	bool removed = false;

	mutex_lock(&s->lock);
	c = client_find_locked(s, clientid);
	if (c && client_expired(s, c)) {
		client_remove_locked(s, c);
		removed = true;
	}
	mutex_unlock(&s->lock);
	if (removed)
		client_dispose(s, c);
	client_unref(s, c);
	return removed;
}

bool client_evict_own(struct state *s, uint64_t clientid)
{
	struct client *c, *own;

	mutex_lock(&s->lock);
	own = client_find_locked(s, clientid);
	c = own ? client_idle_locked(s, own->holder, clientid) : NULL;
	if (c)
		client_remove_locked(s, c);
	mutex_unlock(&s->lock);
	if (c)
		client_dispose(s, c);
	client_unref(s, own);
	return c != NULL;
}

bool client_evict_one(struct state *s, uint64_t clientid)
{
	struct client *c;

	mutex_lock(&s->lock);
	c = client_victim_locked(s, NULL, clientid);
	if (c)
		client_remove_locked(s, c);
	mutex_unlock(&s->lock);
	if (c)
		client_dispose(s, c);
	return c != NULL;
}
