/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dir: an open directory of the kernel, from OPENDIR to RELEASEDIR.
 */
#include "fs/lookup/dir.h"

#include <stdlib.h>
#include <string.h>

#include "fs/known/inode_record.h"
#include "nfsproto/common/nfs_record.h"

#define DIR_BYTES 40u			   /* the least that a directory takes in a record */
#define NOTE_MAX  (64 + 4u * RPC_MAX_GIDS) /* bytes of a note */

static void dir_free(struct handle *h)
{
	struct dir *d = (struct dir *)h;

	mutex_alone(&d->lock); /* the kernel has released d */
	ledger_drop(d->fs->ledger, &d->note);
	mutex_destroy(&d->lock);
	listing_unref(d->fs, d->inode, d->listing);
	inode_unref(d->inode);
	free(d);
}

static bool is_dir(const struct handle *h)
{
	return h->free == dir_free;
}

struct dir *dir_new(struct fs *fs, struct inode *ino, const struct rpc_cred *cred, bool may_search)
{
	struct dir *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	mutex_init(&d->lock);
	d->fs = fs;
	d->inode = inode_ref(ino);
	d->cred = *cred;
	d->may_search = may_search;
	fs_add_handle(fs, &d->handle, ino, dir_free);
	return d;
}

void dir_release(struct dir *d)
{
	fs_drop_handle(d->fs, &d->handle);
	dir_free(&d->handle);
}

struct dir *dir_opened_by(struct fs *fs, uint64_t number)
{
	struct dir *d = NULL;
	struct handle *h;

	mutex_lock(&fs->handles_lock);
	LIST_FOREACH (h, &fs->handles, link)
		if (is_dir(h) && ((struct dir *)h)->request == number)
			d = (struct dir *)h;
	mutex_unlock(&fs->handles_lock);
	return d;
}

/* --- notes ------------------------------------------------------------------------------------ */

static void put_dir(const struct dir *d, struct xdr_out *x)
{
	xdr_put_u64(x, d->handle.number);
	xdr_put_u64(x, d->inode->id);
	xdr_put_bool(x, d->may_search);
	nfs_record_put_cred(x, &d->cred);
}

void dir_note_locked(struct dir *d, const uint8_t *verf)
{
	uint8_t bytes[NOTE_MAX];
	struct xdr_out x;

	xdr_out_init(&x, bytes, sizeof(bytes));
	put_dir(d, &x);
	xdr_put_u64(&x, d->request);
	xdr_put_bool(&x, verf);
	if (verf)
		xdr_put_fixed(&x, verf, NFS_VERF_SIZE);
	if (xdr_out_ok(&x))
		ledger_put(d->fs->ledger, &d->note, NOTE_DIR, bytes, x.len);
	else
		ledger_give_up(d->fs->ledger);
	memcpy(d->noted_verf, verf ? verf : (uint8_t[NFS_VERF_SIZE]){0}, NFS_VERF_SIZE);
}

void dir_note_cookies_locked(struct dir *d, const struct listing *l)
{
	if (d->fs->ledger && memcmp(d->noted_verf, l->verf, NFS_VERF_SIZE) != 0)
		dir_note_locked(d, l->verf);
}

/* --- for a successor -------------------------------------------------------------------------- */

/* The place of a reader is a cookie of the server's, and the cookie counts with the verifier of its
 * listing. */
static void put_verifier(struct dir *d, struct xdr_out *x)
{
	struct listing *l;

	mutex_lock(&d->lock);
	l = d->listing;
	xdr_put_bool(x, l);
	if (l) {
		mutex_lock(&l->lock);
		xdr_put_fixed(x, l->verf, sizeof(l->verf));
		mutex_unlock(&l->lock);
	}
	mutex_unlock(&d->lock);
}

void dirs_put_record(struct fs *fs, struct xdr_out *x)
{
	size_t count = xdr_skip_u32(x);
	struct handle *h;
	uint32_t n = 0;

	mutex_lock(&fs->handles_lock);
	LIST_FOREACH (h, &fs->handles, link) {
		struct dir *d = (struct dir *)h;

		if (!is_dir(h))
			continue;
		put_dir(d, x);
		put_verifier(d, x);
		n++;
	}
	mutex_unlock(&fs->handles_lock);
	xdr_patch_u32(x, count, n);
}

/* A listing without entries has the verifier, for the listing that begins at the reader's place. */
static bool get_verifier(struct dir *d, struct xdr_in *x)
{
	struct listing *l;

	if (!xdr_get_bool(x))
		return true;
	l = listing_new(&d->cred, COOKIE_DOT, NULL);
	if (!l)
		return false;
	mutex_alone(&l->lock); /* no request is served yet */
	mutex_alone(&d->lock);
	xdr_get_fixed(x, l->verf, sizeof(l->verf));
	d->listing = l;
	return true;
}

/* The note of d in the ledger of this daemon. */
static void note_again_locked(struct dir *d) REQUIRES(d->lock)
{
	struct listing *l = d->listing;

	if (!d->fs->ledger)
		return;
	if (l) {
		mutex_lock(&l->lock);
		dir_note_locked(d, l->verf);
		mutex_unlock(&l->lock);
	} else {
		dir_note_locked(d, NULL);
	}
}

/* noted: of a note, not of a record. NULL: no memory, unless x is bad. */
static struct dir *get_dir(struct fs *fs, bool noted, struct xdr_in *x)
{
	uint64_t number = xdr_get_u64(x);
	struct inode *ino = inode_get_id(fs->inodes, x);
	bool may_search = xdr_get_bool(x);
	struct rpc_cred cred;
	uint64_t request = 0;
	struct dir *d;

	nfs_record_get_cred(x, &cred);
	if (noted)
		request = xdr_get_u64(x);
	d = xdr_in_ok(x) ? dir_new(fs, ino, &cred, may_search) : NULL;
	if (!d || !get_verifier(d, x))
		return NULL;
	d->request = request;
	if (!fs_rename_handle(fs, &d->handle, number))
		xdr_in_fail(x);
	return d;
}

bool dirs_get_record(struct fs *fs, struct xdr_in *x)
{
	uint32_t n = xdr_get_count(x, UINT32_MAX, DIR_BYTES);

	for (uint32_t i = 0; i < n && xdr_in_ok(x); i++)
		if (!get_dir(fs, false, x))
			return !xdr_in_ok(x);
	return true;
}

int dirs_former(struct fs *fs, const struct former *former, struct err *e)
{
	for (uint32_t i = 0; i < former_count(former, NOTE_DIR); i++) {
		struct xdr_in x;
		struct dir *d;
		uint32_t len;
		const void *data = former_note(former, NOTE_DIR, i, &len);

		xdr_in_init(&x, data, len);
		d = get_dir(fs, true, &x);
		if (!d || !xdr_in_done(&x))
			return err_set(e, ERR_INTERNAL,
				"a note of the former daemon's directories is damaged, or there is "
				"no memory");
		mutex_lock(&d->lock);
		note_again_locked(d);
		mutex_unlock(&d->lock);
	}
	return 0;
}
