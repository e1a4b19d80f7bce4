/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * entry: what the kernel is told of names and attributes, and for how long it may believe it; and
 * what is noted here of what the server has said of them.
 */
#ifndef RNFS_FS_ENTRY_H
#define RNFS_FS_ENTRY_H

#include <sys/stat.h>

#include "fs/fs.h"
#include "fs/request.h"

/* Since when what the server has said about attributes and rights is believed. */
uint64_t entry_attr_since(const struct fs *fs);
/* The kernel is about to be told a as the attributes of ino: for how many seconds. */
double entry_attr_timeout(const struct fs *fs, struct inode *ino, const struct nfs_attr *a);
/* Attributes of ino as stat(2) shows them, for telling the kernel. */
void entry_stat(struct inode *ino, const struct nfs_attr *a, struct stat *st);
/* The server was asked for attributes of ino at `seen`: notes them, and has the kernel doubt what
 * they make doubtful. */
void entry_note_attr(struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t seen);
/* Data of ino was changed, by which the server may have taken its set-ID bits away: has the kernel,
 * which leaves that to us, ask for the mode. Any thread; does not wait. To be called before the
 * kernel is answered. */
void entry_doubt_set_id(const struct fs *fs, struct inode *ino);
/* The mode of what is to be made, with the caller's umask beside it where the server wants to know
 * that (RFC 8275), but for symbolic links, which have none. */
void entry_set_mode(fuse_req_t req, struct nfs_sattr *set, mode_t mode, bool is_link);
/* Is the mode of dir, which decides how long names in it are believed, too old? */
bool entry_mode_is_old(const struct fs *fs, struct inode *dir);

/* Fills e for name in dir, an inode that inode_lookup() gave; the server was asked at `seen`, and
 * has let the caller search dir. */
void entry_fill(struct fs *fs, struct inode *dir, const char *name, struct inode *ino,
	const struct nfs_attr *a, uint64_t seen, struct fuse_entry_param *e);
/* Answers r with e for ino, which has a lookup for the kernel, and frees r. */
void entry_reply(struct request *r, struct inode *ino, const struct fuse_entry_param *e);
/* Ends r with an entry for r->name in r->dir, whose handle is fh, or with error if that is not 0.
 * attr: in an op of r, as of `seen`. */
void entry_end(struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr,
	uint64_t seen);
/* The same for a name that r has just made. */
void entry_end_made(
	struct request *r, int error, const struct nfs_fh *fh, const struct nfs_attr *attr);
/* The server was asked to make (made) or remove name in dir, with this result. */
void entry_changed(struct fs *fs, struct inode *dir, const char *name, bool made, int error);

/* All that ACCESS can ask about ino: the next one may ask for others. */
uint32_t entry_access_bits(const struct inode *ino);
/* Makes p ready to ask for all of it, for r->inode. */
void entry_ask_access(struct request *r, struct part *p);
/* Takes the answer in; 0 or a negative errno. */
int entry_note_access(struct request *r, const struct nfs_op *op);

#endif
