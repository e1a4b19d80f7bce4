/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * change: what the answers about a file's data tell of changes by others (filechange.h), and what
 * follows from that.
 *
 * When somebody else has changed the file the kernel is to doubt its attributes: it asks for them
 * before it next reads from its pages, and drops those if size or times are not what it believed.
 * No size is ever told it here, so that none can jump back. That is the only notification; where
 * nobody else writes there is none.
 */
#ifndef RNFS_FS_CHANGE_H
#define RNFS_FS_CHANGE_H

#include "fs/fs.h"

/* A WRITE to ino is about to be submitted; and has ended, with or without success. */
void change_begin(struct inode *ino);
void change_end(struct fs *fs, struct inode *ino, const struct nfs_op *op);
/* An op that was submitted after `asked` and changes nothing has brought a. Before the kernel is
 * answered. Any thread; does not wait. */
void change_look(struct fs *fs, struct inode *ino, const struct nfs_data_attr *a, uint64_t asked);
/* Others may have changed ino: the kernel is to doubt its attributes. Likewise. */
void change_doubt(struct fs *fs, struct inode *ino);
/* Has somebody else been seen to change ino a moment ago? Then he may again, and the kernel asks
 * for attributes whenever it needs them, and is answered from those that are known. */
bool change_is_shared(struct inode *ino);
/* Has the kernel forget attributes of ino that it may believe, if there are any. */
void change_forget(const struct fs *fs, struct inode *ino);
/* The server, asked at `asked`, has told a at an open. Close-to-open consistency is about the size
 * and the times as well: the kernel forgets attributes that are not the newest, and asks for them:
 * those of the open will do (ops_getattr()). It is also to throw away another size that it was told
 * in passing: who has asked for that may handle it only after whoever opens has asked, whose answer
 * would be thrown away then. (Without pages to drop, this does not wait.) */
void change_renew(const struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t asked);
/* Has it forget them, whatever it was told, and drop the pages from `from` on; -1: none. 0 or a
 * negative errno. Every notification about an inode goes this way, so that it is known what the
 * kernel was told since: one too many has it throw away the answer to a GETATTR, and read up to the
 * end that the file had. */
int change_notify(const struct fs *fs, struct inode *ino, off_t from);
/* The same with the pages of [from, from + len); len 0: to the end. */
int change_notify_range(const struct fs *fs, struct inode *ino, off_t from, off_t len);
/* Is it unknown whether the kernel, which has asked at `born`, would take attributes that the
 * server was asked for at `asked`, since it gets them beside the answer to an append that it has in
 * the wrong place (append.c)? Then it has been made to throw them away. */
bool change_goes_astray(const struct fs *fs, struct inode *ino, uint64_t asked, uint64_t born);
/* Such an append, counted in inode.astray, is about to be answered. */
void change_astray_end(const struct fs *fs, struct inode *ino);
/* change_look() of all attributes, which the kernel is about to be told: what it reads when it
 * believes them must not be older than they are. */
void change_told(struct inode *ino, const struct nfs_attr *a, uint64_t asked);
/* The server, asked after `asked`, has opened f: may the kernel keep the pages that it has? */
bool change_keeps_pages(struct file *f, const struct nfs_attr *a, uint64_t asked);
/* The same of one that is opened without the server, since nobody else has changed the file. */
bool change_keeps_own_pages(struct file *f);
/* The kernel uses f: if it was to drop the file's pages when that was opened, it has done so. (Not
 * if it releases f: perhaps it could not open it after all.) */
void change_file_used(struct file *f);
/* Is a READ of ino, now, to bring attributes? Over NFSv4 that is another operation: one is enough a
 * second, or as often as attributes may be believed at least. */
bool change_wants_attr(const struct fs *fs, struct inode *ino, uint64_t now);

#endif
