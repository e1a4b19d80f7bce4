/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_walk: looking names up, and walking along paths.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

#define LINKS_MAX 40

/* --- asking the daemon ------------------------------------------------------------------------ */

static int ask(struct vfs *v, uint64_t dir, const char *name, struct fuse_entry_out *out)
{
	struct vfs_call c = {.opcode = FUSE_LOOKUP, .node = dir, .out = out, .room = sizeof(*out)};
	char copy[VFS_NAME_MAX + 1];
	ssize_t res;

	/* the dentry may be renamed meanwhile */
	strcpy(copy, name);
	vfs_add_name(&c, copy);
	res = vfs_ask(v, &c);
	return res < 0 ? (int)res : 0;
}

/* The directory's programs would like READDIRPLUS: names of the listing are looked up. */
static void advise(struct vfs_inode *dir)
{
	dir->advise_rdplus = true;
}

/* 1: the name is still good; 0: the name is stale; or a negative errno. The kernel asks the daemon
 * about a positive dentry that has timed out. A negative dentry that has timed out is stale at
 * once, and the kernel looks the name up anew. */
static int ask_again(struct vfs_dentry *d)
{
	struct vfs_inode *i = d->inode;
	struct vfs *v = d->v;
	uint64_t version = vfs_version(v);
	struct vfs_dentry *parent = vfs_dref(d->parent);
	struct fuse_entry_out e;
	int res = ask(v, parent->inode->node, d->name, &e);

	vfs_dunref(parent);
	if (!res && !e.nodeid)
		res = -ENOENT;
	if (res == -ENOMEM || res == -EINTR)
		return res;
	if (res)
		return 0;
	if (e.nodeid != i->node) {
		vfs_forget(v, e.nodeid, 1);
		return 0;
	}
	i->nlookup++;
	if (!vfs_is_sane(&e.attr) || vfs_is_stale_inode(i, e.generation, &e.attr))
		return 0;
	vfs_take_attr(i, &e.attr, e.attr_valid, e.attr_valid_nsec, version);
	vfs_dtimeout(d, &e);
	return 1;
}

int vfs_revalidate(struct vfs_dentry *d, unsigned flags)
{
	struct vfs_inode *i = d->inode;
	int res;

	if (i && i->bad)
		return 0;
	if (d->until < sched_now() || flags & (VFS_EXCL | VFS_REVAL)) {
		if (!i)
			return 0;
		vfs_iref(i);
		res = ask_again(d);
		vfs_iunref(i);
		return res;
	}
	if (i && i->init_rdplus) {
		i->init_rdplus = false;
		advise(d->parent->inode);
	}
	return 1;
}

int vfs_lookup_ask(struct vfs_dentry *dir, struct vfs_dentry *d, struct vfs_dentry **out)
{
	struct vfs *v = d->v;
	uint64_t version = vfs_version(v), evicted = v->evicted;
	struct vfs_inode *i = NULL;
	struct vfs_dentry *other;
	struct fuse_entry_out e = {0};
	int error = -ENOENT;

	*out = NULL;
	if (dir->inode->bad)
		return -EIO;
	error = ask(v, dir->inode->node, d->name, &e);
	if (error && error != -ENOENT)
		return error;
	if (!error && e.nodeid) {
		if (!vfs_is_sane(&e.attr) || e.nodeid == FUSE_ROOT_ID)
			return -EIO;
		i = vfs_iget_since(v, &e, version, evicted);
	}
	other = vfs_dsplice(d, i, &error);
	if (error == -ELOOP || error == -ESTALE)
		return error;
	if (!other)
		other = vfs_dref(d);
	/* ENOENT may not be kept; number 0 is the same with a time */
	if (i || e.entry_valid || e.entry_valid_nsec)
		vfs_dtimeout(other, &e);
	else
		other->until = 0;
	if (i)
		advise(dir->inode);
	*out = other;
	return 0;
}

/* --- lookups ---------------------------------------------------------------------------------- */

int vfs_lookup_fast(
	struct vfs_dentry *dir, const char *name, unsigned flags, struct vfs_dentry **out)
{
	struct vfs_dentry *d = vfs_dfind(dir, name);
	int res;

	*out = NULL;
	sched_point();
	if (!d)
		return 0;
	res = vfs_revalidate(d, flags);
	if (res > 0) {
		*out = d;
		return 0;
	}
	if (!res)
		vfs_dinvalidate(d);
	vfs_dunref(d);
	return res;
}

/* A lookup of the name that is under way, which other lookups join. */
static struct vfs_dentry *under_way(struct vfs_dentry *dir, const char *name)
{
	struct vfs_dentry *d;

	LIST_FOREACH (d, &dir->children, sibling)
		if (d->looked_up && !strcmp(d->name, name))
			return vfs_dref(d);
	return NULL;
}

/* One LOOKUP, which the caller begins; others of the name wait for it. */
static int begin_lookup(struct vfs_dentry *dir, const char *name, struct vfs_dentry **out)
{
	struct vfs_dentry *d = vfs_dnew(dir->v, dir, name);
	int error;

	d->looked_up = true;
	error = vfs_lookup_ask(dir, d, out);
	d->looked_up = false;
	sched_wake_all(d);
	vfs_dunref(d);
	return error;
}

int vfs_lookup_slow(
	struct vfs_dentry *dir, const char *name, unsigned flags, struct vfs_dentry **out)
{
	struct vfs_dentry *d;
	int error;

	for (;;) {
		if (dir->inode->dead)
			return -ENOENT;
		error = vfs_lookup_fast(dir, name, flags, out);
		if (error || *out)
			return error;
		if (dir->inode->dead)
			return -ENOENT;
		/* no point between this look and the beginning */
		d = vfs_dfind(dir, name);
		if (d) {
			vfs_dunref(d);
			continue;
		}
		d = under_way(dir, name);
		if (!d)
			return begin_lookup(dir, name, out);
		while (d->looked_up)
			sched_wait(d, SCHED_NEVER, "for another lookup of the name");
		vfs_dunref(d);
	}
}

int vfs_lookup_locked(
	struct vfs_dentry *dir, const char *name, unsigned flags, struct vfs_dentry **out)
{
	return vfs_lookup_slow(dir, name, flags, out);
}

/* --- symlinks --------------------------------------------------------------------------------- */

int vfs_readlink(struct vfs_inode *i, char **text)
{
	char buf[VFS_PAGE];
	struct vfs_call c = {.opcode = FUSE_READLINK,
		.node = i->node,
		.out = buf,
		.room = sizeof(buf) - 1,
		.var = true};
	ssize_t res;

	if (i->bad)
		return -EIO;
	if (i->link) {
		*text = strdup(i->link);
		return 0;
	}
	res = vfs_ask(i->v, &c);
	if (res < 0)
		return (int)res;
	buf[res] = 0;
	*text = strdup(buf);
	if (vfs_has(i->v, FUSE_CACHE_SYMLINKS) && !i->link)
		i->link = strdup(buf);
	vfs_doubt(i, VFS_ATIME);
	return 0;
}

/* --- paths ------------------------------------------------------------------------------------ */

static void step_to(struct vfs_walk *w, struct vfs_dentry *d)
{
	vfs_dunref(w->dir);
	w->dir = d;
}

static int set_rest(struct vfs_walk *w, const char *front, const char *rest)
{
	char joined[sizeof(w->rest)];

	if ((size_t)snprintf(joined, sizeof(joined), "%s%s%s", front, *rest ? "/" : "", rest) >=
		sizeof(joined))
		return -ENAMETOOLONG;
	strcpy(w->rest, joined);
	return 0;
}

/* The text of the link d comes in front of the rest of the path. */
static int splice_link(struct vfs_walk *w, struct vfs_dentry *d)
{
	char *text = NULL;
	int error;

	if (++w->links > LINKS_MAX)
		return -ELOOP;
	error = vfs_readlink(d->inode, &text);
	if (error)
		return error;
	if (text[0] == '/') /* the mount's root stands for the machine's */
		step_to(w, vfs_dref(w->v->root));
	error = set_rest(w, text, w->rest + strspn(w->rest, "/"));
	free(text);
	return error;
}

/* w->last, as a directory to walk through, or a link to walk along. */
static int step(struct vfs_walk *w)
{
	struct vfs_dentry *d;
	int error;

	if (!strcmp(w->last, ".."))
		d = vfs_dref(w->dir->parent ? w->dir->parent : w->dir);
	else if (!strcmp(w->last, "."))
		d = vfs_dref(w->dir);
	else {
		error = vfs_lookup_fast(w->dir, w->last, w->flags & VFS_REVAL, &d);
		if (!error && !d) {
			vfs_lock_shared(&w->dir->inode->lock);
			error = vfs_lookup_slow(w->dir, w->last, w->flags & VFS_REVAL, &d);
			vfs_unlock_shared(&w->dir->inode->lock);
		}
		if (error)
			return error;
	}
	if (!d->inode) {
		vfs_dunref(d);
		return -ENOENT;
	}
	if (S_ISLNK(d->inode->a.mode)) {
		error = splice_link(w, d);
		vfs_dunref(d);
		return error;
	}
	if (!vfs_is_dir(d->inode)) {
		vfs_dunref(d);
		return -ENOTDIR;
	}
	step_to(w, d);
	return 0;
}

/* Takes the first name off w->rest. */
static int take_name(struct vfs_walk *w)
{
	size_t at = strspn(w->rest, "/"), n = strcspn(w->rest + at, "/");

	if (n > VFS_NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(w->last, w->rest + at, n);
	w->last[n] = 0;
	memmove(w->rest, w->rest + at + n, strlen(w->rest + at + n) + 1);
	w->slash = w->rest[0] == '/';
	return 0;
}

/* Walks on until w->last is the last name. */
static int walk_on(struct vfs_walk *w)
{
	int error;

	for (;;) {
		error = take_name(w);
		if (error)
			return error;
		if (!w->last[0])
			return 0;
		error = vfs_permission(w->dir->inode, X_OK);
		if (error)
			return error;
		if (!w->rest[strspn(w->rest, "/")] && strcmp(w->last, "..") && strcmp(w->last, "."))
			return 0;
		error = step(w);
		if (error)
			return error;
	}
}

int vfs_walk_link(struct vfs_walk *w, struct vfs_dentry *d)
{
	int error = splice_link(w, d);

	return error ? error : walk_on(w);
}

int vfs_walk_begin_once(struct vfs_walk *w, struct vfs *v, const char *path, unsigned flags)
{
	int error;

	*w = (struct vfs_walk){.v = v, .flags = flags, .dir = vfs_dref(v->root)};
	error = strlen(path) >= sizeof(w->rest) ? -ENAMETOOLONG : set_rest(w, path, "");
	if (!error)
		error = walk_on(w);
	if (error)
		vfs_walk_end(w);
	return error;
}

/* ESTALE: once more, with each name asked for (filename_parentat). */
int vfs_walk_begin(struct vfs_walk *w, struct vfs *v, const char *path, unsigned flags)
{
	int error = vfs_walk_begin_once(w, v, path, flags);

	return error == -ESTALE ? vfs_walk_begin_once(w, v, path, flags | VFS_REVAL) : error;
}

void vfs_walk_end(struct vfs_walk *w)
{
	vfs_dunref(w->dir);
	w->dir = NULL;
}

/* The last name's dentry; a link as the last name is followed or not. */
static int last(struct vfs_walk *w, struct vfs_dentry **out)
{
	struct vfs_dentry *d;
	int error;

	for (;;) {
		if (!w->last[0]) {
			*out = vfs_dref(w->dir);
			return 0;
		}
		error = vfs_lookup_fast(w->dir, w->last, w->flags & VFS_REVAL, &d);
		if (!error && !d) {
			vfs_lock_shared(&w->dir->inode->lock);
			error = vfs_lookup_slow(w->dir, w->last, w->flags & VFS_REVAL, &d);
			vfs_unlock_shared(&w->dir->inode->lock);
		}
		if (error)
			return error;
		if (!d->inode || !S_ISLNK(d->inode->a.mode) || !(w->flags & VFS_FOLLOW || w->slash))
			break;
		error = vfs_walk_link(w, d);
		vfs_dunref(d);
		if (error)
			return error;
	}
	error = !d->inode ? -ENOENT : w->slash && !vfs_is_dir(d->inode) ? -ENOTDIR : 0;
	if (error)
		vfs_dunref(d);
	else
		*out = d;
	return error;
}

static int walk_once(struct vfs *v, const char *path, unsigned flags, struct vfs_dentry **out)
{
	struct vfs_walk w;
	int error = vfs_walk_begin_once(&w, v, path, flags);

	if (error)
		return error;
	error = last(&w, out);
	vfs_walk_end(&w);
	return error;
}

/* ESTALE: as above (filename_lookup). Calls may then begin anew once more (retry_estale). */
int vfs_walk(struct vfs *v, const char *path, unsigned flags, struct vfs_dentry **out)
{
	int error = walk_once(v, path, flags, out);

	return error == -ESTALE ? walk_once(v, path, flags | VFS_REVAL, out) : error;
}
