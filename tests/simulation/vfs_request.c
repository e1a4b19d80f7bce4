/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_request: requests, from a system call to their end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

void vfs_add_in(struct vfs_call *c, const void *data, size_t len)
{
	if (c->n == VFS_PIECES)
		sched_fail("the kernel's model makes a request of too many pieces");
	c->in[c->n++] = (struct iovec){(void *)data, len};
}

void vfs_add_name(struct vfs_call *c, const char *name)
{
	vfs_add_in(c, name, strlen(name) + 1);
}

static struct vfs_request *make(struct vfs *v, const struct vfs_call *c)
{
	struct vfs_request *r = calloc(1, sizeof(*r));
	struct process *p = c->nobody ? NULL : proc_self();

	if (!r)
		abort();
	r->c = *c;
	r->head = (struct fuse_in_header){.len = sizeof(r->head),
		.opcode = c->opcode,
		.nodeid = c->node,
		.uid = p ? p->uid : 0,
		.gid = p ? p->gid : 0,
		.pid = p ? (uint32_t)p->pid : 0};
	for (unsigned i = 0; i < c->n; i++)
		r->head.len += (uint32_t)c->in[i].iov_len;
	r->process = p;
	r->signals = p ? p->signals : 0;
	return r;
}

static void drop(struct vfs_request *r)
{
	free(r->own);
	free(r);
}

/* To the daemon. The number is given here, as Linux does. */
static void queue(struct vfs *v, struct vfs_request *r)
{
	r->head.unique = v->unique += 2;
	r->queued = true;
	v->counts.requests++;
	v->counts.by_opcode[r->c.opcode % 64]++;
	STAILQ_INSERT_TAIL(&v->pending, r, next);
	vfs_tell(v, r);
	descriptors_changed();
}

/* --- waiting ---------------------------------------------------------------------------------- */

static void interrupt(struct vfs *v, struct vfs_request *r)
{
	if (r->interrupt_queued || r->finished || r->queued)
		return;
	r->interrupt_queued = true;
	v->counts.interrupts++;
	STAILQ_INSERT_TAIL(&v->interrupts, r, next_interrupt);
	descriptors_changed();
}

/* A signal of any kind has INTERRUPT sent, once the daemon has read the request; a fatal one drops
 * a request that the daemon has not read. Else the process waits on. True: dropped. */
static bool heed_signals(struct vfs *v, struct vfs_request *r)
{
	bool fatal = proc_must_end();

	if (!fatal && (!r->process || r->process->signals == r->signals))
		return false;
	if (!v->no_interrupt && !r->interrupted) {
		r->interrupted = true;
		if (r->sent)
			interrupt(v, r);
	}
	if (!fatal || r->c.force || !r->queued)
		return false;
	STAILQ_REMOVE(&v->pending, r, vfs_request, next);
	return true;
}

static void wait_answer(struct vfs *v, struct vfs_request *r)
{
	if (r->process)
		LIST_INSERT_HEAD(&r->process->waits, r, of_process);
	while (!r->finished) {
		if (heed_signals(v, r)) {
			r->error = -EINTR;
			break;
		}
		sched_wait(r, SCHED_NEVER, "for the daemon's answer");
	}
	if (r->process)
		LIST_REMOVE(r, of_process);
}

/* All but INIT wait for the answer to INIT; a fatal signal ends that wait. */
static int wait_ready(struct vfs *v, const struct vfs_call *c)
{
	while (!v->ready && !v->ended) {
		if (proc_must_end() && !c->force)
			return -EINTR;
		sched_wait(v, SCHED_NEVER, "for INIT");
	}
	return v->ended ? -ENOTCONN : 0;
}

ssize_t vfs_ask(struct vfs *v, struct vfs_call *c)
{
	struct vfs_request *r;
	ssize_t res = wait_ready(v, c);

	if (res)
		return res;
	r = make(v, c);
	r->waited = true;
	sched_point();
	if (v->ended) {
		drop(r);
		return -ENOTCONN;
	}
	queue(v, r);
	wait_answer(v, r);
	res = r->error ? r->error : (ssize_t)r->got;
	drop(r);
	sched_point();
	return res;
}

/* --- background ------------------------------------------------------------------------------- */

static void flush_background(struct vfs *v)
{
	struct vfs_request *r;

	while (v->active < v->max_background && (r = STAILQ_FIRST(&v->waiting))) {
		STAILQ_REMOVE_HEAD(&v->waiting, next);
		v->active++;
		queue(v, r);
	}
}

/* A request of the background waits while so many are under way as the daemon allows, unless it is
 * forced (RELEASE, write-back). */
static int wait_room(struct vfs *v, const struct vfs_call *c)
{
	while (!c->force && v->background >= v->max_background && !v->ended) {
		if (proc_must_end())
			return -EINTR;
		sched_wait(&v->background, SCHED_NEVER, "for room in the background");
	}
	return v->ended ? -ENOTCONN : 0;
}

int vfs_ask_later(struct vfs *v, const struct vfs_call *c,
	void (*end)(struct vfs *, struct vfs_request *), void *ctx, void *own)
{
	struct vfs_request *r;
	int error = wait_ready(v, c);

	if (!error)
		error = wait_room(v, c);
	if (error)
		return error;
	r = make(v, c);
	r->background = true;
	r->end = end;
	r->ctx = ctx;
	r->own = own;
	v->background++;
	STAILQ_INSERT_TAIL(&v->waiting, r, next);
	flush_background(v);
	return 0;
}

/* --- the end ---------------------------------------------------------------------------------- */

void vfs_end_request(struct vfs *v, struct vfs_request *r, int error)
{
	r->error = error;
	if (r->interrupt_queued)
		STAILQ_REMOVE(&v->interrupts, r, vfs_request, next_interrupt);
	r->interrupt_queued = false;
	if (r->background) {
		v->active--;
		v->background--;
		sched_wake_all(&v->background);
		flush_background(v);
	}
	r->finished = true;
	if (r == v->first_request) {
		vfs_init_answered(v, error);
		return;
	}
	if (r->waited) {
		sched_wake_all(r);
		return;
	}
	if (r->end)
		r->end(v, r);
	drop(r);
}

void vfs_end_requests(struct vfs *v)
{
	struct vfs_device *d;
	struct vfs_request *r;
	struct vfs_forget *f;

	v->ended = true;
	v->max_background = UINT32_MAX;
	flush_background(v);
	while ((r = STAILQ_FIRST(&v->pending))) {
		STAILQ_REMOVE_HEAD(&v->pending, next);
		r->queued = false;
		vfs_end_request(v, r, -ECONNABORTED);
	}
	LIST_FOREACH (d, &v->devices, next)
		while ((r = LIST_FIRST(&d->sent))) {
			LIST_REMOVE(r, of_device);
			vfs_end_request(v, r, -ECONNABORTED);
		}
	while ((f = STAILQ_FIRST(&v->forgets))) {
		STAILQ_REMOVE_HEAD(&v->forgets, next);
		free(f);
	}
	sched_wake_all(v);
	sched_wake_all(&v->background);
	descriptors_changed();
}

void vfs_forget(struct vfs *v, uint64_t node, uint64_t n)
{
	struct vfs_forget *f;

	if (v->ended)
		return;
	f = calloc(1, sizeof(*f));
	if (!f)
		abort();
	f->node = node;
	f->n = n;
	v->counts.forgets++;
	sched_event("kernel %u: forget an inode, %llu", v->number, (unsigned long long)n);
	STAILQ_INSERT_TAIL(&v->forgets, f, next);
	descriptors_changed();
}

void vfs_signalled(struct vfs *v, struct process *p)
{
	struct vfs_request *r;

	LIST_FOREACH (r, &p->waits, of_process)
		sched_wake_all(r);
}
