/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * stats: counters of a mount, a snapshot of all of them, and the snapshot as one line.
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

static void put_times_and_bytes(struct line *l, const struct rpc_client_stats *rpc)
{
	put(l,
		" timeouts=%llu reconnects=%llu placed=%lluB copied=%lluB exposed=%lluB"
		" pulled_up=%lluB",
		U(rpc->timeouts), U(rpc->reconnects), U(rpc->bytes_placed), U(rpc->bytes_copied),
		U(rpc->bytes_exposed), U(rpc->bytes_pulled_up));
}

static void put_rpc(struct line *l, const struct rpc_client_stats *rpc)
{
	put(l, " rpc: calls=%llu", U(rpc->calls));
	put_times_and_bytes(l, rpc);
	if (rpc->calls_padded || rpc->replies_read)
		put(l, " padded=%llu replies_read=%llu", U(rpc->calls_padded),
			U(rpc->replies_read));
}

void stats_read(const struct stats *s, struct stats_snapshot *to)
{
	for (unsigned t = 0; t < NFS_OP_TYPES; t++) {
		to->ops[t] = stats_get(&s->ops[t]);
		to->errors[t] = stats_get(&s->errors[t]);
	}
	to->requests = stats_get(&s->requests);
	to->read_bytes = stats_get(&s->read_bytes);
	to->write_bytes = stats_get(&s->write_bytes);
	to->small_bytes = stats_get(&s->small_bytes);
	to->interrupts = stats_get(&s->interrupts);
	to->starved = stats_get(&s->starved);
	to->local_opens = stats_get(&s->local_opens);
	to->foreign = stats_get(&s->foreign);
}

void stats_format(const struct stats_snapshot *s, char *buf, size_t size)
{
	struct line l = {.buf = buf, .size = size};

	if (size)
		buf[0] = 0;
	put(&l,
		"requests=%llu inodes=%u open=%u read=%lluB written=%lluB small=%lluB "
		"interrupted=%llu starved=%llu foreign=%llu delegated=%llu",
		U(s->requests), s->inodes, s->open_files, U(s->read_bytes), U(s->write_bytes),
		U(s->small_bytes), U(s->interrupts), U(s->starved), U(s->foreign),
		U(s->local_opens));
	put_rpc(&l, &s->rpc);
	if (s->paths > 1)
		put(&l, " connections=%u up=%u", s->paths, s->paths_up);
	put(&l, " memory: used=%zuB mapped=%zuB", s->mem.used_bytes, s->mem.slab_bytes);
	put(&l,
		" cache: used=%zuB limit=%zuB hits=%llu joined=%llu misses=%llu fetches=%llu "
		"evicted=%llu wasted=%llu dropped=%llu",
		s->cache.used, s->cache.limit, U(s->cache.hits), U(s->cache.joined),
		U(s->cache.misses), U(s->cache.fetches), U(s->cache.evicted), U(s->cache.wasted),
		U(s->cache.dropped));
	put(&l,
		" writeback: used=%zuB gathered=%lluB taken=%lluB writes=%llu commits=%llu "
		"rewritten=%llu full=%llu",
		s->written.used, U(s->written.gathered), U(s->written.taken), U(s->written.writes),
		U(s->written.commits), U(s->written.rewritten), U(s->written.full));
	put(&l, " ops:");
	for (unsigned t = 0; t < NFS_OP_TYPES; t++) {
		if (!s->ops[t])
			continue;
		put(&l, " %s=%llu", nfs_op_name(t), U(s->ops[t]));
		if (s->errors[t])
			put(&l, "(%llu)", U(s->errors[t]));
	}
}

void stats_format_path(const struct stats_snapshot *s, unsigned i, char *buf, size_t size)
{
	const struct stats_path *p = &s->path[i];
	struct line l = {.buf = buf, .size = size};

	if (size)
		buf[0] = 0;
	put(&l, "connection %u: %s calls=%llu replies=%llu under_way=%u credits=%u", i + 1,
		p->info.connected ? "up" : "lost", U(p->rpc.calls), U(p->rpc.replies),
		p->info.under_way, p->info.credits);
	put_times_and_bytes(&l, &p->rpc);
}
