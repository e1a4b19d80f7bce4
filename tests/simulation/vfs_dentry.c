/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_dentry: the tree of names.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/choices.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

struct vfs_dentry *vfs_dref(struct vfs_dentry *d)
{
	d->refs++;
	return d;
}

/* A hashed dentry without references stays, unused, until memory is short. */
void vfs_dunref(struct vfs_dentry *d)
{
	struct vfs_dentry *parent;

	while (d && !--d->refs && !d->hashed) {
		if (!LIST_EMPTY(&d->children))
			sched_fail("a dentry with names below goes");
		parent = d->parent;
		if (d->inode) {
			LIST_REMOVE(d, alias);
			vfs_iunref(d->inode);
		}
		if (parent)
			LIST_REMOVE(d, sibling);
		free(d);
		d = parent;
	}
}

struct vfs_dentry *vfs_dnew(struct vfs *v, struct vfs_dentry *parent, const char *name)
{
	struct vfs_dentry *d = calloc(1, sizeof(*d));

	if (!d)
		abort();
	d->v = v;
	d->refs = 1;
	LIST_INIT(&d->children);
	strncpy(d->name, name, VFS_NAME_MAX);
	if (parent) {
		d->parent = vfs_dref(parent);
		LIST_INSERT_HEAD(&parent->children, d, sibling);
	}
	return d;
}

struct vfs_dentry *vfs_dfind(struct vfs_dentry *parent, const char *name)
{
	struct vfs_dentry *d;

	LIST_FOREACH (d, &parent->children, sibling)
		if (d->hashed && !strcmp(d->name, name))
			return vfs_dref(d);
	return NULL;
}

void vfs_dunhash(struct vfs_dentry *d)
{
	d->hashed = false;
}

/* Unused names below d go, deepest first. A pass begins again after each, since one may take its
 * unhashed parent along. */
static bool drop_unused(struct vfs_dentry *d, unsigned once_in)
{
	struct vfs_dentry *c;

	LIST_FOREACH (c, &d->children, sibling) {
		if (!LIST_EMPTY(&c->children) && drop_unused(c, once_in))
			return true;
		if (c->refs || !c->hashed ||
			(once_in > 1 && !choices_once_in(CHOICES_KERNEL, once_in)))
			continue;
		c->hashed = false;
		c->refs = 1;
		vfs_dunref(c);
		return true;
	}
	return false;
}

void vfs_dshrink(struct vfs *v, struct vfs_dentry *d, unsigned once_in)
{
	unsigned most = once_in > 1 ? choices_below(CHOICES_KERNEL, 20) : UINT32_MAX;

	vfs_dref(d);
	while (most-- > 0 && drop_unused(d, once_in))
		;
	vfs_dunref(d);
}

/* As Linux: used names below stay, though the kernel does not find d's name any more. */
void vfs_dinvalidate(struct vfs_dentry *d)
{
	if (!d->hashed)
		return;
	d->hashed = false;
	vfs_dshrink(d->v, d, 1);
}

void vfs_dset(struct vfs_dentry *d, struct vfs_inode *i)
{
	d->inode = i;
	if (i)
		LIST_INSERT_HEAD(&i->aliases, d, alias);
}

static void unset(struct vfs_dentry *d)
{
	struct vfs_inode *i = d->inode;

	if (!i)
		return;
	LIST_REMOVE(d, alias);
	d->inode = NULL;
	vfs_iunref(i);
}

/* In use by the caller alone the dentry becomes a negative one; else the name is merely not found
 * any more. */
void vfs_ddelete(struct vfs_dentry *d)
{
	if (d->refs == 1 && LIST_EMPTY(&d->children))
		unset(d);
	else
		d->hashed = false;
}

static void place(struct vfs_dentry *d, struct vfs_dentry *parent, const char *name)
{
	struct vfs_dentry *old = d->parent;

	vfs_dref(parent);
	if (old)
		LIST_REMOVE(d, sibling);
	d->parent = parent;
	LIST_INSERT_HEAD(&parent->children, d, sibling);
	memmove(d->name, name, strlen(name) + 1);
	vfs_dunref(old);
}

void vfs_dmove(struct vfs_dentry *d, struct vfs_dentry *to)
{
	if (to->hashed && d != to)
		to->hashed = false;
	place(d, to->parent, to->name);
	d->hashed = true;
}

void vfs_dexchange(struct vfs_dentry *a, struct vfs_dentry *b)
{
	struct vfs_dentry *parent = vfs_dref(a->parent);
	char name[VFS_NAME_MAX + 1];

	strcpy(name, a->name);
	place(a, b->parent, b->name);
	place(b, parent, name);
	vfs_dunref(parent);
}

bool vfs_is_below(const struct vfs_dentry *d, const struct vfs_dentry *top)
{
	for (; d; d = d->parent)
		if (d == top)
			return true;
	return false;
}

/* A directory has one name. Found under another name, the directory's dentry moves there, if the
 * other directory is not locked; else the walk is done again (ESTALE). */
struct vfs_dentry *vfs_dsplice(struct vfs_dentry *d, struct vfs_inode *i, int *error)
{
	struct vfs_dentry *a = i && vfs_is_dir(i) ? LIST_FIRST(&i->aliases) : NULL;

	*error = 0;
	if (!a) {
		vfs_dset(d, i);
		d->hashed = true;
		return NULL;
	}
	vfs_dref(a);
	if (vfs_is_below(d, a))
		*error = -ELOOP;
	else if (a->parent != d->parent && (d->v->renames.writer || a->parent->inode->lock.writer))
		*error = -ESTALE;
	else
		vfs_dmove(a, d);
	vfs_iunref(i);
	if (!*error)
		return a;
	vfs_dunref(a);
	return NULL;
}

void vfs_dtimeout(struct vfs_dentry *d, const struct fuse_entry_out *e)
{
	d->until = vfs_until(e->entry_valid, e->entry_valid_nsec);
}
