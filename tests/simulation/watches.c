/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * watches: inotify(7), which never reports anything, flock(2), and ioctl(2) of the simulated disk.
 * No process but the server changes its files.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>

#include "tests/simulation/paths.h"
#include "tests/simulation/sched.h"

#define REAL(fn) ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))

static int ends(ssize_t res)
{
	if (res >= 0)
		return (int)res;
	errno = (int)-res;
	return -1;
}

/* --- inotify ---------------------------------------------------------------------------------- */

static ssize_t read_none(struct description *d, const struct iovec *iov, int n)
{
	return -EAGAIN;
}

static short never(struct description *d, uint64_t *at)
{
	return 0;
}

static const struct description_ops inotify_ops = {
	.name = "inotify", .read = read_none, .events = never};

int inotify_init1(int flags)
{
	if (!sched_on())
		return REAL(inotify_init1)(flags);
	return ends(descriptor_add(&inotify_ops, NULL, O_RDONLY | (flags & IN_NONBLOCK)));
}

static bool is_inotify(int fd)
{
	const struct description *d = descriptor_get(fd);

	return d && d->ops == &inotify_ops;
}

/* The number of the watch is that of the inode. */
int inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	struct place p;
	int r;

	if (!is_inotify(fd))
		return REAL(inotify_add_watch)(fd, path, mask);
	sched_point();
	if (!paths_ours(AT_FDCWD, path))
		return ends(-ENOENT);
	r = paths_find(AT_FDCWD, path, PATHS_FOLLOW, &p);
	if (r == 0 && !p.at)
		r = -ENOENT;
	if (r == 0 && !caller_may(p.at, 4))
		r = -EACCES;
	return ends(r < 0 ? r : (int)p.at->ino);
}

int inotify_rm_watch(int fd, int wd)
{
	if (!is_inotify(fd))
		return REAL(inotify_rm_watch)(fd, wd);
	sched_point();
	return ends(inode_get((uint64_t)wd) ? 0 : -EINVAL);
}

/* --- locks and others ------------------------------------------------------------------------- */

int flock(int fd, int how)
{
	const struct description *d = descriptor_get(fd);
	struct inode *i;
	int r = 0;

	if (!descriptor_is_ours(fd))
		return REAL(flock)(fd, how);
	sched_point();
	if (!paths_file(fd))
		return ends(-EBADF);
	i = inode_use(paths_file(fd)->inode);
	if (how & LOCK_UN) {
		if (i->locked == d)
			i->locked = NULL;
		sched_wake_all(&i->locked);
	} else { /* a shared one is held alone, too */
		while (i->locked && i->locked != d && !(how & LOCK_NB))
			sched_wait(&i->locked, SCHED_NEVER, "for flock()");
		if (i->locked && i->locked != d)
			r = -EWOULDBLOCK;
		else
			i->locked = d;
	}
	inode_drop(i);
	return ends(r);
}

/* Weak: the program may have one for other descriptors, too, which then says the same of files. */
__attribute__((weak)) int ioctl(int fd, unsigned long what, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, what);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (!descriptor_is_ours(fd))
		return REAL(ioctl)(fd, what, arg);
	sched_point();
	if (paths_file(fd) && (what == FICLONE || what == FICLONERANGE))
		return ends(-EOPNOTSUPP);
	return ends(descriptor_get(fd) ? -ENOTTY : -EBADF);
}
