/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sys_attr: system calls about attributes.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

/* A call on an inode that a path leads to. */
struct deed {
	int (*act)(struct vfs_inode *i, struct deed *d);
	struct fuse_setattr_in in;
	bool chowns;
	struct stat *st;
	int mask;
	const char *name;
	const void *value;
	void *buf;
	size_t size;
	int flags;
	struct sys_statfs *fs;
	bool found; /* the path leads to an inode */
};

static int once(struct process *p, const char *path, unsigned flags, struct deed *d)
{
	struct vfs_dentry *at;
	int res = vfs_walk(p->v, path, flags, &at);

	if (res)
		return res;
	sched_point();
	d->found = true;
	res = d->act(at->inode, d);
	vfs_dunref(at);
	return res;
}

/* ESTALE of the deed, not of the walk: once more, with each name asked for (retry_estale). */
static int on_path(
	struct process *p, const char *path, unsigned flags, struct deed *d, const char *what)
{
	int res;

	proc_enter(p);
	res = once(p, path, flags, d);
	if (res == -ESTALE && d->found)
		res = once(p, path, flags | VFS_REVAL, d);
	sched_event("%d: %s %s: %d", (int)p->pid, what, path, res);
	return (int)proc_leave(p, res);
}

/* --- stat(2) ---------------------------------------------------------------------------------- */

static int do_stat(struct vfs_inode *i, struct deed *d)
{
	return vfs_getattr(i, NULL, VFS_ALL, d->st);
}

int sys_stat(struct process *p, const char *path, struct stat *st)
{
	struct deed d = {.act = do_stat, .st = st};

	return on_path(p, path, VFS_FOLLOW, &d, "stat");
}

int sys_lstat(struct process *p, const char *path, struct stat *st)
{
	struct deed d = {.act = do_stat, .st = st};

	return on_path(p, path, 0, &d, "lstat");
}

/* Linux does not tell the daemon for which open file. */
int sys_fstat(struct process *p, int fd, struct stat *st)
{
	struct vfs_file *f;
	int res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		res = vfs_getattr(f->inode, NULL, VFS_ALL, st);
		vfs_funref(f);
	}
	sched_event("%d: fstat %d: %d, size %lld", (int)p->pid, fd, res,
		res ? -1 : (long long)st->st_size);
	return (int)proc_leave(p, res);
}

static int do_access(struct vfs_inode *i, struct deed *d)
{
	struct fuse_access_in in = {.mask = (uint32_t)d->mask};
	struct vfs_call c = {.opcode = FUSE_ACCESS, .node = i->node};
	ssize_t res;

	/* execution of a file hangs on its mode, which is asked for first (fuse_permission) */
	if (!i->v->p.default_permissions && d->mask & X_OK && vfs_is_reg(i) &&
		!vfs_is_fresh(i, VFS_MODE | VFS_UID | VFS_GID)) {
		res = vfs_getattr_anyway(i, NULL, NULL);
		if (res)
			return (int)res;
	}
	if (i->v->p.default_permissions || i->v->no_access)
		return vfs_permission(i, d->mask);
	if (!vfs_may_use(i->v))
		return -EACCES;
	vfs_add_in(&c, &in, sizeof(in));
	res = vfs_ask(i->v, &c);
	if (res != -ENOSYS)
		return res < 0 ? (int)res : 0;
	i->v->no_access = true;
	return 0;
}

int sys_access(struct process *p, const char *path, int mode)
{
	struct deed d = {.act = do_access, .mask = mode};

	return on_path(p, path, VFS_FOLLOW, &d, "access");
}

/* --- changing --------------------------------------------------------------------------------- */

static bool may_change(const struct vfs_inode *i)
{
	return !i->v->p.default_permissions || !proc_self()->uid || proc_self()->uid == i->a.uid;
}

static bool in_group(const struct process *p, gid_t gid)
{
	for (unsigned n = 0; n < p->ngroups; n++)
		if (p->groups[n] == gid)
			return true;
	return p->gid == gid;
}

/* chown_ok, chgrp_ok */
static bool may_chown(const struct vfs_inode *i, const struct fuse_setattr_in *in)
{
	const struct process *p = proc_self();

	if (!i->v->p.default_permissions || !p->uid)
		return true;
	if (in->valid & FATTR_UID && (p->uid != i->a.uid || in->uid != i->a.uid))
		return false;
	return !(in->valid & FATTR_GID) ||
	       (p->uid == i->a.uid && (in->gid == i->a.gid || in_group(p, in->gid)));
}

static int set_locked(struct vfs_inode *i, struct deed *d, struct vfs_file *f)
{
	bool may, nosec;
	int res;

	vfs_lock(&i->lock);
	/* even if that is refused (notify_change) */
	if (d->in.valid & FATTR_MODE && d->in.mode & (S_ISUID | S_ISGID))
		i->nosec = false;
	if (d->in.valid & FATTR_MODE)
		d->in.mode = (i->a.mode & S_IFMT) | (d->in.mode & 07777);
	if (d->in.valid & FATTR_MODE && i->v->p.default_permissions && proc_self()->uid &&
		!in_group(proc_self(), i->a.gid))
		d->in.mode &= ~(uint32_t)S_ISGID; /* setattr_prepare */
	/* asked for also if the file is known to have none (ATTR_KILL_PRIV in notify_change) */
	if (d->chowns && !vfs_is_dir(i)) {
		nosec = i->nosec;
		i->nosec = false;
		vfs_ask_rights(i);
		i->nosec = nosec;
	}
	may = d->chowns ? may_chown(i, &d->in) : d->in.valid & FATTR_SIZE || may_change(i);
	res = may ? vfs_setattr(i, &d->in, f, false) : -EPERM;
	/* walks through the directory must ask for its mode again */
	if (!res && vfs_is_dir(i) && d->in.valid & FATTR_MODE && LIST_FIRST(&i->aliases))
		LIST_FIRST(&i->aliases)->until = 0;
	vfs_unlock(&i->lock);
	return res;
}

static int do_set(struct vfs_inode *i, struct deed *d)
{
	return set_locked(i, d, NULL);
}

static int on_file(struct process *p, int fd, struct deed *d, const char *what)
{
	struct vfs_file *f;
	int res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		res = set_locked(f->inode, d, NULL);
		vfs_funref(f);
	}
	sched_event("%d: %s %d: %d", (int)p->pid, what, fd, res);
	return (int)proc_leave(p, res);
}

static int do_truncate(struct vfs_inode *i, struct deed *d)
{
	int res;

	if (vfs_is_dir(i))
		return -EISDIR;
	if (!vfs_is_reg(i))
		return -EINVAL;
	res = vfs_permission(i, W_OK);
	if (res)
		return res;
	vfs_ask_rights(i);
	return set_locked(i, d, NULL);
}

int sys_truncate(struct process *p, const char *path, off_t size)
{
	/* truncate(2) begins anew also after the walk (do_sys_truncate) */
	struct deed d = {.act = do_truncate,
		.in = {.valid = FATTR_SIZE, .size = (uint64_t)size},
		.found = true};

	return size < 0 ? -EINVAL : on_path(p, path, VFS_FOLLOW, &d, "truncate");
}

int sys_chmod(struct process *p, const char *path, mode_t mode)
{
	struct deed d = {.act = do_set, .in = {.valid = FATTR_MODE, .mode = mode}};

	return on_path(p, path, VFS_FOLLOW, &d, "chmod");
}

int sys_fchmod(struct process *p, int fd, mode_t mode)
{
	struct deed d = {.in = {.valid = FATTR_MODE, .mode = mode}};

	return on_file(p, fd, &d, "fchmod");
}

int sys_chown(struct process *p, const char *path, uid_t uid, gid_t gid)
{
	struct deed d = {.act = do_set, .in = {.uid = uid, .gid = gid}, .chowns = true};

	if (uid != (uid_t)-1)
		d.in.valid |= FATTR_UID;
	if (gid != (gid_t)-1)
		d.in.valid |= FATTR_GID;
	return on_path(p, path, VFS_FOLLOW, &d, "chown");
}

static void put_time(const struct timespec *t, uint64_t *s, uint32_t *ns, uint32_t *valid,
	uint32_t bit, uint32_t now)
{
	if (t && t->tv_nsec == UTIME_OMIT)
		return;
	*valid |= bit;
	if (!t || t->tv_nsec == UTIME_NOW) {
		*valid |= now;
		return;
	}
	*s = (uint64_t)t->tv_sec;
	*ns = (uint32_t)t->tv_nsec;
}

static struct deed of_times(const struct timespec times[2])
{
	struct deed d = {.act = do_set};

	put_time(times ? &times[0] : NULL, &d.in.atime, &d.in.atimensec, &d.in.valid, FATTR_ATIME,
		FATTR_ATIME_NOW);
	put_time(times ? &times[1] : NULL, &d.in.mtime, &d.in.mtimensec, &d.in.valid, FATTR_MTIME,
		FATTR_MTIME_NOW);
	return d;
}

int sys_utimens(struct process *p, const char *path, const struct timespec times[2])
{
	struct deed d = of_times(times);

	return d.in.valid ? on_path(p, path, VFS_FOLLOW, &d, "utimens") : 0;
}

int sys_futimens(struct process *p, int fd, const struct timespec times[2])
{
	struct deed d = of_times(times);

	return d.in.valid ? on_file(p, fd, &d, "futimens") : 0;
}

/* --- extended attributes, the file system ----------------------------------------------------- */

static int do_getxattr(struct vfs_inode *i, struct deed *d)
{
	struct fuse_getxattr_in in = {.size = (uint32_t)d->size};
	struct fuse_getxattr_out out;
	struct vfs_call c = {.opcode = FUSE_GETXATTR,
		.node = i->node,
		.out = d->size ? d->buf : &out,
		.room = d->size ? d->size : sizeof(out),
		.var = d->size};
	ssize_t res;

	/* xattr_permission */
	if (!strncmp(d->name, "user.", 5)) {
		res = vfs_is_reg(i) || vfs_is_dir(i) ? vfs_permission(i, R_OK) : -ENODATA;
		if (res)
			return (int)res;
	}
	if (i->v->no_getxattr)
		return -EOPNOTSUPP;
	vfs_add_in(&c, &in, sizeof(in));
	vfs_add_name(&c, d->name);
	res = vfs_ask(i->v, &c);
	if (res == -ENOSYS) {
		i->v->no_getxattr = true;
		return -EOPNOTSUPP;
	}
	return res < 0 || d->size ? (int)res : (int)out.size;
}

ssize_t sys_getxattr(struct process *p, const char *path, const char *name, void *buf, size_t size)
{
	struct deed d = {.act = do_getxattr, .name = name, .buf = buf, .size = size};

	return on_path(p, path, VFS_FOLLOW, &d, "getxattr");
}

static int do_setxattr(struct vfs_inode *i, struct deed *d)
{
	struct fuse_setxattr_in in = {.size = (uint32_t)d->size, .flags = (uint32_t)d->flags};
	struct vfs_call c = {.opcode = FUSE_SETXATTR, .node = i->node};
	ssize_t res = -EOPNOTSUPP;

	vfs_lock(&i->lock);
	if (!i->v->no_setxattr) {
		vfs_add_in(&c, &in,
			vfs_has(i->v, FUSE_SETXATTR_EXT) ? sizeof(in)
							 : FUSE_COMPAT_SETXATTR_IN_SIZE);
		vfs_add_name(&c, d->name);
		vfs_add_in(&c, d->value, d->size);
		res = vfs_ask(i->v, &c);
	}
	if (res == -ENOSYS) {
		i->v->no_setxattr = true;
		res = -EOPNOTSUPP;
	} else if (res >= 0) {
		vfs_doubt(i, VFS_CTIME);
	}
	vfs_unlock(&i->lock);
	return (int)res;
}

int sys_setxattr(struct process *p, const char *path, const char *name, const void *value,
	size_t size, int flags)
{
	struct deed d = {
		.act = do_setxattr, .name = name, .value = value, .size = size, .flags = flags};

	return on_path(p, path, VFS_FOLLOW, &d, "setxattr");
}

static int do_statfs(struct vfs_inode *i, struct deed *d)
{
	struct fuse_statfs_out out;
	struct vfs_call c = {
		.opcode = FUSE_STATFS, .node = FUSE_ROOT_ID, .out = &out, .room = sizeof(out)};
	ssize_t res = vfs_ask(i->v, &c);

	if (res < 0)
		return (int)res;
	*d->fs = (struct sys_statfs){out.st.blocks, out.st.bfree, out.st.bavail, out.st.files,
		out.st.ffree, out.st.bsize, out.st.namelen};
	return 0;
}

int sys_statfs(struct process *p, const char *path, struct sys_statfs *out)
{
	struct deed d = {.act = do_statfs, .fs = out};

	return on_path(p, path, VFS_FOLLOW, &d, "statfs");
}
