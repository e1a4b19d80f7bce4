/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file_info: what the kernel is told of a file that it has opened or made.
 */
#ifndef RNFS_FS_FILE_INFO_H
#define RNFS_FS_FILE_INFO_H

#include "fs/file.h"

/* f is open, and this is about to be answered: from then on the kernel has kept its pages, or
 * dropped them. attr: of its inode, asked for at `asked`; NULL: nobody else has changed it, and the
 * kernel asks for what it wants to know. */
struct fuse_file_info file_info(
	const struct fs *fs, struct file *f, const struct nfs_attr *attr, uint64_t asked);

#endif
