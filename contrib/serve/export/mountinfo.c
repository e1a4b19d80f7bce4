/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mountinfo: finds where a file system is mounted below the root.
 */
#include "contrib/serve/export/mountinfo.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contrib/serve/export/submount.h"

/* Spaces and other special characters are octal in the list. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] && s[3]) {
			*to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* Goes down to path, relative to the root, and notes the directory there if it is on dev. */
static void go_to(struct obj_table *t, char *path, uint64_t dev)
{
	struct obj *o = obj_root(t), *next;
	char *save, *name = strtok_r(path, "/", &save);

	for (; o && name; name = strtok_r(NULL, "/", &save)) {
		if (obj_lookup(t, o, name, strlen(name), &next, NULL) < 0)
			next = NULL;
		obj_unref(t, o);
		o = next;
	}
	if (o && S_ISDIR(o->type) && o->id.dev == dev)
		submount_note(t, dev, o->fd);
	obj_unref(t, o);
}

/* Tries each place below the root where dev is mounted. */
static void find(struct obj_table *t, uint64_t dev)
{
	char root[PATH_MAX], link[OBJ_PATH_SIZE], *line = NULL;
	ssize_t n = readlink(obj_path(t->root, link), root, sizeof(root) - 1);
	FILE *f = n > 0 ? fopen("/proc/self/mountinfo", "re") : NULL;
	size_t room = 0;

	if (!f)
		return;
	if (root[n - 1] == '/') /* the machine's root */
		n--;
	root[n] = '\0';
	while (getline(&line, &room, f) > 0) {
		uint32_t major, minor;
		int at = 0;

		/* number, parent, device, root in the device, place */
		if (sscanf(line, "%*u %*u %" SCNu32 ":%" SCNu32 " %*s %n", &major, &minor, &at) !=
				2 ||
			at == 0 || ((uint64_t)major << 32 | minor) != dev)
			continue;
		line[at + (int)strcspn(line + at, " \n")] = '\0';
		unescape(line + at);
		if (strncmp(line + at, root, (size_t)n) == 0 && line[at + n] == '/')
			go_to(t, line + at + n, dev);
	}
	free(line);
	fclose(f);
}

int mountinfo_fd(struct obj_table *t, uint64_t dev)
{
	int fd = submount_fd(t, dev);

	if (fd < 0 && t->by_handle) {
		find(t, dev);
		fd = submount_fd(t, dev);
	}
	return fd;
}
