/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * readahead: what the readers of an open file will want next.
 */
#include "cache/readahead.h"

#include <string.h>

#define NEAR  (1u << 20)  /* bytes that requests of one reader may overtake each other by */
#define LARGE (64u << 10) /* a first request of so many bytes is the kernel's own read-ahead */

void readahead_init(struct readahead *r, uint32_t max)
{
	memset(r, 0, sizeof(*r));
	r->max = r->most = max;
}

static bool near(const struct readahead_stream *s, uint64_t off, uint32_t len)
{
	if (!s->used)
		return false;
	return off <= s->place ? s->place - off <= NEAR + len : off - s->place <= NEAR;
}

/* The stream that continues at off, or else the nearest; NULL: none. */
static struct readahead_stream *find(struct readahead *r, uint64_t off, uint32_t len)
{
	struct readahead_stream *found = NULL;

	for (unsigned i = 0; i < READAHEAD_STREAMS; i++) {
		struct readahead_stream *s = &r->stream[i];

		if (s->used && s->place == off)
			return s;
		if (near(s, off, len) && s->window)
			found = s;
	}
	return found;
}

static struct readahead_stream *oldest(struct readahead *r)
{
	struct readahead_stream *old = &r->stream[0];

	for (unsigned i = 1; i < READAHEAD_STREAMS; i++)
		if (r->stream[i].used < old->used)
			old = &r->stream[i];
	return old;
}

static uint32_t at_most(uint64_t n, uint32_t max)
{
	return n < max ? (uint32_t)n : max;
}

/* What is not asked for yet of the window. A little is left for the next time. */
static void plan_window(
	struct readahead *r, struct readahead_stream *s, uint64_t size, struct readahead_plan *plan)
{
	uint64_t to = s->place + s->window;

	if (s->ahead < s->place)
		s->ahead = s->place;
	if (to > size)
		to = size;
	if (to <= s->ahead || (to - s->ahead < s->window / 2 && to < size))
		return;
	plan->from = s->ahead;
	plan->to = s->ahead = to;
	if (s->window < READAHEAD_EASY)
		s->window = at_most(2ull * s->window, r->most);
}

struct readahead_plan readahead_note(struct readahead *r, uint64_t off, uint32_t len, uint64_t size)
{
	struct readahead_plan plan = {.cache = false};
	struct readahead_stream *s;

	if (!r->max)
		return plan;
	s = find(r, off, len);
	if (s) {
		plan.cache = true;
		if (!s->window)
			s->window = at_most(READAHEAD_MIN, r->most);
	} else {
		s = oldest(r);
		*s = (struct readahead_stream){.place = off};
		plan.cache = off == 0;
		if (plan.cache && len >= LARGE)
			s->window = at_most(READAHEAD_MIN, r->most);
	}
	s->used = ++r->now;
	if (off + len > s->place)
		s->place = off + len;
	if (s->window)
		plan_window(r, s, size, &plan);
	return plan;
}

void readahead_wasted(struct readahead *r)
{
	if (r->most > READAHEAD_MIN)
		r->most /= 2;
	for (unsigned i = 0; i < READAHEAD_STREAMS; i++)
		r->stream[i].window = at_most(r->stream[i].window, r->most);
}

void readahead_waited(struct readahead *r, uint64_t off)
{
	struct readahead_stream *s = find(r, off, 0);

	if (!s || !s->window || s->ahead <= off)
		return;
	if (s->window == r->most)
		r->most = at_most((uint64_t)r->most + READAHEAD_MIN, r->max);
	s->window = at_most(2ull * s->window, r->most);
}
