/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * entry: what the kernel is told of names and attributes, and what is noted of them.
 */
#include "fs/entry.h"

#include <errno.h>

#include "fs/attr.h"
#include "fs/deleg.h"
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

uint64_t entry_attr_since(const struct fs *fs, struct inode *ino)
{
	const struct options *o = fs->opt;
	bool dir = ino->type == NFS_DIR;
	unsigned s = inode_timeout(
		ino, dir ? o->acdirmin : o->acregmin, dir ? o->acdirmax : o->acregmax);
	uint64_t since = clock_ns() - s * NSEC_PER_SEC, deleg = deleg_since(fs, ino);

	return deleg && deleg <= since ? deleg - 1 : since;
}

/* For how long, in ns, the kernel may believe what the server said at `seen` of a name in dir. It
 * lets everybody walk through names: where not everybody may search, it must ask at each walk, and
 * the server decides. */
static uint64_t entry_time(const struct fs *fs, struct inode *dir, uint64_t seen)
{
	const struct options *o = fs->opt;
	uint64_t now = clock_ns(), until, mode_seen;

	if (!o->cache_names || (fs->shared && (inode_mode(dir, &mode_seen) & 0111) != 0111))
		return 0;
	until = inode_name_until(dir, seen, o->acdirmin, o->acdirmax);
	return until > now ? until - now : 0;
}

static double seconds(uint64_t ns)
{
	return (double)ns / NSEC_PER_SEC;
}

bool entry_believed(const struct fs *fs, struct inode *dir, uint64_t seen)
{
	const struct options *o = fs->opt;

	return o->cache_names && inode_name_until(dir, seen, o->acdirmin, o->acdirmax) > clock_ns();
}

/* The kernel does not look a directory up again while somebody works in it, and the root never. */
bool entry_wants_dir(const struct fs *fs)
{
	return fs->opt->cache_names && fs->opt->acdirmax;
}

void entry_note_dir(struct fs *fs, struct inode *dir, const struct nfs_dir_attr *a, uint64_t seen)
{
	uint64_t was = inode_version(dir);

	if (!a->have || a->attr.type != NFS_DIR)
		return;
	entry_attr_timeout(fs, dir, &a->attr);
	entry_note_attr(fs, dir, &a->attr, seen);
	/* a name that came before them may be from before that change */
	if (!a->before && inode_version(dir) != was)
		inode_doubt_names(dir);
}

double entry_attr_timeout(const struct fs *fs, struct inode *ino, const struct nfs_attr *a)
{
	const struct options *o = fs->opt;
	bool dir = ino->type == NFS_DIR;

	if (deleg_since(fs, ino))
		return o->acregmax;
	return inode_attr_timeout(
		ino, a->change, dir ? o->acdirmin : o->acregmin, dir ? o->acdirmax : o->acregmax);
}

double entry_attr_left(
	const struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t seen)
{
	double left = entry_attr_timeout(fs, ino, a);

	if (!deleg_since(fs, ino))
		left -= seconds(clock_ns() - seen);
	return left > 0 ? left : 0;
}

void entry_fill(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct nfs_attr *a, uint64_t seen, struct fuse_entry_param *e)
{
	uint64_t time = entry_time(fs, dir, seen);

	*e = (struct fuse_entry_param){
		.ino = inode_id(fs->inodes, ino),
		.generation = ino->generation,
		.attr_timeout = entry_attr_timeout(fs, ino, a),
	};
	if (names_put(fs->names, dir, name, ino, seen, time))
		e->entry_timeout = seconds(time);
	entry_stat(ino, a, &e->attr);
}

void entry_fill_known(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct nfs_attr *a, uint64_t seen, uint64_t name_seen, struct fuse_entry_param *e)
{
	uint64_t time = entry_time(fs, dir, name_seen), since = entry_attr_since(fs, ino);

	*e = (struct fuse_entry_param){
		.ino = inode_id(fs->inodes, ino),
		.generation = ino->generation,
		.attr_timeout = deleg_since(fs, ino) ? fs->opt->acregmax
				: seen > since	     ? seconds(seen - since)
						     : 0,
	};
	if (names_put(fs->names, dir, name, ino, name_seen, time))
		e->entry_timeout = seconds(time);
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
	entry_note_attr(r->fs, ino, attr, seen);
	if (!notify_pending(ino) || !notify_then(r->fs, r, reply))
		reply(r);
}

void entry_end_absent(struct request *r, uint64_t seen)
{
	uint64_t time = r->fs->opt->cache_absent ? entry_time(r->fs, r->dir, seen) : 0;
	struct fuse_entry_param none = {.ino = 0};
	fuse_req_t fuse;

	if (!r->fs->opt->cache_absent ||
		!names_put_absent(r->fs->names, r->dir, r->name, seen, time))
		time = 0;
	if (!time) {
		request_end(r, -ENOENT);
		return;
	}
	none.entry_timeout = seconds(time);
	fuse = request_take_fuse(r);
	request_free(r);
	fuse_reply_entry(fuse, &none);
}

/* Does this error of making a name say that it may be there by now, or was before? */
static bool may_be_there(int error)
{
	switch (error) {
	case -EACCES:
	case -EPERM:
	case -EROFS:
	case -ENOSPC:
	case -EDQUOT:
	case -ENAMETOOLONG:
		return false;
	default:
		return true;
	}
}

bool entry_not_made(struct request *r, int error)
{
	struct name_info was;
	bool absent;

	request_naming_end(r);
	if (!may_be_there(error) || !names_find(r->fs->names, r->dir, r->name, &was))
		return false;
	absent = !was.ino && was.until > clock_ns();
	if (was.ino) {
		inode_unref(was.ino);
		names_doubt(r->fs->names, r->dir, r->name);
		return false;
	}
	names_drop(r->fs->names, r->dir, r->name);
	if (absent)
		notify_take_back_name(r->fs, r->dir, r->name);
	return absent;
}

void entry_removed(struct request *r, int error)
{
	struct names *names = r->fs->names;
	struct name_info was;

	request_naming_end(r);
	if (names_get(names, r->dir, r->name, &was)) {
		if (error)
			inode_touch(was.ino); /* its links, its change time */
		else
			inode_note_removed(was.ino);
		inode_unref(was.ino);
	}
	if (error)
		names_doubt(names, r->dir, r->name);
	else
		names_drop(names, r->dir, r->name);
}

void entry_end_made(
	struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr)
{
	if (error)
		entry_not_made(r, error);
	request_naming_end(r);
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
