/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * attrs: the calls of libc on attributes and handles of the simulated disk. Only utimensat(2)
 * changes times of access, as on a file system mounted with noatime.
 */
#undef _FILE_OFFSET_BITS
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "tests/simulation/acls.h"
#include "tests/simulation/disk.h"
#include "tests/simulation/journal.h"
#include "tests/simulation/names.h"
#include "tests/simulation/sched.h"

#define REAL(fn)      ((__typeof__(&(fn)))dlsym(RTLD_NEXT, #fn))
#define DEVICE_MAJOR  254
#define DEVICE_MINOR  7
#define MOUNT_ID      41
#define HANDLE_LENGTH 8
#define HANDLE_TYPE   1 /* FILEID_INO32_GEN */
#define INODES	      65536

static int ends(ssize_t res)
{
	if (res >= 0)
		return (int)res;
	errno = (int)-res;
	return -1;
}

/* The inode that the path leads to. flags as for fstatat(2). */
static int find(int dirfd, const char *path, int flags, struct inode **i)
{
	struct place p;
	int r;

	sched_point();
	r = paths_find(dirfd, path,
		(flags & AT_SYMLINK_NOFOLLOW ? 0 : PATHS_FOLLOW) |
			(flags & AT_EMPTY_PATH ? PATHS_EMPTY : 0),
		&p);
	if (r == 0 && !p.at)
		r = -ENOENT;
	*i = p.at;
	return r;
}

/* The inode of an open file, not of one opened with O_PATH. */
static int find_open(int fd, struct inode **i)
{
	const struct file *f = paths_file(fd);

	sched_point();
	if (!f || f->flags & O_PATH)
		return -EBADF;
	*i = f->inode;
	return 0;
}

/* --- stat ------------------------------------------------------------------------------------- */

static uint64_t sectors(const struct inode *i)
{
	return S_ISDIR(i->a.mode) ? 8 : inode_blocks(i) * (INODE_BLOCK / 512);
}

static off_t size_of(const struct inode *i)
{
	return S_ISDIR(i->a.mode) ? INODE_BLOCK : i->a.size;
}

static void fill(const struct inode *i, struct stat *st)
{
	*st = (struct stat){
		.st_dev = makedev(DEVICE_MAJOR, DEVICE_MINOR),
		.st_ino = i->ino,
		.st_nlink = i->a.nlink,
		.st_mode = i->a.mode,
		.st_uid = i->a.uid,
		.st_gid = i->a.gid,
		.st_rdev = i->rdev,
		.st_size = size_of(i),
		.st_blksize = INODE_BLOCK,
		.st_blocks = (blkcnt_t)sectors(i),
		.st_atim = i->a.atime,
		.st_mtim = i->a.mtime,
		.st_ctim = i->a.ctime,
	};
}

int fstatat(int dirfd, const char *path, struct stat *st, int flags)
{
	struct inode *i;
	int r;

	if (!paths_ours(dirfd, path))
		return REAL(fstatat)(dirfd, path, st, flags);
	r = find(dirfd, path, flags, &i);
	if (r == 0)
		fill(i, st);
	return ends(r);
}

int fstat(int fd, struct stat *st)
{
	if (!descriptor_is_ours(fd))
		return REAL(fstat)(fd, st);
	sched_point();
	if (!descriptor_get(fd))
		return ends(-EBADF);
	*st = (struct stat){.st_mode = S_IFSOCK | 0777, .st_nlink = 1};
	if (paths_file(fd))
		fill(paths_file(fd)->inode, st);
	return 0;
}

int stat(const char *path, struct stat *st)
{
	return paths_ours(AT_FDCWD, path) ? fstatat(AT_FDCWD, path, st, 0) : REAL(stat)(path, st);
}

int lstat(const char *path, struct stat *st)
{
	return paths_ours(AT_FDCWD, path) ? fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW)
					  : REAL(lstat)(path, st);
}

/* struct stat64 is the same. */
int fstatat64(int dirfd, const char *path, struct stat64 *st, int flags)
{
	return fstatat(dirfd, path, (struct stat *)st, flags);
}

int fstat64(int fd, struct stat64 *st)
{
	return fstat(fd, (struct stat *)st);
}

int stat64(const char *path, struct stat64 *st)
{
	return stat(path, (struct stat *)st);
}

int lstat64(const char *path, struct stat64 *st)
{
	return lstat(path, (struct stat *)st);
}

static struct statx_timestamp stamp(const struct timespec *t)
{
	return (struct statx_timestamp){.tv_sec = t->tv_sec, .tv_nsec = (uint32_t)t->tv_nsec};
}

int statx(int dirfd, const char *restrict path, int flags, unsigned mask, struct statx *restrict st)
{
	struct inode *i;
	int r;

	if (!paths_ours(dirfd, path))
		return REAL(statx)(dirfd, path, flags, mask, st);
	r = find(dirfd, path, flags, &i);
	if (r < 0)
		return ends(r);
	*st = (struct statx){
		.stx_mask = STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID,
		.stx_blksize = INODE_BLOCK,
		.stx_nlink = i->a.nlink,
		.stx_uid = i->a.uid,
		.stx_gid = i->a.gid,
		.stx_mode = (uint16_t)i->a.mode,
		.stx_ino = i->ino,
		.stx_size = (uint64_t)size_of(i),
		.stx_blocks = sectors(i),
		.stx_atime = stamp(&i->a.atime),
		.stx_mtime = stamp(&i->a.mtime),
		.stx_ctime = stamp(&i->a.ctime),
		.stx_btime = stamp(&i->btime),
		.stx_rdev_major = major(i->rdev),
		.stx_rdev_minor = minor(i->rdev),
		.stx_dev_major = DEVICE_MAJOR,
		.stx_dev_minor = DEVICE_MINOR,
		.stx_mnt_id = MOUNT_ID,
	};
	return 0;
}

int faccessat(int dirfd, const char *path, int mode, int flags)
{
	struct inode *i;
	int r;

	if (!paths_ours(dirfd, path))
		return REAL(faccessat)(dirfd, path, mode, flags);
	r = find(dirfd, path, flags, &i);
	if (r == 0 && !caller_may(i, mode))
		r = -EACCES;
	return ends(r);
}

int access(const char *path, int mode)
{
	return paths_ours(AT_FDCWD, path) ? faccessat(AT_FDCWD, path, mode, 0)
					  : REAL(access)(path, mode);
}

/* --- changes ---------------------------------------------------------------------------------- */

static int set_mode(struct inode *i, mode_t mode)
{
	if (S_ISLNK(i->a.mode))
		return -EOPNOTSUPP;
	if (!caller_owns(i))
		return -EPERM;
	mode &= 07777;
	if (!caller_is_root() && !caller_in_group(i->a.gid))
		mode &= ~(mode_t)S_ISGID;
	journal_begin();
	journal_attrs(i);
	i->a.mode = (i->a.mode & S_IFMT) | mode;
	i->a.ctime = disk_now();
	acls_chmod(i);
	return 0;
}

int fchmodat(int dirfd, const char *path, mode_t mode, int flags)
{
	struct inode *i;
	int r;

	if (!paths_ours(dirfd, path))
		return REAL(fchmodat)(dirfd, path, mode, flags);
	r = find(dirfd, path, flags, &i);
	return ends(r < 0 ? r : set_mode(i, mode));
}

int chmod(const char *path, mode_t mode)
{
	return paths_ours(AT_FDCWD, path) ? fchmodat(AT_FDCWD, path, mode, 0)
					  : REAL(chmod)(path, mode);
}

int fchmod(int fd, mode_t mode)
{
	struct inode *i;
	int r;

	if (!descriptor_is_ours(fd))
		return REAL(fchmod)(fd, mode);
	r = find_open(fd, &i);
	return ends(r < 0 ? r : set_mode(i, mode));
}

static int set_owner(struct inode *i, uid_t uid, gid_t gid)
{
	bool new_uid = uid != (uid_t)-1 && uid != i->a.uid;
	bool new_gid = gid != (gid_t)-1 && gid != i->a.gid;

	/* bits that a change of the owner clears need the owner's right, even without a change */
	mode_t bits = caller_takes(i);

	if (!caller_is_root() && (uid != (uid_t)-1 || gid != (gid_t)-1 || bits) &&
		(caller_uid() != i->a.uid || new_uid || (new_gid && !caller_in_group(gid))))
		return -EPERM;
	journal_begin();
	journal_attrs(i);
	if (uid != (uid_t)-1)
		i->a.uid = uid;
	if (gid != (gid_t)-1)
		i->a.gid = gid;
	i->a.mode &= ~bits;
	i->a.ctime = disk_now();
	return 0;
}

int fchownat(int dirfd, const char *path, uid_t uid, gid_t gid, int flags)
{
	struct inode *i;
	int r;

	if (!paths_ours(dirfd, path))
		return REAL(fchownat)(dirfd, path, uid, gid, flags);
	r = find(dirfd, path, flags, &i);
	return ends(r < 0 ? r : set_owner(i, uid, gid));
}

int chown(const char *path, uid_t uid, gid_t gid)
{
	return paths_ours(AT_FDCWD, path) ? fchownat(AT_FDCWD, path, uid, gid, 0)
					  : REAL(chown)(path, uid, gid);
}

int lchown(const char *path, uid_t uid, gid_t gid)
{
	return paths_ours(AT_FDCWD, path) ? fchownat(AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW)
					  : REAL(lchown)(path, uid, gid);
}

int fchown(int fd, uid_t uid, gid_t gid)
{
	struct inode *i;
	int r;

	if (!descriptor_is_ours(fd))
		return REAL(fchown)(fd, uid, gid);
	r = find_open(fd, &i);
	return ends(r < 0 ? r : set_owner(i, uid, gid));
}

static bool is_time(const struct timespec *t)
{
	return t->tv_nsec == UTIME_NOW || t->tv_nsec == UTIME_OMIT ||
	       (t->tv_nsec >= 0 && t->tv_nsec < 1000000000);
}

static void set_time(struct timespec *t, const struct timespec *to, struct timespec now)
{
	if (!to || to->tv_nsec == UTIME_NOW)
		*t = now;
	else if (to->tv_nsec != UTIME_OMIT)
		*t = *to;
}

static int set_times(struct inode *i, const struct timespec *ts)
{
	bool both_now = !ts || (ts[0].tv_nsec == UTIME_NOW && ts[1].tv_nsec == UTIME_NOW);

	if (ts && (!is_time(&ts[0]) || !is_time(&ts[1])))
		return -EINVAL;
	if (ts && ts[0].tv_nsec == UTIME_OMIT && ts[1].tv_nsec == UTIME_OMIT)
		return 0;
	if (!caller_owns(i) && !(both_now && caller_may(i, W_OK)))
		return both_now ? -EACCES : -EPERM;
	journal_begin();
	journal_attrs(i);
	i->a.ctime = disk_now();
	set_time(&i->a.atime, ts ? &ts[0] : NULL, i->a.ctime);
	set_time(&i->a.mtime, ts ? &ts[1] : NULL, i->a.ctime);
	return 0;
}

/* By a path of ours, or of the open file itself. */
static int set_times_of(int dirfd, const char *path, const struct timespec *ts, int flags)
{
	struct inode *i;
	int r = path ? find(dirfd, path, flags, &i) : find_open(dirfd, &i);

	return ends(r < 0 ? r : set_times(i, ts));
}

int utimensat(int dirfd, const char *path, const struct timespec ts[2], int flags)
{
	return paths_ours(dirfd, path) ? set_times_of(dirfd, path, ts, flags)
				       : REAL(utimensat)(dirfd, path, ts, flags);
}

int futimens(int fd, const struct timespec ts[2])
{
	return descriptor_is_ours(fd) ? set_times_of(fd, NULL, ts, 0) : REAL(futimens)(fd, ts);
}

/* --- handles ---------------------------------------------------------------------------------- */

int name_to_handle_at(int dirfd, const char *path, struct file_handle *h, int *mount, int flags)
{
	struct inode *i;
	uint32_t id[2];
	int r;

	if (!paths_ours(dirfd, path))
		return REAL(name_to_handle_at)(dirfd, path, h, mount, flags);
	r = find(dirfd, path,
		(flags & AT_SYMLINK_FOLLOW ? 0 : AT_SYMLINK_NOFOLLOW) | (flags & AT_EMPTY_PATH),
		&i);
	if (r == 0 && h->handle_bytes < HANDLE_LENGTH)
		r = -EOVERFLOW;
	*mount = MOUNT_ID;
	h->handle_bytes = HANDLE_LENGTH;
	if (r < 0)
		return ends(r);
	id[0] = (uint32_t)i->ino;
	id[1] = i->generation;
	h->handle_type = HANDLE_TYPE;
	memcpy(h->f_handle, id, sizeof(id));
	return 0;
}

static int open_handle(const struct file_handle *h, int flags)
{
	char path[64];
	struct inode *i;
	uint32_t id[2];
	int fd, r;

	if (!caller_is_root())
		return -EPERM;
	if (h->handle_bytes != HANDLE_LENGTH || h->handle_type != HANDLE_TYPE)
		return -ESTALE;
	memcpy(id, h->f_handle, sizeof(id));
	i = inode_get(id[0]);
	if (!i || i->generation != id[1] || (i->a.nlink == 0 && i->opens == 0))
		return -ESTALE;
	fd = files_descriptor(i, O_PATH);
	if (fd < 0 || flags & O_PATH)
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = files_open(AT_FDCWD, path, flags & ~O_NOFOLLOW, 0);
	close(fd);
	return r;
}

int open_by_handle_at(int at, struct file_handle *h, int flags)
{
	if (!descriptor_is_ours(at))
		return REAL(open_by_handle_at)(at, h, flags);
	sched_point();
	return ends(!paths_file(at) ? -EBADF : open_handle(h, flags));
}

/* --- the file system -------------------------------------------------------------------------- */

static int fill_fs(int r, struct statfs *fs)
{
	unsigned unnamed, used = disk_inodes(&unnamed);

	if (r < 0)
		return ends(r);
	*fs = (struct statfs){
		.f_type = EXT4_SUPER_MAGIC,
		.f_bsize = INODE_BLOCK,
		.f_frsize = INODE_BLOCK,
		.f_blocks = DISK_BLOCKS,
		.f_bfree = inode_free,
		.f_bavail = inode_free,
		.f_files = INODES,
		.f_ffree = INODES - used,
		.f_namelen = 255,
	};
	return 0;
}

int fstatfs(int fd, struct statfs *fs)
{
	if (!descriptor_is_ours(fd))
		return REAL(fstatfs)(fd, fs);
	sched_point();
	return fill_fs(paths_file(fd) ? 0 : -EBADF, fs);
}

int statfs(const char *path, struct statfs *fs)
{
	struct inode *i;

	if (!paths_ours(AT_FDCWD, path))
		return REAL(statfs)(path, fs);
	return fill_fs(find(AT_FDCWD, path, 0, &i), fs);
}

/* These structures of 64 bits are the same, too. */
int fstatfs64(int fd, struct statfs64 *fs)
{
	return fstatfs(fd, (struct statfs *)fs);
}

int statfs64(const char *path, struct statfs64 *fs)
{
	return statfs(path, (struct statfs *)fs);
}

static int from_fs(int r, const struct statfs *fs, struct statvfs *v)
{
	if (r == 0)
		*v = (struct statvfs){
			.f_bsize = (unsigned long)fs->f_bsize,
			.f_frsize = (unsigned long)fs->f_frsize,
			.f_blocks = fs->f_blocks,
			.f_bfree = fs->f_bfree,
			.f_bavail = fs->f_bavail,
			.f_files = fs->f_files,
			.f_ffree = fs->f_ffree,
			.f_favail = fs->f_ffree,
			.f_namemax = (unsigned long)fs->f_namelen,
		};
	return r;
}

int statvfs(const char *path, struct statvfs *v)
{
	struct statfs fs;

	return paths_ours(AT_FDCWD, path) ? from_fs(statfs(path, &fs), &fs, v)
					  : REAL(statvfs)(path, v);
}

int fstatvfs(int fd, struct statvfs *v)
{
	struct statfs fs;

	return descriptor_is_ours(fd) ? from_fs(fstatfs(fd, &fs), &fs, v) : REAL(fstatvfs)(fd, v);
}

int statvfs64(const char *path, struct statvfs64 *v)
{
	return statvfs(path, (struct statvfs *)v);
}

int fstatvfs64(int fd, struct statvfs64 *v)
{
	return fstatvfs(fd, (struct statvfs *)v);
}
