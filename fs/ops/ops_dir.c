/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_dir: listing directories.
 *
 * The server's answers are kept as a listing (listing.h). A handle has one listing at a time, and
 * the next part is fetched while a reader reads one part. Offsets are the server's cookies. The
 * cookies 0, 1 and 2 never belong to an entry (RFC 8881 section 18.23.3), and stand for the start,
 * the place after "." and the place after "..". rewinddir(3) asks the server again, as opendir(3)
 * does: for the entries or, if those took several answers, whether the directory has changed since.
 * If opendir(3) has to ask the server for the right, opendir(3) also asks for the first entries at
 * once.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fs/lookup/dir.h"
#include "fs/lookup/dirents.h"
#include "fs/lookup/entry.h"
#include "fs/lookup/listing.h"
#include "fs/ops/ops.h"
#include "transport/clock.h"
#include "transport/lock.h"

struct opendir_state {
	struct listing *listing; /* begun beside, a reference; NULL: none */
};

static struct opendir_state *opendir_of(const struct request *r)
{
	return request_state(r, struct opendir_state);
}

/* how long a listing begun at the open may serve the first read */
#define FRESH_NS 1000000000u

/* --- opening ---------------------------------------------------------------------------------- */

static void opendir_fail(struct request *r, int error)
{
	listing_unref(r->fs, r->inode, opendir_of(r)->listing);
	request_end(r, error);
}

static void opendir_reply(struct request *r, bool may_search)
{
	struct dir *d = dir_new(r->fs, r->inode, &r->batch.cred, may_search);
	struct fuse_file_info fi = {0};
	struct fs *fs = r->fs;
	fuse_req_t fuse;

	if (!d) {
		opendir_fail(r, -ENOMEM);
		return;
	}
	mutex_alone(&d->lock); /* the kernel does not know d yet */
	d->request = request_number(r);
	d->listing = opendir_of(r)->listing;
	d->fresh = d->listing ? r->born : 0;
	if (fs->ledger)
		dir_note_locked(d, NULL);
	fi.fh = d->handle.number;
	fuse = request_take_fuse(r);
	request_free(r);
	if (fuse_reply_open(fuse, &fi)) {
		dir_release(d);
	}
}

static void opendir_allowed(struct request *r, uint32_t allowed)
{
	if (allowed & NFS_ACCESS_READ)
		opendir_reply(r, allowed & NFS_ACCESS_LOOKUP);
	else
		opendir_fail(r, -EACCES);
}

static void opendir_checked(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	int error = entry_note_access(r, op);

	if (error)
		opendir_fail(r, error);
	else
		opendir_allowed(r, op->u.access.allowed);
}

/* A listing to begin beside the question; NULL: a known listing may do. */
static struct listing *opendir_lists(struct request *r)
{
	struct listing *l;

	if (!entry_wants_dir(r->fs))
		return NULL;
	l = listing_known(r->fs, r->inode, &r->batch.cred);
	if (!l)
		return listing_new(&r->batch.cred, 0, NULL);
	return listing_unref(r->fs, r->inode, l);
}

void ops_opendir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct request *beside = NULL;
	uint32_t allowed;
	struct dir *d;

	if (!r)
		return;
	r->inode = inode_ref(inode_of(fs->inodes, ino));
	if (request_is_again(r) && (d = dir_opened_by(fs, request_number(r))))
		dir_release(d);		    /* the kernel does not know d */
	if (fs->opt->default_permissions) { /* the kernel checks the mode, now and at each walk */
		opendir_reply(r, true);
		return;
	}
	if (attrs_known_access(&r->inode->attrs, &r->batch.cred,
		    NFS_ACCESS_READ | NFS_ACCESS_LOOKUP, entry_attr_since(fs, r->inode),
		    &allowed)) {
		opendir_allowed(r, allowed);
		return;
	}
	opendir_of(r)->listing = opendir_lists(r);
	if (opendir_of(r)->listing)
		beside = listing_ahead(fs, r->inode, opendir_of(r)->listing);
	entry_ask_access(r, &r->batch.first);
	request_submit(r, opendir_checked);
	listing_send(beside);
}

void ops_releasedir(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct dir *d = dir_of(fs_of(req), fi);

	if (!d) { /* as in ops_release() */
		fuse_reply_err(req, 0);
		return;
	}
	dir_release(d);
	fuse_reply_err(req, 0);
}

void ops_fsyncdir(fuse_req_t req, fuse_ino_t ino, int datasync, struct fuse_file_info *fi)
{
	fuse_reply_err(req, 0); /* names are durable when the server has answered */
}

/* --- reading ---------------------------------------------------------------------------------- */

static bool put_dots(struct request *r, struct dirents *out)
{
	struct fuse_entry_param e = {
		.attr.st_ino = list_of(r)->dir->inode->number, .attr.st_mode = S_IFDIR};

	if (list_of(r)->offset < COOKIE_DOT && !dirents_put(out, ".", COOKIE_DOT, &e))
		return false;
	return list_of(r)->offset >= COOKIE_DOTDOT || dirents_put(out, "..", COOKIE_DOTDOT, &e);
}

/* Fills out with the entries at d->pos in d->page and in the pages after d->page. */
static void put_pages_locked(struct dirents *out, struct dir *d) REQUIRES(d->lock)
{
	uint64_t now = clock_ns();

	for (const struct page *p = d->page;; p = TAILQ_NEXT(p, link), d->page = p, d->pos = 0) {
		while (d->pos < p->len) {
			const struct listing_entry *rec = (struct listing_entry *)(p->mem + d->pos);

			if (!dirents_put_record(out, p, rec, now))
				return;
			d->pos += rec->len;
			d->pos_after = rec->cookie;
		}
		if (!TAILQ_NEXT(p, link))
			return;
	}
}

/* Answers with the entries at the known place in d->listing. */
static void serve_locked(struct request *r, struct dirents *out) REQUIRES(list_of(r)->dir->lock)
{
	if (put_dots(r, out))
		put_pages_locked(out, list_of(r)->dir);
}

/* Finds the place after cookie; false: l does not have the cookie. d->page NULL: no page yet. */
static bool seek_locked(struct dir *d, const struct listing *l, uint64_t cookie)
	REQUIRES(d->lock, l->lock)
{
	const struct page *p;

	if (d->page && d->change == l->change && d->pos_after == cookie)
		return true;
	d->page = NULL;
	d->pos = 0;
	d->pos_after = cookie;
	d->change = l->change;
	if (TAILQ_EMPTY(&l->pages))
		return cookie == l->start;
	TAILQ_FOREACH (p, &l->pages, link) {
		d->page = p;
		if (p->after == cookie)
			return true;
		for (d->pos = 0; d->pos < p->len;) {
			const struct listing_entry *rec = (struct listing_entry *)(p->mem + d->pos);

			d->pos += rec->len;
			if (rec->cookie == cookie)
				return true;
		}
	}
	d->page = NULL;
	return false;
}

/* where the entries after a cookie are: in the listing, not there yet, or never there */
enum place { THERE, BEHIND, ELSEWHERE };

static enum place place_locked(struct dir *d, const struct listing *l, uint64_t cookie)
	REQUIRES(d->lock, l->lock)
{
	if (!seek_locked(d, l, cookie))
		return ELSEWHERE;
	if (!d->page)
		return BEHIND;
	return d->pos < d->page->len || TAILQ_NEXT(d->page, link) || l->eof ? THERE : BEHIND;
}

/* The kept listing of the directory, with a reference, if r can use it; else NULL. */
static struct listing *kept(struct request *r)
{
	struct dir *d = list_of(r)->dir;
	struct listing *l = listing_known(r->fs, d->inode, &d->cred);

	if (l && list_of(r)->plus && !dirents_have_attr(r->fs, l))
		l = listing_unref(r->fs, d->inode, l);
	return l;
}

/* A listing to be read from the start: the kept one, or a new one. The opener of a directory must
 * see names that other clients made before. So the server must have said that the directory has not
 * changed, unless the user lets names be believed (lookupcache=complete). */
static struct listing *begin(struct request *r)
{
	struct listing *l = NULL;

	if (list_of(r)->checked || r->fs->opt->cache_complete)
		l = kept(r);
	return l ? l : listing_new(&list_of(r)->dir->cred, 0, NULL);
}

static void list_on(struct request *r);

static void checked(struct request *r)
{
	const struct nfs_op *op = &r->batch.first.op;

	if (!op->error)
		entry_note_attr(r->fs, r->dir, &op->u.getattr.attr, r->born);
	list_of(r)->checked = !op->error;
	list_on(r);
}

static bool has_two_pages(const struct listing *l)
{
	mutex_alone(&l->lock); /* l is whole: the pages do not change */
	return TAILQ_NEXT(TAILQ_FIRST(&l->pages), link);
}

/* True: the server is asked whether the directory has changed, because a listing is kept that would
 * need more than one answer to fetch again. */
static bool check(struct request *r)
{
	struct listing *l = kept(r);
	bool large = l && has_two_pages(l);

	listing_unref(r->fs, r->dir, l);
	if (large) {
		request_op(r, NFS_GETATTR, getattr)->u.getattr.fh = r->dir->fh;
		request_submit(r, checked);
	}
	return large;
}

static void use_locked(struct dir *d, struct listing *l) REQUIRES(d->lock)
{
	listing_unref(d->fs, d->inode, d->listing);
	d->listing = l;
	d->page = NULL;
}

/* The handle's listing, locked: one that has cookie, or one that begins there. NULL when out of
 * memory: the analysis cannot follow. */
static struct listing *listing_for_locked(struct request *r, uint64_t cookie, enum place *place)
	REQUIRES(list_of(r)->dir->lock) NO_LOCK_ANALYSIS
{
	struct dir *d = list_of(r)->dir;
	struct listing *l;

	if (!d->listing || list_of(r)->restart) {
		l = begin(r);
		if (!l)
			return NULL;
		use_locked(d, l);
		list_of(r)->restart = false;
	}
	l = d->listing;
	mutex_lock(&l->lock);
	*place = place_locked(d, l, cookie);
	if (*place != ELSEWHERE)
		return l;
	l = listing_new(&d->cred, cookie, l);
	mutex_unlock(&d->listing->lock);
	if (!l)
		return NULL;
	use_locked(d, l);
	mutex_lock(&l->lock);
	*place = place_locked(d, l, cookie);
	return l;
}

static void fetched(struct request *r)
{
	int error = list_of(r)->error;

	listing_unref(r->fs, r->dir, list_of(r)->listing);
	if (error)
		request_end(r, error);
	else
		list_on(r);
}

/* Another request has fetched the next page, or has failed. If the page is missing, r asks for
 * it. */
static void waited(struct request *r)
{
	listing_unref(r->fs, r->dir, list_of(r)->listing);
	list_on(r);
}

static void answer(struct request *r, struct dirents *out)
{
	fuse_req_t fuse = request_take_fuse(r);

	if (fuse_reply_buf(fuse, out->mem, out->len))
		dirents_untaken(out);
	request_free(r);
}

/* The wanted entries follow the end of l, which was `end`. Waits for a request that fetches the
 * entries, or fetches them. Takes over the caller's reference to l. */
static void fetch_more(struct request *r, struct listing *l, uint64_t end)
{
	bool moved;

	if (request_is_gone(r)) {
		listing_unref(r->fs, r->dir, l);
		request_end(r, -EINTR);
		return;
	}
	if (listing_waits(r, l, waited))
		return;
	mutex_lock(&l->lock);
	moved = l->end != end || l->eof;
	mutex_unlock(&l->lock);
	if (moved)
		waited(r);
	else
		listing_fetch(r, l, fetched);
}

/* Answers with the entries of the handle's listing after the wanted cookie, or makes the listing
 * get the entries. */
static void list_on(struct request *r)
{
	struct dir *d = list_of(r)->dir;
	uint64_t cookie = list_of(r)->offset <= COOKIE_DOTDOT ? 0 : list_of(r)->offset, end;
	struct dirents out = {
		.fs = r->fs,
		.dir = r->dir,
		.fuse = r->fuse,
		.plus = list_of(r)->plus,
		.may_search = d->may_search,
		.cap = list_of(r)->size < DIRENTS_BYTES ? list_of(r)->size : DIRENTS_BYTES,
	};
	enum place place = ELSEWHERE;
	struct listing *l;
	bool ahead = false;

	if (!r->text)
		r->text = malloc(out.cap);
	out.mem = r->text;
	mutex_lock(&d->lock);
	l = out.mem ? listing_for_locked(r, cookie, &place) : NULL;
	if (!l) {
		mutex_unlock(&d->lock);
		request_end(r, -ENOMEM);
		return;
	}
	mutex_alone(&l->lock); /* listing_for_locked() has taken the lock */
	if (place == THERE) {
		dir_note_cookies_locked(d, l);
		serve_locked(r, &out);
		ahead = !TAILQ_NEXT(d->page, link) && !l->eof;
	}
	end = l->end;
	mutex_unlock(&l->lock);
	listing_ref(l);
	mutex_unlock(&d->lock);
	if (place != THERE) {
		fetch_more(r, l, end);
		return;
	}
	if (ahead)
		listing_fetch_ahead(r->fs, r->dir, l);
	listing_unref(r->fs, r->dir, l);
	answer(r, &out);
}

/* May a listing begun at the open be read now? Not if this mount has changed the directory
 * since. */
static bool take_fresh(struct dir *d)
{
	uint64_t begun;

	mutex_lock(&d->lock);
	begun = d->fresh;
	d->fresh = 0;
	mutex_unlock(&d->lock);
	return begun && clock_age(clock_ns(), begun) < FRESH_NS &&
	       !dirnames_is_naming(&d->inode->dirnames) &&
	       atomic_load_explicit(&d->inode->attrs.touched, memory_order_relaxed) < begun;
}

static void list(fuse_req_t req, size_t size, off_t off, struct fuse_file_info *fi, bool plus)
{
	struct fs *fs = fs_of(req);
	struct dir *d = dir_of(fs_of(req), fi);
	struct request *r = request_new_cred(fs, req, &d->cred);
	bool fresh;

	if (!r)
		return;
	r->dir = inode_ref(d->inode);
	list_of(r)->dir = d;
	list_of(r)->size = size;
	list_of(r)->offset = (uint64_t)off;
	list_of(r)->plus = plus;
	fresh = take_fresh(d);
	list_of(r)->restart = !off && !fresh;
	if (off || fresh || fs->opt->cache_complete || !check(r))
		list_on(r);
}

void ops_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	list(req, size, off, fi, false);
}

void ops_readdirplus(
	fuse_req_t req, fuse_ino_t ino, size_t size, off_t off, struct fuse_file_info *fi)
{
	list(req, size, off, fi, true);
}
