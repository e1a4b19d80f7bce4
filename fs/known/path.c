/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * path: where an inode is in the mount.
 */
#include "fs/known/path.h"

#include <stdio.h>
#include <string.h>

#include "fs/known/names.h"
#include "nfsproto/wire/nfs_file.h"

#define DEPTH_MAX 128u /* names may lead in a circle for a moment */

static const char dots[] = "...";

/* Text that grows to the front: it begins at buf[at]. */
struct front {
	char *buf;
	size_t at;
	bool cut;
};

static void put(struct front *f, const char *text)
{
	size_t len = strlen(text), room = f->at - (sizeof(dots) - 1);

	if (f->cut)
		return;
	if (len > room) { /* only the end of the text fits */
		text += len - room;
		len = room;
		f->cut = true;
	}
	f->at -= len;
	memcpy(f->buf + f->at, text, len);
	if (!f->cut)
		return;
	f->at -= sizeof(dots) - 1;
	memcpy(f->buf + f->at, dots, sizeof(dots) - 1);
}

/* Puts the path of ino in front of the text. */
static void climb(struct fs *fs, struct inode *ino, struct front *f)
{
	struct inode *root = inode_table_root(fs->inodes), *at = inode_ref(ino);
	char name[NFS_NAME_MAX + 1], number[24];

	for (unsigned depth = 0; at != root && !f->cut; depth++) {
		struct inode *dir;

		if (depth == DEPTH_MAX || !names_of(fs->names, at, &dir, name, sizeof(name))) {
			snprintf(number, sizeof(number), "#%llu", (unsigned long long)at->fileid);
			put(f, number);
			break;
		}
		put(f, name);
		put(f, "/");
		inode_unref(at);
		at = dir;
	}
	inode_unref(at);
}

static void finish(struct front *f, size_t size)
{
	memmove(f->buf, f->buf + f->at, size - f->at);
	if (!f->buf[0])
		strcpy(f->buf, "/");
}

static struct front begin(char *buf, size_t size)
{
	buf[size - 1] = 0;
	return (struct front){.buf = buf, .at = size - 1};
}

void path_of(struct fs *fs, struct inode *ino, char *buf, size_t size)
{
	struct front f = begin(buf, size);

	climb(fs, ino, &f);
	finish(&f, size);
}

void path_of_name(struct fs *fs, struct inode *dir, const char *name, char *buf, size_t size)
{
	struct front f = begin(buf, size);

	put(&f, name);
	put(&f, "/");
	climb(fs, dir, &f);
	finish(&f, size);
}
