/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file: an open file description of the kernel, from its open to its release.
 */
#ifndef RNFS_FS_KNOWN_FILE_H
#define RNFS_FS_KNOWN_FILE_H

#include "cache/fetch.h"
#include "fs/known/fs.h"

/* The object that fi->fh names. Constant once open but for marked members. */
struct file {
	struct handle handle; /* first */
	struct fs *fs;
	struct inode *inode;   /* a reference; NULL until the file is open */
	struct nfs_open *open; /* the server's open state */
	struct rpc_cred cred;  /* the opener's: used for reads and writes */
	uint64_t request;      /* of the kernel, that opened the file: request_number() */
	struct note note;      /* file_note.h; of the thread that opens or closes the file */
	/* The kernel has released the file, and sends no RELEASE again: a successor is to close it.
	 * Set by the thread that closes the file */
	bool released;
	int flags;
	atomic_bool written;	   /* data was appended through this open file */
	_Atomic uint64_t dropping; /* number of the invalidation of pages that the open made
				      necessary (filechange.h) */
	uint64_t flock_owner; /* owner number for flock(2); the kernel may use its own number again
				 too early */
	/* Used by flush.c: FLUSHes that go on after their answer, and the release that waits for
	 * their end. */
	unsigned outlived;
	struct request *parked;
	/* of the release of the file */
	bool drops_silly;	   /* a silly name is removed with the file (silly_close_begin()) */
	bool drops_locks;	   /* locks are cleared with the file (locker_close_begin()) */
	struct filedata_view told; /* the losses reported so far; the inode's filedata.lock */
	struct fetcher fetcher;	   /* of READs into the cache (cached.h) */
	struct writer writer;	   /* of gathered data (write.h) */
};

static inline struct file *file_of(struct fs *fs, const struct fuse_file_info *fi)
{
	return (struct file *)fs_handle(fs, fi->fh);
}

/* Is h the head of an open file, and not of a directory? */
bool file_is(const struct handle *h);

struct request;

/* A file that the user of cred will open with these flags. NULL when out of memory. */
struct file *file_new(struct fs *fs, const struct rpc_cred *cred, int flags);
void file_free(struct file *f);
/* The server has opened the file: f becomes an open file of ino. The caller has called
 * opening_begin() for ino. */
void file_opened(struct fs *fs, struct file *f, struct inode *ino, struct nfs_open *open);
/* The number of f, which is open, or other members have changed: the note says so (file_note.h). */
void file_noted(struct file *f);
/* The server has closed the file: f is no longer among the open files. Not freed. */
void file_closed(struct fs *fs, struct file *f);

#endif
