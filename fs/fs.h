/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fs: what one mount consists of; shared by everything in this folder. What has a file of its own
 * is known here only as a pointer: those files stand on this one. setup.h makes the whole.
 */
#ifndef RNFS_FS_FS_H
#define RNFS_FS_FS_H

#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>

#include "cache/writeback.h"
#include "fs/inode.h"
#include "fs/option.h"
#include "fs/stale.h"
#include "fs/stats.h"
#include "fs/trace.h"

struct accounts;
struct appends;
struct cache;
struct cached;
struct control;
struct fetches;
struct flushes;
struct inval;
struct lates;
struct listings;
struct memory;
struct metrics_file;
struct names;
struct notifier;
struct openings;
struct orders;
struct request_pool;
struct silly_names;
struct turns;
struct workers;
struct writeback;

struct fs {
	/* constant while requests are served */
	const struct options *opt;
	const char *mountpoint;	       /* absolute, or /dev/fd/N */
	unsigned dev_major, dev_minor; /* of the mounted file system; 0: not known */
	uint64_t mounted_at;	       /* on clock_ns() */
	struct mem_pool *pool;
	struct memory *memory; /* what bounds the pool, and the cache in it */
	struct nfs_client *client;
	struct nfs_client_info info;
	char skipped[1000]; /* proto=auto: why transports before the chosen one did not work */
	bool shared;	    /* users other than the one who mounted may be let in */
	struct inode_table *inodes;
	struct names *names;
	struct request_pool *requests;
	struct accounts *accounts;
	struct openings *openings;
	struct silly_names *silly;
	struct listings *listings;
	struct appends *appends;
	struct orders *orders;
	struct lates *lates;
	struct turns *turns;
	struct cache *cache;
	struct fetches *fetches; /* into the cache */
	struct cached *cached;
	struct writeback_ops flush_ops;
	struct writeback *writeback;
	struct flushes *flushes;
	struct notifier *notifier; /* NULL before the kernel's session has begun */
	struct fuse_session *se;
	struct device *device; /* the session's */
	struct workers *workers;
	bool posix_locks, flock_locks; /* on the server, else this machine's own */
	struct inval *inval;
	struct control *control;	   /* NULL: there is none */
	struct metrics_file *metrics_file; /* likewise */
	struct trace trace;		   /* to control's thread */
	int wake_fd;			   /* eventfd: the main thread has something to look at */
	atomic_bool some_gone; /* requests have become GONE while they waited (request_watch()) */

	atomic_size_t data_limit; /* bytes of pool memory that READ and WRITE data may take */
	atomic_size_t data_used;  /* of them (data.h) */
	_Atomic uint64_t
		flock_owners;	/* the number that the last open file got as owner of flocks */
	atomic_uint open_files; /* and opens under way (opening.h) */
	/* on clock_ns(): since when the server does not answer, since when there is no connection
	 * to it; 0: it does, there is one */
	_Atomic uint64_t silent_since, lost_since;
	struct stale_threads stale;
	atomic_bool init_done;
	atomic_bool not_first; /* a request has come before INIT, which another daemon has had */
	/* ending.h */
	uint64_t ending_at;	  /* 0: the mount is used; constant after that */
	_Atomic uint64_t took_at; /* when the server last took written data */
	bool said_ending;	  /* the main thread's */
	/* announce.h */
	uint64_t kernel_bound_ns; /* constant while requests are served */
	bool notified_silent;	  /* the main thread's: as the desktop was told last */
	pid_t notifying;	  /* and by which process; 0: none runs */
	/* set before init_done */
	bool sends_umask;  /* the server takes the umask off: the kernel gives modes as they were
			      given */
	bool kills_priv;   /* the answer to INIT is to say FUSE_HANDLE_KILLPRIV, both (mount.c) */
	bool may_time_out; /* this kernel can bound how long it waits (patience.h) */
	pthread_mutex_t handles_lock;
	LIST_HEAD(, handle) handles; /* handles_lock: of open files and directories */
	struct stats stats;
};

static inline struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* The head of what fi->fh points to: an open file or directory. */
struct handle {
	LIST_ENTRY(handle) link;
	/* frees it at the end of the mount, if the kernel has not released it */
	void (*free)(struct handle *h);
};
void fs_add_handle(struct fs *fs, struct handle *h, void (*free)(struct handle *h));
void fs_drop_handle(struct fs *fs, struct handle *h);
/* Frees those that the kernel has not released. After the last request. */
void fs_free_handles(struct fs *fs);

/* What was negotiated and the statistics, a line each, to the log. Any thread. */
void fs_log_stats(struct fs *fs);

#endif
