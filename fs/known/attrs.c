/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * attrs: attributes of a file as the server told them, and rights.
 */
#include "fs/known/attrs.h"

#include "transport/clock.h"

void attrs_init(struct attrs *a)
{
	mutex_init(&a->lock);
	grants_init(&a->grants);
}

void attrs_finish(struct attrs *a)
{
	grants_drop(&a->grants);
	mutex_destroy(&a->lock);
}

void attrs_touch(struct attrs *a)
{
	atomic_store_explicit(&a->touched, clock_ns(), memory_order_relaxed);
}

uint64_t attrs_touched(const struct attrs *a)
{
	return atomic_load_explicit(&a->touched, memory_order_relaxed);
}

/* --- answers of the server -------------------------------------------------------------------- */

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_news_locked(const struct attrs *a, const struct nfs_attr *attr, uint64_t seen)
	REQUIRES(a->lock)
{
	if (seen < a->from)
		return false;
	if (!a->seen || seen > a->came || attr->change == a->attr.change)
		return seen >= a->seen;
	return attr->change > a->attr.change;
}

bool attrs_note(struct attrs *a, const struct told *told)
{
	const struct nfs_attr *was = &a->attr, *attr = told->attr;
	uint64_t seen = told->asked, alone = told->alone;
	bool lost = false, rights, ctime, own;

	mutex_lock(&a->lock);
	if (is_news_locked(a, attr, seen)) {
		ctime = !same_time(was->ctime, attr->ctime) || was->change != attr->change;
		if (ctime && attr->type == NFS_LNK)
			atomic_store(&a->relinked, true);
		rights = was->mode != attr->mode || was->uid != attr->uid || was->gid != attr->gid;
		if ((ctime && (!alone || a->seen < alone)) || rights) {
			grants_drop(&a->grants);
			if (seen > a->rights_seen)
				a->rights_seen = seen;
		}
		/* a change of times, for example, or of the owner to the same owner */
		own = attrs_touched(a) > a->seen;
		lost = (was->mode & ~attr->mode & 0111) || was->uid != attr->uid ||
		       was->gid != attr->gid ||
		       (ctime && !rights && !own && same_time(was->mtime, attr->mtime));
		a->attr = *attr;
		a->seen = seen > a->seen ? seen : a->seen;
		a->asked = seen > a->asked ? seen : a->asked;
		a->came = clock_ns();
	}
	mutex_unlock(&a->lock);
	return lost && attr->type == NFS_DIR;
}

void attrs_doubt(struct attrs *a)
{
	mutex_lock(&a->lock);
	a->seen = 0;
	a->from = clock_ns();
	mutex_unlock(&a->lock);
}

void attrs_doubt_rights(struct attrs *a)
{
	attrs_doubt(a);
	mutex_lock(&a->lock);
	a->rights_seen = clock_ns();
	grants_drop(&a->grants);
	mutex_unlock(&a->lock);
}

/* --- questions -------------------------------------------------------------------------------- */

static bool is_old_locked(const struct attrs *a, const struct nfs_attr *attr, uint64_t asked)
	REQUIRES(a->lock)
{
	if (asked < a->asked)
		return a->attr.change >= attr->change;
	return a->seen && a->attr.change > attr->change;
}

bool attrs_newer(struct attrs *a, struct nfs_attr *attr, uint64_t *asked)
{
	bool other = false;

	mutex_lock(&a->lock);
	if (is_old_locked(a, attr, *asked)) {
		other = a->attr.change != attr->change || a->attr.size != attr->size;
		*attr = a->attr;
		*asked = a->asked;
	}
	mutex_unlock(&a->lock);
	return other;
}

bool attrs_is_old(struct attrs *a, const struct nfs_attr *attr, uint64_t asked, uint64_t *from)
{
	bool old;

	mutex_lock(&a->lock);
	old = is_old_locked(a, attr, asked);
	*from = a->from;
	mutex_unlock(&a->lock);
	return old;
}

bool attrs_has(struct attrs *a)
{
	bool has;

	mutex_lock(&a->lock);
	has = a->seen || a->from;
	mutex_unlock(&a->lock);
	return has;
}

bool attrs_is_past(struct attrs *a, uint64_t asked)
{
	bool past;

	mutex_lock(&a->lock);
	past = a->seen > asked || a->from > asked;
	mutex_unlock(&a->lock);
	return past;
}

uint64_t attrs_last(struct attrs *a)
{
	uint64_t at;

	mutex_lock(&a->lock);
	at = a->seen > a->rights_seen ? a->seen : a->rights_seen;
	at = a->from > at ? a->from : at;
	mutex_unlock(&a->lock);
	return at;
}

static bool known_locked(const struct attrs *a, uint64_t since, struct nfs_attr *attr,
	uint64_t *seen) REQUIRES(a->lock)
{
	*seen = a->seen;
	*attr = a->attr;
	return a->seen > since && a->seen > attrs_touched(a);
}

bool attrs_known(struct attrs *a, uint64_t since, struct nfs_attr *attr, uint64_t *seen)
{
	bool known;

	mutex_lock(&a->lock);
	known = known_locked(a, since, attr, seen);
	mutex_unlock(&a->lock);
	return known;
}

bool attrs_known_dir(struct attrs *a, uint64_t since, struct nfs_attr *attr, uint64_t *seen)
{
	bool known;

	mutex_lock(&a->lock);
	known = known_locked(a, since, attr, seen) && a->seen >= a->listed;
	mutex_unlock(&a->lock);
	return known;
}

bool attrs_is_older(struct attrs *a, uint64_t since)
{
	bool older;

	mutex_lock(&a->lock);
	/* of two answers in flight at the same time either may be newer, unless both are of one
	 * page */
	older = a->seen <= since && a->from <= since && a->rights_seen <= since &&
		(a->came <= since || a->seen == since);
	mutex_unlock(&a->lock);
	return older && attrs_touched(a) < since;
}

void attrs_listing(struct attrs *a)
{
	mutex_lock(&a->lock);
	a->listed = clock_ns();
	mutex_unlock(&a->lock);
}

bool attrs_removed(struct attrs *a, struct nfs_attr *attr)
{
	if (!atomic_load(&a->removed))
		return false;
	mutex_lock(&a->lock);
	*attr = a->attr;
	mutex_unlock(&a->lock);
	attr->nlink = 0;
	return true;
}

uint32_t attrs_mode(struct attrs *a, uint64_t *seen)
{
	uint32_t mode;

	mutex_lock(&a->lock);
	mode = a->attr.mode;
	*seen = a->seen;
	mutex_unlock(&a->lock);
	return mode;
}

uint32_t attrs_links(struct attrs *a)
{
	uint32_t links;

	mutex_lock(&a->lock);
	links = a->attr.nlink;
	mutex_unlock(&a->lock);
	return links ? links : 1;
}

void attrs_note_access(struct attrs *a, const struct rpc_cred *cred, uint32_t known,
	uint32_t allowed, uint64_t seen)
{
	mutex_lock(&a->lock);
	if (seen >= a->rights_seen)
		grant_put(&a->grants, cred, known, allowed, seen);
	mutex_unlock(&a->lock);
}

bool attrs_known_access(struct attrs *a, const struct rpc_cred *cred, uint32_t want, uint64_t since,
	uint32_t *allowed)
{
	bool known;

	mutex_lock(&a->lock);
	known = grant_get(&a->grants, cred, want, since, allowed);
	mutex_unlock(&a->lock);
	return known;
}

/* --- time-outs -------------------------------------------------------------------------------- */

unsigned attrs_timeout(struct attrs *a, unsigned min, unsigned max)
{
	unsigned t = min;

	mutex_lock(&a->lock);
	if (a->timeout_at && a->timeout_of == a->attr.change)
		t = a->timeout;
	mutex_unlock(&a->lock);
	return t < min ? min : t > max ? max : t;
}

unsigned attrs_next_timeout(struct attrs *a, uint64_t change, unsigned min, unsigned max)
{
	uint64_t now = clock_ns();
	unsigned timeout;

	if (min == max)
		return min;
	mutex_lock(&a->lock);
	if (!a->timeout_at || a->timeout_of != change) {
		a->timeout = min;
		a->timeout_at = now;
	} else if (clock_age(now, a->timeout_at) >= a->timeout * NSEC_PER_SEC) {
		a->timeout = a->timeout ? a->timeout * 2 : 1;
		a->timeout_at = now;
	}
	if (a->timeout > max)
		a->timeout = max;
	a->timeout_of = change;
	timeout = a->timeout;
	mutex_unlock(&a->lock);
	return timeout;
}
