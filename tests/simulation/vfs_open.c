/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_open: open files, from open(2) to RELEASE.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

#define PASSING (O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC) /* flags of open(2) alone */

static uint64_t numbers;

/* Linux scrambles the address of the owner. */
uint64_t vfs_owner(uint64_t number)
{
	uint64_t x = number * 0x9e3779b97f4a7c15ull;

	return x ^ x >> 29;
}

/* --- the daemon's open file ------------------------------------------------------------------- */

struct vfs_handle *vfs_href(struct vfs_handle *h)
{
	h->refs++;
	return h;
}

static void released(struct vfs *v, struct vfs_request *q)
{
	vfs_iunref(q->ctx);
}

/* RELEASE is not waited for. The inode stays until the answer. */
void vfs_hunref(struct vfs *v, struct vfs_handle *h)
{
	struct fuse_release_in *in;
	struct vfs_call c = {.opcode = h->dir ? FUSE_RELEASEDIR : FUSE_RELEASE,
		.node = h->node,
		.force = true,
		.nobody = true};

	if (--h->refs)
		return;
	in = calloc(1, sizeof(*in));
	if (!in)
		abort();
	*in = (struct fuse_release_in){.fh = h->fh, .flags = h->flags};
	if (h->flock_owner) {
		in->release_flags = FUSE_RELEASE_FLOCK_UNLOCK;
		in->lock_owner = h->flock_owner;
	}
	vfs_add_in(&c, in, sizeof(*in));
	if (h->none || vfs_ask_later(v, &c, released, h->inode, in)) {
		free(in);
		vfs_iunref(h->inode);
	}
	free(h);
}

static struct vfs_handle *handle_new(struct vfs_inode *i, const struct fuse_open_out *o, int flags)
{
	struct vfs_handle *h = calloc(1, sizeof(*h));

	if (!h)
		abort();
	h->refs = 1;
	h->node = i->node;
	h->fh = o->fh;
	h->open_flags = o->open_flags;
	h->flags = (uint32_t)(flags & ~PASSING);
	h->inode = vfs_iref(i);
	h->dir = vfs_is_dir(i);
	return h;
}

/* --- struct vfs_file -------------------------------------------------------------------------- */

static struct vfs_file *file_new(struct vfs_dentry *d, struct vfs_handle *h, int flags)
{
	struct vfs_file *f = calloc(1, sizeof(*f));

	if (!f)
		abort();
	f->refs = 1;
	f->v = d->v;
	f->dentry = vfs_dref(d);
	f->inode = vfs_iref(d->inode);
	f->handle = h;
	f->flags = flags & ~PASSING;
	f->number = ++numbers << 32;
	f->ra_prev = UINT64_MAX;
	d->v->files++;
	return f;
}

struct vfs_file *vfs_fref(struct vfs_file *f)
{
	f->refs++;
	return f;
}

void vfs_funref(struct vfs_file *f)
{
	struct vfs *v = f->v;

	if (--f->refs)
		return;
	if (f->in_inode)
		LIST_REMOVE(f, of_inode);
	f->handle->flags = (uint32_t)f->flags; /* as F_SETFL has left them */
	vfs_hunref(v, f->handle);
	vfs_dunref(f->dentry);
	vfs_iunref(f->inode);
	v->files--;
	free(f);
}

/* The file's part in close(2), also for a killed process: the kernel sends pages that mappings have
 * changed, then FLUSH. */
int vfs_flush_file(struct vfs_file *f, struct process *p)
{
	struct vfs_inode *i = f->inode;
	struct fuse_flush_in in = {.fh = f->handle->fh, .lock_owner = vfs_owner(p->number)};
	struct vfs_call c = {.opcode = FUSE_FLUSH, .node = i->node, .force = true};
	ssize_t res;
	int error;

	if (f->handle->dir)
		return 0;
	if (i->bad)
		return -EIO;
	if (f->handle->open_flags & FOPEN_NOFLUSH)
		return 0;
	vfs_sync_pages(i);
	vfs_lock(&i->lock);
	vfs_nowrite(i);
	vfs_writes(i);
	vfs_unlock(&i->lock);
	error = i->back_error;
	i->back_error = 0;
	if (error || f->v->no_flush)
		return error;
	vfs_add_in(&c, &in, sizeof(in));
	res = vfs_ask(f->v, &c);
	if (res != -ENOSYS)
		return res < 0 ? (int)res : 0;
	f->v->no_flush = true;
	return 0;
}

int vfs_fsync(struct vfs_file *f, bool data)
{
	return vfs_fsync_range(f, 0, UINT64_MAX, data);
}

/* The inode's lock is held all the time. */
int vfs_fsync_range(struct vfs_file *f, uint64_t first, uint64_t last, bool data)
{
	struct vfs_inode *i = f->inode;
	bool dir = f->handle->dir, *none = dir ? &f->v->no_fsyncdir : &f->v->no_fsync;
	struct fuse_fsync_in in = {
		.fh = f->handle->fh, .fsync_flags = data ? FUSE_FSYNC_FDATASYNC : 0};
	struct vfs_call c = {.opcode = dir ? FUSE_FSYNCDIR : FUSE_FSYNC, .node = i->node};
	ssize_t res = 0;

	if (i->bad)
		return -EIO;
	vfs_lock(&i->lock);
	if (!dir) {
		res = vfs_write_back(i, first, last);
		vfs_wait_back(i, first, last);
		vfs_nowrite(i);
		vfs_writes(i);
		if (!res && i->back_error) {
			res = i->back_error;
			i->back_error = 0;
		}
	}
	if (!res && !*none) {
		vfs_add_in(&c, &in, sizeof(in));
		res = vfs_ask(f->v, &c);
		if (res == -ENOSYS) {
			*none = true;
			res = 0;
		}
	}
	vfs_unlock(&i->lock);
	return res < 0 ? (int)res : 0;
}

/* --- OPEN ------------------------------------------------------------------------------------- */

static uint32_t kill_flag(const struct vfs *v, int flags)
{
	return vfs_has(v, FUSE_HANDLE_KILLPRIV_V2) && flags & O_TRUNC && proc_self()->uid
		       ? FUSE_OPEN_KILL_SUIDGID
		       : 0;
}

static int ask_open(struct vfs_inode *i, int flags, struct fuse_open_out *o, bool *none)
{
	struct vfs *v = i->v;
	bool dir = vfs_is_dir(i), *is_none = dir ? &v->no_opendir : &v->no_open;
	struct fuse_open_in in = {.flags = (uint32_t)(flags & ~(O_CREAT | O_EXCL | O_NOCTTY))};
	struct vfs_call c = {.opcode = dir ? FUSE_OPENDIR : FUSE_OPEN,
		.node = i->node,
		.out = o,
		.room = sizeof(*o)};
	ssize_t res = -ENOSYS;

	if (!vfs_has(v, FUSE_ATOMIC_O_TRUNC))
		in.flags &= (uint32_t)~O_TRUNC;
	in.open_flags = kill_flag(v, (int)in.flags);
	if (!*is_none) {
		vfs_add_in(&c, &in, sizeof(in));
		res = vfs_ask(v, &c);
	}
	*none = res == -ENOSYS && vfs_has(v, dir ? FUSE_NO_OPENDIR_SUPPORT : FUSE_NO_OPEN_SUPPORT);
	if (*none) {
		*is_none = true;
		*o = (struct fuse_open_out){
			.open_flags = dir ? FOPEN_CACHE_DIR | FOPEN_KEEP_CACHE : FOPEN_KEEP_CACHE};
		return 0;
	}
	return res < 0 ? (int)res : 0;
}

/* Pages after OPEN or CREATE: none if the file was cut, nor without FOPEN_KEEP_CACHE. CREATE does
 * not change the size that the answer tells: do_dentry_open has removed O_TRUNC from the file's
 * flags before fuse_finish_open looks. */
static void opened(struct vfs_file *f, int flags, bool is_new)
{
	struct vfs_inode *i = f->inode;
	bool cut = flags & O_TRUNC && vfs_has(f->v, FUSE_ATOMIC_O_TRUNC) && vfs_is_reg(i);

	if (!vfs_is_reg(i))
		return;
	if (cut) {
		if (!is_new) {
			vfs_new_version(i);
			i->size = 0;
			vfs_doubt(i, VFS_MODSIZE);
		}
		vfs_ptruncate(i, 0);
	} else if (!(f->handle->open_flags & FOPEN_KEEP_CACHE)) {
		vfs_pinvalidate(i, 0, UINT64_MAX);
	}
}

/* *dropped: an open file of a call that fails. Linux closes such a file once the call has ended,
 * and so after a second try (fput). */
static int open_inode(
	struct vfs_dentry *d, int flags, struct vfs_file **out, struct vfs_file **dropped)
{
	struct vfs_inode *i = d->inode;
	struct fuse_setattr_in cut = {.valid = FATTR_SIZE};
	struct fuse_open_out o = {0};
	struct vfs_file *f;
	bool none;
	int error;

	if (i->bad)
		return -EIO;
	error = ask_open(i, flags, &o, &none);
	if (error)
		return error;
	f = file_new(d, handle_new(i, &o, flags), flags);
	f->handle->none = none;
	if (vfs_is_dir(i) && flags & O_DIRECT) { /* do_dentry_open */
		*dropped = f;
		return -EINVAL;
	}
	opened(f, flags, false);
	if (flags & O_TRUNC && vfs_is_reg(i)) {
		/* open(2) itself cuts the file once more, in the inode alone with atomic_o_trunc */
		vfs_ask_rights(i);
		vfs_lock(&i->lock);
		error = vfs_setattr(i, &cut, f, true);
		vfs_unlock(&i->lock);
	}
	*(error ? dropped : out) = f;
	return error;
}

/* --- CREATE ----------------------------------------------------------------------------------- */

struct created {
	struct fuse_entry_out e;
	struct fuse_open_out o;
};

static ssize_t ask_create(
	struct vfs_dentry *d, struct process *p, int flags, mode_t mode, struct created *out)
{
	struct vfs *v = d->v;
	struct fuse_create_in in = {.flags = (uint32_t)(flags & ~O_NOCTTY),
		.mode = S_IFREG | (mode & 07777),
		.umask = p->umask};
	struct vfs_call c = {.opcode = FUSE_CREATE,
		.node = d->parent->inode->node,
		.out = out,
		.room = sizeof(*out)};

	if (!vfs_has(v, FUSE_DONT_MASK))
		in.mode &= ~p->umask;
	if (!(flags & O_EXCL))
		in.open_flags = kill_flag(v, flags);
	vfs_add_in(&c, &in, sizeof(in));
	vfs_add_name(&c, d->name);
	return vfs_ask(v, &c);
}

/* d: the negative dentry; its directory is locked. */
static int create(
	struct vfs_dentry *d, struct process *p, int flags, mode_t mode, struct vfs_file **out)
{
	struct vfs_inode *dir = d->parent->inode, *i;
	struct created made;
	ssize_t res;

	if (flags & O_EXCL)
		flags &= ~O_TRUNC;
	res = ask_create(d, p, flags, mode, &made);
	if (res == -EEXIST && d->v->p.version >= 602) {
		vfs_dinvalidate(d);
		d->until = 0;
	}
	if (res < 0)
		return (int)res;
	if (!S_ISREG(made.e.attr.mode) || made.e.nodeid <= FUSE_ROOT_ID ||
		!vfs_is_sane(&made.e.attr))
		return -EIO;
	i = vfs_iget(d->v, &made.e, 0);
	if (!i)
		return -ENOMEM;
	vfs_dset(d, i);
	vfs_dtimeout(d, &made.e);
	vfs_doubt(dir, VFS_ALL);
	*out = file_new(d, handle_new(i, &made.o, flags), flags);
	opened(*out, flags, true);
	return 0;
}

/* --- open(2) ---------------------------------------------------------------------------------- */

struct opening {
	struct vfs_walk w;
	struct process *p;
	int flags;
	mode_t mode;
	bool v612;
	struct vfs_file *file; /* was created */
	struct vfs_file *dropped;
};

/* How the last name is looked up. */
static unsigned last_flags(const struct opening *o)
{
	bool makes = o->flags & O_CREAT && o->flags & O_EXCL;

	return (o->w.flags & VFS_REVAL) | (makes ? VFS_EXCL : 0);
}

/* Under the directory's lock: looks the name up, and creates the file. The right to create is
 * looked at before the daemon is asked for the name, and counts if there is none (lookup_open).
 */
static int look_or_create(struct opening *o, struct vfs_dentry **d)
{
	struct vfs_dentry *dir = o->w.dir;
	int error, refused = 0;

	vfs_lock(&dir->inode->lock);
	error = dir->inode->dead ? -ENOENT : vfs_lookup_fast(dir, o->w.last, last_flags(o), d);
	if (!error && !(*d && (*d)->inode)) {
		refused = vfs_permission(dir->inode, W_OK | X_OK);
		if (!*d)
			error = vfs_lookup_slow(dir, o->w.last, last_flags(o), d);
	}
	if (!error && !(*d)->inode) {
		error = refused ? refused : create(*d, o->p, o->flags, o->mode, &o->file);
		if (error) {
			vfs_dunref(*d);
			*d = NULL;
		}
	}
	vfs_unlock(&dir->inode->lock);
	return error;
}

static int look(struct opening *o, struct vfs_dentry **d)
{
	struct vfs_dentry *dir = o->w.dir;
	bool creates = o->flags & O_CREAT;
	int error = 0;

	*d = NULL;
	if (!o->w.last[0]) {
		*d = vfs_dref(dir);
		return 0;
	}
	if (creates && o->w.slash)
		return -EISDIR;
	/* 6.12 looks without the lock first also with O_CREAT; 6.1 does not */
	if (!creates || o->v612)
		error = vfs_lookup_fast(dir, o->w.last, last_flags(o), d);
	if (!error && *d && creates && !(*d)->inode) {
		vfs_dunref(*d);
		*d = NULL;
	}
	if (error || *d)
		return error;
	if (creates)
		return look_or_create(o, d);
	vfs_lock_shared(&dir->inode->lock);
	error = vfs_lookup_slow(dir, o->w.last, o->w.flags & VFS_REVAL, d);
	vfs_unlock_shared(&dir->inode->lock);
	return error;
}

static int may_open(const struct opening *o, const struct vfs_dentry *d)
{
	static const int masks[] = {[O_RDONLY] = R_OK, [O_WRONLY] = W_OK, [O_RDWR] = R_OK | W_OK};
	struct vfs_inode *i = d->inode;
	int access = o->flags & O_ACCMODE;

	if (!i)
		return -ENOENT;
	if (o->flags & O_CREAT && o->flags & O_EXCL)
		return -EEXIST;
	if (S_ISLNK(i->a.mode))
		return -ELOOP;
	if (vfs_is_dir(i) && (o->flags & O_CREAT || access != O_RDONLY))
		return -EISDIR;
	if (!vfs_is_dir(i) && (o->flags & O_DIRECTORY || o->w.slash))
		return -ENOTDIR;
	if (access == 3)
		return -EINVAL;
	return vfs_permission(i, masks[access] | (o->flags & O_TRUNC ? W_OK : 0));
}

static int open_found(struct opening *o)
{
	struct vfs_dentry *d;
	int error;

	for (;;) {
		error = look(o, &d);
		if (error)
			return error;
		if (o->file || !d->inode || !S_ISLNK(d->inode->a.mode) || o->flags & O_NOFOLLOW ||
			(o->flags & O_CREAT && o->flags & O_EXCL))
			break;
		error = vfs_walk_link(&o->w, d);
		vfs_dunref(d);
		if (error)
			return error;
	}
	if (o->file) {
		/* may_open looks at the attributes of a created file, too */
		error = vfs_permission(d->inode, 0);
		if (error) {
			o->dropped = o->file;
			o->file = NULL;
		}
	} else {
		error = may_open(o, d);
		if (!error)
			error = open_inode(d, o->flags, &o->file, &o->dropped);
	}
	vfs_dunref(d);
	return error;
}

static int open_once(struct process *p, const char *path, int flags, mode_t mode, unsigned walk,
	struct vfs_file **out, struct vfs_file **dropped)
{
	struct opening o = {.p = p, .flags = flags, .mode = mode, .v612 = p->v->p.version >= 612};
	int error = vfs_walk_begin_once(&o.w, p->v, path, walk);

	if (error)
		return error;
	error = open_found(&o);
	vfs_walk_end(&o.w);
	*(error ? dropped : out) = error ? o.dropped : o.file;
	return error;
}

int vfs_open(struct process *p, const char *path, int flags, mode_t mode, struct vfs_file **out)
{
	struct vfs_file *dropped[2] = {NULL, NULL};
	int error = open_once(p, path, flags, mode, VFS_FOLLOW, out, &dropped[0]);

	/* ESTALE: once more, each name asked for */
	if (error == -ESTALE)
		error = open_once(p, path, flags, mode, VFS_FOLLOW | VFS_REVAL, out, &dropped[1]);
	for (int i = 0; i < 2; i++)
		if (dropped[i])
			vfs_funref(dropped[i]);
	return error;
}
