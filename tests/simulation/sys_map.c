/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sys_map: mappings. Each load and store of a shared mapping looks for its page, as if the page had
 * been unmapped before.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

static int may_map(const struct vfs_file *f, off_t off, size_t len, bool shared, bool writable)
{
	if (!len || off < 0 || off % VFS_PAGE)
		return -EINVAL;
	if ((f->flags & O_ACCMODE) == O_WRONLY)
		return -EACCES;
	if (shared && writable && (f->flags & O_ACCMODE) != O_RDWR)
		return -EACCES;
	if (f->handle->dir)
		return -ENODEV;
	/* 6.12 allows that if the daemon says so in INIT; rnfs does not */
	if (shared && f->handle->open_flags & FOPEN_DIRECT_IO)
		return -ENODEV;
	return 0;
}

/* May the mapping's pages go to the daemon? Linux takes a shared mapping of a file that is open for
 * reading for a private one (do_mmap). */
static bool is_written(const struct vfs_map *m)
{
	return m->shared && (m->file->flags & O_ACCMODE) == O_RDWR;
}

static size_t pages_of(size_t len)
{
	return (len + VFS_PAGE - 1) / VFS_PAGE;
}

static int map(
	struct process *p, struct vfs_file *f, off_t off, size_t len, bool shared, bool writable)
{
	int error = may_map(f, off, len, shared, writable);

	if (error)
		return error;
	for (int m = 0; m < VFS_MAPS; m++) {
		if (p->map[m].file)
			continue;
		p->map[m] = (struct vfs_map){vfs_fref(f), off, len, shared, writable, NULL, NULL};
		if (!shared) {
			p->map[m].own = calloc(pages_of(len), sizeof(*p->map[m].own));
			p->map[m].loaded = calloc(pages_of(len), sizeof(*p->map[m].loaded));
		}
		/* any file that may write is good for write-back */
		if (is_written(&p->map[m]) && !f->in_inode) {
			LIST_INSERT_HEAD(&f->inode->writers, f, of_inode);
			f->in_inode = true;
		}
		if (f->handle->open_flags & FOPEN_DIRECT_IO)
			vfs_pinvalidate(f->inode, 0, UINT64_MAX);
		return m;
	}
	return -ENOMEM;
}

int sys_mmap(struct process *p, int fd, off_t off, size_t len, bool shared, bool writable)
{
	struct vfs_file *f;
	int res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		res = map(p, f, off, len, shared, writable);
		vfs_funref(f);
	}
	sched_event("%d: mmap %d: %d", (int)p->pid, fd, res);
	return (int)proc_leave(p, res);
}

static struct vfs_map *map_of(struct process *p, int m)
{
	return m >= 0 && m < VFS_MAPS && p->map[m].file ? &p->map[m] : NULL;
}

/* All that was stored in the file goes to the daemon before the mapping ends. */
int sys_munmap(struct process *p, int m)
{
	struct vfs_map *map, old;

	proc_enter(p);
	map = map_of(p, m);
	if (!map)
		return (int)proc_leave(p, -EINVAL);
	old = *map;
	map->file = NULL;
	for (size_t n = 0; !old.shared && n < pages_of(old.len); n++) {
		free(old.own[n]);
		vfs_punmap(&old.loaded[n]);
	}
	free(old.own);
	free(old.loaded);
	/* also of a private mapping, but of an FOPEN_DIRECT_IO file (fuse_vma_close) */
	if (!(old.file->handle->open_flags & FOPEN_DIRECT_IO))
		vfs_sync_pages(old.file->inode);
	vfs_funref(old.file);
	sched_event("%d: munmap %d", (int)p->pid, m);
	return (int)proc_leave(p, 0);
}

int sys_msync(struct process *p, int m)
{
	struct vfs_map *map;
	struct vfs_file *f;
	int res = 0;

	proc_enter(p);
	map = map_of(p, m);
	if (!map)
		return (int)proc_leave(p, -ENOMEM);
	f = vfs_fref(map->file);
	if (is_written(map))
		res = vfs_fsync_range(f, (uint64_t)map->off / VFS_PAGE,
			((uint64_t)map->off + map->len - 1) / VFS_PAGE,
			true); /* of the data alone */
	vfs_funref(f);
	return (int)proc_leave(p, res);
}

/* --- loads and stores ------------------------------------------------------------------------- */

static bool is_behind(const struct vfs_inode *i, uint64_t index)
{
	return index >= (i->size + VFS_PAGE - 1) / VFS_PAGE;
}

/* Linux repeats a fault after the wait for a READ, also after a READ with an error (filemap_fault):
 * once, and from 6.4 on twice if the page was in the cache to begin with (FAULT_FLAG_VMA_LOCK). */
static unsigned tries(struct vfs_file *f, uint64_t index)
{
	struct vfs_page *p = f->v->p.version >= 604 ? vfs_pfind(f->inode, index) : NULL;

	if (!p)
		return 2;
	vfs_punref(p);
	return 3;
}

/* The page of a fault, with a reference. Behind the file's last page: SIGBUS. */
static int fault(struct vfs_file *f, uint64_t index, struct vfs_page **page)
{
	unsigned left = tries(f, index);
	int error;

	for (;;) {
		if (is_behind(f->inode, index))
			return -EFAULT;
		error = vfs_read_page(f, index, page);
		if (error && proc_must_end())
			return -EINTR;
		if (error && !--left)
			return -EFAULT;
		if (error)
			continue;
		if (!is_behind(f->inode, index) && (*page)->inode)
			return 0;
		vfs_punref(*page);
	}
}

static int store_shared(struct vfs_file *f, uint64_t index, size_t in, const void *buf, size_t len)
{
	struct vfs_page *page;
	int error;

	for (;;) {
		error = fault(f, index, &page);
		if (error)
			return error;
		vfs_plock(page, false);
		if (page->inode && page->uptodate)
			break;
		vfs_punlock(page);
		vfs_punref(page);
	}
	vfs_wait_back(f->inode, index, index);
	memcpy(page->bytes + in, buf, len);
	page->dirty = true;
	page->ahead = false; /* folio_mark_dirty */
	vfs_punlock(page);
	vfs_punref(page);
	return 0;
}

/* The file's page of a private mapping, with a reference. A page that a load has mapped stays
 * mapped until the page leaves the cache. Until then Linux 6.1 to 6.18 does not look for the page:
 * a load has no fault, and the first store copies the mapped page (do_wp_page). A mark that the
 * load's fault left on the page begins no read-ahead then (filemap_fault). Linux also maps pages
 * around the page of a fault, but none with a mark (filemap_map_pages). */
static int mapped_page(struct vfs_map *map, size_t n, struct vfs_page **out)
{
	struct vfs_page *page = map->loaded[n];

	if (!page || !page->inode)
		return fault(map->file, (uint64_t)map->off / VFS_PAGE + n, out);
	page->refs++;
	*out = page;
	return 0;
}

/* A private mapping's own copy of a page, from its first store on. */
static int own_page(struct vfs_map *map, size_t n, struct vfs_page **out)
{
	struct vfs_page *page;
	int error;

	if (!map->own[n]) {
		error = mapped_page(map, n, &page);
		if (error)
			return error;
		map->own[n] = malloc(sizeof(*page));
		if (!map->own[n])
			abort();
		*map->own[n] = *page;
		vfs_punref(page);
		vfs_punmap(&map->loaded[n]);
	}
	*out = map->own[n];
	return 0;
}

static int touch(struct vfs_map *map, size_t at, uint8_t *load, const uint8_t *store, size_t len)
{
	size_t n = at / VFS_PAGE, in = at % VFS_PAGE;
	uint64_t index = (uint64_t)map->off / VFS_PAGE + n;
	struct vfs_page *page;
	int error;

	if (store && map->shared)
		return store_shared(map->file, index, in, store, len);
	if (!map->shared && (store || map->own[n])) {
		error = own_page(map, n, &page);
		if (error)
			return error;
		if (store)
			memcpy(page->bytes + in, store, len);
		else
			memcpy(load, page->bytes + in, len);
		return 0;
	}
	error = map->shared ? fault(map->file, index, &page) : mapped_page(map, n, &page);
	if (error)
		return error;
	memcpy(load, page->bytes + in, len);
	if (!map->shared)
		vfs_pmap(&map->loaded[n], page);
	vfs_punref(page);
	return 0;
}

static int touch_all(
	struct process *p, int m, size_t at, uint8_t *load, const uint8_t *store, size_t len)
{
	struct vfs_map *map = map_of(p, m);
	size_t done = 0, part;
	int res = 0;

	if (!map || at + len > map->len || (store && !map->writable))
		return -EFAULT;
	while (!res && done < len) {
		part = VFS_PAGE - (at + done) % VFS_PAGE;
		if (part > len - done)
			part = len - done;
		res = touch(map, at + done, load ? load + done : NULL, store ? store + done : NULL,
			part);
		done += part;
		sched_point();
	}
	return res;
}

int sys_load(struct process *p, int m, size_t at, void *buf, size_t len)
{
	int res;

	proc_enter(p);
	res = touch_all(p, m, at, buf, NULL, len);
	sched_event("%d: load %d %zu+%zu: %d", (int)p->pid, m, at, len, res);
	return (int)proc_leave(p, res);
}

int sys_store(struct process *p, int m, size_t at, const void *buf, size_t len)
{
	int res;

	proc_enter(p);
	res = touch_all(p, m, at, NULL, buf, len);
	sched_event("%d: store %d %zu+%zu: %d", (int)p->pid, m, at, len, res);
	return (int)proc_leave(p, res);
}
