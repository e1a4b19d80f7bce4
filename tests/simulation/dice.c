/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dice: xorshift64*.
 */
#include "tests/simulation/dice.h"

static uint64_t state;

unsigned below(unsigned n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned)((state * 0x2545f4914f6cdd1dull) >> 33) % n;
}

bool once_in(unsigned n)
{
	return !below(n);
}

void choose_from(uint64_t seed)
{
	state = (seed + 1) * 0x9e3779b97f4a7c15ull;
	for (unsigned i = 0; i < 8; i++)
		below(2);
}
