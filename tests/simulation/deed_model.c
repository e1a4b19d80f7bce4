/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deed_model: see deed_model.h.
 */
#include "tests/simulation/deed_model.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static struct vfs *vfs;
static struct process *processes[DEED_PROCESSES];

static long list(struct process *p, struct deed *d)
{
	struct sys_dirent *all = NULL;
	int n = sys_readdir(p, d->path, &all);

	for (int i = 0; i < n; i++)
		fprintf(d->names, " %s %llu", all[i].name, (unsigned long long)all[i].ino);
	free(all);
	return n;
}

static long lock(struct process *p, struct deed *d)
{
	struct flock l = {.l_type = (short)d->map, .l_start = d->off, .l_len = (off_t)d->len};

	return sys_fcntl_lock(p, d->fd, d->flags, &l);
}

static long close_again(struct process *p, int fd)
{
	int other = sys_dup(p, fd);

	return other < 0 ? other : sys_close(p, other);
}

static long play_file(struct process *p, struct deed *d)
{
	switch (d->call) {
	case DEED_CLOSE:
		return sys_close(p, d->fd);
	case DEED_READ:
		return sys_read(p, d->fd, d->bytes, d->len);
	case DEED_PREAD:
		return sys_pread(p, d->fd, d->bytes, d->len, d->off);
	case DEED_PWRITE:
		return sys_pwrite(p, d->fd, d->bytes, d->len, d->off);
	case DEED_SEEK:
		return sys_lseek(p, d->fd, d->off, d->flags);
	case DEED_FSYNC:
		return sys_fsync(p, d->fd);
	case DEED_FDATASYNC:
		return sys_fdatasync(p, d->fd);
	case DEED_FTRUNCATE:
		return sys_ftruncate(p, d->fd, d->off);
	case DEED_FALLOCATE:
		return sys_fallocate(p, d->fd, d->flags, d->off, (off_t)d->len);
	case DEED_FSTAT:
		return sys_fstat(p, d->fd, &d->st);
	case DEED_FCHMOD:
		return sys_fchmod(p, d->fd, (mode_t)d->flags);
	case DEED_DUP:
		return close_again(p, d->fd);
	case DEED_FLOCK:
		return sys_flock(p, d->fd, d->flags);
	case DEED_LOCK:
		return lock(p, d);
	case DEED_SETFL:
		return sys_setfl(p, d->fd, d->flags);
	case DEED_MMAP:
		return sys_mmap(p, d->fd, d->off, d->len, d->shared, d->writable);
	case DEED_MUNMAP:
		return sys_munmap(p, d->map);
	case DEED_MSYNC:
		return sys_msync(p, d->map);
	case DEED_LOAD:
		return sys_load(p, d->map, (size_t)d->off, d->bytes, d->len);
	case DEED_STORE:
		return sys_store(p, d->map, (size_t)d->off, d->bytes, d->len);
	default:
		abort();
	}
}

static long play(struct deed *d)
{
	struct process *p = processes[d->process];

	switch (d->call) {
	case DEED_OPEN:
		return sys_open(p, d->path, d->flags, (mode_t)d->len);
	case DEED_TRUNCATE:
		return sys_truncate(p, d->path, d->off);
	case DEED_STAT:
		return sys_stat(p, d->path, &d->st);
	case DEED_LSTAT:
		return sys_lstat(p, d->path, &d->st);
	case DEED_ACCESS:
		return sys_access(p, d->path, d->flags);
	case DEED_CHMOD:
		return sys_chmod(p, d->path, (mode_t)d->flags);
	case DEED_CHOWN:
		return sys_chown(p, d->path, (uid_t)d->flags, (gid_t)d->len);
	case DEED_TIMES:
		return sys_utimens(p, d->path, d->times);
	case DEED_GETXATTR:
		return sys_getxattr(p, d->path, "user.some", d->bytes, d->len);
	case DEED_MKDIR:
		return sys_mkdir(p, d->path, (mode_t)d->flags);
	case DEED_RMDIR:
		return sys_rmdir(p, d->path);
	case DEED_UNLINK:
		return sys_unlink(p, d->path);
	case DEED_RENAME:
		return sys_rename(p, d->path, d->other, (unsigned)d->flags);
	case DEED_LINK:
		return sys_link(p, d->path, d->other);
	case DEED_SYMLINK:
		return sys_symlink(p, d->path, d->other);
	case DEED_READLINK:
		return sys_readlink(p, d->path, (char *)d->bytes, 100);
	case DEED_LIST:
		return list(p, d);
	default:
		return play_file(p, d);
	}
}

static void shrink(void)
{
	vfs_shrink(vfs, 1);
}

static void flush(void)
{
	vfs_flush(vfs);
}

const struct deeds *deed_model_start(struct vfs *v)
{
	static const struct deeds deeds = {.play = play, .shrink = shrink, .flush = flush};

	vfs = v;
	for (unsigned i = 0; i < DEED_PROCESSES; i++)
		processes[i] = proc_new(v, i ? 1000 : 0, i ? 1000 : 0);
	return &deeds;
}

void deed_model_stop(void)
{
	for (unsigned i = 0; i < DEED_PROCESSES; i++)
		proc_exit(processes[i]);
}
