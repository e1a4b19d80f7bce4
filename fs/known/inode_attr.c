/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode_attr: attributes and rights of an inode: those known here, and those that the kernel
 * believes.
 */
#include "fs/known/inode.h"

#include "transport/clock.h"
#include "transport/hash.h"

/* --- known ------------------------------------------------------------------------------------ */

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* True: another client has changed the directory. Attributes that were asked for while this mount
 * changed the directory tell nothing. The first ones after that may hide a change by another
 * client. */
static bool note_version_locked(struct inode *dir, uint64_t change, uint64_t seen)
{
	uint64_t touched = atomic_load_explicit(&dir->touched, memory_order_relaxed);
	bool first = touched > dir->version_at || !dir->version_at;

	if (dir->naming || seen <= touched || seen < dir->version_at)
		return false;
	dir->version_at = dir->names_seen = seen;
	if (dir->version == change)
		return false;
	dir->version = change;
	/* not only names asked for before `seen`: the server may answer the later of two calls
	 * first */
	if (!first)
		dir->names_from = dir->foreign_at = clock_ns();
	return !first;
}

/* Is attr, which the server was asked for at `seen`, newer than the known attributes? If the server
 * was asked before those came, it may have answered the two calls in either order. Then the change
 * attribute tells which is newer, as far as it can. */
static bool is_news_locked(const struct inode *ino, const struct nfs_attr *attr, uint64_t seen)
{
	if (seen < ino->attr_from)
		return false;
	if (!ino->attr_seen || seen > ino->attr_came || attr->change == ino->attr.change)
		return seen >= ino->attr_seen;
	return attr->change > ino->attr.change;
}

bool inode_note_attr(struct inode *ino, const struct nfs_attr *attr, uint64_t seen, uint64_t alone)
{
	const struct nfs_attr *was = &ino->attr;
	bool lost = false, foreign, rights, ctime, own;

	pthread_mutex_lock(&ino->lock);
	if (is_news_locked(ino, attr, seen)) {
		ctime = !same_time(was->ctime, attr->ctime) || was->change != attr->change;
		if (ctime && ino->type == NFS_LNK)
			atomic_store(&ino->relinked, true);
		rights = was->mode != attr->mode || was->uid != attr->uid || was->gid != attr->gid;
		if ((ctime && (!alone || ino->attr_seen < alone)) || rights) {
			grants_drop(&ino->grants);
			if (seen > ino->rights_seen)
				ino->rights_seen = seen;
		}
		/* of times, for example, or of the owner to the same owner */
		own = atomic_load_explicit(&ino->touched, memory_order_relaxed) > ino->attr_seen;
		lost = (was->mode & ~attr->mode & 0111) || was->uid != attr->uid ||
		       was->gid != attr->gid ||
		       (ctime && !rights && !own && same_time(was->mtime, attr->mtime));
		ino->attr = *attr;
		ino->attr_seen = seen > ino->attr_seen ? seen : ino->attr_seen;
		ino->attr_asked = seen > ino->attr_asked ? seen : ino->attr_asked;
		ino->attr_came = clock_ns();
	}
	foreign = attr->type == NFS_DIR && note_version_locked(ino, attr->change, seen);
	lost = lost && attr->type == NFS_DIR;
	/* a name from the same answer as this version counts from names_from: inode_name_seen() */
	if (lost)
		ino->names_taken = clock_ns();
	else if (foreign)
		ino->names_taken = ino->names_from;
	pthread_mutex_unlock(&ino->lock);
	return lost || foreign;
}

/* Is a, which the server was asked for at `asked`, older than the known attributes, doubted or
 * not? */
static bool is_old_locked(const struct inode *ino, const struct nfs_attr *a, uint64_t asked)
{
	if (asked < ino->attr_asked)
		return ino->attr.change >= a->change;
	return ino->attr_seen && ino->attr.change > a->change;
}

bool inode_newer_attr(struct inode *ino, struct nfs_attr *a, uint64_t *asked)
{
	bool other = false;

	pthread_mutex_lock(&ino->lock);
	if (is_old_locked(ino, a, *asked)) {
		other = ino->attr.change != a->change || ino->attr.size != a->size;
		*a = ino->attr;
		*asked = ino->attr_asked;
	}
	pthread_mutex_unlock(&ino->lock);
	return other;
}

bool inode_has_attr(struct inode *ino)
{
	bool has;

	pthread_mutex_lock(&ino->lock);
	has = ino->attr_seen || ino->attr_from;
	pthread_mutex_unlock(&ino->lock);
	return has;
}

bool inode_attr_is_past(struct inode *ino, uint64_t asked)
{
	bool past;

	pthread_mutex_lock(&ino->lock);
	past = ino->attr_seen > asked || ino->attr_from > asked;
	pthread_mutex_unlock(&ino->lock);
	return past;
}

bool inode_known_attr(struct inode *ino, uint64_t since, struct nfs_attr *attr, uint64_t *seen)
{
	uint64_t touched = atomic_load_explicit(&ino->touched, memory_order_relaxed);
	bool known;

	pthread_mutex_lock(&ino->lock);
	known = ino->attr_seen > since && ino->attr_seen > touched && !written_dirty(&ino->written);
	*seen = ino->attr_seen;
	*attr = ino->attr;
	pthread_mutex_unlock(&ino->lock);
	return known;
}

bool inode_is_older(struct inode *ino, uint64_t since)
{
	bool older;

	pthread_mutex_lock(&ino->lock);
	/* of two answers that were under way at once either may be newer, unless both are of one
	 * page */
	older = ino->attr_seen <= since && ino->attr_from <= since && ino->rights_seen <= since &&
		(ino->attr_came <= since || ino->attr_seen == since);
	pthread_mutex_unlock(&ino->lock);
	return older && atomic_load_explicit(&ino->touched, memory_order_relaxed) < since &&
	       !written_dirty(&ino->written);
}

bool inode_known_dir(struct inode *dir, uint64_t since, struct nfs_attr *attr, uint64_t *seen)
{
	uint64_t listed;

	pthread_mutex_lock(&dir->lock);
	listed = dir->listed;
	pthread_mutex_unlock(&dir->lock);
	return inode_known_attr(dir, since, attr, seen) && *seen >= listed;
}

void inode_listing(struct inode *dir)
{
	pthread_mutex_lock(&dir->lock);
	dir->listed = clock_ns();
	pthread_mutex_unlock(&dir->lock);
}

void inode_note_removed(struct inode *ino)
{
	inode_touch(ino);
	if (ino->type == NFS_DIR)
		atomic_store(&ino->removed, true);
}

bool inode_removed_attr(struct inode *ino, struct nfs_attr *attr)
{
	if (!atomic_load(&ino->removed))
		return false;
	pthread_mutex_lock(&ino->lock);
	*attr = ino->attr;
	pthread_mutex_unlock(&ino->lock);
	attr->nlink = 0;
	return true;
}

uint32_t inode_mode(struct inode *ino, uint64_t *seen)
{
	uint32_t mode;

	pthread_mutex_lock(&ino->lock);
	mode = ino->attr.mode;
	*seen = ino->attr_seen;
	pthread_mutex_unlock(&ino->lock);
	return mode;
}

uint32_t inode_links(struct inode *ino)
{
	uint32_t links;

	pthread_mutex_lock(&ino->lock);
	links = ino->attr.nlink;
	pthread_mutex_unlock(&ino->lock);
	return links ? links : 1;
}

void inode_doubt_attr(struct inode *ino)
{
	pthread_mutex_lock(&ino->lock);
	ino->attr_seen = 0;
	ino->attr_from = clock_ns();
	pthread_mutex_unlock(&ino->lock);
}

void inode_doubt(struct inode *ino)
{
	inode_doubt_attr(ino);
	pthread_mutex_lock(&ino->lock);
	ino->rights_seen = clock_ns();
	grants_drop(&ino->grants);
	pthread_mutex_unlock(&ino->lock);
}

void inode_note_access(struct inode *ino, const struct rpc_cred *cred, uint32_t known,
	uint32_t allowed, uint64_t seen)
{
	pthread_mutex_lock(&ino->lock);
	if (seen >= ino->rights_seen)
		grant_put(&ino->grants, cred, known, allowed, seen);
	pthread_mutex_unlock(&ino->lock);
}

bool inode_known_access(struct inode *ino, const struct rpc_cred *cred, uint32_t want,
	uint64_t since, uint32_t *allowed)
{
	bool known;

	pthread_mutex_lock(&ino->lock);
	known = grant_get(&ino->grants, cred, want, since, allowed);
	pthread_mutex_unlock(&ino->lock);
	return known;
}

/* --- for how long ----------------------------------------------------------------------------- */

/* Attributes that have changed since the time-out was set get the shortest one. */
static unsigned timeout_locked(const struct inode *ino, unsigned min, unsigned max)
{
	bool taken = ino->timeout_at && ino->timeout_of == ino->attr.change;
	unsigned t = taken ? ino->timeout : min;

	return t < min ? min : t > max ? max : t;
}

unsigned inode_timeout(struct inode *ino, unsigned min, unsigned max)
{
	unsigned timeout;

	pthread_mutex_lock(&ino->lock);
	timeout = timeout_locked(ino, min, max);
	pthread_mutex_unlock(&ino->lock);
	return timeout;
}

unsigned inode_attr_timeout(struct inode *ino, uint64_t change, unsigned min, unsigned max)
{
	uint64_t now = clock_ns();
	unsigned timeout;

	if (min == max)
		return min;
	pthread_mutex_lock(&ino->lock);
	if (!ino->timeout_at || ino->timeout_of != change) {
		ino->timeout = min;
		ino->timeout_at = now;
	} else if (clock_age(now, ino->timeout_at) >= ino->timeout * UINT64_C(1000000000)) {
		ino->timeout = ino->timeout ? ino->timeout * 2 : 1;
		ino->timeout_at = now;
	}
	if (ino->timeout > max)
		ino->timeout = max;
	ino->timeout_of = change;
	timeout = ino->timeout;
	pthread_mutex_unlock(&ino->lock);
	return timeout;
}

/* --- told ------------------------------------------------------------------------------------- */

/* Has the kernel not forgotten attributes since told_times was that? */
static bool is_since_locked(const struct inode *ino, unsigned times)
{
	return (int)(times - ino->told_forgot) > 0;
}

/* May the kernel believe any attributes? */
static bool believes_locked(const struct inode *ino)
{
	return is_since_locked(ino, ino->told_lasting);
}

static void count_told_locked(struct inode *ino, uint64_t size, bool lasts)
{
	ino->told_times++;
	if (lasts) {
		ino->told_lasting = ino->told_times;
		return;
	}
	if (size != ino->passing_size)
		ino->passing_other_at = ino->passing_at;
	ino->passing_size = size;
	ino->passing_at = ino->told_times;
}

/* A sum of attributes that a change attribute made of coarse times (NFSv3) may hide. */
static uint64_t told_other(const struct nfs_attr *a)
{
	const uint64_t rest[] = {
		a->mode, a->uid, a->gid, (uint64_t)a->mtime.tv_sec, (uint64_t)a->mtime.tv_nsec};

	return hash_bytes(0, rest, sizeof(rest));
}

bool inode_shrinks(struct inode *ino, uint64_t size)
{
	bool less;

	pthread_mutex_lock(&ino->lock);
	less = believed_more(&ino->believed, size, clock_ns());
	pthread_mutex_unlock(&ino->lock);
	return less;
}

bool inode_attr_quiet(struct inode *ino)
{
	bool quiet;

	pthread_mutex_lock(&ino->lock);
	quiet = !ino->asking && believed_handled(&ino->believed, clock_ns());
	pthread_mutex_unlock(&ino->lock);
	return quiet;
}

void inode_heard(struct inode *ino, pid_t tid, uint64_t born)
{
	int listener = tid;

	atomic_compare_exchange_strong(&ino->listener, &listener, 0);
	pthread_mutex_lock(&ino->lock);
	believed_heard(&ino->believed, tid, born);
	pthread_mutex_unlock(&ino->lock);
}

void inode_cut_begin(struct inode *ino)
{
	pthread_mutex_lock(&ino->lock);
	believed_cut_begin(&ino->believed, clock_ns());
	pthread_mutex_unlock(&ino->lock);
}

void inode_cut_end(struct inode *ino, pid_t tid)
{
	pthread_mutex_lock(&ino->lock);
	believed_cut_end(&ino->believed, tid, clock_ns());
	pthread_mutex_unlock(&ino->lock);
}

bool inode_ignores_end(
	struct inode *ino, uint64_t end, const struct believed_read *read, uint64_t *until)
{
	bool ignores;

	pthread_mutex_lock(&ino->lock);
	ignores = believed_ignores(&ino->believed, end, read, clock_ns(), until);
	pthread_mutex_unlock(&ino->lock);
	return ignores;
}

bool inode_told(struct inode *ino, const struct nfs_attr *attr, uint64_t asked, uint64_t born,
	pid_t tid, unsigned writes, bool *lasts)
{
	bool old, in_vain;

	pthread_mutex_lock(&ino->lock);
	old = is_old_locked(ino, attr, asked) || atomic_load(&ino->told_writes) != writes;
	in_vain = born < ino->notified_at && ino->nopen;
	if (old || in_vain) {
		pthread_mutex_unlock(&ino->lock);
		*lasts = false;
		return !old;
	}
	*lasts = *lasts && asked >= ino->attr_from;
	if (*lasts && !believes_locked(ino)) {
		ino->told_more = false;
		ino->told_oldest = attr->change;
	} else if (atomic_load(&ino->told) != attr->change ||
		   atomic_load(&ino->told_size) != attr->size ||
		   ino->told_rest != told_other(attr)) {
		ino->told_more = true;
		if (attr->change < ino->told_oldest)
			ino->told_oldest = attr->change;
	}
	count_told_locked(ino, attr->size, *lasts);
	believed_told(&ino->believed, attr->size, born, tid, clock_ns());
	atomic_store(&ino->listener, tid);
	atomic_store(&ino->blank, false);
	atomic_store(&ino->told, attr->change);
	atomic_store(&ino->told_size, attr->size);
	ino->told_rest = told_other(attr);
	pthread_mutex_unlock(&ino->lock);
	atomic_store_explicit(&ino->end, attr->size, memory_order_relaxed);
	atomic_fetch_add_explicit(&ino->told_count, 1, memory_order_relaxed);
	return true;
}

unsigned inode_forgets(struct inode *ino)
{
	unsigned times;

	pthread_mutex_lock(&ino->lock);
	times = ino->told_times;
	believed_notifies(&ino->believed, clock_ns());
	pthread_mutex_unlock(&ino->lock);
	return times;
}

bool inode_must_forget(struct inode *ino)
{
	bool must;

	pthread_mutex_lock(&ino->lock);
	must = believes_locked(ino);
	pthread_mutex_unlock(&ino->lock);
	return must;
}

void inode_forgot(struct inode *ino, unsigned times, uint64_t began)
{
	pthread_mutex_lock(&ino->lock);
	if (began > ino->notified_at)
		ino->notified_at = began;
	believed_notified(&ino->believed, clock_ns());
	if ((int)(times - ino->told_forgot) > 0)
		ino->told_forgot = times;
	ino->told_more = believes_locked(ino);
	pthread_mutex_unlock(&ino->lock);
}

void inode_attr_asked(struct inode *ino)
{
	pthread_mutex_lock(&ino->lock);
	ino->asking++;
	pthread_mutex_unlock(&ino->lock);
}

void inode_attr_waits(struct inode *ino)
{
	pthread_mutex_lock(&ino->lock);
	ino->asking--;
	pthread_mutex_unlock(&ino->lock);
}

void inode_attr_answered(struct inode *ino, uint64_t born)
{
	pthread_mutex_lock(&ino->lock);
	ino->asking--;
	if (born > ino->notified_at)
		ino->answered_at = clock_ns();
	pthread_mutex_unlock(&ino->lock);
}

bool inode_end_spoils(struct inode *ino, uint64_t born, uint64_t sent)
{
	bool changes, any;

	pthread_mutex_lock(&ino->lock);
	changes = ino->notified_at < born && (ino->answered_at < born || ino->answered_at >= sent);
	any = ino->asking || ino->answered_at >= sent;
	pthread_mutex_unlock(&ino->lock);
	return changes && any;
}

/* A change attribute made of coarse times (NFSv3) does not show each change of size or mode. */
bool inode_told_this(struct inode *ino, const struct nfs_attr *attr)
{
	bool same;

	atomic_store_explicit(&ino->end, attr->size, memory_order_relaxed);
	pthread_mutex_lock(&ino->lock);
	same = believes_locked(ino) && !ino->told_more && atomic_load(&ino->told) == attr->change &&
	       atomic_load(&ino->told_size) == attr->size && ino->told_rest == told_other(attr);
	pthread_mutex_unlock(&ino->lock);
	return same;
}

bool inode_told_from(struct inode *ino, uint64_t change, uint64_t size)
{
	bool from;

	pthread_mutex_lock(&ino->lock);
	from = !believes_locked(ino) || ino->told_oldest > change ||
	       (ino->told_oldest == change && !ino->told_more &&
		       atomic_load(&ino->told_size) == size);
	pthread_mutex_unlock(&ino->lock);
	return from;
}

bool inode_told_size(struct inode *ino, uint64_t size)
{
	bool same;

	pthread_mutex_lock(&ino->lock);
	same = !is_since_locked(ino, ino->passing_at) ||
	       (!is_since_locked(ino, ino->passing_other_at) && ino->passing_size == size);
	pthread_mutex_unlock(&ino->lock);
	return same;
}

void inode_told_end(struct inode *ino, uint64_t end, pid_t tid)
{
	pthread_mutex_lock(&ino->lock);
	if (atomic_load(&ino->told_size) < end)
		atomic_store(&ino->told_size, end);
	atomic_fetch_add(&ino->told_writes, 1);
	believed_wrote(&ino->believed, end, tid, clock_ns());
	pthread_mutex_unlock(&ino->lock);
}

void inode_told_back(struct inode *ino)
{
	atomic_fetch_add(&ino->told_writes, 1);
}

void inode_told_cut(struct inode *ino, uint64_t size, pid_t tid)
{
	pthread_mutex_lock(&ino->lock);
	atomic_store(&ino->told_size, size);
	believed_cut(&ino->believed, size, tid, clock_ns());
	pthread_mutex_unlock(&ino->lock);
}

/* The attributes show that a name may be another file's: the file has no names left, or its ctime
 * moved when its mtime did not. (After a write both are the same.) */
static bool name_in_doubt(struct inode *ino, const struct nfs_attr *attr)
{
	if (attr->nlink == 0)
		return !atomic_load(&ino->is_silly);
	return atomic_load(&ino->told) != attr->change &&
	       (attr->ctime.tv_sec != attr->mtime.tv_sec ||
		       attr->ctime.tv_nsec != attr->mtime.tv_nsec);
}

bool inode_renew_name(struct inode *ino, const struct nfs_attr *attr, int pid)
{
	unsigned count = atomic_load(&ino->told_count);
	bool renew = name_in_doubt(ino, attr);

	if (!renew)
		return false;
	pthread_mutex_lock(&ino->lock);
	renew = ino->renamed_for != pid || ino->renamed_at != count;
	ino->renamed_for = pid;
	ino->renamed_at = count;
	pthread_mutex_unlock(&ino->lock);
	return renew;
}

void inode_renewing_name(struct inode *ino, int pid)
{
	pthread_mutex_lock(&ino->lock);
	ino->renamed_for = pid;
	ino->renamed_at = atomic_load(&ino->told_count);
	pthread_mutex_unlock(&ino->lock);
}
