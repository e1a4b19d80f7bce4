/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * sys_data: system calls on open files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/simulation/sched.h"
#include "tests/simulation/vfs_impl.h"

/* --- descriptors ------------------------------------------------------------------------------ */

static int place(struct process *p, struct vfs_file *f)
{
	for (int fd = 0; fd < VFS_FILES; fd++)
		if (!p->file[fd]) {
			p->file[fd] = f;
			return fd;
		}
	return -EMFILE;
}

int sys_open(struct process *p, const char *path, int flags, mode_t mode)
{
	struct vfs_file *f = NULL;
	int res;

	proc_enter(p);
	res = vfs_open(p, path, flags, mode, &f);
	if (!res) {
		res = place(p, f);
		if (res < 0)
			vfs_funref(f);
	}
	sched_event("%d: open %s %o: %d", (int)p->pid, path, (unsigned)flags, res);
	return (int)proc_leave(p, res);
}

int sys_creat(struct process *p, const char *path, mode_t mode)
{
	return sys_open(p, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

/* The descriptor is free again at once; then come FLUSH, and RELEASE if no other is left. */
int sys_close(struct process *p, int fd)
{
	struct vfs_file *f;
	int res;

	proc_enter(p);
	f = proc_file(p, fd);
	if (!f)
		return (int)proc_leave(p, -EBADF);
	p->file[fd] = NULL;
	vfs_funref(f);
	res = vfs_flush_file(f, p);
	vfs_funref(f);
	sched_event("%d: close %d: %d", (int)p->pid, fd, res);
	return (int)proc_leave(p, res);
}

int sys_dup(struct process *p, int fd)
{
	struct vfs_file *f;
	int res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		res = place(p, f);
		if (res < 0)
			vfs_funref(f);
	}
	return (int)proc_leave(p, res);
}

int sys_setfl(struct process *p, int fd, int flags)
{
	struct vfs_file *f = proc_file(p, fd);

	if (!f)
		return -EBADF;
	if (f->handle->dir && flags & O_DIRECT) {
		vfs_funref(f);
		return -EINVAL;
	}
	f->flags = (f->flags & ~(O_APPEND | O_DIRECT)) | (flags & (O_APPEND | O_DIRECT));
	vfs_funref(f);
	return 0;
}

int sys_getfl(struct process *p, int fd)
{
	struct vfs_file *f = proc_file(p, fd);
	int flags = f ? f->flags : -EBADF;

	if (f)
		vfs_funref(f);
	return flags;
}

/* --- bytes ------------------------------------------------------------------------------------ */

static ssize_t read_file(struct vfs_file *f, void *buf, size_t len, off_t off)
{
	if ((f->flags & O_ACCMODE) == O_WRONLY)
		return -EBADF;
	if (f->handle->dir)
		return -EISDIR;
	if (off < 0)
		return -EINVAL;
	if (f->inode->bad)
		return -EIO;
	if (f->handle->open_flags & FOPEN_DIRECT_IO) {
		/* from 6.7 on pages that mappings have changed are sent first */
		if (len && f->v->p.version >= 607)
			vfs_write_back(f->inode, (uint64_t)off / VFS_PAGE,
				((uint64_t)off + len - 1) / VFS_PAGE);
		if (len)
			vfs_wait_back(f->inode, (uint64_t)off / VFS_PAGE,
				((uint64_t)off + len - 1) / VFS_PAGE);
		return vfs_read_direct(f, buf, len, off, false);
	}
	return vfs_read_cached(f, buf, len, off);
}

static ssize_t write_file(struct vfs_file *f, const void *buf, size_t len, off_t *off)
{
	if ((f->flags & O_ACCMODE) == O_RDONLY || f->handle->dir)
		return -EBADF;
	if (*off < 0)
		return -EINVAL;
	return vfs_write_file(f, buf, len, off);
}

ssize_t sys_pread(struct process *p, int fd, void *buf, size_t len, off_t off)
{
	struct vfs_file *f;
	ssize_t res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		res = read_file(f, buf, len, off);
		vfs_funref(f);
	}
	sched_event("%d: pread %d %lld+%zu: %zd", (int)p->pid, fd, (long long)off, len, res);
	return proc_leave(p, res);
}

ssize_t sys_pwrite(struct process *p, int fd, const void *buf, size_t len, off_t off)
{
	struct vfs_file *f;
	ssize_t res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		res = write_file(f, buf, len, &off);
		vfs_funref(f);
	}
	sched_event("%d: pwrite %d +%zu: %zd, to %lld", (int)p->pid, fd, len, res, (long long)off);
	return proc_leave(p, res);
}

ssize_t sys_read(struct process *p, int fd, void *buf, size_t len)
{
	struct vfs_file *f;
	ssize_t res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		vfs_lock(&f->pos_lock);
		res = read_file(f, buf, len, f->pos);
		if (res > 0)
			f->pos += res;
		vfs_unlock(&f->pos_lock);
		vfs_funref(f);
	}
	sched_event("%d: read %d %zu: %zd", (int)p->pid, fd, len, res);
	return proc_leave(p, res);
}

ssize_t sys_write(struct process *p, int fd, const void *buf, size_t len)
{
	struct vfs_file *f;
	ssize_t res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		vfs_lock(&f->pos_lock);
		res = write_file(f, buf, len, &f->pos);
		vfs_unlock(&f->pos_lock);
		vfs_funref(f);
	}
	sched_event("%d: write %d %zu: %zd", (int)p->pid, fd, len, res);
	return proc_leave(p, res);
}

/* --- lseek(2) --------------------------------------------------------------------------------- */

static off_t seek_data(struct vfs_file *f, off_t off, int whence)
{
	struct fuse_lseek_in in = {
		.fh = f->handle->fh, .offset = (uint64_t)off, .whence = (uint32_t)whence};
	struct fuse_lseek_out out;
	struct vfs_call c = {
		.opcode = FUSE_LSEEK, .node = f->inode->node, .out = &out, .room = sizeof(out)};
	ssize_t res = -ENOSYS;
	int error;

	if (!f->v->no_lseek) {
		vfs_add_in(&c, &in, sizeof(in));
		res = vfs_ask(f->v, &c);
	}
	if (res >= 0)
		return (off_t)out.offset;
	if (res != -ENOSYS)
		return res;
	f->v->no_lseek = true;
	error = vfs_getattr(f->inode, f, VFS_SIZE, NULL);
	if (error)
		return error;
	if ((uint64_t)off >= f->inode->size)
		return -ENXIO;
	return whence == SEEK_DATA ? off : (off_t)f->inode->size;
}

static off_t seek_locked(struct vfs_file *f, off_t off, int whence)
{
	off_t size = (off_t)f->inode->size;
	int error;

	if (f->handle->dir && (whence == SEEK_DATA || whence == SEEK_HOLE))
		return off < 0 || off >= size ? -ENXIO : whence == SEEK_DATA ? off : size;
	if (f->handle->dir)
		return size + off; /* generic_file_llseek */
	if (whence == SEEK_DATA || whence == SEEK_HOLE)
		return off < 0 ? -ENXIO : seek_data(f, off, whence);
	error = vfs_getattr(f->inode, f, VFS_SIZE, NULL);
	return error ? error : (off_t)f->inode->size + off;
}

static off_t seek(struct vfs_file *f, off_t off, int whence)
{
	off_t to = off;

	if (whence == SEEK_CUR) {
		to += f->pos;
	} else if (whence != SEEK_SET) {
		vfs_lock(&f->inode->lock);
		to = seek_locked(f, off, whence);
		vfs_unlock(&f->inode->lock);
		if (to < 0)
			return to;
	}
	if (to < 0)
		return -EINVAL;
	f->pos = to;
	return to;
}

off_t sys_lseek(struct process *p, int fd, off_t off, int whence)
{
	struct vfs_file *f;
	off_t res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		vfs_lock(&f->pos_lock);
		res = seek(f, off, whence);
		vfs_unlock(&f->pos_lock);
		vfs_funref(f);
	}
	return proc_leave(p, res);
}

/* --- keeping, cutting ------------------------------------------------------------------------- */

static int sync_file(struct process *p, int fd, bool data)
{
	struct vfs_file *f;
	int res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f) {
		res = vfs_fsync(f, data);
		vfs_funref(f);
	}
	sched_event("%d: fsync %d: %d", (int)p->pid, fd, res);
	return (int)proc_leave(p, res);
}

int sys_fsync(struct process *p, int fd)
{
	return sync_file(p, fd, false);
}

int sys_fdatasync(struct process *p, int fd)
{
	return sync_file(p, fd, true);
}

int sys_ftruncate(struct process *p, int fd, off_t size)
{
	struct fuse_setattr_in in = {.valid = FATTR_SIZE, .size = (uint64_t)size};
	struct vfs_file *f;
	int res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f && ((f->flags & O_ACCMODE) == O_RDONLY || f->handle->dir || size < 0)) {
		res = -EINVAL;
	} else if (f) {
		vfs_ask_rights(f->inode);
		vfs_lock(&f->inode->lock);
		res = vfs_setattr(f->inode, &in, f, false);
		vfs_unlock(&f->inode->lock);
	}
	if (f)
		vfs_funref(f);
	sched_event("%d: ftruncate %d %lld: %d", (int)p->pid, fd, (long long)size, res);
	return (int)proc_leave(p, res);
}

static int ask_fallocate(struct vfs_file *f, int mode, off_t off, off_t len)
{
	struct fuse_fallocate_in in = {.fh = f->handle->fh,
		.offset = (uint64_t)off,
		.length = (uint64_t)len,
		.mode = (uint32_t)mode};
	struct vfs_call c = {.opcode = FUSE_FALLOCATE, .node = f->inode->node};
	ssize_t res;

	vfs_add_in(&c, &in, sizeof(in));
	res = vfs_ask(f->v, &c);
	if (res != -ENOSYS)
		return res < 0 ? (int)res : 0;
	f->v->no_fallocate = true;
	return -EOPNOTSUPP;
}

static int fallocate_locked(struct vfs_file *f, int mode, off_t off, off_t len)
{
	struct vfs_inode *i = f->inode;
	bool keeps = mode & FALLOC_FL_KEEP_SIZE;
	bool zeroes = mode & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE);
	uint64_t end = (uint64_t)(off + len);
	int error;

	if (zeroes) {
		vfs_write_back(i, (uint64_t)off / VFS_PAGE, UINT64_MAX); /* fuse_writeback_range */
		vfs_wait_back(i, 0, UINT64_MAX);
	}
	error = vfs_drop_rights(i);
	if (error)
		return error;
	i->size_unstable = !keeps;
	error = ask_fallocate(f, mode, off, len);
	if (!error && !keeps)
		vfs_write_update(i, end, len);
	if (!error && zeroes)
		vfs_ppunch(i, (uint64_t)off, end);
	if (!error)
		vfs_doubt(i, VFS_MODSIZE);
	i->size_unstable = false;
	return error;
}

int sys_fallocate(struct process *p, int fd, int mode, off_t off, off_t len)
{
	int known = FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE;
	struct vfs_file *f;
	int res = -EBADF;

	proc_enter(p);
	f = proc_file(p, fd);
	if (f && ((f->flags & O_ACCMODE) == O_RDONLY || f->handle->dir)) {
		res = -EBADF;
	} else if (off < 0 || len <= 0) {
		res = -EINVAL;
	} else if (f && (mode & ~known || f->v->no_fallocate)) {
		res = -EOPNOTSUPP;
	} else if (f) {
		vfs_lock(&f->inode->lock);
		res = fallocate_locked(f, mode, off, len);
		vfs_unlock(&f->inode->lock);
	}
	if (f)
		vfs_funref(f);
	sched_event("%d: fallocate %d %x %lld+%lld: %d", (int)p->pid, fd, (unsigned)mode,
		(long long)off, (long long)len, res);
	return (int)proc_leave(p, res);
}
