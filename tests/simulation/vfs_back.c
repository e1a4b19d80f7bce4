/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_back: pages that mappings have changed, on their way to the daemon. Linux copies such pages
 * (up to 6.15), so the page itself is free meanwhile.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

static bool covers(const struct vfs_back *b, uint64_t first, uint64_t last)
{
	return b->index <= last && b->index + b->n > first;
}

void vfs_wait_back(struct vfs_inode *i, uint64_t first, uint64_t last)
{
	struct vfs_back *b;

again:
	LIST_FOREACH (b, &i->backs, next)
		if (covers(b, first, last)) {
			sched_wait(&i->backs, SCHED_NEVER, "for pages under way");
			goto again;
		}
}

static void done(struct vfs_back *b, int error)
{
	struct vfs_inode *i = b->inode;
	struct vfs *v = b->v;

	if (error)
		i->back_error = error == -ENOSPC ? error : -EIO;
	/* the daemon's times have changed */
	vfs_doubt(i, VFS_MODIFY);
	LIST_REMOVE(b, next);
	sched_wake_all(&i->backs);
	vfs_hunref(v, b->handle);
	vfs_iunref(i);
	free(b->bytes);
	free(b);
}

static void answered(struct vfs *v, struct vfs_request *q)
{
	done(q->ctx, q->error);
}

/* Sends the pages, without bytes behind the present end of the file. */
static void issue(struct vfs_back *b)
{
	struct vfs_inode *i = b->inode;
	struct vfs_call c = {.opcode = FUSE_WRITE,
		.node = i->node,
		.out = &b->out,
		.room = sizeof(b->out),
		.force = true,
		.nobody = true};
	uint64_t off = b->index * VFS_PAGE, len = (uint64_t)b->n * VFS_PAGE;

	b->held = false;
	if (off >= i->size) {
		done(b, 0);
		return;
	}
	if (len > i->size - off)
		len = i->size - off;
	b->in = (struct fuse_write_in){.fh = b->handle->fh,
		.offset = off,
		.size = (uint32_t)len,
		.write_flags = FUSE_WRITE_CACHE};
	vfs_add_in(&c, &b->in, sizeof(b->in));
	vfs_add_in(&c, b->bytes, len);
	if (vfs_ask_later(b->v, &c, answered, b, NULL))
		done(b, -EIO);
}

static void send(struct vfs_back *b)
{
	struct vfs_inode *i = b->inode;

	b->gathers = false;
	b->held = i->nowrite;
	if (!b->held)
		issue(b);
}

static struct vfs_back *back_new(struct vfs_inode *i, uint64_t index)
{
	struct vfs_back *b = calloc(1, sizeof(*b));

	if (!b)
		abort();
	b->bytes = malloc((size_t)i->v->max_pages * VFS_PAGE);
	if (!b->bytes)
		abort();
	b->v = i->v;
	b->inode = vfs_iref(i);
	b->handle = vfs_href(LIST_FIRST(&i->writers)->handle);
	b->index = index;
	b->gathers = true;
	/* a write(2) to the page waits from now on (fuse_writepage_add) */
	LIST_INSERT_HEAD(&i->backs, b, next);
	return b;
}

static struct vfs_back *send_if(struct vfs_back *b, bool now)
{
	if (b && now) {
		send(b);
		return NULL;
	}
	return b;
}

/* Takes a dirty page's bytes. The page is locked. */
static struct vfs_back *take(struct vfs_back *b, struct vfs_inode *i, struct vfs_page *p)
{
	b = send_if(b, b && (b->index + b->n != p->index || b->n == i->v->max_pages));
	/* the bytes of one page are under way once at a time */
	if (!b)
		vfs_wait_back(i, p->index, p->index);
	if (!b)
		b = back_new(i, p->index);
	p->dirty = false;
	/* from 6.17 on bytes that a mapping has stored behind the end go
	 * (iomap_writeback_handle_eof) */
	if (i->v->p.version >= 617 && i->size / VFS_PAGE == p->index)
		memset(p->bytes + i->size % VFS_PAGE, 0, VFS_PAGE - i->size % VFS_PAGE);
	memcpy(b->bytes + (size_t)b->n++ * VFS_PAGE, p->bytes, VFS_PAGE);
	return b;
}

static bool is_under_way(struct vfs_inode *i, uint64_t index)
{
	struct vfs_back *b;

	LIST_FOREACH (b, &i->backs, next)
		if (covers(b, index, index))
			return true;
	return false;
}

int vfs_write_back(struct vfs_inode *i, uint64_t first, uint64_t last)
{
	struct vfs_back *b = NULL;
	struct vfs_page *p;
	int error = 0;

	while ((p = vfs_pnext(i, first)) && p->index <= last) {
		first = p->index + 1;
		if (p->dirty) {
			if (b && (p->locked || is_under_way(i, p->index)))
				b = send_if(b, true);
			vfs_plock(p, false);
			if (p->inode && p->dirty && LIST_EMPTY(&i->writers))
				error = -EIO;
			else if (p->inode && p->dirty)
				b = take(b, i, p);
			vfs_punlock(p);
		}
		vfs_punref(p);
		p = NULL;
	}
	if (p)
		vfs_punref(p);
	send_if(b, true);
	return error;
}

int vfs_launder(struct vfs_page *p)
{
	struct vfs_inode *i = p->inode;
	uint64_t index = p->index;

	if (!p->dirty)
		return 0;
	if (LIST_EMPTY(&i->writers))
		return -EIO;
	vfs_wait_back(i, index, index);
	send_if(take(NULL, i, p), true);
	vfs_wait_back(i, index, index);
	return 0;
}

/* No write-back is under way from now on, until vfs_writes(). */
void vfs_nowrite(struct vfs_inode *i)
{
	struct vfs_back *b;

	i->nowrite = true;
again:
	LIST_FOREACH (b, &i->backs, next)
		if (!b->held && !b->gathers) {
			sched_wait(&i->backs, SCHED_NEVER, "for write-back to end");
			goto again;
		}
}

void vfs_writes(struct vfs_inode *i)
{
	struct vfs_back *b, *last;

	i->nowrite = false;
	for (;;) { /* oldest first: the list's last */
		last = NULL;
		LIST_FOREACH (b, &i->backs, next)
			if (b->held)
				last = b;
		if (!last)
			return;
		issue(last);
	}
}

int vfs_sync_pages(struct vfs_inode *i)
{
	int error = vfs_write_back(i, 0, UINT64_MAX);

	vfs_wait_back(i, 0, UINT64_MAX);
	return error;
}
