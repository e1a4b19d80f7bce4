/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * streams: see streams.h. libc's own DIR and FILE would read the descriptor inside libc.
 */
#undef _FILE_OFFSET_BITS
#include "tests/simulation/choices.h"
#include "tests/simulation/streams.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/disk.h"
#include "tests/simulation/names.h"
#include "tests/simulation/sched.h"

#define REAL(fn)   ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))
#define DOT	   1 /* places of "." and ".." */
#define DOTS	   2
#define BUF_SIZE   4096
#define FILES_MOST 64

struct linux_dirent64 {
	uint64_t d_ino;
	int64_t d_off;
	unsigned short d_reclen;
	unsigned char d_type;
	char d_name[];
};

/* --- directories ------------------------------------------------------------------------------ */

/* The entry behind the place `off`. False: the end. */
static bool next(
	const struct inode *dir, off_t off, const char **name, const struct inode **i, off_t *place)
{
	const struct entry *e;

	if (off < DOTS) {
		*name = off < DOT ? "." : "..";
		*i = off < DOT ? dir : dir->a.parent;
		*place = off < DOT ? DOT : DOTS;
		return true;
	}
	e = inode_after(dir, (uint64_t)off);
	if (!e)
		return false;
	*name = e->name;
	*i = e->inode;
	*place = (off_t)e->hash;
	return true;
}

static long read_entries(struct description *d, void *buf, size_t size)
{
	const struct file *f = d->of;
	const struct inode *dir = f->inode, *i;
	const char *name;
	size_t used = 0;
	off_t place;

	if (d->flags & O_PATH)
		return -EBADF;
	if (!S_ISDIR(dir->a.mode))
		return -ENOTDIR;
	if (dir->a.nlink == 0)
		return -ENOENT;
	while (next(dir, d->offset, &name, &i, &place)) {
		size_t len = offsetof(struct linux_dirent64, d_name) + strlen(name) + 1;
		struct linux_dirent64 *e = (void *)((char *)buf + used);

		len = (len + 7) & ~(size_t)7;
		if (len > size - used)
			return used ? (long)used : -EINVAL;
		memset(e, 0, len);
		e->d_ino = i->ino;
		e->d_off = place;
		e->d_reclen = (unsigned short)len;
		e->d_type = IFTODT(i->a.mode);
		strcpy(e->d_name, name);
		used += len;
		d->offset = place;
		if (sched_on() && choices_once_in(CHOICES_DISK, 64))
			break; /* the end of a block of the directory */
	}
	return (long)used;
}

long streams_getdents(int fd, void *buf, size_t size)
{
	struct description *d = descriptor_get(fd);
	long n;

	sched_point();
	n = !d ? -EBADF : !paths_file(fd) ? -ENOTDIR : read_entries(d, buf, size);
	if (n >= 0)
		return n;
	errno = (int)-n;
	return -1;
}

struct stream {
	struct stream *next;
	int fd;
	size_t len, pos;
	struct dirent64 entry;
	char buf[BUF_SIZE] __attribute__((aligned(8)));
};

static struct stream *streams;

static struct stream *find_stream(const void *dir)
{
	struct stream *s = streams;

	while (s && (const void *)s != dir)
		s = s->next;
	return s;
}

DIR *fdopendir(int fd)
{
	const struct file *f = paths_file(fd);
	struct stream *s;

	if (!descriptor_is_ours(fd))
		return REAL(fdopendir)(fd);
	if (!f || !S_ISDIR(f->inode->a.mode)) {
		errno = f ? ENOTDIR : EBADF;
		return NULL;
	}
	s = calloc(1, sizeof(*s));
	if (!s)
		abort();
	s->fd = fd;
	s->next = streams;
	streams = s;
	return (DIR *)s;
}

DIR *opendir(const char *path)
{
	int fd;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(opendir)(path);
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? NULL : fdopendir(fd);
}

struct dirent64 *readdir64(DIR *dir)
{
	struct stream *s = find_stream(dir);
	const struct linux_dirent64 *e;

	if (!s)
		return REAL(readdir64)(dir);
	if (s->pos == s->len) {
		long n = streams_getdents(s->fd, s->buf, sizeof(s->buf));

		if (n <= 0)
			return NULL;
		s->len = (size_t)n;
		s->pos = 0;
	}
	e = (const void *)(s->buf + s->pos);
	s->pos += e->d_reclen;
	s->entry = (struct dirent64){
		.d_ino = e->d_ino, .d_off = e->d_off, .d_reclen = e->d_reclen, .d_type = e->d_type};
	strcpy(s->entry.d_name, e->d_name);
	return &s->entry;
}

struct dirent *readdir(DIR *dir)
{
	return find_stream(dir) ? (struct dirent *)readdir64(dir) : REAL(readdir)(dir);
}

int dirfd(DIR *dir)
{
	struct stream *s = find_stream(dir);

	return s ? s->fd : REAL(dirfd)(dir);
}

void rewinddir(DIR *dir)
{
	struct stream *s = find_stream(dir);

	if (!s) {
		REAL(rewinddir)(dir);
		return;
	}
	s->len = s->pos = 0;
	lseek(s->fd, 0, SEEK_SET);
}

int closedir(DIR *dir)
{
	struct stream *s = find_stream(dir), **at = &streams;
	int fd;

	if (!s)
		return REAL(closedir)(dir);
	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	fd = s->fd;
	free(s);
	return close(fd);
}

/* --- FILEs ------------------------------------------------------------------------------------ */

static struct {
	FILE *file;
	int fd;
} files[FILES_MOST];

static int slot_of(const FILE *file)
{
	for (int n = 0; n < FILES_MOST; n++)
		if (files[n].file == file)
			return n;
	return -1;
}

static ssize_t cookie_read(void *cookie, char *buf, size_t n)
{
	return read(files[(intptr_t)cookie].fd, buf, n);
}

static ssize_t cookie_write(void *cookie, const char *buf, size_t n)
{
	ssize_t r = write(files[(intptr_t)cookie].fd, buf, n);

	return r < 0 ? 0 : r;
}

static int cookie_seek(void *cookie, off64_t *off, int whence)
{
	*off = lseek64(files[(intptr_t)cookie].fd, *off, whence);
	return *off < 0 ? -1 : 0;
}

static int cookie_close(void *cookie)
{
	intptr_t n = (intptr_t)cookie;
	int fd = files[n].fd;

	files[n].file = NULL;
	return close(fd);
}

FILE *fdopen(int fd, const char *mode)
{
	static const cookie_io_functions_t fns = {
		cookie_read, cookie_write, cookie_seek, cookie_close};
	int n;

	if (!descriptor_is_ours(fd))
		return REAL(fdopen)(fd, mode);
	n = slot_of(NULL);
	if (n < 0 || !descriptor_get(fd)) {
		errno = n < 0 ? EMFILE : EBADF;
		return NULL;
	}
	files[n].fd = fd;
	files[n].file = fopencookie((void *)(intptr_t)n, mode, fns);
	return files[n].file;
}

static int flags_of(const char *mode)
{
	bool both = strchr(mode, '+');

	switch (mode[0]) {
	case 'r':
		return both ? O_RDWR : O_RDONLY;
	case 'w':
		return (both ? O_RDWR : O_WRONLY) | O_CREAT | O_TRUNC;
	default:
		return (both ? O_RDWR : O_WRONLY) | O_CREAT | O_APPEND;
	}
}

FILE *fopen64(const char *path, const char *mode)
{
	int fd;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(fopen64)(path, mode);
	fd = open(path, flags_of(mode) | (strchr(mode, 'x') ? O_EXCL : 0) | O_CLOEXEC, 0666);
	return fd < 0 ? NULL : fdopen(fd, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	return fopen64(path, mode);
}

int fileno(FILE *file)
{
	int n = slot_of(file);

	return n >= 0 ? files[n].fd : REAL(fileno)(file);
}
