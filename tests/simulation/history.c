/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * history: which files a name has stood for.
 */
#include "tests/simulation/history.h"

#include <stdio.h>

#include "tests/simulation/sched.h"

#define DEPTH 4 /* renames under way, of which each takes the file of the next one's name */

static uint64_t orders;

struct moment moment_now(void)
{
	return (struct moment){++orders, sched_now()};
}

void set_add(struct history_set *s, unsigned file)
{
	s->word[file / 64] |= 1ull << file % 64;
}

bool set_has(const struct history_set *s, unsigned file)
{
	return s->word[file / 64] & 1ull << file % 64;
}

bool set_meet(const struct history_set *a, const struct history_set *b)
{
	for (unsigned i = 0; i < HISTORY_FILES / 64; i++)
		if (a->word[i] & b->word[i] & (i ? UINT64_MAX : ~1ull))
			return true;
	return false;
}

void set_add_all(struct history_set *to, struct history_set files)
{
	for (unsigned i = 0; i < HISTORY_FILES / 64; i++)
		to->word[i] |= files.word[i];
}

bool set_has_any(const struct history_set *s)
{
	return set_meet(s, s);
}

void history_new(struct history *h, const char *name)
{
	struct history_set none = {0};

	*h = (struct history){.n = 0};
	snprintf(h->name, sizeof(h->name), "%s", name);
	set_add(&none, 0);
	history_end(history_begin(h, 0, none, NULL), HISTORY_DONE);
}

/* Has a later change surely replaced c before the call began, and does the mount know? */
static bool is_replaced(const struct history *h, const struct change *c, struct moment begin,
	unsigned mount, uint64_t believes)
{
	for (unsigned i = 0; i < h->n; i++) {
		const struct change *d = &h->change[i];

		if (d->maybe || d->begin.order < c->end.order || d->end.order > begin.order)
			continue;
		if (d->mount == mount || d->end.time + believes < begin.time)
			return true;
	}
	return false;
}

/* May the call have found the gap of c? */
static bool saw_gap(const struct change *c, struct moment begin, struct moment end, unsigned mount,
	uint64_t believes)
{
	bool ended = c->end.order != UINT64_MAX;

	return c->gap && c->mount != mount && c->begin.order <= end.order &&
	       !(ended && c->end.order < begin.order && c->end.time + believes < begin.time);
}

static struct history_set allows(const struct history *h, struct moment begin, struct moment end,
	unsigned mount, uint64_t believes, unsigned depth)
{
	struct history_set all = {0};

	for (unsigned i = 0; i < h->n; i++) {
		const struct change *c = &h->change[i];

		if (saw_gap(c, begin, end, mount, believes))
			set_add(&all, 0);
		if (c->begin.order > end.order || is_replaced(h, c, begin, mount, believes))
			continue;
		set_add_all(&all, c->files);
		if (c->from && depth)
			set_add_all(&all, allows(c->from, c->begin, end, c->mount, 0, depth - 1));
	}
	return all;
}

struct history_set history_allows(const struct history *h, struct moment begin, struct moment end,
	unsigned mount, uint64_t believes)
{
	return allows(h, begin, end, mount, believes, DEPTH);
}

struct change *history_begin(
	struct history *h, unsigned mount, struct history_set files, const struct history *from)
{
	struct change *c = &h->change[h->n];

	if (h->n++ == HISTORY_MOST)
		sched_fail("the judge has no room for changes of %s", h->name);
	*c = (struct change){.begin = moment_now(),
		.end = {UINT64_MAX, UINT64_MAX},
		.files = files,
		.from = from,
		.mount = mount};
	return c;
}

void history_end(struct change *c, enum history_end how)
{
	c->end = moment_now();
	if (c->from) {
		set_add_all(&c->files, history_allows(c->from, c->begin, c->end, c->mount, 0));
		c->files.word[0] &= ~1ull;
	}
	c->from = NULL;
	c->maybe = how != HISTORY_DONE;
	if (how == HISTORY_FAILED)
		c->files = (struct history_set){0};
}
