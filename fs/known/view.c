/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * view: the attributes that the kernel was told, and may believe.
 */
#include "fs/known/view.h"

#include "transport/clock.h"
#include "transport/hash.h"

void view_init(struct view *v)
{
	mutex_init(&v->notifying);
	mutex_init(&v->lock);
}

void view_finish(struct view *v)
{
	mutex_destroy(&v->lock);
	mutex_destroy(&v->notifying);
}

/* Was the kernel told attributes number `times` (as view.times counts) after the last
 * invalidation? */
static bool is_since_locked(const struct view *v, unsigned times) REQUIRES(v->lock)
{
	return (int)(times - v->forgot) > 0;
}

static bool believes_locked(const struct view *v) REQUIRES(v->lock)
{
	return is_since_locked(v, v->lasting);
}

/* A sum of attributes that a change attribute made of coarse times (NFSv3) may hide. */
static uint64_t sum_of_rest(const struct nfs_attr *a)
{
	const uint64_t rest[] = {
		a->mode, a->uid, a->gid, (uint64_t)a->mtime.tv_sec, (uint64_t)a->mtime.tv_nsec};

	return hash_bytes(0, rest, sizeof(rest));
}

/* Was attr the last answer to the kernel? A change attribute made of coarse times (NFSv3) does not
 * show each change of size or mode. */
static bool is_last_locked(const struct view *v, const struct nfs_attr *attr) REQUIRES(v->lock)
{
	return atomic_load(&v->change) == attr->change && atomic_load(&v->size) == attr->size &&
	       v->rest == sum_of_rest(attr);
}

/* --- told ------------------------------------------------------------------------------------- */

static void count_told_locked(struct view *v, uint64_t size, bool lasts) REQUIRES(v->lock)
{
	v->times++;
	if (lasts) {
		v->lasting = v->times;
		return;
	}
	if (size != v->passing_size)
		v->passing_other_at = v->passing_at;
	v->passing_size = size;
	v->passing_at = v->times;
}

static void told_locked(struct view *v, const struct told *told, bool lasts) REQUIRES(v->lock)
{
	const struct nfs_attr *attr = told->attr;

	if (lasts && !believes_locked(v)) {
		v->several = false;
		v->oldest = attr->change;
	} else if (!is_last_locked(v, attr)) {
		v->several = true;
		if (attr->change < v->oldest)
			v->oldest = attr->change;
	}
	count_told_locked(v, attr->size, lasts);
	believed_told(&v->believed, told, clock_ns());
	atomic_store(&v->listener, told->tid);
	atomic_store(&v->blank, false);
	atomic_store(&v->change, attr->change);
	atomic_store(&v->size, attr->size);
	v->rest = sum_of_rest(attr);
}

bool view_told(struct view *v, struct attrs *known, const struct told *told, bool open, bool *lasts,
	bool *counts)
{
	uint64_t from;
	bool old;

	mutex_lock(&v->lock);
	old = attrs_is_old(known, told->attr, told->asked, &from) ||
	      atomic_load(&v->writes) != told->writes;
	*counts = !old && (told->born >= v->notified_at || !open);
	*lasts = *lasts && *counts && told->asked >= from;
	if (*counts)
		told_locked(v, told, *lasts);
	mutex_unlock(&v->lock);
	if (*counts)
		atomic_fetch_add_explicit(&v->count, 1, memory_order_relaxed);
	return !old;
}

void view_wrote(struct view *v, uint64_t end, pid_t tid)
{
	mutex_lock(&v->lock);
	if (atomic_load(&v->size) < end)
		atomic_store(&v->size, end);
	atomic_fetch_add(&v->writes, 1);
	believed_wrote(&v->believed, end, tid, clock_ns());
	mutex_unlock(&v->lock);
}

void view_wrote_back(struct view *v)
{
	atomic_fetch_add(&v->writes, 1);
}

void view_cut(struct view *v, uint64_t size, pid_t tid)
{
	mutex_lock(&v->lock);
	atomic_store(&v->size, size);
	believed_cut(&v->believed, size, tid, clock_ns());
	mutex_unlock(&v->lock);
}

void view_cut_begin(struct view *v)
{
	mutex_lock(&v->lock);
	believed_cut_begin(&v->believed, clock_ns());
	mutex_unlock(&v->lock);
}

void view_cut_end(struct view *v, pid_t tid)
{
	mutex_lock(&v->lock);
	believed_cut_end(&v->believed, tid, clock_ns());
	mutex_unlock(&v->lock);
}

void view_heard(struct view *v, pid_t tid, uint64_t born)
{
	int listener = tid;

	atomic_compare_exchange_strong(&v->listener, &listener, 0);
	mutex_lock(&v->lock);
	believed_heard(&v->believed, tid, born);
	mutex_unlock(&v->lock);
}

/* --- questions of the kernel ------------------------------------------------------------------ */

void view_asked(struct view *v)
{
	mutex_lock(&v->lock);
	v->asking++;
	mutex_unlock(&v->lock);
}

void view_waits(struct view *v)
{
	mutex_lock(&v->lock);
	v->asking--;
	mutex_unlock(&v->lock);
}

void view_answered(struct view *v, uint64_t born)
{
	mutex_lock(&v->lock);
	v->asking--;
	if (born > v->notified_at)
		v->answered_at = clock_ns();
	mutex_unlock(&v->lock);
}

/* --- notifications ---------------------------------------------------------------------------- */

unsigned view_notifies(struct view *v)
{
	unsigned times;

	mutex_lock(&v->lock);
	times = v->times;
	believed_notifies(&v->believed, clock_ns());
	mutex_unlock(&v->lock);
	return times;
}

void view_notified(struct view *v, unsigned times, uint64_t began)
{
	mutex_lock(&v->lock);
	if (began > v->notified_at)
		v->notified_at = began;
	believed_notified(&v->believed, clock_ns());
	if (is_since_locked(v, times))
		v->forgot = times;
	v->several = believes_locked(v);
	mutex_unlock(&v->lock);
}

/* --- beliefs of the kernel -------------------------------------------------------------------- */

bool view_believes(struct view *v)
{
	bool believes;

	mutex_lock(&v->lock);
	believes = believes_locked(v);
	mutex_unlock(&v->lock);
	return believes;
}

unsigned view_times(struct view *v)
{
	unsigned times;

	mutex_lock(&v->lock);
	times = v->times;
	mutex_unlock(&v->lock);
	return times;
}

bool view_still_believes(struct view *v, unsigned times)
{
	bool believes;

	mutex_lock(&v->lock);
	believes = believes_locked(v) && is_since_locked(v, times);
	mutex_unlock(&v->lock);
	return believes;
}

bool view_told_this(struct view *v, const struct nfs_attr *attr)
{
	bool same;

	mutex_lock(&v->lock);
	same = believes_locked(v) && !v->several && is_last_locked(v, attr);
	mutex_unlock(&v->lock);
	return same;
}

bool view_told_from(struct view *v, uint64_t change, uint64_t size)
{
	bool from;

	mutex_lock(&v->lock);
	from = !believes_locked(v) || v->oldest > change ||
	       (v->oldest == change && !v->several && atomic_load(&v->size) == size);
	mutex_unlock(&v->lock);
	return from;
}

bool view_told_size(struct view *v, uint64_t size)
{
	bool same;

	mutex_lock(&v->lock);
	same = !is_since_locked(v, v->passing_at) ||
	       (!is_since_locked(v, v->passing_other_at) && v->passing_size == size);
	mutex_unlock(&v->lock);
	return same;
}

bool view_shrinks(struct view *v, uint64_t size)
{
	bool less;

	mutex_lock(&v->lock);
	less = believed_more(&v->believed, size, clock_ns());
	mutex_unlock(&v->lock);
	return less;
}

bool view_is_quiet(struct view *v)
{
	bool quiet;

	mutex_lock(&v->lock);
	quiet = !v->asking && believed_handled(&v->believed, clock_ns());
	mutex_unlock(&v->lock);
	return quiet;
}

bool view_ignores_end(
	struct view *v, uint64_t end, const struct believed_read *read, uint64_t *until)
{
	bool ignores;

	mutex_lock(&v->lock);
	ignores = believed_ignores(&v->believed, end, read, clock_ns(), until);
	mutex_unlock(&v->lock);
	return ignores;
}

bool view_end_spoils(struct view *v, const struct believed_read *read)
{
	bool changes, any;

	mutex_lock(&v->lock);
	changes = v->notified_at < read->born &&
		  (v->answered_at < read->born || v->answered_at >= read->asked);
	any = v->asking || v->answered_at >= read->asked;
	mutex_unlock(&v->lock);
	return changes && any;
}

/* --- names ------------------------------------------------------------------------------------ */

/* Do the attributes show that a name may be another file's? The file has no names left, or its
 * ctime moved when its mtime did not. (After a write both are the same.) */
static bool name_in_doubt(struct view *v, const struct nfs_attr *attr, bool silly)
{
	if (attr->nlink == 0)
		return !silly;
	return atomic_load(&v->change) != attr->change &&
	       (attr->ctime.tv_sec != attr->mtime.tv_sec ||
		       attr->ctime.tv_nsec != attr->mtime.tv_nsec);
}

bool view_renew_name(struct view *v, const struct nfs_attr *attr, bool silly, int pid)
{
	unsigned count = atomic_load(&v->count);
	bool renew;

	if (!name_in_doubt(v, attr, silly))
		return false;
	mutex_lock(&v->lock);
	renew = v->renamed_for != pid || v->renamed_at != count;
	v->renamed_for = pid;
	v->renamed_at = count;
	mutex_unlock(&v->lock);
	return renew;
}

void view_renewing_name(struct view *v, int pid)
{
	mutex_lock(&v->lock);
	v->renamed_for = pid;
	v->renamed_at = atomic_load(&v->count);
	mutex_unlock(&v->lock);
}
