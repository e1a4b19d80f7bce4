/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * request: one request of the kernel from its arrival to the answer.
 *
 * A request holds no thread while it waits. It goes in steps: an operation makes one or more parts
 * of the request's batch ready (cache/batch.h), names the function that comes next and submits;
 * when all have ended that function runs, on the thread that saw the last one, and submits again or
 * answers:
 *
 *     request_new -> [request_op -> request_submit -> step]... -> request_end
 *
 * Interrupts. The kernel says INTERRUPT for any signal, but only a fatal one may abandon a request:
 * NFS calls are not restarted with EINTR. So an interrupted request is cancelled only if its
 * process is being killed (process.h), or if it waits for a lock, which any signal ends. For some
 * waits (direct I/O, FLUSH of a process that ends) there is no INTERRUPT at all, and for none a
 * second one; so request_check_killed() looks at the processes of all requests that have been
 * waiting long. A process that ends of its own accord gets some seconds for its FLUSH: it cannot be
 * killed any more, and what is not committed then is when the file is released.
 *
 * A request may also wait for something else than the server: that a silly name is removed, that an
 * unlink, another append or a WRITE of the same pages ends, that the kernel has dropped pages or
 * names. There is no operation to cancel then. When request_check_killed() sees that its process is
 * being killed it marks the request GONE, and the main thread has each place where requests wait go
 * on with those that are (ops_end_gone()). One that waits for a cache block or a WRITE is watched:
 * an INTERRUPT marks it at once and wakes the main thread.
 *
 * A request that changes the data of a file may be LATE (late.h): its process is being killed, so
 * it is answered, but the server may have got its call, and it goes on until that has ended.
 *
 * The kernel may wait only for so long (patience.h). A request that has TIMED OUT ends as if its
 * process were killed, with ETIMEDOUT. One that must go on to its end, such as a RELEASE, is
 * answered only.
 *
 * Lock. request_pool.lock guards the free list and the list of live requests, and the fuse of those
 * that keep going: it is held over the write(2) that answers one of them. Order: request_pool.lock,
 * libfuse's request lock, the batch's, the client's. No callback runs with one of them held.
 */
#ifndef RNFS_FS_REQUEST_H
#define RNFS_FS_REQUEST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "cache/batch.h"
#include "cache/cache.h"
#include "cache/writeback.h"
#include "fs/account.h"
#include "nfsproto/nfs_client.h"

struct fs;
struct file;
struct dir;
struct inode;
struct listing;
struct page;
struct request;
struct request_pool;
struct silly;
struct fuse_req;

typedef void request_step_fn(struct request *r);

#define REQUEST_NAME_MAX 256
#define REQUEST_BACKGROUND                                                                         \
	128 /* READs ahead, of AIO and the like, that the kernel sends at once                     \
	     */

struct request {
	struct fs *fs;
	struct fuse_req *fuse; /* NULL once answered, or for the daemon's own */
	bool keeps_going;      /* request_keep_going(); then fuse is under the pool's lock */
	pid_t pid;	       /* 0: unknown */
	struct batch batch;
	atomic_bool gone; /* GONE: it is to wait no more: its process is killed, or it timed out */
	atomic_bool awaited;   /* the kernel waits for the answer */
	atomic_bool timed_out; /* GONE because the kernel waits no longer (request_pool_limit()) */
	bool armed; /* the kernel's INTERRUPT reaches it: between request_arm() and the answer */
	atomic_bool watched; /* it waits for something else than the server (request_watch()) */
	atomic_bool lasts;   /* its call may outlive its process: it has been known to late.c */
	bool settles;	     /* what it waits for in opening.c is that times are set */
	bool any_signal; /* any signal cancels it, not only a fatal one; constant once submitted */
	uint64_t born;	 /* when it came, on clock_ns(): what the server answers is not older */
	struct account account; /* rpcs and waits become known with the answer */
	/* of account, so far; and the RPCs of that part of this step that has made the most */
	atomic_uint rpcs, waits, step_rpcs;
	TAILQ_ENTRY(request) live;
	SLIST_ENTRY(request) free;  /* or in the list of silly.c or opening.c where it waits */
	STAILQ_ENTRY(request) wait; /* in the queue of inval.c, append.c or turn.c */
	uint64_t turn_since;	    /* when it began to wait in turn.c; 0: it has not */

	request_step_fn *step;
	/* after steps that several operations share, or after a wait: what the operation does then
	 */
	request_step_fn *next;

	/* What it is about; NULL: none. The inodes are references. The file stays until the kernel
	 * releases it, which it does after its last request. */
	struct inode *inode;
	struct inode *dir;	 /* the directory in which its name is, or is to be */
	struct inode *to_dir;	 /* a rename's second one */
	struct inode *unlinking; /* the one whose last name this request removes (opening.h) */
	struct request *settler; /* that was to set inode's times, which this request does */
	bool naming;		 /* between request_naming_begin() and request_naming_end() */
	bool asks;		 /* GETATTR: inode_attr_asked() counts it */
	struct file *file;
	char name[REQUEST_NAME_MAX], to_name[REQUEST_NAME_MAX];

	struct mem_buf
		*buf; /* a reference; NULL: none. Not data of READ or WRITE: see batch.data */
	char *text;   /* from malloc; freed with the request */
	struct {      /* while it waits in flush.c */
		struct inode *of; /* NULL: it waits for room */
		request_step_fn *next;
		struct writeback_wait wait;
		struct nfs_then then; /* of flush_waits_then() */
		struct writeback_room room;
		/* what ends it if it is GONE; NULL: request_end() does */
		request_step_fn *gone;
		bool closes;   /* it closes a file: it is never GONE */
		bool outlives; /* if it is GONE it is answered, but goes on */
		TAILQ_ENTRY(request) link;
	} flush;

	struct {			/* of a READ or WRITE, in order.c, under its lock */
		struct inode *of;	/* a reference; NULL: it is not there */
		request_step_fn *freed; /* if it is: what request_free() calls first */
		uint64_t first, last;	/* pages */
		LIST_ENTRY(request) link;
		TAILQ_ENTRY(request) wait;
		request_step_fn *next;
		bool writes, waits;
		atomic_bool overtaken; /* by a WRITE */
	} order;

	struct { /* in late.c, under its lock */
		/* of one that changes the data of a file, once it may be sent: a reference, and the
		 * bytes; NULL: it is not there, or has been answered in time */
		struct inode *of;
		uint64_t first, last;
		bool is; /* LATE */
		/* if it is there: what request_take_fuse() and request_free() call first */
		request_step_fn *answers, *freed;
		LIST_ENTRY(request) link;
		/* of one that waits until others have ended */
		struct inode *behind;
		uint64_t from, to; /* bytes */
		request_step_fn *next;
		TAILQ_ENTRY(request) wait;
	} late;

	/* in inval.c: the pages that are dropped alone; else all, and the attributes */
	struct {
		bool alone;
		off_t from, len; /* len 0: to the end */
	} inval;

	struct written_cut cut; /* of what was written to the file that it changes otherwise */

	/* what its operation keeps from step to step; zeroed at the beginning */
	union {
		struct { /* LOOKUP, and all that make a name */
			/* the answer: an inode with a lookup for the kernel, its attributes in an
			 * op of this request, and when the server was asked for them */
			struct inode *inode;
			const struct nfs_attr *attr;
			uint64_t asked;
			uint64_t name_seen; /* as of when the name stands for it */
		} entry;
		struct {
			uint64_t asked; /* when the server was */
			uint64_t born;	/* as of entry_stat() */
			bool reads;	/* for a read, which must know where the file ends */
		} getattr;
		struct {
			struct nfs_sattr set;
		} setattr;
		struct {
			uint32_t want; /* NFS_ACCESS_* */
		} access;
		struct {
			struct part *access; /* asks for the right that OPEN does not tell */
			struct part *cut;    /* truncates once more what CREATE has */
			unsigned drops;	     /* of the file's cache, before OPEN */
			bool again; /* the kernel has looked the path up again after ESTALE */
			bool alone; /* opened without the server, and without attributes */
		} open;
		struct {
			uint64_t parked;  /* since when it is */
			uint64_t touched; /* the inode's, when it was begun */
		} settle;
		struct {
			int error; /* to be answered */
		} close;
		struct {
			uint64_t owner; /* whose locks go */
		} flush;
		struct {		 /* READ and WRITE */
			uint64_t offset; /* in the file, of batch.data */
			int flags;	 /* the descriptor's, as it is now */
			int error;	 /* the first of its parts */
			uint32_t took;	 /* bytes of a WRITE that were gathered */
			bool writepage;	 /* mapped pages are written back */
			/* of an append whose answer was lost: where in the file its data may stand,
			 * how many bytes of it have been found there so far, and whether they are
			 * its own then */
			uint64_t append_at;
			uint32_t compared;
			bool ours;
			bool astray;	/* counted in inode.astray */
			bool asked;	/* a READ: its parts are cut */
			unsigned again; /* how often it was asked again (ops_data.c) */
			uint64_t sent;	/* when the server was last asked */
			/* a READ that waits for a cache block (cached.c) */
			struct cache_wait wait;
			TAILQ_ENTRY(request) waiting;
		} io;
		struct {	      /* UNLINK, RMDIR and RENAME */
			bool renamed; /* silly_check() has given inode a silly name */
			/* the server is to remove the name if it stands for `unlinking`, which is
			 * not open, and is to be asked what it stands for if it does not */
			bool only, ask;
			bool none; /* RENAME: there is believed to be nothing of the new name */
			struct nfs_fh moved; /* RENAME: of the file that moves; len 0: not known */
			int error;	     /* what is to be answered: 0 or a negative errno */
			struct silly *silly; /* the name that is being given or removed */
			unsigned tries;	     /* RMDIR: how often it has been sent again */
			uint64_t ended; /* RMDIR: silly_count_ended() before it was sent last */
		} unlink;
		struct {
			uint64_t owner, start, end;
			pid_t pid;
			int type;	/* F_RDLCK, ... */
			bool wait;	/* until whoever holds it unlocks */
			unsigned tries; /* how often it has been asked for again */
			unsigned ended; /* locker_moved()'s */
			uint64_t since; /* deleg_alone_since() if nobody was asked */
		} lock;
		struct { /* LSEEK */
			uint64_t offset;
			bool hole;	 /* SEEK_HOLE, else SEEK_DATA */
			bool dropped;	 /* the kernel's pages of the hole that was found */
			unsigned writes; /* the inode's told_writes when the server was asked */
		} seek;
		struct {			 /* OPENDIR */
			struct listing *listing; /* begun beside, a reference; NULL: none */
		} opendir;
		struct { /* READDIR */
			struct dir *dir;
			struct listing *listing; /* which gets a page, or is waited for */
			struct page *page;	 /* being filled */
			size_t size;
			uint64_t offset;
			bool plus;
			bool checked; /* the server has just said what the directory is like */
			bool restart; /* from the start: what has been read does not count */
			int error;
		} list;
		struct {		/* a listing beside (lister.h) */
			uint32_t token; /* names_list()'s */
			uint32_t count; /* of entries */
			bool too_large;
			uint64_t last;	/* cookie */
			uint64_t asked; /* for the page */
		} lister;
		struct {
			uint32_t size;	/* of text; 0: only the length is asked for */
			uint32_t acl;	/* bytes of the ACL's name in a list */
			uint64_t asked; /* when the attributes were asked for that follow SETACL */
		} xattr;
	} u;
};

SLIST_HEAD(request_list, request); /* by request.free */
TAILQ_HEAD(waiting_list, request); /* by request.u.io.waiting */
TAILQ_HEAD(order_list, request);   /* by request.order.wait */
TAILQ_HEAD(late_list, request);	   /* by request.late.wait */
STAILQ_HEAD(turn_list, request);   /* by request.wait, in turn.c */

/* NULL when out of memory. */
struct request_pool *request_pool_new(void);
/* No request may be under way. Accepts NULL, returns NULL. */
struct request_pool *request_pool_free(struct request_pool *p);

/* A request for fuse with the caller's credential (uid, gid, groups); when out of memory fuse is
 * answered ENOMEM and NULL is returned. */
struct request *request_new(struct fs *fs, struct fuse_req *fuse);
/* The same with another credential (an open file's), which costs no look at /proc. fuse may be NULL
 * for the daemon's own requests. */
struct request *request_new_cred(struct fs *fs, struct fuse_req *fuse, const struct rpc_cred *cred);

/* The op of the first part of r's batch, made ready (part_op()). */
#define request_op(r, type, member) part_op(&(r)->batch.first, type, member)
/* Submits the parts that are ready; step follows, also if none is. */
void request_submit(struct request *r, request_step_fn *step);
/* r, which has submitted nothing yet, is about to wait for something else than the server: if the
 * kernel says INTERRUPT and its process is being killed, it becomes GONE, perhaps before this
 * returns, and the main thread is woken. */
void request_watch(struct request *r);
/* From now on the kernel's INTERRUPT reaches r: if its process is being killed it is cancelled, and
 * becomes GONE where it waits (request_watch()) or is known to late.c. request_submit() does this.
 */
void request_arm(struct request *r);
/* The request that an op belongs to. */
struct request *request_of(const struct nfs_op *op);

/* What r submits from now on is done even if its process is killed: an open or a silly name that
 * is given back. No INTERRUPT reaches r any more. If the kernel still waits for it and it times
 * out, it is answered, and request_take_fuse() returns NULL. */
void request_keep_going(struct request *r);

/* r is about to make, move or remove a name in r->dir (and r->to_dir, if there is one). */
void request_naming_begin(struct request *r);
/* It has done so, or failed to: before it is answered. May be called again, and without begin;
 * request_free() does. */
void request_naming_end(struct request *r);

/* Before an answer: from here on no interrupt reaches the request. Returns what is to be answered;
 * NULL: it has been, since r is LATE or keeps going. */
struct fuse_req *request_take_fuse(struct request *r);
/* Answers r, which is GONE, and goes on all the same. By the owner of a lock without which nobody
 * else answers r. */
void request_abandon(struct request *r);
/* Answers with an error (0 or a negative errno) and frees the request. */
void request_end(struct request *r, int error);
/* r was to set times instead of r->settler and has not: that sets them now. Before r is freed. */
void request_give_back(struct request *r);
/* Frees a request whose answer has been given. */
void request_free(struct request *r);

/* Copies a name into one of the request's arrays: op arguments must outlive the caller's. False if
 * it is too long. */
bool request_set_name(char dst[REQUEST_NAME_MAX], struct nfs_name *out, const char *name);

/* Cancels requests that have waited for a second or more on behalf of a process that is being
 * killed, and requests that have timed out (request_pool_limit()), and marks them GONE. To be
 * called about once a second. True: such a process was found in the last two seconds; it may have
 * more requests, one after the other, so this is to be called again in some 20 ms. */
bool request_check_killed(struct request_pool *p);
static inline bool request_is_gone(const struct request *r)
{
	return atomic_load(&r->gone);
}

/* From now on a request of the kernel that has waited for ns has timed out; 0: no request ever has.
 * It is answered ETIMEDOUT, also where it waits for a lock: the kernel takes EINTR for a signal
 * that restarts the call, and if there is none, the program gets an errno that has no name. What it
 * has begun on the server may be done or not, as on a soft mount. Any thread. */
void request_pool_limit(struct request_pool *p, uint64_t ns);
/* For how long, in ns, the kernel has waited for the oldest request, those apart that wait for a
 * lock; 0: for none, or that cannot be said without waiting. Any thread; does not wait. */
uint64_t request_oldest_ns(struct request_pool *p);
/* r has waited for a call that was made for others. Any thread that goes on with r. */
static inline void request_waited(struct request *r)
{
	atomic_fetch_add_explicit(&r->waits, 1, memory_order_relaxed);
}
/* Has what a worker has waited for since `since`, in the name of a request that is not there yet,
 * timed out? Then requests that come in the next moments time out at once: with the workers in such
 * waits the kernel's have not been read, and may be as old. So they do where requests time out that
 * are as many as the kernel lets be under way in the background, since others wait behind those. */
bool request_pool_overdue(struct request_pool *p, uint64_t since);
/* The next request that the calling thread makes came at when, on clock_ns(), and not now. */
void request_came_at(uint64_t when);
/* The errno with which r, which is GONE, is answered. */
int request_gone_error(const struct request *r);

/* The mount ends: cancels all requests of the kernel, those that are still to come too. They are
 * answered ECONNABORTED. */
void request_pool_end(struct request_pool *p);

/* Moves the requests that are GONE from one list to the other. The caller holds the lock of from.
 */
void request_list_take_gone(struct request_list *from, struct request_list *gone);

/* The data of r, a READ or WRITE, will lie or lies there. Its memory, which data_get() or
 * data_get_list() gave, goes with r. */
void request_take_data(struct request *r, const struct seg_list *data);

#endif
