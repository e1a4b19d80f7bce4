/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * syncs: the calls of libc that bring the simulated disk's data to the disk, and memory that is a
 * file's.
 */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/simulation/disk.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/names.h"
#include "tests/simulation/sched.h"

#define REAL(fn) ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))

static ssize_t ends(ssize_t res)
{
	if (res >= 0)
		return res;
	errno = (int)-res;
	return -1;
}

/* --- syncs ------------------------------------------------------------------------------------ */

/* The time of a sync is before and behind the moment that data must have come for. */
static int sync_one(int fd)
{
	const struct file *f = paths_file(fd);
	struct inode *i;
	int r;

	if (!f || f->flags & O_PATH)
		return f || !descriptor_get(fd) ? -EBADF : -EINVAL;
	i = inode_use(f->inode);
	disk_delay_sync();
	r = disk_sync_fault();
	if (r < 0) {
		inode_lose(i);
	} else {
		inode_sync(i);
		journal_commit(i);
	}
	sched_event("the disk syncs inode %llu: %d", (unsigned long long)i->ino, r);
	disk_delay_sync();
	inode_drop(i);
	return r;
}

int fsync(int fd)
{
	if (!descriptor_is_ours(fd))
		return REAL(fsync)(fd);
	sched_point();
	return (int)ends(sync_one(fd));
}

int fdatasync(int fd)
{
	if (!descriptor_is_ours(fd))
		return REAL(fdatasync)(fd);
	sched_point();
	return (int)ends(sync_one(fd));
}

static int sync_all(void)
{
	int r;

	disk_delay_sync();
	r = disk_sync_fault();
	inode_each(r < 0 ? inode_lose : inode_sync);
	if (r == 0)
		journal_commit(NULL);
	sched_event("the disk syncs all: %d", r);
	disk_delay_sync();
	return r;
}

int syncfs(int fd)
{
	if (!descriptor_is_ours(fd))
		return REAL(syncfs)(fd);
	sched_point();
	if (!paths_file(fd) || paths_file(fd)->flags & O_PATH)
		return (int)ends(-EBADF);
	return (int)ends(sync_all());
}

void sync(void)
{
	if (!sched_on()) {
		REAL(sync)();
		return;
	}
	sched_point();
	sync_all();
}

/* --- memory ----------------------------------------------------------------------------------- */

static unsigned maps;

void *mmap64(void *at, size_t len, int prot, int flags, int fd, off64_t off)
{
	struct inode *i;
	void *p;

	if (flags & MAP_ANONYMOUS || !descriptor_is_ours(fd))
		return REAL(mmap64)(at, len, prot, flags, fd, off);
	sched_point();
	errno = EACCES;
	if (files_writable(fd, &i) < 0)
		return MAP_FAILED;
	errno = ENODEV;
	inode_use(i);
	p = flags & MAP_SHARED && !off ? inode_map(i, len) : NULL;
	if (!p) {
		inode_drop(i);
		return MAP_FAILED;
	}
	maps++;
	return p;
}

void *mmap(void *at, size_t len, int prot, int flags, int fd, off_t off)
{
	return mmap64(at, len, prot, flags, fd, off);
}

int munmap(void *p, size_t len)
{
	struct inode *i = maps ? inode_of_map(p) : NULL;

	if (!i)
		return REAL(munmap)(p, len);
	sched_point();
	maps--;
	inode_unmap(i);
	inode_drop(i);
	return 0;
}
