/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * making: notes of objects that CREATE, MKDIR, SYMLINK and MKNOD are about to make. The notes
 * outlive the server's process.
 */
#include "contrib/serve/ops/making.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "contrib/serve/state/record.h"
#include "transport/lock.h"
#include "transport/log.h"

#define NOTES 128 /* further operations at the same time are not noted */
#define MAGIC "rnfs-serve making 2"

enum note_state { NOTE_FREE, NOTE_UNDER_WAY, NOTE_LEFT };

struct note {
	_Atomic uint32_t state; /* enum note_state; stored last, cleared first */
	uint32_t type, name_len;
	uint64_t dev, ino;
	struct timespec mark, since;
	char name[NFS_NAME_MAX + 1];
};

struct notes {
	struct record_head head;
	struct note note[NOTES];
};

struct making {
	struct mutex lock;
	struct record record;
	struct notes *r PT_GUARDED_BY(lock);
};

/* Takes over the notes of the run before. */
static void take_over(struct making *m)
{
	m->r = m->record.map;
	for (unsigned i = 0; i < NOTES; i++) {
		struct note *n = &m->r->note[i];

		if (n->state != NOTE_FREE)
			n->state = n->name_len <= NFS_NAME_MAX ? NOTE_LEFT : NOTE_FREE;
	}
}

struct making *making_new(const char *path)
{
	struct making *m = calloc(1, sizeof(*m));
	int r = m ? record_open(&m->record, path, MAGIC, sizeof(*m->r)) : -ENOMEM;

	if (r < 0) {
		log_always_warn(
			"the record of what is being made cannot be kept as %s (%s): a client may "
			"be told EEXIST of what it made itself just before the server is killed",
			path, strerror(-r));
		free(m);
		return NULL;
	}
	mutex_init(&m->lock);
	take_over(m);
	return m;
}

struct making *making_free(struct making *m)
{
	if (!m)
		return NULL;
	mutex_destroy(&m->lock);
	for (unsigned i = 0; i < NOTES; i++)
		m->r->note[i].state = NOTE_FREE;
	record_close(&m->record);
	free(m);
	return NULL;
}

bool making_was_killed(const struct making *m)
{
	return m && m->record.was_killed;
}

/* A free note, or one of an earlier run that no client has claimed. */
static struct note *find_room_locked(struct making *m) REQUIRES(m->lock)
{
	struct note *left = NULL;

	for (unsigned i = 0; i < NOTES; i++) {
		struct note *n = &m->r->note[i];

		if (n->state == NOTE_FREE)
			return n;
		if (n->state == NOTE_LEFT)
			left = n;
	}
	return left;
}

int making_begin(struct making *m, const struct making_what *w)
{
	struct note *n;

	if (!m || w->name.len > NFS_NAME_MAX)
		return -1;
	mutex_lock(&m->lock);
	n = find_room_locked(m);
	if (n) {
		n->state = NOTE_FREE;
		n->type = w->type;
		n->dev = w->dev;
		n->ino = w->ino;
		n->mark = w->mark;
		n->name_len = w->name.len;
		memcpy(n->name, w->name.s, w->name.len);
		/* the clock of the kernel's times of birth */
		clock_gettime(CLOCK_REALTIME_COARSE, &n->since);
		atomic_store_explicit(&n->state, NOTE_UNDER_WAY, memory_order_release);
	}
	mutex_unlock(&m->lock);
	return n ? (int)(n - m->r->note) : -1;
}

static bool same_name(const struct note *n, const struct making_what *w)
{
	return n->dev == w->dev && n->ino == w->ino && n->name_len == w->name.len &&
	       memcmp(n->name, w->name.s, w->name.len) == 0;
}

/* The name is taken for good: strikes out all notes for the name. */
static void strike_out_locked(struct making *m, const struct making_what *w) REQUIRES(m->lock)
{
	for (unsigned i = 0; i < NOTES; i++) {
		struct note *n = &m->r->note[i];

		if (n->state != NOTE_FREE && same_name(n, w))
			n->state = NOTE_FREE;
	}
}

void making_end(struct making *m, int note, const struct making_what *w, bool made)
{
	struct note *n;

	if (!m)
		return;
	mutex_lock(&m->lock);
	if (made)
		strike_out_locked(m, w);
	n = note < 0 ? NULL : &m->r->note[note];
	/* another operation may have struck the note out, and a third may have the place by now */
	if (n && n->state == NOTE_UNDER_WAY && same_name(n, w) && n->type == w->type &&
		memcmp(&n->mark, &w->mark, sizeof(n->mark)) == 0)
		n->state = NOTE_FREE;
	mutex_unlock(&m->lock);
}

static bool equal(const struct statx_timestamp *a, const struct statx_timestamp *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Was the object with attributes st made after the note, and not touched by another operation? */
static bool made_for(const struct note *n, const struct statx *st)
{
	const struct statx_timestamp mark = {
		.tv_sec = n->mark.tv_sec, .tv_nsec = (uint32_t)n->mark.tv_nsec};

	if (!(st->stx_mask & STATX_BTIME) || st->stx_btime.tv_sec < n->since.tv_sec ||
		(st->stx_btime.tv_sec == n->since.tv_sec &&
			(int64_t)st->stx_btime.tv_nsec < n->since.tv_nsec))
		return false;
	return equal(&st->stx_atime, &mark) ||
	       (equal(&st->stx_atime, &st->stx_btime) && equal(&st->stx_mtime, &st->stx_btime));
}

bool making_claim(struct making *m, const struct making_what *w, const struct statx *st)
{
	bool claimed = false;

	if (!m)
		return false;
	mutex_lock(&m->lock);
	for (unsigned i = 0; i < NOTES && !claimed; i++) {
		const struct note *n = &m->r->note[i];

		claimed = n->state == NOTE_LEFT && same_name(n, w) && n->type == w->type &&
			  n->mark.tv_sec == w->mark.tv_sec && n->mark.tv_nsec == w->mark.tv_nsec &&
			  made_for(n, st);
	}
	if (claimed)
		strike_out_locked(m, w);
	mutex_unlock(&m->lock);
	return claimed;
}
