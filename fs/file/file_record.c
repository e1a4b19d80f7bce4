/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file_record: the open files of a mount for a successor.
 */
#include "fs/file/file_record.h"

#include <stdlib.h>

#include "fs/file/cached.h"
#include "fs/file/locker.h"
#include "fs/file/opening.h"
#include "fs/known/inode_record.h"
#include "nfsproto/common/nfs_record.h"
#include "transport/rpc/fields.h"

#define LOCKER_BYTES 16u /* the least that a lock owner takes in a record */

static const struct field file_fields[] = {
	FIELD(struct file, flags),
	FIELD(struct file, written),
	FIELD(struct file, dropping),
	FIELD(struct file, flock_owner),
	FIELD(struct file, told.synced),
	FIELD(struct file, told.flushed),
	FIELD(struct file, told.unwritten),
};

/* local_since is left out: there are no delegations. */
static const struct field locker_fields[] = {
	FIELD(struct locker, owner),
	FIELD(struct locker, pid),
	FIELD(struct locker, flushed),
	FIELD(struct locker, first),
	FIELD(struct locker, last),
};

struct file **files_list(struct fs *fs, uint32_t *n)
{
	struct file **list;
	struct handle *h;

	*n = 0;
	mutex_lock(&fs->handles_lock);
	LIST_FOREACH (h, &fs->handles, link)
		*n += file_is(h);
	list = calloc((size_t)*n + 1, sizeof(*list));
	*n = 0;
	LIST_FOREACH (h, &fs->handles, link)
		if (list && file_is(h))
			list[(*n)++] = (struct file *)h;
	mutex_unlock(&fs->handles_lock);
	return list;
}

/* --- putting -------------------------------------------------------------------------------- */

static void put_lockers(const struct file *f, struct xdr_out *x)
{
	const struct locker *l;
	size_t count = xdr_skip_u32(x);
	uint32_t n = 0;

	mutex_lock(&f->inode->lock);
	LIST_FOREACH (l, &f->inode->locks.owners, link) {
		if (l->file != f)
			continue;
		fields_put(x, l, FIELDS(locker_fields));
		n++;
	}
	mutex_unlock(&f->inode->lock);
	xdr_patch_u32(x, count, n);
}

void files_put_record(struct fs *fs, struct file *const file[], uint32_t n, struct xdr_out *x)
{
	xdr_put_u64(x, atomic_load(&fs->flock_owners));
	for (uint32_t i = 0; i < n; i++) {
		xdr_put_u64(x, file[i]->handle.number);
		xdr_put_u64(x, inode_id(fs->inodes, file[i]->inode));
		nfs_record_put_cred(x, &file[i]->cred);
		fields_put(x, file[i], FIELDS(file_fields));
		put_lockers(file[i], x);
	}
}

/* --- getting -------------------------------------------------------------------------------- */

static bool get_lockers(struct file *f, struct xdr_in *x)
{
	uint32_t n = xdr_get_count(x, UINT32_MAX, LOCKER_BYTES);

	for (uint32_t i = 0; i < n && xdr_in_ok(x); i++) {
		struct locker *l = calloc(1, sizeof(*l));

		if (!l)
			return false;
		fields_get(x, l, FIELDS(locker_fields));
		l->file = f;
		mutex_lock(&f->inode->lock);
		LIST_INSERT_HEAD(&f->inode->locks.owners, l, link);
		mutex_unlock(&f->inode->lock);
	}
	return true;
}

/* False: no memory, unless x is bad. */
static bool get_file(struct fs *fs, struct nfs_open *open, struct xdr_in *x)
{
	uint64_t number = xdr_get_u64(x);
	struct inode *ino = inode_get_id(fs->inodes, x);
	struct rpc_cred cred;
	struct file *f, read;

	nfs_record_get_cred(x, &cred);
	fields_get(x, &read, FIELDS(file_fields));
	if (!xdr_in_ok(x))
		return false;
	f = file_new(fs, &cred, read.flags);
	if (!f)
		return false;
	atomic_store(&f->written, read.written);
	atomic_store(&f->dropping, read.dropping);
	f->flock_owner = read.flock_owner;
	opening_begin(fs, ino);
	file_opened(fs, f, ino, open);
	mutex_lock(&ino->data.lock);
	f->told = read.told;
	mutex_unlock(&ino->data.lock);
	cached_opened(fs, f);
	if (!fs_rename_handle(fs, &f->handle, number))
		xdr_in_fail(x);
	return get_lockers(f, x);
}

bool files_get_record(struct fs *fs, struct nfs_open *const open[], uint32_t n, struct xdr_in *x)
{
	uint64_t flock_owners = xdr_get_u64(x);

	for (uint32_t i = 0; i < n; i++)
		if (!get_file(fs, open[i], x))
			return false;
	atomic_store(&fs->flock_owners, flock_owners);
	return true;
}
