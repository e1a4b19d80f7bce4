/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file_former: the open files of a daemon that was killed.
 */
#include "fs/file/file_former.h"

#include <fcntl.h>

#include "fs/file/cached.h"
#include "fs/file/close.h"
#include "fs/file/open_note.h"
#include "fs/file/opening.h"
#include "fs/kernel/underway.h"
#include "fs/known/file.h"
#include "fs/known/file_note.h"

/* Will the request make the file anew that was not answered, from the noted answer to its OPEN? */
static bool comes_again(struct fs *fs, const struct file_told *told)
{
	return !underway_has_answer(fs, told->request) &&
	       nfs_client_has_changes(fs->client, told->request) &&
	       (told->flags & O_CREAT || open_note_is(fs, told->request));
}

static int no_memory(struct err *e)
{
	return err_set(e, ERR_INTERNAL, "out of memory for the open files of the former daemon");
}

/* 0, or -1 with *e set. A file without inode or open is being closed, or has failed to open. */
static int make(struct fs *fs, const struct file_told *told, struct err *e)
{
	struct inode *ino = inode_inherited(fs->inodes, told->inode);
	struct nfs_open *open = nfs_client_former_open(fs->client, told->open);
	struct file *f;

	if (!ino || !open)
		return 0;
	if (comes_again(fs, told)) {
		nfs_open_discard(open);
		return 0;
	}
	f = file_new(fs, &told->cred, told->flags);
	if (!f)
		return no_memory(e);
	f->flock_owner = told->flock_owner;
	f->request = told->request;
	f->released = told->released;
	atomic_store(&f->written, (told->flags & O_ACCMODE) != O_RDONLY);
	opening_begin(fs, ino);
	file_opened(fs, f, ino, open);
	cached_opened(fs, f);
	if (!fs_rename_handle(fs, &f->handle, told->number))
		return err_set(e, ERR_INTERNAL,
			"the former daemon's notes tell of two open files with number %llx",
			(unsigned long long)told->number);
	mutex_lock(&ino->data.lock);
	f->told = told->view;
	mutex_unlock(&ino->data.lock);
	file_noted(f);
	return 0;
}

int files_former(struct fs *fs, const struct former *former, struct err *e)
{
	uint64_t owners = atomic_load(&fs->flock_owners);

	for (uint32_t i = 0; i < former_count(former, NOTE_FILE); i++) {
		struct file_told told;
		uint32_t len;
		const void *data = former_note(former, NOTE_FILE, i, &len);

		if (!file_note_get(data, len, &told))
			return err_set(e, ERR_INTERNAL,
				"a note of the former daemon's open files is damaged");
		if (make(fs, &told, e))
			return -1;
		if (told.flock_owner > owners)
			owners = told.flock_owner;
	}
	/* the files made here have taken numbers of their own, which are not used */
	atomic_store(&fs->flock_owners, owners);
	return 0;
}

/* A file that the kernel has released, and the daemon has not closed; NULL: there is none. */
static struct file *next_released(struct fs *fs)
{
	struct file *f = NULL;
	struct handle *h;

	mutex_lock(&fs->handles_lock);
	LIST_FOREACH (h, &fs->handles, link)
		if (file_is(h) && ((struct file *)h)->released)
			f = (struct file *)h;
	if (f)
		f->released = false; /* another one next time */
	mutex_unlock(&fs->handles_lock);
	return f;
}

void files_former_close(struct fs *fs)
{
	struct file *f;

	while ((f = next_released(fs)))
		close_file(fs, f, NULL, 0);
}

void file_former_drop(struct request *r)
{
	struct file *f = NULL;
	struct handle *h;

	if (!request_is_again(r))
		return;
	mutex_lock(&r->fs->handles_lock);
	LIST_FOREACH (h, &r->fs->handles, link)
		if (file_is(h) && ((struct file *)h)->request == request_number(r))
			f = (struct file *)h;
	mutex_unlock(&r->fs->handles_lock);
	if (f)
		close_file(r->fs, f, NULL, 0);
}
