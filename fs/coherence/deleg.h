/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg: files that the server has delegated to this mount.
 *
 * The server recalls a delegation before another client changes the file or, if the file is
 * delegated to write, before another client looks at the file. Until then all notes about the file
 * are valid, however old they are. A process that is known to have the right opens the file to
 * read, or also to write, without a call to the server.
 *
 * The NFS client keeps the delegation, and knows whether the mount still holds it
 * (nfs_deleg_holds()). An inode has the number of its delegation, and the time from which the
 * delegation counts (inode.deleg.at): answers to calls sent later stay valid. An OPEN brings
 * attributes and rights at least as new as the delegation. So both count as of the answer to the
 * OPEN, unless this mount has changed the file meanwhile, or may be about to.
 *
 *     to read    A change by this mount ends the belief until the next OPEN. An open to write
 *                returns the delegation.
 *     to write   This mount knows its own changes. Attributes that were asked for after a change
 *                count again (inode_known_attr()), and the file is opened without them. WRITEs by
 *                this mount leave the cached data as it is (filechange.h). close(2) does not wait
 *                for a COMMIT (ops_flush()). All data is made safe before the delegation is
 *                returned (recall.h).
 *
 * The removal of a name of the file returns either delegation.
 *
 * close(2) under a delegation to write waits for the WRITEs: only then does the server say that
 * there is no room. The protocol would allow close(2) not to wait, within space_limit. But a
 * program that has closed a file on NFS relies on the data being on another machine.
 *
 * The kernel believes attributes of a delegated file no longer than those of any file that does not
 * change (acregmax in nfs(5)). If this machine is cut off from the server, no recall can end the
 * kernel's belief, so the belief must expire. The kernel asks again, and is answered from here.
 */
#ifndef RNFS_FS_COHERENCE_DELEG_H
#define RNFS_FS_COHERENCE_DELEG_H

#include "fs/known/fs.h"

/* op, an OPEN of ino that was sent at `asked`, has succeeded. Returns the time from which the
 * answer counts for ino: now if ino is delegated, else `asked`. */
uint64_t deleg_note(struct fs *fs, struct inode *ino, const struct nfs_op *op, uint64_t asked);
/* Takes over the delegation of ino that a former daemon was given (nfs_former.h). Answers to calls
 * sent later count. Requests that the kernel has sent again have ended. */
void deleg_former(struct fs *fs, struct inode *ino);
/* May the server delegate to write a file that is opened with these flags? Then the OPEN asks for
 * the caller's rights as well, for the next open. */
bool deleg_to_write_may_come(const struct fs *fs, int flags);
/* Since when ino is delegated, on clock_ns(), or 0. Also 0 if the delegation is to read and this
 * mount has changed ino since. */
uint64_t deleg_since(const struct fs *fs, struct inode *ino);
/* Since when ino is delegated to write, or 0. */
uint64_t deleg_alone_since(const struct fs *fs, struct inode *ino);
/* Opens ino with flags for cred without asking the server; NULL: the delegation does not allow
 * it. */
struct nfs_open *deleg_open(
	const struct fs *fs, struct inode *ino, int flags, const struct rpc_cred *cred);
/* This mount is about to change ino. Returns a delegation to read, which would be in the way. */
void deleg_changing(const struct fs *fs, struct inode *ino);
/* A name of ino, which is not open, is about to be removed. Returns the number of the delegation to
 * return with the removal (nfs_op.u.remove.deleg), or 0. If data must be made safe first, returns
 * the delegation by a call of its own, and the result is 0. */
uint64_t deleg_leaves(const struct fs *fs, struct inode *ino);
/* Returns any delegation of ino, for a change that either kind would be in the way of. */
void deleg_give_back(const struct fs *fs, struct inode *ino);

#endif
