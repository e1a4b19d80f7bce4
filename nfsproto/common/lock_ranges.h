/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lock_ranges: the byte ranges that one lock owner has locked in one file, with POSIX behaviour: a
 * new lock replaces the ranges that it overlaps, clearing may cut a range in two, neighbours of one
 * kind become one. Of no NFS version, and for client and server alike.
 *
 * Both ends of a range are included; UINT64_MAX as the last byte stands for the end of the file at
 * any size. The user of a list serialises the callers.
 *
 * Invariants: ranges are in ascending order, do not overlap, and two that touch differ in kind.
 */
#ifndef RNFS_NFSPROTO_COMMON_LOCK_RANGES_H
#define RNFS_NFSPROTO_COMMON_LOCK_RANGES_H

#include <stdbool.h>
#include <stdint.h>

struct lock_range {
	uint64_t first, last;
	bool write; /* exclusive; else shared */
	/* Set by lock_ranges_set(): no two calls for a list give the same number (modulo 2^32). */
	uint32_t number;
};

struct lock_ranges {
	struct lock_range *range; /* n of them */
	uint32_t n, room;
	uint32_t changes; /* number of changes so far */
};

/* Storage that is all zeros is an initialised list too. */
void lock_ranges_init(struct lock_ranges *l);
void lock_ranges_finish(struct lock_ranges *l);

/* Makes room, so that the next set or clear does not fail. 0 or -ENOMEM. */
int lock_ranges_reserve(struct lock_ranges *l);
/* Locks first..last (first <= last). 0, or -ENOMEM and nothing has changed. */
int lock_ranges_set(struct lock_ranges *l, uint64_t first, uint64_t last, bool write);
/* Unlocks first..last (first <= last). 0, or -ENOMEM and nothing has changed. */
int lock_ranges_clear(struct lock_ranges *l, uint64_t first, uint64_t last);
/* Unlocks all. */
void lock_ranges_drop(struct lock_ranges *l);

/* The first range that forbids another owner a lock of first..last, or NULL. Valid until the list
 * changes. */
const struct lock_range *lock_ranges_conflict(
	const struct lock_ranges *l, uint64_t first, uint64_t last, bool write);
/* The range by which all of first..last is locked so, or NULL. */
const struct lock_range *lock_ranges_covering(
	const struct lock_ranges *l, uint64_t first, uint64_t last, bool write);
/* Is there such a range? */
bool lock_ranges_covers(const struct lock_ranges *l, uint64_t first, uint64_t last, bool write);
/* Is there any lock in first..last? */
bool lock_ranges_any(const struct lock_ranges *l, uint64_t first, uint64_t last);
/* Would clearing first..last cut a range in two? */
bool lock_ranges_splits(const struct lock_ranges *l, uint64_t first, uint64_t last);

#endif
