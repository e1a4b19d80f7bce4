/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * filechange: tells changes of a file by this mount from changes by another client.
 */
#include "cache/filechange.h"

#include <stdlib.h>

#include "transport/clock.h"

#define LINKS_MAX 64u /* WRITEs that may be answered before an earlier WRITE is */

struct filechange_links {
	unsigned n;
	struct link {
		struct fileversion before, after;
	} link[LINKS_MAX];
};

static const struct filesizes no_sizes = {.least = UINT64_MAX};

void filechange_init(struct filechange *f)
{
	*f = (struct filechange){
		.dropping = 1, .dropped = 1, .sizes = no_sizes, .answered = no_sizes};
	atomic_init(&f->touched, 0);
	atomic_init(&f->touching, 0);
	atomic_init(&f->foreign, 0);
	atomic_init(&f->replaced, 0);
	mutex_init(&f->lock);
}

void filechange_finish(struct filechange *f)
{
	mutex_destroy(&f->lock);
	free(f->links);
}

static bool same(const struct fileversion *a, const struct fileversion *b)
{
	return a->change == b->change && a->size == b->size;
}

/* Servers say that change attributes grow. An attribute made from a coarse time may stay the same
 * while the file grows. */
static bool newer(const struct fileversion *a, const struct fileversion *b)
{
	return a->change > b->change || (a->change == b->change && a->size > b->size);
}

static void sizes_add(struct filesizes *s, const struct fileversion *v)
{
	if (v->change != s->change)
		*s = (struct filesizes){v->change, v->size, v->size};
	s->least = v->size < s->least ? v->size : s->least;
	s->most = v->size > s->most ? v->size : s->most;
}

static bool sizes_have(const struct filesizes *s, const struct fileversion *v)
{
	return v->change == s->change && v->size >= s->least && v->size <= s->most;
}

static void move_locked(struct filechange *f, const struct fileversion *v) REQUIRES(f->lock)
{
	f->version = *v;
	sizes_add(&f->sizes, v);
}

static void set_locked(struct filechange *f, const struct fileversion *v, uint64_t asked)
	REQUIRES(f->lock)
{
	move_locked(f, v);
	if (f->answered.change == v->change && f->answered.least <= f->answered.most) {
		sizes_add(&f->sizes, &(struct fileversion){v->change, f->answered.least});
		sizes_add(&f->sizes, &(struct fileversion){v->change, f->answered.most});
	}
	f->asked = asked;
	f->came = clock_ns();
	f->known = true;
}

/* Another client has changed the file. A server's loss of changes does not explain the change if v
 * is no older than `known` and no earlier state of the same tick. */
static void foreign_locked(struct filechange *f, const struct fileversion *known,
	const struct fileversion *v) REQUIRES(f->lock)
{
	uint64_t now = clock_ns();

	atomic_store(&f->foreign, now);
	if (!v || v->change < known->change || sizes_have(&f->sizes, v))
		return;
	atomic_store(&f->replaced, now);
	f->sizes = f->answered = no_sizes;
}

/* The server, asked later than for the known version, tells the older v. */
static void undo_locked(struct filechange *f, const struct fileversion *v) REQUIRES(f->lock)
{
	if (!newer(&f->version, v))
		return;
	if (newer(&f->version, &f->undone))
		f->undone = f->version;
	f->undone_at = clock_ns();
}

/* The cached data is not, or may not be, of the known version. */
static void stale_locked(struct filechange *f) REQUIRES(f->lock)
{
	f->whole = false;
	atomic_fetch_add(&f->dropping, 1);
}

/* Has this mount changed the file other than by WRITE after `since`? Or is such a change in
 * flight? */
static bool touched_since(const struct filechange *f, uint64_t since)
{
	return atomic_load(&f->touching) || atomic_load(&f->touched) > since;
}

/* --- WRITEs of this mount --------------------------------------------------------------------- */

void filechange_begin(struct filechange *f)
{
	mutex_lock(&f->lock);
	if (!f->pending) {
		f->begun = 0;
		f->blind = f->unproved = f->counted = false;
		f->first = f->version;
		f->began = clock_ns();
	}
	f->pending++;
	f->begun++;
	f->wrote = clock_ns();
	mutex_unlock(&f->lock);
}

/* Appends links to the end of the chain, as long as one fits. */
static void extend_locked(struct filechange *f) REQUIRES(f->lock)
{
	struct filechange_links *l = f->links;

	for (unsigned i = 0; l && i < l->n;) {
		if (!same(&l->link[i].before, &f->version)) {
			i++;
			continue;
		}
		move_locked(f, &l->link[i].after);
		l->link[i] = l->link[--l->n];
		i = 0;
	}
}

/* A WRITE turned version `before` into `after`. Two equal versions tell nothing: many WRITEs may
 * fall into one tick of the server's clock. */
static void join_locked(struct filechange *f, const struct fileversion *before,
	const struct fileversion *after) REQUIRES(f->lock)
{
	if (same(before, after))
		return;
	if (same(before, &f->version)) {
		move_locked(f, after);
		extend_locked(f);
		return;
	}
	if (!f->links)
		f->links = calloc(1, sizeof(*f->links));
	if (!f->links || f->links->n == LINKS_MAX)
		f->blind = true;
	else
		f->links->link[f->links->n++] = (struct link){*before, *after};
}

static void newest_locked(struct filechange *f, const struct fileversion *v) REQUIRES(f->lock)
{
	bool first = !(f->unproved || f->counted);

	if (first || v->change >= f->newest.change)
		sizes_add(&f->answered, v);
	if (first || newer(v, &f->newest))
		f->newest = *v;
}

static void take_locked(struct filechange *f, const struct nfs_data_attr *a) REQUIRES(f->lock)
{
	const struct fileversion after = {a->change, a->size};
	const struct fileversion before = {a->before_change, a->before_size};

	if (a->have_before && f->known) {
		join_locked(f, &before, &after);
		return;
	}
	newest_locked(f, &after);
	if (a->counted && f->known)
		f->counted = true;
	else
		f->unproved = true;
}

/* No WRITE is in flight any more, and links remain. Takes the newest version at the end of a
 * link. */
static void gap_locked(struct filechange *f) REQUIRES(f->lock)
{
	for (unsigned i = 0; i < f->links->n; i++)
		if (newer(&f->links->link[i].after, &f->version))
			f->version = f->links->link[i].after;
}

/* May WRITEs of the group have made v within one tick of the server's clock? They have made the
 * file longer, in any order. */
static bool is_within(const struct filechange *f, const struct fileversion *v) REQUIRES(f->lock)
{
	return v->change == f->version.change && v->size >= f->first.size &&
	       v->size <= f->version.size;
}

/* The version that another client left where the chain has a gap. No WRITE of this mount made the
 * version, and the version is no older than the end of the chain. NULL: each gap may come from a
 * server's loss of changes. */
static const struct fileversion *gap_from_locked(const struct filechange *f) REQUIRES(f->lock)
{
	const struct filechange_links *l = f->links;

	for (unsigned i = 0; l && i < l->n; i++) {
		const struct fileversion *before = &l->link[i].before;
		bool made = before->change < f->version.change || sizes_have(&f->sizes, before) ||
			    is_within(f, before);

		for (unsigned k = 0; k < l->n && !made; k++)
			made = same(before, &l->link[k].after);
		if (!made)
			return before;
	}
	return NULL;
}

/* The verdict on all WRITEs since the last moment without any. Sets the version and frees the
 * links. */
static enum filechange_by judge_locked(struct filechange *f, uint64_t alone) REQUIRES(f->lock)
{
	const struct fileversion *from = gap_from_locked(f);
	struct fileversion known = f->version, left = from ? *from : f->newest;
	bool gap = f->links && f->links->n, chain = !f->unproved && !f->counted;
	bool touched = touched_since(f, f->asked);
	uint64_t grown = f->newest.change - f->first.change;

	if (gap)
		gap_locked(f);
	free(f->links);
	f->links = NULL;
	if (!chain && (same(&f->version, &f->first) || newer(&f->newest, &f->version)))
		f->version = f->newest;
	if (f->blind) {
		atomic_store(&f->touched, f->wrote); /* the next look tells the present version */
		return FILECHANGE_ASSUMED;
	}
	if ((chain && !gap) || (alone && alone <= f->began && !touched))
		return FILECHANGE_OURS;
	if (touched || f->unproved)
		return FILECHANGE_ASSUMED;
	if (gap || grown > f->begun) {
		foreign_locked(f, &known, gap && !from ? NULL : &left);
		return FILECHANGE_FOREIGN;
	}
	/* less: the server claims to count changes, but does not */
	return grown == f->begun ? FILECHANGE_OURS : FILECHANGE_ASSUMED;
}

enum filechange_by filechange_end(
	struct filechange *f, const struct nfs_data_attr *a, uint64_t alone)
{
	enum filechange_by by = FILECHANGE_PENDING;

	mutex_lock(&f->lock);
	f->wrote = clock_ns();
	if (a && a->have)
		take_locked(f, a);
	else
		f->blind = true;
	if (--f->pending == 0) {
		by = judge_locked(f, alone);
		if (by != FILECHANGE_OURS)
			stale_locked(f);
		if (!f->blind) {
			set_locked(f, &f->version, f->wrote);
			f->told = f->wrote;
		}
	}
	mutex_unlock(&f->lock);
	return by;
}

void filechange_touch(struct filechange *f)
{
	atomic_store(&f->touched, clock_ns());
}

void filechange_touch_begin(struct filechange *f)
{
	atomic_fetch_add(&f->touching, 1);
	filechange_touch(f);
}

void filechange_touch_end(struct filechange *f)
{
	filechange_touch(f);
	atomic_fetch_sub(&f->touching, 1);
}

/* --- answers to operations without effect ----------------------------------------------------- */

static enum filechange_by look_locked(
	struct filechange *f, const struct fileversion *v, uint64_t asked) REQUIRES(f->lock)
{
	bool touching = atomic_load(&f->touching) || atomic_load(&f->touched) >= asked;
	bool touched = touched_since(f, f->asked);
	enum filechange_by by;

	if (asked > f->told)
		f->told = asked;
	if (!f->known) {
		set_locked(f, v, asked);
		stale_locked(f);
		return FILECHANGE_NONE;
	}
	if (same(v, &f->version))
		return FILECHANGE_NONE;
	if (f->pending || f->wrote >= asked || touching)
		return FILECHANGE_PENDING;
	if (asked <= f->came && !newer(v, &f->version))
		return FILECHANGE_NONE;
	if (asked <= f->undone_at && !newer(v, &f->undone))
		return FILECHANGE_PENDING;
	undo_locked(f, v);
	by = touched ? FILECHANGE_ASSUMED : FILECHANGE_FOREIGN;
	stale_locked(f);
	if (by == FILECHANGE_FOREIGN)
		foreign_locked(f, &f->version, v);
	set_locked(f, v, asked > f->asked ? asked : f->asked);
	return by;
}

enum filechange_by filechange_look(
	struct filechange *f, const struct fileversion *v, uint64_t asked)
{
	enum filechange_by by;

	mutex_lock(&f->lock);
	by = look_locked(f, v, asked);
	mutex_unlock(&f->lock);
	return by;
}

uint64_t filechange_open(struct filechange *f, const struct fileversion *v, uint64_t asked)
{
	uint64_t dropping;

	mutex_lock(&f->lock);
	look_locked(f, v, asked);
	dropping = f->whole && same(v, &f->version) ? 0 : f->dropping;
	mutex_unlock(&f->lock);
	return dropping;
}

void filechange_cleared(struct filechange *f, uint64_t dropping)
{
	mutex_lock(&f->lock);
	if (dropping > f->dropped)
		f->dropped = dropping;
	mutex_unlock(&f->lock);
}

void filechange_dropped(struct filechange *f, uint64_t dropping)
{
	mutex_lock(&f->lock);
	if (dropping == f->dropping)
		f->whole = true;
	mutex_unlock(&f->lock);
}

uint64_t filechange_open_alone(struct filechange *f)
{
	uint64_t dropping;

	mutex_lock(&f->lock);
	dropping = f->whole ? 0 : f->dropping;
	mutex_unlock(&f->lock);
	return dropping;
}

bool filechange_newest(struct filechange *f, bool writes, struct fileversion *v)
{
	bool known;

	mutex_lock(&f->lock);
	*v = f->version;
	known = f->known && !touched_since(f, f->asked) && (writes || !f->pending);
	if (f->pending && (f->unproved || f->counted) && f->newest.size > v->size)
		v->size = f->newest.size;
	mutex_unlock(&f->lock);
	return known;
}

uint64_t filechange_size(struct filechange *f)
{
	uint64_t size;

	mutex_lock(&f->lock);
	size = f->known ? f->version.size : 0;
	mutex_unlock(&f->lock);
	return size;
}

bool filechange_is_old(struct filechange *f, uint64_t since)
{
	bool old;

	mutex_lock(&f->lock);
	old = f->told < since || !f->told;
	mutex_unlock(&f->lock);
	return old;
}

bool filechange_was_foreign(const struct filechange *f, uint64_t since)
{
	uint64_t foreign = atomic_load_explicit(&f->foreign, memory_order_relaxed);

	return foreign && foreign > since;
}

bool filechange_is_quiet(struct filechange *f, uint64_t since)
{
	bool quiet;

	mutex_lock(&f->lock);
	quiet = !f->pending && f->wrote < since;
	mutex_unlock(&f->lock);
	return quiet;
}
