/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * histogram: how long things took, in buckets that double.
 */
#include "transport/histogram.h"

#define LAST (HISTOGRAM_BUCKETS - 1)

static atomic_uint next_shard;

unsigned histogram_shard(void)
{
	static _Thread_local unsigned mine; /* + 1; 0: not chosen */

	if (!mine)
		mine = atomic_fetch_add(&next_shard, 1) % HISTOGRAM_SHARDS + 1;
	return mine - 1;
}

static unsigned bucket_of(uint64_t ns)
{
	unsigned bits = ns ? 64 - (unsigned)__builtin_clzll(ns) : 0;
	unsigned bucket = bits > HISTOGRAM_FIRST ? bits - HISTOGRAM_FIRST : 0;

	return bucket < LAST ? bucket : LAST;
}

void histogram_note(struct histogram_live *h, uint64_t ns)
{
	uint64_t max = atomic_load_explicit(&h->max_ns, memory_order_relaxed);

	atomic_fetch_add_explicit(&h->n[bucket_of(ns)], 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&h->sum_ns, ns, memory_order_relaxed);
	while (ns > max && !atomic_compare_exchange_weak_explicit(&h->max_ns, &max, ns,
				   memory_order_relaxed, memory_order_relaxed))
		;
}

static uint64_t value(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

void histogram_add(struct histogram *sum, const struct histogram_live *h)
{
	uint64_t max = value(&h->max_ns);

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		sum->n[i] += value(&h->n[i]);
	sum->sum_ns += value(&h->sum_ns);
	if (max > sum->max_ns)
		sum->max_ns = max;
}

void histogram_subtract(struct histogram *h, const struct histogram *before)
{
	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->n[i] -= before->n[i];
	h->sum_ns -= before->sum_ns;
	h->max_ns = 0;
}

uint64_t histogram_end(unsigned bucket)
{
	return bucket < LAST ? UINT64_C(1) << (bucket + HISTOGRAM_FIRST) : UINT64_MAX;
}

uint64_t histogram_count(const struct histogram *h)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++)
		n += h->n[i];
	return n;
}

uint64_t histogram_percentile(const struct histogram *h, unsigned thousandths)
{
	/* the number, from 1 on, of the wanted time among the times in order */
	double rank = (double)histogram_count(h) * thousandths / 1000, before = 0;

	for (unsigned i = 0; i < HISTOGRAM_BUCKETS; i++) {
		double from = i ? (double)histogram_end(i - 1) : 0;
		double end = i < LAST ? (double)histogram_end(i) : from * 2;

		if (!h->n[i] || before + (double)h->n[i] < rank) {
			before += (double)h->n[i];
			continue;
		}
		if (h->max_ns && end > (double)h->max_ns)
			end = (double)h->max_ns;
		return (uint64_t)(from + (end - from) * (rank - before) / (double)h->n[i]);
	}
	return 0;
}

uint64_t histogram_mean(const struct histogram *h)
{
	uint64_t n = histogram_count(h);

	return n ? h->sum_ns / n : 0;
}
