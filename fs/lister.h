/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lister: lists a directory beside what its users do, so that all names in it are known
 * (complete.h): where names that are not there are asked for again and again, one listing answers
 * for all of them. Nobody waits for it.
 */
#ifndef RNFS_FS_LISTER_H
#define RNFS_FS_LISTER_H

#include "fs/fs.h"

#define LISTER_NAMES_MAX 4096u /* a directory with more is left alone */

/* The server has said that there is no such name in dir as was asked for. cred, who may search dir,
 * lists it if that is worth it by now. Any thread; does not wait. */
void lister_missed(struct fs *fs, struct inode *dir, const struct rpc_cred *cred);

#endif
