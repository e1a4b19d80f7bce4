/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * complete: directories with all names known.
 */
#include "fs/known/complete.h"

#include <stdlib.h>
#include <string.h>

#include "transport/clock.h"

#define FIRST_SLOTS 16u
#define MISSES	    3u /* LOOKUPs of absent names that make a listing worth it */

/* --- sets ------------------------------------------------------------------------------------- */

static uint64_t value_of(uint64_t hash)
{
	return hash ? hash : 1;
}

/* The slot with v, or the slot where v would be. The set has a free slot. */
static uint32_t place(const struct hash_set *s, uint64_t v)
{
	uint32_t i = (uint32_t)v & (s->nslots - 1);

	while (s->slot[i] && s->slot[i] != v)
		i = (i + 1) & (s->nslots - 1);
	return i;
}

static bool set_has(const struct hash_set *s, uint64_t v)
{
	return s->nslots && s->slot[place(s, v)] == v;
}

static void set_clear(struct completes *a, struct hash_set *s)
{
	a->slots -= s->nslots;
	free(s->slot);
	*s = (struct hash_set){0};
}

static bool set_grow(struct completes *a, struct hash_set *s)
{
	struct hash_set more = {.nslots = s->nslots ? s->nslots * 2 : FIRST_SLOTS};

	more.slot = calloc(more.nslots, sizeof(*more.slot));
	if (!more.slot)
		return false;
	for (uint32_t i = 0; i < s->nslots; i++)
		if (s->slot[i])
			more.slot[place(&more, s->slot[i])] = s->slot[i];
	more.count = s->count;
	a->slots += more.nslots;
	set_clear(a, s);
	*s = more;
	return true;
}

/* Adds v. The set stays at most half full. */
static bool set_add(struct completes *a, struct hash_set *s, uint64_t v)
{
	uint32_t i;

	if (s->count >= s->nslots / 2 && !set_grow(a, s))
		return false;
	i = place(s, v);
	s->count += !s->slot[i];
	s->slot[i] = v;
	return true;
}

/* Removes v. Elements behind v that were placed past v move up. */
static void set_remove(struct hash_set *s, uint64_t v)
{
	uint32_t mask = s->nslots - 1, free_at, home;

	if (!set_has(s, v))
		return;
	free_at = place(s, v);
	s->count--;
	for (uint32_t i = (free_at + 1) & mask; s->slot[i]; i = (i + 1) & mask) {
		home = (uint32_t)s->slot[i] & mask;
		if (((i - home) & mask) < ((i - free_at) & mask))
			continue;
		s->slot[free_at] = s->slot[i];
		free_at = i;
	}
	s->slot[free_at] = 0;
}

/* --- directories ------------------------------------------------------------------------------ */

void completes_init(struct completes *a)
{
	TAILQ_INIT(&a->used);
	a->slots = 0;
}

static void unlink_it(struct completes *a, struct complete *c)
{
	if (c->linked)
		TAILQ_REMOVE(&a->used, c, link);
	c->linked = false;
}

/* c becomes the most recently used. */
static void use(struct completes *a, struct complete *c)
{
	unlink_it(a, c);
	if (!c->set.nslots && !c->next.nslots && !c->changed.nslots)
		return;
	TAILQ_INSERT_TAIL(&a->used, c, link);
	c->linked = true;
}

static void drop_next(struct completes *a, struct complete *c)
{
	set_clear(a, &c->next);
	c->token = 0;
}

static void drop_set(struct completes *a, struct complete *c)
{
	set_clear(a, &c->set);
	c->is = false;
}

static void drop_changed(struct completes *a, struct complete *c)
{
	set_clear(a, &c->changed);
	c->watched = 0;
}

void complete_end(struct completes *a, struct complete *c)
{
	drop_set(a, c);
	drop_next(a, c);
	drop_changed(a, c);
	unlink_it(a, c);
}

/* Makes room for c: frees the sets of the least recently used directories, the sets of c last. */
static void fit(struct completes *a, struct complete *c)
{
	struct complete *oldest;

	use(a, c);
	while (a->slots > COMPLETE_SLOTS_MAX && (oldest = TAILQ_FIRST(&a->used)))
		complete_end(a, oldest);
}

void complete_made(struct completes *a, struct complete *c, uint64_t since)
{
	complete_end(a, c);
	c->is = c->by_anybody = true;
	c->since = since;
}

void complete_add(struct completes *a, struct complete *c, uint64_t hash)
{
	uint64_t v = value_of(hash);

	if (c->is && (!set_add(a, &c->set, v) || c->set.count > COMPLETE_NAMES_MAX))
		drop_set(a, c);
	if (c->token && (!set_add(a, &c->next, v) || c->next.count > COMPLETE_NAMES_MAX))
		drop_next(a, c);
	complete_changed(a, c, hash);
	fit(a, c);
}

/* A listing in flight keeps the name, if it has brought the name or will. */
void complete_remove(struct completes *a, struct complete *c, uint64_t hash)
{
	if (c->is)
		set_remove(&c->set, value_of(hash));
}

bool complete_lacks(
	struct completes *a, struct complete *c, uint64_t hash, uint32_t uid, uint64_t *since)
{
	if (!c->is || (!c->by_anybody && c->by_uid != uid))
		return false;
	use(a, c);
	*since = c->since;
	return !set_has(&c->set, value_of(hash));
}

uint32_t complete_list(
	struct completes *a, struct complete *c, uint64_t since, uint32_t uid, uint32_t max)
{
	drop_next(a, c);
	if (!++c->last_token)
		c->last_token = 1;
	c->token = c->last_token;
	c->next_since = since;
	c->next_uid = uid;
	c->next_max = max < COMPLETE_NAMES_MAX ? max : COMPLETE_NAMES_MAX;
	return c->token;
}

bool complete_listed(struct completes *a, struct complete *c, uint32_t token, uint64_t hash)
{
	if (!token || c->token != token)
		return false;
	if (c->next.count >= c->next_max || !set_add(a, &c->next, value_of(hash)))
		drop_next(a, c);
	fit(a, c);
	return c->token == token;
}

void complete_list_end(struct completes *a, struct complete *c, uint32_t token, bool whole)
{
	if (!token || c->token != token)
		return;
	if (whole) {
		drop_set(a, c);
		c->set = c->next;
		c->next = (struct hash_set){0};
		c->is = true;
		c->by_anybody = false;
		c->by_uid = c->next_uid;
		c->since = c->next_since;
		c->missed = 0;
	}
	drop_next(a, c);
	use(a, c);
}

void complete_watch(struct completes *a, struct complete *c, uint64_t since)
{
	drop_changed(a, c);
	c->watched = since;
	use(a, c);
}

void complete_changed(struct completes *a, struct complete *c, uint64_t hash)
{
	if (!c->watched)
		return;
	if (!set_add(a, &c->changed, value_of(hash)) || c->changed.count > COMPLETE_NAMES_MAX)
		drop_changed(a, c);
	fit(a, c);
}

bool complete_unchanged(const struct complete *c, uint64_t hash, uint64_t since)
{
	return c->watched && since >= c->watched && !set_has(&c->changed, value_of(hash));
}

bool complete_missed(struct complete *c, uint64_t now, uint64_t time)
{
	if (!c->missed || clock_age(now, c->missed_at) > time) {
		c->missed = 0;
		c->missed_at = now;
	}
	if (++c->missed < MISSES || c->token || now < c->not_before)
		return false;
	c->missed = 0;
	c->not_before = now + time;
	return true;
}

void complete_too_large(struct complete *c, uint64_t until)
{
	c->not_before = until;
}
