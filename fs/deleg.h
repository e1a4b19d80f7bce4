/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg: files that the server has delegated to this mount: it tells before anybody else changes
 * one, or, where it is delegated to write, so much as looks at it. Until then what is known of the
 * file is true however long ago it was asked, and it is opened to read, or also to write, without
 * asking, by those who are known to be allowed to.
 *
 * The delegation itself, and whether it is held, are the client's (nfs_deleg_holds()); an inode
 * knows its number and since when it counts (deleg_at): what the server was asked after that. An
 * OPEN brings attributes and rights that are not older than the delegation; so they count as of its
 * answer, unless this mount has changed the file meanwhile, or may be about to.
 *
 *     to read    what this mount changes ends the belief until the next OPEN; who opens the file to
 *                write gives the delegation back
 *     to write   what this mount changes is its own to know: attributes count again that were asked
 *                for after that (inode_known_attr()), and the file is opened without them. Its
 *                WRITEs leave what is cached as it is (filechange.h). close(2) does not wait for a
 *                COMMIT (ops_flush()). Before it goes back all is made safe (recall.h)
 *
 * Who removes a name of the file gives back either.
 *
 * The kernel believes attributes no longer than it would of any file that does not change (acregmax
 * in nfs(5)): if this machine is cut off from the server, it must not believe for ever what nobody
 * can take back. It asks again, and is answered from here.
 */
#ifndef RNFS_FS_DELEG_H
#define RNFS_FS_DELEG_H

#include "fs/fs.h"

/* op, an OPEN of ino that was asked for at `asked`, has succeeded. Returns from when what
 * it has told of ino counts: now, if ino is delegated, else `asked`. */
uint64_t deleg_note(struct fs *fs, struct inode *ino, const struct nfs_op *op, uint64_t asked);
/* May the server delegate a file to write that is opened with these flags? Then the caller's rights
 * are to be known, for the next open. */
bool deleg_to_write_may_come(const struct fs *fs, int flags);
/* Since when ino is delegated, on clock_ns(), if it still is and this mount has not changed it
 * since, or it is delegated to write; else 0. */
uint64_t deleg_since(const struct fs *fs, struct inode *ino);
/* Since when it is delegated to write; else 0. */
uint64_t deleg_alone_since(const struct fs *fs, struct inode *ino);
/* Opens ino with flags for cred without asking the server; NULL if it is not delegated for that. */
struct nfs_open *deleg_open(
	const struct fs *fs, struct inode *ino, int flags, const struct rpc_cred *cred);
/* ino is about to be changed by this mount: a delegation to read would be in the way. */
void deleg_changing(const struct fs *fs, struct inode *ino);
/* A name of ino, which is not open, is about to go: the delegation that is to go with it
 * (nfs_op.u.remove.deleg), or 0, also where it has to go by itself because something is to be made
 * safe first. */
uint64_t deleg_leaves(const struct fs *fs, struct inode *ino);
/* ino is about to be changed such that any delegation would be in the way. */
void deleg_give_back(const struct fs *fs, struct inode *ino);

#endif
