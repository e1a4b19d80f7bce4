/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stats: counters of a mount, as one line.
 */
#include "fs/observe/stats.h"

#include <stdarg.h>
#include <stdio.h>

struct line {
	char *buf;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void put(struct line *l, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (l->len >= l->size)
		return;
	va_start(ap, fmt);
	n = vsnprintf(l->buf + l->len, l->size - l->len, fmt, ap);
	va_end(ap);
	if (n > 0)
		l->len += n;
}

void stats_negotiated(const struct nfs_client_info *i, char *buf, size_t size)
{
	struct line l = {.buf = buf, .size = size};

	if (size)
		buf[0] = 0;
	if (i->vers_major == 3)
		put(&l, "NFS 3");
	else
		put(&l, "NFS %u.%u", i->vers_major, i->vers_minor);
	put(&l, " over %s", rpc_proto_name(i->rpc.proto));
	if (i->rpc.provider)
		put(&l, ", provider %s", i->rpc.provider);
	if (i->rpc.rdma_dialect)
		put(&l,
			", RPC-over-RDMA version %s, inline %u bytes sent and %u received, %u "
			"credits",
			i->rpc.rdma_dialect, i->rpc.inline_send, i->rpc.inline_recv,
			i->rpc.credits);
	put(&l, ", rsize %u, wsize %u", i->rsize, i->wsize);
	if (i->slots)
		put(&l, ", %u slots", i->slots);
	if (i->lease_s)
		put(&l, ", lease %u s", i->lease_s);
	if (i->server_owner[0])
		put(&l, ", server owner %s", i->server_owner);
}

#define U(x) ((unsigned long long)(x))

static void put_cache(struct line *l, struct cache *cache)
{
	struct cache_stats *c = cache_stats(cache);

	put(l,
		" cache: used=%zuB limit=%zuB hits=%llu joined=%llu misses=%llu fetches=%llu "
		"evicted=%llu "
		"wasted=%llu dropped=%llu",
		cache_bytes(cache), cache_limit(cache), U(stats_get(&c->hits)),
		U(stats_get(&c->joined)), U(stats_get(&c->misses)), U(stats_get(&c->fetches)),
		U(stats_get(&c->evicted)), U(stats_get(&c->wasted)), U(stats_get(&c->dropped)));
}

static void put_written(struct line *l, struct writeback *written)
{
	struct writeback_stats *w = writeback_stats(written);

	put(l,
		" writeback: used=%zuB gathered=%lluB taken=%lluB writes=%llu commits=%llu "
		"rewritten=%llu full=%llu",
		writeback_bytes(written), U(stats_get(&w->gathered)), U(stats_get(&w->taken)),
		U(stats_get(&w->writes)), U(stats_get(&w->commits)), U(stats_get(&w->rewritten)),
		U(stats_get(&w->full)));
}

void stats_format(const struct stats *s, unsigned inodes, unsigned open_files,
	const struct rpc_client_stats *rpc, const struct mem_stats *mem, struct cache *cache,
	struct writeback *written, char *buf, size_t size)
{
	struct line l = {.buf = buf, .size = size};

	if (size)
		buf[0] = 0;
	put(&l,
		"requests=%llu inodes=%u open=%u read=%lluB written=%lluB small=%lluB "
		"interrupted=%llu "
		"starved=%llu foreign=%llu delegated=%llu",
		U(stats_get(&s->requests)), inodes, open_files, U(stats_get(&s->read_bytes)),
		U(stats_get(&s->write_bytes)), U(stats_get(&s->small_bytes)),
		U(stats_get(&s->interrupts)), U(stats_get(&s->starved)), U(stats_get(&s->foreign)),
		U(stats_get(&s->local_opens)));
	if (rpc)
		put(&l,
			" rpc: calls=%llu timeouts=%llu reconnects=%llu placed=%lluB copied=%lluB"
			" exposed=%lluB pulled_up=%lluB",
			U(rpc->calls), U(rpc->timeouts), U(rpc->reconnects), U(rpc->bytes_placed),
			U(rpc->bytes_copied), U(rpc->bytes_exposed), U(rpc->bytes_pulled_up));
	if (rpc && (rpc->calls_padded || rpc->replies_read))
		put(&l, " padded=%llu replies_read=%llu", U(rpc->calls_padded),
			U(rpc->replies_read));
	if (mem)
		put(&l, " memory: used=%zuB mapped=%zuB", mem->used_bytes, mem->slab_bytes);
	if (cache)
		put_cache(&l, cache);
	if (written)
		put_written(&l, written);
	put(&l, " ops:");
	for (unsigned t = 0; t < NFS_OP_TYPES; t++) {
		uint64_t n = stats_get(&s->ops[t]), bad = stats_get(&s->errors[t]);

		if (!n)
			continue;
		put(&l, " %s=%llu", nfs_op_name(t), U(n));
		if (bad)
			put(&l, "(%llu)", U(bad));
	}
}
