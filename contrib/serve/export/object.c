/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * object: functions that need only an object's descriptor.
 */
#include "contrib/serve/export/object.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define FD_FOLDER "/proc/self/fd"

bool obj_name_ok(const void *name, size_t len)
{
	const char *s = name;

	if (len == 0 || len > OBJ_NAME_MAX)
		return false;
	if (memchr(s, '/', len) || memchr(s, '\0', len))
		return false;
	return !(s[0] == '.' && (len == 1 || (len == 2 && s[1] == '.')));
}

const char *obj_fd_path(int fd, char *buf)
{
	snprintf(buf, OBJ_PATH_SIZE, FD_FOLDER "/%d", fd);
	return buf;
}

const char *obj_path(const struct obj *o, char *buf)
{
	return obj_fd_path(o->fd, buf);
}

/* A look-up of a number in this folder costs a third less than one of the whole path. */
static int fd_folder = -1; /* set once; again in the child of a fork */
static pthread_once_t fd_folder_once = PTHREAD_ONCE_INIT;

static void open_fd_folder(void)
{
	fd_folder = open(FD_FOLDER, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static void open_other_fd_folder(void)
{
	if (fd_folder >= 0)
		close(fd_folder);
	open_fd_folder();
}

static void make_fd_folder(void)
{
	open_fd_folder();
	pthread_atfork(NULL, NULL, open_other_fd_folder);
}

int obj_open_fd(int fd, int flags)
{
	char path[OBJ_PATH_SIZE];
	int r;

	pthread_once(&fd_folder_once, make_fd_folder);
	obj_fd_path(fd, path);
	r = fd_folder >= 0 ? openat(fd_folder, path + sizeof(FD_FOLDER), flags | O_CLOEXEC)
			   : open(path, flags | O_CLOEXEC);
	return r < 0 ? -errno : r;
}

int obj_stat_fd(int fd, struct statx *st)
{
	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_SYNC_AS_STAT, OBJ_STATX, st) != 0)
		return -errno;
	return 0;
}

int obj_stat(const struct obj *o, struct statx *st)
{
	return obj_stat_fd(o->fd, st);
}

int obj_open(const struct obj *o, int flags)
{
	/* a FIFO would block, and a device would act: neither is opened */
	if (!S_ISREG(o->type) && !S_ISDIR(o->type))
		return -EINVAL;
	return obj_open_fd(o->fd, flags | O_NOCTTY | O_NONBLOCK);
}

bool obj_allowed(const struct obj *o, int mode)
{
	char path[OBJ_PATH_SIZE];

	if (S_ISLNK(o->type))
		return mode == R_OK;
	if (faccessat(o->fd, "", mode, AT_EMPTY_PATH | AT_EACCESS) == 0)
		return true;
	if (errno != EINVAL && errno != ENOENT)
		return false;
	/* a kernel without AT_EMPTY_PATH here */
	return faccessat(AT_FDCWD, obj_path(o, path), mode, AT_EACCESS) == 0;
}
