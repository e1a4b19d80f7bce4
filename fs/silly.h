/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * silly: names under which unlinked files live on until their last close.
 *
 * A server need not keep a file whose last name is gone while it is open, but programs rely on
 * that. So the last name of an open file is not removed but changed to a silly one (.nfsXXXX)
 * beside it, which is removed at the last close, and until then by nobody (EBUSY, as the kernel's
 * client says). The kernel does not wait for that, so a directory may seem not empty just after:
 * then rmdir waits (silly_wait()) and tries again. Which file a name stands for is asked of the
 * server, and only when some file is open at all. A file that is being opened counts as open; one
 * whose name is being removed is opened afterwards (opening.h).
 *
 * Locks. silly_names.lock, a leaf, guards what is marked. An inode's lock guards its silly.
 */
#ifndef RNFS_FS_SILLY_H
#define RNFS_FS_SILLY_H

#include "fs/request.h"

struct silly {
	struct nfs_fh dir;
	struct rpc_cred cred;
	char name[40];
};

/* tag tells the silly names of this mount from those of others. NULL when out of memory. */
struct silly_names *silly_names_new(uint32_t tag);
/* No rmdir may wait. Accepts NULL, returns NULL. */
struct silly_names *silly_names_free(struct silly_names *s);

/* Renames dir/name to a silly name if that is the last name of a file that is open, then calls
 * next. r->u.unlink.renamed: it was, and r->inode is the file; r->u.unlink.error: why not. */
void silly_check(struct request *r, const struct nfs_fh *dir, const struct nfs_name *name,
	request_step_fn *next);
/* The rename that was to replace what silly_check() has given a silly name is done. */
void silly_replaced(struct request *r);
/* It has failed: gives the file its name in dir back, if it has still the silly one; then next. */
void silly_undo(struct request *r, const struct nfs_fh *dir, const struct nfs_name *name,
	request_step_fn *next);

/* Removes the silly name of ino if it is not open any more; does not wait. */
void silly_drop(struct fs *fs, struct inode *ino);
/* The same for all that are left, open or not, and waits a few seconds at most. At the end of the
 * mount, after the last request. */
void silly_drop_all(struct fs *fs);

/* Is the close of ino that begins the last one, and has it a silly name? Then silly_close_end() is
 * to be called after its silly_drop(). */
bool silly_close_begin(struct fs *fs, struct inode *ino);
void silly_close_end(struct fs *fs);

/* How many silly names have gone so far. */
uint64_t silly_count_ended(struct fs *fs);
/* r has found a directory not empty when it was asked after `ended` had gone. True: another has
 * gone since, or one is about to: next(r) was or will be called then. */
bool silly_wait(struct request *r, uint64_t ended, request_step_fn *next);

/* Takes off those that wait and are GONE (request.h): the caller goes on with each. */
void silly_take_gone(struct fs *fs, struct request_list *gone);

#endif
