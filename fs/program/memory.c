/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * memory: how much of the machine's memory a mount takes, and how the mount gives memory back.
 */
#include "fs/program/memory.h"

#include <poll.h>
#include <stdlib.h>

#include "cache/budget.h"
#include "cache/cache.h"
#include "cache/pressure.h"
#include "transport/clock.h"
#include "transport/log.h"

#define MIB	       ((size_t)1 << 20)
#define MESSAGES_MAX   (64 * MIB) /* most bytes of the pool that are left for messages */
#define CACHE_FROM     (16 * MIB) /* least bytes of a pool with a cache */
#define POOL_LEAST     (8 * MIB)  /* also above the limits: a mount needs that much */
#define CACHE_LEAST    MIB	  /* however short memory is; so is DATA_LEAST */
#define DATA_LEAST     (4 * MIB)  /* beside the blocks that workers read requests into */
#define AHEAD_MOST_KB  4096	  /* more makes the kernel slower (one request after the other) */
#define AHEAD_LEAST_KB 128	  /* the kernel's own choice */

struct memory {
	size_t wanted, bytes;
	size_t group_limit; /* at the last look */
	struct pressure pressure;
	struct budget cache, data;
	bool is_cut; /* said in the log */
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How much of a control group's limit a mount may have. */
static size_t share_of(size_t limit)
{
	return limit / 2 > POOL_LEAST ? limit / 2 : POOL_LEAST;
}

struct memory *memory_new(const char *root, size_t wanted)
{
	struct memory *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	pressure_init(&m->pressure, root);
	m->group_limit = pressure_limit(&m->pressure);
	m->wanted = wanted;
	m->bytes = least(wanted, share_of(m->group_limit));
	return m;
}

struct memory *memory_free(struct memory *m)
{
	if (!m)
		return NULL;
	pressure_finish(&m->pressure);
	free(m);
	return NULL;
}

size_t memory_bytes(const struct memory *m)
{
	return m->bytes;
}

unsigned memory_ahead_kb(const struct memory *m, unsigned kb)
{
	size_t most = m->group_limit / 64 / 1024;

	if (most < AHEAD_LEAST_KB)
		most = AHEAD_LEAST_KB;
	return (unsigned)least(kb, least(most, AHEAD_MOST_KB));
}

void memory_split(size_t bytes, size_t *data, size_t *cached)
{
	size_t messages = bytes / 4;

	/* Messages live in the same pool as data. The cache gets half of the rest: no more, so that
	 * no block need be evicted when a request needs memory. */
	if (messages > MESSAGES_MAX)
		messages = MESSAGES_MAX;
	*cached = bytes < CACHE_FROM ? 0 : (bytes - messages) / 2;
	*data = bytes - messages - *cached;
}

void memory_connected(struct fs *fs)
{
	struct memory *m = fs->memory;

	budget_init(&m->cache, cache_limit(fs->cache), CACHE_LEAST);
	budget_init(&m->data, atomic_load(&fs->data_limit),
		DATA_LEAST + fs->opt->workers * (size_t)MEM_MAX_SIZE);
}

/* Applies the budgets. */
static void set_limits(struct fs *fs)
{
	struct memory *m = fs->memory;

	cache_set_limit(fs->cache, m->cache.now);
	atomic_store(&fs->data_limit, m->data.now);
	writeback_set_limit(fs->writeback, m->data.now / 2);
}

void memory_log(const struct fs *fs)
{
	const struct memory *m = fs->memory;
	size_t rpcs = mem_pool_rpc_most(fs->pool);

	if (m->bytes < m->wanted)
		log_info("cache_size: %zu of %zu MiB are used, half of the limit of the control "
			 "group",
			m->bytes / MIB, m->wanted / MIB);
	if (rpcs != SIZE_MAX)
		log_info("RLIMIT_MEMLOCK lets %zu KiB of data be in flight at a time: raise it "
			 "(ulimit -l) for more speed",
			2 * rpcs / 1024);
	if (m->pressure.fd < 0)
		log_info("no source tells when memory is short (/proc/pressure/memory): %s",
			m->group_limit == SIZE_MAX
				? "the cache keeps what it has"
				: "the cache goes by the control group's limit alone");
}

int memory_fd(const struct fs *fs)
{
	return fs->memory->pressure.fd;
}

static void cut(struct fs *fs)
{
	struct memory *m = fs->memory;
	uint64_t now = clock_ns();

	budget_cut(&m->cache, cache_bytes(fs->cache), now);
	budget_cut(&m->data, atomic_load(&fs->data_used), now);
	set_limits(fs);
	if (atomic_load(&fs->data_used) > m->data.now)
		writeback_sync(fs->writeback);
	mem_pool_save(fs->pool, true);
	mem_pool_trim(fs->pool);
	if (!m->is_cut)
		log_info("memory is short: the cache makes do with %zu KiB for now, and data in "
			 "flight with %zu KiB",
			m->cache.now / 1024, m->data.now / 1024);
	m->is_cut = true;
}

void memory_stalled(struct fs *fs, short revents)
{
	if ((revents & POLLPRI) && pressure_stall_counts(&fs->memory->pressure))
		cut(fs);
	if (revents & (POLLERR | POLLNVAL))
		pressure_lost(&fs->memory->pressure);
}

/* The limit of a control group may change while the mount is used: the cache's limit follows. */
static void follow_limit(struct fs *fs)
{
	struct memory *m = fs->memory;
	size_t limit = pressure_limit(&m->pressure), data, cached;

	if (limit == m->group_limit)
		return;
	m->group_limit = limit;
	memory_split(least(m->bytes, share_of(limit)), &data, &cached);
	if (data < m->data.least) /* requests need room beside the workers' blocks */
		data = least(m->data.least, m->data.full);
	if (cached == m->cache.full && data == m->data.full)
		return;
	budget_resize(&m->cache, cached);
	budget_resize(&m->data, data);
	set_limits(fs);
	mem_pool_trim(fs->pool);
	log_info("the control group's limit is another: the cache may have %zu KiB",
		m->cache.full / 1024);
}

/* The cache and data in flight may each take half of the room as long as memory is plenty. The rest
 * of the limit is for the pages that the kernel reads ahead (memory_ahead_kb()). If the room
 * is smaller than the budgets, unused memory of the pool goes back to the system, and the next look
 * counts that memory as room. */
static void bound(struct fs *fs)
{
	struct memory *m = fs->memory;
	size_t room = pressure_room(&m->pressure, PRESSURE_PLENTY) / 2;
	bool less = budget_bound(&m->cache, cache_bytes(fs->cache), room);

	less |= budget_bound(&m->data, atomic_load(&fs->data_used), room);
	if (less)
		mem_pool_trim(fs->pool);
}

void memory_tick(struct fs *fs)
{
	struct memory *m = fs->memory;
	size_t cache, data;
	bool is_full;

	follow_limit(fs);
	if (!pressure_room(&m->pressure, PRESSURE_ROOM)) {
		cut(fs);
		return;
	}
	cache = m->cache.now;
	data = m->data.now;
	budget_grow(&m->cache, clock_ns());
	budget_grow(&m->data, clock_ns());
	bound(fs);
	if (m->cache.now == cache && m->data.now == data)
		return;
	set_limits(fs);
	is_full = m->cache.now == m->cache.full && m->data.now == m->data.full;
	mem_pool_save(fs->pool, !is_full);
	if (m->is_cut && is_full) {
		log_info("memory is not short any more: the cache may have %zu KiB again",
			m->cache.full / 1024);
		m->is_cut = false;
	}
}
