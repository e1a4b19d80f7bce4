/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * turn: a process that may be about to write, and smaller sizes that other processes are told.
 *
 * An inode keeps the last turn only (inode.turn): if several processes write to a file at once,
 * without a lock, no answer says how long the file is. Hearers, and requests that wait, are in
 * tables of the mount under one lock, a leaf. An inode counts the requests that wait for its turn
 * (inode.turn.waits), so that the end of a turn costs no lock where no request waits.
 */
#include "fs/kernel/turn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>

#include "fs/known/file.h"
#include "fs/known/fs.h"
#include "fs/kernel/process.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

#define TURN_NS	     NSEC_PER_SEC
#define WAIT_NS	     200000000u	  /* while no WRITE is in flight */
#define WAIT_MOST_NS NSEC_PER_SEC /* in any case */
#define HEARD_NS     200000000u
#define HEARERS_MAX  16u
#define UNKNOWN	     (-1)

struct hearer {
	const struct inode *of; /* only compared: the inode may be gone */
	pid_t tid;		/* 0: not known */
	uint64_t at;
};

STAILQ_HEAD(turn_list, request); /* by request.turn.link */

struct turns {
	struct mutex lock;
	struct turn_list waiting GUARDED_BY(lock);	    /* in turn_waits() */
	struct turn_list settling GUARDED_BY(lock);	    /* in turn_settles() */
	struct hearer hearer[HEARERS_MAX] GUARDED_BY(lock); /* oldest first */
	atomic_uint hearers;
	bool ticks GUARDED_BY(lock); /* the main thread looks again soon */
	bool ended GUARDED_BY(lock); /* no request waits any more */
};

struct turns *turns_new(void)
{
	struct turns *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	mutex_init(&t->lock);
	STAILQ_INIT(&t->waiting);
	STAILQ_INIT(&t->settling);
	return t;
}

struct turns *turns_free(struct turns *t)
{
	if (!t)
		return NULL;
	mutex_destroy(&t->lock);
	free(t);
	return NULL;
}

/* Puts r into a list, which the main thread looks at soon. */
static void enter_locked(struct turns *t, struct request *r, struct turn_list *list)
	REQUIRES(t->lock)
{
	STAILQ_INSERT_TAIL(list, r, turn.link);
	if (!t->ticks && eventfd_write(r->fs->wake_fd, 1))
		log_ctrl("eventfd: cannot wake the main thread");
	t->ticks = true;
}

/* --- turns ------------------------------------------------------------------------------------ */

void turn_begin(struct inode *ino, pid_t pid)
{
	atomic_store_explicit(&ino->turn.at, clock_ns(), memory_order_relaxed);
	atomic_store(&ino->turn.pid, pid ? pid : UNKNOWN);
}

/* Does thread pid belong to the process on turn? */
static bool is_same(pid_t turn, pid_t pid)
{
	return turn == (pid ? pid : UNKNOWN) || process_has_thread(turn, pid);
}

bool turn_forbids(struct inode *ino, pid_t pid, uint64_t size)
{
	pid_t turn = atomic_load(&ino->turn.pid);

	return turn && ino->type == NFS_REG && view_shrinks(&ino->view, size) &&
	       clock_age(clock_ns(), atomic_load(&ino->turn.at)) < TURN_NS && !is_same(turn, pid);
}

bool turn_waits(struct request *r, uint64_t size, request_step_fn *next)
{
	struct turns *t = r->fs->turns;
	struct inode *ino = r->inode;
	bool waits;

	if (r->turn.since || !turn_forbids(ino, r->pid, size))
		return false;
	r->next = next;
	r->turn.since = clock_ns();
	if (r->owed.asks)
		view_waits(&ino->view);
	mutex_lock(&t->lock);
	atomic_fetch_add(&ino->turn.waits, 1);
	/* 0: turn_end() has looked before r was in the list */
	waits = atomic_load(&ino->turn.pid) && !t->ended;
	if (waits)
		enter_locked(t, r, &t->waiting);
	else
		atomic_fetch_sub(&ino->turn.waits, 1);
	mutex_unlock(&t->lock);
	if (!waits && r->owed.asks)
		view_asked(&ino->view);
	return waits;
}

/* May r go on? */
typedef bool ready_fn(const struct request *r, const void *arg);

/* Moves the requests that are ready from a list to taken. True: others wait. */
static bool take(struct turns *t, struct turn_list *from, ready_fn *ready, const void *arg,
	struct turn_list *taken)
{
	struct turn_list all = STAILQ_HEAD_INITIALIZER(all);
	struct request *r;
	bool more;

	mutex_lock(&t->lock);
	STAILQ_CONCAT(&all, from);
	while ((r = STAILQ_FIRST(&all))) {
		STAILQ_REMOVE_HEAD(&all, turn.link);
		if (ready(r, arg))
			STAILQ_INSERT_TAIL(taken, r, turn.link);
		else
			STAILQ_INSERT_TAIL(from, r, turn.link);
	}
	more = !STAILQ_EMPTY(from);
	mutex_unlock(&t->lock);
	return more;
}

static void go_on(struct turn_list *taken)
{
	struct request *r;

	while ((r = STAILQ_FIRST(taken))) {
		STAILQ_REMOVE_HEAD(taken, turn.link);
		atomic_fetch_sub(&r->inode->turn.waits, 1);
		if (r->owed.asks)
			view_asked(&r->inode->view);
		if (request_is_gone(r))
			request_end(r, -EINTR);
		else
			r->next(r);
	}
}

static bool is_of(const struct request *r, const void *ino)
{
	return r->inode == ino;
}

void turn_end(struct fs *fs, struct inode *ino, pid_t pid)
{
	struct turn_list taken = STAILQ_HEAD_INITIALIZER(taken);
	pid_t turn = atomic_load(&ino->turn.pid);

	view_heard(&ino->view, pid, clock_ns());
	if (!turn || !is_same(turn, pid) ||
		!atomic_compare_exchange_strong(&ino->turn.pid, &turn, 0) ||
		!atomic_load(&ino->turn.waits))
		return;
	take(fs->turns, &fs->turns->waiting, is_of, ino, &taken);
	go_on(&taken);
}

static bool is_due(const struct request *r, const void *all)
{
	uint64_t age = clock_age(clock_ns(), r->turn.since);

	return *(const bool *)all || age >= WAIT_MOST_NS ||
	       (age >= WAIT_NS && !atomic_load(&r->inode->order.writes));
}

static bool is_gone(const struct request *r, const void *arg)
{
	return request_is_gone(r);
}

void turn_end_gone(struct fs *fs)
{
	struct turn_list gone = STAILQ_HEAD_INITIALIZER(gone);

	take(fs->turns, &fs->turns->waiting, is_gone, NULL, &gone);
	go_on(&gone);
}

/* --- hearers ---------------------------------------------------------------------------------- */

/* Removes hearer tid, and hearers that were told before `before`. True: at least one was
 * removed. */
static bool forget_locked(struct turns *t, pid_t tid, uint64_t before) REQUIRES(t->lock)
{
	unsigned was = atomic_load(&t->hearers), n = 0;

	for (unsigned i = 0; i < was; i++)
		if (t->hearer[i].tid != tid && t->hearer[i].at >= before)
			t->hearer[n++] = t->hearer[i];
	atomic_store(&t->hearers, n);
	return n < was;
}

static bool others_hear_locked(const struct turns *t, const struct inode *ino, pid_t tid)
	REQUIRES(t->lock)
{
	for (unsigned i = 0; i < atomic_load(&t->hearers); i++)
		if (t->hearer[i].of == ino && t->hearer[i].tid != tid)
			return true;
	return false;
}

/* Removes hearers that were told HEARD_NS ago, and threads that have ended. */
static void forget_done_locked(struct turns *t) REQUIRES(t->lock)
{
	forget_locked(t, UNKNOWN, clock_ns() - HEARD_NS);
	for (unsigned i = atomic_load(&t->hearers); i-- > 0;)
		if (t->hearer[i].tid && !process_exists(t->hearer[i].tid))
			forget_locked(t, t->hearer[i].tid, 0);
}

void turn_told(struct fs *fs, struct inode *ino, pid_t tid, uint64_t size)
{
	struct turns *t = fs->turns;
	unsigned n;

	if (ino->type != NFS_REG || !view_shrinks(&ino->view, size))
		return;
	mutex_lock(&t->lock);
	forget_locked(t, tid ? tid : UNKNOWN, clock_ns() - HEARD_NS);
	n = atomic_load(&t->hearers);
	if (n == HEARERS_MAX)
		memmove(t->hearer, t->hearer + 1, --n * sizeof(t->hearer[0]));
	t->hearer[n] = (struct hearer){ino, tid, clock_ns()};
	atomic_store(&t->hearers, n + 1);
	mutex_unlock(&t->lock);
}

/* Does r wait for no hearer, or must each request go on (*all)? */
static bool is_settled(const struct request *r, const void *all) REQUIRES(r->fs->turns->lock)
{
	return *(const bool *)all || !others_hear_locked(r->fs->turns, r->file->inode, r->pid);
}

/* Lets requests go on that wait for no hearer, or all. True: others wait. */
static bool settle(struct turns *t, bool all)
{
	struct turn_list settled = STAILQ_HEAD_INITIALIZER(settled);
	bool more = take(t, &t->settling, is_settled, &all, &settled);
	struct request *r;

	while ((r = STAILQ_FIRST(&settled))) {
		STAILQ_REMOVE_HEAD(&settled, turn.link);
		r->next(r);
	}
	return more;
}

void turn_heard(struct fs *fs, pid_t tid)
{
	struct turns *t = fs->turns;
	bool heard;

	if (!atomic_load(&t->hearers) || !tid)
		return;
	mutex_lock(&t->lock);
	heard = forget_locked(t, tid, 0);
	mutex_unlock(&t->lock);
	if (heard)
		settle(t, false);
}

bool turn_settles(struct request *r, request_step_fn *next)
{
	struct inode *ino = r->file->inode;
	struct turns *t = r->fs->turns;
	bool waits;

	if (!atomic_load(&t->hearers))
		return false;
	r->next = next;
	mutex_lock(&t->lock);
	if (others_hear_locked(t, ino, r->pid))
		forget_done_locked(t);
	waits = others_hear_locked(t, ino, r->pid) && !t->ended;
	if (waits)
		enter_locked(t, r, &t->settling);
	mutex_unlock(&t->lock);
	return waits;
}

bool turns_tick(struct fs *fs, bool all)
{
	struct turn_list due = STAILQ_HEAD_INITIALIZER(due);
	struct turns *t = fs->turns;
	bool more;

	mutex_lock(&t->lock);
	t->ticks = false;
	t->ended |= all;
	forget_done_locked(t);
	mutex_unlock(&t->lock);
	more = settle(t, all);
	more |= take(t, &t->waiting, is_due, &all, &due);
	go_on(&due);
	mutex_lock(&t->lock);
	t->ticks |= more;
	mutex_unlock(&t->lock);
	return more;
}
