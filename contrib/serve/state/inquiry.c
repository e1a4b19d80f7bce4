/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inquiry: asks the holder of a write delegation for the file's attributes.
 */
#include "contrib/serve/state/inquiry.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "transport/clock.h"

#define WAIT_NS (2 * NSEC_PER_SEC)

/* Makes all inquiries of list ready. */
static void ready_locked(struct delegs *d, struct inquiries *list, uint32_t status)
	REQUIRES(d->lock)
{
	struct inquiry *q;

	TAILQ_FOREACH (q, list, link)
		q->status = status;
	if (!TAILQ_EMPTY(list))
		atomic_store_explicit(&d->ready_any, true, memory_order_relaxed);
	TAILQ_CONCAT(&d->ready, list, link);
}

/* Asks the holder of st on behalf of all inquiries made since the last call. */
static void ask_locked(struct state *s, struct st *st) REQUIRES(st->obj->lock)
{
	struct delegs *d = s->delegs;
	bool sent = deleg_prepare_locked(s, st, NOTICE_GETATTR);

	mutex_lock(&d->lock);
	if (sent)
		TAILQ_CONCAT(&st->deleg.asked, &st->deleg.made, link);
	else
		ready_locked(d, &st->deleg.made, NFS4ERR_DELAY);
	mutex_unlock(&d->lock);
	if (!sent)
		deleg_recall_locked(s, st);
}

/* The holder has not answered: recalls the delegation. The inquirers come again when the holder has
 * returned it. */
static void give_up_locked(struct state *s, struct st *st) REQUIRES(st->obj->lock)
{
	struct delegs *d = s->delegs;

	deleg_recall_locked(s, st);
	mutex_lock(&d->lock);
	ready_locked(d, &st->deleg.asked, NFS4ERR_DELAY);
	ready_locked(d, &st->deleg.made, NFS4ERR_DELAY);
	mutex_unlock(&d->lock);
}

void inquiry_make(struct state *s, struct obj *o, const struct client *by, struct inquiry *q)
{
	struct delegs *d = s->delegs;
	struct inquiries one = TAILQ_HEAD_INITIALIZER(one);
	struct st *st;
	bool first;

	q->status = NFS4_OK;
	q->said = false;
	q->made_ns = clock_coarse_ns();
	TAILQ_INSERT_TAIL(&one, q, link);
	mutex_lock(&o->lock);
	LIST_FOREACH (st, &o->states, obj_link)
		if (st->kind == ST_DELEG && deleg_writes(st) && st->client != by)
			break;
	if (st && st->deleg.recalled_ns)
		deleg_recall_locked(s, st); /* sends another recall, now or soon */
	mutex_lock(&d->lock);
	if (!st || st->deleg.recalled_ns) {
		ready_locked(d, &one, st ? (uint32_t)NFS4ERR_DELAY : NFS4_OK);
		st = NULL;
	} else {
		first = TAILQ_EMPTY(&st->deleg.asked) && TAILQ_EMPTY(&st->deleg.made);
		TAILQ_CONCAT(&st->deleg.made, &one, link);
	}
	mutex_unlock(&d->lock);
	if (st && first)
		ask_locked(s, st);
	mutex_unlock(&o->lock);
}

static void answered_locked(struct state *s, struct st *st, uint64_t change, uint64_t size)
	REQUIRES(st->obj->lock)
{
	struct delegs *d = s->delegs;
	struct inquiry *q;
	bool more;

	mutex_lock(&d->lock);
	TAILQ_FOREACH (q, &st->deleg.asked, link) {
		q->said = true;
		q->change = change;
		q->size = size;
		q->base = st->deleg.change;
	}
	ready_locked(d, &st->deleg.asked, NFS4_OK);
	more = !TAILQ_EMPTY(&st->deleg.made);
	mutex_unlock(&d->lock);
	if (more)
		ask_locked(s, st);
}

void inquiry_answered(struct state *s, uint64_t clientid, const struct nfs4_stateid *sid,
	const uint64_t *change, uint64_t size)
{
	struct st *st = deleg_get(s, clientid, sid);

	if (!st) /* the delegation has ended, and its inquiries are ready */
		return;
	mutex_lock(&st->obj->lock);
	if (!change || size > INT64_MAX)
		give_up_locked(s, st);
	else
		answered_locked(s, st, *change, size);
	mutex_unlock(&st->obj->lock);
	st_put(s, st);
}

/* Has an inquiry waited too long for st's holder? */
static bool overdue_locked(struct delegs *d, const struct st *st, uint64_t now) REQUIRES(d->lock)
{
	const struct inquiry *q = TAILQ_FIRST(&st->deleg.asked);

	return q && clock_age(now, q->made_ns) > WAIT_NS;
}

void inquiry_tick(struct state *s, bool all)
{
	struct delegs *d = s->delegs;
	uint64_t now = clock_coarse_ns();
	struct st *st;

	for (;;) {
		mutex_lock(&d->lock);
		TAILQ_FOREACH (st, &d->list, deleg.link)
			if (all ? !TAILQ_EMPTY(&st->deleg.asked) : overdue_locked(d, st, now))
				break;
		if (st)
			st_ref(st);
		mutex_unlock(&d->lock);
		if (!st)
			return;
		mutex_lock(&st->obj->lock);
		if (!st->closed && !st->revoked)
			give_up_locked(s, st);
		mutex_unlock(&st->obj->lock);
		st_put(s, st);
	}
}

bool inquiry_end_all(struct state *s)
{
	struct delegs *d = s->delegs;
	struct inquiry *q;

	if (!atomic_load_explicit(&d->ready_any, memory_order_relaxed))
		return false;
	for (;;) {
		mutex_lock(&d->lock);
		q = TAILQ_FIRST(&d->ready);
		if (q)
			TAILQ_REMOVE(&d->ready, q, link);
		else
			atomic_store_explicit(&d->ready_any, false, memory_order_relaxed);
		mutex_unlock(&d->lock);
		if (!q)
			return true;
		q->done(q);
	}
}
