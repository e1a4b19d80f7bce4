/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * silly_give: gives files silly names, and restores their names.
 */
#include "fs/file/silly_give.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/known/fs.h"
#include "fs/known/names.h"
#include "fs/file/opening.h"
#include "fs/file/silly.h"
#include "transport/log.h"

static struct nfs_name name_of(const struct silly *s)
{
	return (struct nfs_name){s->name, (uint32_t)strlen(s->name)};
}

/* --- giving silly names ----------------------------------------------------------------------- */

static struct nfs_name to_name_of(const struct request *r)
{
	return (struct nfs_name){r->to_name, (uint32_t)strlen(r->to_name)};
}

/* r no longer needs r->inode, which was found open. A rename has counted r->inode as open once
 * more. */
static void let_go(struct request *r)
{
	if (r->to_dir) {
		opening_end(r->fs, r->inode);
		silly_drop(r->fs, r->inode);
	}
	r->inode = inode_unref(r->inode);
}

static bool is_same(const struct silly *a, const struct silly *b)
{
	return nfs_fh_same(&a->dir, &b->dir) && !strcmp(a->name, b->name);
}

/* Gives s to r->inode, in place of an older one; sure: the server has the name. */
static void keep_name(struct request *r, struct silly *s, bool sure)
{
	struct inode *ino = r->inode;
	struct silly *old;

	s->sure = sure;
	mutex_lock(&ino->lock);
	silly_note(r->fs, s, ino->id);
	old = ino->silly.name;
	ino->silly.name = s;
	if (sure)
		atomic_store(&ino->silly.is, true);
	mutex_unlock(&ino->lock);
	inode_touch(ino);
	if (old && is_same(old, s)) /* r was begun by a former daemon */
		silly_free(r->fs, old);
	else if (old)
		silly_remove(r->fs, old, NULL);
}

/* The file has the silly name. If the file was closed in the meantime, no other thread removes the
 * name. */
static void renamed(struct request *r)
{
	struct silly *s = unlink_of(r)->silly;

	unlink_of(r)->silly = NULL;
	keep_name(r, s, true);
	silly_drop(r->fs, r->inode);
	unlink_of(r)->error = 0;
	unlink_of(r)->renamed = true;
	r->next(r);
}

/* The file does not have the silly name, for all that is known. An unlink asked for the removal of
 * the name, so the last close removes the silly name in case the server carries the RENAME out late
 * (REMOVE finds nothing if not). A rename did not ask for a removal. */
static void not_renamed(struct request *r, bool may_come)
{
	struct silly *s = unlink_of(r)->silly;

	unlink_of(r)->silly = NULL;
	if (may_come && !r->to_dir) {
		keep_name(r, s, false);
		silly_drop(r->fs, r->inode);
	} else {
		silly_free(r->fs, s);
	}
	let_go(r);
	r->next(r);
}

/* True: the answer of LOOKUP says that the name stands for the file ino. */
static bool found(const struct nfs_op *op, const struct inode *ino)
{
	return !op->error && nfs_fh_same(&op->u.lookup.fh, &ino->fh);
}

static void look_for(
	struct request *r, const struct nfs_fh *dir, struct nfs_name name, request_step_fn *step)
{
	struct nfs_op *op = request_op(r, NFS_LOOKUP, lookup);

	op->u.lookup.dir = *dir;
	op->u.lookup.name = name;
	request_submit(r, step);
}

/* The process of r, a rename, is being killed, and does not wait for the rest. */
static void answer_killed(struct request *r)
{
	fuse_req_t fuse = request_take_fuse(r);

	request_keep_going(r);
	request_naming_end(r);
	names_doubt(r->fs->names, r->dir, r->name);
	names_doubt(r->fs->names, r->to_dir, r->to_name);
	if (fuse)
		fuse_reply_err(fuse, request_gone_error(r));
}

/* LINK gives the file its name back, and never replaces another file. */
static void give_back(struct request *r, int error, request_step_fn *step)
{
	struct nfs_op *op;

	if (error == -EINTR)
		answer_killed(r);
	else
		request_keep_going(r);
	op = request_op(r, NFS_LINK, link);
	op->u.link.fh = r->inode->fh;
	op->u.link.dir = r->to_dir->fh;
	op->u.link.name = to_name_of(r);
	request_submit(r, step);
}

static void gave_back(struct request *r)
{
	struct silly *s = unlink_of(r)->silly;
	int error = r->batch.first.op.error;

	/* 0: the file has both names; EEXIST: the file never lost its name */
	if (!error) {
		unlink_of(r)->silly = NULL;
		keep_name(r, s, true);
		let_go(r);
		r->next(r);
		return;
	}
	if (error != -EEXIST)
		log_warn("a file that a failed rename was to replace may be left as %s: %s",
			s->name, strerror(-error));
	not_renamed(r, false);
}

/* Another client has removed the name that r, a rename, replaces. The name may stand for another
 * open file since then. */
static void check_again(struct request *r)
{
	struct nfs_name name = to_name_of(r);

	silly_free(r->fs, unlink_of(r)->silly);
	unlink_of(r)->silly = NULL;
	let_go(r);
	silly_check(r, &r->to_dir->fh, &name, r->next);
}

static void searched(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;

	if (found(op, r->inode))
		renamed(r);
	else if (r->to_dir && op->error == -ENOENT && unlink_of(r)->error == -ENOENT)
		check_again(r);
	else if (r->to_dir && op->error && op->error != -ENOENT)
		give_back(r, op->error, gave_back);
	else
		not_renamed(r, true);
}

static void answered(struct request *r)
{
	struct silly *s = unlink_of(r)->silly;
	int error = r->batch.first.op.error;

	unlink_of(r)->error = error;
	if (!error) {
		renamed(r);
	} else if (silly_refused(error)) {
		not_renamed(r, false);
	} else if (error != -EINTR) {
		look_for(r, &s->dir, name_of(s), searched);
	} else if (r->to_dir) {
		give_back(r, error, gave_back);
	} else {
		not_renamed(r, true);
	}
}

/* Is name in dir already the silly name of ino? */
static bool is_silly_name(struct inode *ino, const struct nfs_fh *dir, const struct nfs_name *name)
{
	const struct silly *s;
	bool is;

	mutex_lock(&ino->lock);
	s = ino->silly.name;
	is = s && nfs_fh_same(&s->dir, dir) && strlen(s->name) == name->len &&
	     !memcmp(s->name, name->s, name->len);
	mutex_unlock(&ino->lock);
	return is;
}

/* Does the file have a silly name beside the name that is being removed? Another client may have
 * removed the silly name. */
static bool has_silly_name(struct inode *ino, const struct nfs_attr *attr)
{
	bool has;

	mutex_lock(&ino->lock);
	has = ino->silly.name && ino->silly.name->sure;
	mutex_unlock(&ino->lock);
	return has && attr->nlink > 1;
}

/* Do both names of r, a rename, stand for ino? Then the server changes nothing. */
static bool is_moved(struct request *r, struct inode *ino)
{
	struct name_info info;
	bool is;

	if (!r->to_dir || !names_get(r->fs->names, r->dir, r->name, &info))
		return false;
	is = info.ino == ino;
	inode_unref(info.ino);
	return is;
}

static struct silly *make_name(struct request *r, const struct nfs_fh *dir)
{
	struct silly *s = calloc(1, sizeof(*s));
	unsigned number;
	uint32_t tag;

	if (!s)
		return NULL;
	s->dir = *dir;
	s->cred = r->batch.cred;
	s->request = request_number(r);
	number = silly_number(r->fs, r->batch.noted, &tag);
	snprintf(s->name, sizeof(s->name), ".nfs%016llx%08x%04x",
		(unsigned long long)r->inode->fileid, tag, number);
	return s;
}

/* Gives r->inode the name s in place of name in dir. The note comes first: if r comes again, to a
 * successor, r must not look for the file by its old name (begins_again()). */
static void give(
	struct request *r, struct silly *s, const struct nfs_fh *dir, const struct nfs_name *name)
{
	struct nfs_op *op;

	unlink_of(r)->silly = s;
	silly_note(r->fs, s, r->inode->id);
	names_making(r->fs->names, r->to_dir ? r->to_dir : r->dir, s->name);
	op = request_op(r, NFS_RENAME, rename);
	op->u.rename.from_dir = op->u.rename.to_dir = *dir;
	op->u.rename.from = *name;
	op->u.rename.to = name_of(s);
	op->u.rename.moved = &r->inode->fh;
	request_submit(r, answered);
}

static void looked_up(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct nfs_fh dir = op->u.lookup.dir;
	struct nfs_name name = op->u.lookup.name;
	struct silly *s;

	if (!op->error && op->u.lookup.attr.type == NFS_REG)
		r->inode = inode_find(r->fs->inodes, &op->u.lookup.fh);
	if (r->inode && is_moved(r, r->inode))
		r->inode = inode_unref(r->inode);
	/* a failed rename may have to restore the name of the replaced file */
	if (r->inode && opening_claim(r, r->inode, r->to_dir != NULL))
		r->inode = NULL;
	if (!r->inode) {
		r->next(r);
		return;
	}
	unlink_of(r)->error = is_silly_name(r->inode, &dir, &name) ? -EBUSY : 0;
	if (unlink_of(r)->error || has_silly_name(r->inode, &op->u.lookup.attr)) {
		let_go(r);
		r->next(r);
		return;
	}
	s = make_name(r, &dir);
	if (!s) {
		unlink_of(r)->error = -ENOMEM;
		let_go(r);
		r->next(r);
		return;
	}
	give(r, s, &dir, &name);
}

/* True: no file of the mount is open, so name needs no silly name. Until opening_claim_end(), opens
 * of the file that name stands for wait. */
static bool none_open(struct request *r, const char *name)
{
	struct names *names = r->fs->names;
	struct name_info info;

	if (atomic_load(&r->fs->open_files))
		return false;
	if (!names_get(names, r->to_dir ? r->to_dir : r->dir, name, &info) ||
		opening_claim(r, info.ino, false))
		return true;
	inode_unref(info.ino);
	return false;
}

/* True: the file that name was last known to stand for is not open. If name still has that file, no
 * silly name is needed, and over NFSv4 REMOVE itself can check. Opens wait as in none_open(). */
static bool known_closed(struct request *r, const char *name)
{
	struct name_info info;

	/* an op with `only` has another form of COMPOUND, and must not meet the note of one without
	 */
	if (unlink_of(r)->ask || r->fs->info.vers_major < 4 || r->fs->ledger ||
		!names_get(r->fs->names, r->to_dir ? r->to_dir : r->dir, name, &info))
		return false;
	unlink_of(r)->only = info.ino->type != NFS_DIR && opening_claim(r, info.ino, false);
	if (!unlink_of(r)->only)
		inode_unref(info.ino);
	return unlink_of(r)->only;
}

/* True: a former daemon had begun with r, and was killed, so the name may stand for another file by
 * now: a RENAME gives the name to the file that moves. r goes on where the calls of the former
 * daemon began, and their noted answers follow. */
static bool begins_again(struct request *r, const struct nfs_fh *dir, const struct nfs_name *name,
	request_step_fn *next)
{
	struct silly *s;

	if (!request_is_again(r) || unlink_of(r)->begun ||
		!nfs_client_has_changes(r->fs->client, request_number(r)))
		return false;
	unlink_of(r)->begun = true;
	s = silly_take_begun(r, &r->inode);
	if (!s) {
		next(r);
		return true;
	}
	r->next = next;
	if (r->to_dir)
		opening_begin(r->fs, r->inode); /* as opening_claim() does */
	give(r, s, dir, name);
	return true;
}

void silly_check(struct request *r, const struct nfs_fh *dir, const struct nfs_name *name,
	request_step_fn *next)
{
	struct nfs_op *op;

	unlink_of(r)->error = 0;
	unlink_of(r)->renamed = unlink_of(r)->only = false;
	if (begins_again(r, dir, name, next))
		return;
	if (unlink_of(r)->none || none_open(r, name->s) || known_closed(r, name->s)) {
		next(r);
		return;
	}
	r->next = next;
	op = request_op(r, NFS_LOOKUP, lookup);
	op->u.lookup.dir = *dir;
	op->u.lookup.name = *name;
	request_submit(r, looked_up);
}

void silly_replaced(struct request *r)
{
	if (r->inode)
		let_go(r);
}

/* --- restoring names -------------------------------------------------------------------------- */

/* The file keeps the silly name until its last close. */
static void end_undo_kept(struct request *r)
{
	keep_name(r, unlink_of(r)->silly, true);
	unlink_of(r)->silly = NULL;
	let_go(r);
	r->next(r);
}

/* The file has no silly name, or has one that must stay. */
static void end_undo(struct request *r)
{
	silly_free(r->fs, unlink_of(r)->silly);
	unlink_of(r)->silly = NULL;
	let_go(r);
	r->next(r);
}

static void leave(struct request *r, int error)
{
	log_warn("a file that a failed rename was to replace is left as %s: %s",
		unlink_of(r)->silly->name, strerror(-error));
	end_undo(r);
}

static void moved_back(struct request *r)
{
	int error = r->batch.first.op.error;

	if (error)
		leave(r, error);
	else
		end_undo(r);
}

/* The file that the new name stands for says whether the server carried the rename out. */
static void looked_again(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	bool sure = silly_refused(unlink_of(r)->error);

	if (!sure && !op->error && nfs_fh_same(&op->u.lookup.fh, &unlink_of(r)->moved)) {
		unlink_of(r)->error = 0;
		end_undo_kept(r);
		return;
	}
	if (op->error != -ENOENT || !sure) {
		leave(r, op->error ? op->error : -EEXIST);
		return;
	}
	/* a server without LINK, or one that refuses LINK for this file */
	op = request_op(r, NFS_RENAME, rename);
	op->u.rename.from_dir = op->u.rename.to_dir = r->to_dir->fh;
	op->u.rename.from = name_of(unlink_of(r)->silly);
	op->u.rename.to = to_name_of(r);
	op->u.rename.moved = &r->inode->fh;
	request_submit(r, moved_back);
}

/* The file has both names. If the server may still carry the rename out, the file needs the silly
 * name then. */
static void linked(struct request *r)
{
	struct silly *s = unlink_of(r)->silly;

	inode_touch(r->inode);
	if (r->batch.first.op.error) {
		look_for(r, &r->to_dir->fh, to_name_of(r), looked_again);
	} else if (!silly_refused(unlink_of(r)->error)) {
		end_undo_kept(r);
	} else {
		unlink_of(r)->silly = NULL;
		silly_remove(r->fs, s, NULL);
		end_undo(r);
	}
}

void silly_undo(struct request *r, request_step_fn *next)
{
	struct inode *ino = r->inode;
	struct silly *s = NULL;

	if (ino && unlink_of(r)->renamed) {
		mutex_lock(&ino->lock);
		s = ino->silly.name;
		ino->silly.name = NULL;
		mutex_unlock(&ino->lock);
	}
	if (!s) {
		silly_replaced(r);
		next(r);
		return;
	}
	atomic_store(&ino->silly.is, false);
	unlink_of(r)->silly = s;
	r->next = next;
	give_back(r, unlink_of(r)->error, linked);
}
