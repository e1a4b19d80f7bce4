/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * submount: the file systems mounted below the root.
 */
#include "contrib/serve/export/submount.h"

#include <fcntl.h>

void submount_note(struct obj_table *t, uint64_t dev, int fd)
{
	unsigned i;

	if (!t->by_handle || dev == 0)
		return;
	mutex_lock(&t->mounts_lock);
	for (i = 0; i < t->nmounts && t->mount[i].dev != dev; i++)
		;
	if (i == t->nmounts && i < OBJ_MOUNTS) {
		char path[OBJ_PATH_SIZE];
		int dup;

		dup = open(obj_fd_path(fd, path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (dup >= 0) {
			t->mount[i].dev = dev;
			t->mount[i].fd = dup;
			t->nmounts++;
		}
	}
	mutex_unlock(&t->mounts_lock);
}

int submount_fd(struct obj_table *t, uint64_t dev)
{
	int fd = -1;

	mutex_lock(&t->mounts_lock);
	for (unsigned i = 0; i < t->nmounts; i++)
		if (t->mount[i].dev == dev)
			fd = t->mount[i].fd;
	mutex_unlock(&t->mounts_lock);
	return fd;
}
