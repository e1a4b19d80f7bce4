/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * file_info: the answer to the kernel about a file that the kernel has opened or made.
 */
#include "fs/coherence/file_info.h"

#include <fcntl.h>

#include "fs/coherence/change.h"

struct fuse_file_info file_info(
	const struct fs *fs, struct file *f, const struct nfs_attr *attr, uint64_t asked)
{
	bool keeps = attr ? change_keeps_pages(f, attr, asked) : change_keeps_own_pages(f);

	if (attr)
		change_renew(fs, f->inode, attr, asked);
	return (struct fuse_file_info){
		.fh = f->handle.number,
		.flags = f->flags,
		/* For O_APPEND with O_DIRECT. Without direct_io the kernel sends the parts of a
		 * large write at once, and the parts arrive in any order; they must be appended in
		 * order. */
		.direct_io = (~f->flags & (O_APPEND | O_DIRECT)) == 0,
		.keep_cache = keeps,
		/* No FLUSH is needed: f cannot write, and the kernel keeps the locks of fcntl(2).
		 */
		.noflush = (f->flags & O_ACCMODE) == O_RDONLY && !fs->posix_locks,
	};
}
