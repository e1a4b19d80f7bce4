/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fs: what one mount consists of; shared by everything in this folder.
 */
#ifndef RNFS_FS_FS_H
#define RNFS_FS_FS_H

#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>

#include "fs/inode.h"
#include "fs/notify.h"
#include "fs/options.h"
#include "fs/request.h"
#include "fs/stats.h"

#define STALE_THREADS 256

struct fs {
	/* constant while requests are served */
	const struct options *opt;
	struct mem_pool *pool;
	size_t data_limit; /* bytes of pool memory that READ and WRITE data may take */
	struct nfs_client *client;
	struct nfs_client_info info;
	char skipped[1000]; /* proto=auto: why transports before the chosen one did not work */
	bool shared;	    /* users other than the one who mounted may be let in */
	struct inode_table *inodes;
	struct notifier *notifier;
	struct fuse_session *se;
	uint32_t silly_tag;
	bool posix_locks, flock_locks; /* on the server, else this machine's own */
	struct inval *inval;
	int wake_fd; /* eventfd: the main thread has something to look at */

	atomic_size_t data_used;
	atomic_uint open_files;
	_Atomic uint64_t flock_owners; /* the last one's number */
	atomic_uint silly_next;
	atomic_uint silly_removals; /* under way */
	pthread_mutex_t silly_lock; /* of the following three */
	unsigned silly_leaving;	    /* last closes of files with a silly name, removals under way */
	uint64_t silly_left;	    /* how many of those have ended so far */
	SLIST_HEAD(, request) rmdirs; /* waiting for that, by request.free */
	SLIST_HEAD(, request) opens;  /* silly_lock: waiting for removals, likewise */
	/* by number: threads whose open was answered ESTALE and that have not opened since;
	 * negative when a look-up has failed */
	_Atomic pid_t told_stale[STALE_THREADS];
	atomic_bool init_done;
	bool sends_umask; /* set likewise: the kernel leaves modes as they were given */
	bool kills_priv;  /* set before INIT is answered: tell the kernel, see mount.c */
	struct request_pool requests;
	pthread_mutex_t handles_lock;
	LIST_HEAD(, handle) handles; /* handles_lock: of open files and directories */
	struct stats stats;
};

/* What fi->fh points to, whatever is open. */
struct handle {
	LIST_ENTRY(handle) link;
	void (*free)(
		struct handle *h); /* at the end of the mount, if the kernel did not release it */
};
void fs_add_handle(struct fs *fs, struct handle *h, void (*free)(struct handle *h));
void fs_drop_handle(struct fs *fs, struct handle *h);
/* After the last request. */
void fs_free_handles(struct fs *fs);

/* The operations of a mount; userdata is a struct fs. Those of locks are left out where the kernel
 * is to keep them itself. */
struct fuse_lowlevel_ops fs_operations(const struct fs *fs);

/* Removes the silly names that are left; waits at most a few seconds. After the last request. */
void fs_remove_silly(struct fs *fs);

/* What was negotiated and the statistics, a line each, to the log. Any thread. */
void fs_log_stats(struct fs *fs);

#endif
