/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_notify: notifications of the daemon. The daemon's thread waits for the kernel's locks here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

/* Waits for pages that are locked, such as those of a READ under way. */
static int drop_data(struct vfs *v, const struct fuse_notify_inval_inode_out *o)
{
	struct vfs_inode *i = vfs_ifind(v, o->ino);
	uint64_t last = UINT64_MAX;

	sched_event("kernel %u: %s is not believed, from %lld", v->number, vfs_node_name(v, o->ino),
		(long long)o->off);
	if (!i)
		return -ENOENT;
	vfs_iref(i);
	vfs_new_version(i);
	vfs_doubt(i, VFS_ALL);
	if (o->off >= 0) {
		if (o->len > 0)
			last = (uint64_t)(o->off + o->len - 1) / VFS_PAGE;
		sched_point();
		vfs_pinvalidate(i, (uint64_t)o->off / VFS_PAGE, last);
	}
	vfs_iunref(i);
	return 0;
}

static bool has_names(const struct vfs_dentry *d)
{
	const struct vfs_dentry *c;

	LIST_FOREACH (c, &d->children, sibling)
		if (c->hashed && c->inode)
			return true;
	return false;
}

/* NOTIFY_DELETE: the child is known to be gone. */
static int delete (struct vfs_dentry *d, uint64_t child)
{
	struct vfs_inode *i = vfs_iref(d->inode);
	int error = 0;

	vfs_lock(&i->lock);
	if (i->node != child)
		error = -ENOENT;
	else if (vfs_is_dir(i)) {
		vfs_dshrink(i->v, d, 1);
		if (has_names(d)) /* simple_empty */
			error = -ENOTEMPTY;
		else
			i->dead = true;
	}
	if (!error)
		i->a.nlink = 0;
	vfs_unlock(&i->lock);
	if (!error)
		vfs_ddelete(d);
	vfs_iunref(i);
	return error;
}

/* Waits for the directory's lock, which creating and removing of names hold. With expire_only (6.2,
 * and the 6.1 of Debian) the name merely gets no more time. */
static int drop_name(struct vfs *v, uint64_t parent, uint64_t child, const char *name, bool expire)
{
	struct vfs_inode *dir = vfs_ifind(v, parent);
	struct vfs_dentry *at, *d = NULL;
	int error = -ENOENT;

	sched_event("kernel %u: name %s of %s is not believed", v->number, name,
		vfs_node_name(v, parent));
	if (!dir)
		return -ENOENT;
	vfs_iref(dir);
	vfs_lock(&dir->lock);
	at = LIST_FIRST(&dir->aliases);
	if (!vfs_is_dir(dir)) {
		error = -ENOTDIR;
	} else if (at) {
		vfs_dref(at);
		d = vfs_dfind(at, name);
		vfs_dunref(at);
	}
	if (d) {
		error = 0;
		vfs_doubt(dir, VFS_ALL);
		if (!expire)
			vfs_dinvalidate(d);
		d->until = 0;
		if (child && d->inode)
			error = delete (d, child);
		vfs_dunref(d);
	}
	vfs_unlock(&dir->lock);
	vfs_iunref(dir);
	return error;
}

/* A name of at most VFS_NAME_MAX behind the body of size bytes. */
static const char *name_of(const void *body, size_t len, size_t size, uint32_t namelen, int *error)
{
	const char *name = (const char *)body + size;

	*error = namelen > VFS_NAME_MAX ? -ENAMETOOLONG
		 : len != size + namelen + 1 || name[namelen] || strlen(name) != namelen ? -EINVAL
											 : 0;
	return name;
}

int vfs_notified(struct vfs *v, int code, const void *body, size_t len)
{
	const struct fuse_notify_inval_entry_out *e = body;
	const struct fuse_notify_delete_out *d = body;
	const char *name;
	int error;

	sched_detail("kernel %u: notification %d", v->number, code);
	sched_point();
	switch (code) {
	case FUSE_NOTIFY_INVAL_INODE:
		return len == sizeof(struct fuse_notify_inval_inode_out) ? drop_data(v, body)
									 : -EINVAL;
	case FUSE_NOTIFY_INVAL_ENTRY:
		if (len < sizeof(*e))
			return -EINVAL;
		name = name_of(body, len, sizeof(*e), e->namelen, &error);
		if (error)
			return error;
		return drop_name(v, e->parent, 0, name, e->flags & FUSE_EXPIRE_ONLY);
	case FUSE_NOTIFY_DELETE:
		if (len < sizeof(*d))
			return -EINVAL;
		name = name_of(body, len, sizeof(*d), d->namelen, &error);
		return error ? error : drop_name(v, d->parent, d->child, name, false);
	default:
		sched_event("kernel: notification %d is not in the model", code);
		return -EINVAL;
	}
}
