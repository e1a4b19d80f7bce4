/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * kernel: the calls of kernel.h on the model of Linux (vfs.h). Each open file belongs to a process
 * of its own, as do calls on paths.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/kernel.h"
#include "tests/simulation/sched.h"
#include "tests/simulation/vfs.h"

#define FILES 256

struct kernel {
	struct vfs *v;
	struct {
		struct process *p; /* NULL: free */
		int fd;
	} file[FILES];
};

struct kernel *kernel_new(void)
{
	struct kernel *k = calloc(1, sizeof(*k));
	struct vfs_params p = {.version = sched_once_in(2) ? 601 : 612,
		.allow_other = true,
		.readahead = sched_once_in(2) ? 0 : 1 + sched_choose(64)};

	if (!k)
		abort();
	k->v = vfs_new(&p);
	return k;
}

int kernel_device(struct kernel *k)
{
	return vfs_descriptor(k->v);
}

void kernel_unmount(struct kernel *k)
{
	/* RELEASE may be under way: then Linux does not wait for its answer */
	if (sched_once_in(2)) {
		while (vfs_counts(k->v).waiting)
			usleep(100000);
		vfs_check(k->v);
	}
	if (vfs_unmount(k->v))
		sched_fail("files are open at the end");
}

/* Linux gives no lookups back at umount. */
uint64_t kernel_free(struct kernel *k)
{
	vfs_free(k->v);
	free(k);
	return 0;
}

/* Memory gets short now and then, and pages are written back. */
static struct process *begin(struct kernel *k)
{
	if (sched_once_in(40))
		vfs_shrink(k->v, 1 + sched_choose(3));
	if (sched_once_in(40))
		vfs_flush(k->v);
	return proc_new(k->v, 0, 0);
}

static int end(struct process *p, int res)
{
	proc_exit(p);
	return res;
}

int kernel_open(struct kernel *k, const char *path, int flags, mode_t mode)
{
	struct process *p = begin(k);
	int fd = sys_open(p, path, flags, mode);

	if (fd < 0)
		return end(p, fd);
	for (int i = 0; i < FILES; i++)
		if (!k->file[i].p) {
			k->file[i].p = p;
			k->file[i].fd = fd;
			return i;
		}
	sched_fail("too many files are open");
}

int kernel_close(struct kernel *k, int fd)
{
	struct process *p = k->file[fd].p;
	int res = sys_close(p, k->file[fd].fd);

	k->file[fd].p = NULL;
	return end(p, res);
}

ssize_t kernel_read(struct kernel *k, int fd, void *buf, size_t size, off_t off)
{
	return sys_pread(k->file[fd].p, k->file[fd].fd, buf, size, off);
}

ssize_t kernel_write(struct kernel *k, int fd, const void *buf, size_t size, off_t off)
{
	return sys_pwrite(k->file[fd].p, k->file[fd].fd, buf, size, off);
}

int kernel_fsync(struct kernel *k, int fd)
{
	return sys_fsync(k->file[fd].p, k->file[fd].fd);
}

int kernel_fstat(struct kernel *k, int fd, struct stat *st)
{
	return sys_fstat(k->file[fd].p, k->file[fd].fd, st);
}

int kernel_ftruncate(struct kernel *k, int fd, off_t size)
{
	return sys_ftruncate(k->file[fd].p, k->file[fd].fd, size);
}

int kernel_lock(struct kernel *k, int fd, int type)
{
	struct flock l = {.l_type = (short)type};

	return sys_fcntl_lock(k->file[fd].p, k->file[fd].fd, F_SETLKW, &l);
}

int kernel_stat(struct kernel *k, const char *path, struct stat *st)
{
	struct process *p = begin(k);

	return end(p, sys_stat(p, path, st));
}

int kernel_mkdir(struct kernel *k, const char *path, mode_t mode)
{
	struct process *p = begin(k);

	return end(p, sys_mkdir(p, path, mode));
}

int kernel_unlink(struct kernel *k, const char *path)
{
	struct process *p = begin(k);

	return end(p, sys_unlink(p, path));
}

int kernel_rmdir(struct kernel *k, const char *path)
{
	struct process *p = begin(k);

	return end(p, sys_rmdir(p, path));
}

int kernel_rename(struct kernel *k, const char *from, const char *to)
{
	struct process *p = begin(k);

	return end(p, sys_rename(p, from, to, 0));
}

int kernel_link(struct kernel *k, const char *from, const char *to)
{
	struct process *p = begin(k);

	return end(p, sys_link(p, from, to));
}

int kernel_list(struct kernel *k, const char *path, void (*fn)(const char *, void *), void *ctx)
{
	struct process *p = begin(k);
	struct sys_dirent *all;
	int n = sys_readdir(p, path, &all);

	for (int i = 0; i < n; i++)
		fn(all[i].name, ctx);
	if (n >= 0)
		free(all);
	return end(p, n < 0 ? n : 0);
}
