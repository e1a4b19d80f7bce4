/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs: a mount, from INIT to its end.
 */
#include "tests/simulation/vfs.h"

#include <errno.h>
#include <stdlib.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

#define READAHEAD  32 /* pages: 128 KiB */
#define BACKGROUND 12
#define PAGES_MAX  256

/* --- locks ------------------------------------------------------------------------------------ */

void vfs_lock(struct vfs_sem *s)
{
	sched_point();
	s->writers_waiting++;
	while (s->writer || s->readers)
		sched_wait(s, SCHED_NEVER, "for a lock of the kernel");
	s->writers_waiting--;
	s->writer = true;
}

void vfs_unlock(struct vfs_sem *s)
{
	if (!s->writer)
		sched_fail("the kernel's model unlocks what is not locked");
	s->writer = false;
	sched_wake_all(s);
	sched_point();
}

void vfs_lock_shared(struct vfs_sem *s)
{
	sched_point();
	while (s->writer || s->writers_waiting)
		sched_wait(s, SCHED_NEVER, "for a shared lock of the kernel");
	s->readers++;
}

void vfs_unlock_shared(struct vfs_sem *s)
{
	if (!s->readers)
		sched_fail("the kernel's model unlocks what is not locked");
	if (!--s->readers)
		sched_wake_all(s);
	sched_point();
}

/* --- INIT ------------------------------------------------------------------------------------- */

/* The flags that Linux offers, except SPLICE: the simulated device has no pipes. */
#define OFFERS                                                                                     \
	(FUSE_ASYNC_READ | FUSE_POSIX_LOCKS | FUSE_ATOMIC_O_TRUNC | FUSE_EXPORT_SUPPORT |          \
		FUSE_BIG_WRITES | FUSE_DONT_MASK | FUSE_FLOCK_LOCKS | FUSE_HAS_IOCTL_DIR |         \
		FUSE_AUTO_INVAL_DATA | FUSE_DO_READDIRPLUS | FUSE_READDIRPLUS_AUTO |               \
		FUSE_ASYNC_DIO | FUSE_WRITEBACK_CACHE | FUSE_NO_OPEN_SUPPORT |                     \
		FUSE_PARALLEL_DIROPS | FUSE_HANDLE_KILLPRIV | FUSE_POSIX_ACL | FUSE_ABORT_ERROR |  \
		FUSE_MAX_PAGES | FUSE_CACHE_SYMLINKS | FUSE_NO_OPENDIR_SUPPORT |                   \
		FUSE_EXPLICIT_INVAL_DATA | FUSE_HANDLE_KILLPRIV_V2 | FUSE_SETXATTR_EXT |           \
		FUSE_INIT_EXT)

static void send_init(struct vfs *v)
{
	struct vfs_request *r = calloc(1, sizeof(*r));
	struct fuse_init_in *in = calloc(1, sizeof(*in));

	if (!r || !in)
		abort();
	*in = (struct fuse_init_in){.major = FUSE_KERNEL_VERSION,
		.minor = v->p.version < 612 ? 37 : 41,
		.max_readahead = v->p.readahead * VFS_PAGE,
		.flags = OFFERS,
		/* Linux has this from 6.2 on */
		.flags2 = v->p.version < 602 ? 0 : (uint32_t)(FUSE_HAS_EXPIRE_ONLY >> 32)};
	r->c = (struct vfs_call){
		.opcode = FUSE_INIT, .out = &v->init, .room = sizeof(v->init), .var = true};
	vfs_add_in(&r->c, in, sizeof(*in));
	r->head = (struct fuse_in_header){.len = sizeof(r->head) + sizeof(*in),
		.opcode = FUSE_INIT,
		.unique = v->unique += 2};
	r->own = in;
	r->queued = true;
	v->first_request = r;
	STAILQ_INSERT_TAIL(&v->pending, r, next);
}

void vfs_init_answered(struct vfs *v, int error)
{
	const struct fuse_init_out *o = &v->init;

	if (error || o->major != FUSE_KERNEL_VERSION) {
		v->ended = true;
	} else {
		v->ready = true;
		v->max_write = o->max_write < VFS_PAGE ? VFS_PAGE : o->max_write;
		v->max_pages = !(o->flags & FUSE_MAX_PAGES) ? 32
			       : o->max_pages > PAGES_MAX   ? PAGES_MAX
							    : o->max_pages;
		v->max_read = UINT32_MAX;
		if (o->max_background)
			v->max_background = o->max_background;
		if (o->congestion_threshold)
			v->congestion = o->congestion_threshold;
		if (o->max_readahead / VFS_PAGE < v->p.readahead)
			v->p.readahead = o->max_readahead / VFS_PAGE;
		if (vfs_has(v, FUSE_WRITEBACK_CACHE))
			sched_fail("the kernel's model has no writeback cache");
	}
	sched_event("kernel: INIT: %d, flags %x, write %u, pages %u", error, o->flags, v->max_write,
		v->max_pages);
	sched_wake_all(v);
}

/* --- the mount -------------------------------------------------------------------------------- */

static void make_root(struct vfs *v)
{
	struct vfs_inode *i = calloc(1, sizeof(*i));

	if (!i)
		abort();
	i->v = v;
	i->node = FUSE_ROOT_ID;
	i->refs = 1;
	i->nlookup = 1;
	i->hashed = true;
	i->a.mode = S_IFDIR; /* the rest is asked for, at once */
	i->a.ino = FUSE_ROOT_ID;
	i->stale = VFS_ALL;
	LIST_INIT(&i->backs);
	LIST_INIT(&i->writers);
	LIST_INIT(&i->aliases);
	LIST_INSERT_HEAD(&v->inodes, i, all);
	v->root = vfs_dnew(v, NULL, "");
	vfs_dset(v->root, i);
	v->root->hashed = true;
}

struct vfs *vfs_new(const struct vfs_params *p)
{
	static unsigned last;
	struct vfs *v = calloc(1, sizeof(*v));

	if (!v)
		abort();
	v->number = ++last;
	v->p = *p;
	if (!v->p.readahead)
		v->p.readahead = READAHEAD;
	LIST_INIT(&v->devices);
	LIST_INIT(&v->inodes);
	STAILQ_INIT(&v->pending);
	STAILQ_INIT(&v->interrupts);
	STAILQ_INIT(&v->waiting);
	STAILQ_INIT(&v->forgets);
	v->forget_batch = 16;
	v->max_background = BACKGROUND;
	v->congestion = BACKGROUND * 3 / 4; /* max_background alone does not change this */
	v->version = 1;
	make_root(v);
	send_init(v);
	return v;
}

int vfs_descriptor(struct vfs *v)
{
	return vfs_device_new(v);
}

bool vfs_ready(const struct vfs *v)
{
	return v->ready;
}

bool vfs_wait_ready(struct vfs *v, uint64_t deadline)
{
	while (!v->ready && !v->ended && sched_now() < deadline)
		sched_wait(v, deadline, "for the mount");
	return v->ready && !v->ended;
}

int vfs_unmount(struct vfs *v)
{
	if (v->files)
		return -EBUSY;
	vfs_end_requests(v);
	return 0;
}

void vfs_abort(struct vfs *v)
{
	v->aborted = true;
	vfs_end_requests(v);
}

struct vfs *vfs_free(struct vfs *v)
{
	if (!v)
		return NULL;
	if (!LIST_EMPTY(&v->devices))
		sched_fail("the daemon has not closed its device");
	if (v->files)
		sched_fail("%u files are open at the end", v->files);
	v->ended = true;
	vfs_dshrink(v, v->root, 1);
	vfs_dunhash(v->root);
	vfs_dunref(v->root);
	if (!LIST_EMPTY(&v->inodes))
		sched_fail("the kernel's model holds inode %llu at the end",
			(unsigned long long)LIST_FIRST(&v->inodes)->node);
	free(v->first_request->own);
	free(v->first_request);
	free(v);
	return NULL;
}

/* --- looking on ------------------------------------------------------------------------------- */

void vfs_shrink(struct vfs *v, unsigned once_in)
{
	struct vfs_inode *i;

	LIST_FOREACH (i, &v->inodes, all)
		vfs_pshrink(i, once_in);
	vfs_dshrink(v, v->root, once_in);
}

/* No thread waits here: a page that is locked is left out. */
void vfs_flush(struct vfs *v)
{
	struct vfs_inode *i = LIST_FIRST(&v->inodes), *next;

	if (i)
		vfs_iref(i);
	for (; i; i = next) {
		vfs_write_back(i, 0, UINT64_MAX);
		next = LIST_NEXT(i, all);
		if (next)
			vfs_iref(next);
		vfs_iunref(i);
	}
}

static void check_inode(const struct vfs_inode *i)
{
	if (i->lock.writer || i->lock.readers)
		sched_fail("inode %llu is locked, and nothing is under way",
			(unsigned long long)i->node);
	for (unsigned n = 0; n < i->npages; n++)
		if (i->pages[n]->locked)
			sched_fail("page %llu of inode %llu is locked, and nothing is under way",
				(unsigned long long)i->pages[n]->index,
				(unsigned long long)i->node);
	if (i->nowrite || i->size_unstable)
		sched_fail("a truncation of inode %llu has not ended", (unsigned long long)i->node);
}

void vfs_check(struct vfs *v)
{
	const struct vfs_inode *i;
	const struct vfs_device *d;

	LIST_FOREACH (i, &v->inodes, all)
		check_inode(i);
	LIST_FOREACH (d, &v->devices, next)
		if (!LIST_EMPTY(&d->sent))
			sched_fail("request %llu (opcode %u) was not answered",
				(unsigned long long)LIST_FIRST(&d->sent)->head.unique,
				LIST_FIRST(&d->sent)->c.opcode);
	if (v->background || v->active)
		sched_fail("%u requests of the background are left", v->background);
}

static unsigned count_dentries(const struct vfs_dentry *d)
{
	const struct vfs_dentry *c;
	unsigned n = 1;

	LIST_FOREACH (c, &d->children, sibling)
		n += count_dentries(c);
	return n;
}

struct vfs_counts vfs_counts(const struct vfs *v)
{
	struct vfs_counts c = v->counts;
	const struct vfs_inode *i;
	const struct vfs_device *d;
	const struct vfs_request *r;

	LIST_FOREACH (i, &v->inodes, all) {
		c.inodes++;
		c.pages += i->npages;
	}
	c.dentries = count_dentries(v->root);
	STAILQ_FOREACH (r, &v->pending, next)
		c.waiting++;
	LIST_FOREACH (d, &v->devices, next)
		LIST_FOREACH (r, &d->sent, of_device)
			c.waiting++;
	return c;
}

uint64_t vfs_nlookup(const struct vfs *v, uint64_t node)
{
	const struct vfs_inode *i = vfs_ifind((struct vfs *)v, node);

	return i ? i->nlookup : 0;
}
