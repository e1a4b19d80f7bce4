/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode: a file of the server. The kernel names the file by a node ID, the server by a file handle.
 *
 * The table is split into shards by the handle's hash; each has its own short lock. A shard's array
 * of chains doubles when the shard holds more inodes than chains.
 */
#include "fs/known/inode.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fs/known/inode_note.h"
#include "fs/known/numbers.h"
#include "transport/clock.h"
#include "transport/hash.h"
#include "transport/lock.h"

#define SHARDS	     16u
#define FIRST_CHAINS 64u
#define ROOT_ID	     1u /* FUSE_ROOT_ID */
#define LEFT_SLOTS   1024u

LIST_HEAD(chain, inode);

struct shard {
	/* also guards hash and nlookup of the inodes of the shard */
	struct mutex lock;
	struct chain *chains GUARDED_BY(lock);
	unsigned nchains GUARDED_BY(lock); /* a power of two */
	unsigned count GUARDED_BY(lock);
};

struct inode_table {
	struct shard shards[SHARDS];
	struct inode *root;
	uint64_t root_major, root_minor; /* constant: the root's fsid */
	inode_left_fn *left;		 /* NULL: no function */
	void *left_ctx;
	struct ledger *ledger;	/* constant while requests are served; NULL: no notes */
	struct numbers numbers; /* constant while requests are served */
	atomic_ullong generation;
	uint64_t seed;
	/* by the handle's hash: the time of the newest notes that were lost with an inode that left
	 * the table */
	_Atomic uint64_t left_at[LEFT_SLOTS];
	struct chain forgotten; /* inode_inherit_forgotten(); empty while requests are served */
};

static uint64_t fh_hash(const struct inode_table *t, const struct nfs_fh *fh)
{
	return hash_bytes(t->seed + fh->server, fh->data, fh->len);
}

static struct shard *shard_of(struct inode_table *t, uint64_t hash)
{
	return &t->shards[hash % SHARDS];
}

static struct chain *chain_of(struct shard *s, uint64_t hash) REQUIRES(s->lock)
{
	return &s->chains[(hash / SHARDS) & (s->nchains - 1)];
}

static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ x >> 27) * 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

/* Within one file system different numbers stay different. Numbers of two file systems are equal
 * only if the hashes differ in nothing but the low bits that the numbers use: one chance in 16
 * million for file systems of up to 2^40 objects. */
uint64_t inode_number(const struct inode_table *t, const struct nfs_attr *attr)
{
	uint64_t major = attr->fsid_major, minor = attr->fsid_minor, n = attr->fileid;

	if (major != t->root_major || minor != t->root_minor)
		n ^= mix(mix(major + 0x9e3779b97f4a7c15ull) ^ minor);
	return n ? n : UINT64_MAX; /* readdir(3) leaves out an entry with number 0 */
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
	ino->id = numbers_of(&t->numbers, ino);
	ino->generation = atomic_fetch_add(&t->generation, 1);
	atomic_init(&ino->refs, 1);
	LIST_INIT(&ino->names_in);
	LIST_INIT(&ino->names_of);
	mutex_init(&ino->lock);
	filedata_init(&ino->data);
	written_init(&ino->written, &ino->fh, &ino->data);
	ino->ledger = t->ledger;
	if (t->ledger)
		written_note(&ino->written, t->ledger, ino->id);
	cache_file_init(&ino->cache);
	attrs_init(&ino->attrs);
	mutex_alone(&ino->attrs.lock); /* no other thread knows of the inode yet */
	ino->attrs.attr = *attr;
	view_init(&ino->view);
	dirnames_init(&ino->dirnames, attr->change);
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

	/* acq_rel: the thread that frees sees all writes by other threads before their unref */
	if (ino && atomic_fetch_sub_explicit(&ino->refs, 1, memory_order_acq_rel) == 1) {
		mutex_destroy(&ino->lock);
		while ((l = LIST_FIRST(&ino->locks.owners)) ||
			(l = LIST_FIRST(&ino->locks.leaving))) {
			/* the mount ended before the close of these owners */
			LIST_REMOVE(l, link);
			free(l);
		}
		attrs_finish(&ino->attrs);
		view_finish(&ino->view);
		dirnames_finish(&ino->dirnames);
		written_finish(&ino->written);
		filedata_finish(&ino->data);
		cache_file_finish(&ino->cache);
		ledger_drop(ino->ledger, &ino->note);
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
		mutex_init(&t->shards[i].lock);
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
	t->root->id = ROOT_ID;
	return t;
}

void inode_table_keep_notes(struct inode_table *t, struct ledger *l)
{
	t->ledger = l;
}

static void tell_left(const struct inode_table *t, struct inode *ino)
{
	if (t->left)
		t->left(t->left_ctx, ino);
}

struct inode_table *inode_table_free(struct inode_table *t)
{
	struct inode *ino;

	if (!t)
		return NULL;
	for (unsigned i = 0; i < SHARDS; i++) {
		struct shard *s = &t->shards[i];

		mutex_alone(&s->lock); /* no request is pending */
		for (unsigned c = 0; s->chains && c < s->nchains; c++) {
			while ((ino = LIST_FIRST(&s->chains[c]))) {
				LIST_REMOVE(ino, hash);
				tell_left(t, ino);
				inode_unref(ino);
			}
		}
		free(s->chains);
		mutex_destroy(&s->lock);
	}
	while ((ino = LIST_FIRST(&t->forgotten))) {
		LIST_REMOVE(ino, hash);
		inode_unref(ino);
	}
	numbers_finish(&t->numbers);
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
		mutex_lock(&t->shards[i].lock);
		n += t->shards[i].count;
		mutex_unlock(&t->shards[i].lock);
	}
	return n;
}

/* Doubles the chains; on failure the chains only get longer. */
static void grow_locked(struct inode_table *t, struct shard *s) REQUIRES(s->lock)
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
	REQUIRES(s->lock)
{
	struct inode *ino;

	LIST_FOREACH (ino, chain_of(s, hash), hash)
		if (nfs_fh_same(&ino->fh, fh))
			return ino;
	return NULL;
}

static void put_note(const struct inode_table *t, struct inode *ino)
{
	struct inode_told told;

	if (!t->ledger)
		return;
	told = (struct inode_told){
		.nlookup = ino->nlookup,
		.id = ino->id,
		.generation = ino->generation,
		.fh = ino->fh,
		.attr.type = ino->type,
		.attr.fileid = ino->fileid,
		.attr.fsid_major = ino->fsid_major,
		.attr.fsid_minor = ino->fsid_minor,
	};
	inode_note_put(t->ledger, &ino->note, &told);
}

struct inode *inode_lookup(
	struct inode_table *t, const struct nfs_fh *fh, const struct nfs_attr *attr)
{
	uint64_t hash = fh_hash(t, fh);
	struct shard *s = shard_of(t, hash);
	struct inode *ino;

	mutex_lock(&s->lock);
	ino = find_locked(s, hash, fh);
	if (!ino) {
		ino = inode_new(t, fh, attr);
		if (ino) {
			if (s->count >= s->nchains)
				grow_locked(t, s);
			LIST_INSERT_HEAD(chain_of(s, hash), ino, hash);
			s->count++;
			put_note(t, ino);
		}
	}
	if (ino) {
		ino->nlookup++;
		inode_note_lookups(t->ledger, &ino->note, ino->nlookup);
	}
	mutex_unlock(&s->lock);
	return ino;
}

bool inode_hold(struct inode_table *t, struct inode *ino)
{
	struct shard *s = shard_of(t, fh_hash(t, &ino->fh));
	bool there;

	mutex_lock(&s->lock);
	there = ino->nlookup > 0;
	ino->nlookup += there;
	inode_note_lookups(t->ledger, &ino->note, ino->nlookup);
	mutex_unlock(&s->lock);
	return there;
}

bool inode_is_known(struct inode_table *t, struct inode *ino)
{
	struct shard *s = shard_of(t, fh_hash(t, &ino->fh));
	bool known;

	mutex_lock(&s->lock);
	known = ino->nlookup > 0;
	mutex_unlock(&s->lock);
	return known;
}

struct inode *inode_find(struct inode_table *t, const struct nfs_fh *fh)
{
	uint64_t hash = fh_hash(t, fh);
	struct shard *s = shard_of(t, hash);
	struct inode *ino;

	mutex_lock(&s->lock);
	ino = find_locked(s, hash, fh);
	if (ino)
		inode_ref(ino);
	mutex_unlock(&s->lock);
	return ino;
}

static _Atomic uint64_t *left_slot(struct inode_table *t, uint64_t hash)
{
	return &t->left_at[hash / SHARDS % LEFT_SLOTS];
}

/* Changes of ino by this mount may still be in flight. */
static void note_left(struct inode_table *t, struct inode *ino, uint64_t hash)
{
	_Atomic uint64_t *slot = left_slot(t, hash);
	uint64_t at = attrs_touched(&ino->attrs) ? clock_ns() : attrs_last(&ino->attrs);
	uint64_t was = atomic_load(slot);

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

	mutex_lock(&s->lock);
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
	inode_note_lookups(t->ledger, &ino->note, ino->nlookup);
	mutex_unlock(&s->lock);
	if (gone) {
		tell_left(t, ino);
		inode_unref(ino);
	}
}

/* Takes the silly name off ino. */
static struct silly *take_silly(struct inode *ino)
{
	struct silly *s;

	mutex_lock(&ino->lock);
	s = ino->silly.name;
	ino->silly.name = NULL;
	mutex_unlock(&ino->lock);
	return s;
}

struct inode *inode_next_silly(struct inode_table *t, struct silly **silly)
{
	struct inode *found = NULL, *ino;

	LIST_FOREACH (ino, &t->forgotten, hash)
		if ((*silly = take_silly(ino)))
			return inode_ref(ino);

	for (unsigned i = 0; i < SHARDS && !found; i++) {
		struct shard *s = &t->shards[i];

		mutex_lock(&s->lock);
		for (unsigned c = 0; c < s->nchains && !found; c++) {
			LIST_FOREACH (ino, &s->chains[c], hash) {
				*silly = take_silly(ino);
				if (*silly) {
					found = inode_ref(ino);
					break;
				}
			}
		}
		mutex_unlock(&s->lock);
	}
	return found;
}

struct inode *inode_of(struct inode_table *t, uint64_t nodeid)
{
	return nodeid == ROOT_ID ? t->root : numbers_object(&t->numbers, nodeid);
}

uint64_t inode_id(struct inode_table *t, const struct inode *ino)
{
	return ino->id;
}

/* --- a successor's table ---------------------------------------------------------------------- */

bool inode_table_inherit(struct inode_table *t, unsigned run, size_t n, uint64_t generation)
{
	atomic_store(&t->generation, generation);
	return numbers_init(&t->numbers, run, n);
}

uint64_t inode_table_generation(struct inode_table *t)
{
	return atomic_load(&t->generation);
}

struct inode *inode_inherit(struct inode_table *t, const struct nfs_fh *fh,
	const struct nfs_attr *attr, uint64_t id, uint64_t nlookup)
{
	struct shard *s = shard_of(t, fh_hash(t, fh));
	struct inode *ino;

	if (id == ROOT_ID)
		return nfs_fh_equal(fh, &t->root->fh) ? t->root : NULL;
	if (!nlookup)
		return NULL;
	ino = inode_lookup(t, fh, attr);
	if (!ino)
		return NULL;
	mutex_lock(&s->lock);
	if (ino == t->root || ino->nlookup > 1 || !numbers_inherit(&t->numbers, id, ino))
		ino = NULL;
	if (ino) {
		ino->nlookup = nlookup;
		ino->id = id;
	}
	mutex_unlock(&s->lock);
	return ino;
}

struct inode *inode_inherit_forgotten(
	struct inode_table *t, const struct nfs_fh *fh, const struct nfs_attr *attr, uint64_t id)
{
	struct inode *ino = inode_new(t, fh, attr);

	if (!ino)
		return NULL;
	if (id == ROOT_ID || !numbers_inherit(&t->numbers, id, ino))
		return inode_unref(ino);
	ino->id = id;
	LIST_INSERT_HEAD(&t->forgotten, ino, hash);
	tell_left(t, ino);
	return ino;
}

void inode_table_settle_all(struct inode_table *t)
{
	struct inode *ino;

	while ((ino = LIST_FIRST(&t->forgotten))) {
		LIST_REMOVE(ino, hash);
		inode_unref(ino);
	}
}

bool inode_table_settle(struct inode_table *t)
{
	bool all_used = true;
	struct inode *ino;

	LIST_FOREACH (ino, &t->forgotten, hash)
		all_used &= atomic_load(&ino->refs) > 1;
	if (all_used)
		inode_table_settle_all(t);
	return all_used;
}

void inode_renumbered(struct inode_table *t, struct inode *ino)
{
	struct shard *s = shard_of(t, fh_hash(t, &ino->fh));

	mutex_lock(&s->lock);
	put_note(t, ino);
	if (t->ledger)
		written_note(&ino->written, t->ledger, ino->id);
	mutex_unlock(&s->lock);
}

struct inode *inode_inherited(struct inode_table *t, uint64_t id)
{
	return id == ROOT_ID ? t->root : numbers_inherited(&t->numbers, id);
}

void inode_table_each(struct inode_table *t, void (*fn)(struct inode *ino, void *ctx), void *ctx)
{
	struct inode *ino;

	for (unsigned i = 0; i < SHARDS; i++) {
		struct shard *s = &t->shards[i];

		mutex_lock(&s->lock);
		for (unsigned c = 0; c < s->nchains; c++)
			LIST_FOREACH (ino, &s->chains[c], hash)
				fn(ino, ctx);
		mutex_unlock(&s->lock);
	}
}

/* --- changes and attributes ------------------------------------------------------------------- */

void inode_touch(struct inode *ino)
{
	attrs_touch(&ino->attrs);
	filechange_touch(&ino->data.change);
	cache_drop_all(&ino->cache);
}

void inode_touch_begin(struct inode *ino)
{
	filechange_touch_begin(&ino->data.change);
	inode_touch(ino);
}

void inode_touch_end(struct inode *ino)
{
	inode_touch(ino);
	filechange_touch_end(&ino->data.change);
}

void inode_note_removed(struct inode *ino)
{
	inode_touch(ino);
	if (ino->type == NFS_DIR)
		atomic_store(&ino->attrs.removed, true);
}

bool inode_note_attr(struct inode *ino, const struct told *told)
{
	bool lost = attrs_note(&ino->attrs, told);

	return told->attr->type == NFS_DIR &&
	       dirnames_note(&ino->dirnames, &ino->attrs, told->attr->change, told->asked, lost);
}

bool inode_known_attr(struct inode *ino, uint64_t since, struct nfs_attr *attr, uint64_t *seen)
{
	return attrs_known(&ino->attrs, since, attr, seen) && !written_dirty(&ino->written);
}

bool inode_known_dir(struct inode *dir, uint64_t since, struct nfs_attr *attr, uint64_t *seen)
{
	return attrs_known_dir(&dir->attrs, since, attr, seen) && !written_dirty(&dir->written);
}

bool inode_is_older(struct inode *ino, uint64_t since)
{
	return attrs_is_older(&ino->attrs, since) && !written_dirty(&ino->written);
}

uint64_t inode_name_until(struct inode *dir, uint64_t seen, unsigned min, unsigned max)
{
	return dirnames_until(
		&dir->dirnames, &dir->attrs, seen, attrs_timeout(&dir->attrs, min, max));
}

static bool is_open(struct inode *ino)
{
	bool open;

	mutex_lock(&ino->lock);
	open = ino->opens.count;
	mutex_unlock(&ino->lock);
	return open;
}

bool inode_told(struct inode *ino, const struct told *told, bool *lasts)
{
	bool counts, news;

	news = view_told(&ino->view, &ino->attrs, told, is_open(ino), lasts, &counts);
	if (counts)
		atomic_store_explicit(&ino->attrs.end, told->attr->size, memory_order_relaxed);
	return news;
}

bool inode_told_this(struct inode *ino, const struct nfs_attr *attr)
{
	atomic_store_explicit(&ino->attrs.end, attr->size, memory_order_relaxed);
	return view_told_this(&ino->view, attr);
}
