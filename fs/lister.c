/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lister: lists a directory beside what its users do.
 */
#include "fs/lister.h"

#include "fs/entry.h"
#include "fs/names.h"
#include "fs/request.h"
#include "transport/clock.h"

#define PAGE_BYTES (64u << 10)
#define TOO_LARGE  16u /* times that names are believed until it is looked at again */

/* For how many ns names in dir are believed. */
static uint64_t believed_ns(const struct fs *fs, struct inode *dir)
{
	return inode_timeout(dir, fs->opt->acdirmin, fs->opt->acdirmax) * NSEC_PER_SEC;
}

static void end(struct request *r, bool whole)
{
	struct fs *fs = r->fs;

	names_list_end(fs->names, r->dir, r->u.lister.token, whole);
	if (r->u.lister.too_large)
		names_too_large(fs->names, r->dir, TOO_LARGE * believed_ns(fs, r->dir));
	request_free(r);
}

/* The server may list for ever: entries count, whatever their names. */
static bool take(struct nfs_op *op, const struct nfs_dirent *ent)
{
	struct request *r = request_of(op);
	struct names *names = r->fs->names;

	r->u.lister.last = ent->cookie;
	r->u.lister.too_large = ++r->u.lister.count > LISTER_NAMES_MAX;
	return !r->u.lister.too_large &&
	       names_listed(names, r->dir, r->u.lister.token, ent->name, ent->namelen);
}

static void page(struct request *r);

static void page_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;

	if (!op->error)
		entry_note_dir(r->fs, r->dir, &op->u.readdir.dir_attr, r->u.lister.asked);
	/* no end, and nothing that is wanted: it was given up, or the server gave nothing */
	if (op->error || op->u.readdir.eof || r->u.lister.last == op->u.readdir.cookie ||
		r->u.lister.too_large)
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
	op->u.readdir.cookie = r->u.lister.last;
	if (r->u.lister.last)
		memcpy(op->u.readdir.verf, verf, sizeof(verf));
	op->u.readdir.max_bytes = PAGE_BYTES;
	op->u.readdir.entry = take;
	op->u.readdir.want_dir = entry_wants_dir(r->fs);
	inode_listing(r->dir);
	r->u.lister.asked = clock_ns();
	request_submit(r, page_done);
}

void lister_missed(struct fs *fs, struct inode *dir, const struct rpc_cred *cred)
{
	struct request *r;

	if (!fs->opt->cache_complete || !entry_keeps_names(fs, dir) ||
		!names_missed(fs->names, dir, believed_ns(fs, dir)))
		return;
	r = request_new_cred(fs, NULL, cred);
	if (!r)
		return;
	r->dir = inode_ref(dir);
	r->u.lister.token = names_list(fs->names, dir, clock_ns(), cred->uid, LISTER_NAMES_MAX);
	page(r);
}
