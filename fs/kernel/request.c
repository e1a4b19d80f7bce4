/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * request: one request of the kernel from its arrival to the answer.
 */
#include "fs/kernel/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "fs/kernel/data.h"
#include "fs/kernel/event.h"
#include "fs/known/fs.h"
#include "fs/known/names.h"
#include "fs/kernel/process.h"
#include "fs/kernel/underway.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

struct request_pool *request_pool_new(void)
{
	struct request_pool *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	mutex_init(&p->lock);
	SLIST_INIT(&p->free);
	batch_pool_init(&p->parts);
	TAILQ_INIT(&p->live);
	return p;
}

struct request_pool *request_pool_free(struct request_pool *p)
{
	struct request *r;

	if (!p)
		return NULL;
	mutex_destroy(&p->lock);
	while ((r = SLIST_FIRST(&p->free))) {
		SLIST_REMOVE_HEAD(&p->free, free);
		batch_finish(&r->batch);
		free(r);
	}
	batch_pool_finish(&p->parts);
	free(p);
	return NULL;
}

/* --- steps ------------------------------------------------------------------------------------ */

static struct request *request_of_batch(struct batch *b)
{
	return (struct request *)((char *)b - offsetof(struct request, batch));
}

struct request *request_of(const struct nfs_op *op)
{
	const struct part *p = op->ctx;

	return request_of_batch(p->batch);
}

static void batch_done(struct batch *b)
{
	struct request *r = request_of_batch(b);

	atomic_fetch_add_explicit(&r->count.waits,
		atomic_exchange_explicit(&r->count.step_rpcs, 0, memory_order_relaxed),
		memory_order_relaxed);
	r->step(r);
}

/* The file has gone from the server. The kernel looks the file's name up again, once: the answer
 * must not come from notes. */
static void found_stale(struct fs *fs, struct inode *ino)
{
	if (!ino)
		return;
	attrs_doubt_rights(&ino->attrs);
	names_doubt_all(fs->names, ino);
}

static void count_calls(struct request *r, unsigned n)
{
	unsigned most = atomic_load_explicit(&r->count.step_rpcs, memory_order_relaxed);

	if (!n)
		return;
	atomic_fetch_add_explicit(&r->count.rpcs, n, memory_order_relaxed);
	while (n > most && !atomic_compare_exchange_weak_explicit(&r->count.step_rpcs, &most, n,
				   memory_order_relaxed, memory_order_relaxed))
		;
}

static void op_ended(struct batch *b, const struct nfs_op *op)
{
	struct request *r = request_of_batch(b);
	struct stats *s = &r->fs->stats;

	if (op->type != NFS_LOCK || !op->u.lock.local)
		stats_add(&s->ops[op->type], 1);
	if (op->error)
		stats_add(&s->errors[op->type], 1);
	count_calls(r, op->calls.n);
	if (op->error == -ESTALE) { /* the error does not tell for which file */
		found_stale(r->fs, r->inode);
		found_stale(r->fs, r->dir);
		found_stale(r->fs, r->to_dir);
	}
}

/* --- making and freeing ----------------------------------------------------------------------- */

static struct request *alloc_request(struct request_pool *p)
{
	struct request *r;

	mutex_lock(&p->lock);
	r = SLIST_FIRST(&p->free);
	if (r)
		SLIST_REMOVE_HEAD(&p->free, free);
	mutex_unlock(&p->lock);
	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (r)
		batch_init(&r->batch, &p->parts);
	return r;
}

void request_kill(struct request *r)
{
	if (batch_cancel(&r->batch))
		stats_add(&r->fs->stats.interrupts, 1);
}

/* r goes on, but the kernel must not wait longer. */
static void answer_timed_out_locked(struct request *r) REQUIRES(r->fs->requests->lock)
{
	struct fuse_req *fuse = r->fuse;

	r->fuse = NULL;
	atomic_store(&r->fate.awaited, false);
	if (fuse && r->fs->ledger)
		account_answers(&r->account); /* for underway_answers() */
	if (fuse)
		fuse_reply_err(fuse, ETIMEDOUT);
}

void request_time_out_locked(struct request *r) REQUIRES(r->fs->requests->lock)
{
	atomic_store(&r->fate.timed_out, true);
	if (r->fate.keeps_going) {
		answer_timed_out_locked(r);
		return;
	}
	request_kill(r);
	atomic_store(&r->fate.gone, true);
}

static void interrupt_request(struct request *r)
{
	atomic_store(&r->fate.interrupted_ns, clock_ns());
	if (batch_interrupt(&r->batch))
		stats_add(&r->fs->stats.interrupts, 1);
}

static _Thread_local uint64_t came_at; /* request_came_at(); 0: now */

void request_came_at(uint64_t when)
{
	came_at = when;
}

struct request *request_new_cred(struct fs *fs, struct fuse_req *fuse, const struct rpc_cred *cred)
{
	struct request *r = alloc_request(fs->requests);
	uint64_t came = came_at;

	came_at = 0;
	if (!r) {
		if (fuse)
			fuse_reply_err(fuse, ENOMEM);
		return NULL;
	}
	stats_add(&fs->stats.requests, 1);
	r->fs = fs;
	r->fuse = fuse;
	r->fate.keeps_going = false;
	batch_begin(&r->batch, fs->client, cred);
	r->batch.op_ended = op_ended;
	if (!fuse)
		batch_keep_going(&r->batch);
	r->pid = fuse ? fuse_req_ctx(fuse)->pid : 0;
	atomic_store(&r->fate.awaited, fuse != NULL);
	atomic_store(&r->fate.timed_out, false);
	atomic_store(&r->fate.gone, false);
	r->fate.armed = false;
	atomic_store(&r->fate.watched, false);
	atomic_store(&r->fate.put_off, false);
	r->fate.any_signal = false;
	atomic_store(&r->fate.interrupted_ns, 0);
	r->account.unique = 0;
	if (fuse)
		account_take(&r->account);
	if (fuse && fs->ledger)
		r->batch.noted = underway_noted(&r->account);
	r->born = came ? came : r->account.unique ? r->account.born : clock_ns();
	r->batch.since_ns = r->born;
	atomic_store_explicit(&r->count.rpcs, 0, memory_order_relaxed);
	atomic_store_explicit(&r->count.waits, 0, memory_order_relaxed);
	atomic_store_explicit(&r->count.step_rpcs, 0, memory_order_relaxed);
	r->step = NULL;
	r->inode = r->dir = r->to_dir = r->unlinking = NULL;
	r->name[0] = r->to_name[0] = 0;
	r->opening.settler = NULL;
	r->owed.asks = false;
	r->turn.since = 0;
	r->file = NULL;
	r->buf = NULL;
	r->text = NULL;
	r->flush.gone = NULL;
	r->flush.closes = r->flush.outlives = false;
	memset(r->state, 0, sizeof(r->state));
	r->order.of = NULL;
	r->order.waits = false;
	atomic_store(&r->order.overtaken, false);
	r->late.of = NULL;
	r->late.is = false;
	atomic_store(&r->late.lasts, false);
	r->cut.begun = false;
	mutex_lock(&fs->requests->lock);
	if (fuse && fs->requests->ending)
		batch_cancel(&r->batch);
	if (fuse && !came && r->born < fs->requests->behind_until)
		request_time_out_locked(r); /* r may have waited in the kernel as long */
	TAILQ_INSERT_TAIL(&fs->requests->live, r, live);
	mutex_unlock(&fs->requests->lock);
	return r;
}

struct request *request_new(struct fs *fs, struct fuse_req *fuse)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(fuse);
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = ctx->uid, .gid = ctx->gid};

	/* A look at /proc. The groups are not cached: a process may give up groups at any moment,
	 * and then the daemon must not use their rights for the process. A process of another PID
	 * namespace has no number here: only its group counts. */
	cred.ngids = process_groups(ctx->pid, cred.gids, RPC_MAX_GIDS);
	return request_new_cred(fs, fuse, &cred);
}

void request_take_data(struct request *r, const struct seg_list *data)
{
	r->batch.data = *data;
}

void request_naming_begin(struct request *r)
{
	request_naming_end(r);
	r->owed.naming = true;
	dirnames_naming_begin(&r->dir->dirnames);
	if (r->to_dir)
		dirnames_naming_begin(&r->to_dir->dirnames);
}

void request_naming_end(struct request *r)
{
	if (!r->owed.naming)
		return;
	r->owed.naming = false;
	dirnames_naming_end(&r->dir->dirnames, &r->dir->attrs);
	if (r->to_dir)
		dirnames_naming_end(&r->to_dir->dirnames, &r->to_dir->attrs);
}

void request_give_back(struct request *r)
{
	struct request *settler = r->opening.settler;

	r->opening.settler = NULL;
	if (settler)
		settler->next(settler);
}

void request_free(struct request *r)
{
	struct request_pool *p = r->fs->requests;

	if (r->order.of)
		r->order.freed(r);
	if (r->late.of)
		r->late.freed(r);
	request_give_back(r);
	request_naming_end(r);
	if (r->owed.asks)
		view_answered(&r->inode->view, r->born);
	inode_unref(r->inode);
	inode_unref(r->dir);
	inode_unref(r->to_dir);
	inode_unref(r->unlinking);
	if (r->batch.data.n)
		data_put_list(r->fs, &r->batch.data);
	mem_buf_unref(r->buf);
	free(r->text);
	ledger_drop(r->fs->ledger, &r->note);
	batch_end(&r->batch);
	mutex_lock(&p->lock);
	TAILQ_REMOVE(&p->live, r, live);
	SLIST_INSERT_HEAD(&p->free, r, free);
	mutex_unlock(&p->lock);
}

void request_submit(struct request *r, request_step_fn *step)
{
	r->step = step;
	request_arm(r);
	batch_submit(&r->batch, batch_done);
}

/* --- interrupts ------------------------------------------------------------------------------- */

/* libfuse holds the request's lock, so request_take_fuse() waits for the end of this function. So
 * the request cannot be answered here. */
static void on_interrupt(fuse_req_t fuse, void *data)
{
	struct request *r = data;
	enum process_fate fate = process_fate(r->pid);

	if (fate != PROCESS_KILLED && r->fate.any_signal)
		interrupt_request(r);
	else if (fate == PROCESS_KILLED || fate == PROCESS_UNKNOWN)
		request_kill(r);
	else
		return;
	if (!atomic_load(&r->fate.watched) && !atomic_load(&r->late.lasts))
		return;
	atomic_store(&r->fate.gone, true);
	atomic_store(&r->fs->some_gone, true);
	if (eventfd_write(r->fs->wake_fd, 1))
		log_ctrl("eventfd: cannot wake the main thread");
}

void request_arm(struct request *r)
{
	if (r->fate.keeps_going || r->fate.armed || !r->fuse)
		return;
	r->fate.armed = true;
	fuse_req_interrupt_func(r->fuse, on_interrupt, r);
}

void request_watch(struct request *r)
{
	atomic_store(&r->fate.watched, true);
	r->fate.armed = true;
	fuse_req_interrupt_func(r->fuse, on_interrupt, r); /* the INTERRUPT may have come */
}

void request_drop(struct request *r)
{
	struct fuse_req *fuse = request_take_fuse(r);

	request_free(r);
	if (fuse)
		fuse_reply_none(fuse);
}

int request_gone_error(const struct request *r)
{
	return atomic_load(&r->fate.timed_out) ? ETIMEDOUT : EINTR;
}

static void disarm(struct request *r)
{
	if (r->fuse && r->fate.armed)
		fuse_req_interrupt_func(r->fuse, NULL, NULL);
	r->fate.armed = false;
}

/* Only a request that keeps going needs the lock: the analysis cannot follow the condition. */
static struct fuse_req *take_fuse(struct request *r) NO_LOCK_ANALYSIS
{
	bool shared = r->fate.keeps_going; /* with answer_timed_out_locked() */
	struct fuse_req *fuse;

	if (shared)
		mutex_lock(&r->fs->requests->lock);
	disarm(r);
	fuse = r->fuse;
	r->fuse = NULL;
	r->batch.noted = 0;
	atomic_store(&r->fate.awaited, false);
	if (fuse) {
		r->account.rpcs = atomic_load_explicit(&r->count.rpcs, memory_order_relaxed);
		r->account.waits = atomic_load_explicit(&r->count.waits, memory_order_relaxed);
		account_answers(&r->account);
		if (trace_is_on(&r->fs->trace) && r->dir && r->name[0])
			event_names(
				r->fs, r->account.unique, r->dir, r->name, r->to_dir, r->to_name);
	}
	if (shared)
		mutex_unlock(&r->fs->requests->lock);
	return fuse;
}

struct fuse_req *request_take_fuse(struct request *r)
{
	if (r->late.of)
		r->late.answers(r);
	return take_fuse(r);
}

/* The answer to a request that ends early: a negative errno. */
static int interrupt_error(const struct request *r)
{
	struct request_pool *p = r->fs->requests;
	int error;

	mutex_lock(&p->lock);
	error = p->ending ? -ECONNABORTED : -request_gone_error(r);
	mutex_unlock(&p->lock);
	return error;
}

void request_abandon(struct request *r)
{
	struct fuse_req *fuse = take_fuse(r);

	if (fuse)
		fuse_reply_err(fuse, -interrupt_error(r));
}

void request_end(struct request *r, int error)
{
	struct fuse_req *fuse = request_take_fuse(r);

	if (error == -EINTR)
		error = interrupt_error(r);
	request_free(r);
	if (fuse)
		fuse_reply_err(fuse, -error);
}

void request_list_take_gone(struct request_list *from, struct request_list *gone)
{
	struct request_list stay = SLIST_HEAD_INITIALIZER(stay);
	struct request *r;

	while ((r = SLIST_FIRST(from))) {
		SLIST_REMOVE_HEAD(from, free);
		SLIST_INSERT_HEAD(request_is_gone(r) ? gone : &stay, r, free);
	}
	*from = stay;
}

void request_keep_going(struct request *r)
{
	batch_keep_going(&r->batch);
	if (!r->fuse)
		return;
	disarm(r);
	mutex_lock(&r->fs->requests->lock);
	r->fate.keeps_going = true;
	if (atomic_load(&r->fate.timed_out))
		answer_timed_out_locked(r);
	mutex_unlock(&r->fs->requests->lock);
}

bool request_set_name(char dst[REQUEST_NAME_MAX], struct nfs_name *out, const char *name)
{
	size_t len = strlen(name);

	if (len > NFS_NAME_MAX)
		return false;
	memcpy(dst, name, len + 1);
	out->s = dst;
	out->len = len;
	return true;
}
