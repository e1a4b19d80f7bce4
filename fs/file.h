/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file: an open file description of the kernel, from its open to its release.
 */
#ifndef RNFS_FS_FILE_H
#define RNFS_FS_FILE_H

#include "cache/fetch.h"
#include "fs/fs.h"
#include "fs/request.h"

/* What fi->fh points to. Constant once open but for what is marked. */
struct file {
	struct handle handle; /* first */
	struct fs *fs;
	struct inode *inode;   /* a reference; NULL until it is open */
	struct nfs_open *open; /* the server's open state */
	struct rpc_cred cred;  /* the opener's: reads and writes are done with it */
	int flags;
	atomic_bool written;	   /* something was appended through it */
	_Atomic uint64_t dropping; /* pages that the kernel drops at its open (filechange.h) */
	uint64_t flock_owner;	   /* of its flock; the kernel's number may be used again early */
	/* flush.c's: FLUSHes that go on after their answer, and the release that waits for them */
	unsigned outlived;
	struct request *parked;
	/* of its release */
	bool drops_silly;	   /* a silly name goes with it (silly_close_begin()) */
	bool drops_locks;	   /* locks do (locker_close_begin()) */
	struct filedata_view told; /* of what was lost; the inode's filedata.lock */
	struct fetcher fetcher;	   /* of its data into the cache (cached.h) */
	struct writer writer;	   /* of what is gathered (write.h) */
};

static inline struct file *file_of(const struct fuse_file_info *fi)
{
	return (struct file *)(uintptr_t)fi->fh;
}

/* One that is to be opened for r with these flags. NULL when out of memory. */
struct file *file_new(const struct request *r, int flags);
void file_free(struct file *f);
/* The server has opened it: f becomes an open file of ino, upon which the caller has called
 * opening_begin(). */
void file_opened(struct fs *fs, struct file *f, struct inode *ino, struct nfs_open *open);
/* The server has closed it: it is not among the open files any more. Not freed. */
void file_closed(struct fs *fs, struct file *f);

#endif
