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
#include "transport/err.h"
#include "transport/ledger.h"
#include "transport/rpc/xdr.h"

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
/* Open directories for a successor (record.h). put: no request is under way. get: fs has the inodes
 * of the record, and fs->handle_numbers have room; on failure x is bad; false: no memory. */
void ops_dir_put_record(struct fs *fs, struct xdr_out *x);
bool ops_dir_get_record(struct fs *fs, struct xdr_in *x);
/* Open directories of a daemon that was killed, from their notes (ledger.h): a directory is noted
 * before the kernel is told of it, and again when a reader gets cookies with another verifier. fs
 * has the inodes of that daemon, and fs->handle_numbers have room. 0, or -1 with *e set: a note is
 * damaged, or no memory. Before requests are served. */
int ops_dirs_former(struct fs *fs, const struct former *former, struct err *e);
/* Goes on with requests that are GONE (request.h) and wait for another event than the server's
 * answer. Called by the main thread, with no lock held. */
void ops_end_gone(struct fs *fs);

#endif
