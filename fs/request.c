/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * request: one request of the kernel from its arrival to the answer.
 */
#include "fs/request.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fs/fs.h"

#define SIGKILL_BIT  (1ull << (9 - 1))
#define LONG_WAIT_NS 1000000000ull

void request_pool_init(struct request_pool *p)
{
	pthread_mutex_init(&p->lock, NULL);
	SLIST_INIT(&p->free);
	STAILQ_INIT(&p->free_parts);
	TAILQ_INIT(&p->live);
}

void request_pool_finish(struct request_pool *p)
{
	struct request *r;
	struct part *part;

	while ((r = SLIST_FIRST(&p->free))) {
		SLIST_REMOVE_HEAD(&p->free, free);
		pthread_mutex_destroy(&r->lock);
		free(r);
	}
	while ((part = STAILQ_FIRST(&p->free_parts))) {
		STAILQ_REMOVE_HEAD(&p->free_parts, next);
		free(part);
	}
	pthread_mutex_destroy(&p->lock);
}

/* --- making and freeing ----------------------------------------------------------------------- */

static struct request *alloc_request(struct request_pool *p)
{
	struct request *r;

	pthread_mutex_lock(&p->lock);
	r = SLIST_FIRST(&p->free);
	if (r)
		SLIST_REMOVE_HEAD(&p->free, free);
	pthread_mutex_unlock(&p->lock);
	if (r)
		return r;
	r = calloc(1, sizeof(*r));
	if (r)
		pthread_mutex_init(&r->lock, NULL);
	return r;
}

struct request *request_new_cred(struct fs *fs, struct fuse_req *fuse, const struct rpc_cred *cred)
{
	struct request *r = alloc_request(&fs->requests);

	if (!r) {
		if (fuse)
			fuse_reply_err(fuse, ENOMEM);
		return NULL;
	}
	stats_add(&fs->stats.requests, 1);
	r->fs = fs;
	r->fuse = fuse;
	r->cred = *cred;
	r->pid = fuse ? fuse_req_ctx(fuse)->pid : 0;
	r->running = 0;
	r->killed = false;
	r->may_cancel = fuse != NULL;
	r->any_signal = false;
	r->born = inode_clock();
	r->step = NULL;
	STAILQ_INIT(&r->parts);
	STAILQ_INSERT_HEAD(&r->parts, &r->first, next);
	r->first.req = r;
	r->first.state = PART_IDLE;
	r->first.settled = false;
	r->inode = r->inode2 = r->to_inode = r->going = r->entry = NULL;
	r->file = NULL;
	r->dir = NULL;
	r->dirbuf = NULL;
	r->buf = NULL;
	r->data_size = 0;
	r->error = 0;
	r->silly = NULL;
	r->text = NULL;
	pthread_mutex_lock(&fs->requests.lock);
	TAILQ_INSERT_TAIL(&fs->requests.live, r, live);
	pthread_mutex_unlock(&fs->requests.lock);
	return r;
}

struct request *request_new(struct fs *fs, struct fuse_req *fuse)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(fuse);
	struct rpc_cred cred = {.flavor = RPC_AUTH_SYS, .uid = ctx->uid, .gid = ctx->gid};
	gid_t gids[RPC_MAX_GIDS];
	int n;

	/* A look at /proc, some 5 us. It is not remembered: a process may give up groups at any
	 * moment, and what it may not do any more must not be done in its name.
	 * A process of another PID namespace has no number here: then its group must do. */
	n = ctx->pid ? fuse_req_getgroups(fuse, RPC_MAX_GIDS, gids) : 0;
	for (int i = 0; i < n && i < RPC_MAX_GIDS; i++)
		cred.gids[cred.ngids++] = gids[i];
	return request_new_cred(fs, fuse, &cred);
}

struct mem_buf *data_get(struct fs *fs, size_t size)
{
	struct mem_buf *buf;

	/* The messages need memory too: data may not take all of it. */
	if (atomic_fetch_add(&fs->data_used, size) + size > fs->data_limit) {
		atomic_fetch_sub(&fs->data_used, size);
		return NULL;
	}
	buf = mem_buf_get(fs->pool, size);
	if (!buf) {
		atomic_fetch_sub(&fs->data_used, size);
		return NULL;
	}
	if (buf->size > size)
		atomic_fetch_add(&fs->data_used, buf->size - size);
	return buf;
}

void data_put(struct fs *fs, struct mem_buf *buf)
{
	if (!buf)
		return;
	atomic_fetch_sub(&fs->data_used, buf->size);
	mem_buf_unref(buf);
}

void request_take_data(struct request *r, struct mem_buf *buf)
{
	r->buf = buf;
	r->data_size = buf->size;
}

void request_free(struct request *r)
{
	struct request_pool *p = &r->fs->requests;

	inode_unref(r->inode);
	inode_unref(r->inode2);
	inode_unref(r->to_inode);
	inode_unref(r->going);
	if (r->data_size)
		data_put(r->fs, r->buf);
	else
		mem_buf_unref(r->buf);
	free(r->text);
	pthread_mutex_lock(&p->lock);
	TAILQ_REMOVE(&p->live, r, live);
	STAILQ_REMOVE_HEAD(&r->parts, next); /* first */
	STAILQ_CONCAT(&p->free_parts, &r->parts);
	SLIST_INSERT_HEAD(&p->free, r, free);
	pthread_mutex_unlock(&p->lock);
}

/* --- parts ------------------------------------------------------------------------------------ */

void part_ready(struct part *p, enum nfs_op_type type, size_t size)
{
	struct nfs_op *op = &p->op;

	op->type = type;
	op->cred = p->req->cred;
	op->error = 0;
	memset(&op->u, 0, size);
}

struct nfs_op *request_op_sized(struct request *r, enum nfs_op_type type, size_t size)
{
	part_ready(&r->first, type, size);
	r->first.settled = false;
	return &r->first.op;
}

struct part *request_part(struct request *r, enum nfs_op_type type, size_t size)
{
	struct request_pool *pool = &r->fs->requests;
	struct part *p;

	pthread_mutex_lock(&pool->lock);
	p = STAILQ_FIRST(&pool->free_parts);
	if (p)
		STAILQ_REMOVE_HEAD(&pool->free_parts, next);
	pthread_mutex_unlock(&pool->lock);
	if (!p)
		p = calloc(1, sizeof(*p));
	if (!p)
		return NULL;
	p->req = r;
	p->settled = false;
	part_ready(p, type, size);
	pthread_mutex_lock(&r->lock);
	p->state = PART_IDLE;
	STAILQ_INSERT_TAIL(&r->parts, p, next);
	pthread_mutex_unlock(&r->lock);
	return p;
}

static void drop_running(struct request *r)
{
	bool last;

	pthread_mutex_lock(&r->lock);
	last = --r->running == 0;
	pthread_mutex_unlock(&r->lock);
	if (last)
		r->step(r);
}

/* The file has gone from the server. The kernel looks its name up again, once: that must not be
 * answered from what was known. */
static void found_stale(struct fs *fs, struct inode *ino)
{
	if (!ino)
		return;
	inode_doubt(ino);
	names_doubt_all(inode_table_names(fs->inodes), ino);
}

static void part_done(struct nfs_op *op)
{
	struct part *p = op->ctx;
	struct request *r = p->req;
	struct stats *s = &r->fs->stats;

	stats_add(&s->ops[op->type], 1);
	if (op->error)
		stats_add(&s->errors[op->type], 1);
	if (op->error == -ESTALE) { /* which of them is not known */
		found_stale(r->fs, r->inode);
		found_stale(r->fs, r->inode2);
		found_stale(r->fs, r->to_inode);
	}
	pthread_mutex_lock(&r->lock);
	p->state = PART_DONE;
	pthread_mutex_unlock(&r->lock);
	drop_running(r);
}

static void part_submit(struct request *r, struct part *p)
{
	p->op.done = part_done;
	p->op.ctx = p;
	pthread_mutex_lock(&r->lock);
	p->state = PART_SUBMITTING;
	r->running++;
	pthread_mutex_unlock(&r->lock);
	nfs_submit(r->fs->client, &p->op);
	pthread_mutex_lock(&r->lock);
	if (p->state == PART_SUBMITTING) {
		p->state = PART_RUNNING;
		if (r->killed && r->may_cancel)
			nfs_cancel(&p->op);
	}
	pthread_mutex_unlock(&r->lock);
}

static void on_interrupt(fuse_req_t fuse, void *data);

static void submit_begin(struct request *r, request_step_fn *step)
{
	bool first = !r->step;

	r->step = step;
	r->running = 1;
	if (first && r->fuse)
		fuse_req_interrupt_func(r->fuse, on_interrupt, r);
}

void request_submit(struct request *r, request_step_fn *step)
{
	submit_begin(r, step);
	part_submit(r, &r->first);
	drop_running(r);
}

void request_submit_parts(struct request *r, request_step_fn *step)
{
	struct part *p;

	submit_begin(r, step);
	STAILQ_FOREACH (p, &r->parts, next)
		if (!p->settled)
			part_submit(r, p);
	drop_running(r);
}

/* --- interrupts ------------------------------------------------------------------------------- */

/* Does the thread have a fatal signal pending? The kernel turns every fatal signal into a SIGKILL
 * in each thread's own set. unknown: what to say of a process that cannot be looked at. */
static bool is_being_killed(pid_t pid, bool unknown)
{
	char path[64], text[4096], *s;
	ssize_t n;
	int fd;

	if (!pid)
		return unknown;
	snprintf(path, sizeof(path), "/proc/%d/task/%d/status", (int)pid, (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return unknown;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return unknown;
	text[n] = 0;
	s = strstr(text, "\nSigPnd:");
	return s ? strtoull(s + 8, NULL, 16) & SIGKILL_BIT : unknown;
}

static void kill_request(struct request *r)
{
	struct part *p;

	pthread_mutex_lock(&r->lock);
	if (!r->killed) {
		r->killed = true;
		stats_add(&r->fs->stats.interrupts, 1);
		STAILQ_FOREACH (p, &r->parts, next)
			if (p->state == PART_RUNNING && r->may_cancel)
				nfs_cancel(&p->op);
	}
	pthread_mutex_unlock(&r->lock);
}

/* libfuse holds the request's lock: request_take_fuse() waits for the end of this. */
static void on_interrupt(fuse_req_t fuse, void *data)
{
	struct request *r = data;

	if (r->any_signal || is_being_killed(r->pid, true))
		kill_request(r);
}

void request_check_killed(struct request_pool *p)
{
	uint64_t now = inode_clock();
	pid_t last_pid = 0;
	bool last = false;
	struct request *r;

	pthread_mutex_lock(&p->lock);
	TAILQ_FOREACH (r, &p->live, live) {
		if (now - r->born < LONG_WAIT_NS)
			break;
		if (r->pid != last_pid) {
			last_pid = r->pid;
			last = is_being_killed(r->pid, false);
		}
		if (last)
			kill_request(r);
	}
	pthread_mutex_unlock(&p->lock);
}

struct fuse_req *request_take_fuse(struct request *r)
{
	struct fuse_req *fuse = r->fuse;

	r->fuse = NULL;
	if (fuse && r->step)
		fuse_req_interrupt_func(fuse, NULL, NULL);
	return fuse;
}

void request_end(struct request *r, int error)
{
	struct fuse_req *fuse = request_take_fuse(r);

	request_free(r);
	if (fuse)
		fuse_reply_err(fuse, -error);
}

void request_keep_going(struct request *r)
{
	pthread_mutex_lock(&r->lock);
	r->may_cancel = false;
	pthread_mutex_unlock(&r->lock);
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
