/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * dir: an open directory of the kernel, from OPENDIR to RELEASEDIR.
 */
#ifndef RNFS_FS_LOOKUP_DIR_H
#define RNFS_FS_LOOKUP_DIR_H

#include "fs/lookup/listing.h"
#include "transport/err.h"
#include "transport/ledger.h"
#include "transport/lock.h"
#include "transport/rpc/xdr.h"

/* Cookies that stand for the places after "." and after "..". */
#define COOKIE_DOT    1u
#define COOKIE_DOTDOT 2u

struct dir {
	struct handle handle; /* first */
	struct fs *fs;
	struct inode *inode; /* a reference */
	struct rpc_cred cred;
	bool may_search; /* the opener may look names up in the directory */
	struct mutex lock;
	struct listing *listing GUARDED_BY(lock); /* NULL: nothing has been read */
	/* when the listing was begun, if at the open and not read yet; else 0 */
	uint64_t fresh GUARDED_BY(lock);
	/* valid while listing->change is `change`: the place after cookie pos_after is pos in page;
	 * page NULL: not known */
	const struct page *page GUARDED_BY(lock);
	size_t pos GUARDED_BY(lock);
	uint64_t pos_after GUARDED_BY(lock);
	unsigned change GUARDED_BY(lock);
	uint64_t request;		   /* request_number() of the OPENDIR; constant */
	struct note note GUARDED_BY(lock); /* for a successor */
	uint8_t noted_verf[NFS_VERF_SIZE] GUARDED_BY(lock); /* in the note */
};

/* The directory that fi->fh names, or NULL. Any thread. */
static inline struct dir *dir_of(struct fs *fs, const struct fuse_file_info *fi)
{
	return (struct dir *)fs_handle(fs, fi->fh);
}

/* Opens ino, with a handle. cred: the opener's. NULL when out of memory. Any thread. */
struct dir *dir_new(struct fs *fs, struct inode *ino, const struct rpc_cred *cred, bool may_search);
/* Frees d and its handle: the kernel does not know d, or not any more. */
void dir_release(struct dir *d);
/* The directory that the OPENDIR with that request_number() has opened; NULL: none. */
struct dir *dir_opened_by(struct fs *fs, uint64_t number);

/* Makes the note of d (ledger.h): as in a record. verf: of the cookies that the reader has; NULL:
 * the reader has none. */
void dir_note_locked(struct dir *d, const uint8_t *verf) REQUIRES(d->lock);
/* The reader is about to get cookies of l, which count with the verifier of l. */
void dir_note_cookies_locked(struct dir *d, const struct listing *l) REQUIRES(d->lock, l->lock);

/* Open directories for a successor (record.h). put: no request is under way. get: fs has the inodes
 * of the record, and fs->handle_numbers have room; on failure x is bad; false: no memory. */
void dirs_put_record(struct fs *fs, struct xdr_out *x);
bool dirs_get_record(struct fs *fs, struct xdr_in *x);
/* Open directories of a daemon that was killed, from their notes: a directory is noted before the
 * kernel is told of it, and again when a reader gets cookies with another verifier. fs has the
 * inodes of that daemon, and fs->handle_numbers have room. 0, or -1 with *e set: a note is damaged,
 * or no memory. Before requests are served. */
int dirs_former(struct fs *fs, const struct former *former, struct err *e);

#endif
