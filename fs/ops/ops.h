/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * ops: the operations that the kernel asks for, spread over ops_*.c by their objects. Each begins
 * on a worker, called by libfuse, and ends on the thread that sees the last answer from the server.
 */
#ifndef RNFS_FS_OPS_OPS_H
#define RNFS_FS_OPS_OPS_H

#include "fs/known/fs.h"
#include "fs/kernel/request.h"

/* The operations, by the members of struct fuse_lowlevel_ops: `lookup` is ops_lookup(). */
#define FS_OPS(OP)                                                                                 \
	/* ops_meta.c */                                                                           \
	OP(init)                                                                                   \
	OP(getattr)                                                                                \
	OP(setattr)                                                                                \
	OP(access)                                                                                 \
	OP(readlink)                                                                               \
	OP(statfs)                                                                                 \
	/* ops_lookup.c */                                                                         \
	OP(lookup)                                                                                 \
	OP(forget)                                                                                 \
	OP(forget_multi)                                                                           \
	/* ops_name.c */                                                                           \
	OP(mknod)                                                                                  \
	OP(mkdir)                                                                                  \
	OP(symlink)                                                                                \
	OP(link)                                                                                   \
	OP(unlink)                                                                                 \
	OP(rmdir)                                                                                  \
	OP(rename)                                                                                 \
	/* ops_file.c */                                                                           \
	OP(open)                                                                                   \
	OP(create)                                                                                 \
	/* ops_flush.c */                                                                          \
	OP(flush)                                                                                  \
	OP(fsync)                                                                                  \
	OP(release)                                                                                \
	/* ops_data.c */                                                                           \
	OP(read)                                                                                   \
	OP(write_buf)                                                                              \
	/* ops_lock.c */                                                                           \
	OP(getlk)                                                                                  \
	OP(setlk)                                                                                  \
	OP(flock)                                                                                  \
	/* ops_space.c */                                                                          \
	OP(lseek)                                                                                  \
	OP(fallocate)                                                                              \
	OP(copy_file_range)                                                                        \
	/* ops_xattr.c */                                                                          \
	OP(getxattr)                                                                               \
	OP(listxattr)                                                                              \
	OP(setxattr)                                                                               \
	OP(removexattr)                                                                            \
	/* ops_dir.c */                                                                            \
	OP(opendir)                                                                                \
	OP(readdir)                                                                                \
	OP(readdirplus)                                                                            \
	OP(releasedir)                                                                             \
	OP(fsyncdir)

#define DECLARE(op) __typeof__(*((struct fuse_lowlevel_ops *)0)->op) ops_##op;
FS_OPS(DECLARE)
#undef DECLARE

/* The table of the operations; userdata is a struct fs. Lock operations are left out where the
 * kernel must keep the locks. */
struct fuse_lowlevel_ops ops_table(const struct fs *fs);
/* Goes on with requests that are GONE (request.h) and wait for another event than the server's
 * answer. Called by the main thread, with no lock held. */
void ops_end_gone(struct fs *fs);

#endif
