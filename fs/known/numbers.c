/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * numbers: the numbers by which the kernel names inodes and open files.
 */
#include "fs/known/numbers.h"

#include <stdlib.h>

struct number_slot {
	uint64_t number;
	void *object; /* NULL: the slot is free */
};

bool numbers_init(struct numbers *n, unsigned run, size_t inherited)
{
	*n = (struct numbers){.run = run};
	if (!inherited)
		return true;
	n->nslots = 16;
	while (n->nslots / 2 < inherited)
		n->nslots *= 2;
	n->slot = calloc(n->nslots, sizeof(*n->slot));
	return n->slot;
}

void numbers_finish(struct numbers *n)
{
	free(n->slot);
	*n = (struct numbers){0};
}

/* The slot of number, or the free slot where number belongs. There is always a free slot. */
static struct number_slot *slot_of(const struct numbers *n, uint64_t number)
{
	size_t i = (number * 0x9e3779b97f4a7c15ull) >> 20 & (n->nslots - 1);

	while (n->slot[i].object && n->slot[i].number != number)
		i = (i + 1) & (n->nslots - 1);
	return &n->slot[i];
}

bool numbers_inherit(struct numbers *n, uint64_t number, void *object)
{
	struct number_slot *s = n->nslots ? slot_of(n, number) : NULL;

	if (!s || s->object || number >> NUMBERS_RUN_BITS >= n->run)
		return false;
	*s = (struct number_slot){.number = number, .object = object};
	return true;
}

void *numbers_inherited(const struct numbers *n, uint64_t number)
{
	return n->nslots ? slot_of(n, number)->object : NULL;
}
