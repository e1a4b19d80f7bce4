/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-groups: a folder with a /proc and a /sys/fs/cgroup inside, for tests of cache/pressure and
 * of
 * the modules above cache/pressure.
 */
#ifndef RNFS_TESTS_FAKE_GROUPS_H
#define RNFS_TESTS_FAKE_GROUPS_H

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char fake_root[64];

static void fake_path(char path[PATH_MAX], const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", fake_root, name);
}

/* Makes the file, and the folders above the file. */
static void fake_file(const char *name, const char *text)
{
	char path[PATH_MAX];
	FILE *f;

	fake_path(path, name);
	for (char *s = path + strlen(fake_root) + 1; (s = strchr(s, '/')); s++) {
		*s = 0;
		mkdir(path, 0755);
		*s = '/';
	}
	f = fopen(path, "w");
	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static void fake_groups_begin(void)
{
	strcpy(fake_root, "/tmp/rnfs-groups.XXXXXX");
	if (!mkdtemp(fake_root))
		abort();
}

static void fake_groups_end(void)
{
	char command[100];

	snprintf(command, sizeof(command), "rm -r %s", fake_root);
	if (system(command))
		abort();
}

#endif
