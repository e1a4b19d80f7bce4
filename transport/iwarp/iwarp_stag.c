/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * iwarp: the table of doors, from STag to memory.
 *
 * A door's number is drawn anew each time from the kernel's random numbers, so a peer can neither
 * guess a number nor use one again. The table uses linear probing, with deletion by shifting back.
 * It is at most half full, so a look-up is a couple of comparisons.
 */
#include "transport/iwarp/iwarp_stag.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

int iwarp_stags_init(struct iwarp_stags *t)
{
	memset(t, 0, sizeof(*t));
	mutex_init(&t->lock);
	t->cap = 256;
	t->slot = calloc(t->cap, sizeof(*t->slot));
	if (!t->slot)
		return -ENOMEM;
	return 0;
}

void iwarp_stags_finish(struct iwarp_stags *t)
{
	mutex_destroy(&t->lock);
	free(t->slot);
}

static uint32_t random_locked(struct iwarp_stags *t) REQUIRES(t->lock)
{
	uint32_t v;

	do {
		if (!t->rnd_left) {
			/* up to 256 bytes come at once and without error once the pool is up */
			while (getrandom(t->rnd, sizeof(t->rnd), 0) != (ssize_t)sizeof(t->rnd))
				;
			t->rnd_left = sizeof(t->rnd) / sizeof(t->rnd[0]);
		}
		v = t->rnd[--t->rnd_left];
	} while (!v);
	return v;
}

uint32_t iwarp_stags_random(struct iwarp_stags *t)
{
	uint32_t v;

	mutex_lock(&t->lock);
	v = random_locked(t);
	mutex_unlock(&t->lock);
	return v;
}

/* The slot of stag, or the free slot for it. */
static uint32_t probe(const struct iwarp_stags *t, uint32_t stag) REQUIRES(t->lock)
{
	uint32_t i = stag & (t->cap - 1);

	while (t->slot[i].stag && t->slot[i].stag != stag)
		i = (i + 1) & (t->cap - 1);
	return i;
}

static int grow(struct iwarp_stags *t) REQUIRES(t->lock)
{
	struct iwarp_door *old = t->slot;
	uint32_t old_cap = t->cap;
	struct iwarp_door *slot;

	if (t->count >= IWARP_MAX_DOORS)
		return -ENOMEM;
	slot = calloc((size_t)old_cap * 2, sizeof(*slot));
	if (!slot)
		return -ENOMEM;
	t->slot = slot;
	t->cap = old_cap * 2;
	for (uint32_t i = 0; i < old_cap; i++)
		if (old[i].stag)
			t->slot[probe(t, old[i].stag)] = old[i];
	free(old);
	return 0;
}

int iwarp_stags_open(struct iwarp_stags *t, struct iwarp_door *d)
{
	uint32_t i;
	int rc = 0;

	mutex_lock(&t->lock);
	if (t->count * 2 >= t->cap)
		rc = grow(t);
	if (!rc) {
		do {
			d->stag = random_locked(t);
			i = probe(t, d->stag);
		} while (t->slot[i].stag);
		d->seq = ++t->seq;
		t->slot[i] = *d;
		t->count++;
	}
	mutex_unlock(&t->lock);
	return rc;
}

bool iwarp_stags_find(struct iwarp_stags *t, uint32_t stag, struct iwarp_door *d)
{
	bool found = false;

	if (!stag)
		return false;
	mutex_lock(&t->lock);
	*d = t->slot[probe(t, stag)];
	found = d->stag == stag;
	mutex_unlock(&t->lock);
	return found;
}

bool iwarp_stags_write(
	struct iwarp_stags *t, uint32_t stag, uint64_t to, uint32_t n, struct iwarp_door *d)
{
	struct iwarp_door *slot;
	bool found = false;

	if (!stag)
		return false;
	mutex_lock(&t->lock);
	slot = &t->slot[probe(t, stag)];
	if (slot->stag == stag) {
		uint32_t top = to > slot->len || n > slot->len - to ? slot->len : (uint32_t)to + n;

		found = true;
		if (top > slot->top)
			slot->top = top;
		*d = *slot;
	}
	mutex_unlock(&t->lock);
	return found;
}

/* Frees slot i and moves later entries back that a look-up would not find any more. */
static void remove_at(struct iwarp_stags *t, uint32_t i) REQUIRES(t->lock)
{
	uint32_t mask = t->cap - 1, j = i;

	for (;;) {
		j = (j + 1) & mask;
		if (!t->slot[j].stag)
			break;
		/* an entry may fill the gap unless its home lies cyclically in (i, j] */
		if (((j - (t->slot[j].stag & mask)) & mask) >= ((j - i) & mask)) {
			t->slot[i] = t->slot[j];
			i = j;
		}
	}
	memset(&t->slot[i], 0, sizeof(t->slot[i]));
	t->count--;
}

bool iwarp_stags_close(struct iwarp_stags *t, uint32_t stag, uint64_t seq)
{
	bool found;
	uint32_t i;

	if (!stag)
		return false;
	mutex_lock(&t->lock);
	i = probe(t, stag);
	found = t->slot[i].stag == stag && (!seq || t->slot[i].seq == seq);
	if (found)
		remove_at(t, i);
	mutex_unlock(&t->lock);
	return found;
}

static struct iwarp_ghost *ghost_locked(struct iwarp_stags *t, uint32_t stag) REQUIRES(t->lock)
{
	for (unsigned i = 0; stag && i < IWARP_GHOSTS; i++)
		if (t->ghost[i].stag == stag)
			return &t->ghost[i];
	return NULL;
}

bool iwarp_stags_abandon(struct iwarp_stags *t, uint32_t stag, uint64_t seq)
{
	struct iwarp_door *d;
	bool found;

	if (!stag)
		return false;
	mutex_lock(&t->lock);
	d = &t->slot[probe(t, stag)];
	found = d->stag == stag && d->seq == seq;
	if (found) {
		t->ghost[t->next_ghost++ % IWARP_GHOSTS] = (struct iwarp_ghost){
			.stag = stag, .access = d->access, .len = d->len, .left = d->len};
		remove_at(t, (uint32_t)(d - t->slot));
	}
	mutex_unlock(&t->lock);
	return found;
}

bool iwarp_stags_find_ghost(struct iwarp_stags *t, uint32_t stag, struct iwarp_door *d)
{
	const struct iwarp_ghost *g;

	mutex_lock(&t->lock);
	g = ghost_locked(t, stag);
	if (g)
		*d = (struct iwarp_door){.stag = stag, .access = g->access, .len = g->len};
	mutex_unlock(&t->lock);
	return g != NULL;
}

bool iwarp_stags_discard(struct iwarp_stags *t, uint32_t stag, uint32_t n)
{
	struct iwarp_ghost *g;
	bool ok;

	mutex_lock(&t->lock);
	g = ghost_locked(t, stag);
	ok = g && n <= g->left;
	if (ok)
		g->left -= n;
	mutex_unlock(&t->lock);
	return ok;
}

bool iwarp_stags_bury(struct iwarp_stags *t, uint32_t stag)
{
	struct iwarp_ghost *g;

	mutex_lock(&t->lock);
	g = ghost_locked(t, stag);
	if (g)
		g->stag = 0;
	mutex_unlock(&t->lock);
	return g != NULL;
}
