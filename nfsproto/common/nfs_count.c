/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_count: how many operations a mount has sent to the server, and how long they took.
 */
#include "nfsproto/common/nfs_count.h"

#include <string.h>

#include "transport/clock.h"

static uint64_t bytes_of(const struct nfs_op *op)
{
	if (op->error)
		return 0;
	switch (op->type) {
	case NFS_READ:
		return op->u.read.count;
	case NFS_WRITE:
		return op->u.write.count;
	case NFS_OPEN:
		return op->u.open.have_data ? op->u.open.count : 0;
	default:
		return 0;
	}
}

static void add(_Atomic uint64_t *counter, uint64_t n)
{
	if (n)
		atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

void nfs_count_note(struct nfs_counts *c, const struct nfs_op *op)
{
	uint64_t sent = op->calls.first_ns;

	if (!sent)
		return;
	add(&c->shard[histogram_shard()].of[op->type].errors, op->error != 0);
	add(&c->shard[histogram_shard()].of[op->type].bytes, bytes_of(op));
	add(&c->shard[histogram_shard()].of[op->type].calls, op->calls.n);
	histogram_note(
		&c->shard[histogram_shard()].of[op->type].queue, clock_age(sent, op->since_ns));
	histogram_note(
		&c->shard[histogram_shard()].of[op->type].answer, clock_age(op->ended_ns, sent));
}

static uint64_t value(const _Atomic uint64_t *counter)
{
	return atomic_load_explicit(counter, memory_order_relaxed);
}

void nfs_count_add(const struct nfs_counts *c, enum nfs_op_type t, struct nfs_count *out)
{
	for (unsigned i = 0; i < HISTOGRAM_SHARDS; i++) {
		out->errors += value(&c->shard[i].of[t].errors);
		out->bytes += value(&c->shard[i].of[t].bytes);
		out->calls += value(&c->shard[i].of[t].calls);
		histogram_add(&out->queue, &c->shard[i].of[t].queue);
		histogram_add(&out->answer, &c->shard[i].of[t].answer);
	}
}
