/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sys_dir: listings, with READDIR and READDIRPLUS.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

/* READDIRPLUS: at the directory's begin, and after names of the listing have been looked up. */
static bool wants_plus(struct vfs_inode *dir, uint64_t off)
{
	if (!vfs_has(dir->v, FUSE_DO_READDIRPLUS))
		return false;
	if (!vfs_has(dir->v, FUSE_READDIRPLUS_AUTO))
		return true;
	if (dir->advise_rdplus) {
		dir->advise_rdplus = false;
		return true;
	}
	return !off;
}

struct listing {
	struct vfs_file *f;
	struct sys_dirent *out;
	unsigned n, max;
	uint64_t version, evicted; /* when the request began */
	bool over;
};

/* --- names of a READDIRPLUS ------------------------------------------------------------------- */

/* The name has a dentry already. 1: that one is of another file, and is not any more. */
static int link_known(struct vfs_dentry *d, const struct fuse_entry_out *e, uint64_t version)
{
	struct vfs_inode *i = d->inode;

	if (i && i->node != e->nodeid)
		i = NULL;
	if (!i || vfs_is_stale_inode(i, e->generation, &e->attr)) {
		if (i)
			vfs_make_bad(i);
		vfs_dinvalidate(d);
		return 1;
	}
	if (i->bad)
		return -EIO;
	i->nlookup++;
	vfs_iref(i);
	vfs_take_attr(i, &e->attr, e->attr_valid, e->attr_valid_nsec, version);
	if (vfs_has(d->v, FUSE_READDIRPLUS_AUTO))
		i->init_rdplus = true;
	vfs_iunref(i);
	vfs_dtimeout(d, e);
	return 0;
}

static int link_new(struct vfs_dentry *dir, const char *name, const struct fuse_entry_out *e,
	const struct listing *l)
{
	struct vfs_dentry *d = vfs_dnew(dir->v, dir, name), *other;
	struct vfs_inode *i;
	int error;

	d->looked_up = true;
	i = vfs_iget_since(dir->v, e, l->version, l->evicted);
	if (i && vfs_has(dir->v, FUSE_READDIRPLUS_AUTO))
		i->init_rdplus = true;
	other = i ? vfs_dsplice(d, i, &error) : NULL;
	if (!i)
		error = -ENOMEM;
	d->looked_up = false;
	sched_wake_all(d);
	if (!error)
		vfs_dtimeout(other ? other : d, e);
	if (other)
		vfs_dunref(other);
	vfs_dunref(d);
	/* the lookup is the inode's, which gives it back */
	return error == -ENOMEM ? error : 0;
}

static struct vfs_dentry *looked_up(struct vfs_dentry *dir, const char *name)
{
	struct vfs_dentry *d;

	LIST_FOREACH (d, &dir->children, sibling)
		if (d->looked_up && !strcmp(d->name, name))
			return vfs_dref(d);
	return NULL;
}

/* Not 0: the lookup is to be given back. */
static int link_entry(struct vfs_dentry *dir, const char *name, const struct fuse_entry_out *e,
	const struct listing *l)
{
	struct vfs_dentry *d;
	int res;

	if (!strcmp(name, ".") || !strcmp(name, "..") || !e->nodeid)
		return 0;
	if (e->nodeid == FUSE_ROOT_ID || !vfs_is_sane(&e->attr))
		return -EIO;
	for (;;) {
		d = vfs_dfind(dir, name);
		if (d) {
			res = link_known(d, e, l->version);
			vfs_dunref(d);
			if (res <= 0)
				return res;
			continue;
		}
		d = looked_up(dir, name);
		if (!d)
			return link_new(dir, name, e, l);
		while (d->looked_up)
			sched_wait(d, SCHED_NEVER, "for another lookup of the name");
		vfs_dunref(d);
	}
}

/* --- getdents64(2) ---------------------------------------------------------------------------- */

static bool emit(struct listing *l, const struct fuse_dirent *d)
{
	struct sys_dirent *o = &l->out[l->n];

	if (l->n == l->max)
		return false;
	*o = (struct sys_dirent){.ino = d->ino, .off = d->off, .type = (unsigned char)d->type};
	memcpy(o->name, d->name, d->namelen);
	l->n++;
	l->f->pos = (off_t)d->off;
	return true;
}

static bool is_name(const struct fuse_dirent *d)
{
	return d->namelen && d->namelen <= VFS_NAME_MAX && !memchr(d->name, '/', d->namelen);
}

static int take(struct listing *l, const uint8_t *buf, size_t len)
{
	while (len >= FUSE_NAME_OFFSET) {
		const struct fuse_dirent *d = (const void *)buf;
		size_t size = FUSE_DIRENT_SIZE(d);

		if (!is_name(d))
			return -EIO;
		if (size > len || !emit(l, d))
			break;
		buf += size;
		len -= size;
	}
	return 0;
}

/* Links all names, also names without room in the program's buffer. */
static int take_plus(struct listing *l, const uint8_t *buf, size_t len)
{
	struct vfs_dentry *dir = l->f->dentry;
	char name[VFS_NAME_MAX + 1];

	while (len >= FUSE_NAME_OFFSET_DIRENTPLUS) {
		const struct fuse_direntplus *d = (const void *)buf;
		size_t size = FUSE_DIRENTPLUS_SIZE(d);

		if (!is_name(&d->dirent))
			return -EIO;
		if (size > len)
			break;
		if (!l->over)
			l->over = !emit(l, &d->dirent);
		memcpy(name, d->dirent.name, d->dirent.namelen);
		name[d->dirent.namelen] = 0;
		if (link_entry(dir, name, &d->entry_out, l))
			vfs_forget(dir->v, d->entry_out.nodeid, 1);
		buf += size;
		len -= size;
	}
	return 0;
}

static int list(struct listing *l)
{
	struct vfs_file *f = l->f;
	bool plus = wants_plus(f->inode, (uint64_t)f->pos);
	struct fuse_read_in in = {.fh = f->handle->fh,
		.offset = (uint64_t)f->pos,
		.size = VFS_PAGE,
		.flags = (uint32_t)f->flags};
	uint64_t aligned[VFS_PAGE / sizeof(uint64_t)];
	struct vfs_call c = {.opcode = plus ? FUSE_READDIRPLUS : FUSE_READDIR,
		.node = f->inode->node,
		.out = aligned,
		.room = sizeof(aligned),
		.var = true};
	ssize_t res;

	l->version = vfs_version(f->v);
	l->evicted = f->v->evicted;
	vfs_add_in(&c, &in, sizeof(in));
	res = vfs_ask(f->v, &c);
	vfs_doubt(f->inode, VFS_ATIME);
	if (res < 0)
		return (int)res;
	return plus ? take_plus(l, (void *)aligned, (size_t)res)
		    : take(l, (void *)aligned, (size_t)res);
}

int sys_getdents(struct process *p, int fd, struct sys_dirent *out, unsigned max)
{
	struct vfs_file *f;
	struct listing l = {.out = out, .max = max};
	int res = -EBADF;

	proc_enter(p);
	f = l.f = proc_file(p, fd);
	if (f && !f->handle->dir) {
		res = -ENOTDIR;
	} else if (f) {
		vfs_lock(&f->pos_lock);
		vfs_lock_shared(&f->inode->lock);
		res = f->inode->dead ? -ENOENT : f->inode->bad ? -EIO : list(&l);
		vfs_unlock_shared(&f->inode->lock);
		vfs_unlock(&f->pos_lock);
	}
	if (f)
		vfs_funref(f);
	if (!res)
		res = (int)l.n;
	sched_event("%d: getdents %d: %d", (int)p->pid, fd, res);
	return (int)proc_leave(p, res);
}

#define STEP 64

int sys_readdir(struct process *p, const char *path, struct sys_dirent **out)
{
	int fd = sys_open(p, path, O_RDONLY | O_DIRECTORY, 0), res, n = 0;
	struct sys_dirent *all = NULL;

	if (fd < 0)
		return fd;
	do {
		all = realloc(all, (size_t)(n + STEP) * sizeof(*all));
		if (!all)
			abort();
		res = sys_getdents(p, fd, all + n, STEP);
		for (int i = 0, at = n; i < res; i++, at++) {
			struct sys_dirent d = all[at];

			if (strcmp(d.name, ".") && strcmp(d.name, ".."))
				all[n++] = d;
		}
	} while (res > 0);
	sys_close(p, fd);
	if (res < 0) {
		free(all);
		all = NULL;
	}
	*out = all;
	return res < 0 ? res : n;
}
