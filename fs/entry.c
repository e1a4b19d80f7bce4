/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * entry: what the kernel is told of names and attributes, and what is noted of them.
 */
#include "fs/entry.h"

#include <errno.h>

#include "fs/attr.h"
#include "fs/names.h"
#include "fs/notify.h"
#include "transport/clock.h"

void entry_set_mode(fuse_req_t req, struct nfs_sattr *set, mode_t mode, bool is_link)
{
	set->mask = NFS_SET_MODE;
	set->mode = mode & 07777;
	if (!fs_of(req)->sends_umask || is_link)
		return;
	set->mask |= NFS_SET_UMASK;
	set->umask = fuse_req_ctx(req)->umask & 0777;
}

void entry_stat(struct inode *ino, const struct nfs_attr *a, struct stat *st)
{
	inode_told(ino, a);
	attr_to_stat(a, st);
	st->st_ino = ino->number;
	if (atomic_load_explicit(&ino->is_silly, memory_order_relaxed) && st->st_nlink)
		st->st_nlink--;
}

void entry_note_attr(struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t seen)
{
	if (inode_note_attr(ino, a, seen))
		notify_take_back(fs, ino);
}

void entry_doubt_set_id(const struct fs *fs, struct inode *ino)
{
	uint64_t seen;

	if (inode_mode(ino, &seen) & (S_ISUID | S_ISGID))
		fuse_lowlevel_notify_inval_inode(fs->se, inode_id(fs->inodes, ino), -1, 0);
}

uint64_t entry_attr_since(const struct fs *fs)
{
	return clock_ns() - (uint64_t)(fs->opt->attr_timeout * 1e9);
}

/* How long the kernel may believe names in dir. It lets everybody walk through those: where not
 * everybody may search, it must ask at each walk, and the server decides. */
static double entry_timeout(const struct fs *fs, struct inode *dir)
{
	uint64_t seen;

	if (fs->shared && (inode_mode(dir, &seen) & 0111) != 0111)
		return 0;
	return fs->opt->entry_timeout;
}

/* entry_timeout() depends on the mode. The kernel does not look a directory up again while somebody
 * works in it, and the root never: so a LOOKUP in the directory asks for the mode too. */
bool entry_mode_is_old(const struct fs *fs, struct inode *dir)
{
	uint64_t seen;

	if (!fs->shared || fs->opt->entry_timeout <= 0)
		return false;
	inode_mode(dir, &seen);
	return seen <= entry_attr_since(fs);
}

double entry_attr_timeout(const struct fs *fs, struct inode *ino, const struct nfs_attr *a)
{
	const struct options *o = fs->opt;
	bool dir = ino->type == NFS_DIR;

	return inode_attr_timeout(
		ino, a->change, dir ? o->acdirmin : o->acregmin, dir ? o->acdirmax : o->acregmax);
}

void entry_fill(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct nfs_attr *a, uint64_t seen, struct fuse_entry_param *e)
{
	*e = (struct fuse_entry_param){
		.ino = inode_id(fs->inodes, ino),
		.generation = ino->generation,
		.attr_timeout = entry_attr_timeout(fs, ino, a),
		.entry_timeout = entry_timeout(fs, dir),
	};
	entry_note_attr(fs, ino, a, seen);
	/* a name that the server was asked for before names in dir were changed must be asked again
	 */
	if (seen <= atomic_load_explicit(&dir->touched, memory_order_relaxed))
		seen = 0;
	if (!names_put(fs->names, dir, name, ino, seen, (uint64_t)(e->entry_timeout * 1e9)))
		e->entry_timeout = 0;
	entry_stat(ino, a, &e->attr);
}

void entry_reply(struct request *r, struct inode *ino, const struct fuse_entry_param *e)
{
	fuse_req_t fuse = request_take_fuse(r);
	struct fs *fs = r->fs;

	request_free(r);
	if (fuse_reply_entry(fuse, e))
		inode_forget(fs->inodes, ino, 1); /* the kernel did not take it */
}

static void reply(struct request *r)
{
	struct inode *ino = r->u.entry.inode;
	struct fuse_entry_param e;

	entry_fill(r->fs, r->dir, r->name, ino, r->u.entry.attr, r->u.entry.asked, &e);
	entry_reply(r, ino, &e);
}

void entry_end(struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr,
	uint64_t seen)
{
	struct inode *ino = error ? NULL : inode_lookup(r->fs->inodes, fh, attr);

	if (!ino) {
		request_end(r, error ? error : -ENOMEM);
		return;
	}
	r->u.entry.inode = ino;
	r->u.entry.attr = attr;
	r->u.entry.asked = seen;
	if (notify_pending(ino))
		notify_then(r->fs, r, reply);
	else
		reply(r);
}

void entry_changed(struct fs *fs, struct inode *dir, const char *name, bool made, int error)
{
	struct names *names = fs->names;
	struct name_info was;

	inode_touch(dir);
	if (made || !names_get(names, dir, name, &was))
		return;
	if (error)
		inode_touch(was.ino); /* its links, its change time */
	else
		inode_note_removed(was.ino);
	inode_unref(was.ino);
	if (error)
		names_doubt(names, dir, name);
	else
		names_drop(names, dir, name);
}

void entry_end_made(
	struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr)
{
	entry_changed(r->fs, r->dir, r->name, true, error);
	entry_end(r, error, fh, attr, clock_ns());
}

uint32_t entry_access_bits(const struct inode *ino)
{
	uint32_t bits = NFS_ACCESS_READ | NFS_ACCESS_MODIFY | NFS_ACCESS_EXTEND;

	return bits |
	       (ino->type == NFS_DIR ? NFS_ACCESS_LOOKUP | NFS_ACCESS_DELETE : NFS_ACCESS_EXECUTE);
}

void entry_ask_access(struct request *r, struct part *p)
{
	struct nfs_op *op = part_op(p, NFS_ACCESS, access);

	op->u.access.fh = r->inode->fh;
	op->u.access.want = entry_access_bits(r->inode);
}

int entry_note_access(struct request *r, const struct nfs_op *op)
{
	if (op->error)
		return op->error;
	entry_note_attr(r->fs, r->inode, &op->u.access.attr, r->born);
	inode_note_access(
		r->inode, &r->batch.cred, op->u.access.want, op->u.access.allowed, r->born);
	return 0;
}
