/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * written: the data that was written to one file, and the waits for the data (writeback.h).
 */
#include <assert.h>
#include <errno.h>

#include "cache/writeback_impl.h"
#include "transport/clock.h"
#include "transport/log.h"

/* After that many other verifiers WRITEs are stable. The WRITEs of several connections may tell of
 * one restart several times. */
#define UNSTEADY 4u
/* After that many COMMITs with another verifier during one wait, the wait ends with a loss. */
#define ROUNDS_MAX 8u
/* UNSTABLE data is committed when the last answer to a WRITE is COMMIT_IDLE_NS old, or when the
 * oldest such data is COMMIT_AGE_NS old. */
#define COMMIT_IDLE_NS (5 * NSEC_PER_SEC)
#define COMMIT_AGE_NS  (10 * NSEC_PER_SEC)

/* UNSTABLE data is to be written again, so every wait starts anew. The result of a COMMIT in flight
 * has no meaning for the waits any more. */
static void begin_again_locked(struct written *f) REQUIRES(f->lock)
{
	struct writeback_wait *w;

	TAILQ_FOREACH (w, &f->waits, link) {
		w->target = UINT64_MAX;
		w->commits = false;
	}
}

void written_init(struct written *f, const struct nfs_fh *fh, struct filedata *data)
{
	*f = (struct written){.fh = fh, .data = data};
	mutex_init(&f->lock);
	dirty_init(&f->dirty, NULL);
	TAILQ_INIT(&f->under_way);
	TAILQ_INIT(&f->waits);
}

void written_note(struct written *f, struct ledger *l, uint64_t id)
{
	f->dirty.ledger = l;
	f->dirty.id = id;
	filedata_note(f->data, l, id);
}

void written_finish(struct written *f)
{
	if (f->former.begun)
		dirty_cut_end(&f->dirty, &f->former.dirty, 0, 0);
	mutex_destroy(&f->lock);
	assert(TAILQ_EMPTY(&f->waits) && !f->listed);
	dirty_finish(&f->dirty);
}

bool written_overlaps(struct written *f, uint64_t off, uint64_t len)
{
	bool overlaps;

	mutex_lock(&f->lock);
	overlaps = dirty_overlaps(&f->dirty, off, len);
	mutex_unlock(&f->lock);
	return overlaps;
}

bool written_may_be_lost(struct written *f, uint64_t off, uint64_t len)
{
	uint64_t lost_at;
	bool may;

	if (!dirty_bytes(&f->dirty, DIRTY_UNSTABLE))
		return false;
	mutex_lock(&f->lock);
	lost_at = f->all ? atomic_load(&f->all->lost_at) : 0;
	may = lost_at && dirty_unstable_since(&f->dirty, off, len, lost_at);
	mutex_unlock(&f->lock);
	return may;
}

bool written_may_miss(struct written *f, uint64_t off, uint64_t len, uint64_t sent)
{
	return written_may_be_lost(f, off, len) || atomic_load(&f->redone_at) >= sent;
}

uint64_t written_lost_end(struct written *f)
{
	uint64_t lost_at, end;

	if (!dirty_bytes(&f->dirty, DIRTY_UNSTABLE))
		return 0;
	mutex_lock(&f->lock);
	lost_at = f->all ? atomic_load(&f->all->lost_at) : 0;
	end = lost_at ? dirty_unstable_end(&f->dirty, lost_at) : 0;
	mutex_unlock(&f->lock);
	return end;
}

bool written_is_one(struct written *f, bool whole)
{
	uint64_t fresh = dirty_bytes(&f->dirty, DIRTY_NEW), gen;
	bool one;

	mutex_lock(&f->lock);
	one = fresh && fresh <= f->all->wsize && !dirty_bytes(&f->dirty, DIRTY_WRITING) &&
	      !filedata_dirty(f->data, &gen);
	if (whole)
		one = one && !f->next_id && fresh == written_end(f) && fresh <= WHOLE_FILE_MAX;
	mutex_unlock(&f->lock);
	return one;
}

void written_join_locked(struct written *f, struct writeback *all) REQUIRES(f->lock)
{
	if (f->all)
		return;
	f->all = all;
	f->dirty.memory = &all->memory;
}

void written_list_locked(struct written *f) REQUIRES(f->lock)
{
	struct writeback *all = f->all;
	bool any = !RB_EMPTY(&f->dirty.tree);

	if (!all || any == f->listed)
		return;
	mutex_lock(&all->lock);
	if (any)
		LIST_INSERT_HEAD(&all->files, f, link);
	else
		LIST_REMOVE(f, link);
	f->listed = any;
	mutex_unlock(&all->lock);
}

/* The server may have lost bytes of f, and another client may have written in the same place: a
 * loss. */
static void give_up_locked(struct written *f) REQUIRES(f->lock)
{
	if (!f->dirty.given_up)
		return;
	log_always_error(
		"the server restarted before %llu bytes of a file were committed, and another "
		"client has changed the file: the bytes are not written again and may be lost",
		(unsigned long long)f->dirty.given_up);
	filedata_lost(f->data, -EIO);
	dirty_gave_up(&f->dirty);
	written_list_locked(f);
}

void written_cut(struct written *f, uint64_t off, uint64_t len, uint64_t since)
{
	if (!dirty_bytes(&f->dirty, DIRTY_UNSTABLE))
		return;
	mutex_lock(&f->lock);
	dirty_cut(&f->dirty, off, len, since);
	written_list_locked(f);
	mutex_unlock(&f->lock);
}

void written_cut_begin(struct written *f, struct written_cut *cut)
{
	cut->begun = dirty_bytes(&f->dirty, DIRTY_UNSTABLE);
	if (!cut->begun)
		return;
	mutex_lock(&f->lock);
	dirty_cut_begin(&f->dirty, &cut->dirty, clock_ns());
	mutex_unlock(&f->lock);
}

void written_cut_part(struct written *f, struct written_cut *cut, uint64_t off, uint64_t len)
{
	if (cut->begun)
		written_cut(f, off, len, cut->dirty.since);
}

bool written_cut_over(struct written *f, struct written_cut *cut, uint64_t off, uint64_t len)
{
	bool lost;

	if (!cut->begun)
		return false;
	cut->begun = false;
	mutex_lock(&f->lock);
	lost = f->dirty.lost;
	dirty_cut_end(&f->dirty, &cut->dirty, off, len);
	give_up_locked(f);
	if (lost)
		begin_again_locked(f);
	written_list_locked(f);
	mutex_unlock(&f->lock);
	return lost;
}

void writer_init(
	struct writer *by, struct written *to, struct nfs_open *open, const struct rpc_cred *cred)
{
	*by = (struct writer){.to = to, .open = open, .cred = cred};
}

void writeback_give_up(struct writer *by)
{
	struct written *f = by->to;
	uint64_t gen = filedata_told(f->data);

	if (!gen)
		return;
	mutex_lock(&f->lock);
	dirty_give_up(&f->dirty, &by->owner, gen);
	written_list_locked(f);
	if (!dirty_bytes(&f->dirty, DIRTY_UNSTABLE) && !dirty_bytes(&f->dirty, DIRTY_WRITING)) {
		filedata_given_up(f->data);
		f->stuck = false;
	}
	mutex_unlock(&f->lock);
}

bool writeback_close(struct writer *by)
{
	struct written *f = by->to;
	bool none;

	mutex_lock(&f->lock);
	dirty_forget(&f->dirty, &by->owner);
	written_list_locked(f);
	none = !by->owner.extents;
	mutex_unlock(&f->lock);
	return none;
}

/* --- a server that has restarted -------------------------------------------------------------- */

void written_all_sent_locked(struct written *f) REQUIRES(f->lock)
{
	struct writeback_wait *w;

	if (f->starved)
		return;
	TAILQ_FOREACH (w, &f->waits, link)
		if (w->target == UINT64_MAX)
			w->target = f->next_id;
}

bool written_is_unsteady_locked(const struct written *f) REQUIRES(f->lock)
{
	return f->others >= UNSTEADY;
}

uint64_t written_guard(const struct dirty_owner *by, uint64_t off, uint64_t len)
{
	const struct writer *w = (const struct writer *)by;

	return nfs_lock_guard(w->to->all->client, w->open, off, off + len - 1);
}

void written_redo_locked(struct written *f) REQUIRES(f->lock)
{
	uint64_t restarts = filedata_restarts(f->data);
	bool redone = false;

	begin_again_locked(f);
	f->others++;
	if (dirty_bytes(&f->dirty, DIRTY_UNSTABLE)) {
		/* before any data stops being UNSTABLE: written_may_miss() looks without the lock
		 */
		atomic_store(&f->redone_at, clock_ns());
		dirty_redo(&f->dirty, filechange_replaced(&f->data->change), written_guard);
		give_up_locked(f);
		redone = dirty_bytes(&f->dirty, DIRTY_NEW);
	}
	/* behind the changes of the extents, whose notes must not tell of the new verifier */
	filedata_redone(f->data, restarts);
	if (!redone)
		return;
	log_warn("the server restarted before data of a file was committed: it is written again");
	writeback_count(&f->all->stats.rewritten, 1);
}

bool written_restarted(enum filedata_verf is)
{
	if (is == FILEDATA_LOST)
		log_always_error("the server restarted before data of a file was committed: data "
				 "written by O_DIRECT, appended or copied may be lost");
	return is != FILEDATA_SAME;
}

/* --- COMMITs without a waiting program -------------------------------------------------------- */

void written_keeps_locked(struct written *f) REQUIRES(f->lock)
{
	f->kept_last = clock_ns();
	if (!dirty_bytes(&f->dirty, DIRTY_UNSTABLE))
		f->kept_since = f->kept_last;
}

bool written_is_old_locked(const struct written *f) REQUIRES(f->lock)
{
	uint64_t now = clock_ns();

	return !f->stuck &&
	       (f->kept_last + COMMIT_IDLE_NS <= now || f->kept_since + COMMIT_AGE_NS <= now);
}

bool written_commits_locked(struct written *f) REQUIRES(f->lock)
{
	if (f->committing || !dirty_bytes(&f->dirty, DIRTY_UNSTABLE))
		return false;
	f->committing = true;
	return true;
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* w does not wait any more: no WRITE reports to w. */
static void forget_locked(struct written *f, const struct writeback_wait *w) REQUIRES(f->lock)
{
	struct writeout *x;

	if (w->then)
		TAILQ_FOREACH (x, &f->under_way, link)
			if (x->waiter == w)
				x->waiter = NULL;
}

static void wait_ends_locked(
	struct written *f, struct writeback_wait *w, struct writeback_waits *done) REQUIRES(f->lock)
{
	TAILQ_REMOVE(&f->waits, w, link);
	w->waits = false;
	forget_locked(f, w);
	TAILQ_INSERT_TAIL(done, w, link);
}

/* A COMMIT with gen has failed, or has made all data safe. Ends the waits that need the COMMIT. */
static void committed_locked(struct written *f, uint64_t gen, struct writeback_waits *done)
	REQUIRES(f->lock)
{
	struct writeback_wait *w, *next;

	for (w = TAILQ_FIRST(&f->waits); w; w = next) {
		next = TAILQ_NEXT(w, link);
		if (w->commits && w->need <= gen)
			wait_ends_locked(f, w, done);
	}
}

void written_tell(struct writeback_waits *done)
{
	struct writeback_wait *w;

	while ((w = TAILQ_FIRST(done))) {
		TAILQ_REMOVE(done, w, link);
		w->ready(w);
	}
}

enum commit_refused written_refused(struct written *f, struct rpc_cred *by)
{
	struct writeback_wait *w, *next = NULL;
	bool any = false;

	mutex_lock(&f->lock);
	TAILQ_FOREACH (w, &f->waits, link) {
		if (!w->commits)
			continue;
		any = true;
		w->refused |= !w->cred || rpc_same_cred(w->cred, by);
		if (!next && !w->refused)
			next = w;
	}
	if (next)
		*by = *next->cred;
	if (!any) {
		f->committing = false;
		f->stuck = true;
	}
	mutex_unlock(&f->lock);
	return next ? COMMIT_AGAIN : any ? COMMIT_NEVER : COMMIT_LATER;
}

void written_committed(struct written *f, uint64_t gen, bool failed, bool redo)
{
	struct writeback_waits done = TAILQ_HEAD_INITIALIZER(done);
	struct writeback_wait *w;

	mutex_lock(&f->lock);
	f->committing = false;
	f->stuck = failed;
	if (redo) {
		TAILQ_FOREACH (w, &f->waits, link)
			w->rounds++;
		written_redo_locked(f);
	} else {
		if (!failed) {
			dirty_committed(&f->dirty, gen);
			f->kept_since = clock_ns(); /* the rest became UNSTABLE meanwhile */
			f->others = 0;
		}
		committed_locked(f, gen, &done);
	}
	written_list_locked(f);
	mutex_unlock(&f->lock);
	written_tell(&done);
}

/* True: the wait of w is over. Sets w->commits if a COMMIT is needed. */
static bool is_done_locked(struct written *f, struct writeback_wait *w) REQUIRES(f->lock)
{
	const struct writeout *first = TAILQ_FIRST(&f->under_way);

	if (w->rounds >= ROUNDS_MAX) {
		filedata_lost(f->data, -EIO);
		return true;
	}
	if (w->commits || w->target == UINT64_MAX || (first && first->id < w->target))
		return false;
	if (w->level != STABLE)
		return true;
	if (f->dirty.lost)
		return false;
	if (!filedata_dirty(f->data, &w->need))
		return true;
	/* stable WRITEs have made all safe, and the answer to a COMMIT would bring no news */
	if (written_is_unsteady_locked(f) && !dirty_bytes(&f->dirty, DIRTY_UNSTABLE) &&
		!filedata_at_risk(f->data))
		return true;
	w->commits = true;
	return false;
}

bool written_look(struct written *f, struct writeback_waits *done)
{
	struct writeback *all = f->all;
	struct writeback_wait *w, *next;
	bool commit = false;

	mutex_lock(&f->lock);
	for (w = TAILQ_FIRST(&f->waits); w; w = next) {
		next = TAILQ_NEXT(w, link);
		if (is_done_locked(f, w)) {
			wait_ends_locked(f, w, done);
		} else if (w->commits && !f->committing) {
			commit = true;
		}
	}
	if (written_is_unsteady_locked(f) && RB_EMPTY(&f->dirty.tree) && filedata_safe(f->data))
		f->others = 0;
	/* kept data takes room that other files may need soon */
	if (!f->committing && !commit && !f->stuck &&
		atomic_load_explicit(&all->used, memory_order_relaxed) > all->limit / 2 &&
		dirty_bytes(&f->dirty, DIRTY_UNSTABLE) >= all->limit / 8)
		commit = true;
	f->committing |= commit;
	mutex_unlock(&f->lock);
	return commit;
}

bool writeback_unwait(struct written *f, struct writeback_wait *w)
{
	bool waited;

	mutex_lock(&f->lock);
	waited = w->waits;
	w->waits = false;
	if (waited) {
		TAILQ_REMOVE(&f->waits, w, link);
		forget_locked(f, w);
	}
	mutex_unlock(&f->lock);
	return waited;
}
