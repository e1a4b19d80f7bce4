/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * budget: how many bytes a user of memory may have.
 */
#include "cache/budget.h"

#include "transport/clock.h"

void budget_init(struct budget *b, size_t full, size_t least)
{
	*b = (struct budget){.full = full, .least = least, .now = full};
}

/* Lets the budget be bytes, but no less than its least. */
static void set(struct budget *b, size_t bytes)
{
	size_t least = b->full < b->least ? b->full : b->least;

	b->now = bytes > least ? bytes : least;
}

void budget_cut(struct budget *b, size_t used, uint64_t now_ns)
{
	set(b, (used < b->now ? used : b->now) / 2);
	b->short_ns = now_ns;
}

bool budget_bound(struct budget *b, size_t used, size_t room)
{
	size_t before = b->now;

	if (used < b->now && room < b->now - used)
		set(b, used + room);
	return b->now < before;
}

void budget_resize(struct budget *b, size_t full)
{
	if (b->now == b->full || b->now > full)
		b->now = full;
	b->full = full;
}

bool budget_grow(struct budget *b, uint64_t now_ns)
{
	size_t step = b->full / BUDGET_STEPS + 1;

	if (b->now == b->full || clock_age(now_ns, b->short_ns) < BUDGET_CALM_NS)
		return false;
	b->now = b->full - b->now > step ? b->now + step : b->full;
	return true;
}
