/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * tell: reports of the daemon about itself and its mount.
 */
#include "fs/coherence/tell.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fs/observe/account.h"
#include "fs/kernel/request.h"
#include "fs/kernel/request_waits.h"
#include "transport/clock.h"

/* Milliseconds since `then`, 1 at least; 0 for 0. */
static uint64_t ms_since(uint64_t then)
{
	uint64_t ms = clock_age(clock_ns(), then) / NSEC_PER_MSEC;

	return then ? ms + !ms : 0;
}

static void tell_versions(const struct nfs_client_info *i, struct report *r)
{
	char nfs[16];

	if (i->vers_major == 3)
		snprintf(nfs, sizeof(nfs), "3");
	else
		snprintf(nfs, sizeof(nfs), "%u.%u", i->vers_major, i->vers_minor);
	report_set(r, REPORT_PROGRAM, RNFS_VERSION);
	report_set(r, REPORT_NFS, nfs);
	report_set(r, REPORT_TRANSPORT, rpc_proto_name(i->rpc.proto));
	report_set(r, REPORT_PROVIDER, i->rpc.provider ? i->rpc.provider : "");
	report_set(r, REPORT_DIALECT, i->rpc.rdma_dialect ? i->rpc.rdma_dialect : "");
}

static void tell_mount(struct fs *fs, const struct nfs_client_info *info, struct report *r)
{
	uint64_t *n = r->number;

	report_set(r, REPORT_MOUNTPOINT, fs->mountpoint);
	report_set(r, REPORT_SOURCE, fs->opt->source);
	tell_versions(info, r);
	n[REPORT_PID] = (uint64_t)getpid();
	n[REPORT_UID] = geteuid();
	n[REPORT_DEV_MAJOR] = fs->dev_major;
	n[REPORT_DEV_MINOR] = fs->dev_minor;
	n[REPORT_UP_MS] = ms_since(fs->mounted_at);
	n[REPORT_SILENT_MS] = ms_since(atomic_load(&fs->silent_since));
	n[REPORT_LOST_MS] = ms_since(atomic_load(&fs->lost_since));
	n[REPORT_OLDEST_MS] = request_oldest_ns(fs->requests) / NSEC_PER_MSEC;
}

void tell_hello(struct fs *fs, struct report *r)
{
	struct nfs_client_info info;

	report_clear(r);
	nfs_client_info(fs->client, &info);
	tell_mount(fs, &info, r);
}

static void tell_path(const struct stats_path *s, struct report_path *p)
{
	uint64_t *n = p->number;

	snprintf(p->server, sizeof(p->server), "%s", s->info.server);
	snprintf(p->why, sizeof(p->why), "%.*s", (int)sizeof(p->why) - 1, s->info.why);
	n[REPORT_PATH_UP] = s->info.connected;
	n[REPORT_PATH_CALLS] = s->rpc.calls;
	n[REPORT_PATH_REPLIES] = s->rpc.replies;
	n[REPORT_PATH_UNDER_WAY] = s->info.under_way;
	n[REPORT_PATH_TIMEOUTS] = s->rpc.timeouts;
	n[REPORT_PATH_RECONNECTS] = s->rpc.reconnects;
	n[REPORT_PATH_CREDITS] = s->info.credits;
	n[REPORT_PATH_PLACED] = s->rpc.bytes_placed;
	n[REPORT_PATH_COPIED] = s->rpc.bytes_copied;
	n[REPORT_PATH_EXPOSED] = s->rpc.bytes_exposed;
	n[REPORT_PATH_PULLED_UP] = s->rpc.bytes_pulled_up;
}

static void tell_paths(const struct stats_snapshot *s, struct report *r)
{
	_Static_assert(RPC_PATHS_MAX <= REPORT_PATHS, "a report has room for each connection");
	r->number[REPORT_CONNECTIONS] = s->paths;
	r->number[REPORT_CONNECTIONS_UP] = s->paths_up;
	r->npaths = s->paths > 1 ? s->paths : 0;
	for (unsigned i = 0; i < r->npaths; i++)
		tell_path(&s->path[i], &r->path[i]);
}

static void tell_calls(const struct stats_snapshot *s, uint64_t *n)
{
	const struct nfs_client_info *info = &s->info;
	const struct rpc_client_stats *rpc = &s->rpc;

	n[REPORT_CALLS] = rpc->calls;
	n[REPORT_REPLIES] = rpc->replies;
	n[REPORT_CALLBACKS] = rpc->callbacks;
	n[REPORT_UNDER_WAY] = info->rpc.under_way;
	n[REPORT_TIMEOUTS] = rpc->timeouts;
	n[REPORT_RECONNECTS] = rpc->reconnects;
	n[REPORT_CREDITS] = info->rpc.credits;
	n[REPORT_SLOTS] = info->slots;
	n[REPORT_RSIZE] = info->rsize;
	n[REPORT_WSIZE] = info->wsize;
	n[REPORT_LEASE_S] = info->lease_s;
	n[REPORT_PLACED] = rpc->bytes_placed;
	n[REPORT_COPIED] = rpc->bytes_copied;
	n[REPORT_EXPOSED] = rpc->bytes_exposed;
	n[REPORT_PULLED_UP] = rpc->bytes_pulled_up;
}

static void tell_memory(const struct stats_snapshot *s, uint64_t *n)
{
	n[REPORT_CACHE_USED] = s->cache.used;
	n[REPORT_CACHE_LIMIT] = s->cache.limit;
	n[REPORT_CACHE_HITS] = s->cache.hits;
	n[REPORT_CACHE_JOINED] = s->cache.joined;
	n[REPORT_CACHE_MISSES] = s->cache.misses;
	n[REPORT_CACHE_FETCHES] = s->cache.fetches;
	n[REPORT_CACHE_EVICTED] = s->cache.evicted;
	n[REPORT_CACHE_WASTED] = s->cache.wasted;
	n[REPORT_DIRTY] = s->written.used;
	n[REPORT_GATHERED] = s->written.gathered;
	n[REPORT_REWRITTEN] = s->written.rewritten;
	n[REPORT_WRITE_FULL] = s->written.full;
	n[REPORT_MEMORY_USED] = s->mem.used_bytes;
	n[REPORT_MEMORY_MAPPED] = s->mem.slab_bytes;
	n[REPORT_MEMORY_LIMIT] = s->mem.limit;
	n[REPORT_INODES] = s->inodes;
	n[REPORT_OPEN_FILES] = s->open_files;
	n[REPORT_INTERRUPTED] = s->interrupts;
	n[REPORT_STARVED] = s->starved;
	n[REPORT_FOREIGN] = s->foreign;
	n[REPORT_DELEGATED] = s->local_opens;
}

static void tell_requests(struct fs *fs, struct report_ops *to)
{
	for (unsigned kind = 0; kind < ACCOUNT_KINDS; kind++) {
		struct account_sum sum;
		struct report_op *op;

		if (!account_name(kind))
			continue;
		account_total(fs->accounts, kind, &sum);
		op = histogram_count(&sum.time) ? report_add(to, account_name(kind)) : NULL;
		if (!op)
			continue;
		op->errors = sum.errors;
		op->bytes = sum.bytes;
		op->rpcs = sum.rpcs;
		op->waits = sum.waits;
		op->time = sum.time;
	}
}

static void tell_operations(struct fs *fs, struct report_ops *to)
{
	for (unsigned t = 0; t < NFS_OP_TYPES; t++) {
		struct nfs_count sum;
		struct report_op *op;

		nfs_client_count(fs->client, t, &sum);
		op = histogram_count(&sum.answer) ? report_add(to, nfs_op_name(t)) : NULL;
		if (!op)
			continue;
		op->errors = sum.errors;
		op->bytes = sum.bytes;
		op->rpcs = sum.calls;
		op->time = sum.answer;
		op->queue = sum.queue;
	}
}

void tell_stat(struct fs *fs, struct report *r)
{
	struct stats_snapshot s;

	report_clear(r);
	fs_snapshot(fs, &s);
	tell_mount(fs, &s.info, r);
	tell_calls(&s, r->number);
	tell_paths(&s, r);
	tell_memory(&s, r->number);
	tell_requests(fs, r->requests);
	tell_operations(fs, r->operations);
}
