/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deed_real: see deed_real.h.
 */
#include "tests/simulation/deed_real.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define MAPS  32
#define FILES 64

struct worker {
	pthread_t thread;
	unsigned number;
	struct deed *deed; /* NULL: none to play */
	long res;
	bool ends;
};

struct map {
	uint8_t *at;
	size_t len;
	bool shared;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct worker workers[DEED_PROCESSES];
static unsigned ready; /* threads that have begun */
static struct map maps[MAPS];
static const char *mount_point;
static char mount_number[24];
static int device;
static _Thread_local sigjmp_buf fault;

/* --- calls ------------------------------------------------------------------------------------ */

static long result(long res)
{
	return res < 0 ? -errno : res;
}

static long list(struct deed *d, const char *path)
{
	uint64_t aligned[512];
	int fd = open(path, O_RDONLY | O_DIRECTORY);
	long res, n = 0;

	if (fd < 0)
		return -errno;
	while ((res = syscall(SYS_getdents64, fd, aligned, sizeof(aligned))) > 0)
		for (long at = 0; at < res;) {
			const struct dirent64 *e = (const void *)((uint8_t *)aligned + at);

			fprintf(d->names, " %s %llu", e->d_name, (unsigned long long)e->d_ino);
			at += e->d_reclen;
			n++;
		}
	res = result(res);
	close(fd);
	return res ? res : n;
}

static long lock_file(struct deed *d)
{
	struct flock l = {.l_type = (short)d->map, .l_start = d->off, .l_len = (off_t)d->len};

	return result(fcntl(d->fd, d->flags, &l));
}

static long set_flags(struct deed *d)
{
	int flags = fcntl(d->fd, F_GETFL);

	return result(fcntl(d->fd, F_SETFL, (flags & ~(O_APPEND | O_DIRECT)) | d->flags));
}

/* --- mappings --------------------------------------------------------------------------------- */

static void on_fault(int sig)
{
	siglongjmp(fault, 1);
}

static long map(struct deed *d)
{
	int prot = PROT_READ | (d->writable ? PROT_WRITE : 0);
	struct map *m = maps;

	while (m->at)
		m++;
	m->at = mmap(NULL, d->len, prot, d->shared ? MAP_SHARED : MAP_PRIVATE, d->fd, d->off);
	if (m->at == MAP_FAILED) {
		m->at = NULL;
		return -errno;
	}
	m->len = d->len;
	m->shared = d->shared;
	return m - maps;
}

static long unmap(struct map *m)
{
	long res = result(munmap(m->at, m->len));

	m->at = NULL;
	return res;
}

/* Byte by byte: the pages are touched in their order. The model looks for a page of a shared
 * mapping at each use; so the pages of such a mapping are unmapped here before each. */
static void touch_bytes(const struct deed *d, const struct map *m)
{
	volatile uint8_t *volatile at = m->at + d->off;

	for (size_t i = 0; i < d->len; i++) {
		if (m->shared && (!i || !((uintptr_t)(at + i) % 4096)))
			madvise(m->at, m->len, MADV_DONTNEED);
		if (d->call == DEED_STORE)
			at[i] = d->bytes[i];
		else
			d->bytes[i] = at[i];
	}
}

static long touch(const struct deed *d, const struct map *m)
{
	if (sigsetjmp(fault, 1))
		return -EFAULT;
	touch_bytes(d, m);
	return 0;
}

static long play_map(struct deed *d)
{
	switch (d->call) {
	case DEED_MMAP:
		return map(d);
	case DEED_MUNMAP:
		return unmap(&maps[d->map]);
	case DEED_MSYNC:
		return result(msync(maps[d->map].at, maps[d->map].len, MS_SYNC));
	default:
		return touch(d, &maps[d->map]);
	}
}

/* --- a thread --------------------------------------------------------------------------------- */

/* Writes the pages of the thread's files, and may drop them. */
static long sync_files(bool drops)
{
	for (int fd = 3; fd < FILES; fd++) {
		sync_file_range(fd, 0, 0,
			SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
				SYNC_FILE_RANGE_WAIT_AFTER);
		if (drops)
			posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	}
	return 0;
}

static long play_file(struct deed *d)
{
	switch (d->call) {
	case DEED_CLOSE:
		return result(close(d->fd));
	case DEED_READ:
		return result(read(d->fd, d->bytes, d->len));
	case DEED_PREAD:
		return result(pread(d->fd, d->bytes, d->len, d->off));
	case DEED_PWRITE:
		return result(pwrite(d->fd, d->bytes, d->len, d->off));
	case DEED_SEEK:
		return result(lseek(d->fd, d->off, d->flags));
	case DEED_FSYNC:
		return result(fsync(d->fd));
	case DEED_FDATASYNC:
		return result(fdatasync(d->fd));
	case DEED_FTRUNCATE:
		return result(ftruncate(d->fd, d->off));
	case DEED_FALLOCATE:
		return result(fallocate(d->fd, d->flags, d->off, (off_t)d->len));
	case DEED_FSTAT:
		/* fstat(3) of glibc walks an empty path, and Linux before 6.6 walks again after
		 * ESTALE */
		return result(syscall(SYS_fstat, d->fd, &d->st));
	case DEED_FCHMOD:
		return result(fchmod(d->fd, (mode_t)d->flags));
	case DEED_DUP:
		return result(close(dup(d->fd)));
	case DEED_FLOCK:
		return result(flock(d->fd, d->flags));
	case DEED_LOCK:
		return lock_file(d);
	case DEED_SETFL:
		return set_flags(d);
	case DEED_CALLS:
		return sync_files(d->writable);
	default:
		return play_map(d);
	}
}

static long play_here(struct deed *d)
{
	const char *path = d->path, *other = d->other;

	switch (d->call) {
	case DEED_OPEN:
		return result(open(path, d->flags, (mode_t)d->len));
	case DEED_TRUNCATE:
		return result(truncate(path, d->off));
	case DEED_STAT:
		return result(stat(path, &d->st));
	case DEED_LSTAT:
		return result(lstat(path, &d->st));
	case DEED_ACCESS:
		return result(access(path, d->flags));
	case DEED_CHMOD:
		return result(chmod(path, (mode_t)d->flags));
	case DEED_CHOWN:
		return result(chown(path, (uid_t)d->flags, (gid_t)d->len));
	case DEED_TIMES:
		return result(utimensat(AT_FDCWD, path, d->times, 0));
	case DEED_GETXATTR:
		return result(getxattr(path, "user.some", d->bytes, d->len));
	case DEED_MKDIR:
		return result(mkdir(path, (mode_t)d->flags));
	case DEED_RMDIR:
		return result(rmdir(path));
	case DEED_UNLINK:
		return result(unlink(path));
	case DEED_RENAME:
		return result(renameat2(AT_FDCWD, path, AT_FDCWD, other, (unsigned)d->flags));
	case DEED_LINK:
		return result(link(path, other));
	case DEED_SYMLINK:
		return result(symlink(path, other));
	case DEED_READLINK:
		return result(readlink(path, (char *)d->bytes, 100));
	case DEED_LIST:
		return list(d, path);
	default:
		return play_file(d);
	}
}

/* glibc would change the user of all threads. */
static void become(uid_t id)
{
	if (syscall(SYS_setgroups, 0, NULL) || syscall(SYS_setresgid, id, id, id) ||
		syscall(SYS_setresuid, id, id, id))
		abort();
}

static void *work(void *ctx)
{
	struct worker *w = ctx;

	if (unshare(CLONE_FILES | CLONE_FS) || chdir(mount_point))
		abort();
	close(device);
	umask(022);
	if (w->number)
		become(1000);
	pthread_mutex_lock(&lock);
	ready++;
	pthread_cond_broadcast(&changed);
	for (;;) {
		while (!w->deed && !w->ends)
			pthread_cond_wait(&changed, &lock);
		if (!w->deed)
			break;
		pthread_mutex_unlock(&lock);
		w->res = play_here(w->deed);
		pthread_mutex_lock(&lock);
		w->deed = NULL;
		pthread_cond_broadcast(&changed);
	}
	pthread_mutex_unlock(&lock);
	return NULL;
}

static long play(struct deed *d)
{
	struct worker *w = &workers[d->process];

	pthread_mutex_lock(&lock);
	w->deed = d;
	pthread_cond_broadcast(&changed);
	while (w->deed)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return w->res;
}

/* --- the mount -------------------------------------------------------------------------------- */

static void play_on_files(bool drops)
{
	for (unsigned i = 0; i < DEED_PROCESSES; i++) {
		struct deed d = {.call = DEED_CALLS, .process = i, .writable = drops};

		play(&d);
	}
}

static void flush(void)
{
	play_on_files(false);
}

/* Pages of open files go, and by a remount all names that are not in use, and pages of the rest. */
static void shrink(void)
{
	for (struct map *m = maps; m < maps + MAPS; m++)
		if (m->at && m->shared)
			madvise(m->at, m->len, MADV_DONTNEED);
	play_on_files(true);
	if (mount(NULL, mount_point, NULL, MS_REMOUNT | MS_NOSUID | MS_NODEV, NULL))
		abort();
}

/* The number of the mount on directory, as sysfs writes it. */
static bool find_mount(const char *directory, char number[24])
{
	FILE *f = fopen("/proc/self/mountinfo", "r");
	char line[4096], at[4096];
	bool found = false;

	if (!f)
		abort();
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "%*d %*d %23s %*s %4095s", number, at) == 2 &&
			!strcmp(at, directory);
	fclose(f);
	return found;
}

/* Before 6.13 Linux begins to write the pages of a young mount back after a few stores. A share of
 * the memory that may be dirty keeps Linux from this (wb_calc_thresh). A machine without the file
 * keeps Linux's choice. */
static void allow_dirty(unsigned percent)
{
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/bdi/%s/min_ratio", mount_number);
	f = fopen(path, "w");
	if (!f)
		return;
	fprintf(f, "%u\n", percent);
	fclose(f);
}

int deed_real_mount(const char *directory, bool default_permissions)
{
	char options[200], real[PATH_MAX];
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd < 0 || !realpath(directory, real))
		return -errno;
	snprintf(options, sizeof(options),
		"fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other%s", fd,
		default_permissions ? ",default_permissions" : "");
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("loopback", directory, "fuse", MS_NOSUID | MS_NODEV, options))
		return -errno;
	if (find_mount(real, mount_number))
		allow_dirty(1);
	return fd;
}

const struct deeds *deed_real_start(const char *directory, int fd)
{
	static const struct deeds deeds = {.play = play, .shrink = shrink, .flush = flush};

	mount_point = directory;
	device = fd;
	signal(SIGBUS, on_fault);
	for (unsigned i = 0; i < DEED_PROCESSES; i++) {
		workers[i].number = i;
		pthread_create(&workers[i].thread, NULL, work, &workers[i]);
	}
	pthread_mutex_lock(&lock);
	while (ready < DEED_PROCESSES)
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
	return &deeds;
}

void deed_real_stop(const char *directory)
{
	pthread_mutex_lock(&lock);
	for (unsigned i = 0; i < DEED_PROCESSES; i++)
		workers[i].ends = true;
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (unsigned i = 0; i < DEED_PROCESSES; i++)
		pthread_join(workers[i].thread, NULL);
	allow_dirty(0); /* 6.1 does not give the share back by itself */
	umount2(directory, MNT_DETACH);
}
