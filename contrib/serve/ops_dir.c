/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops_dir: CREATE, REMOVE, RENAME, LINK: changes of directories.
 *
 * Each is one system call on a directory's descriptor and a checked name; what the table knows
 * about the object is brought up to date afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "contrib/serve/serve.h"

/* A checked name as a string. */
struct cname {
	char s[OBJ_NAME_MAX + 1];
};

static uint32_t get_cname(const struct nfs_name *n, struct cname *out)
{
	uint32_t status = name_status(n);

	if (status == NFS4_OK) {
		memcpy(out->s, n->s, n->len);
		out->s[n->len] = '\0';
	}
	return status;
}

static int make_link(struct compound *c, const struct nfs4_create_args *a, const char *name)
{
	char target[PATH_MAX];

	if (a->target.len == 0)
		return -EINVAL;
	if (a->target.len >= sizeof(target))
		return -ENAMETOOLONG;
	if (memchr(a->target.s, '\0', a->target.len))
		return -EINVAL;
	memcpy(target, a->target.s, a->target.len);
	target[a->target.len] = '\0';
	return symlinkat(target, c->cur->fd, name) == 0 ? 0 : -errno;
}

static int make_node(
	struct compound *c, const struct nfs4_create_args *a, const char *name, mode_t mode)
{
	dev_t dev = 0;

	switch (a->type) {
	case NF4SOCK:
		mode |= S_IFSOCK;
		break;
	case NF4FIFO:
		mode |= S_IFIFO;
		break;
	default:
		mode |= a->type == NF4BLK ? S_IFBLK : S_IFCHR;
		dev = makedev(a->rdev_major, a->rdev_minor);
	}
	return mknodat(c->cur->fd, name, mode, dev) == 0 ? 0 : -errno;
}

static uint32_t make(struct compound *c, const struct nfs4_create_args *a, const char *name,
	const struct nfs_sattr *set)
{
	mode_t mode = set->mask & NFS_SET_MODE ? set->mode & 07777 : 0755;
	int r;

	switch (a->type) {
	case NF4DIR:
		r = mkdirat(c->cur->fd, name, mode) == 0 ? 0 : -errno;
		break;
	case NF4LNK:
		r = make_link(c, a, name);
		break;
	case NF4SOCK:
	case NF4FIFO:
	case NF4BLK:
	case NF4CHR:
		r = make_node(c, a, name, mode);
		break;
	default: /* NF4REG too: files are made by OPEN */
		return NFS4ERR_BADTYPE;
	}
	return r < 0 ? nfs4_errno_status(r) : (uint32_t)NFS4_OK;
}

uint32_t attr_after_create(
	struct obj *o, int fd, struct statx *st, const struct nfs_sattr *set, uint32_t *done)
{
	const mode_t special = S_ISUID | S_ISGID | S_ISVTX;
	struct nfs_sattr rest = *set;
	uint32_t status;

	/* The mode was given when it was made, and the file system may have added to it (setgid
	 * directories, default ACLs): only bits that creation leaves out are asked for again. */
	rest.mask &= ~NFS_SET_MODE;
	if (set->mask & NFS_SET_MODE && !S_ISLNK(o->type) &&
		(set->mode & special & ~st->stx_mode)) {
		rest.mask |= NFS_SET_MODE;
		rest.mode = (st->stx_mode & 07777) | (set->mode & special);
	}
	status = attr_apply(o, fd, &rest, done);
	if (*done)
		st->stx_mask = 0;
	if (set->mask & NFS_SET_MODE)
		*done |= NFS_SET_MODE;
	return status;
}

uint32_t op_create(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_create_args *a = &args->u.create;
	struct nfs4_create_res res;
	struct nfs_sattr set;
	struct statx st;
	struct cname name;
	struct obj *o;
	uint32_t status = need_dir(c->cur), done;
	int r;

	if (status == NFS4_OK)
		status = get_cname(&a->name, &name);
	if (status == NFS4_OK)
		status = nfs4_sattr_decode(&a->attrs, &set);
	if (status == NFS4_OK && set.mask & NFS_SET_SIZE)
		status = NFS4ERR_INVAL;
	if (status != NFS4_OK)
		return status;
	cinfo_before(c->cur, &res.cinfo);
	status = make(c, a, name.s, &set);
	if (status != NFS4_OK)
		return status;
	r = obj_lookup(c->sv->objs, c->cur, a->name.s, a->name.len, &o, &st);
	if (r < 0)
		return nfs4_errno_status(r);
	status = attr_after_create(o, -1, &st, &set, &done);
	if (status != NFS4_OK) {
		unlinkat(c->cur->fd, name.s, a->type == NF4DIR ? AT_REMOVEDIR : 0);
		obj_removed(c->sv->objs, o, NULL);
		obj_unref(c->sv->objs, o);
		return status;
	}
	cinfo_after(c->cur, &res.cinfo);
	res.attrset = nfs4_sattr_bits(done);
	set_current(c, o);
	if (st.stx_mask)
		remember_stat(c, o, &st);
	nfs4_put_create_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}

uint32_t op_remove(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs_name *n = &args->u.remove.name;
	struct nfs4_remove_res res;
	struct cname name;
	struct statx st;
	struct obj *o;
	uint32_t status = need_dir(c->cur);
	int r;

	if (status == NFS4_OK)
		status = get_cname(n, &name);
	if (status != NFS4_OK)
		return status;
	r = obj_lookup(c->sv->objs, c->cur, n->s, n->len, &o, &st);
	if (r < 0)
		return nfs4_errno_status(r);
	cinfo_before(c->cur, &res.cinfo);
	if (unlinkat(c->cur->fd, name.s, S_ISDIR(o->type) ? AT_REMOVEDIR : 0) != 0)
		r = errno == EEXIST ? -ENOTEMPTY : -errno;
	if (r == 0) {
		attr_touch(o);
		obj_removed(c->sv->objs, o, &st);
	}
	obj_unref(c->sv->objs, o);
	if (r < 0)
		return nfs4_errno_status(r);
	cinfo_after(c->cur, &res.cinfo);
	nfs4_put_remove_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}

/* What a rename has made of the moved object and of the one that was in its place. */
static void renamed(
	struct compound *c, const struct nfs_name *to, struct obj *moved, struct obj *old)
{
	struct obj_table *t = c->sv->objs;

	attr_touch(moved);
	obj_moved(t, moved, c->cur, to->s, to->len);
	if (old && old != moved) {
		attr_touch(old);
		obj_removed(t, old, NULL);
	}
}

uint32_t op_rename(struct compound *c, const struct nfs4_args *args)
{
	const struct nfs4_rename_args *a = &args->u.rename;
	struct obj *moved, *old = NULL;
	struct nfs4_rename_res res;
	struct cname from, to;
	uint32_t status;
	int r;

	if (!c->saved)
		return NFS4ERR_NOFILEHANDLE;
	status = need_dir(c->saved);
	if (status == NFS4_OK)
		status = need_dir(c->cur);
	if (status == NFS4_OK)
		status = get_cname(&a->from, &from);
	if (status == NFS4_OK)
		status = get_cname(&a->to, &to);
	if (status != NFS4_OK)
		return status;
	r = obj_lookup(c->sv->objs, c->saved, a->from.s, a->from.len, &moved, NULL);
	if (r < 0)
		return nfs4_errno_status(r);
	if (obj_lookup(c->sv->objs, c->cur, a->to.s, a->to.len, &old, NULL) < 0)
		old = NULL;
	cinfo_before(c->saved, &res.from);
	cinfo_before(c->cur, &res.to);
	if (renameat(c->saved->fd, from.s, c->cur->fd, to.s) != 0)
		r = errno == EEXIST ? -ENOTEMPTY : -errno;
	else
		renamed(c, &a->to, moved, old);
	obj_unref(c->sv->objs, moved);
	obj_unref(c->sv->objs, old);
	if (r < 0)
		return nfs4_errno_status(r);
	cinfo_after(c->saved, &res.from);
	cinfo_after(c->cur, &res.to);
	nfs4_put_rename_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}

static int link_to(struct obj *o, struct obj *dir, const char *name)
{
	char path[OBJ_PATH_SIZE];

	if (linkat(o->fd, "", dir->fd, name, AT_EMPTY_PATH) == 0)
		return 0;
	if (errno != ENOENT && errno != EPERM)
		return -errno;
	/* without the privilege for that: by way of /proc */
	return linkat(AT_FDCWD, obj_path(o, path), dir->fd, name, AT_SYMLINK_FOLLOW) == 0 ? 0
											  : -errno;
}

uint32_t op_link(struct compound *c, const struct nfs4_args *args)
{
	struct nfs4_link_res res;
	struct cname name;
	uint32_t status;
	int r;

	if (!c->saved)
		return NFS4ERR_NOFILEHANDLE;
	if (S_ISDIR(c->saved->type))
		return NFS4ERR_ISDIR;
	status = need_dir(c->cur);
	if (status == NFS4_OK)
		status = get_cname(&args->u.link.name, &name);
	if (status != NFS4_OK)
		return status;
	cinfo_before(c->cur, &res.cinfo);
	r = link_to(c->saved, c->cur, name.s);
	if (r < 0)
		return nfs4_errno_status(r);
	attr_touch(c->saved);
	cinfo_after(c->cur, &res.cinfo);
	nfs4_put_link_res(c->out, NFS4_OK, &res);
	return NFS4_OK;
}
