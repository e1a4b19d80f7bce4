/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lister: lists a directory beside its users' requests.
 */
#include "fs/lookup/lister.h"

#include "fs/lookup/entry.h"
#include "fs/lookup/listed.h"
#include "fs/lookup/listing.h"
#include "fs/known/names.h"
#include "fs/kernel/request.h"
#include "transport/clock.h"

#define PAGE_BYTES (64u << 10)

/* The state of a request that lists beside. */
struct lister_state {
	uint32_t token; /* of names_list() */
	uint32_t count; /* of entries */
	bool too_large;
	uint64_t last;	/* cookie */
	uint64_t asked; /* when the server was asked for the page */
};

static struct lister_state *lister_of(const struct request *r)
{
	return request_state(r, struct lister_state);
}
/* a directory that is too large is not listed for TOO_LARGE times the time that names are
 * believed */
#define TOO_LARGE 16u
#define LOOKS	  2u /* so many looks in a short time are worth a listing */

/* For how many ns names in dir are believed. */
static uint64_t believed_ns(const struct fs *fs, struct inode *dir)
{
	return attrs_timeout(&dir->attrs, fs->opt->acdirmin, fs->opt->acdirmax) * NSEC_PER_SEC;
}

static void end(struct request *r, bool whole)
{
	struct fs *fs = r->fs;

	names_list_end(fs->names, r->dir, lister_of(r)->token, whole);
	if (lister_of(r)->too_large)
		names_too_large(fs->names, r->dir, TOO_LARGE * believed_ns(fs, r->dir));
	request_free(r);
}

/* The server may list for ever: entries count, whether their names are new or not. */
static bool take(struct nfs_op *op, const struct nfs_dirent *ent)
{
	struct request *r = request_of(op);
	struct names *names = r->fs->names;

	lister_of(r)->last = ent->cookie;
	lister_of(r)->too_large = ++lister_of(r)->count > LISTER_NAMES_MAX;
	return !lister_of(r)->too_large &&
	       names_listed(names, r->dir, lister_of(r)->token, ent->name, ent->namelen);
}

static void page(struct request *r);

static void page_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;

	if (!op->error)
		entry_note_dir(r->fs, r->dir, &op->u.readdir.dir_attr, lister_of(r)->asked);
	/* no end, and no further entries: the listing was given up, or the server gave none */
	if (op->error || op->u.readdir.eof || lister_of(r)->last == op->u.readdir.cookie ||
		lister_of(r)->too_large)
		end(r, !op->error && op->u.readdir.eof);
	else
		page(r);
}

static void page(struct request *r)
{
	uint8_t verf[NFS_VERF_SIZE];
	struct nfs_op *op;

	memcpy(verf, r->batch.first.op.u.readdir.verf, sizeof(verf));
	op = request_op(r, NFS_READDIR, readdir);
	op->u.readdir.dir = r->dir->fh;
	op->u.readdir.cookie = lister_of(r)->last;
	if (lister_of(r)->last)
		memcpy(op->u.readdir.verf, verf, sizeof(verf));
	op->u.readdir.max_bytes = PAGE_BYTES;
	op->u.readdir.entry = take;
	op->u.readdir.want_dir = entry_wants_dir(r->fs);
	attrs_listing(&r->dir->attrs);
	lister_of(r)->asked = clock_ns();
	request_submit(r, page_done);
}

/* --- listings that tell files ----------------------------------------------------------------- */

/* Makes ready to fetch the next page of l. NULL: a fetch is in flight, or l is as long as
 * allowed. */
static struct request *go_on(struct fs *fs, struct inode *dir, struct listing *l)
{
	unsigned count;
	bool eof;

	mutex_lock(&l->lock);
	count = l->count;
	eof = l->eof;
	mutex_unlock(&l->lock);
	if (count > LISTER_NAMES_MAX)
		dirnames_leave_unlisted(&dir->dirnames, TOO_LARGE * believed_ns(fs, dir));
	return eof || count > LISTER_NAMES_MAX ? NULL : listing_ahead(fs, dir, l);
}

/* Are the entries of l, which may be NULL, of use, or will they be when the first page is there? */
static bool is_of_use(struct fs *fs, struct inode *dir, struct listing *l)
{
	uint64_t asked;
	bool begun;

	if (!l)
		return false;
	mutex_lock(&l->lock);
	begun = !l->count && !l->eof;
	asked = l->asked;
	mutex_unlock(&l->lock);
	return begun || listed_is_of_use(fs, dir, asked);
}

/* Lists dir, or goes on with a listing. A directory that this mount made needs no listing: the
 * kernel knows its names. */
static struct request *list(struct fs *fs, struct inode *dir, const struct rpc_cred *cred)
{
	struct listing *l[2], *beside, *whole;
	struct request *r = NULL;

	if (entry_made_here(fs, dir) || listings_earn(fs, 0) <= 0)
		return NULL;
	listings_kept(fs, dir, l);
	beside = l[0] && rpc_same_cred(&l[0]->cred, cred) ? l[0] : NULL;
	whole = l[1] && rpc_same_cred(&l[1]->cred, cred) ? l[1] : NULL;
	if (is_of_use(fs, dir, beside)) {
		r = go_on(fs, dir, beside);
	} else if (!is_of_use(fs, dir, whole)) {
		beside = listing_begin_beside(fs, dir, cred);
		r = beside ? listing_ahead(fs, dir, beside) : NULL;
		listing_unref(fs, dir, beside);
	}
	listing_unref(fs, dir, l[0]);
	listing_unref(fs, dir, l[1]);
	return r;
}

static bool is_useful(const struct fs *fs)
{
	return entry_wants_dir(fs) && fs->opt->acregmin && fs->opt->acdirmin;
}

struct request *lister_asking(
	struct fs *fs, struct inode *dir, const char *name, const struct rpc_cred *cred)
{
	if (!is_useful(fs))
		return NULL;
	listings_earn(fs, 1);
	return dirnames_looked(&dir->dirnames, name) >= LOOKS ? list(fs, dir, cred) : NULL;
}

void lister_found(struct fs *fs, struct inode *dir, const struct rpc_cred *cred, enum nfs_type type)
{
	if (is_useful(fs) && type == NFS_REG && dirnames_looks(&dir->dirnames, false))
		listing_send(list(fs, dir, cred));
}

/* --- listings that tell names ----------------------------------------------------------------- */

void lister_missed(struct fs *fs, struct inode *dir, const struct rpc_cred *cred)
{
	struct request *r;

	dirnames_looks(&dir->dirnames, true);
	if (!fs->opt->cache_complete || !entry_keeps_names(fs, dir) ||
		!names_missed(fs->names, dir, believed_ns(fs, dir)))
		return;
	r = request_new_cred(fs, NULL, cred);
	if (!r)
		return;
	r->dir = inode_ref(dir);
	lister_of(r)->token = entry_list_names(fs, dir, clock_ns(), cred->uid, LISTER_NAMES_MAX);
	if (lister_of(r)->token)
		page(r);
	else
		request_free(r);
}
