/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode: what the kernel knows by a node ID, the server by a file handle.
 *
 * The table is split into shards by the handle's hash; each has its own short lock. A shard's array
 * of chains doubles when it holds more inodes than chains.
 */
#include "fs/inode.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "transport/clock.h"

#define SHARDS	     16u
#define FIRST_CHAINS 64u
#define ROOT_ID	     1u /* FUSE_ROOT_ID */
#define LEFT_SLOTS   1024u
#define LOOKS_NS     UINT64_C(5000000000) /* looks count together within that time */

LIST_HEAD(chain, inode);

struct shard {
	pthread_mutex_t lock; /* everything here, and hash and nlookup of the inodes in it */
	struct chain *chains;
	unsigned nchains; /* a power of two */
	unsigned count;
};

struct inode_table {
	struct shard shards[SHARDS];
	struct inode *root;
	uint64_t root_major, root_minor; /* constant: its fsid */
	inode_left_fn *left;		 /* NULL: nobody wants to know */
	void *left_ctx;
	atomic_ullong generation;
	uint64_t seed;
	/* by the handle's hash: as of when was known what is now forgotten of inodes that have left
	 */
	_Atomic uint64_t left_at[LEFT_SLOTS];
};

/* FNV-1a over the handle, with a seed so that a server cannot aim at one chain; folded at the end,
 * since handles of one server differ in few bytes. */
static uint64_t fh_hash(const struct inode_table *t, const struct nfs_fh *fh)
{
	uint64_t h = 0xcbf29ce484222325ull ^ t->seed;

	for (uint32_t i = 0; i < fh->len; i++)
		h = (h ^ fh->data[i]) * 0x100000001b3ull;
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

static struct shard *shard_of(struct inode_table *t, uint64_t hash)
{
	return &t->shards[hash % SHARDS];
}

static struct chain *chain_of(struct shard *s, uint64_t hash)
{
	return &s->chains[(hash / SHARDS) & (s->nchains - 1)];
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Within one file system different numbers stay different. Those of two meet only if their hashes
 * differ in nothing but the low bits that the numbers use, one chance in 16 million for file
 * systems of up to 2^40 objects. */
uint64_t inode_number(const struct inode_table *t, const struct nfs_attr *attr)
{
	uint64_t major = attr->fsid_major, minor = attr->fsid_minor, n = attr->fileid;

	if (major != t->root_major || minor != t->root_minor)
		n ^= mix(mix(major + 0x9e3779b97f4a7c15ull) ^ minor);
	return n ? n : UINT64_MAX; /* readdir(3) leaves out what has number 0 */
}

bool inode_same_fs(const struct inode *a, const struct inode *b)
{
	return a->fsid_major == b->fsid_major && a->fsid_minor == b->fsid_minor;
}

static struct inode *inode_new(
	struct inode_table *t, const struct nfs_fh *fh, const struct nfs_attr *attr)
{
	struct inode *ino = calloc(1, sizeof(*ino));

	if (!ino)
		return NULL;
	ino->fh = *fh;
	ino->type = attr->type;
	ino->fileid = attr->fileid;
	ino->fsid_major = attr->fsid_major;
	ino->fsid_minor = attr->fsid_minor;
	ino->number = inode_number(t, attr);
	ino->generation = atomic_fetch_add(&t->generation, 1);
	atomic_init(&ino->refs, 1);
	LIST_INIT(&ino->names_in);
	LIST_INIT(&ino->names_of);
	pthread_mutex_init(&ino->lock, NULL);
	filedata_init(&ino->data);
	written_init(&ino->written, &ino->fh, &ino->data);
	cache_file_init(&ino->cache);
	ino->attr = *attr;
	ino->version = attr->change;
	grants_init(&ino->grants);
	return ino;
}

struct inode *inode_ref(struct inode *ino)
{
	atomic_fetch_add_explicit(&ino->refs, 1, memory_order_relaxed);
	return ino;
}

struct inode *inode_unref(struct inode *ino)
{
	struct locker *l;

	/* acq_rel: whoever frees sees what all others wrote before they let go */
	if (ino && atomic_fetch_sub_explicit(&ino->refs, 1, memory_order_acq_rel) == 1) {
		while ((l = LIST_FIRST(&ino->lockers))) { /* the mount ended before their close */
			LIST_REMOVE(l, link);
			free(l);
		}
		pthread_mutex_destroy(&ino->lock);
		written_finish(&ino->written);
		filedata_finish(&ino->data);
		cache_file_finish(&ino->cache);
		grants_drop(&ino->grants);
		free(ino);
	}
	return NULL;
}

struct inode_table *inode_table_new(const struct nfs_fh *root, const struct nfs_attr *attr)
{
	struct inode_table *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->seed = clock_ns() * 0x9e3779b97f4a7c15ull;
	atomic_init(&t->generation, 1);
	for (unsigned i = 0; i < SHARDS; i++) {
		pthread_mutex_init(&t->shards[i].lock, NULL);
		t->shards[i].nchains = FIRST_CHAINS;
		t->shards[i].chains = calloc(FIRST_CHAINS, sizeof(struct chain));
		if (!t->shards[i].chains)
			return inode_table_free(t);
	}
	t->root_major = attr->fsid_major;
	t->root_minor = attr->fsid_minor;
	t->root = inode_lookup(t, root, attr);
	if (!t->root)
		return inode_table_free(t);
	return t;
}

static void tell_left(const struct inode_table *t, struct inode *ino)
{
	if (t->left)
		t->left(t->left_ctx, ino);
}

struct inode_table *inode_table_free(struct inode_table *t)
{
	if (!t)
		return NULL;
	for (unsigned i = 0; i < SHARDS; i++) {
		struct shard *s = &t->shards[i];

		for (unsigned c = 0; s->chains && c < s->nchains; c++) {
			struct inode *ino;

			while ((ino = LIST_FIRST(&s->chains[c]))) {
				LIST_REMOVE(ino, hash);
				tell_left(t, ino);
				inode_unref(ino);
			}
		}
		free(s->chains);
		pthread_mutex_destroy(&s->lock);
	}
	free(t);
	return NULL;
}

struct inode *inode_table_root(struct inode_table *t)
{
	return t->root;
}

void inode_table_on_left(struct inode_table *t, inode_left_fn *fn, void *ctx)
{
	t->left = fn;
	t->left_ctx = ctx;
}

unsigned inode_table_count(struct inode_table *t)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SHARDS; i++) {
		pthread_mutex_lock(&t->shards[i].lock);
		n += t->shards[i].count;
		pthread_mutex_unlock(&t->shards[i].lock);
	}
	return n;
}

/* Doubles the chains; on failure they stay as they are and only get longer. */
static void grow_locked(struct inode_table *t, struct shard *s)
{
	unsigned n = s->nchains * 2, old = s->nchains;
	struct chain *more = calloc(n, sizeof(*more)), *was = s->chains;

	if (!more)
		return;
	s->chains = more;
	s->nchains = n;
	for (unsigned c = 0; c < old; c++) {
		struct inode *ino;

		while ((ino = LIST_FIRST(&was[c]))) {
			LIST_REMOVE(ino, hash);
			LIST_INSERT_HEAD(chain_of(s, fh_hash(t, &ino->fh)), ino, hash);
		}
	}
	free(was);
}

static struct inode *find_locked(struct shard *s, uint64_t hash, const struct nfs_fh *fh)
{
	struct inode *ino;

	LIST_FOREACH (ino, chain_of(s, hash), hash)
		if (nfs_fh_equal(&ino->fh, fh))
			return ino;
	return NULL;
}

struct inode *inode_lookup(
	struct inode_table *t, const struct nfs_fh *fh, const struct nfs_attr *attr)
{
	uint64_t hash = fh_hash(t, fh);
	struct shard *s = shard_of(t, hash);
	struct inode *ino;

	pthread_mutex_lock(&s->lock);
	ino = find_locked(s, hash, fh);
	if (!ino) {
		ino = inode_new(t, fh, attr);
		if (ino) {
			if (s->count >= s->nchains)
				grow_locked(t, s);
			LIST_INSERT_HEAD(chain_of(s, hash), ino, hash);
			s->count++;
		}
	}
	if (ino)
		ino->nlookup++;
	pthread_mutex_unlock(&s->lock);
	return ino;
}

bool inode_hold(struct inode_table *t, struct inode *ino)
{
	struct shard *s = shard_of(t, fh_hash(t, &ino->fh));
	bool there;

	pthread_mutex_lock(&s->lock);
	there = ino->nlookup > 0;
	ino->nlookup += there;
	pthread_mutex_unlock(&s->lock);
	return there;
}

struct inode *inode_find(struct inode_table *t, const struct nfs_fh *fh)
{
	uint64_t hash = fh_hash(t, fh);
	struct shard *s = shard_of(t, hash);
	struct inode *ino;

	pthread_mutex_lock(&s->lock);
	ino = find_locked(s, hash, fh);
	if (ino)
		inode_ref(ino);
	pthread_mutex_unlock(&s->lock);
	return ino;
}

static _Atomic uint64_t *left_slot(struct inode_table *t, uint64_t hash)
{
	return &t->left_at[hash / SHARDS % LEFT_SLOTS];
}

/* What this mount has changed of it may still be on its way. */
static void note_left(struct inode_table *t, struct inode *ino, uint64_t hash)
{
	_Atomic uint64_t *slot = left_slot(t, hash);
	uint64_t at = 0, was = atomic_load(slot);

	if (atomic_load_explicit(&ino->touched, memory_order_relaxed)) {
		at = clock_ns();
	} else {
		pthread_mutex_lock(&ino->lock);
		at = ino->attr_seen > ino->rights_seen ? ino->attr_seen : ino->rights_seen;
		at = ino->attr_from > at ? ino->attr_from : at;
		pthread_mutex_unlock(&ino->lock);
	}
	while (at > was && !atomic_compare_exchange_weak(slot, &was, at))
		;
}

bool inode_left_since(struct inode_table *t, const struct nfs_fh *fh, uint64_t since)
{
	return atomic_load(left_slot(t, fh_hash(t, fh))) > since;
}

void inode_forget(struct inode_table *t, struct inode *ino, uint64_t n)
{
	uint64_t hash = fh_hash(t, &ino->fh);
	struct shard *s = shard_of(t, hash);
	bool gone = false;

	pthread_mutex_lock(&s->lock);
	ino->nlookup -= n < ino->nlookup ? n : ino->nlookup;
	if (!ino->nlookup) {
		if (ino == t->root) {
			ino->nlookup = 1;
		} else {
			note_left(t, ino, hash);
			LIST_REMOVE(ino, hash);
			s->count--;
			gone = true;
		}
	}
	pthread_mutex_unlock(&s->lock);
	if (gone) {
		tell_left(t, ino);
		inode_unref(ino);
	}
}

struct inode *inode_next_silly(struct inode_table *t, struct silly **silly)
{
	struct inode *found = NULL;

	for (unsigned i = 0; i < SHARDS && !found; i++) {
		struct shard *s = &t->shards[i];

		pthread_mutex_lock(&s->lock);
		for (unsigned c = 0; c < s->nchains && !found; c++) {
			struct inode *ino;

			LIST_FOREACH (ino, &s->chains[c], hash) {
				pthread_mutex_lock(&ino->lock);
				*silly = ino->silly;
				ino->silly = NULL;
				pthread_mutex_unlock(&ino->lock);
				if (*silly) {
					found = inode_ref(ino);
					break;
				}
			}
		}
		pthread_mutex_unlock(&s->lock);
	}
	return found;
}

struct inode *inode_of(struct inode_table *t, uint64_t nodeid)
{
	return nodeid == ROOT_ID ? t->root : (struct inode *)(uintptr_t)nodeid;
}

uint64_t inode_id(struct inode_table *t, const struct inode *ino)
{
	return ino == t->root ? ROOT_ID : (uintptr_t)ino;
}

void inode_touch_data(struct inode *ino)
{
	atomic_store_explicit(&ino->touched, clock_ns(), memory_order_relaxed);
}

void inode_touch(struct inode *ino)
{
	inode_touch_data(ino);
	filechange_touch(&ino->data.change);
	cache_drop_all(&ino->cache);
}

static bool same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/* True: somebody else has changed the directory. Attributes that were asked for while this mount
 * changed it tell nothing; the first ones after that may hide a change by somebody else. */
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
	/* not only those that were asked for before `seen`: the server may have answered what was
	 * asked later first */
	if (!first)
		dir->names_from = dir->foreign_at = clock_ns();
	return !first;
}

/* Is attr, which the server was asked for at `seen`, newer than what is known? If it was asked
 * before that came, the server may have answered the two in either order: then the change attribute
 * says which is newer, as far as it can. */
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
	bool lost = false, rights, ctime, own;

	pthread_mutex_lock(&ino->lock);
	if (is_news_locked(ino, attr, seen)) {
		ctime = !same_time(was->ctime, attr->ctime) || was->change != attr->change;
		rights = was->mode != attr->mode || was->uid != attr->uid || was->gid != attr->gid;
		if ((ctime && (!alone || ino->attr_seen < alone)) || rights) {
			grants_drop(&ino->grants);
			if (seen > ino->rights_seen)
				ino->rights_seen = seen;
		}
		/* of times, say, or an owner that it has already */
		own = atomic_load_explicit(&ino->touched, memory_order_relaxed) > ino->attr_seen;
		lost = (was->mode & ~attr->mode & 0111) || was->uid != attr->uid ||
		       was->gid != attr->gid ||
		       (ctime && !rights && !own && same_time(was->mtime, attr->mtime));
		ino->attr = *attr;
		ino->attr_seen = seen > ino->attr_seen ? seen : ino->attr_seen;
		ino->attr_came = clock_ns();
	}
	lost = attr->type == NFS_DIR && (note_version_locked(ino, attr->change, seen) || lost);
	pthread_mutex_unlock(&ino->lock);
	return lost;
}

bool inode_newer_attr(struct inode *ino, const struct nfs_attr *a, struct nfs_attr *newer)
{
	bool is;

	pthread_mutex_lock(&ino->lock);
	is = ino->attr_seen && ino->attr.change > a->change;
	if (is)
		*newer = ino->attr;
	pthread_mutex_unlock(&ino->lock);
	return is;
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
	/* of two that were under way at once either may be newer, but for answers of one page */
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

void inode_naming_begin(struct inode *dir)
{
	pthread_mutex_lock(&dir->lock);
	dir->naming++;
	pthread_mutex_unlock(&dir->lock);
}

void inode_naming_end(struct inode *dir)
{
	pthread_mutex_lock(&dir->lock);
	dir->naming--;
	inode_touch_data(dir);
	pthread_mutex_unlock(&dir->lock);
}

bool inode_is_naming(struct inode *dir)
{
	bool naming;

	pthread_mutex_lock(&dir->lock);
	naming = dir->naming > 0;
	pthread_mutex_unlock(&dir->lock);
	return naming;
}

static unsigned looks_locked(struct inode *dir)
{
	return clock_ns() < dir->unlisted_until ? 0 : dir->looks;
}

unsigned inode_looked(struct inode *dir, const char *name)
{
	uint64_t now = clock_ns();
	uint32_t hash = 0;
	unsigned looks;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 0x01000193u;
	pthread_mutex_lock(&dir->lock);
	if (now - dir->looks_at > LOOKS_NS) {
		dir->looks_at = now;
		dir->looks = 0;
	}
	dir->looks += !dir->looks || dir->looked_for != hash;
	dir->looked_for = hash;
	looks = looks_locked(dir);
	pthread_mutex_unlock(&dir->lock);
	return looks;
}

unsigned inode_looks(struct inode *dir, bool less)
{
	unsigned looks;

	pthread_mutex_lock(&dir->lock);
	dir->looks -= less && dir->looks;
	looks = looks_locked(dir);
	pthread_mutex_unlock(&dir->lock);
	return looks;
}

void inode_leave_unlisted(struct inode *dir, uint64_t time)
{
	pthread_mutex_lock(&dir->lock);
	dir->unlisted_until = clock_ns() + time;
	pthread_mutex_unlock(&dir->lock);
}

uint64_t inode_version(struct inode *dir)
{
	uint64_t version;

	pthread_mutex_lock(&dir->lock);
	version = dir->version;
	pthread_mutex_unlock(&dir->lock);
	return version;
}

void inode_doubt_names(struct inode *dir)
{
	pthread_mutex_lock(&dir->lock);
	dir->names_from = clock_ns();
	pthread_mutex_unlock(&dir->lock);
}

static unsigned timeout_locked(const struct inode *ino, unsigned min, unsigned max)
{
	unsigned t = ino->timeout_at ? ino->timeout : min;

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

void inode_note_foreign(struct inode *dir)
{
	pthread_mutex_lock(&dir->lock);
	dir->foreign_at = clock_ns();
	pthread_mutex_unlock(&dir->lock);
}

bool inode_is_shared(struct inode *dir, uint64_t time)
{
	uint64_t now = clock_ns();
	bool shared;

	pthread_mutex_lock(&dir->lock);
	shared = dir->foreign_at && (dir->foreign_at > now || now - dir->foreign_at < time);
	pthread_mutex_unlock(&dir->lock);
	return shared;
}

uint64_t inode_names_seen(struct inode *dir, uint64_t *from)
{
	uint64_t touched = atomic_load_explicit(&dir->touched, memory_order_relaxed), seen;

	pthread_mutex_lock(&dir->lock);
	*from = touched + 1 > dir->names_from ? touched + 1 : dir->names_from;
	seen = dir->names_seen;
	pthread_mutex_unlock(&dir->lock);
	return seen;
}

uint64_t inode_name_until(struct inode *dir, uint64_t seen, unsigned min, unsigned max)
{
	uint64_t touched = atomic_load_explicit(&dir->touched, memory_order_relaxed);
	uint64_t until = 0;

	pthread_mutex_lock(&dir->lock);
	if (seen && seen >= dir->names_from && seen > touched) {
		until = seen > dir->names_seen ? seen : dir->names_seen;
		until += timeout_locked(dir, min, max) * UINT64_C(1000000000);
	}
	pthread_mutex_unlock(&dir->lock);
	return until;
}

uint64_t inode_name_seen(struct inode *dir, uint64_t change, uint64_t seen)
{
	uint64_t touched = atomic_load_explicit(&dir->touched, memory_order_relaxed);

	pthread_mutex_lock(&dir->lock);
	if (dir->version == change && !dir->naming && seen > touched && seen < dir->names_from)
		seen = dir->names_from;
	pthread_mutex_unlock(&dir->lock);
	return seen;
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
	} else if (now - ino->timeout_at >= ino->timeout * UINT64_C(1000000000)) {
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

bool inode_told(struct inode *ino, const struct nfs_attr *attr, uint64_t asked, bool *lasts)
{
	pthread_mutex_lock(&ino->lock);
	if (ino->attr_seen && ino->attr.change > attr->change) {
		pthread_mutex_unlock(&ino->lock);
		return false;
	}
	*lasts = *lasts && asked >= ino->attr_from;
	if (*lasts && ino->told_times++ == ino->told_forgot)
		ino->told_more = false;
	else if (atomic_load(&ino->told) != attr->change ||
		 atomic_load(&ino->told_size) != attr->size)
		ino->told_more = true;
	atomic_store(&ino->told, attr->change);
	atomic_store(&ino->told_size, attr->size);
	pthread_mutex_unlock(&ino->lock);
	atomic_store_explicit(&ino->end, attr->size, memory_order_relaxed);
	atomic_fetch_add_explicit(&ino->told_count, 1, memory_order_relaxed);
	return true;
}

bool inode_must_forget(struct inode *ino, unsigned *times)
{
	bool must;

	pthread_mutex_lock(&ino->lock);
	*times = ino->told_times;
	must = *times != ino->told_forgot;
	pthread_mutex_unlock(&ino->lock);
	return must;
}

void inode_forgot(struct inode *ino, unsigned times)
{
	pthread_mutex_lock(&ino->lock);
	if ((int)(times - ino->told_forgot) > 0)
		ino->told_forgot = times;
	ino->told_more = ino->told_times != ino->told_forgot;
	pthread_mutex_unlock(&ino->lock);
}

/* A change attribute that is made of coarse times (NFSv3) does not show each change of the size. */
bool inode_told_this(struct inode *ino, const struct nfs_attr *attr)
{
	bool same;

	atomic_store_explicit(&ino->end, attr->size, memory_order_relaxed);
	pthread_mutex_lock(&ino->lock);
	same = ino->told_times != ino->told_forgot && !ino->told_more &&
	       atomic_load(&ino->told) == attr->change &&
	       atomic_load(&ino->told_size) == attr->size;
	pthread_mutex_unlock(&ino->lock);
	return same;
}

void inode_told_end(struct inode *ino, uint64_t end)
{
	uint64_t size = atomic_load_explicit(&ino->told_size, memory_order_relaxed);

	while (size < end && !atomic_compare_exchange_weak(&ino->told_size, &size, end))
		;
}

/* A name that was given away shows in the file: it has no more names, or its ctime moved when its
 * mtime did not. (After a write they are the same.) */
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
