/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * pieces: see pieces.h.
 */
#include "tests/simulation/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "tests/simulation/sched_impl.h"

#define OUT_MOST   4096
#define BEGUN_MOST 4096

struct range {
	unsigned from, to;
};

/* One of the list. */
struct left_out {
	struct range a, b;
};

static const char *const names[] = {
	NULL, "program", "weather", "option", "switch", "network", "disk", "kernel"};

static struct {
	struct left_out of[OUT_MOST];
	unsigned n;
} out[PIECE_KINDS];

static struct {
	enum piece_kind kind;
	unsigned a, b;
} begun[BEGUN_MOST];
static unsigned begun_n;
static uint64_t seed_of_all;

/* --- the list --------------------------------------------------------------------------------- */

/* "A", "A-B", "A-" or nothing at *s, which moves behind. */
static struct range range_at(const char **s)
{
	struct range r = {0, UINT32_MAX};
	char *end;

	if (**s < '0' || **s > '9')
		return r;
	r.from = r.to = (unsigned)strtoul(*s, &end, 10);
	if (*end == '-') {
		r.to = UINT32_MAX;
		if (*++end >= '0' && *end <= '9')
			r.to = (unsigned)strtoul(end, &end, 10);
	}
	*s = end;
	return r;
}

/* *at is moved behind the piece. */
static bool leave_out(const char **at)
{
	for (enum piece_kind k = PIECE_PROGRAM; k < PIECE_KINDS; k++) {
		size_t len = strlen(names[k]);
		const char *rest = *at + len;
		struct left_out *o = &out[k].of[out[k].n];

		if (strncmp(*at, names[k], len) || out[k].n == OUT_MOST)
			continue;
		o->a = range_at(&rest);
		rest += *rest == ':';
		o->b = range_at(&rest);
		out[k].n++;
		*at = rest;
		return true;
	}
	return false;
}

bool pieces_leave_out(const char *list)
{
	while (leave_out(&list) && *list == ',')
		list++;
	return !*list;
}

static bool is_in(const struct range *r, unsigned n)
{
	return n >= r->from && n <= r->to;
}

static bool is_left_out(enum piece_kind kind, unsigned a, unsigned b)
{
	for (unsigned i = 0; i < out[kind].n; i++)
		if (is_in(&out[kind].of[i].a, a) && is_in(&out[kind].of[i].b, b))
			return true;
	return false;
}

bool pieces_switch_left_out(uint64_t step)
{
	return out[PIECE_SWITCH].n && is_left_out(PIECE_SWITCH, (unsigned)step, 0);
}

bool pieces_rare_left_out(enum choices_stream s)
{
	return (s == CHOICES_NETWORK && out[PIECE_NETWORK].n) ||
	       (s == CHOICES_DISK && out[PIECE_DISK].n) ||
	       (s == CHOICES_KERNEL && out[PIECE_KERNEL].n);
}

/* --- the run ---------------------------------------------------------------------------------- */

void pieces_plant(uint64_t seed)
{
	seed_of_all = seed;
}

static void note(enum piece_kind kind, unsigned a, unsigned b)
{
	if (begun_n == BEGUN_MOST)
		return;
	begun[begun_n].kind = kind;
	begun[begun_n].a = a;
	begun[begun_n++].b = b;
}

bool piece_begin(enum piece_kind kind, unsigned a, unsigned b)
{
	struct sched_thread *t = sched_thread_self();
	uint64_t place = ((uint64_t)kind << 60 | (uint64_t)a << 30 | b) + 1;

	t->piece = (struct piece){.kind = kind, .a = a, .b = b};
	choices_plant(&t->piece.own, seed_of_all ^ place * 0xd1342543de82ef95);
	if (kind == PIECE_OPTION)
		return true;
	if (is_left_out(kind, a, b))
		return false;
	note(kind, a, b);
	sched_event(kind == PIECE_WEATHER ? "%s%u begins" : "%s%u:%u begins", names[kind], a, b);
	return true;
}

/* Choices of the set-up are numbered in their order. True: this one is left out. */
static bool option_left_out(struct piece *p)
{
	unsigned number = p->a++;

	if (is_left_out(PIECE_OPTION, number, 0))
		return true;
	note(PIECE_OPTION, number, 0);
	return false;
}

uint32_t pieces_choose(struct piece *p, uint32_t n)
{
	uint32_t chosen = choices_next(&p->own, n);

	return p->kind == PIECE_OPTION && option_left_out(p) ? 0 : chosen;
}

bool pieces_once_in(struct piece *p, uint32_t n)
{
	uint32_t chosen = choices_next(&p->own, n);

	return (p->kind != PIECE_OPTION || !option_left_out(p)) && !chosen;
}

void pieces_print(FILE *to)
{
	for (unsigned i = 0; i < begun_n; i++)
		fprintf(to, "piece %s %u %u\n", names[begun[i].kind], begun[i].a, begun[i].b);
}
