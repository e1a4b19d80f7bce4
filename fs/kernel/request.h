/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * request: one request of the kernel, from its arrival to the answer.
 *
 * A request holds no thread while it waits. A request goes in steps. An operation makes one or more
 * parts of the request's batch ready (cache/batch.h), names the function that comes next, and
 * submits. When all parts have ended that function runs, on the thread that saw the last part end,
 * and submits again or answers:
 *
 *     request_new -> [request_op -> request_submit -> step]... -> request_end
 *
 * State. Each module that makes requests wait owns one member of the request, a struct of
 * kernel/wait/. Each operation owns a type for its state from step to step (request_state()),
 * declared where the operation stands.
 *
 * Interrupts. The kernel sends INTERRUPT for any signal, but only a fatal signal may abandon a
 * request: a program does not expect EINTR from calls on NFS, and does not restart such calls. So
 * an interrupted request is cancelled in two cases only: its process is being killed (process.h),
 * or the request waits for a lock, which any signal ends. If the process lives on, the answer to a
 * LOCK at the server is awaited for a second (nfs_interrupt()). The kernel sends no INTERRUPT for
 * some waits (direct I/O, FLUSH of a process that ends), and never a second one. So
 * request_check_killed() looks at the processes of all requests that have waited long. A process
 * that ends by itself gets some seconds for its FLUSH: the process can no longer be killed. Data
 * that is not committed by then is committed when the file is released.
 *
 * A request may also wait for other events than an answer of the server: the removal of a silly
 * name, an unlink, another append or a WRITE of the same pages ends, or the kernel has invalidated
 * pages or names. Then there is no operation to cancel. If the process is being killed,
 * request_check_killed() marks the request GONE. The main thread then makes each place where
 * requests wait go on with the GONE ones (ops_end_gone()). A request that waits for a cache block
 * or a WRITE is watched: an INTERRUPT marks the request at once and wakes the main thread.
 *
 * A request that changes the data of a file may be LATE (late.h): its process is being killed, so
 * the request is answered. But the server may have got the call, so the request goes on until the
 * call has ended.
 *
 * The kernel may have a limit on its waits (patience.h). A request that has TIMED OUT ends as if
 * its process were killed, with ETIMEDOUT. A request that must go on to its end, such as a RELEASE,
 * is only answered.
 *
 * Lock. request_pool.lock guards the free list, the list of live requests, and the fuse of requests
 * that keep going: the lock is held over the write(2) that answers such a request. Order:
 * request_pool.lock, libfuse's request lock, the batch's, the client's. No callback runs with one
 * of these locks held.
 */
#ifndef RNFS_FS_KERNEL_REQUEST_H
#define RNFS_FS_KERNEL_REQUEST_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "cache/batch.h"
#include "cache/writeback.h"
#include "fs/kernel/wait/flush_wait.h"
#include "fs/kernel/wait/inval_wait.h"
#include "fs/kernel/wait/late_call.h"
#include "fs/kernel/wait/opening_wait.h"
#include "fs/kernel/wait/order_place.h"
#include "fs/kernel/wait/step.h"
#include "fs/kernel/wait/turn_wait.h"
#include "fs/observe/account.h"
#include "nfsproto/nfs_client.h"
#include "transport/ledger.h"
#include "transport/lock.h"

struct fs;
struct file;
struct inode;
struct request_pool;
struct fuse_req;

#define REQUEST_NAME_MAX 256
/* READs ahead, AIO and the like that the kernel has in flight at a time. */
#define REQUEST_BACKGROUND 128
/* Bytes for the largest state of an operation. */
#define REQUEST_STATE_SIZE 192

/* Whether and how a request ends before its operation has ended. */
struct request_fate {
	/* GONE: the request must not wait any longer: its process is killed, or the request timed
	 * out */
	atomic_bool gone;
	atomic_bool awaited;   /* the kernel waits for the answer */
	atomic_bool timed_out; /* GONE because the kernel's wait is over (request_pool_limit()) */
	/* the kernel's INTERRUPT reaches the request: between request_arm() and the answer */
	bool armed;
	/* the request waits for another event than the server's answer (request_watch()) */
	atomic_bool watched;
	/* any signal ends the request, not only a fatal one; constant once submitted */
	bool any_signal;
	/* request_pool_put_off(): the request begins anew, if it ends with EINTR */
	atomic_bool put_off;
	/* any_signal: when a signal that is not fatal came, on clock_ns(); 0: none has come */
	_Atomic uint64_t interrupted_ns;
	bool keeps_going; /* request_keep_going(); then fuse is under the pool's lock */
};

/* Announced to modules of known/, and to be withdrawn by request_free() at the latest. */
struct request_owed {
	bool naming; /* between request_naming_begin() and request_naming_end() */
	bool asks;   /* GETATTR: counted by view_asked() */
};

struct request {
	struct fs *fs;
	struct fuse_req *fuse; /* NULL once answered, or for the daemon's own requests */
	pid_t pid;	       /* 0: unknown */
	/* when the request came, on clock_ns(): no answer of the server to the request is older */
	uint64_t born;
	struct account account;
	struct account_count count; /* becomes known, by account, with the answer */

	struct batch batch;
	request_step_fn *step;
	/* the operation's next function, after steps that several operations share, or after a
	 * wait */
	request_step_fn *next;
	request_step_fn *cleared; /* of locker.c: follows when locks are cleared */
	struct request_fate fate;
	TAILQ_ENTRY(request) live;
	/* also used by the lists of waiting requests in silly.c, opening.c and listing.c */
	SLIST_ENTRY(request) free;

	/* The objects of the request; NULL: none. The inodes are references. The file stays until
	 * its release, the kernel's last request for the file. */
	struct inode *inode;
	struct inode *dir;    /* the directory that has the name, or will have it */
	struct inode *to_dir; /* the second directory of a rename */
	/* the inode that loses its last name by this request (opening.h) */
	struct inode *unlinking;
	struct file *file;
	char name[REQUEST_NAME_MAX], to_name[REQUEST_NAME_MAX];
	/* a reference; NULL: none. READ and WRITE data is in batch.data instead */
	struct mem_buf *buf;
	char *text;	  /* from malloc; freed with the request */
	struct note note; /* of the operation (ledger.h), dropped with the request */
	struct request_owed owed;

	/* Each owned by the module that makes requests wait. */
	struct order_place order;
	struct turn_wait turn;
	struct opening_wait opening;
	struct flush_wait flush;
	struct late_call late;
	struct inval_wait inval;
	/* written data that a change other than a gathered WRITE overlaps */
	struct written_cut cut;

	/* the operation's own, from step to step (request_state()); zeroed at the beginning */
	_Alignas(max_align_t) unsigned char state[REQUEST_STATE_SIZE];
};

SLIST_HEAD(request_list, request); /* by request.free */

/* The requests that are under way. */
struct request_pool {
	struct mutex lock;
	struct request_list free GUARDED_BY(lock);
	struct batch_pool parts;
	/* oldest first, except for request_came_at() */
	GUARDED_BY(lock) TAILQ_HEAD(, request) live;
	/* when request_check_killed() last found a killed process; 0: never */
	uint64_t killed_ns GUARDED_BY(lock);
	uint64_t patience_ns GUARDED_BY(lock); /* the limit of request_pool_limit(); 0: none */
	/* requests that come earlier time out at once; 0: none */
	uint64_t behind_until GUARDED_BY(lock);
	/* requests that the kernel still sends are cancelled at once */
	bool ending GUARDED_BY(lock);
};

/* The state of r's operation, of the type that the operation's module declares. */
#define request_state(r, type)                                                                     \
	({                                                                                         \
		_Static_assert(sizeof(type) <= REQUEST_STATE_SIZE, "a larger REQUEST_STATE_SIZE"); \
		(type *)(r)->state;                                                                \
	})

/* NULL when out of memory. */
struct request_pool *request_pool_new(void);
/* No request may be pending. Accepts NULL, returns NULL. */
struct request_pool *request_pool_free(struct request_pool *p);

/* A request for fuse with the caller's credential (uid, gid, groups). When out of memory, answers
 * fuse ENOMEM and returns NULL. */
struct request *request_new(struct fs *fs, struct fuse_req *fuse);
/* The same with another credential (an open file's), without a look at /proc. fuse: NULL for the
 * daemon's own requests. */
struct request *request_new_cred(struct fs *fs, struct fuse_req *fuse, const struct rpc_cred *cred);

/* The op of the first part of r's batch, made ready (part_op()). */
#define request_op(r, type, member) part_op(&(r)->batch.first, type, member)
/* Submits the parts that are ready; step follows, also if no part is. */
void request_submit(struct request *r, request_step_fn *step);
/* r, which has submitted nothing yet, is about to wait for another event than the server's answer.
 * If the kernel sends INTERRUPT and the process is being killed, r becomes GONE, perhaps before
 * this function returns, and the main thread is woken. */
void request_watch(struct request *r);
/* From now on the kernel's INTERRUPT reaches r. If the process is being killed, r is cancelled. r
 * also becomes GONE if r waits (request_watch()) or is known to late.c. request_submit() calls this
 * function. */
void request_arm(struct request *r);
/* The request that an op belongs to. */
struct request *request_of(const struct nfs_op *op);

/* The calls that r submits from now on go on even if the process is killed: for giving back an open
 * or a silly name. No INTERRUPT reaches r any more. If the kernel still waits for r and r times
 * out, r is answered, and request_take_fuse() returns NULL. */
void request_keep_going(struct request *r);

/* r is about to make, move or remove a name in r->dir (and r->to_dir, if there is one). */
void request_naming_begin(struct request *r);
/* r has made, moved or removed the name, or has failed. To be called before r is answered. May be
 * called again, and without begin; request_free() calls this function. */
void request_naming_end(struct request *r);

/* Before an answer: from now on no interrupt reaches the request. Returns the fuse request to
 * answer. NULL: the fuse request was answered, because r is LATE or keeps going. */
struct fuse_req *request_take_fuse(struct request *r);
/* Answers r, which is GONE, and lets r go on. The caller holds a lock without which no other thread
 * answers r. */
void request_abandon(struct request *r);
/* The number by which the kernel knows r; 0: r is not the kernel's. The kernel may have sent r to a
 * former daemon, and now again (underway.h). */
static inline uint64_t request_number(const struct request *r)
{
	return r->account.unique & ~REQUEST_AGAIN;
}
static inline bool request_is_again(const struct request *r)
{
	return r->account.unique & REQUEST_AGAIN;
}
/* Answers with an error (0 or a negative errno) and frees the request. */
void request_end(struct request *r, int error);
/* r was to set times instead of r->opening.settler and has not set them. r->opening.settler sets
 * the times now. To be called before r is freed. */
void request_give_back(struct request *r);
/* Frees an answered request. */
void request_free(struct request *r);

/* Copies a name into one of the request's arrays: op arguments must outlive the caller's. False if
 * the name is too long. */
bool request_set_name(char dst[REQUEST_NAME_MAX], struct nfs_name *out, const char *name);

static inline bool request_is_gone(const struct request *r)
{
	return atomic_load(&r->fate.gone);
}

/* r, which has ended with -EINTR, is to begin anew: drops r without an answer. */
void request_drop(struct request *r);
/* r has waited for a call that other requests needed. Any thread that goes on with r. */
static inline void request_waited(struct request *r)
{
	atomic_fetch_add_explicit(&r->count.waits, 1, memory_order_relaxed);
}
/* The calling thread's next request came at `when`, on clock_ns(), and not now; 0: now. */
void request_came_at(uint64_t when);
/* The errno that answers r, a GONE request. */
int request_gone_error(const struct request *r);

/* Moves the requests that are GONE from one list to the other. The caller holds the lock of
 * from. */
void request_list_take_gone(struct request_list *from, struct request_list *gone);

/* The data of r, a READ or WRITE, lies or will lie in *data. The memory, from data_get() or
 * data_get_list(), is freed with r. */
void request_take_data(struct request *r, const struct seg_list *data);

/* For request_waits.c: cancels r. */
void request_kill(struct request *r);
/* r has timed out: r becomes GONE, or is only answered if r keeps going. */
void request_time_out_locked(struct request *r) REQUIRES(LOCK_OF(struct request_pool, lock));

#endif
