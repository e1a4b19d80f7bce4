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
 * server, and only when some file is open at all; where the name was last heard to stand for one
 * that is not, unlink and rename over NFSv4 have REMOVE and RENAME themselves make sure of that;
 * and a new name that there is believed to be nothing of (entry.h) is not asked for. A file that is
 * being opened counts as open; one whose name is being removed is opened afterwards (opening.h).
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
 * next(r). r->u.unlink.renamed: it was renamed, and r->inode is the file. r->u.unlink.error: not 0
 * if it should have been but could not. r->u.unlink.only: the server has not been asked what name
 * stands for, and may remove it only if that is r->unlinking (nfs_op.u.remove.only, u.rename.only);
 * if not, this is to be called again after opening_claim_end(), with r->u.unlink.ask. */
void silly_check(struct request *r, const struct nfs_fh *dir, const struct nfs_name *name,
	request_step_fn *next);
/* The rename before which silly_check() gave what it replaces a silly name has succeeded. */
void silly_replaced(struct request *r);
/* That rename has failed: gives the file its name in dir back, if it still has the silly one; then
 * next(r). */
void silly_undo(struct request *r, const struct nfs_fh *dir, const struct nfs_name *name,
	request_step_fn *next);

/* Removes the silly name of ino if it is not open any more; does not wait. */
void silly_drop(struct fs *fs, struct inode *ino);
/* The same for all that are left, open or not, and waits a few seconds at most. At the end of the
 * mount, after the last request. */
void silly_drop_all(struct fs *fs);

/* The close of an open file of ino begins. True: it is the last one, and ino has a silly name:
 * silly_close_end() is to be called after silly_drop(). */
bool silly_close_begin(struct fs *fs, struct inode *ino);
void silly_close_end(struct fs *fs);

/* How many silly names have been removed so far. */
uint64_t silly_count_ended(struct fs *fs);
/* r has found a directory not empty; silly_count_ended() was `ended` before it asked. True: a silly
 * name has been removed since, and next(r) was called, or one is being removed, and next(r) will
 * be.
 */
bool silly_wait(struct request *r, uint64_t ended, request_step_fn *next);

/* Takes the requests off that wait and are GONE (request.h): the caller calls next for each. */
void silly_take_gone(struct fs *fs, struct request_list *gone);

#endif
