/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * repeat: READs that the kernel must send again.
 *
 * When did the kernel make a READ? Not earlier than QUEUED_NS before a worker has read the READ.
 * After an error the kernel sends READs of single pages, one after the other. So the mount keeps
 * records of the last RECORDS errors. The kernel has made the next READ of the same bytes after the
 * error, and the next READ of the same thread after the last answer to that thread. A record ends
 * RECORD_NS after that answer: the reader may have been killed, and then sends no READ.
 */
#include "fs/coherence/repeat.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "fs/known/file.h"
#include "fs/known/fs.h"
#include "fs/kernel/io.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

#define RECORDS	  32u
#define RECORD_NS (2 * NSEC_PER_SEC)
#define WAIT_NS	  (2 * NSEC_PER_SEC) /* the longest wait of a READ */
#define QUEUED_NS 20000000u	     /* the longest wait of a READ for a worker */
#define ERROR	  EINTR

struct record {
	const struct inode *of; /* only compared: the inode may be gone. NULL: free */
	uint64_t first, end;	/* bytes */
	uint64_t at;		/* of the error */
	pid_t tid;		/* the thread that got the error; 0: not known */
	uint64_t answered;	/* time of the last answer to the thread */
};

struct repeats {
	struct mutex lock; /* a leaf */
	struct record record[RECORDS] GUARDED_BY(lock);
	_Atomic uint64_t last; /* time of the last new or used record; 0: none */
	GUARDED_BY(lock) STAILQ_HEAD(repeat_queue, io_state) waiting;
	bool ticks GUARDED_BY(lock); /* the main thread looks again soon */
	bool ended GUARDED_BY(lock); /* no request waits any more */
};

struct repeats *repeats_new(void)
{
	struct repeats *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	mutex_init(&t->lock);
	STAILQ_INIT(&t->waiting);
	return t;
}

struct repeats *repeats_free(struct repeats *t)
{
	if (!t)
		return NULL;
	mutex_destroy(&t->lock);
	free(t);
	return NULL;
}

/* --- records ---------------------------------------------------------------------------------- */

static uint64_t end_of(const struct request *r)
{
	return io_of(r)->offset + r->batch.data.len;
}

static bool is_recent(const struct record *e, uint64_t now)
{
	return e->of && clock_age(now, e->answered) < RECORD_NS;
}

/* The earliest time at which the kernel may have made r. */
static uint64_t made(struct repeats *t, const struct request *r)
{
	uint64_t at = r->born - QUEUED_NS, off = io_of(r)->offset;

	mutex_lock(&t->lock);
	for (const struct record *e = t->record; e < t->record + RECORDS; e++) {
		if (e->of != r->file->inode || !is_recent(e, r->born))
			continue;
		if (e->first <= off && end_of(r) <= e->end && e->at < r->born && e->at > at)
			at = e->at;
		if (e->tid && e->tid == r->pid && e->answered < r->born && e->answered > at)
			at = e->answered;
	}
	mutex_unlock(&t->lock);
	return at;
}

static void record(struct repeats *t, const struct request *r)
{
	struct record *oldest = t->record;
	uint64_t now = clock_ns();

	mutex_lock(&t->lock);
	for (struct record *e = t->record; e < t->record + RECORDS; e++)
		if (e->answered < oldest->answered)
			oldest = e;
	*oldest = (struct record){r->file->inode, io_of(r)->offset, end_of(r), now, r->pid, now};
	atomic_store(&t->last, now);
	mutex_unlock(&t->lock);
}

void repeat_answers(struct fs *fs, const struct inode *ino, pid_t tid)
{
	struct repeats *t = fs->repeats;
	uint64_t now, last = atomic_load_explicit(&t->last, memory_order_relaxed);

	if (!last || !tid)
		return;
	now = clock_ns();
	if (clock_age(now, last) >= RECORD_NS) {
		atomic_compare_exchange_strong(&t->last, &last, 0);
		return;
	}
	mutex_lock(&t->lock);
	for (struct record *e = t->record; e < t->record + RECORDS; e++)
		if (e->of == ino && e->tid == tid) {
			e->answered = now;
			atomic_store(&t->last, now);
		}
	mutex_unlock(&t->lock);
}

/* --- READs ------------------------------------------------------------------------------------ */

bool repeat_must(const struct file *f, uint64_t end, uint64_t born, pid_t tid)
{
	struct believed_read read = {.tid = tid, .born = born, .since = born - QUEUED_NS};
	uint64_t until;

	return view_ignores_end(&f->inode->view, end, &read, &until);
}

bool repeat_is_outgrown(struct request *r, uint64_t end)
{
	struct inode *ino = r->file->inode;

	return (written_end(&ino->written) > end ||
		       (atomic_load(&ino->view.size) > end &&
			       !filechange_is_quiet(&ino->data.change, io_of(r)->sent))) &&
	       io_of(r)->again++ < REPEAT_ASKS;
}

/* The kernel ignores the end that the server has told to r. Asks the server again if there is more
 * to read. Otherwise ends r with an error, so that the kernel sends the READ again. */
static void refuse(struct request *r)
{
	if (repeat_is_outgrown(r, io_of(r)->repeat.end)) {
		r->next(r);
		return;
	}
	record(r->fs->repeats, r);
	request_end(r, -ERROR);
}

enum verdict { BELIEVES, IGNORES, NOT_YET };

/* BELIEVES: the kernel takes the answer as the end of the file. IGNORES: the kernel ignores the
 * end. By the next READ the kernel has handled all earlier answers, or r has waited for WAIT_NS.
 * NOT_YET: the kernel may still handle an earlier answer. */
static enum verdict judge(const struct request *r)
{
	struct believed_read read = {
		.tid = r->pid, .born = r->born, .since = io_of(r)->repeat.since};
	uint64_t until;

	if (!view_ignores_end(&r->file->inode->view, io_of(r)->repeat.end, &read, &until))
		return BELIEVES;
	return clock_ns() > until || clock_age(clock_ns(), io_of(r)->repeat.held) > WAIT_NS
		       ? IGNORES
		       : NOT_YET;
}

/* Ends the wait of r. */
static void go_on(struct request *r, enum verdict v)
{
	if (request_is_gone(r))
		request_end(r, -EINTR);
	else if (v == IGNORES)
		refuse(r);
	else
		r->next(r);
}

bool repeat_waits(struct request *r, uint32_t got, request_step_fn *next)
{
	struct repeats *t = r->fs->repeats;
	enum verdict v;
	bool waits;

	if (!repeat_must(r->file, io_of(r)->offset + got, r->born, r->pid))
		return false;
	io_of(r)->repeat.since = made(t, r);
	io_of(r)->repeat.end = io_of(r)->offset + got;
	if (!io_of(r)->repeat.held)
		io_of(r)->repeat.held = clock_ns();
	v = judge(r);
	if (v == BELIEVES)
		return false;
	nfs_read_let_go(&r->batch.first.op);
	r->next = next;
	mutex_lock(&t->lock);
	waits = v == NOT_YET && !t->ended;
	if (waits) {
		STAILQ_INSERT_TAIL(&t->waiting, io_of(r), queue);
		if (!t->ticks && eventfd_write(r->fs->wake_fd, 1))
			log_ctrl("eventfd: cannot wake the main thread");
		t->ticks = true;
	}
	mutex_unlock(&t->lock);
	if (!waits)
		refuse(r);
	return true;
}

/* --- READs that wait -------------------------------------------------------------------------- */

bool repeats_tick(struct fs *fs, bool all)
{
	struct repeat_queue looked = STAILQ_HEAD_INITIALIZER(looked);
	struct repeats *t = fs->repeats;
	struct io_state *io;
	enum verdict v;
	bool more;

	mutex_lock(&t->lock);
	t->ticks = false;
	t->ended |= all;
	STAILQ_CONCAT(&looked, &t->waiting);
	mutex_unlock(&t->lock);
	while ((io = STAILQ_FIRST(&looked))) {
		struct request *r = request_of_io(io);

		STAILQ_REMOVE_HEAD(&looked, queue);
		v = judge(r);
		if (v != NOT_YET || all || request_is_gone(r)) {
			go_on(r, v == BELIEVES ? v : IGNORES);
			continue;
		}
		mutex_lock(&t->lock);
		STAILQ_INSERT_TAIL(&t->waiting, io, queue);
		mutex_unlock(&t->lock);
	}
	mutex_lock(&t->lock);
	more = !STAILQ_EMPTY(&t->waiting);
	t->ticks |= more;
	mutex_unlock(&t->lock);
	return more;
}
