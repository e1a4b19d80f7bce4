/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inode_former: the inodes of a daemon that was killed.
 */
#include "fs/known/inode_former.h"

#include "fs/known/inode_note.h"

/* The first generation that no noted inode has had; 0: a note is damaged. */
static uint64_t first_generation(const struct former *f)
{
	struct inode_told told;
	uint64_t first = 1;

	for (uint32_t i = 0; i < former_count(f, NOTE_INODE); i++) {
		uint32_t len;
		const void *data = former_note(f, NOTE_INODE, i, &len);

		if (!inode_note_get(data, len, &told) || told.generation == UINT64_MAX)
			return 0;
		if (told.generation >= first)
			first = told.generation + 1;
	}
	return first;
}

int inode_table_former(struct inode_table *t, unsigned run, const struct former *f, struct err *e)
{
	uint32_t n = former_count(f, NOTE_INODE);
	uint64_t generation = first_generation(f);

	if (!generation)
		return err_set(e, ERR_INTERNAL, "a note of the former daemon's inodes is damaged");
	if (!inode_table_inherit(t, run, n, generation))
		return err_set(e, ERR_INTERNAL, "out of memory for the former daemon's inodes");
	for (uint32_t i = 0; i < n; i++) {
		struct inode_told told;
		struct inode *ino;
		uint32_t len;
		const void *data = former_note(f, NOTE_INODE, i, &len);

		inode_note_get(data, len, &told);
		ino = told.nlookup ? inode_inherit(t, &told.fh, &told.attr, told.id, told.nlookup)
				   : inode_inherit_forgotten(t, &told.fh, &told.attr, told.id);
		if (!ino || ino == inode_table_root(t))
			return err_set(e, ERR_INTERNAL,
				"the former daemon's inode %llx cannot be made anew",
				(unsigned long long)told.id);
		ino->generation = told.generation;
		inode_renumbered(t, ino);
	}
	return 0;
}
