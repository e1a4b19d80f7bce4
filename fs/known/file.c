/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file: an open file description of the kernel.
 */
#include "fs/known/file.h"

#include <fcntl.h>
#include <stdlib.h>

#include "cache/writeback.h"
#include "fs/known/file_note.h"

struct file *file_new(struct fs *fs, const struct rpc_cred *cred, int flags)
{
	struct file *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->fs = fs;
	f->cred = *cred;
	f->flags = flags;
	f->flock_owner = atomic_fetch_add(&fs->flock_owners, 1) + 1;
	return f;
}

void file_free(struct file *f)
{
	if (f->inode) {
		fetcher_finish(&f->fetcher);
		writeback_close(&f->writer);
	}
	inode_unref(f->inode);
	free(f);
}

static void free_handle(struct handle *h)
{
	file_free((struct file *)h);
}

bool file_is(const struct handle *h)
{
	return h->free == free_handle;
}

void file_opened(struct fs *fs, struct file *f, struct inode *ino, struct nfs_open *open)
{
	f->inode = inode_ref(ino);
	f->open = open;
	atomic_fetch_add(&ino->opens.writers, (f->flags & O_ACCMODE) != O_RDONLY);
	atomic_fetch_add(&ino->opens.mappers, (f->flags & O_ACCMODE) == O_RDWR);
	filedata_open(&ino->data, &f->told);
	writer_init(&f->writer, &ino->written, open, &f->cred);
	fs_add_handle(fs, &f->handle, ino, free_handle);
	file_noted(f);
}

void file_noted(struct file *f)
{
	struct file_told told;

	writer_note(&f->writer, f->handle.number);
	if (!f->fs->ledger)
		return;
	told = (struct file_told){
		.number = f->handle.number,
		.inode = f->inode->id,
		.open = nfs_open_note_number(f->open),
		.request = f->request,
		.flock_owner = f->flock_owner,
		.flags = f->flags,
		.released = f->released,
		.cred = f->cred,
	};
	mutex_lock(&f->inode->data.lock);
	told.view = f->told;
	mutex_unlock(&f->inode->data.lock);
	file_note_put(f->fs->ledger, &f->note, &told);
}

void file_closed(struct fs *fs, struct file *f)
{
	atomic_fetch_sub(&f->inode->opens.writers, (f->flags & O_ACCMODE) != O_RDONLY);
	atomic_fetch_sub(&f->inode->opens.mappers, (f->flags & O_ACCMODE) == O_RDWR);
	fs_drop_handle(fs, &f->handle);
	ledger_drop(fs->ledger, &f->note);
}
