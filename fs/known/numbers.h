/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * numbers: the numbers by which the kernel names inodes and open files.
 *
 * A number is the address of the object, with the number of the daemon's run in the upper 16 bits,
 * which no address uses. The first daemon of a mount is run 0. Each successor (upgrade.h) is the
 * next run, and inherits numbers, for which it has a table. So a new number never equals an
 * inherited one.
 *
 * The table changes only before requests are served. An entry stays when its object is freed: the
 * kernel does not use the number any more.
 */
#ifndef RNFS_FS_KNOWN_NUMBERS_H
#define RNFS_FS_KNOWN_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBERS_RUN_BITS 48 /* of a number below the run */
#define NUMBERS_RUN_MAX	 UINT16_MAX

struct number_slot;

/* All zero: run 0. */
struct numbers {
	unsigned run;
	size_t nslots; /* a power of two, or 0 */
	struct number_slot *slot;
};

/* Room for n inherited numbers. False: no memory. */
bool numbers_init(struct numbers *n, unsigned run, size_t inherited);
void numbers_finish(struct numbers *n);
/* The kernel knows object by that number, of an earlier run. False: the number is not of an earlier
 * run, another object has the number, or there is no room. */
bool numbers_inherit(struct numbers *n, uint64_t number, void *object);
/* NULL: no object of an earlier run has the number. */
void *numbers_inherited(const struct numbers *n, uint64_t number);

static inline uint64_t numbers_of(const struct numbers *n, const void *object)
{
	return (uint64_t)(uintptr_t)object | (uint64_t)n->run << NUMBERS_RUN_BITS;
}

static inline void *numbers_object(const struct numbers *n, uint64_t number)
{
	if (number >> NUMBERS_RUN_BITS == n->run)
		return (void *)(uintptr_t)(number & ((UINT64_C(1) << NUMBERS_RUN_BITS) - 1));
	return numbers_inherited(n, number);
}

#endif
