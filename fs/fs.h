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
#include "fs/opening.h"
#include "fs/options.h"
#include "fs/request.h"
#include "fs/silly.h"
#include "fs/stale.h"
#include "fs/stats.h"

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
	bool posix_locks, flock_locks; /* on the server, else this machine's own */
	struct inval *inval;
	int wake_fd; /* eventfd: the main thread has something to look at */

	atomic_size_t data_used;
	_Atomic uint64_t flock_owners; /* the last one's number */
	struct openings openings;
	struct silly_names silly;
	struct stale_threads stale;
	pthread_mutex_t append_lock;	/* of inode.appending, and: */
	STAILQ_HEAD(, request) appends; /* waiting for others on their file, by request.wait */
	atomic_bool init_done;
	bool sends_umask; /* set likewise: the kernel leaves modes as they were given */
	bool kills_priv;  /* set before INIT is answered: tell the kernel, see mount.c */
	struct request_pool requests;
	pthread_mutex_t handles_lock;
	LIST_HEAD(, handle) handles; /* handles_lock: of open files and directories */
	struct stats stats;
};

static inline struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

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

/* What was negotiated and the statistics, a line each, to the log. Any thread. */
void fs_log_stats(struct fs *fs);

#endif
