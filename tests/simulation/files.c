/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * files: the calls of libc on open files of the simulated disk.
 */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/choices.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/names.h"
#include "tests/simulation/paths.h"
#include "tests/simulation/sched.h"

#define REAL(fn) ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))

static ssize_t ends(ssize_t res)
{
	if (res >= 0)
		return res;
	errno = (int)-res;
	return -1;
}

/* --- opening ---------------------------------------------------------------------------------- */

int files_descriptor(struct inode *i, int flags)
{
	struct file *f = calloc(1, sizeof(*f));
	int fd;

	if (!f)
		abort();
	f->inode = inode_use(i);
	f->flags = flags;
	i->opens++;
	fd = descriptor_add(
		&paths_file_ops, f, flags & (O_ACCMODE | O_APPEND | O_NONBLOCK | O_PATH));
	if (fd < 0) {
		i->opens--;
		inode_drop(i);
		free(f);
	}
	return fd;
}

static int mask_of(int flags)
{
	static const int mask[] = {R_OK, W_OK, R_OK | W_OK, R_OK | W_OK};

	return mask[flags & O_ACCMODE] | (flags & O_TRUNC ? W_OK : 0);
}

/* The inode is there, not new. */
static int may_open(const struct inode *i, int flags)
{
	mode_t type = i->a.mode & S_IFMT;

	if (flags & O_DIRECTORY && type != S_IFDIR)
		return -ENOTDIR;
	if (flags & O_PATH)
		return 0;
	if (type == S_IFLNK)
		return -ELOOP;
	if (type == S_IFDIR && (flags & O_CREAT || mask_of(flags) & W_OK))
		return -EISDIR;
	if (!caller_may(i, mask_of(flags)))
		return -EACCES;
	if (type == S_IFIFO && flags & O_NONBLOCK)
		return 0; /* it has no data */
	return type == S_IFDIR || type == S_IFREG ? 0 : -ENXIO;
}

static int open_unnamed(const struct place *p, int flags, mode_t mode)
{
	struct inode *i;
	int r;

	if (!p->at)
		return -ENOENT;
	if (!S_ISDIR(p->at->a.mode))
		return -ENOTDIR;
	if ((flags & O_ACCMODE) == O_RDONLY)
		return -EINVAL;
	r = names_inode(p->at, S_IFREG | (mode & 07777), &i);
	if (r < 0)
		return r;
	i->linkable = !(flags & O_EXCL);
	r = files_descriptor(i, flags & ~O_TMPFILE);
	if (r < 0)
		inode_drop(inode_use(i));
	return r;
}

int files_open(int dirfd, const char *path, int flags, mode_t mode)
{
	struct place p;
	bool slash, nofollow;
	int r;

	if (flags & O_PATH)
		flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	nofollow = flags & O_NOFOLLOW || (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
	slash = flags & O_CREAT && *path && path[strlen(path) - 1] == '/';
	r = paths_find(dirfd, path, slash ? PATHS_NEW : nofollow ? 0 : PATHS_FOLLOW, &p);
	if (r < 0)
		return r;
	if (slash)
		return -EISDIR;
	if ((flags & O_TMPFILE) == O_TMPFILE)
		return open_unnamed(&p, flags, mode);
	if (p.magic && flags & O_NOFOLLOW)
		return -ELOOP;
	if (p.at && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		return -EEXIST;
	if (!p.at && !(flags & O_CREAT))
		return -ENOENT;
	if (!p.at) {
		r = names_make(&p, S_IFREG | (mode & 07777), 0, &p.at);
		return r < 0 ? r : files_descriptor(p.at, flags);
	}
	r = may_open(p.at, flags);
	if (r == 0 && flags & O_TRUNC && S_ISREG(p.at->a.mode))
		r = files_resize(p.at, 0);
	return r < 0 ? r : files_descriptor(p.at, flags);
}

int openat64(int dirfd, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (!paths_ours(dirfd, path))
		return REAL(openat64)(dirfd, path, flags, mode);
	sched_point();
	return (int)ends(files_open(dirfd, path, flags, mode));
}

int openat(int dirfd, const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return openat64(dirfd, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (!paths_ours(AT_FDCWD, path))
		return REAL(open64)(path, flags, mode);
	return openat64(AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	return open64(path, flags, mode);
}

/* A file with a name that is free, in place of the last six letters of path. */
int mkostemp64(char *path, int flags)
{
	char *letters = path + strlen(path) - 6;
	int fd;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(mkostemp64)(path, flags);
	do {
		for (int i = 0; i < 6; i++)
			letters[i] = (char)('a' + choices_below(CHOICES_DISK, 26));
		fd = open64(path, O_RDWR | O_CREAT | O_EXCL | flags, 0600);
	} while (fd < 0 && errno == EEXIST);
	return fd;
}

int mkostemp(char *path, int flags)
{
	return mkostemp64(path, flags);
}

/* --- reading and writing ---------------------------------------------------------------------- */

static bool reads(const struct description *d)
{
	return !(d->flags & O_PATH) && (d->flags & O_ACCMODE) != O_WRONLY;
}

static bool writes(const struct description *d)
{
	return !(d->flags & O_PATH) && (d->flags & O_ACCMODE) != O_RDONLY;
}

static ssize_t read_at(struct description *d, const struct iovec *iov, int n, off_t off)
{
	struct file *f = d->of;
	struct inode *i = f->inode;
	ssize_t done = 0;

	if (!reads(d))
		return -EBADF;
	if (S_ISDIR(i->a.mode))
		return -EISDIR;
	if (off < 0)
		return -EINVAL;
	inode_use(i);
	disk_delay_read(); /* the descriptor may be closed meanwhile */
	for (int k = 0; k < n; k++) {
		size_t got = inode_read(i, iov[k].iov_base, iov[k].iov_len, off + done);

		done += (ssize_t)got;
		if (got < iov[k].iov_len)
			break;
	}
	inode_drop(i);
	return done;
}

/* Sets the attributes that change with the data: size, times and mode. */
static void changed(struct inode *i, off_t size)
{
	struct timespec now = disk_now();
	mode_t mode = i->a.mode;

	inode_changing(i);
	if (!caller_is_root())
		mode &= ~caller_takes(i);
	if (size == i->a.size && mode == i->a.mode && i->a.mtime.tv_sec == now.tv_sec &&
		i->a.mtime.tv_nsec == now.tv_nsec && i->a.ctime.tv_sec == now.tv_sec &&
		i->a.ctime.tv_nsec == now.tv_nsec)
		return;
	journal_attrs(i);
	i->a.size = size;
	i->a.mode = mode;
	i->a.mtime = i->a.ctime = now;
}

static ssize_t write_at(struct description *d, const struct iovec *iov, int n, off_t off)
{
	struct file *f = d->of;
	struct inode *i = f->inode;
	ssize_t done = 0, r = 0;

	if (!writes(d))
		return -EBADF;
	if (off < 0)
		return -EINVAL;
	if (d->flags & O_APPEND)
		off = i->a.size;
	r = disk_write_fault();
	if (r < 0)
		return r;
	journal_begin();
	for (int k = 0; k < n && r >= 0; k++) {
		size_t len = iov[k].iov_len;

		if (len && off + done >= INODE_END)
			r = -EFBIG;
		else if ((off_t)len > INODE_END - off - done)
			len = (size_t)(INODE_END - off - done);
		if (r == 0)
			r = inode_write(i, iov[k].iov_base, len, off + done);
		if (r < 0 || !len)
			continue;
		done += r;
		changed(i, off + done > i->a.size ? off + done : i->a.size);
		if ((size_t)r < iov[k].iov_len)
			break;
		r = 0;
	}
	sched_event("the disk takes %zd bytes at %lld of inode %llu", done ? done : r,
		(long long)off, (unsigned long long)i->ino);
	if (done && f->flags & O_DSYNC) {
		inode_sync(i);
		journal_commit(i);
	}
	return done ? done : r;
}

static ssize_t read_on(struct description *d, const struct iovec *iov, int n)
{
	ssize_t got = read_at(d, iov, n, d->offset);

	d->offset += got > 0 ? got : 0;
	return got;
}

static ssize_t write_on(struct description *d, const struct iovec *iov, int n)
{
	struct file *f = d->of;
	off_t off = d->flags & O_APPEND ? f->inode->a.size : d->offset;
	ssize_t done = write_at(d, iov, n, off);

	if (done > 0)
		d->offset = off + done;
	return done;
}

static void close_file(struct description *d)
{
	struct file *f = d->of;
	struct inode *i = f->inode;

	if (i->locked == d) {
		i->locked = NULL;
		sched_wake_all(&i->locked);
	}
	i->opens--;
	inode_drop(i);
	free(f);
}

const struct description_ops paths_file_ops = {
	.name = "file",
	.read = read_on,
	.write = write_on,
	.pread = read_at,
	.pwrite = write_at,
	.close = close_file,
};

static off_t seek(struct description *d, off_t off, int whence)
{
	struct file *f = d->of;
	struct inode *i = f->inode;

	if (d->flags & O_PATH)
		return -EBADF;
	switch (whence) {
	case SEEK_SET:
		break;
	case SEEK_CUR:
		off += d->offset;
		break;
	case SEEK_END:
		off += i->a.size;
		break;
	case SEEK_DATA:
	case SEEK_HOLE:
		if (!S_ISREG(i->a.mode))
			return -EINVAL;
		if (off < 0 || off >= i->a.size)
			return -ENXIO;
		off = inode_seek(i, off, whence == SEEK_HOLE);
		if (off < 0)
			return -ENXIO;
		break;
	default:
		return -EINVAL;
	}
	if (off < 0 || (S_ISREG(i->a.mode) && off > INODE_END))
		return -EINVAL;
	d->offset = off;
	return off;
}

off64_t lseek64(int fd, off64_t off, int whence)
{
	struct description *d = descriptor_get(fd);

	if (!descriptor_is_ours(fd))
		return REAL(lseek64)(fd, off, whence);
	sched_point();
	return ends(!d ? -EBADF : !paths_file(fd) ? -ESPIPE : seek(d, off, whence));
}

off_t lseek(int fd, off_t off, int whence)
{
	return lseek64(fd, off, whence);
}

/* --- sizes and space -------------------------------------------------------------------------- */

int files_resize(struct inode *i, off_t size)
{
	if (size < 0)
		return -EINVAL;
	if (size > INODE_END)
		return -EFBIG;
	journal_begin();
	if (size < i->a.size)
		inode_cut(i, size, journal_cut(i, size));
	changed(i, size);
	sched_event("the disk has %lld bytes of inode %llu", (long long)size,
		(unsigned long long)i->ino);
	return 0;
}

int files_writable(int fd, struct inode **i)
{
	const struct description *d = descriptor_get(fd);
	const struct file *f = paths_file(fd);

	if (!d || !f || !writes(d))
		return -EBADF;
	*i = f->inode;
	return 0;
}

int ftruncate64(int fd, off64_t size)
{
	struct inode *i;
	int r;

	if (!descriptor_is_ours(fd))
		return REAL(ftruncate64)(fd, size);
	sched_point();
	r = size < 0 ? -EINVAL : files_writable(fd, &i);
	if (r == -EBADF && paths_file(fd) && !(paths_file(fd)->flags & O_PATH))
		r = -EINVAL;
	return (int)ends(r < 0 ? r : files_resize(i, size));
}

int ftruncate(int fd, off_t size)
{
	return ftruncate64(fd, size);
}

int truncate64(const char *path, off64_t size)
{
	struct place p;
	int r;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(truncate64)(path, size);
	sched_point();
	r = size < 0 ? -EINVAL : paths_find(AT_FDCWD, path, PATHS_FOLLOW, &p);
	if (r == 0 && !p.at)
		r = -ENOENT;
	if (r == 0 && !S_ISREG(p.at->a.mode))
		r = S_ISDIR(p.at->a.mode) ? -EISDIR : -EINVAL;
	if (r == 0 && !caller_may(p.at, W_OK))
		r = -EACCES;
	return (int)ends(r < 0 ? r : files_resize(p.at, size));
}

int truncate(const char *path, off_t size)
{
	return truncate64(path, size);
}

static int allocate(int fd, int mode, off_t off, off_t len)
{
	struct inode *i;
	off_t end;
	int r;

	if (off < 0 || len <= 0)
		return -EINVAL;
	if (mode != 0 && mode != FALLOC_FL_KEEP_SIZE &&
		mode != (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE))
		return -EOPNOTSUPP;
	r = files_writable(fd, &i);
	if (r < 0)
		return r;
	if (off > INODE_END || len > INODE_END - off)
		return -EFBIG;
	end = off + len;
	journal_begin();
	if (mode & FALLOC_FL_PUNCH_HOLE)
		inode_punch(i, off, end);
	else
		r = inode_reserve(i, off, end);
	if (r == 0)
		changed(i, mode == 0 && end > i->a.size ? end : i->a.size);
	return r;
}

int fallocate64(int fd, int mode, off64_t off, off64_t len)
{
	if (!descriptor_is_ours(fd))
		return REAL(fallocate64)(fd, mode, off, len);
	sched_point();
	return (int)ends(allocate(fd, mode, off, len));
}

int fallocate(int fd, int mode, off_t off, off_t len)
{
	return fallocate64(fd, mode, off, len);
}

int posix_fallocate64(int fd, off64_t off, off64_t len)
{
	if (!descriptor_is_ours(fd))
		return REAL(posix_fallocate64)(fd, off, len);
	sched_point();
	return -allocate(fd, 0, off, len);
}

int posix_fallocate(int fd, off_t off, off_t len)
{
	return posix_fallocate64(fd, off, len);
}

/* Copies n bytes at most; the kernel may copy fewer. */
static ssize_t copy(struct inode *from, off_t in, struct inode *to, off_t out, size_t n)
{
	uint8_t buf[65536];
	size_t done = 0;
	ssize_t r = 0;

	journal_begin();
	while (done < n) {
		size_t part = n - done < sizeof(buf) ? n - done : sizeof(buf);
		size_t got = inode_read(from, buf, part, in + (off_t)done);
		off_t end;

		if (!got)
			break;
		r = inode_write(to, buf, got, out + (off_t)done);
		if (r <= 0)
			break;
		done += (size_t)r;
		end = out + (off_t)done;
		changed(to, end > to->a.size ? end : to->a.size);
		if (sched_on() && choices_once_in(CHOICES_DISK, 8))
			break;
	}
	return done ? (ssize_t)done : r < 0 ? r : 0;
}

static ssize_t copy_range(int from, off_t *in, int to, off_t *out, size_t n, unsigned flags)
{
	struct description *src = descriptor_get(from), *dst = descriptor_get(to);
	struct inode *a, *b;
	off_t i, o;
	ssize_t r;

	if (flags)
		return -EINVAL;
	if (!paths_file(from) || !paths_file(to))
		return -EXDEV;
	if (!reads(src) || files_writable(to, &b) < 0 || dst->flags & O_APPEND)
		return -EBADF;
	a = paths_file(from)->inode;
	if (S_ISDIR(a->a.mode))
		return -EISDIR;
	i = in ? *in : src->offset;
	o = out ? *out : dst->offset;
	if (i < 0 || o < 0)
		return -EINVAL;
	if (o >= INODE_END)
		return -EFBIG;
	if (i >= a->a.size)
		n = 0;
	else if ((off_t)n > a->a.size - i)
		n = (size_t)(a->a.size - i);
	if (a == b && i < o + (off_t)n && o < i + (off_t)n)
		return -EINVAL;
	r = disk_write_fault();
	if (r == 0)
		r = copy(a, i, b, o, n);
	if (r > 0) {
		*(in ? in : &src->offset) += r;
		*(out ? out : &dst->offset) += r;
	}
	return r;
}

ssize_t copy_file_range(int from, off64_t *in, int to, off64_t *out, size_t n, unsigned flags)
{
	if (!descriptor_is_ours(from) && !descriptor_is_ours(to))
		return REAL(copy_file_range)(from, in, to, out, n, flags);
	sched_point();
	return ends(copy_range(from, in, to, out, n, flags));
}
