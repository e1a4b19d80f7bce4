/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * choices: see choices.h.
 */
#include "tests/simulation/choices.h"

#include "tests/simulation/pieces.h"
#include "tests/simulation/sched_impl.h"

#define GOLDEN 0x9e3779b97f4a7c15

static uint64_t seeds[CHOICES_STREAMS];
static struct choices outside[CHOICES_STREAMS]; /* of threads that are none of a run */

/* splitmix64 */
uint64_t choices_mix(uint64_t a, uint64_t b)
{
	uint64_t z = a + b * GOLDEN;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* xorshift128+ (Vigna) */
uint64_t choices_wide(struct choices *c)
{
	uint64_t a = c->random[0], b = c->random[1];

	c->random[0] = b;
	a ^= a << 23;
	c->random[1] = a ^ b ^ (a >> 18) ^ (b >> 5);
	return c->random[1] + b;
}

void choices_plant(struct choices *c, uint64_t seed)
{
	for (int i = 0; i < 2; i++)
		c->random[i] = choices_mix(seed, (uint64_t)i + 1);
}

uint32_t choices_next(struct choices *c, uint32_t n)
{
	return (uint32_t)((choices_wide(c) >> 32) * n >> 32);
}

void choices_begin(uint64_t seed, uint64_t schedule)
{
	for (unsigned i = 0; i < CHOICES_STREAMS; i++)
		seeds[i] = choices_mix(i == CHOICES_SCHEDULE ? schedule : seed, i);
	choices_plant_all(outside, 0);
	pieces_plant(seed);
}

void choices_plant_all(struct choices *streams, uint64_t key)
{
	for (unsigned i = 0; i < CHOICES_STREAMS; i++)
		choices_plant(&streams[i], choices_mix(seeds[i], key));
}

uint32_t choices_below(enum choices_stream s, uint32_t n)
{
	struct sched_thread *t = sched_thread_self();

	return choices_next(t ? &t->stream[s] : &outside[s], n);
}

bool choices_once_in(enum choices_stream s, uint32_t n)
{
	bool is = !choices_below(s, n);

	return is && !pieces_rare_left_out(s);
}

uint32_t sched_choose(uint32_t n)
{
	struct sched_thread *t = sched_thread_self();

	return t && t->piece.kind ? pieces_choose(&t->piece, n) : choices_below(CHOICES_DAEMONS, n);
}

bool sched_once_in(uint32_t n)
{
	struct sched_thread *t = sched_thread_self();

	return t && t->piece.kind ? pieces_once_in(&t->piece, n)
				  : !choices_below(CHOICES_DAEMONS, n);
}
