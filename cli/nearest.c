/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nearest: the optimal string alignment distance, by the usual table of which three rows are kept.
 */
#include "cli/nearest.h"

#include <string.h>

#define LETTERS_MAX 32

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned slips_between(const char *a, size_t alen, const char *b, size_t blen)
{
	unsigned rows[3][LETTERS_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2], *spare;

	for (size_t j = 0; j <= blen; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= alen; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= blen; j++) {
			row[j] = least(least(last[j], row[j - 1]) + 1,
				last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		spare = before;
		before = last;
		last = row;
		row = spare;
	}
	return last[blen];
}

void nearest_init(struct nearest *n, const char *word)
{
	size_t len = strlen(word);

	*n = (struct nearest){.word = word,
		.slips = len < 3 || len > LETTERS_MAX ? 0
			 : len < 6		      ? 2
						      : 3};
}

void nearest_offer(struct nearest *n, const char *known)
{
	size_t len = strlen(known);
	unsigned slips;

	if (!n->slips || len > LETTERS_MAX)
		return;
	slips = slips_between(n->word, strlen(n->word), known, len);
	if (slips < n->slips) {
		n->slips = slips;
		n->best = known;
	}
}
