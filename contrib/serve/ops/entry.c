/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * entry: names in directories, and the changes of names that every version of NFS has.
 */
#include "contrib/serve/ops/entry.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "contrib/serve/export/fdcache.h"
#include "contrib/serve/ops/attr.h"
#include "contrib/serve/ops/making.h"
#include "contrib/serve/ops/stable.h"
#include "contrib/serve/serve.h"
#include "contrib/serve/state/deleg_use.h"

uint32_t need_dir(const struct obj *o)
{
	if (S_ISDIR(o->type))
		return NFS4_OK;
	return S_ISLNK(o->type) ? NFS4ERR_SYMLINK : NFS4ERR_NOTDIR;
}

uint32_t need_file(const struct obj *o)
{
	if (S_ISREG(o->type))
		return NFS4_OK;
	if (S_ISDIR(o->type))
		return NFS4ERR_ISDIR;
	return S_ISLNK(o->type) ? NFS4ERR_SYMLINK : NFS4ERR_WRONG_TYPE;
}

uint32_t entry_name(const struct nfs_name *n, struct entry_name *out)
{
	if (n->len == 0)
		return NFS4ERR_INVAL;
	if (n->len > OBJ_NAME_MAX)
		return NFS4ERR_NAMETOOLONG;
	if (memchr(n->s, '\0', n->len) || memchr(n->s, '/', n->len))
		return NFS4ERR_BADCHAR;
	if (!obj_name_ok(n->s, n->len))
		return NFS4ERR_BADNAME;
	if (out) {
		memcpy(out->s, n->s, n->len);
		out->s[n->len] = '\0';
	}
	return NFS4_OK;
}

uint32_t entry_status(int r)
{
	switch (r) {
	case -EBADMSG:
		return NFS4ERR_BADHANDLE;
	case -ESTALE:
		return NFS4ERR_STALE;
	default:
		return nfs4_errno_status(r);
	}
}

uint32_t entry_lookup(struct serve *sv, struct obj *dir, const struct nfs_name *name,
	struct obj **out, struct statx *st)
{
	uint32_t status = need_dir(dir);
	int r;

	if (status == NFS4_OK)
		status = entry_name(name, NULL);
	if (status != NFS4_OK)
		return status;
	r = obj_lookup(sv->objs, dir, name->s, name->len, out, st);
	return r < 0 ? entry_status(r) : (uint32_t)NFS4_OK;
}

static int make_link(struct obj *dir, const struct nfs_name *to, const char *name)
{
	char target[PATH_MAX];

	if (to->len == 0)
		return -EINVAL;
	if (to->len >= sizeof(target))
		return -ENAMETOOLONG;
	if (memchr(to->s, '\0', to->len))
		return -EINVAL;
	memcpy(target, to->s, to->len);
	target[to->len] = '\0';
	return symlinkat(target, dir->fd, name) == 0 ? 0 : -errno;
}

static int make_node(struct obj *dir, const struct entry_new *n, const char *name, mode_t mode)
{
	dev_t dev = 0;

	switch (n->type) {
	case NFS_SOCK:
		mode |= S_IFSOCK;
		break;
	case NFS_FIFO:
		mode |= S_IFIFO;
		break;
	default:
		mode |= n->type == NFS_BLK ? S_IFBLK : S_IFCHR;
		dev = makedev(n->rdev_major, n->rdev_minor);
	}
	return mknodat(dir->fd, name, mode, dev) == 0 ? 0 : -errno;
}

static uint32_t make(struct obj *dir, const struct entry_new *n, const char *name)
{
	mode_t mode = n->set.mask & NFS_SET_MODE ? n->set.mode & 07777 : 0755;
	int r;

	switch (n->type) {
	case NFS_DIR:
		r = mkdirat(dir->fd, name, mode) == 0 ? 0 : -errno;
		break;
	case NFS_LNK:
		r = make_link(dir, &n->target, name);
		break;
	case NFS_SOCK:
	case NFS_FIFO:
	case NFS_BLK:
	case NFS_CHR:
		r = make_node(dir, n, name, mode);
		break;
	default: /* NFS_REG, too: file_open_name() makes files */
		return NFS4ERR_BADTYPE;
	}
	return r < 0 ? nfs4_errno_status(r) : (uint32_t)NFS4_OK;
}

static struct making_what making_of(const struct obj *dir, const struct nfs_name *name)
{
	return (struct making_what){.dev = dir->st_dev, .ino = dir->id.ino, .name = *name};
}

/* The name in dir is now taken by another object: strikes out the notes for the name. */
static void name_taken(struct serve *sv, const struct obj *dir, const struct nfs_name *name)
{
	struct making_what w = making_of(dir, name);

	making_end(sv->making, -1, &w, true);
}

static mode_t format_of(uint32_t type)
{
	switch (type) {
	case NFS_DIR:
		return S_IFDIR;
	case NFS_LNK:
		return S_IFLNK;
	case NFS_SOCK:
		return S_IFSOCK;
	case NFS_FIFO:
		return S_IFIFO;
	case NFS_BLK:
		return S_IFBLK;
	default:
		return S_IFCHR;
	}
}

/* The name is taken. True: an earlier run of the server made the object for w, before the run was
 * killed. */
static bool made_before(struct serve *sv, struct obj *dir, const struct making_what *w)
{
	struct statx st;
	struct obj *o;
	bool same;

	if (obj_lookup(sv->objs, dir, w->name.s, w->name.len, &o, &st) < 0)
		return false;
	same = (o->type & S_IFMT) == format_of(w->type) && making_claim(sv->making, w, &st);
	obj_unref(sv->objs, o);
	return same;
}

/* Were attributes set that must be on stable storage? A client's mark need not be. */
static bool needs_sync(const struct entry_new *n)
{
	const uint32_t with_name = NFS_SET_MODE | NFS_SET_UMASK | NFS_SET_ATIME;

	return !n->st.stx_mask &&
	       (n->set.mask & ~with_name || n->set.mode & (S_ISUID | S_ISGID | S_ISVTX));
}

/* Gives the new object s in dir its attributes. On an error the object is removed again. */
static uint32_t finish(struct serve *sv, struct obj *dir, const struct nfs_name *name,
	const struct entry_name *s, struct entry_new *n)
{
	uint32_t status;
	int r = obj_lookup(sv->objs, dir, name->s, name->len, &n->o, &n->st);

	if (r < 0)
		return nfs4_errno_status(r);
	status = attr_after_create(n->o, -1, &n->st, &n->set, &n->done);
	n->unstable = needs_sync(n);
	if (status == NFS4_OK)
		return NFS4_OK;
	unlinkat(dir->fd, s->s, n->type == NFS_DIR ? AT_REMOVEDIR : 0);
	obj_removed(sv->objs, n->o);
	n->o = obj_unref(sv->objs, n->o);
	return status;
}

uint32_t entry_make(
	struct serve *sv, struct obj *dir, const struct nfs_name *name, struct entry_new *n)
{
	struct making_what w = making_of(dir, name);
	bool marked = n->set.mask & NFS_SET_ATIME;
	struct entry_name s;
	uint32_t status = need_dir(dir);
	int note = -1;

	w.type = n->type;
	w.mark = n->set.atime;
	if (status == NFS4_OK)
		status = entry_name(name, &s);
	if (status == NFS4_OK && n->set.mask & NFS_SET_SIZE)
		status = NFS4ERR_INVAL;
	if (status != NFS4_OK)
		return status;
	if (marked)
		note = making_begin(sv->making, &w);
	status = make(dir, n, s.s);
	if (status == NFS4ERR_EXIST && marked && made_before(sv, dir, &w))
		status = NFS4_OK;
	if (status == NFS4_OK)
		status = finish(sv, dir, name, &s, n);
	making_end(sv->making, note, &w, status == NFS4_OK);
	return status;
}

static int remove_kind(struct obj *dir, const char *name, const struct obj *o, enum entry_kind only)
{
	bool is_dir = S_ISDIR(o->type);

	if (o->referral)
		return -EBUSY;
	if (only == ENTRY_DIR && !is_dir)
		return -ENOTDIR;
	if (only == ENTRY_OTHER && is_dir)
		return -EISDIR;
	if (unlinkat(dir->fd, name, is_dir ? AT_REMOVEDIR : 0) == 0)
		return 0;
	return errno == EEXIST ? -ENOTEMPTY : -errno;
}

/* The last name of o is gone. The remover's own delegation is recalled, too: it would keep the
 * space of o. */
static void gone(struct serve *sv, struct obj *o)
{
	stable_forget(sv->stable, o);
	deleg_recall_all(&sv->state, o);
}

uint32_t entry_remove(struct serve *sv, const struct client *by, struct obj *dir,
	const struct nfs_name *name, enum entry_kind only)
{
	struct entry_name s;
	struct obj *o;
	uint32_t status = need_dir(dir);
	int r;

	if (status == NFS4_OK)
		status = entry_name(name, &s);
	if (status != NFS4_OK)
		return status;
	r = obj_lookup(sv->objs, dir, name->s, name->len, &o, NULL);
	if (r < 0)
		return nfs4_errno_status(r);
	status = deleg_begin_use(&sv->state, o, by, DELEG_CHANGE);
	if (status == NFS4_OK) {
		r = remove_kind(dir, s.s, o, only);
		if (r == 0) {
			attr_touch(o);
			fdcache_drop(sv->fds, o);
			if (obj_removed(sv->objs, o))
				gone(sv, o);
		}
		deleg_end_use(&sv->state, o, DELEG_CHANGE);
	}
	obj_unref(sv->objs, o);
	return r < 0 ? nfs4_errno_status(r) : status;
}

/* Both objects of a rename. The second may be NULL, or the same as the first. */
static uint32_t begin_rename(
	struct serve *sv, const struct client *by, struct obj *moved, struct obj *old)
{
	uint32_t status = deleg_begin_use(&sv->state, moved, by, DELEG_CHANGE);

	if (status != NFS4_OK || !old)
		return status;
	status = deleg_begin_use(&sv->state, old, by, DELEG_CHANGE);
	if (status != NFS4_OK)
		deleg_end_use(&sv->state, moved, DELEG_CHANGE);
	return status;
}

static void end_rename(struct serve *sv, struct obj *moved, struct obj *old)
{
	deleg_end_use(&sv->state, moved, DELEG_CHANGE);
	if (old)
		deleg_end_use(&sv->state, old, DELEG_CHANGE);
}

uint32_t entry_rename(struct serve *sv, const struct client *by, struct obj *from_dir,
	const struct nfs_name *from, struct obj *to_dir, const struct nfs_name *to, bool *changed)
{
	struct obj *moved, *old = NULL;
	struct entry_name f, t;
	uint32_t status = need_dir(from_dir);
	int r;

	if (status == NFS4_OK)
		status = need_dir(to_dir);
	if (status == NFS4_OK)
		status = entry_name(from, &f);
	if (status == NFS4_OK)
		status = entry_name(to, &t);
	if (status != NFS4_OK)
		return status;
	r = obj_lookup(sv->objs, from_dir, from->s, from->len, &moved, NULL);
	if (r < 0)
		return nfs4_errno_status(r);
	if (obj_lookup(sv->objs, to_dir, to->s, to->len, &old, NULL) < 0)
		old = NULL;
	*changed = old != moved;
	status = begin_rename(sv, by, moved, old);
	if (status != NFS4_OK) {
		obj_unref(sv->objs, moved);
		obj_unref(sv->objs, old);
		return status;
	}
	if (moved->referral || (old && old->referral))
		r = -EBUSY;
	else if (renameat(from_dir->fd, f.s, to_dir->fd, t.s) != 0)
		r = errno == EEXIST ? -ENOTEMPTY : -errno;
	if (r == 0 && *changed) {
		name_taken(sv, to_dir, to);
		attr_touch(moved);
		obj_moved(sv->objs, moved, to_dir, to->s, to->len);
		if (old) {
			attr_touch(old);
			fdcache_drop(sv->fds, old);
			if (obj_removed(sv->objs, old))
				gone(sv, old);
		}
	}
	end_rename(sv, moved, old);
	obj_unref(sv->objs, moved);
	obj_unref(sv->objs, old);
	return r < 0 ? nfs4_errno_status(r) : (uint32_t)NFS4_OK;
}

static int link_to(struct obj *o, struct obj *dir, const char *name)
{
	char path[OBJ_PATH_SIZE];

	if (linkat(o->fd, "", dir->fd, name, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOENT && errno != EPERM)
		return -errno;
	/* without the privilege: by way of /proc */
	return linkat(AT_FDCWD, obj_path(o, path), dir->fd, name, AT_SYMLINK_FOLLOW) == 0 ? 0
											  : -errno;
}

uint32_t entry_link(struct serve *sv, const struct client *by, struct obj *o, struct obj *dir,
	const struct nfs_name *name)
{
	struct entry_name s;
	uint32_t status;
	int r;

	if (S_ISDIR(o->type))
		return NFS4ERR_ISDIR;
	status = need_dir(dir);
	if (status == NFS4_OK)
		status = entry_name(name, &s);
	if (status != NFS4_OK)
		return status;
	status = deleg_begin_use(&sv->state, o, by, DELEG_CHANGE);
	if (status != NFS4_OK)
		return status;
	r = link_to(o, dir, s.s);
	deleg_end_use(&sv->state, o, DELEG_CHANGE);
	if (r < 0)
		return nfs4_errno_status(r);
	name_taken(sv, dir, name);
	attr_touch(o);
	return NFS4_OK;
}
