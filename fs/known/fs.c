/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fs: the parts of one mount.
 */
#include "fs/known/fs.h"

#include "transport/log.h"

void fs_add_handle(struct fs *fs, struct handle *h, void (*free_fn)(struct handle *h))
{
	h->free = free_fn;
	pthread_mutex_lock(&fs->handles_lock);
	LIST_INSERT_HEAD(&fs->handles, h, link);
	pthread_mutex_unlock(&fs->handles_lock);
}

void fs_drop_handle(struct fs *fs, struct handle *h)
{
	pthread_mutex_lock(&fs->handles_lock);
	LIST_REMOVE(h, link);
	pthread_mutex_unlock(&fs->handles_lock);
}

void fs_free_handles(struct fs *fs)
{
	struct handle *h;

	while ((h = LIST_FIRST(&fs->handles))) {
		LIST_REMOVE(h, link);
		h->free(h);
	}
}

void fs_log_stats(struct fs *fs)
{
	struct rpc_client_stats rpc;
	struct mem_stats mem;
	char line[1500];
	struct nfs_client_info info;

	nfs_client_info(fs->client, &info);
	stats_negotiated(&info, line, sizeof(line));
	log_always_info("%s", line);
	nfs_client_stats(fs->client, &rpc);
	mem_pool_stats(fs->pool, &mem);
	stats_format(&fs->stats, inode_table_count(fs->inodes), atomic_load(&fs->open_files), &rpc,
		&mem, fs->cache, fs->writeback, line, sizeof(line));
	log_always_info("%s", line);
}
