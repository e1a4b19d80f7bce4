/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * silly_give: gives files silly names (silly.h) before their names are removed or replaced, and
 * restores the names if a rename has failed.
 *
 * The server may have carried out a RENAME that ends with an error. The answer may be lost, and a
 * server that has restarted finds nothing to rename when asked again. So a look follows such an
 * answer, and no call after that replaces a file.
 *
 * Locks. As silly.h: an inode's lock guards its silly.
 */
#ifndef RNFS_FS_FILE_SILLY_GIVE_H
#define RNFS_FS_FILE_SILLY_GIVE_H

#include "fs/kernel/request.h"

/* Renames dir/name to a silly name if the name belongs to a file that is open and has no silly name
 * yet, then calls next(r). If the answer to the RENAME is lost, a LOOKUP of the silly name tells
 * the result.
 *
 *     unlink_of(r)->renamed   the name was changed, and r->inode is the file
 *     unlink_of(r)->error     not 0 if the name should have been changed but could not
 *     unlink_of(r)->only      the server was not asked for the file of the name. The server may
 *                           remove the name only if the file is r->unlinking
 *                           (nfs_op.u.remove.only, u.rename.only). If the file is another one,
 *                           the caller calls this function again after opening_claim_end(), with
 *                           unlink_of(r)->ask */
void silly_check(struct request *r, const struct nfs_fh *dir, const struct nfs_name *name,
	request_step_fn *next);
/* A rename has succeeded. silly_check() had given the replaced file a silly name before. */
void silly_replaced(struct request *r);
/* Such a rename has ended with unlink_of(r)->error, and the server may still have carried it out
 * (the answer was lost, or the server has restarted). Gives the file its name back by LINK, which
 * never replaces another file. If the new name stands for the file that was to get it, the rename
 * was carried out: then unlink_of(r)->error becomes 0. If the new name stands for a third file the
 * silly name stays for good, and the log says so. Then calls next(r). If the process is being
 * killed
 * (-EINTR), r is answered first. */
void silly_undo(struct request *r, request_step_fn *next);

#endif
