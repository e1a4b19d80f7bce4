/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * retry: files that a thread is about to open again.
 */
#include "fs/file/retry.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "fs/known/fs.h"
#include "fs/file/opening.h"
#include "fs/file/silly.h"
#include "transport/clock.h"
#include "transport/lock.h"

#define PLACES 256u

struct hold {
	pid_t tid;
	struct inode *of; /* a reference; NULL: the place is free */
	uint64_t at;
};

struct retries {
	struct mutex lock;
	struct hold place[PLACES] GUARDED_BY(lock);
	atomic_uint held;
};

struct retries *retries_new(void)
{
	struct retries *t = calloc(1, sizeof(*t));

	if (t)
		mutex_init(&t->lock);
	return t;
}

struct retries *retries_free(struct retries *t)
{
	if (!t)
		return NULL;
	mutex_destroy(&t->lock);
	for (unsigned i = 0; i < PLACES; i++)
		inode_unref(t->place[i].of);
	free(t);
	return NULL;
}

/* Puts a hold into its place. Returns the hold that was there, which the caller ends. */
static struct hold put(struct retries *t, unsigned place, struct hold h)
{
	struct hold old;

	mutex_lock(&t->lock);
	old = t->place[place];
	t->place[place] = h;
	if (h.of)
		atomic_fetch_add(&t->held, 1);
	if (old.of)
		atomic_fetch_sub(&t->held, 1);
	mutex_unlock(&t->lock);
	return old;
}

/* Empties the place if its hold belongs to tid (0: to any thread), and began before `before`. */
static struct hold take(struct retries *t, unsigned place, pid_t tid, uint64_t before)
{
	struct hold h, none = {0};

	mutex_lock(&t->lock);
	h = t->place[place];
	if (h.of && (!tid || h.tid == tid) && h.at <= before) {
		t->place[place] = none;
		atomic_fetch_sub(&t->held, 1);
	} else {
		h = none;
	}
	mutex_unlock(&t->lock);
	return h;
}

static void end(struct fs *fs, struct hold h)
{
	if (!h.of)
		return;
	opening_end(fs, h.of);
	silly_drop(fs, h.of);
	inode_unref(h.of);
}

void retry_hold(struct fs *fs, pid_t tid, struct inode *ino)
{
	if (!tid)
		return;
	opening_begin(fs, ino);
	end(fs, put(fs->retries, (unsigned)tid % PLACES,
			(struct hold){tid, inode_ref(ino), clock_ns()}));
}

void retry_let_go(struct fs *fs, pid_t tid)
{
	if (tid && atomic_load(&fs->retries->held))
		end(fs, take(fs->retries, (unsigned)tid % PLACES, tid, UINT64_MAX));
}

void retries_tick(struct fs *fs, bool all)
{
	uint64_t before = clock_ns() - RETRY_HOLD_NS;

	for (unsigned i = 0; atomic_load(&fs->retries->held) && i < PLACES; i++)
		end(fs, take(fs->retries, i, 0, all ? UINT64_MAX : before));
}
