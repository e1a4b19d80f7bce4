/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fs: what one mount consists of.
 */
#include "fs/fs.h"

#include <stdlib.h>
#include <time.h>

#include "fs/ops.h"
#include "transport/log.h"

#define SILLY_WAIT_MS 3000

static const struct fuse_lowlevel_ops fs_ops = {
	.init = ops_init,
	.lookup = ops_lookup,
	.forget = ops_forget,
	.forget_multi = ops_forget_multi,
	.getattr = ops_getattr,
	.setattr = ops_setattr,
	.access = ops_access,
	.readlink = ops_readlink,
	.statfs = ops_statfs,
	.mknod = ops_mknod,
	.mkdir = ops_mkdir,
	.symlink = ops_symlink,
	.link = ops_link,
	.unlink = ops_unlink,
	.rmdir = ops_rmdir,
	.rename = ops_rename,
	.open = ops_open,
	.create = ops_create,
	.flush = ops_flush,
	.fsync = ops_fsync,
	.release = ops_release,
	.read = ops_read,
	.write_buf = ops_write_buf,
	.lseek = ops_lseek,
	.fallocate = ops_fallocate,
	.copy_file_range = ops_copy_file_range,
	.getxattr = ops_getxattr,
	.listxattr = ops_listxattr,
	.setxattr = ops_setxattr,
	.removexattr = ops_removexattr,
	.opendir = ops_opendir,
	.readdir = ops_readdir,
	.readdirplus = ops_readdirplus,
	.releasedir = ops_releasedir,
	.fsyncdir = ops_fsyncdir,
	.getlk = ops_getlk,
	.setlk = ops_setlk,
	.flock = ops_flock,
};

struct fuse_lowlevel_ops fs_operations(const struct fs *fs)
{
	struct fuse_lowlevel_ops ops = fs_ops;

	if (!fs->posix_locks) {
		ops.getlk = NULL;
		ops.setlk = NULL;
	}
	if (!fs->flock_locks)
		ops.flock = NULL;
	return ops;
}

void fs_remove_silly(struct fs *fs)
{
	struct inode *ino;
	struct silly *s;

	while ((ino = inode_next_silly(fs->inodes, &s))) {
		silly_remove(fs, s);
		inode_unref(ino);
	}
	for (int ms = 0; atomic_load(&fs->silly_removals) && ms < SILLY_WAIT_MS; ms++)
		nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

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
	char line[1000];
	struct nfs_client_info info;

	nfs_client_info(fs->client, &info);
	stats_negotiated(&info, line, sizeof(line));
	log_info("%s", line);
	nfs_client_stats(fs->client, &rpc);
	mem_pool_stats(fs->pool, &mem);
	stats_format(&fs->stats, inode_table_count(fs->inodes), atomic_load(&fs->open_files), &rpc,
		&mem, line, sizeof(line));
	log_info("%s", line);
}
