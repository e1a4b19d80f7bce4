/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * histogram: how long events took, in buckets that double: below 1.024 us, below 2.048 us, ...
 *
 * Any thread counts in a live histogram, without a lock. Threads that count at the same time had
 * better use cells of their own: histogram_shard() spreads threads over cells, and the reader adds
 * the cells up. The reader's sum need not be of one moment.
 */
#ifndef RNFS_TRANSPORT_HISTOGRAM_H
#define RNFS_TRANSPORT_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define HISTOGRAM_BUCKETS 32u /* the last one counts times of 18 minutes or longer */
#define HISTOGRAM_FIRST	  10u /* the first one counts times below 2^10 ns */
#define HISTOGRAM_SHARDS  4u

struct histogram_live {
	_Atomic uint64_t n[HISTOGRAM_BUCKETS];
	_Atomic uint64_t sum_ns, max_ns;
};

struct histogram {
	uint64_t n[HISTOGRAM_BUCKETS];
	uint64_t sum_ns, max_ns; /* max_ns 0: not known */
};

/* Below HISTOGRAM_SHARDS, and the calling thread's for good. */
unsigned histogram_shard(void);

/* Counts a time of ns. */
void histogram_note(struct histogram_live *h, uint64_t ns);
/* Adds the counts so far to sum. */
void histogram_add(struct histogram *sum, const struct histogram_live *h);

/* Takes the counts of `before` away. The longest time of the rest is not known. */
void histogram_subtract(struct histogram *h, const struct histogram *before);

/* All times in a bucket are below this bound; of the last bucket UINT64_MAX. */
uint64_t histogram_end(unsigned bucket);
uint64_t histogram_count(const struct histogram *h);
/* A time not exceeded by so many thousandths of all, as far as the buckets tell: between the bounds
 * of a bucket the times are taken to lie evenly. 0 for an empty one. */
uint64_t histogram_percentile(const struct histogram *h, unsigned thousandths);
/* The mean, or 0 for an empty one. */
uint64_t histogram_mean(const struct histogram *h);

#endif
