/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * runtime_dir: the directory with the sockets of one user's daemons.
 */
#include "cli/runtime_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool runtime_dir_place(unsigned n, char path[RUNTIME_DIR_MAX])
{
	const char *xdg = getenv("XDG_RUNTIME_DIR");
	uid_t uid = geteuid();
	int len = -1;

	if (uid == 0)
		len = n == 0 ? snprintf(path, RUNTIME_DIR_MAX, "/run/rnfs") : -1;
	else if (n == 0 && xdg && xdg[0] == '/')
		len = snprintf(path, RUNTIME_DIR_MAX, "%s/rnfs", xdg);
	else if (n == 1)
		len = snprintf(path, RUNTIME_DIR_MAX, "/run/user/%u/rnfs", uid);
	else if (n == 2)
		len = snprintf(path, RUNTIME_DIR_MAX, "/tmp/rnfs-%u", uid);
	return len > 0 && len < RUNTIME_DIR_MAX;
}

bool runtime_dir_is_ours(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       !(st.st_mode & 077);
}

/* May the directory be made in its parent? A sticky parent is /tmp. */
static bool is_safe_above(const char *path)
{
	char above[RUNTIME_DIR_MAX];
	struct stat st;

	snprintf(above, sizeof(above), "%s", path);
	*strrchr(above, '/') = 0;
	return !stat(above, &st) && S_ISDIR(st.st_mode) &&
	       (st.st_uid == geteuid() || (st.st_uid == 0 && st.st_mode & S_ISVTX));
}

/* Makes the directory. 0, or an errno. */
static int make(const char *path)
{
	int fd, error = 0;

	if (!is_safe_above(path))
		return errno == ENOENT ? ENOENT : EPERM;
	if (mkdir(path, 0700) && errno != EEXIST)
		return errno;
	/* another program may have made it, with another mode */
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (!runtime_dir_is_ours(path) && fchmod(fd, 0700))
		error = errno;
	close(fd);
	return error ? error : runtime_dir_is_ours(path) ? 0 : EPERM;
}

int runtime_dir_make(char path[RUNTIME_DIR_MAX], struct err *e)
{
	char tried[RUNTIME_DIR_MAX] = "";
	int error = ENOENT;

	for (unsigned n = 0; n < RUNTIME_DIR_PLACES; n++) {
		if (!runtime_dir_place(n, path))
			continue;
		error = make(path);
		if (!error)
			return 0;
		snprintf(tried, sizeof(tried), "%s", path);
	}
	return err_set(e, ERR_INTERNAL, "%s cannot be made: %s", tried, strerror(error));
}
