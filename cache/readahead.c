/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * readahead: which data the readers of an open file will want next.
 */
#include "cache/readahead.h"

#include <string.h>

#define NEAR  (1u << 20)   /* bytes by which requests of one reader may overtake each other */
#define GAP   (128u << 10) /* a gap so small is read as well */
#define LARGE (64u << 10)  /* a first request so large is the kernel's own read-ahead */

void readahead_init(struct readahead *r, uint32_t max)
{
	memset(r, 0, sizeof(*r));
	r->max = r->most = max;
}

static uint32_t at_most(uint64_t n, uint32_t max)
{
	return n < max ? (uint32_t)n : max;
}

/* --- patterns of requests --------------------------------------------------------------------- */

/* The direction that the requests show, if any. */
struct turn {
	bool in_row; /* the request begins where another ended */
	bool any;
	enum readahead_way way;
	int64_t stride;
	uint32_t piece;
};

static const struct readahead_run *run_at(const struct readahead *r, uint64_t start, uint64_t len)
{
	for (unsigned i = 0; i < READAHEAD_RUNS; i++)
		if (r->run[i].start == start && r->run[i].end - start == len)
			return &r->run[i];
	return NULL;
}

static struct turn turn_of(int64_t stride, uint64_t piece)
{
	uint64_t far = stride < 0 ? 0 - (uint64_t)stride : (uint64_t)stride;
	struct turn t = {.stride = stride, .piece = (uint32_t)piece};

	t.any = far >= piece && far < UINT64_MAX / 2;
	if (far - piece >= GAP)
		t.way = READAHEAD_STEPS;
	else
		t.way = stride < 0 ? READAHEAD_BACK : READAHEAD_FORWARD;
	return t;
}

/* A run begins at off. Do the two runs immediately before have the same distance and length? Or
 * three runs, with others between? */
static struct turn find_steps(const struct readahead *r, uint64_t off)
{
	const struct readahead_run *last = &r->run[r->newest], *before;

	before = &r->run[(r->newest + READAHEAD_RUNS - 1) % READAHEAD_RUNS];
	for (unsigned i = 0; i < READAHEAD_RUNS; i++) {
		const struct readahead_run *one = &r->run[i], *two;
		uint64_t stride = off - one->start, len = one->end - one->start;

		if (!len || len > READAHEAD_EASY || !stride)
			continue;
		two = run_at(r, one->start - stride, len);
		if (two &&
			((one == last && two == before) || run_at(r, one->start - 2 * stride, len)))
			return turn_of((int64_t)stride, len);
	}
	return (struct turn){.any = false};
}

/* Adds a request to the runs. */
static struct turn trace(struct readahead *r, uint64_t off, uint32_t len)
{
	struct turn t = {.any = false};

	for (unsigned i = 0; i < READAHEAD_RUNS; i++) {
		struct readahead_run *run =
			&r->run[(r->newest + READAHEAD_RUNS - i) % READAHEAD_RUNS];
		bool down = off + len == run->last;

		if (run->start == run->end ||
			(!down && (off < run->start || off > run->end || run->end - off > NEAR)))
			continue;
		t.in_row = off == run->end;
		run->down = down ? run->down + 1 : 0;
		run->last = off;
		run->start = off < run->start ? off : run->start;
		run->end = off + len > run->end ? off + len : run->end;
		return run->down < 2 ? t : turn_of(-(int64_t)len, len);
	}
	t = find_steps(r, off);
	r->newest = (r->newest + 1) % READAHEAD_RUNS;
	r->run[r->newest] = (struct readahead_run){.start = off, .end = off + len, .last = off};
	return t;
}

/* --- the stream of a request ------------------------------------------------------------------ */

/* Finds the piece in which off lies. *steps: its distance from the present piece, in pieces; 0 also
 * for an earlier piece. False: off is in no expected piece. */
static bool in_steps(const struct readahead_stream *s, uint64_t off, uint32_t *steps)
{
	int64_t d = (int64_t)(off - s->place), n;

	n = d / s->stride;
	if (d - n * s->stride < 0) /* off is behind the end of an earlier piece */
		n += s->stride < 0 ? 1 : -1;
	if (n < -(int64_t)READAHEAD_MOST_PIECES || n > (int64_t)s->asked + 1 ||
		d - n * s->stride >= s->piece)
		return false;
	*steps = n > 0 ? (uint32_t)n : 0;
	return true;
}

/* Is this the request that s expects? For steps, any part of an expected piece is expected. */
static bool is_next(const struct readahead_stream *s, uint64_t off, uint32_t len)
{
	uint32_t steps;

	if (s->way == READAHEAD_STEPS)
		return in_steps(s, off, &steps);
	return s->way == READAHEAD_BACK ? off + len == s->place : off == s->place;
}

static bool near(const struct readahead_stream *s, uint64_t off, uint32_t len)
{
	if (s->way == READAHEAD_STEPS)
		return false;
	if (s->way == READAHEAD_BACK)
		return off >= s->place ? off - s->place <= NEAR : s->place - off <= NEAR + len;
	return off <= s->place ? s->place - off <= NEAR + len : off - s->place <= NEAR;
}

/* The stream that continues at off, or else the nearest; NULL: none. */
static struct readahead_stream *find(struct readahead *r, uint64_t off, uint32_t len)
{
	struct readahead_stream *found = NULL;

	for (unsigned i = 0; i < READAHEAD_STREAMS; i++) {
		struct readahead_stream *s = &r->stream[i];

		if (s->used && is_next(s, off, len))
			return s;
		if (s->used && s->window && near(s, off, len))
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

/* Turns s into another way from off on. */
static void turn_stream(
	struct readahead *r, struct readahead_stream *s, uint64_t off, uint32_t len, struct turn t)
{
	*s = (struct readahead_stream){.way = t.way,
		.place = t.way == READAHEAD_BACK ? off + len : off,
		.window = at_most(READAHEAD_MIN, r->most),
		.stride = t.stride,
		.piece = t.piece,
		.count = READAHEAD_FIRST_PIECES};
	s->ahead = t.way == READAHEAD_BACK ? off : s->place;
}

/* --- plans ------------------------------------------------------------------------------------ */

static void grow_window(struct readahead *r, struct readahead_stream *s)
{
	if (s->window < READAHEAD_EASY)
		s->window = at_most(2ull * s->window, r->most);
}

/* Plans the part of the window that was not asked for yet. A small part waits for the next
 * request. */
static void plan_forward(
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
	grow_window(r, s);
}

static void plan_back(struct readahead *r, struct readahead_stream *s, struct readahead_plan *plan)
{
	uint64_t from = s->place > s->window ? s->place - s->window : 0;

	if (s->ahead > s->place)
		s->ahead = s->place;
	if (from >= s->ahead || (s->ahead - from < s->window / 2 && from))
		return;
	plan->from = from;
	plan->to = s->ahead;
	plan->back = true;
	s->ahead = from;
	grow_window(r, s);
}

/* The most pieces that a stream may have asked for. */
static uint32_t most_pieces(const struct readahead *r, const struct readahead_stream *s)
{
	uint32_t most = r->most / s->piece;

	return most > READAHEAD_MOST_PIECES ? READAHEAD_MOST_PIECES : most ? most : 1;
}

static void plan_steps(
	struct readahead *r, struct readahead_stream *s, uint64_t size, struct readahead_plan *plan)
{
	uint64_t at = s->place + (uint64_t)s->stride * (s->asked + 1);

	s->count = at_most(s->count, most_pieces(r, s));
	plan->from = at;
	plan->to = at + s->piece;
	plan->stride = s->stride;
	/* stops at either end of the file: below 0, `at` wraps around */
	for (; s->asked < s->count && at < size; at += (uint64_t)s->stride) {
		s->asked++;
		plan->pieces++;
	}
	if (!plan->pieces)
		plan->from = plan->to = 0;
}

static void went_steps(struct readahead *r, struct readahead_stream *s, uint64_t off, uint32_t len)
{
	uint32_t steps = 0;

	if (!in_steps(s, off, &steps) || !steps)
		return;
	s->place += (uint64_t)s->stride * steps;
	if (s->asked && s->count < READAHEAD_EASY_PIECES)
		s->count = at_most(2ull * s->count, most_pieces(r, s));
	s->asked = s->asked > steps ? s->asked - steps : 0;
}

/* Moves s to the request, and plans the data of the window of s. */
static void go(struct readahead *r, struct readahead_stream *s, uint64_t off, uint32_t len,
	uint64_t size, struct readahead_plan *plan)
{
	switch (s->way) {
	case READAHEAD_FORWARD:
		if (off + len > s->place)
			s->place = off + len;
		if (s->window)
			plan_forward(r, s, size, plan);
		break;
	case READAHEAD_BACK:
		if (off < s->place)
			s->place = off;
		plan_back(r, s, plan);
		break;
	case READAHEAD_STEPS:
		went_steps(r, s, off, len);
		plan_steps(r, s, size, plan);
		break;
	}
}

struct readahead_plan readahead_note(struct readahead *r, uint64_t off, uint32_t len, uint64_t size)
{
	struct readahead_plan plan = {.cache = false};
	struct readahead_stream *s;
	struct turn turn;

	if (!r->max || off + len < off)
		return plan;
	turn = trace(r, off, len);
	s = find(r, off, len);
	if (turn.any && (!s || s->way != turn.way)) {
		s = s ? s : oldest(r);
		turn_stream(r, s, off, len, turn);
	} else if (s) {
		if (!s->window)
			s->window = at_most(READAHEAD_MIN, r->most);
	} else {
		s = oldest(r);
		*s = (struct readahead_stream){.place = off};
		if (turn.in_row || (off == 0 && len >= LARGE))
			s->window = at_most(READAHEAD_MIN, r->most);
	}
	s->used = ++r->now;
	/* no reader comes back for the data between pieces */
	plan.cache = s->way != READAHEAD_STEPS && (s->window || off == 0);
	go(r, s, off, len, size, &plan);
	return plan;
}

void readahead_wasted(struct readahead *r)
{
	if (r->most > READAHEAD_MIN)
		r->most /= 2;
	for (unsigned i = 0; i < READAHEAD_STREAMS; i++) {
		struct readahead_stream *s = &r->stream[i];

		s->window = at_most(s->window, r->most);
		s->count = s->count > 1 ? s->count / 2 : s->count;
	}
}

/* Was the data at off asked for ahead? */
static bool was_ahead(const struct readahead_stream *s, uint64_t off)
{
	uint32_t steps;

	if (s->way == READAHEAD_STEPS)
		return in_steps(s, off, &steps);
	return s->way == READAHEAD_BACK ? s->ahead <= off : s->ahead > off;
}

void readahead_waited(struct readahead *r, uint64_t off)
{
	struct readahead_stream *s = find(r, off, 0);

	if (!s || !s->window || !was_ahead(s, off))
		return;
	if (s->window == r->most)
		r->most = at_most((uint64_t)r->most + READAHEAD_MIN, r->max);
	if (s->way == READAHEAD_STEPS)
		s->count = at_most(2ull * s->count, most_pieces(r, s));
	else
		s->window = at_most(2ull * s->window, r->most);
}
