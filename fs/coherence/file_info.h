/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file_info: the answer to the kernel about a file that the kernel has opened or made.
 */
#ifndef RNFS_FS_COHERENCE_FILE_INFO_H
#define RNFS_FS_COHERENCE_FILE_INFO_H

#include "fs/known/file.h"

/* f is open, and the caller is about to answer with the result: the kernel then keeps its pages, or
 * invalidates them. attr: of the inode, asked for at `asked`; NULL: no other client has changed the
 * file, and the kernel asks for attributes when needed. */
struct fuse_file_info file_info(
	const struct fs *fs, struct file *f, const struct nfs_attr *attr, uint64_t asked);

#endif
