/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * machine: facts about this machine that a mount depends on.
 */
#include "cli/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/fuse_fd.h"

/* libfuse looks in the first of the directories, then in PATH. */
static bool find_fusermount(char *path)
{
	const char *dirs = getenv("PATH");
	char *copy, *rest, *dir;
	bool found = false;

	snprintf(path, PATH_MAX, "/usr/bin/fusermount3");
	if (!access(path, F_OK))
		return true;
	copy = rest = strdup(dirs ? dirs : "/usr/bin:/bin");
	while (copy && !found && (dir = strsep(&rest, ":"))) {
		snprintf(path, PATH_MAX, "%s/fusermount3", dir);
		found = *dir && !access(path, F_OK);
	}
	free(copy);
	return found;
}

enum machine_fusermount machine_fusermount(char *path)
{
	struct statvfs on;
	struct stat st;

	if (!find_fusermount(path))
		return FUSERMOUNT_MISSING;
	if (stat(path, &st) || !(st.st_mode & S_ISUID) || st.st_uid || access(path, X_OK) ||
		(!statvfs(path, &on) && on.f_flag & ST_NOSUID))
		return FUSERMOUNT_POWERLESS;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
		return FUSERMOUNT_RESTRICTED;
	return FUSERMOUNT_WORKS;
}

const char *machine_fusermount_says(enum machine_fusermount is)
{
	switch (is) {
	case FUSERMOUNT_WORKS:
		break;
	case FUSERMOUNT_MISSING:
		return "fusermount3, which mounts for ordinary users, is not there: install the "
		       "package fuse3";
	case FUSERMOUNT_POWERLESS:
		return "fusermount3 is not set-user-ID root or lies on a file system mounted "
		       "nosuid, so it cannot mount for you: reinstall the package fuse3, or have "
		       "a privileged process mount and give rnfs /dev/fd/N";
	case FUSERMOUNT_RESTRICTED:
		return "this process has no_new_privs, so fusermount3 cannot mount for it: start "
		       "rnfs without no_new_privs, or have a privileged process mount and give "
		       "rnfs /dev/fd/N";
	}
	return NULL;
}

int machine_fuse_device(const char *root)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/dev/fuse", root);
	if (stat(path, &st))
		return errno;
	if (!S_ISCHR(st.st_mode) || st.st_rdev != makedev(FUSE_MAJOR, FUSE_MINOR))
		return ENODEV;
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

bool machine_fuse_conf(const char *root, const char *word)
{
	char path[PATH_MAX], line[256];
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "%s/etc/fuse.conf", root);
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!found && fgets(line, sizeof(line), f)) {
		size_t from = strspn(line, " \t"), len = strcspn(line + from, " \t\r\n#");

		found = len == strlen(word) && !strncmp(line + from, word, len);
	}
	fclose(f);
	return found;
}

bool machine_has_descriptors(unsigned n)
{
	int fd[64];
	unsigned got = 0;

	while (got < n && got < 64 && (fd[got] = fcntl(0, F_DUPFD_CLOEXEC, 0)) >= 0)
		got++;
	for (unsigned i = 0; i < got; i++)
		close(fd[i]);
	return got == n;
}

long long machine_number(const char *root, const char *file)
{
	char path[PATH_MAX];
	long long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s%s", root, file);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%lld", &n) != 1)
		n = -1;
	fclose(f);
	return n;
}
