/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * disk: faults, power cuts, and the view of the simulated disk from outside.
 */
#include "tests/simulation/choices.h"
#include "tests/simulation/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/simulation/inode.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/paths.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/times.h"

#define MS	     1000000ull
#define SECOND	     1000000000ull
#define TICK_NS	     (4 * MS)
#define READ_ONE_IN  32 /* reads that the cache does not have */
#define READ_MS	     2
#define SYNC_ONE_IN  2
#define SYNC_MS	     10
#define SYNC_LONG_MS 400 /* the disk's own cache is full */

static struct {
	unsigned fail_syncs, fail_writes;
	unsigned slow;
} fault = {.slow = 1};

/* --- time ------------------------------------------------------------------------------------- */

struct timespec disk_now(void)
{
	uint64_t at = sched_now() / TICK_NS * TICK_NS;

	return (struct timespec){
		.tv_sec = (time_t)(TIMES_EPOCH_S + at / SECOND), .tv_nsec = (long)(at % SECOND)};
}

static void delay(uint32_t most_ms, const char *what)
{
	uint64_t end = sched_now() +
		       (uint64_t)(1 + choices_below(CHOICES_DISK, most_ms)) * MS * fault.slow;

	while (sched_now() < end)
		sched_wait(&fault, end, what);
}

void disk_delay_read(void)
{
	if (sched_on() && fault.slow && choices_once_in(CHOICES_DISK, READ_ONE_IN))
		delay(READ_MS, "for a read of the disk");
}

void disk_delay_sync(void)
{
	if (sched_on() && fault.slow && choices_once_in(CHOICES_DISK, SYNC_ONE_IN))
		delay(choices_once_in(CHOICES_DISK, 16) ? SYNC_LONG_MS : SYNC_MS,
			"for a sync of the disk");
}

/* --- faults ----------------------------------------------------------------------------------- */

static int take(unsigned *left)
{
	if (!*left)
		return 0;
	--*left;
	return -EIO;
}

int disk_write_fault(void)
{
	return take(&fault.fail_writes);
}

int disk_sync_fault(void)
{
	return take(&fault.fail_syncs);
}

void disk_fail_sync(unsigned n)
{
	sched_event("the next %u syncs of the disk fail", n);
	fault.fail_syncs = n;
}

void disk_fail_writes(unsigned n)
{
	sched_event("the next %u writes to the disk fail", n);
	fault.fail_writes = n;
}

void disk_full(uint64_t bytes)
{
	uint64_t total = bytes == UINT64_MAX ? DISK_BLOCKS : bytes / INODE_BLOCK;

	sched_event("the disk has room for %llu blocks", (unsigned long long)total);
	inode_free = total;
}

void disk_slow(unsigned factor)
{
	fault.slow = factor;
}

/* --- the disk --------------------------------------------------------------------------------- */

/* Another one than before. */
static void new_boot(void)
{
	static unsigned boots;
	char id[40];

	snprintf(id, sizeof(id), "%08x-0000-4000-8000-000000000000\n", ++boots);
	disk_write(DISK_PREFIX DISK_BOOT_ID, id, strlen(id), 0);
	journal_commit(NULL);
}

void disk_new(void)
{
	struct inode *root;

	disk_reset();
	inode_free = DISK_BLOCKS;
	root = inode_new(S_IFDIR | 0755, 0, 0);
	root->a.nlink = 2;
	root->a.parent = root;
	disk_mkdir(DISK_PREFIX "/var", 0755);
	disk_mkdir(DISK_PREFIX "/var/lib", 0755);
	disk_mkdir(DISK_PREFIX "/proc", 0755);
	disk_mkdir(DISK_PREFIX "/proc/sys", 0755);
	disk_mkdir(DISK_PREFIX "/proc/sys/kernel", 0755);
	disk_mkdir(DISK_PREFIX "/proc/sys/kernel/random", 0755);
	new_boot();
}

void disk_reset(void)
{
	journal_reset();
	inode_reset();
	memset(&fault, 0, sizeof(fault));
	fault.slow = 1;
}

static void collect(struct inode *i)
{
	inode_drop(inode_use(i)); /* goes if the cut has taken its last name */
}

static unsigned cuts;

unsigned disk_power_cuts(void)
{
	return cuts;
}

void disk_power_cut(void)
{
	unsigned calls = journal_calls(), lost = calls ? choices_below(CHOICES_DISK, calls + 1) : 0;

	if (calls && choices_once_in(CHOICES_DISK, 4))
		lost = choices_once_in(CHOICES_DISK, 2) ? calls : 0;
	cuts++;
	sched_event("the power is cut: %u of %u changes are lost", lost, calls);
	journal_undo(lost);
	journal_commit(NULL);
	inode_each(inode_cut_power);
	inode_each(collect);
	new_boot();
}

/* --- from outside ----------------------------------------------------------------------------- */

static int find(const char *path, struct inode **out)
{
	struct place p;
	int r;

	if (!paths_ours(AT_FDCWD, path))
		return -EXDEV;
	r = paths_find(AT_FDCWD, path, PATHS_AS_ROOT, &p);
	if (r == 0 && !p.at)
		r = -ENOENT;
	*out = p.at;
	return r;
}

ssize_t disk_read(const char *path, void *buf, size_t size, off_t off)
{
	struct inode *i;
	int r = find(path, &i);

	if (r < 0)
		return r;
	if (i->target) {
		size_t n = strlen(i->target);

		memcpy(buf, i->target, n < size ? n : size);
		return (ssize_t)(n < size ? n : size);
	}
	return S_ISREG(i->a.mode) ? (ssize_t)inode_read(i, buf, size, off) : -EINVAL;
}

ssize_t disk_read_safe(const char *path, void *buf, size_t size, off_t off)
{
	struct inode *i;
	int r = find(path, &i);

	if (r < 0)
		return r;
	return S_ISREG(i->a.mode) ? (ssize_t)inode_read_safe(i, buf, size, off) : -EINVAL;
}

const struct inode *disk_inode(const char *path)
{
	struct inode *i;

	return find(path, &i) < 0 ? NULL : i;
}

off_t disk_size(const char *path)
{
	struct inode *i;
	int r = find(path, &i);

	return r < 0 ? r : i->a.size;
}

static int make(const char *path, mode_t mode, struct inode **out)
{
	struct place p;
	struct inode *i;
	int r = paths_find(AT_FDCWD, path, PATHS_AS_ROOT, &p);

	if (r < 0)
		return r;
	if (p.at)
		return -EEXIST;
	i = inode_new(mode, 0, 0);
	if (!i)
		return -ENOSPC;
	journal_begin();
	paths_add(&p, i);
	*out = i;
	return 0;
}

int disk_write(const char *path, const void *buf, size_t size, off_t off)
{
	struct inode *i;
	int r = find(path, &i);
	ssize_t n;

	if (r == -ENOENT)
		r = make(path, S_IFREG | 0644, &i);
	if (r < 0)
		return r;
	if (!S_ISREG(i->a.mode))
		return -EISDIR;
	journal_begin();
	journal_attrs(i);
	n = inode_write(i, buf, size, off);
	if (n > 0 && off + n > i->a.size)
		i->a.size = off + n;
	i->a.mtime = i->a.ctime = disk_now();
	return n < 0 ? (int)n : (size_t)n < size ? -ENOSPC : 0;
}

int disk_mkdir(const char *path, mode_t mode)
{
	struct inode *i;
	int r = make(path, S_IFDIR | mode, &i);

	if (r == 0)
		journal_commit(i);
	return r;
}

mode_t disk_mode(const char *path)
{
	struct inode *i;

	return find(path, &i) < 0 ? 0 : i->a.mode;
}

int disk_list(const char *path, void (*fn)(const char *name, mode_t mode, void *ctx), void *ctx)
{
	struct inode *dir;
	int r = find(path, &dir);

	if (r < 0)
		return r;
	if (!S_ISDIR(dir->a.mode))
		return -ENOTDIR;
	for (size_t k = 0; k < dir->nentries; k++)
		fn(dir->entry[k].name, dir->entry[k].inode->a.mode, ctx);
	return 0;
}

static unsigned counted, without_name;

static void count(struct inode *i)
{
	counted++;
	without_name += i->a.nlink == 0;
}

unsigned disk_inodes(unsigned *unnamed)
{
	counted = without_name = 0;
	inode_each(count);
	*unnamed = without_name;
	return counted;
}
