/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * state_dir: the directory for data that outlives a process.
 */
#include "transport/state_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool state_dir(char *path, size_t size)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	int n;

	if (geteuid() == 0)
		n = snprintf(path, size, "/var/lib/rnfs");
	else if (state && state[0] == '/')
		n = snprintf(path, size, "%s/rnfs", state);
	else if (home && home[0] == '/')
		n = snprintf(path, size, "%s/.local/state/rnfs", home);
	else
		return false;
	return n > 0 && (size_t)n < size;
}

void state_dir_make(const char *path)
{
	char part[PATH_MAX];

	if (strlen(path) >= sizeof(part))
		return;
	strcpy(part, path);
	for (char *slash = part; slash;) {
		slash = strchr(slash + 1, '/');
		if (slash)
			*slash = '\0';
		if (mkdir(part, 0700) == 0)
			state_sync_name(part);
		if (slash)
			*slash = '/';
	}
}

void state_dir_of(const char *path, char *dir)
{
	const char *slash = strrchr(path, '/');
	int n = slash ? (int)(slash - path) : 0;

	if (slash)
		snprintf(dir, PATH_MAX, "%.*s", n ? n : 1, path);
	else
		snprintf(dir, PATH_MAX, ".");
}

bool state_dir_is_in(const char *path, const char *dir)
{
	char parent[PATH_MAX], real[PATH_MAX];
	size_t n = strlen(dir);

	state_dir_of(path, parent);
	return realpath(parent, real) && !strncmp(real, dir, n) && (!real[n] || real[n] == '/');
}

int state_sync_name(const char *path)
{
	char dir[PATH_MAX];
	int fd, r;

	state_dir_of(path, dir);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	r = fsync(fd) == 0 || errno == EINVAL ? 0 : -errno; /* some file systems cannot */
	close(fd);
	return r;
}
