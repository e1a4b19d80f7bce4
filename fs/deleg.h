/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * deleg: files that the server has delegated to this mount, to be read: it tells before anybody
 * else changes one. Until then what is known of the file is true however long ago it was asked, and
 * it is opened to read without asking, by those who are known to be allowed to.
 *
 * The delegation itself, and whether it is held, are the client's (nfs_deleg_holds()); an inode
 * knows its number and since when it counts (deleg_at): what the server was asked after that. An
 * OPEN brings attributes and rights that are not older than the delegation; so they count as of its
 * answer, unless this mount has changed the file meanwhile, or may be about to. What it changes
 * ends the belief until the next OPEN; who opens the file to write gives the delegation back, and
 * so does who removes a name of it.
 *
 * The kernel believes attributes no longer than it would of any file that does not change (acregmax
 * in nfs(5)): if this machine is cut off from the server, it must not believe for ever what nobody
 * can take back. It asks again, and is answered from here.
 */
#ifndef RNFS_FS_DELEG_H
#define RNFS_FS_DELEG_H

#include "fs/fs.h"

/* op, an OPEN of ino to read that was asked for at `asked`, has succeeded. Returns from when what
 * it has told of ino counts: now, if ino is delegated, else `asked`. */
uint64_t deleg_note(struct fs *fs, struct inode *ino, const struct nfs_op *op, uint64_t asked);
/* Since when ino is delegated, on clock_ns(), if it still is and this mount has not changed it
 * since; else 0. */
uint64_t deleg_since(const struct fs *fs, struct inode *ino);
/* Opens ino to read for cred without asking the server; NULL if it is not delegated. */
struct nfs_open *deleg_open(const struct fs *fs, struct inode *ino, const struct rpc_cred *cred);
/* ino is about to be changed by this mount such that the delegation would be in the way. */
void deleg_give_back(const struct fs *fs, struct inode *ino);

#endif
