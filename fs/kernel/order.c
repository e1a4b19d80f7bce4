/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * order: READs that must show the data of a WRITE in flight.
 *
 * An inode lists its WRITEs and READs in flight (inode.order.under_way), and the WRITEs that are
 * being gathered (inode.order.gathering), under the mount's lock, a leaf. READs are listed only
 * where a process may write. A READ that waits is in the mount's list, too.
 */
#include "fs/kernel/order.h"

#include <errno.h>
#include <stdlib.h>

#include "fs/known/file.h"
#include "fs/kernel/arrival.h"
#include "fs/kernel/io.h"
#include "transport/lock.h"

#define PAGE UINT64_C(4096)

TAILQ_HEAD(order_list, request); /* by request.order.wait */

struct orders {
	struct mutex lock; /* also guards inode.order.under_way and request.order */
	struct order_list waiting GUARDED_BY(lock);
};

struct orders *orders_new(void)
{
	struct orders *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	mutex_init(&o->lock);
	TAILQ_INIT(&o->waiting);
	return o;
}

struct orders *orders_free(struct orders *o)
{
	if (!o)
		return NULL;
	mutex_destroy(&o->lock);
	free(o);
	return NULL;
}

static bool meets(const struct request *r, uint64_t first, uint64_t last)
{
	return r->order.first <= last && first <= r->order.last;
}

static void order_end(struct request *r);

/* Adds r to the requests in flight. */
static void enter_locked(struct request *r, bool writes) REQUIRES(r->fs->orders->lock)
{
	r->order.of = inode_ref(r->file->inode);
	r->order.freed = order_end;
	r->order.writes = writes;
	r->order.first = io_of(r)->offset / PAGE;
	r->order.last = (io_of(r)->offset + r->batch.data.len - 1) / PAGE;
	LIST_INSERT_HEAD(&r->order.of->order.under_way, r, order.link);
}

static bool meets_write_locked(const struct inode *ino, uint64_t first, uint64_t last)
{
	const struct order_gather *g;
	const struct request *w;

	LIST_FOREACH (g, &ino->order.gathering, link)
		if (g->first <= last && first <= g->last)
			return true;
	LIST_FOREACH (w, &ino->order.under_way, order.link)
		if (w->order.writes && meets(w, first, last))
			return true;
	return false;
}

static bool must_wait_locked(const struct request *r) REQUIRES(r->fs->orders->lock)
{
	return meets_write_locked(r->order.of, r->order.first, r->order.last);
}

/* A WRITE of these pages begins: marks the READs that the WRITE overtakes. */
static void overtake_locked(struct inode *ino, uint64_t first, uint64_t last)
{
	struct request *r;

	LIST_FOREACH (r, &ino->order.under_way, order.link)
		if (!r->order.writes && meets(r, first, last))
			atomic_store(&r->order.overtaken, true);
	atomic_fetch_add(&ino->order.writes, 1);
}

void order_write(struct request *r)
{
	struct orders *o = r->fs->orders;

	mutex_lock(&o->lock);
	enter_locked(r, true);
	overtake_locked(r->order.of, r->order.first, r->order.last);
	mutex_unlock(&o->lock);
	arrival_begins(r->fs->arrivals);
}

void order_gather_begin(
	struct fs *fs, struct inode *ino, uint64_t off, uint32_t len, struct order_gather *g)
{
	struct orders *o = fs->orders;

	g->of = inode_ref(ino);
	g->first = off / PAGE;
	g->last = (off + len - 1) / PAGE;
	mutex_lock(&o->lock);
	LIST_INSERT_HEAD(&ino->order.gathering, g, link);
	overtake_locked(ino, g->first, g->last);
	mutex_unlock(&o->lock);
	arrival_begins(fs->arrivals);
}

bool order_meets(struct fs *fs, struct inode *ino, uint64_t off, uint32_t len)
{
	bool any;

	if (!atomic_load(&ino->order.writes))
		return false;
	mutex_lock(&fs->orders->lock);
	any = meets_write_locked(ino, off / PAGE, (off + len - 1) / PAGE);
	mutex_unlock(&fs->orders->lock);
	return any;
}

/* Adds r to the requests in flight. True: r must wait, as far as is known. */
static bool begin_read(struct request *r)
{
	struct orders *o = r->fs->orders;
	bool waits;

	mutex_lock(&o->lock);
	if (!r->order.of)
		enter_locked(r, false);
	atomic_store(&r->order.overtaken, false);
	waits = must_wait_locked(r);
	mutex_unlock(&o->lock);
	return waits;
}

bool order_read_waits(struct request *r, request_step_fn *next)
{
	struct orders *o = r->fs->orders;
	bool waits, gone = false;

	/* a process that writes now had opened the file before the READ was sent */
	if ((!r->order.of && !atomic_load(&r->file->inode->opens.writers)) || !begin_read(r))
		return false;
	request_watch(r);
	r->order.next = next;
	mutex_lock(&o->lock);
	waits = must_wait_locked(r);
	/* order_end_gone() may have looked before r was in the list */
	gone = waits && request_is_gone(r);
	if (waits && !gone)
		TAILQ_INSERT_TAIL(&o->waiting, r, order.wait);
	r->order.waits = waits && !gone;
	mutex_unlock(&o->lock);
	if (gone)
		request_end(r, -EINTR);
	return waits;
}

bool order_overtaken(const struct request *r)
{
	return atomic_load(&r->order.overtaken);
}

static void stop_waiting_locked(struct orders *o, struct request *r, struct order_list *to)
	REQUIRES(o->lock)
{
	TAILQ_REMOVE(&o->waiting, r, order.wait);
	r->order.waits = false;
	TAILQ_INSERT_TAIL(to, r, order.wait);
}

/* A WRITE of ino has left: moves the READs that need not wait any more to ready. */
static void write_left_locked(struct orders *o, struct inode *ino, struct order_list *ready)
	REQUIRES(o->lock)
{
	struct request *r;

	atomic_fetch_sub(&ino->order.writes, 1);
	LIST_FOREACH (r, &ino->order.under_way, order.link)
		if (r->order.waits && !must_wait_locked(r))
			stop_waiting_locked(o, r, ready);
}

static void go_on(struct order_list *ready)
{
	struct request *r;

	while ((r = TAILQ_FIRST(ready))) {
		TAILQ_REMOVE(ready, r, order.wait);
		if (request_is_gone(r))
			request_end(r, -EINTR);
		else
			r->order.next(r);
	}
}

/* As request.order.freed: READs that wait for r go on. */
static void order_end(struct request *r)
{
	struct order_list ready = TAILQ_HEAD_INITIALIZER(ready);
	struct orders *o = r->fs->orders;
	struct inode *ino = r->order.of;

	mutex_lock(&o->lock);
	LIST_REMOVE(r, order.link);
	r->order.of = NULL;
	if (r->order.writes)
		write_left_locked(o, ino, &ready);
	mutex_unlock(&o->lock);
	go_on(&ready);
	inode_unref(ino);
}

void order_gather_end(struct fs *fs, struct order_gather *g)
{
	struct order_list ready = TAILQ_HEAD_INITIALIZER(ready);
	struct orders *o = fs->orders;

	mutex_lock(&o->lock);
	LIST_REMOVE(g, link);
	write_left_locked(o, g->of, &ready);
	mutex_unlock(&o->lock);
	go_on(&ready);
	inode_unref(g->of);
}

void order_end_gone(struct fs *fs)
{
	struct order_list gone = TAILQ_HEAD_INITIALIZER(gone);
	struct orders *o = fs->orders;
	struct request *r, *next;

	mutex_lock(&o->lock);
	for (r = TAILQ_FIRST(&o->waiting); r; r = next) {
		next = TAILQ_NEXT(r, order.wait);
		if (request_is_gone(r))
			stop_waiting_locked(o, r, &gone);
	}
	mutex_unlock(&o->lock);
	while ((r = TAILQ_FIRST(&gone))) {
		TAILQ_REMOVE(&gone, r, order.wait);
		request_end(r, -EINTR);
	}
}
