/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lock_ranges: a sorted array. A change touches a run of ranges, and replaces the run by at most
 * three pieces: the rest on the left, the new range, the rest on the right.
 */
#include "nfsproto/common/lock_ranges.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GROWTH 2 /* ranges that one change may add: a new one amid one that is cut in two */

void lock_ranges_init(struct lock_ranges *l)
{
	*l = (struct lock_ranges){.range = NULL};
}

void lock_ranges_finish(struct lock_ranges *l)
{
	free(l->range);
	lock_ranges_init(l);
}

int lock_ranges_reserve(struct lock_ranges *l)
{
	struct lock_range *more;
	uint32_t room;

	if (l->room - l->n >= GROWTH)
		return 0;
	if (l->n > UINT32_MAX / 4)
		return -ENOMEM;
	room = 2 * l->n + GROWTH;
	more = realloc(l->range, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	l->range = more;
	l->room = room;
	return 0;
}

/* The first range that ends at or behind byte `at`; n if there is none. */
static uint32_t find(const struct lock_ranges *l, uint64_t at)
{
	uint32_t lo = 0, hi = l->n;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->range[mid].last < at)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* The run of ranges from..to (to not included) that have a byte in first..last. */
static void find_run(
	const struct lock_ranges *l, uint64_t first, uint64_t last, uint32_t *from, uint32_t *to)
{
	*from = find(l, first);
	*to = find(l, last);
	if (*to < l->n && l->range[*to].first <= last)
		(*to)++;
}

/* Puts np pieces, in order, in the place of the run. There is room. */
static void replace(struct lock_ranges *l, uint32_t from, uint32_t to,
	const struct lock_range *piece, uint32_t np)
{
	assert(l->n - (to - from) + np <= l->room);
	if (l->range)
		memmove(l->range + from + np, l->range + to, (l->n - to) * sizeof(*l->range));
	for (uint32_t i = 0; i < np; i++)
		l->range[from + i] = piece[i];
	l->n = l->n - (to - from) + np;
	l->changes++;
}

int lock_ranges_set(struct lock_ranges *l, uint64_t first, uint64_t last, bool write)
{
	struct lock_range new = {
		.first = first, .last = last, .write = write, .number = l->changes};
	struct lock_range piece[3];
	uint32_t from, to, np = 0;
	struct lock_range right = {.first = 1, .last = 0};
	int rc = lock_ranges_reserve(l);

	assert(first <= last);
	if (rc)
		return rc;
	find_run(l, first, last, &from, &to);
	if (from < to && l->range[to - 1].last > last) {
		right = l->range[to - 1];
		right.first = last + 1;
	} else if (to < l->n && last != UINT64_MAX && l->range[to].first == last + 1) {
		right = l->range[to++]; /* a neighbour; goes back as it was, or becomes one with
					   the new */
	}
	if (from < to && l->range[from].first < first) {
		piece[0] = l->range[from];
		piece[0].last = first - 1;
		np = 1;
	} else if (from > 0 && l->range[from - 1].last + 1 == first) {
		piece[0] = l->range[--from];
		np = 1;
	}
	if (np && piece[0].write == write) {
		new.first = piece[0].first;
		np = 0;
	}
	if (right.first <= right.last && right.write == write)
		new.last = right.last;
	piece[np++] = new;
	if (right.first <= right.last && right.write != write)
		piece[np++] = right;
	replace(l, from, to, piece, np);
	return 0;
}

int lock_ranges_clear(struct lock_ranges *l, uint64_t first, uint64_t last)
{
	struct lock_range piece[2];
	uint32_t from, to, np = 0;

	assert(first <= last);
	find_run(l, first, last, &from, &to);
	if (from == to)
		return 0;
	if (l->range[from].first < first) {
		piece[np] = l->range[from];
		piece[np++].last = first - 1;
	}
	if (l->range[to - 1].last > last) {
		piece[np] = l->range[to - 1];
		piece[np++].first = last + 1;
	}
	if (np > to - from && lock_ranges_reserve(l))
		return -ENOMEM;
	replace(l, from, to, piece, np);
	return 0;
}

void lock_ranges_drop(struct lock_ranges *l)
{
	l->n = 0;
	l->changes++;
}

const struct lock_range *lock_ranges_conflict(
	const struct lock_ranges *l, uint64_t first, uint64_t last, bool write)
{
	for (uint32_t i = find(l, first); i < l->n && l->range[i].first <= last; i++)
		if (write || l->range[i].write)
			return &l->range[i];
	return NULL;
}

const struct lock_range *lock_ranges_covering(
	const struct lock_ranges *l, uint64_t first, uint64_t last, bool write)
{
	const struct lock_range *g = lock_ranges_conflict(l, first, last, true);

	return g && g->write == write && g->first <= first && g->last >= last ? g : NULL;
}

bool lock_ranges_covers(const struct lock_ranges *l, uint64_t first, uint64_t last, bool write)
{
	return lock_ranges_covering(l, first, last, write) != NULL;
}

bool lock_ranges_any(const struct lock_ranges *l, uint64_t first, uint64_t last)
{
	return lock_ranges_conflict(l, first, last, true) != NULL;
}

bool lock_ranges_splits(const struct lock_ranges *l, uint64_t first, uint64_t last)
{
	uint32_t i = find(l, first);

	return i < l->n && l->range[i].first < first && l->range[i].last > last;
}
