/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sys_name: system calls that make, remove and move names. The directory's lock is held from the
 * look at the name until the daemon's answer.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

/* --- making ----------------------------------------------------------------------------------- */

struct making {
	struct process *p;
	uint32_t opcode, type;
	mode_t mode;
	const char *target;	 /* of a symlink */
	bool asked;		 /* the name was looked at */
	struct vfs_dentry *from; /* of a link */
};

static ssize_t ask_make(struct making *m, struct vfs_dentry *d, struct fuse_entry_out *e)
{
	struct vfs *v = d->v;
	struct fuse_mkdir_in dir = {.mode = m->mode & 07777, .umask = m->p->umask};
	struct fuse_link_in link = {.oldnodeid = m->from ? m->from->inode->node : 0};
	struct vfs_call c = {
		.opcode = m->opcode, .node = d->parent->inode->node, .out = e, .room = sizeof(*e)};

	if (!vfs_has(v, FUSE_DONT_MASK))
		dir.mode &= ~m->p->umask;
	if (m->opcode == FUSE_MKDIR)
		vfs_add_in(&c, &dir, sizeof(dir));
	else if (m->opcode == FUSE_LINK)
		vfs_add_in(&c, &link, sizeof(link));
	vfs_add_name(&c, d->name);
	if (m->target)
		vfs_add_name(&c, m->target);
	return vfs_ask(v, &c);
}

/* The answer's inode comes into d's place. */
static int take_made(struct making *m, struct vfs_dentry *d, const struct fuse_entry_out *e)
{
	struct vfs_dentry *other;
	struct vfs_inode *i;
	int error;

	if (e->nodeid <= FUSE_ROOT_ID || !vfs_is_sane(&e->attr))
		return -EIO;
	if ((e->attr.mode & S_IFMT) != m->type) {
		vfs_forget(d->v, e->nodeid, 1);
		return -EIO;
	}
	i = vfs_iget(d->v, e, 0);
	if (!i)
		return -ENOMEM;
	vfs_dunhash(d);
	other = vfs_dsplice(d, i, &error);
	if (error)
		return error;
	vfs_dtimeout(other ? other : d, e);
	vfs_doubt(d->parent->inode, VFS_ALL);
	if (other)
		vfs_dunref(other);
	return 0;
}

/* fs.protected_hardlinks is 1, as Debian has it: links to regular files that the process may read
 * and write, or to its own (may_linkat). */
static int may_link(struct vfs_inode *i)
{
	unsigned mode = i->a.mode, group = S_ISGID | S_IXGRP;

	if (S_ISREG(mode) && !(mode & S_ISUID) && (mode & group) != group &&
		!vfs_permission(i, R_OK | W_OK))
		return 0;
	return !proc_self()->uid || proc_self()->uid == i->a.uid ? 0 : -EPERM;
}

static int make_locked(struct making *m, struct vfs_dentry *d)
{
	struct fuse_entry_out e;
	ssize_t res;

	if (d->inode)
		return -EEXIST;
	res = m->from ? may_link(m->from->inode) : 0;
	if (res)
		return (int)res;
	res = vfs_permission(d->parent->inode, W_OK | X_OK);
	if (res)
		return (int)res;
	if (m->from && vfs_is_dir(m->from->inode))
		return -EPERM;
	if (m->from)
		vfs_lock(&m->from->inode->lock);
	res = m->from && !m->from->inode->a.nlink ? -ENOENT : ask_make(m, d, &e);
	if (res == -EEXIST && d->v->p.version >= 602) {
		vfs_dinvalidate(d);
		d->until = 0;
	}
	if (res >= 0)
		res = take_made(m, d, &e);
	else if (m->from && res == -EINTR)
		vfs_doubt(m->from->inode, VFS_ALL);
	if (m->from)
		vfs_unlock(&m->from->inode->lock);
	return (int)res;
}

static int make_once(struct making *m, const char *path, unsigned flags)
{
	struct vfs_dentry *d;
	struct vfs_walk w;
	int res = vfs_walk_begin(&w, m->p->v, path, flags);

	if (res)
		return res;
	if (!w.last[0]) {
		vfs_walk_end(&w);
		return -EEXIST;
	}
	vfs_lock(&w.dir->inode->lock);
	/* a name that is to be new is always asked for */
	res = vfs_lookup_locked(w.dir, w.last, flags | VFS_EXCL, &d);
	if (!res) {
		if (!d->inode && w.slash && m->opcode != FUSE_MKDIR)
			res = -ENOENT;
		else
			res = make_locked(m, d);
		m->asked = true;
		vfs_dunref(d);
	}
	vfs_unlock(&w.dir->inode->lock);
	vfs_walk_end(&w);
	return res;
}

static int make(struct making *m, const char *path, const char *what)
{
	int res = make_once(m, path, 0);

	/* not after the look at the name itself (do_mkdirat) */
	if (res == -ESTALE && m->asked)
		res = make_once(m, path, VFS_REVAL);
	sched_event("%d: %s %s: %d", (int)m->p->pid, what, path, res);
	return res;
}

int sys_mkdir(struct process *p, const char *path, mode_t mode)
{
	struct making m = {.p = p, .opcode = FUSE_MKDIR, .type = S_IFDIR, .mode = mode};

	proc_enter(p);
	return (int)proc_leave(p, make(&m, path, "mkdir"));
}

int sys_symlink(struct process *p, const char *target, const char *path)
{
	struct making m = {.p = p, .opcode = FUSE_SYMLINK, .type = S_IFLNK, .target = target};

	proc_enter(p);
	return (int)proc_leave(p, make(&m, path, "symlink"));
}

static int link_once(struct making *m, const char *from, const char *to, unsigned flags)
{
	int res = vfs_walk(m->p->v, from, flags, &m->from);

	if (res)
		return res;
	m->type = m->from->inode->a.mode & S_IFMT;
	res = make_once(m, to, flags);
	vfs_dunref(m->from);
	return res;
}

int sys_link(struct process *p, const char *from, const char *to)
{
	struct making m = {.p = p, .opcode = FUSE_LINK};
	int res;

	proc_enter(p);
	res = link_once(&m, from, to, 0);
	if (res == -ESTALE && m.asked)
		res = link_once(&m, from, to, VFS_REVAL);
	sched_event("%d: link %s %s: %d", (int)p->pid, from, to, res);
	return (int)proc_leave(p, res);
}

ssize_t sys_readlink(struct process *p, const char *path, char *buf, size_t size)
{
	struct vfs_dentry *d;
	char *text = NULL;
	ssize_t res;

	proc_enter(p);
	res = vfs_walk(p->v, path, 0, &d);
	if (res)
		return proc_leave(p, res);
	res = S_ISLNK(d->inode->a.mode) ? vfs_readlink(d->inode, &text) : -EINVAL;
	if (!res) {
		res = (ssize_t)(strlen(text) < size ? strlen(text) : size);
		memcpy(buf, text, (size_t)res);
	}
	free(text);
	vfs_dunref(d);
	return proc_leave(p, res);
}

/* --- removing --------------------------------------------------------------------------------- */

/* The inode of a name that has gone. */
static void unlinked(struct vfs_dentry *d)
{
	struct vfs_inode *i = d->inode;

	vfs_new_version(i);
	if (i->a.nlink)
		i->a.nlink--;
	d->until = 0;
	vfs_doubt(i, VFS_CTIME);
}

/* After an interrupted request, and from 6.2 on also after ENOENT, the name is looked up anew. */
static void in_doubt(struct vfs_dentry *d, ssize_t res)
{
	if (res != -EINTR && (res != -ENOENT || d->v->p.version < 602))
		return;
	vfs_dinvalidate(d);
	d->until = 0;
}

static int remove_locked(struct vfs_dentry *d, bool dir)
{
	struct vfs_inode *parent = d->parent->inode, *i = d->inode;
	struct vfs_call c = {.opcode = dir ? FUSE_RMDIR : FUSE_UNLINK, .node = parent->node};
	ssize_t res = vfs_permission(parent, W_OK | X_OK);

	if (res)
		return (int)res;
	if (dir && !vfs_is_dir(i))
		return -ENOTDIR;
	if (!dir && vfs_is_dir(i))
		return -EISDIR;
	vfs_iref(i);
	vfs_lock(&i->lock);
	vfs_add_name(&c, d->name);
	res = vfs_ask(d->v, &c);
	if (res >= 0) {
		vfs_doubt(parent, VFS_ALL);
		unlinked(d);
		if (dir)
			vfs_dshrink(d->v, d, 1);
		i->dead |= dir;
	} else {
		in_doubt(d, res);
	}
	vfs_unlock(&i->lock);
	if (res >= 0)
		vfs_ddelete(d);
	vfs_iunref(i);
	return res < 0 ? (int)res : 0;
}

static int remove_once(struct process *p, const char *path, bool dir, unsigned flags, bool *found)
{
	struct vfs_dentry *d;
	struct vfs_walk w;
	int res = vfs_walk_begin(&w, p->v, path, flags);

	if (res)
		return res;
	*found = true;
	if (!w.last[0]) {
		vfs_walk_end(&w);
		return dir ? -EBUSY : -EISDIR;
	}
	vfs_lock(&w.dir->inode->lock);
	res = vfs_lookup_locked(w.dir, w.last, flags, &d);
	if (!res) {
		if (!d->inode)
			res = -ENOENT;
		else if (!dir && w.slash)
			res = vfs_is_dir(d->inode) ? -EISDIR : -ENOTDIR;
		else
			res = remove_locked(d, dir);
		vfs_dunref(d);
	}
	vfs_unlock(&w.dir->inode->lock);
	vfs_walk_end(&w);
	return res;
}

static int remove_name(struct process *p, const char *path, bool dir)
{
	bool found = false;
	int res;

	proc_enter(p);
	res = remove_once(p, path, dir, 0, &found);
	/* not if the directory is not found */
	if (res == -ESTALE && found)
		res = remove_once(p, path, dir, VFS_REVAL, &found);
	sched_event("%d: %s %s: %d", (int)p->pid, dir ? "rmdir" : "unlink", path, res);
	return (int)proc_leave(p, res);
}

int sys_rmdir(struct process *p, const char *path)
{
	return remove_name(p, path, true);
}

int sys_unlink(struct process *p, const char *path)
{
	return remove_name(p, path, false);
}

/* --- moving ----------------------------------------------------------------------------------- */

struct moving {
	struct vfs_walk from, to;
	struct vfs_dentry *d, *over; /* the dentry that moves, and the target */
	unsigned flags;
};

/* Two directories are locked in the order of the tree. */
static void lock_dirs(struct moving *m)
{
	struct vfs_inode *a = m->from.dir->inode, *b = m->to.dir->inode;

	if (a == b) {
		vfs_lock(&a->lock);
		return;
	}
	vfs_lock(&m->from.v->renames);
	if (vfs_is_below(m->from.dir, m->to.dir) ||
		(a->node > b->node && !vfs_is_below(m->to.dir, m->from.dir))) {
		vfs_lock(&b->lock);
		vfs_lock(&a->lock);
	} else {
		vfs_lock(&a->lock);
		vfs_lock(&b->lock);
	}
}

static void unlock_dirs(struct moving *m)
{
	struct vfs_inode *a = m->from.dir->inode, *b = m->to.dir->inode;

	vfs_unlock(&a->lock);
	if (a == b)
		return;
	vfs_unlock(&b->lock);
	vfs_unlock(&m->from.v->renames);
}

static int may_move(const struct moving *m)
{
	const struct vfs_inode *i = m->d->inode, *o = m->over->inode;

	if (m->flags & RENAME_NOREPLACE && o)
		return -EEXIST;
	if (m->flags & RENAME_EXCHANGE && !o)
		return -ENOENT;
	if (!vfs_is_dir(i) && (m->from.slash || (m->to.slash && !(m->flags & RENAME_EXCHANGE))))
		return -ENOTDIR;
	if (vfs_is_below(m->to.dir, m->d))
		return -EINVAL;
	if (o && vfs_is_below(m->from.dir, m->over))
		return m->flags & RENAME_EXCHANGE ? -EINVAL : -ENOTEMPTY;
	return 0;
}

/* vfs_rename: rights come before types. */
static int may_rename(const struct moving *m)
{
	struct vfs_inode *i = m->d->inode, *o = m->over->inode;
	bool swaps = m->flags & RENAME_EXCHANGE, other = m->from.dir->inode != m->to.dir->inode;
	int res = vfs_permission(m->from.dir->inode, W_OK | X_OK);

	if (!res && !o && m->to.dir->inode->dead)
		res = -ENOENT;
	if (!res)
		res = vfs_permission(m->to.dir->inode, W_OK | X_OK);
	if (!res && o && !swaps && vfs_is_dir(i) != vfs_is_dir(o))
		res = vfs_is_dir(i) ? -ENOTDIR : -EISDIR;
	if (!res && other && vfs_is_dir(i))
		res = vfs_permission(i, W_OK);
	if (!res && other && swaps && vfs_is_dir(o))
		res = vfs_permission(o, W_OK);
	return res;
}

/* Locks files, and a directory that the rename replaces; 6.12 also locks a directory that gets
 * another parent. The lower number comes first. */
static void lock_moved(struct moving *m, struct vfs_inode *locked[2])
{
	struct vfs_inode *i = m->d->inode, *o = m->over->inode;
	bool also = !vfs_is_dir(i) ||
		    (m->from.v->p.version >= 612 && m->from.dir->inode != m->to.dir->inode);

	if (!also)
		i = NULL;
	if (!i || (o && o->node < i->node)) {
		struct vfs_inode *swap = i;

		i = o;
		o = swap;
	}
	locked[0] = i;
	locked[1] = o == i ? NULL : o;
	for (int n = 0; n < 2; n++)
		if (locked[n])
			vfs_lock(&vfs_iref(locked[n])->lock);
}

static ssize_t ask_rename(struct moving *m)
{
	struct fuse_rename_in in = {.newdir = m->to.dir->inode->node};
	struct fuse_rename2_in in2 = {.newdir = in.newdir, .flags = m->flags};
	struct vfs_call c = {
		.opcode = m->flags ? FUSE_RENAME2 : FUSE_RENAME, .node = m->from.dir->inode->node};

	if (m->flags && m->from.v->no_rename2)
		return -EINVAL;
	if (m->flags)
		vfs_add_in(&c, &in2, sizeof(in2));
	else
		vfs_add_in(&c, &in, sizeof(in));
	vfs_add_name(&c, m->d->name);
	vfs_add_name(&c, m->over->name);
	return vfs_ask(m->from.v, &c);
}

static void moved(struct moving *m)
{
	bool swaps = m->flags & RENAME_EXCHANGE;

	vfs_doubt(m->d->inode, VFS_CTIME);
	if (swaps)
		vfs_doubt(m->over->inode, VFS_CTIME);
	vfs_doubt(m->from.dir->inode, VFS_ALL);
	vfs_doubt(m->to.dir->inode, VFS_ALL);
	if (!swaps && m->over->inode) {
		unlinked(m->over);
		if (vfs_is_dir(m->over->inode))
			vfs_dshrink(m->from.v, m->over, 1);
		m->over->inode->dead |= vfs_is_dir(m->over->inode);
	}
	if (swaps)
		vfs_dexchange(m->d, m->over);
	else
		vfs_dmove(m->d, m->over);
}

static int move_found(struct moving *m)
{
	struct vfs_inode *locked[2];
	ssize_t res = may_move(m);

	if (res)
		return (int)res;
	if (m->d->inode == m->over->inode)
		return 0;
	res = may_rename(m);
	if (res)
		return (int)res;
	lock_moved(m, locked);
	res = ask_rename(m);
	if (res == -ENOSYS && m->flags) {
		m->from.v->no_rename2 = true;
		res = -EINVAL;
	}
	if (res >= 0) {
		moved(m);
	} else {
		in_doubt(m->d, res);
		if (m->over->inode)
			in_doubt(m->over, res);
	}
	for (int n = 1; n >= 0; n--)
		if (locked[n]) {
			vfs_unlock(&locked[n]->lock);
			vfs_iunref(locked[n]);
		}
	return res < 0 ? (int)res : 0;
}

/* The kernel asks the daemon about the target, also if the kernel knows the target; but only for an
 * existing source (do_renameat2). */
static int move_locked(struct moving *m, unsigned flags)
{
	unsigned to = m->flags & RENAME_EXCHANGE ? flags : flags | VFS_EXCL;
	int res = vfs_lookup_locked(m->from.dir, m->from.last, flags, &m->d);

	if (res)
		return res;
	if (!m->d->inode)
		res = -ENOENT;
	else
		res = vfs_lookup_locked(m->to.dir, m->to.last, to, &m->over);
	if (!res) {
		res = move_found(m);
		vfs_dunref(m->over);
	}
	vfs_dunref(m->d);
	return res;
}

static int move_once(struct process *p, const char *from, const char *to, unsigned how,
	unsigned flags, bool *found)
{
	struct moving m = {.flags = how};
	int res = vfs_walk_begin(&m.from, p->v, from, flags);

	if (res)
		return res;
	res = vfs_walk_begin(&m.to, p->v, to, flags);
	if (res) {
		vfs_walk_end(&m.from);
		return res;
	}
	*found = true;
	if (!m.from.last[0] || !m.to.last[0]) {
		res = m.from.last[0] && how & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	} else {
		lock_dirs(&m);
		res = move_locked(&m, flags);
		unlock_dirs(&m);
	}
	vfs_walk_end(&m.to);
	vfs_walk_end(&m.from);
	return res;
}

int sys_rename(struct process *p, const char *from, const char *to, unsigned flags)
{
	bool found = false;
	int res;

	if (flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE) ||
		flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
		return -EINVAL;
	proc_enter(p);
	res = move_once(p, from, to, flags, 0, &found);
	if (res == -ESTALE && found)
		res = move_once(p, from, to, flags, VFS_REVAL, &found);
	sched_event("%d: rename %s %s: %d", (int)p->pid, from, to, res);
	return (int)proc_leave(p, res);
}
