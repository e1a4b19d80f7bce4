/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lost: files that may lose written data when the mount ends.
 */
#include "fs/known/lost.h"

#include <limits.h>
#include <string.h>

#include "fs/known/fs.h"
#include "fs/known/names.h"
#include "transport/log.h"

#define DOTS "..."

void lost_init(struct lost *l)
{
	*l = (struct lost){.n = 0};
	mutex_init(&l->lock);
}

void lost_finish(struct lost *l)
{
	mutex_destroy(&l->lock);
	while (l->n)
		inode_unref(l->file[--l->n]);
}

void lost_begin(struct lost *l)
{
	mutex_lock(&l->lock);
	l->notes = l->begun = true;
	mutex_unlock(&l->lock);
}

bool lost_begun(struct lost *l)
{
	bool begun;

	mutex_lock(&l->lock);
	begun = l->begun;
	mutex_unlock(&l->lock);
	return begun;
}

void lost_note(struct lost *l, struct inode *ino, uint64_t bytes)
{
	unsigned i = 0;

	mutex_lock(&l->lock);
	while (i < l->n && l->file[i] != ino)
		i++;
	if (l->notes && i == LOST_NAMED) {
		l->more = true;
	} else if (l->notes) {
		if (i == l->n) {
			l->file[l->n++] = inode_ref(ino);
			l->bytes[i] = 0;
		}
		l->bytes[i] += bytes;
	}
	mutex_unlock(&l->lock);
}

/* Puts a slash and a name in front of the text at *at in path, if there is room for both and for
 * dots. */
static bool put_front(char *path, size_t *at, const char *name)
{
	size_t len = strlen(name);

	if (*at < len + 1 + strlen(DOTS))
		return false;
	*at -= len;
	for (size_t i = 0; i < len; i++)
		path[*at + i] = (unsigned char)name[i] < ' ' || name[i] == 0x7f ? '?' : name[i];
	path[--*at] = '/';
	return true;
}

void lost_path(struct fs *fs, struct inode *ino, char *path, size_t size)
{
	struct inode *root = inode_table_root(fs->inodes), *at = inode_ref(ino), *dir;
	char name[NAME_MAX + 1];
	size_t from = size - 1;

	path[from] = 0;
	while (at != root && names_of(fs->names, at, &dir, name, sizeof(name))) {
		if (!put_front(path, &from, name)) {
			inode_unref(dir);
			break;
		}
		inode_unref(at);
		at = dir;
	}
	if (at != root) {
		from -= strlen(DOTS);
		memcpy(path + from, DOTS, strlen(DOTS));
	}
	inode_unref(at);
	memmove(path, path + from, size - from);
}

bool lost_say(struct fs *fs, struct lost *l)
{
	char path[LOST_PATH_MAX];
	bool any;

	mutex_lock(&l->lock);
	l->notes = false;
	any = l->n;
	mutex_unlock(&l->lock);
	mutex_alone(&l->lock); /* without `notes` no thread changes the list */
	for (unsigned i = 0; i < l->n; i++) {
		lost_path(fs, l->file[i], path, sizeof(path));
		log_always_error(
			"the server has not made safe the data written to %s (file %llu): %llu "
			"bytes may be lost",
			path, (unsigned long long)l->file[i]->fileid,
			(unsigned long long)l->bytes[i]);
	}
	if (l->more)
		log_always_error("and to further files");
	return any;
}
