/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fs: the parts of one mount, shared by all of fs/. A part with a file of its own is known here
 * only as a pointer, because that file includes this one. setup.h makes the whole.
 */
#ifndef RNFS_FS_KNOWN_FS_H
#define RNFS_FS_KNOWN_FS_H

#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>

#include "cache/writeback.h"
#include "fs/known/inode.h"
#include "fs/known/numbers.h"
#include "fs/options/option.h"
#include "fs/known/stale.h"
#include "fs/observe/stats.h"
#include "fs/observe/trace.h"
#include "transport/ledger.h"
#include "transport/lock.h"

#define INIT_TALK_MAX 256u

/* The kernel's INIT and the answer, without their headers: the kernel sends INIT once, and a
 * successor must give the same answer. */
struct init_talk {
	uint32_t in_len, out_len; /* 0: none yet */
	_Alignas(8) uint8_t in[INIT_TALK_MAX], out[INIT_TALK_MAX];
};

struct accounts;
struct agains;
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
struct open_notes;
struct openings;
struct orders;
struct request_pool;
struct record;
struct silly_names;
struct repeats;
struct retries;
struct turns;
struct underway;
struct workers;
struct writeback;

struct fs {
	/* constant while requests are served */
	const struct options *opt;
	const char *mountpoint;	       /* absolute, or /dev/fd/N */
	unsigned dev_major, dev_minor; /* of the mounted file system; 0: not known */
	uint64_t mounted_at;	       /* on clock_ns() */
	struct mem_pool *pool;
	struct ledger *ledger; /* notes for a successor; NULL: none is wanted */
	struct note note;      /* fs/program/former.h */
	struct former *former; /* of a daemon that was killed, until all is taken over */
	int holder_fd;	       /* the connection to the holder (holder.h); -1: none */
	/* with former: the files of the former daemon, and when it ended, on clock_ns() */
	int former_device, former_row, former_pool;
	struct memory *memory; /* bounds the pool, and the cache in it */
	struct nfs_client *client;
	struct nfs_client_info info;
	char skipped[1000]; /* proto=auto: the reasons why transports before the chosen one did not
			       work */
	bool shared;	    /* users other than the one that mounted may be let in */
	struct inode_table *inodes;
	struct names *names;
	struct request_pool *requests;
	struct accounts *accounts;
	struct agains *agains;
	struct underway *underway;     /* NULL without ledger */
	struct open_notes *open_notes; /* NULL without ledger */
	struct openings *openings;
	struct silly_names *silly;
	struct listings *listings;
	struct appends *appends;
	struct orders *orders;
	struct arrivals *arrivals;
	struct lates *lates;
	struct turns *turns;
	struct repeats *repeats;
	struct cache *cache;
	struct fetches *fetches; /* into the cache */
	struct cached *cached;
	struct writeback_ops flush_ops;
	struct writeback *writeback;
	struct flushes *flushes;
	struct notifier *notifier; /* NULL before the kernel's session has begun */
	struct record *record;	   /* of the former daemon, until all is taken over; NULL: none */
	/* Asks for a successor: a descriptor of the command that waits for the answer, or -1
	 * (upgrade.h). */
	atomic_int upgrade_asker;
	int auto_unmount_fd;	 /* cli/auto_unmount.h; -1: none */
	struct note mount_note;	 /* survivor.h */
	bool said_unsafe;	 /* survivor_tick() */
	bool waits_for_threads;	 /* thread.h: the mount is in use, and would end */
	bool took_over;		 /* survivor.h: the former daemon's written data is this one's */
	struct service *service; /* the main thread's (service.h); NULL: none */
	struct fuse_session *se;
	struct device *device; /* of the session */
	struct workers *workers;
	bool posix_locks,
		flock_locks; /* the server keeps such locks; otherwise this machine does */
	struct inval *inval;
	struct control *control;	   /* NULL: there is none */
	struct metrics_file *metrics_file; /* NULL: there is none */
	struct trace trace;		   /* used by control's thread */
	int wake_fd;			   /* eventfd: wakes the main thread */
	atomic_bool some_gone; /* requests have become GONE while waiting (request_watch()) */

	atomic_size_t data_limit;      /* bytes of pool memory for READ and WRITE data */
	atomic_size_t data_used;       /* bytes of data_limit in use (data.h) */
	_Atomic uint64_t flock_owners; /* the number of the last flock owner of an open file */
	atomic_uint open_files;	       /* open files, opens in flight included (opening.h) */
	/* Times on clock_ns(): since when the server does not answer; since when there is no
	 * connection to the server. 0: the server answers; there is a connection. */
	_Atomic uint64_t silent_since, lost_since;
	struct stale_threads stale;
	struct retries *retries;
	atomic_bool init_done;
	atomic_bool not_first; /* a request has come before INIT: another daemon has had the INIT */
	/* ending.h */
	uint64_t ending_at;	  /* 0: the mount is used; constant after that */
	_Atomic uint64_t took_at; /* when the server last took written data, on clock_ns() */
	bool said_ending;	  /* used by the main thread */
	/* announce.h */
	uint64_t kernel_bound_ns; /* constant while requests are served */
	/* used by the main thread: the desktop's last news was "the server is silent" */
	bool notified_silent;
	pid_t notifying; /* the process that tells the desktop; 0: none runs */
	/* set before init_done */
	/* the server applies the umask: the kernel passes modes as the program gave them */
	bool sends_umask;
	/* the answer to INIT is to contain both FUSE_HANDLE_KILLPRIV flags (mount.c) */
	bool kills_priv;
	bool may_time_out; /* this kernel can bound how long a request waits (patience.h) */
	/* the answer to INIT is to contain FUSE_HAS_RESEND (underway.h) */
	bool may_resend;
	struct init_talk init;
	bool init_answered; /* set by the thread that answers, before other threads answer */
	bool init_is_past;  /* a former daemon has answered INIT: this answer goes nowhere */
	struct mutex handles_lock;
	GUARDED_BY(handles_lock) LIST_HEAD(, handle) handles; /* open files and directories */
	struct numbers handle_numbers; /* constant while requests are served */
	struct stats stats;
};

static inline struct fs *fs_of(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

/* The head of the open file or directory that fi->fh names. */
struct handle {
	LIST_ENTRY(handle) link;
	uint64_t number;     /* constant: fi->fh, of numbers.h */
	struct inode *inode; /* constant: the owner has a reference */
	/* frees the handle at the end of the mount, if the kernel has not released it */
	void (*free)(struct handle *h);
};
void fs_add_handle(
	struct fs *fs, struct handle *h, struct inode *ino, void (*free)(struct handle *h));
/* The kernel knows h, which was just added, by the number that it had in a former daemon. Before
 * requests are served. False: another handle has the number. */
bool fs_rename_handle(struct fs *fs, struct handle *h, uint64_t number);
static inline struct handle *fs_handle(struct fs *fs, uint64_t number)
{
	return numbers_object(&fs->handle_numbers, number);
}
void fs_drop_handle(struct fs *fs, struct handle *h);
/* The inodes of open files and directories that the kernel has forgotten: FORGET may overtake
 * RELEASE. An array from malloc() of *n, each inode once; NULL when out of memory. No request is
 * under way. */
struct inode **fs_forgotten(struct fs *fs, uint32_t *n);
/* Frees the handles that the kernel has not released. After the last request. */
void fs_free_handles(struct fs *fs);

/* Logs the results of negotiation and the statistics, one line each. Any thread. */
void fs_log_stats(struct fs *fs);
/* Fills all of s with the counters of now. Any thread. */
void fs_snapshot(struct fs *fs, struct stats_snapshot *s);

#endif
