/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sys_copy: copy_file_range(2) between two files of a mount.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

#define PIPE 65536u /* bytes that a splice moves at once */

/* The pages of the range go to the daemon (fuse_writeback_range). */
static void write_back(struct vfs_inode *i, uint64_t off)
{
	vfs_write_back(i, off / VFS_PAGE, UINT64_MAX);
	vfs_wait_back(i, 0, UINT64_MAX);
}

static ssize_t ask(struct vfs_file *from, uint64_t in, struct vfs_file *to, uint64_t out, size_t n)
{
	struct fuse_copy_file_range_in arg = {.fh_in = from->handle->fh,
		.off_in = in,
		.nodeid_out = to->inode->node,
		.fh_out = to->handle->fh,
		.off_out = out,
		.len = n};
	struct fuse_write_out done;
	struct vfs_call c = {.opcode = FUSE_COPY_FILE_RANGE,
		.node = from->inode->node,
		.out = &done,
		.room = sizeof(done)};
	ssize_t res;

	vfs_add_in(&c, &arg, sizeof(arg));
	res = vfs_ask(from->v, &c);
	if (res == -ENOSYS) {
		from->v->no_copy = true;
		res = -EOPNOTSUPP;
	}
	return res < 0 ? res : (ssize_t)done.size;
}

/* The target is locked. */
static ssize_t copy_locked(
	struct vfs_file *from, uint64_t in, struct vfs_file *to, uint64_t out, size_t n)
{
	struct vfs_inode *i = to->inode;
	ssize_t res = vfs_drop_rights(i);

	if (res)
		return res;
	write_back(i, out);
	i->size_unstable = true;
	res = ask(from, in, to, out, n);
	if (res > 0) {
		/* whole pages, also those of which the copy has changed a part */
		vfs_ppunch(i, out / VFS_PAGE * VFS_PAGE,
			(out + (uint64_t)res + VFS_PAGE - 1) / VFS_PAGE * VFS_PAGE);
		vfs_write_update(i, out + (uint64_t)res, res);
	}
	i->size_unstable = false;
	return res;
}

/* fuse_copy_file_range. */
static ssize_t copy(struct vfs_file *from, uint64_t in, struct vfs_file *to, uint64_t out, size_t n)
{
	ssize_t res;

	if (from->v->no_copy)
		return -EOPNOTSUPP;
	vfs_lock(&from->inode->lock);
	write_back(from->inode, in);
	vfs_unlock(&from->inode->lock);
	vfs_lock(&to->inode->lock);
	res = copy_locked(from, in, to, out, n);
	vfs_unlock(&to->inode->lock);
	return res;
}

/* By reading and writing, as the kernel does with a splice. */
static ssize_t copy_by_pages(
	struct vfs_file *from, uint64_t in, struct vfs_file *to, uint64_t out, size_t n)
{
	uint8_t *buf = malloc(PIPE);
	ssize_t done = 0, got = 1, res = 0;

	while (done < (ssize_t)n && got > 0) {
		size_t part = n - (size_t)done < PIPE ? n - (size_t)done : PIPE;
		off_t at = (off_t)out + done;

		got = vfs_read_cached(from, buf, part, (off_t)in + done);
		res = got > 0 ? vfs_write_file(to, buf, (size_t)got, &at) : got;
		if (res <= 0)
			break;
		done += res;
		if (res < got)
			break;
	}
	free(buf);
	return done ? done : res;
}

/* vfs_copy_file_range, of regular files. The kernel copies no byte behind the end that it knows. */
static ssize_t copy_files(
	struct vfs_file *from, uint64_t in, struct vfs_file *to, uint64_t out, size_t n)
{
	ssize_t res;

	if ((from->flags & O_ACCMODE) == O_WRONLY || (to->flags & O_ACCMODE) == O_RDONLY ||
		to->flags & O_APPEND)
		return -EBADF;
	if (in >= from->inode->size)
		n = 0;
	else if (n > from->inode->size - in)
		n = (size_t)(from->inode->size - in);
	if (from->inode == to->inode && in < out + n && out < in + n)
		return -EINVAL;
	if (!n)
		return 0;
	res = copy(from, in, to, out, n);
	if (res == -EOPNOTSUPP || res == -EXDEV)
		res = copy_by_pages(from, in, to, out, n);
	return res;
}

ssize_t sys_copy_file_range(struct process *p, int from, off_t in, int to, off_t out, size_t len)
{
	struct vfs_file *f[2] = {NULL, NULL};
	ssize_t res = -EBADF;

	proc_enter(p);
	f[0] = proc_file(p, from);
	f[1] = proc_file(p, to);
	if (in < 0 || out < 0)
		res = -EINVAL;
	else if (f[0] && f[1])
		res = f[0]->handle->dir || f[1]->handle->dir
			      ? -EISDIR
			      : copy_files(f[0], (uint64_t)in, f[1], (uint64_t)out, len);
	for (unsigned i = 0; i < 2; i++)
		if (f[i])
			vfs_funref(f[i]);
	sched_event("%d: copy_file_range %d %lld to %d %lld+%zu: %zd", (int)p->pid, from,
		(long long)in, to, (long long)out, len, res);
	return proc_leave(p, res);
}
