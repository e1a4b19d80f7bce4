/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_lookup: the files that names stand for, and the kernel's FORGETs.
 */
#include <errno.h>
#include <string.h>

#include "fs/lookup/entry.h"
#include "fs/file/flush.h"
#include "fs/lookup/listed.h"
#include "fs/lookup/lister.h"
#include "fs/lookup/listing.h"
#include "fs/known/names.h"
#include "fs/ops/ops.h"
#include "fs/file/retry.h"
#include "fs/kernel/turn.h"
#include "transport/clock.h"

static void lookup_done(struct request *r);

static void lookup_send(struct request *r)
{
	struct nfs_op *op = request_op(r, NFS_LOOKUP, lookup);

	op->u.lookup.dir = r->dir->fh;
	op->u.lookup.name = (struct nfs_name){r->name, (uint32_t)strlen(r->name)};
	op->u.lookup.want_dir = entry_wants_dir(r->fs);
	request_submit(r, lookup_done);
}

static void lookup_again(struct request *r)
{
	r->inode = inode_unref(r->inode);
	entry_of(r)->told.asked = clock_ns();
	lookup_send(r);
}

/* Must the answer wait for a process on turn, because of the file that was found? */
static bool lookup_waits(struct request *r, const struct nfs_op *op)
{
	if (op->error || op->u.lookup.attr.type != NFS_REG || r->turn.since)
		return false;
	r->inode = inode_find(r->fs->inodes, &op->u.lookup.fh);
	if (r->inode &&
		turn_waits(r, flush_size(r->inode, op->u.lookup.attr.size, r->born), lookup_again))
		return true;
	r->inode = inode_unref(r->inode);
	return false;
}

static void lookup_done(struct request *r)
{
	struct nfs_op *op = &r->batch.first.op;
	struct told told;

	entry_note_dir(r->fs, r->dir, &op->u.lookup.dir_attr, r->born);
	told = (struct told){
		.attr = &op->u.lookup.attr,
		.asked = entry_of(r)->told.asked ? entry_of(r)->told.asked : r->born,
		.name_asked = entry_name_asked(r->dir, &op->u.lookup.dir_attr, r->born),
		.born = r->born,
		.tid = r->pid,
	};
	/* The server tells the file of a name, or ENOENT, only to users that may search. */
	if (!op->error || op->error == -ENOENT)
		attrs_note_access(&r->dir->attrs, &r->batch.cred, NFS_ACCESS_LOOKUP,
			NFS_ACCESS_LOOKUP, r->born);
	if (op->error && stale_not_found(&r->fs->stale, r->pid))
		retry_let_go(r->fs, r->pid);
	if (op->error == -ENOENT) {
		lister_missed(r->fs, r->dir, &r->batch.cred);
		entry_end_absent(r, told.name_asked);
	} else {
		if (lookup_waits(r, op))
			return;
		if (!op->error)
			lister_found(r->fs, r->dir, &r->batch.cred, op->u.lookup.attr.type);
		entry_end(r, op->error, &op->u.lookup.fh, &told);
	}
}

/* Is the caller known to have the right to search r->dir? */
static bool may_search(struct request *r)
{
	uint32_t may;

	return attrs_known_access(&r->dir->attrs, &r->batch.cred, NFS_ACCESS_LOOKUP,
		       entry_attr_since(r->fs, r->dir), &may) &&
	       may;
}

/* The file of r->name is known. If valid attributes of the file are known, too, ends r and returns
 * true. */
static bool lookup_known_inode(struct request *r, struct inode *ino, uint64_t name_asked)
{
	struct nfs_attr attr;
	struct told told = {
		.attr = &attr, .name_asked = name_asked, .born = r->born, .tid = r->pid};
	struct fs *fs = r->fs;
	struct fuse_entry_param e;

	if (!inode_known_attr(ino, entry_attr_since(fs, ino), &attr, &told.asked) ||
		!entry_may_tell(ino) || turn_forbids(ino, r->pid, attr.size) ||
		!inode_hold(fs->inodes, ino))
		return false;
	entry_fill_known(fs, r->dir, r->name, ino, &told, &e);
	entry_reply(r, ino, &e);
	return true;
}

/* Answers from known names, if they are believed. The kernel must ask at each walk where some users
 * may not search. The kernel also asks when its time-out for a name is over, although the daemon
 * may have learned meanwhile, for another process, that the directory has not changed. The caller
 * must be known to have the right to search.
 *
 * If the kernel asks for a file by a name that it may still believe, the kernel has a reason: the
 * server is asked. The kernel asks for a name that it believes absent if a program is about to make
 * the name, or to give the name to a file. The server then gets that request next, and will tell if
 * the name exists after all. */
static bool lookup_known(struct request *r, const struct name_info *info)
{
	struct fs *fs = r->fs;
	bool known = entry_believed(fs, r->dir, info->seen) && may_search(r);

	if (known && info->ino)
		known = info->until < clock_ns() && lookup_known_inode(r, info->ino, info->seen);
	else if (known)
		entry_end_absent(r, info->seen);
	return known;
}

/* Answers ENOENT, with lookupcache=complete, if all names of the directory are known, and this name
 * is none of them. The kernel's client asks the server for a name that no program here has asked
 * for yet: another client may have made the name, and told a program here. So only the user can
 * allow this answer. A caller that is likely to make the name is no reason for the answer: another
 * client may have made the name too. */
static bool lookup_none(struct request *r)
{
	uint64_t until;

	return entry_knows_none(r->fs, r->dir, r->name, r->batch.cred.uid, &until) &&
	       may_search(r) && entry_end_none(r, until);
}

/* Answers from a listing, if one has told the file of the name since the server was last asked. */
static bool lookup_listed(struct request *r, const struct name_info *info)
{
	if (info->ino && (!info->seen || info->until >= clock_ns()))
		return false;
	return may_search(r) && listed_lookup(r, info->seen);
}

static bool lookup_here(struct request *r)
{
	struct name_info info = {.ino = NULL};
	bool done;

	if (stale_walks_again(&r->fs->stale, r->pid))
		return false;
	done = names_find(r->fs->names, r->dir, r->name, &info) && lookup_known(r, &info);
	if (!done && !info.ino)
		done = lookup_none(r);
	if (!done)
		done = lookup_listed(r, &info);
	inode_unref(info.ino);
	return done;
}

static void lookup_ask(struct request *r)
{
	struct request *beside = lister_asking(r->fs, r->dir, r->name, &r->batch.cred);

	lookup_send(r);
	listing_send(beside);
}

void ops_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct fs *fs = fs_of(req);
	struct request *r = request_new(fs, req);
	struct nfs_name n;

	if (!r)
		return;
	r->dir = inode_ref(inode_of(fs->inodes, parent));
	if (!request_set_name(r->name, &n, name))
		request_end(r, -ENAMETOOLONG);
	else if (!lookup_here(r))
		lookup_ask(r);
}

void ops_forget(fuse_req_t req, fuse_ino_t ino, uint64_t nlookup)
{
	struct fs *fs = fs_of(req);

	inode_forget(fs->inodes, inode_of(fs->inodes, ino), nlookup);
	fuse_reply_none(req);
}

void ops_forget_multi(fuse_req_t req, size_t count, struct fuse_forget_data *forgets)
{
	struct fs *fs = fs_of(req);

	for (size_t i = 0; i < count; i++)
		inode_forget(fs->inodes, inode_of(fs->inodes, forgets[i].ino), forgets[i].nlookup);
	fuse_reply_none(req);
}
