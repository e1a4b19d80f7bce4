/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * space: holes, reserved space and copies of files.
 *
 * lseek() moves the position of a descriptor that other threads use at the same time. That does no
 * harm, as all data goes by pread() and pwrite().
 */
#include "contrib/serve/ops/space.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define ROUND  65536u  /* a multiple of every block size */
#define BOUNCE 262144u /* bytes of the buffer for copies that the kernel does not make */

/* Not in every <linux/magic.h> */
#define BCACHEFS_MAGIC 0xca451a4eu
#define OCFS2_MAGIC    0x7461636fu

int space_seek(int fd, uint64_t offset, bool hole, uint64_t *pos, bool *eof)
{
	off_t end, r;

	end = lseek(fd, 0, SEEK_END);
	if (end < 0)
		return -errno;
	if (offset >= (uint64_t)end)
		return -ENXIO;
	r = lseek(fd, (off_t)offset, hole ? SEEK_HOLE : SEEK_DATA);
	if (r < 0 && errno != ENXIO)
		return -errno;
	if (r < 0) /* no data; or the file has just been cut */
		r = end;
	*pos = (uint64_t)r;
	*eof = r >= end;
	return 0;
}

static int range_status(int r)
{
	if (r == 0)
		return 0;
	return errno == ENOSYS ? -EOPNOTSUPP : -errno;
}

int space_allocate(int fd, uint64_t offset, uint64_t length)
{
	int r;

	if (length == 0)
		return -EINVAL;
	if (offset > INT64_MAX || length > INT64_MAX - offset)
		return -EFBIG;
	do
		r = range_status(fallocate(fd, 0, (off_t)offset, (off_t)length));
	while (r == -EINTR);
	return r;
}

static int punch(int fd, uint64_t offset, uint64_t length)
{
	int r;

	do
		r = range_status(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			(off_t)offset, (off_t)length));
	while (r == -EINTR);
	return r;
}

int space_punch(int fd, uint64_t offset, uint64_t length)
{
	struct stat st;
	int r = -EFBIG;

	if (length == 0 || offset >= INT64_MAX)
		return -EINVAL;
	if (length <= INT64_MAX - offset)
		r = punch(fd, offset, length);
	if (r != -EFBIG)
		return r;
	/* beyond the largest file: up to the end of the file, with the whole last block */
	if (fstat(fd, &st) != 0)
		return -errno;
	if (offset >= (uint64_t)st.st_size)
		return 0;
	return punch(fd, offset, ((uint64_t)st.st_size - offset + ROUND) & ~(uint64_t)(ROUND - 1));
}

/* All n bytes of p, or as many as go. */
static ssize_t write_some(int fd, const char *p, size_t n, off_t offset)
{
	size_t done = 0;

	while (done < n) {
		ssize_t r = pwrite(fd, p + done, n - done, offset + (off_t)done);

		if (r < 0 && errno == EINTR)
			continue;
		if (r <= 0)
			return done ? (ssize_t)done : r < 0 ? -errno : -EIO;
		done += (size_t)r;
	}
	return (ssize_t)done;
}

/* By reading and writing. */
static ssize_t copy_bytes(int from, off_t from_offset, int to, off_t to_offset, size_t n)
{
	char *buf = malloc(BOUNCE);
	size_t done = 0;
	ssize_t r = 0;

	if (!buf)
		return -ENOMEM;
	while (done < n) {
		size_t want = n - done < BOUNCE ? n - done : BOUNCE;
		ssize_t got = pread(from, buf, want, from_offset + (off_t)done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			r = got < 0 ? -errno : 0;
			break;
		}
		r = write_some(to, buf, (size_t)got, to_offset + (off_t)done);
		if (r > 0)
			done += (size_t)r;
		if (r < got)
			break;
	}
	free(buf);
	return done ? (ssize_t)done : r;
}

/* Does the kernel not make copies between these two? */
static bool must_copy_ourselves(int err)
{
	return err == EXDEV || err == EOPNOTSUPP || err == ENOSYS || err == EINVAL;
}

ssize_t space_copy(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t length)
{
	off_t in = (off_t)from_offset, out = (off_t)to_offset;
	size_t n = length < SPACE_COPY_MAX ? (size_t)length : SPACE_COPY_MAX, done = 0;

	if (from_offset > INT64_MAX - SPACE_COPY_MAX)
		return -EINVAL;
	if (to_offset > INT64_MAX - SPACE_COPY_MAX)
		return -EFBIG;
	while (done < n) { /* copy_file_range() moves both offsets */
		ssize_t r = copy_file_range(from, &in, to, &out, n - done, 0);

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0 && done == 0 && must_copy_ourselves(errno))
			return copy_bytes(from, in, to, out, n);
		if (r < 0 && done == 0)
			return -errno;
		if (r <= 0)
			break;
		done += (size_t)r;
	}
	return (ssize_t)done;
}

int space_clone(int from, uint64_t from_offset, int to, uint64_t to_offset, uint64_t length)
{
	struct file_clone_range range = {
		.src_fd = from,
		.src_offset = from_offset,
		.src_length = length,
		.dest_offset = to_offset,
	};

	if (ioctl(to, FICLONERANGE, &range) == 0)
		return 0;
	return errno == ENOTTY || errno == ENOSYS ? -EOPNOTSUPP : -errno;
}

uint32_t space_clone_size(const struct obj *o)
{
	struct statfs fs;

	if (fstatfs(o->fd, &fs) != 0)
		return 0;
	switch ((uint32_t)fs.f_type) {
	case BTRFS_SUPER_MAGIC:
	case XFS_SUPER_MAGIC:
	case BCACHEFS_MAGIC:
	case OCFS2_MAGIC:
		return (uint32_t)fs.f_bsize;
	default:
		return 0;
	}
}
