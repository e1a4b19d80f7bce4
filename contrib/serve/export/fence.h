/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fence: the synthetic user and group that may use a file at a data server (RFC 8435 section 2.2).
 *
 * A metadata server (--pnfs) and its data servers (--data-server) share a directory and the key of
 * file handles. The ids of a file follow from the key, the file's identity as in its handle
 * (handle.h), and a random number kept with the file, as an extended attribute. So a later file
 * with the same inode number has other ids. The metadata server tells a client the ids with a
 * layout. A data server reads or writes the file for no others: the user may write, the group may
 * read. The mode of the file does not count there, since the metadata server has looked at the mode
 * when the client opened the file.
 *
 * A new random number fences the file: all layouts given out before are worthless at all data
 * servers. No message passes between the servers. The exported directory has a number, too, that
 * counts for all files: a metadata server fences the directory at its start, since the server does
 * not know the layouts of an earlier run.
 *
 * The attribute is one of the namespace "trusted." for a server run by root, otherwise of "user.".
 * A file that was never fenced has no attribute.
 */
#ifndef RNFS_SERVE_EXPORT_FENCE_H
#define RNFS_SERVE_EXPORT_FENCE_H

#include "contrib/serve/export/object.h"
#include "transport/rpc/rpc.h"

#define FENCE_NAME "rnfs.fence" /* behind the namespace */

struct fence_ids {
	uint32_t uid, gid; /* 2^30 to 2^31 - 1: users of no machine */
};
/* The ids of o now. 0 or -errno. */
int fence_ids(const struct obj_table *t, const struct obj *o, struct fence_ids *ids);
/* Gives o new ids. False: o cannot have the attribute. For any identity of the thread. */
bool fence_try(struct obj *o);
/* Gives o, or (the exported directory) all files, new ids. If o cannot have the attribute, all
 * files get new ids. The log tells of a failure, once a minute. For any identity of the thread. */
void fence_raise(struct obj_table *t, struct obj *o);
/* Has this server fenced o, or all files for want of room, a moment ago? Then clients may report
 * that data servers refuse them. */
bool fence_is_new(const struct obj_table *t, const struct obj *o);
/* At a data server: may the caller cred read o, or (write) change its data? 0: from now on the
 * thread acts as o's owner, so that quotas count. -EACCES, or another -errno. */
int fence_admit(
	const struct obj_table *t, const struct obj *o, const struct rpc_cred *cred, bool write);

#endif
