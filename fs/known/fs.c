/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fs: the parts of one mount.
 */
#include "fs/known/fs.h"

#include <stdlib.h>

#include "transport/log.h"

void fs_add_handle(
	struct fs *fs, struct handle *h, struct inode *ino, void (*free_fn)(struct handle *h))
{
	h->inode = ino;
	h->free = free_fn;
	h->number = numbers_of(&fs->handle_numbers, h);
	mutex_lock(&fs->handles_lock);
	LIST_INSERT_HEAD(&fs->handles, h, link);
	mutex_unlock(&fs->handles_lock);
}

bool fs_rename_handle(struct fs *fs, struct handle *h, uint64_t number)
{
	h->number = number;
	return numbers_inherit(&fs->handle_numbers, number, h);
}

void fs_drop_handle(struct fs *fs, struct handle *h)
{
	mutex_lock(&fs->handles_lock);
	LIST_REMOVE(h, link);
	mutex_unlock(&fs->handles_lock);
}

static int by_address(const void *a, const void *b)
{
	const struct inode *const *x = a, *const *y = b;

	return *x < *y ? -1 : *x > *y;
}

struct inode **fs_forgotten(struct fs *fs, uint32_t *n)
{
	const struct handle *h;
	struct inode **list;
	uint32_t all = 0;

	*n = 0;
	mutex_lock(&fs->handles_lock);
	LIST_FOREACH (h, &fs->handles, link)
		all += !inode_is_known(fs->inodes, h->inode);
	list = calloc((size_t)all + 1, sizeof(struct inode *));
	all = 0;
	LIST_FOREACH (h, &fs->handles, link)
		if (list && !inode_is_known(fs->inodes, h->inode))
			list[all++] = h->inode;
	mutex_unlock(&fs->handles_lock);
	if (!list)
		return NULL;
	qsort(list, all, sizeof(struct inode *), by_address);
	for (uint32_t i = 0; i < all; i++)
		if (!i || list[i] != list[i - 1])
			list[(*n)++] = list[i];
	return list;
}

void fs_free_handles(struct fs *fs)
{
	struct handle *h;

	mutex_alone(&fs->handles_lock); /* the mount has ended */
	while ((h = LIST_FIRST(&fs->handles))) {
		LIST_REMOVE(h, link);
		h->free(h);
	}
}

static void read_paths(struct fs *fs, struct stats_snapshot *s)
{
	s->paths = s->paths_up = 0;
	for (unsigned i = 0; i < RPC_PATHS_MAX; i++) {
		struct stats_path *p = &s->path[i];

		if (!nfs_client_path(fs->client, i, &p->info, &p->rpc))
			return;
		s->paths++;
		s->paths_up += p->info.connected;
	}
}

void fs_snapshot(struct fs *fs, struct stats_snapshot *s)
{
	const struct cache_stats *c = cache_stats(fs->cache);
	const struct writeback_stats *w = writeback_stats(fs->writeback);

	stats_read(&fs->stats, s);
	s->inodes = inode_table_count(fs->inodes);
	s->open_files = atomic_load(&fs->open_files);
	nfs_client_info(fs->client, &s->info);
	nfs_client_stats(fs->client, &s->rpc);
	read_paths(fs, s);
	mem_pool_stats(fs->pool, &s->mem);
	s->cache.used = cache_bytes(fs->cache);
	s->cache.limit = cache_limit(fs->cache);
	s->cache.hits = stats_get(&c->hits);
	s->cache.joined = stats_get(&c->joined);
	s->cache.misses = stats_get(&c->misses);
	s->cache.fetches = stats_get(&c->fetches);
	s->cache.evicted = stats_get(&c->evicted);
	s->cache.wasted = stats_get(&c->wasted);
	s->cache.dropped = stats_get(&c->dropped);
	s->written.used = writeback_bytes(fs->writeback);
	s->written.gathered = stats_get(&w->gathered);
	s->written.taken = stats_get(&w->taken);
	s->written.writes = stats_get(&w->writes);
	s->written.commits = stats_get(&w->commits);
	s->written.rewritten = stats_get(&w->rewritten);
	s->written.full = stats_get(&w->full);
}

void fs_log_stats(struct fs *fs)
{
	struct stats_snapshot s;
	char line[1500];

	fs_snapshot(fs, &s);
	stats_negotiated(&s.info, line, sizeof(line));
	log_always_info("%s", line);
	stats_format(&s, line, sizeof(line));
	log_always_info("%s", line);
	for (unsigned i = 0; s.paths > 1 && i < s.paths; i++) {
		stats_format_path(&s, i, line, sizeof(line));
		log_always_info("%s", line);
	}
}
