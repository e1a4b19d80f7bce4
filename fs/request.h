/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * request: one request of the kernel from its arrival to the answer.
 *
 * A request holds no thread while it waits. It goes in steps: an operation fills in one or more
 * parts (each an nfs_op), names the function that comes next and submits; when all parts are done
 * that function runs, on the thread that saw the last one, and submits again or answers:
 *
 *     request_new -> [parts -> request_submit -> step]... -> request_end
 *
 * The submitter counts as one running part, so the next step never begins before the last submit
 * has returned, and the request cannot vanish under it.
 *
 * Interrupts. The kernel says INTERRUPT for any signal, but only a fatal one may abandon a request:
 * NFS calls are not restarted with EINTR. So an interrupted request is cancelled only if its
 * process has a SIGKILL pending (which is how the kernel marks any fatal signal), or if it waits
 * for a lock, which any signal ends. For some waits (direct I/O) there is no INTERRUPT at all, and
 * for none a second one; so request_check_killed() looks at the processes of all requests that have
 * been waiting long.
 *
 * Locks. request_pool.lock guards the free lists and the list of live requests; request.lock guards
 * running, killed and the parts' states. Order: libfuse's request lock, request_pool.lock,
 * request.lock, the client's. No callback runs with one of them held, but nfs_cancel() is called
 * under request.lock so that the op it names cannot end meanwhile.
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

#include "nfsproto/nfs_client.h"

struct fs;
struct file;
struct dir;
struct dirbuf;
struct inode;
struct request;
struct silly;
struct fuse_req;

enum part_state {
	PART_IDLE,
	PART_SUBMITTING, /* nfs_submit() has been called and has not returned */
	PART_RUNNING,	 /* may be cancelled */
	PART_DONE,
};

struct part {
	struct nfs_op op;
	struct request *req;
	enum part_state state;	 /* req->lock */
	uint32_t off, want, got; /* READ and WRITE: where in the request's data, bytes */
	bool settled;		 /* READ and WRITE: nothing more to do */
	STAILQ_ENTRY(part) next;
};

typedef void request_step_fn(struct request *r);

#define REQUEST_NAME_MAX 256

struct request {
	struct fs *fs;
	struct fuse_req *fuse; /* NULL once answered, or for the daemon's own */
	struct rpc_cred cred;
	pid_t pid; /* 0: unknown */

	pthread_mutex_t lock;
	unsigned running; /* parts under way, the submitter included */
	bool killed;	  /* cancel what is under way and what follows */
	bool may_cancel;  /* false: killed is without effect */
	bool any_signal;  /* constant once submitted: not only a fatal one ends it */
	uint64_t born;	  /* on inode_clock(): the server is asked after that */
	TAILQ_ENTRY(request) live;
	SLIST_ENTRY(request) free; /* or, while it waits for nothing else, fs.rmdirs or fs.opens */
	STAILQ_ENTRY(request) inval;

	request_step_fn *step;
	request_step_fn *next;	   /* after a common sequence of steps */
	STAILQ_HEAD(, part) parts; /* first, then more from the pool */
	struct part first;

	/* what operations keep from step to step */
	struct inode *inode;	     /* a reference, or NULL */
	struct inode *inode2;	     /* another */
	struct inode *entry;	     /* to be answered, with a lookup for the kernel */
	const struct nfs_attr *attr; /* of entry, in an op of this request */
	struct file *file;
	struct dir *dir;
	struct dirbuf *dirbuf;
	struct mem_buf *buf; /* a reference, counted as data in use when data_size > 0 */
	size_t data_size;
	uint8_t *data; /* in buf */
	uint32_t size;
	uint64_t offset;
	uint64_t gen;
	uint64_t owner, lock_start, lock_end; /* locks */
	pid_t locker;
	unsigned lock_tries, locks_left;
	int flags;
	int error; /* to be answered after the clean-up */
	bool plus, writepage;
	bool again; /* an open: its thread has been told ESTALE the last time */
	mode_t mode;
	dev_t rdev;
	struct silly *silly;
	struct inode *to_inode; /* a rename's, a reference */
	struct inode *going;	/* whose last name is being removed, a reference */
	char name[REQUEST_NAME_MAX], name2[REQUEST_NAME_MAX];
	char *text; /* from malloc; freed with the request */
};

struct request_pool {
	pthread_mutex_t lock;
	SLIST_HEAD(, request) free;
	STAILQ_HEAD(, part) free_parts;
	TAILQ_HEAD(, request) live; /* oldest first */
};

void request_pool_init(struct request_pool *p);
/* No request may be under way. */
void request_pool_finish(struct request_pool *p);

/* A request for fuse with the caller's credential (uid, gid, groups); when out of memory fuse is
 * answered ENOMEM and NULL is returned. */
struct request *request_new(struct fs *fs, struct fuse_req *fuse);
/* The same with another credential (an open file's), which costs no look at /proc. fuse may be NULL
 * for the daemon's own requests. */
struct request *request_new_cred(struct fs *fs, struct fuse_req *fuse, const struct rpc_cred *cred);

/* The first part's op, made ready: type and credential set, the member of u of that size zeroed. */
struct nfs_op *request_op_sized(struct request *r, enum nfs_op_type type, size_t size);
#define request_op(r, type, member)                                                                \
	request_op_sized(r, type, sizeof(((struct nfs_op *)0)->u.member))
/* A further part, its op made ready the same way; NULL when out of memory. */
struct part *request_part(struct request *r, enum nfs_op_type type, size_t size);
/* Makes the op of a part that is not under way ready again. */
void part_ready(struct part *p, enum nfs_op_type type, size_t size);

/* Submits the first part; step follows. */
void request_submit(struct request *r, request_step_fn *step);
/* Submits every part that is not settled; step follows, also if there is none. */
void request_submit_parts(struct request *r, request_step_fn *step);

/* What follows must be done even if the process is killed (giving back an open, a silly name). */
void request_keep_going(struct request *r);

/* Before an answer: from here on no interrupt reaches the request. Returns what is to be answered.
 */
struct fuse_req *request_take_fuse(struct request *r);
/* Answers with an error (0 or a negative errno) and frees the request. */
void request_end(struct request *r, int error);
/* Frees a request whose answer has been given. */
void request_free(struct request *r);

/* Copies a name into one of the request's arrays: op arguments must outlive the caller's. False if
 * it is too long. */
bool request_set_name(char dst[REQUEST_NAME_MAX], struct nfs_name *out, const char *name);

/* Cancels what has waited for a second or more on behalf of a process that is being killed. To be
 * called about once a second. */
void request_check_killed(struct request_pool *p);

/* Memory for data, within the mount's limit: NULL when it is reached. */
struct mem_buf *data_get(struct fs *fs, size_t size);
/* Takes buf into r (the caller's reference) as data counted by data_get(). */
void request_take_data(struct request *r, struct mem_buf *buf);
/* Gives back what data_get() gave. */
void data_put(struct fs *fs, struct mem_buf *buf);

#endif
