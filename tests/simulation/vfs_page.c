/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * vfs_page: the page cache.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/choices.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

#define TORN_MOST 64u

/* Where the page is, or would be. */
static unsigned place(const struct vfs_inode *i, uint64_t index)
{
	unsigned low = 0, high = i->npages;

	while (low < high) {
		unsigned mid = (low + high) / 2;

		if (i->pages[mid]->index < index)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct vfs_page *vfs_pnext(struct vfs_inode *i, uint64_t index)
{
	unsigned at = place(i, index);

	if (at == i->npages)
		return NULL;
	i->pages[at]->refs++;
	return i->pages[at];
}

struct vfs_page *vfs_pfind(struct vfs_inode *i, uint64_t index)
{
	unsigned at = place(i, index);

	if (at == i->npages || i->pages[at]->index != index)
		return NULL;
	i->pages[at]->refs++;
	return i->pages[at];
}

struct vfs_page *vfs_padd(struct vfs_inode *i, uint64_t index)
{
	unsigned at = place(i, index);
	struct vfs_page *p;

	if (at < i->npages && i->pages[at]->index == index)
		return NULL;
	if (i->npages == i->room) {
		i->room = i->room ? 2 * i->room : 16;
		i->pages = realloc(i->pages, i->room * sizeof(*i->pages));
	}
	p = calloc(1, sizeof(*p));
	if (!i->pages || !p)
		abort();
	p->index = index;
	p->refs = 2;
	p->inode = i;
	p->locked = true;
	memmove(&i->pages[at + 1], &i->pages[at], (i->npages - at) * sizeof(*i->pages));
	i->pages[at] = p;
	i->npages++;
	return p;
}

void vfs_punref(struct vfs_page *p)
{
	if (!--p->refs)
		free(p);
}

void vfs_pmap(struct vfs_page **at, struct vfs_page *p)
{
	p->refs++;
	p->maps++;
	vfs_punmap(at);
	*at = p;
}

void vfs_punmap(struct vfs_page **at)
{
	if (!*at)
		return;
	(*at)->maps--;
	vfs_punref(*at);
	*at = NULL;
}

bool vfs_plock(struct vfs_page *p, bool killable)
{
	sched_point();
	while (p->locked) {
		if (killable && proc_must_end())
			return false;
		sched_wait(p, SCHED_NEVER, "for a page");
	}
	p->locked = true;
	return true;
}

void vfs_punlock(struct vfs_page *p)
{
	p->locked = false;
	sched_wake_all(p);
}

void vfs_pdrop(struct vfs_page *p)
{
	struct vfs_inode *i = p->inode;
	unsigned at;

	if (!i)
		return;
	at = place(i, p->index);
	i->npages--;
	memmove(&i->pages[at], &i->pages[at + 1], (i->npages - at) * sizeof(*i->pages));
	p->inode = NULL;
	p->dirty = false;
	vfs_punref(p);
}

void vfs_pdrop_all(struct vfs_inode *i)
{
	while (i->npages)
		vfs_pdrop(i->pages[i->npages - 1]);
}

/* A page that a reclaim takes: clean, and used by no call. */
void vfs_pshrink(struct vfs_inode *i, unsigned once_in)
{
	for (unsigned at = i->npages; at-- > 0;) {
		struct vfs_page *p = i->pages[at];

		if (p->refs == 1 + p->maps && !p->locked && !p->dirty &&
			choices_once_in(CHOICES_KERNEL, once_in))
			vfs_pdrop(p);
	}
}

/* --- truncation ------------------------------------------------------------------------------- */

/* Inodes of the server of which a kernel has zeroed bytes of a WRITE under way. */
static uint64_t torn[TORN_MOST];
static unsigned torn_n;

bool vfs_has_torn(uint64_t ino)
{
	for (unsigned i = 0; i < torn_n; i++)
		if (torn[i] == ino)
			return true;
	return torn_n == TORN_MOST;
}

static void note_torn(const struct vfs_inode *i, uint64_t from, uint64_t to)
{
	const struct vfs_span *s;

	LIST_FOREACH (s, &i->spans, next) {
		if (s->end <= from || to <= s->off)
			continue;
		sched_event("kernel: %s: bytes of a write are zeroed", vfs_name(i));
		if (!vfs_has_torn(i->a.ino))
			torn[torn_n++] = i->a.ino;
	}
}

/* Zeros the bytes from..to of the file in a page that a cut ends in, also bytes that a WRITE still
 * has to bring to the daemon. */
static void zero(struct vfs_inode *i, uint64_t from, uint64_t to)
{
	struct vfs_page *p = vfs_pfind(i, from / VFS_PAGE);

	if (!p)
		return;
	vfs_plock(p, false);
	if (p->inode)
		memset(p->bytes + from % VFS_PAGE, 0, to - from);
	vfs_punlock(p);
	vfs_punref(p);
}

/* Whole pages first..last go, each when it is not locked. */
static void drop_range(struct vfs_inode *i, uint64_t first, uint64_t last)
{
	struct vfs_page *p;

	while (first <= last && (p = vfs_pnext(i, first)) && p->index <= last) {
		first = p->index + 1;
		vfs_plock(p, false);
		vfs_pdrop(p);
		vfs_punlock(p);
		vfs_punref(p);
	}
	if (first <= last && p)
		vfs_punref(p);
}

void vfs_ptruncate(struct vfs_inode *i, uint64_t size)
{
	uint64_t end = (size + VFS_PAGE - 1) / VFS_PAGE;

	proc_cut_maps(i, end);
	if (size % VFS_PAGE) {
		zero(i, size, end * VFS_PAGE);
		note_torn(i, size, end * VFS_PAGE);
	}
	drop_range(i, end, UINT64_MAX);
}

void vfs_ppunch(struct vfs_inode *i, uint64_t from, uint64_t end)
{
	uint64_t first = (from + VFS_PAGE - 1) / VFS_PAGE, behind = end / VFS_PAGE;

	if (from / VFS_PAGE == end / VFS_PAGE && from % VFS_PAGE) {
		zero(i, from, end);
		return;
	}
	if (from % VFS_PAGE)
		zero(i, from, first * VFS_PAGE);
	if (end % VFS_PAGE)
		zero(i, behind * VFS_PAGE, end);
	if (behind > first)
		drop_range(i, first, behind - 1);
}

/* Unlike the truncation the invalidation sends a dirty page to the daemon first. */
void vfs_pinvalidate(struct vfs_inode *i, uint64_t first, uint64_t last)
{
	struct vfs_page *p;

	if (S_ISLNK(i->a.mode)) {
		free(i->link);
		i->link = NULL;
	}
	while ((p = vfs_pnext(i, first)) && p->index <= last) {
		first = p->index + 1;
		vfs_plock(p, false);
		if (p->inode && p->dirty)
			vfs_launder(p);
		if (p->inode && !p->dirty)
			vfs_pdrop(p);
		vfs_punlock(p);
		vfs_punref(p);
		p = NULL;
	}
	if (p)
		vfs_punref(p);
}
