/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_direct: reading without pages.
 */
#include <errno.h>
#include <stdlib.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

struct part {
	struct parts *all;
	struct fuse_read_in in;
	uint8_t *to;
	size_t want;
};

/* READs of one call that are under way at once. */
struct parts {
	unsigned left;
	int error;
	uint64_t off;
	size_t got; /* up to the first short answer */
};

static void part_answered(struct vfs *v, struct vfs_request *q)
{
	struct part *p = q->ctx;
	struct parts *all = p->all;

	if (q->error)
		all->error = q->error;
	else if (q->got < p->want && p->in.offset - all->off + q->got < all->got)
		all->got = p->in.offset - all->off + q->got;
	if (!--all->left)
		sched_wake_all(all);
}

static void part_call(struct vfs_file *f, struct part *p, struct vfs_call *c)
{
	p->in = (struct fuse_read_in){.fh = f->handle->fh,
		.offset = p->in.offset,
		.size = (uint32_t)p->want,
		.read_flags = FUSE_READ_LOCKOWNER,
		.lock_owner = vfs_owner(proc_self()->number),
		.flags = (uint32_t)f->flags};
	*c = (struct vfs_call){.opcode = FUSE_READ,
		.node = f->inode->node,
		.out = p->to,
		.room = p->want,
		.var = true};
	vfs_add_in(c, &p->in, sizeof(p->in));
}

static ssize_t read_at_once(struct vfs_file *f, uint8_t *buf, size_t len, uint64_t off, size_t most)
{
	struct parts all = {.left = 1, .off = off, .got = len};
	struct vfs_call c;

	for (size_t at = 0; at < len; at += most) {
		struct part *p = calloc(1, sizeof(*p));
		int error;

		if (!p)
			abort();
		p->all = &all;
		p->to = buf + at;
		p->want = len - at < most ? len - at : most;
		p->in.offset = off + at;
		part_call(f, p, &c);
		all.left++;
		error = vfs_ask_later(f->v, &c, part_answered, p, p);
		if (error) {
			all.left--;
			all.error = error;
			free(p);
			break;
		}
	}
	all.left--;
	while (all.left)
		sched_wait(&all, SCHED_NEVER, "for reads");
	return all.error ? all.error : (ssize_t)all.got;
}

ssize_t vfs_read_direct(struct vfs_file *f, void *buf, size_t len, off_t off, bool at_once)
{
	size_t most = (size_t)f->v->max_pages * VFS_PAGE, done = 0;
	struct vfs_inode *i = f->inode;
	struct vfs_call c;
	struct part p;
	ssize_t got;

	if (at_once && (uint64_t)off >= i->size) /* O_DIRECT */
		return 0;
	if (at_once && vfs_has(f->v, FUSE_ASYNC_DIO)) {
		/* up to the known size, in whole requests. Linux rounds as if the size of a request
		 * were a power of two (fuse_direct_IO). */
		uint64_t room = ((i->size - (uint64_t)off - 1) | (most - 1)) + 1;

		vfs_doubt(i, VFS_ATIME);
		return read_at_once(f, buf, len < room ? len : room, (uint64_t)off, most);
	}
	vfs_doubt(i, VFS_ATIME);
	while (done < len) {
		p = (struct part){.to = (uint8_t *)buf + done,
			.want = len - done < most ? len - done : most,
			.in.offset = (uint64_t)off + done};
		part_call(f, &p, &c);
		got = vfs_ask(f->v, &c);
		if (got < 0)
			return done ? (ssize_t)done : got;
		done += (size_t)got;
		if ((size_t)got < p.want)
			break;
	}
	return (ssize_t)done;
}
