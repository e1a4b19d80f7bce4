/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_inode: inodes and their attributes, and for how long the kernel believes these.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

#define SECOND 1000000000ull

uint64_t vfs_until(uint64_t s, uint32_t ns)
{
	uint64_t now = sched_now();

	/* Linux: no time at all counts as the past */
	if (!s && !ns)
		return 0;
	return s > (UINT64_MAX - now) / SECOND - 2 ? UINT64_MAX : now + s * SECOND + ns;
}

/* --- inodes ----------------------------------------------------------------------------------- */

struct vfs_inode *vfs_iref(struct vfs_inode *i)
{
	i->refs++;
	return i;
}

/* An inode without references goes at once, and its lookups are given back, but at umount. */
void vfs_iunref(struct vfs_inode *i)
{
	if (!i || --i->refs)
		return;
	if (!LIST_EMPTY(&i->backs))
		sched_fail("an inode with pages under way goes");
	vfs_pdrop_all(i);
	if (i->a.nlink)
		i->v->evicted++;
	if (i->nlookup && i->node != FUSE_ROOT_ID)
		vfs_forget(i->v, i->node, i->nlookup);
	LIST_REMOVE(i, all);
	free(i->pages);
	free(i->link);
	free(i);
}

struct vfs_inode *vfs_ifind(struct vfs *v, uint64_t node)
{
	struct vfs_inode *i;

	LIST_FOREACH (i, &v->inodes, all)
		if (i->hashed && i->node == node)
			return i;
	return NULL;
}

void vfs_make_bad(struct vfs_inode *i)
{
	i->bad = true;
	i->hashed = i->node == FUSE_ROOT_ID;
	sched_event("kernel: %s is bad", vfs_name(i));
}

bool vfs_is_sane(const struct fuse_attr *a)
{
	switch (a->mode & S_IFMT) {
	case S_IFREG:
	case S_IFDIR:
	case S_IFLNK:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
		return a->size <= INT64_MAX;
	default:
		return false;
	}
}

/* The daemon has given the number to another file. */
bool vfs_is_stale_inode(const struct vfs_inode *i, uint64_t generation, const struct fuse_attr *a)
{
	return i->generation != generation || (i->a.mode & S_IFMT) != (a->mode & S_IFMT);
}

static struct vfs_inode *make(struct vfs *v, const struct fuse_entry_out *e)
{
	static unsigned last;
	struct vfs_inode *i = calloc(1, sizeof(*i));

	if (!i)
		abort();
	i->v = v;
	i->node = e->nodeid;
	i->number = ++last;
	i->generation = e->generation;
	i->refs = 1;
	i->hashed = true;
	i->a.mode = e->attr.mode;
	i->size = e->attr.size;
	i->a.mtime = e->attr.mtime;
	i->a.mtimensec = e->attr.mtimensec;
	i->stale = VFS_ALL;
	LIST_INIT(&i->backs);
	LIST_INIT(&i->writers);
	LIST_INIT(&i->spans);
	LIST_INIT(&i->aliases);
	LIST_INSERT_HEAD(&v->inodes, i, all);
	return i;
}

struct vfs_inode *vfs_iget_since(
	struct vfs *v, const struct fuse_entry_out *e, uint64_t version, uint64_t evicted)
{
	bool is_new = !vfs_ifind(v, e->nodeid);
	struct vfs_inode *i = vfs_iget(v, e, version);

	/* another inode has gone meanwhile: maybe this one, with newer attributes (fuse_iget) */
	if (i && is_new && v->p.version >= 613 && v->evicted != evicted)
		vfs_doubt(i, VFS_ALL);
	return i;
}

struct vfs_inode *vfs_iget(struct vfs *v, const struct fuse_entry_out *e, uint64_t version)
{
	struct vfs_inode *i = vfs_ifind(v, e->nodeid);

	if (i && vfs_is_stale_inode(i, e->generation, &e->attr)) {
		vfs_make_bad(i);
		if (i->node == FUSE_ROOT_ID)
			return NULL;
		i = NULL;
	}
	if (i)
		vfs_iref(i);
	else
		i = make(v, e);
	i->nlookup++;
	vfs_take_attr(i, &e->attr, e->attr_valid, e->attr_valid_nsec, version);
	return i;
}

/* --- attributes ------------------------------------------------------------------------------- */

uint64_t vfs_version(const struct vfs *v)
{
	return v->version;
}

void vfs_new_version(struct vfs_inode *i)
{
	i->attr_version = ++i->v->version;
}

void vfs_doubt(struct vfs_inode *i, uint32_t bits)
{
	i->stale |= bits;
}

bool vfs_is_fresh(const struct vfs_inode *i, uint32_t bits)
{
	return !(i->stale & bits) && i->attr_until >= sched_now();
}

/* All but the size. */
void vfs_take_attr_anyway(
	struct vfs_inode *i, const struct fuse_attr *a, uint64_t valid, uint32_t valid_ns)
{
	uint32_t type = i->a.mode & S_IFMT;

	vfs_new_version(i);
	i->attr_until = vfs_until(valid, valid_ns);
	i->stale = 0;
	i->a = *a;
	i->a.mode = type | (a->mode & 07777);
	/* security.capability may have been set by another machine */
	i->nosec = false;
}

static bool same_mtime(const struct fuse_attr *a, const struct fuse_attr *b)
{
	return a->mtime == b->mtime && a->mtimensec == b->mtimensec;
}

/* Linux passes over an answer if the inode's attributes have changed since the request began, and
 * while a write or a truncation that changes the size is under way. Another size cuts or drops the
 * pages; so does another mtime, with auto_inval_data. */
void vfs_take_attr(struct vfs_inode *i, const struct fuse_attr *a, uint64_t valid,
	uint32_t valid_ns, uint64_t version)
{
	struct fuse_attr old = i->a;
	uint64_t old_size = i->size;
	struct vfs *v = i->v;
	bool drop = false;

	if ((version && i->attr_version > version) || i->size_unstable) {
		v->counts.stale_attr++;
		sched_event("kernel: %s: attributes are too old, size %llu", vfs_name(i),
			(unsigned long long)a->size);
		return;
	}
	vfs_take_attr_anyway(i, a, valid, valid_ns);
	i->size = a->size;
	sched_detail("kernel: %s: size %llu", vfs_name(i), (unsigned long long)a->size);
	if (!vfs_is_reg(i))
		return;
	if (old_size != a->size) {
		vfs_iref(i);
		vfs_ptruncate(i, a->size);
		if (!vfs_has(v, FUSE_EXPLICIT_INVAL_DATA))
			drop = true;
	} else {
		vfs_iref(i);
		drop = vfs_has(v, FUSE_AUTO_INVAL_DATA) && !same_mtime(&old, a);
	}
	if (drop)
		vfs_pinvalidate(i, 0, UINT64_MAX);
	vfs_iunref(i);
}

/* --- GETATTR ---------------------------------------------------------------------------------- */

static void show(const struct fuse_attr *a, uint64_t size, struct stat *st)
{
	*st = (struct stat){.st_ino = a->ino,
		.st_mode = a->mode,
		.st_nlink = a->nlink,
		.st_uid = a->uid,
		.st_gid = a->gid,
		.st_rdev = a->rdev,
		.st_size = (off_t)size,
		.st_blocks = (blkcnt_t)a->blocks,
		.st_blksize = VFS_PAGE,
		.st_atim = {(time_t)a->atime, a->atimensec},
		.st_mtim = {(time_t)a->mtime, a->mtimensec},
		.st_ctim = {(time_t)a->ctime, a->ctimensec}};
}

/* Asks the daemon. The caller gets the attributes of the answer, also if these are too old for the
 * inode. */
int vfs_getattr_anyway(struct vfs_inode *i, struct vfs_file *f, struct stat *st)
{
	struct vfs *v = i->v;
	uint64_t version = vfs_version(v);
	struct fuse_getattr_in in = {0};
	struct fuse_attr_out out;
	struct vfs_call c = {
		.opcode = FUSE_GETATTR, .node = i->node, .out = &out, .room = sizeof(out)};
	ssize_t res;

	if (f && vfs_is_reg(i)) {
		in.getattr_flags = FUSE_GETATTR_FH;
		in.fh = f->handle->fh;
	}
	vfs_add_in(&c, &in, sizeof(in));
	res = vfs_ask(v, &c);
	if (res < 0)
		return (int)res;
	if (!vfs_is_sane(&out.attr) || (i->a.mode & S_IFMT) != (out.attr.mode & S_IFMT)) {
		vfs_make_bad(i);
		return -EIO;
	}
	vfs_take_attr(i, &out.attr, out.attr_valid, out.attr_valid_nsec, version);
	if (st)
		show(&out.attr, out.attr.size, st);
	return 0;
}

int vfs_getattr(struct vfs_inode *i, struct vfs_file *f, uint32_t bits, struct stat *st)
{
	if (i->bad)
		return -EIO;
	if (!vfs_may_use(i->v))
		return -EACCES;
	if (!vfs_is_fresh(i, bits))
		return vfs_getattr_anyway(i, f, st);
	if (st)
		show(&i->a, i->size, st);
	return 0;
}

/* --- SETATTR ---------------------------------------------------------------------------------- */

static ssize_t ask_setattr(struct vfs_inode *i, const struct fuse_setattr_in *in,
	struct vfs_file *f, struct fuse_attr_out *out)
{
	struct fuse_setattr_in full = *in;
	struct process *p = proc_self();
	struct vfs_call c = {
		.opcode = FUSE_SETATTR, .node = i->node, .out = out, .room = sizeof(*out)};

	if (f) {
		full.valid |= FATTR_FH;
		full.fh = f->handle->fh;
	}
	if (full.valid & FATTR_SIZE) {
		full.valid |= FATTR_LOCKOWNER;
		full.lock_owner = vfs_owner(p->number);
		if (vfs_has(i->v, FUSE_HANDLE_KILLPRIV_V2) && p->uid)
			full.valid |= FATTR_KILL_SUIDGID;
	}
	/* chown(2) drops these bits for root, too (fuse_do_setattr) */
	if (full.valid & (FATTR_UID | FATTR_GID) && !vfs_is_dir(i) &&
		vfs_has(i->v, FUSE_HANDLE_KILLPRIV_V2))
		full.valid |= FATTR_KILL_SUIDGID;
	vfs_add_in(&c, &full, sizeof(full));
	return vfs_ask(i->v, &c);
}

/* The kernel takes the attributes of a SETATTR's answer, also after changes in the meantime. */
static void take_set(struct vfs_inode *i, const struct fuse_attr_out *out, bool cuts)
{
	uint64_t old = i->size;

	vfs_take_attr_anyway(i, &out->attr, out->attr_valid, out->attr_valid_nsec);
	i->size = out->attr.size;
	sched_event("kernel: %s: set, size %llu", vfs_name(i), (unsigned long long)i->size);
	if (cuts)
		vfs_writes(i);
	if (vfs_is_reg(i) && old != out->attr.size) {
		vfs_ptruncate(i, out->attr.size);
		vfs_pinvalidate(i, 0, UINT64_MAX);
	}
}

int vfs_setattr(struct vfs_inode *i, const struct fuse_setattr_in *in, struct vfs_file *f,
	bool size_of_open)
{
	bool cuts = in->valid & FATTR_SIZE;
	struct fuse_attr_out out;
	ssize_t res;

	if (i->bad)
		return -EIO;
	if (!vfs_may_use(i->v))
		return -EACCES;
	if (size_of_open && vfs_has(i->v, FUSE_ATOMIC_O_TRUNC)) {
		/* the daemon has cut the file in OPEN */
		i->size = 0;
		vfs_ptruncate(i, 0);
		return 0;
	}
	if (cuts) {
		vfs_nowrite(i);
		i->size_unstable = true;
	}
	res = ask_setattr(i, in, size_of_open ? NULL : f, &out);
	if (res >= 0 &&
		(!vfs_is_sane(&out.attr) || (i->a.mode & S_IFMT) != (out.attr.mode & S_IFMT))) {
		vfs_make_bad(i);
		res = -EIO;
	}
	if (res >= 0)
		take_set(i, &out, cuts);
	else if (res == -EINTR)
		vfs_doubt(i, VFS_ALL);
	if (res < 0 && cuts)
		vfs_writes(i);
	if (cuts)
		i->size_unstable = false;
	return res < 0 ? (int)res : 0;
}

/* --- rights ----------------------------------------------------------------------------------- */

/* Without allow_other only processes of the mount's owner. */
bool vfs_may_use(const struct vfs *v)
{
	const struct process *p = proc_self();

	return v->p.allow_other || !p || p->uid == v->p.owner;
}

static bool in_group(const struct process *p, gid_t gid)
{
	for (unsigned i = 0; i < p->ngroups; i++)
		if (p->groups[i] == gid)
			return true;
	return p->gid == gid;
}

static int check_mode(const struct vfs_inode *i, const struct process *p, int mask)
{
	unsigned mode = i->a.mode;

	if (!p->uid)
		return mask & X_OK && !S_ISDIR(mode) && !(mode & 0111) ? -EACCES : 0;
	mode = i->a.uid == p->uid ? mode >> 6 : in_group(p, i->a.gid) ? mode >> 3 : mode;
	return (mode & (unsigned)mask) == (unsigned)mask ? 0 : -EACCES;
}

int vfs_permission(struct vfs_inode *i, int mask)
{
	const struct process *p = proc_self();
	bool asked = false;
	int error;

	if (i->bad)
		return -EIO;
	if (!vfs_may_use(i->v))
		return -EACCES;
	if (!i->v->p.default_permissions)
		return 0;
	if (!vfs_is_fresh(i, VFS_MODE | VFS_UID | VFS_GID)) {
		asked = true;
		error = vfs_getattr_anyway(i, NULL, NULL);
		if (error)
			return error;
	}
	error = check_mode(i, p, mask);
	if (!error || asked)
		return error;
	error = vfs_getattr_anyway(i, NULL, NULL);
	return error ? error : check_mode(i, p, mask);
}
