/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * listing: the server's answers when it was asked for the entries of a directory.
 */
#include "fs/lookup/listing.h"

#include <errno.h>
#include <stdlib.h>

#include "fs/lookup/entry.h"
#include "fs/known/grant.h"
#include "fs/known/names.h"
#include "transport/clock.h"
#include "transport/lock.h"
#include "transport/log.h"

#define FETCH_BYTES (64u << 10) /* bytes of a READDIR reply, unless the server prefers less */
#define COOKIE_LOW  2u		/* cookies up to this one do not belong to entries */

struct listings {
	atomic_int credit; /* the credit of listings beside */
	struct mutex lock;
	GUARDED_BY(lock) TAILQ_HEAD(, listing) kept; /* the least recently used first */
	unsigned count GUARDED_BY(lock);	     /* number of kept listings */
	size_t bytes GUARDED_BY(lock);		     /* bytes of the pages of kept listings */
	/* by request.free, for list_of(r)->listing; next goes on */
	struct request_list waiting GUARDED_BY(lock);
};

/* --- life ------------------------------------------------------------------------------------- */

static void page_free(struct page *p)
{
	if (p)
		free(p->mem);
	free(p);
}

struct listing *listing_new(
	const struct rpc_cred *cred, uint64_t start, const struct listing *verf_of)
{
	struct listing *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	mutex_init(&l->lock);
	atomic_init(&l->refs, 1);
	l->start = l->end = start;
	l->cred = *cred;
	l->seed = (clock_ns() ^ (uintptr_t)l) * 0x9e3779b97f4a7c15ull;
	if (verf_of)
		memcpy(l->verf, verf_of->verf, sizeof(l->verf));
	TAILQ_INIT(&l->pages);
	return l;
}

struct listing *listing_ref(struct listing *l)
{
	atomic_fetch_add_explicit(&l->refs, 1, memory_order_relaxed);
	return l;
}

static void listing_free(struct listing *l)
{
	struct page *p;

	mutex_destroy(&l->lock);
	while ((p = TAILQ_FIRST(&l->pages))) {
		TAILQ_REMOVE(&l->pages, p, link);
		page_free(p);
	}
	free(l->chains);
	free(l);
}

/* acq_rel: the thread that frees sees all writes by other threads before their unref */
static bool let_go(struct listing *l)
{
	return atomic_fetch_sub_explicit(&l->refs, 1, memory_order_acq_rel) == 1;
}

struct listing *listing_unref(struct fs *fs, struct inode *dir, struct listing *l)
{
	if (l && let_go(l)) {
		mutex_alone(&l->lock); /* that was the last reference */
		names_list_end(fs->names, dir, l->token, false);
		listing_free(l);
	}
	return NULL;
}

/* --- keeping listings ------------------------------------------------------------------------- */

struct listings *listings_new(void)
{
	struct listings *a = calloc(1, sizeof(*a));

	if (!a)
		return NULL;
	mutex_init(&a->lock);
	TAILQ_INIT(&a->kept);
	SLIST_INIT(&a->waiting);
	atomic_init(&a->credit, LISTED_CREDIT_MAX);
	return a;
}

/* Ends the keeping of l. The caller then has the list's reference. */
static void take_out_locked(struct listings *a, struct listing *l) REQUIRES(a->lock)
{
	struct inode *dir = l->dir;

	TAILQ_REMOVE(&a->kept, l, kept);
	a->count--;
	a->bytes -= l->kept_bytes;
	if (dir->listings.whole == l)
		dir->listings.whole = NULL;
	else
		dir->listings.beside = NULL;
	l->dir = inode_unref(dir);
}

static void drop_locked(struct fs *fs, struct listing *l) REQUIRES(fs->listings->lock)
{
	struct inode *dir = inode_ref(l->dir);

	take_out_locked(fs->listings, l);
	listing_unref(fs, dir, l);
	inode_unref(dir);
}

struct listings *listings_free(struct listings *a)
{
	struct listing *l;

	if (!a)
		return NULL;
	mutex_destroy(&a->lock);
	while ((l = TAILQ_FIRST(&a->kept))) {
		take_out_locked(a, l);
		if (let_go(l))
			listing_free(l);
	}
	free(a);
	return NULL;
}

void listings_kept(struct fs *fs, struct inode *dir, struct listing *l[2])
{
	struct listings *a = fs->listings;

	mutex_lock(&a->lock);
	l[0] = dir->listings.beside ? listing_ref(dir->listings.beside) : NULL;
	l[1] = dir->listings.whole ? listing_ref(dir->listings.whole) : NULL;
	mutex_unlock(&a->lock);
}

/* l, of dir, is whole, or was begun beside: keeps l, if there is a use for l. */
static void keep(struct fs *fs, struct inode *dir, struct listing *l, bool whole, size_t bytes)
{
	struct listing **place = whole ? &dir->listings.whole : &dir->listings.beside;
	struct listings *a = fs->listings;

	if (!entry_wants_dir(fs))
		return;
	mutex_lock(&a->lock);
	if (l->dir)
		take_out_locked(a, l);
	else
		listing_ref(l);
	if (*place)
		drop_locked(fs, *place);
	*place = l;
	l->dir = inode_ref(dir);
	l->kept_bytes = bytes;
	TAILQ_INSERT_TAIL(&a->kept, l, kept);
	a->count++;
	a->bytes += bytes;
	while (a->count > LISTINGS_MAX || a->bytes > LISTINGS_BYTES)
		drop_locked(fs, TAILQ_FIRST(&a->kept));
	mutex_unlock(&a->lock);
}

/* l has another page, or failed to get one. A listing beside is kept until another listing takes
 * its place. */
static void keep_fetched(struct fs *fs, struct inode *dir, struct listing *l, bool whole)
{
	size_t bytes;
	bool place;

	mutex_lock(&l->lock);
	bytes = l->bytes;
	mutex_unlock(&l->lock);
	mutex_lock(&fs->listings->lock);
	place = dir->listings.beside == l;
	mutex_unlock(&fs->listings->lock);
	if (whole || place)
		keep(fs, dir, l, whole, bytes);
}

int listings_earn(struct fs *fs, int n)
{
	atomic_int *credit = &fs->listings->credit;
	int was = atomic_load(credit), is;

	do
		is = was + n > LISTED_CREDIT_MAX ? LISTED_CREDIT_MAX : was + n;
	while (!atomic_compare_exchange_weak(credit, &was, is));
	return is;
}

struct listing *listing_begin_beside(struct fs *fs, struct inode *dir, const struct rpc_cred *cred)
{
	struct listing *l = listing_new(cred, 0, NULL);

	if (l) {
		l->beside = true;
		keep(fs, dir, l, false, 0);
	}
	return l;
}

struct listing *listing_known(struct fs *fs, struct inode *dir, const struct rpc_cred *cred)
{
	struct listings *a = fs->listings;
	struct listing *l;

	mutex_lock(&a->lock);
	l = dir->listings.whole;
	/* after a change by this mount l may still be of use to listed_lookup() */
	if (l && !entry_believed(fs, dir, l->asked)) {
		if (!names_unchanged(fs->names, dir, NULL, l->asked))
			drop_locked(fs, l);
		l = NULL;
	}
	if (l && !rpc_same_cred(&l->cred, cred))
		l = NULL;
	if (l) {
		TAILQ_REMOVE(&a->kept, l, kept);
		TAILQ_INSERT_TAIL(&a->kept, l, kept);
		listing_ref(l);
	}
	mutex_unlock(&a->lock);
	return l;
}

void listing_unindex_locked(struct listing *l) REQUIRES(l->lock)
{
	free(l->chains);
	l->chains = NULL;
	l->nchains = l->nrecords = 0;
	l->indexed = NULL;
}

/* --- from the server -------------------------------------------------------------------------- */

/* The number of an entry. A mount point on the server stands for the root of the file system
 * mounted there, as in stat(2). If the server cannot look at that root, the entry stands for the
 * directory below the mount. */
static uint64_t entry_number(const struct request *r, const struct nfs_dirent *ent)
{
	struct nfs_attr a = {
		.fileid = ent->fileid,
		.fsid_major = r->dir->fsid_major,
		.fsid_minor = r->dir->fsid_minor,
	};

	return inode_number(r->fs->inodes, ent->have_attr ? &ent->attr : &a);
}

static bool fetch_entry(struct nfs_op *op, const struct nfs_dirent *ent)
{
	struct request *r = request_of(op);
	struct page *p = list_of(r)->page;
	uint32_t fhlen = ent->have_attr && ent->have_fh ? ent->fh.len : 0;
	size_t len = (sizeof(struct listing_entry) + fhlen + ent->namelen + 1 + 7) & ~(size_t)7;
	struct listing_entry *rec;

	if (p->cap - p->len < len) {
		size_t cap = p->cap ? p->cap * 2 : 8192;
		char *mem = realloc(p->mem, cap);

		if (!mem) {
			list_of(r)->error = -ENOMEM;
			return false;
		}
		p->mem = mem;
		p->cap = cap;
	}
	rec = (struct listing_entry *)(p->mem + p->len);
	rec->cookie = ent->cookie;
	rec->number = entry_number(r, ent);
	rec->len = len;
	rec->namelen = ent->namelen;
	rec->fhlen = (uint16_t)fhlen;
	rec->server = ent->fh.server;
	if (ent->have_attr)
		rec->attr = ent->attr;
	else
		rec->attr.type = 0;
	memcpy(rec->text, ent->fh.data, fhlen);
	memcpy(rec->text + fhlen, ent->name, ent->namelen);
	rec->text[fhlen + ent->namelen] = 0;
	p->len += len;
	p->count++;
	p->last = ent->cookie;
	if (ent->cookie <= COOKIE_LOW) {
		log_error("server gave the reserved cookie %llu to a directory entry: server bug",
			(unsigned long long)ent->cookie);
		list_of(r)->error = -EREMOTEIO;
		return false;
	}
	return true;
}

static int fetch_check(const struct request *r, const struct nfs_op *op)
{
	const struct page *p = list_of(r)->page;

	if (op->error)
		return op->error;
	if (list_of(r)->error)
		return list_of(r)->error;
	if (!p->eof && (!p->count || p->last == p->after)) {
		log_error(
			"server's listing does not advance after cookie %llu (%u entries, not the "
			"end): server bug",
			(unsigned long long)p->after, p->count);
		return -EREMOTEIO;
	}
	return 0;
}

/* Does p, a further page, end with a cookie that an earlier page ended with? Then the listing would
 * never end. One kept cookie, l->mark, is enough to find out, if the mark is replaced after one
 * page, then two, four and so on. In the end the mark lies in the loop, and stays long enough. */
static bool loops_locked(struct listing *l, const struct page *p) REQUIRES(l->lock)
{
	if (p->eof)
		return false;
	if (l->stretch && p->last == l->mark)
		return true;
	if (l->steps++ == l->stretch) {
		l->mark = p->last;
		l->stretch = l->stretch ? l->stretch * 2 : 1;
		l->steps = 0;
	}
	return false;
}

/* Notes the names of p, if all names before p have been noted. */
static void note_names_locked(struct fs *fs, struct inode *dir, struct listing *l, struct page *p)
	REQUIRES(l->lock)
{
	bool goes_on = l->token != 0;

	for (size_t pos = 0; goes_on && pos < p->len;) {
		const struct listing_entry *rec = (struct listing_entry *)(p->mem + pos);

		goes_on = names_listed(
			fs->names, dir, l->token, rec->text + rec->fhlen, rec->namelen);
		pos += rec->len;
	}
	if (goes_on && !p->eof)
		return;
	names_list_end(fs->names, dir, l->token, goes_on);
	l->token = 0;
}

/* Frees all pages but the last two: the one being read, and the one ahead. */
static void cut_locked(struct listing *l) REQUIRES(l->lock)
{
	struct page *p;

	while (l->bytes > LISTING_BYTES && (p = TAILQ_FIRST(&l->pages)) &&
		TAILQ_NEXT(p, link) != TAILQ_LAST(&l->pages, page_list) &&
		p != TAILQ_LAST(&l->pages, page_list)) {
		TAILQ_REMOVE(&l->pages, p, link);
		l->bytes -= p->cap;
		listing_unindex_locked(l);
		l->cut = true;
		l->change++;
		page_free(p);
	}
}

/* Adds p to l, which then owns p; *whole: p was the last missing page. */
static int add_page(struct request *r, struct listing *l, struct page *p, bool *whole)
{
	int error = 0;

	*whole = false;
	mutex_lock(&l->lock);
	if (p->after != l->end || l->eof) { /* another request was faster */
		page_free(p);
	} else if (loops_locked(l, p)) {
		log_error("server's listing comes back to cookie %llu without end: server bug",
			(unsigned long long)p->last);
		page_free(p);
		error = -ELOOP;
	} else {
		memcpy(l->verf, r->batch.first.op.u.readdir.verf, sizeof(l->verf));
		note_names_locked(r->fs, r->dir, l, p);
		if (p->after == l->start)
			l->asked = p->asked;
		TAILQ_INSERT_TAIL(&l->pages, p, link);
		l->bytes += p->cap;
		l->count += p->count;
		l->end = p->count ? p->last : p->after;
		l->eof = p->eof;
		cut_locked(l);
		*whole = l->eof && !l->cut && !l->start && l->bytes <= LISTING_BYTES;
	}
	mutex_unlock(&l->lock);
	return error;
}

static char *shrink(char *mem, size_t len)
{
	char *less = len ? realloc(mem, len) : NULL;

	return less ? less : mem;
}

/* A page of a listing beside, of n entries, has come or has failed to come. */
static void account_beside(struct request *r, unsigned n)
{
	const struct options *o = r->fs->opt;

	listings_earn(r->fs, -(int)n);
	if (list_of(r)->error)
		dirnames_leave_unlisted(&r->dir->dirnames, o->acdirmax * NSEC_PER_SEC);
}

static void fetch_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct listing *l = list_of(r)->listing;
	struct page *p = list_of(r)->page;
	bool whole = false;

	p->eof = op->u.readdir.eof;
	entry_note_dir(r->fs, r->dir, &op->u.readdir.dir_attr, p->asked);
	list_of(r)->error = fetch_check(r, op);
	list_of(r)->page = NULL;
	p->cap = p->len;
	p->mem = shrink(p->mem, p->len);
	if (l->beside)
		account_beside(r, p->count);
	if (list_of(r)->error)
		page_free(p);
	else
		list_of(r)->error = add_page(r, l, p, &whole);
	if (whole || l->beside)
		keep_fetched(r->fs, r->dir, l, whole);
	r->next(r);
}

/* The first page of l is about to be asked for. From now on the names that this mount changes are
 * noted and, with lookupcache=complete, the names in the directory. */
static void begin_names_locked(struct request *r, struct listing *l, uint64_t asked)
	REQUIRES(l->lock)
{
	names_watch(r->fs->names, r->dir, asked);
	if (r->fs->opt->cache_complete && entry_keeps_names(r->fs, r->dir))
		l->token = entry_list_names(r->fs, r->dir, asked, l->cred.uid, COMPLETE_NAMES_MAX);
}

/* Makes the request of listing_fetch() ready. False: step follows at once. */
static bool fetch_ready(struct request *r, struct listing *l, request_step_fn *step)
{
	struct page *p = calloc(1, sizeof(*p));
	struct fs *fs = r->fs;
	struct nfs_op *op;

	list_of(r)->error = p ? 0 : -ENOMEM;
	list_of(r)->listing = l;
	list_of(r)->page = p;
	r->next = step;
	if (!p)
		return false;
	attrs_listing(&r->dir->attrs);
	p->asked = clock_ns();
	op = request_op(r, NFS_READDIR, readdir);
	op->u.readdir.dir = r->dir->fh;
	op->u.readdir.max_bytes = FETCH_BYTES;
	mutex_lock(&l->lock);
	op->u.readdir.cookie = p->after = l->end;
	memcpy(op->u.readdir.verf, l->verf, sizeof(l->verf));
	if (!l->end)
		begin_names_locked(r, l, p->asked);
	if (!l->end && l->beside)
		op->u.readdir.max_bytes = BESIDE_FIRST_BYTES;
	mutex_unlock(&l->lock);
	if (fs->info.dtsize && fs->info.dtsize < op->u.readdir.max_bytes)
		op->u.readdir.max_bytes = fs->info.dtsize;
	op->u.readdir.plus = true; /* for the type, which is needed either way */
	op->u.readdir.entry = fetch_entry;
	op->u.readdir.want_dir = entry_wants_dir(fs);
	return true;
}

void listing_fetch(struct request *r, struct listing *l, request_step_fn *step)
{
	if (fetch_ready(r, l, step))
		request_submit(r, fetch_done);
	else
		step(r);
}

void listing_send(struct request *r)
{
	if (r)
		request_submit(r, fetch_done);
}

/* --- ahead ------------------------------------------------------------------------------------ */

static void ahead_done(struct request *r)
{
	struct request_list list = SLIST_HEAD_INITIALIZER(list), stay = list;
	struct listing *l = list_of(r)->listing;
	struct listings *a = r->fs->listings;
	struct request *w;

	mutex_lock(&a->lock);
	l->ahead = false;
	while ((w = SLIST_FIRST(&a->waiting))) {
		SLIST_REMOVE_HEAD(&a->waiting, free);
		SLIST_INSERT_HEAD(list_of(w)->listing == l ? &list : &stay, w, free);
	}
	a->waiting = stay;
	mutex_unlock(&a->lock);
	while ((w = SLIST_FIRST(&list))) {
		SLIST_REMOVE_HEAD(&list, free);
		w->next(w);
	}
	listing_unref(r->fs, r->dir, l);
	request_free(r);
}

struct request *listing_ahead(struct fs *fs, struct inode *dir, struct listing *l)
{
	struct request *r = request_new_cred(fs, NULL, &l->cred);
	struct listings *a = fs->listings;
	bool was;

	if (!r)
		return NULL;
	mutex_lock(&a->lock);
	was = l->ahead;
	l->ahead = true;
	mutex_unlock(&a->lock);
	if (was) {
		request_free(r);
		return NULL;
	}
	r->dir = inode_ref(dir);
	if (fetch_ready(r, listing_ref(l), ahead_done))
		return r;
	ahead_done(r);
	return NULL;
}

void listing_fetch_ahead(struct fs *fs, struct inode *dir, struct listing *l)
{
	listing_send(listing_ahead(fs, dir, l));
}

bool listing_waits(struct request *r, struct listing *l, request_step_fn *next)
{
	struct listings *a = r->fs->listings;
	bool waits;

	list_of(r)->listing = l;
	r->next = next;
	mutex_lock(&a->lock);
	waits = l->ahead;
	if (waits)
		SLIST_INSERT_HEAD(&a->waiting, r, free);
	mutex_unlock(&a->lock);
	return waits;
}

void listings_take_gone(struct fs *fs, struct request_list *gone)
{
	mutex_lock(&fs->listings->lock);
	request_list_take_gone(&fs->listings->waiting, gone);
	mutex_unlock(&fs->listings->lock);
}
