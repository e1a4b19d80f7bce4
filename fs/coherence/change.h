/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * change: changes of a file's data by other clients, as the server's answers show them
 * (filechange.h), and the actions that follow.
 *
 * After a change by another client, the daemon invalidates the kernel's attributes. The kernel then
 * asks for attributes before the next read from its pages, and drops the pages if size or times are
 * other than believed. The notification never tells the kernel a size, so no size can jump back.
 * There is no other notification, and none where no other client writes.
 */
#ifndef RNFS_FS_COHERENCE_CHANGE_H
#define RNFS_FS_COHERENCE_CHANGE_H

#include "fs/known/fs.h"

/* Around a WRITE to ino: the WRITE is about to be submitted; has ended, with or without success. */
void change_begin(struct inode *ino);
void change_end(struct fs *fs, struct inode *ino, const struct nfs_op *op);
/* An op that was submitted after `asked`, and changes nothing, has brought a. To be called before
 * the kernel is answered. Any thread; does not wait. */
void change_look(struct fs *fs, struct inode *ino, const struct nfs_data_attr *a, uint64_t asked);
/* Other clients have changed ino: invalidates the kernel's attributes. Any thread; does not wait.
 * inval_doubt() is for a change that may come, or that no answer has shown. */
void change_doubt(struct fs *fs, struct inode *ino);
/* Data of ino was changed, so the server clears the set-ID bits of the file. The kernel leaves
 * set-ID bits to this daemon: if ino had any, the kernel is told to ask for the mode again. Any
 * thread; does not wait. To be called before the kernel is answered. */
void change_doubt_set_id(const struct fs *fs, struct inode *ino);
/* Has another client been seen to change ino a moment ago? Another change may follow. So the kernel
 * gets a time-out of 0, asks whenever it needs attributes, and is answered from known ones. */
bool change_is_shared(struct inode *ino);
/* Invalidates the kernel's attributes of ino, if the kernel may believe any, and was not notified
 * since view_times() was `times`. */
void change_forget(const struct fs *fs, struct inode *ino, unsigned times);
/* The server, asked at `asked`, has told a at an open. Close-to-open consistency covers the size
 * and the times too. So attributes of the kernel that are not the newest are invalidated, and the
 * kernel asks again. The attributes of the open then are the answer (ops_getattr()). Another size
 * that the kernel was told with time-out 0 is invalidated, too. Otherwise a process that asked for
 * that size might handle the answer after the opener has asked, and the kernel would discard the
 * opener's answer. (Without pages to invalidate, this function does not wait.) */
void change_renew(const struct fs *fs, struct inode *ino, const struct nfs_attr *a, uint64_t asked);
/* Invalidates the kernel's attributes of the inode, and its pages from offset `from` on (-1: no
 * pages). Returns 0 or a negative errno. All notifications about an inode go through here, so that
 * the daemon knows the attributes that the kernel got since. An extra notification makes the kernel
 * discard a GETATTR reply in flight, and read up to the old end of the file. */
int change_notify(const struct fs *fs, struct inode *ino, off_t from);
/* change_notify() with the pages of [from, from + len) only; len 0: to the end. */
int change_notify_range(const struct fs *fs, struct inode *ino, off_t from, off_t len);
/* Waits until other threads have sent the notifications about attributes that they have already
 * decided to send. The kernel does not make such a thread wait for pages. To be called before a
 * lock is answered: a late notification makes the kernel discard the attributes that the holder of
 * the lock asks for. */
void change_await_notices(struct inode *ino);
/* An answer to an append with the data in the wrong place (append.c) may be in flight beside
 * attributes that the kernel is about to be told. The kernel takes these attributes or not,
 * depending on which of the two answers comes first. True: such an answer is in flight, and this
 * function has made the kernel discard the attributes. */
bool change_goes_astray(const struct fs *fs, struct inode *ino, const struct told *told);
/* Such an append, counted in inode.append.astray, is about to be answered. */
void change_astray_end(const struct fs *fs, struct inode *ino);
/* change_look() for attributes that the kernel is about to be told: data that the kernel reads
 * while it believes the attributes must not be older. */
void change_told(struct inode *ino, const struct nfs_attr *a, uint64_t asked);
/* The server, asked after `asked`, has opened f: may the kernel keep its pages? */
bool change_keeps_pages(struct file *f, const struct nfs_attr *a, uint64_t asked);
/* change_keeps_pages() for a file that is opened without the server, because no other client has
 * changed the file. */
bool change_keeps_own_pages(struct file *f);
/* The kernel uses f: if an open told the kernel to invalidate the file's pages, the kernel has done
 * so. (Not to be called for a release of f: the open may have failed after all.) */
void change_file_used(struct file *f);
/* Must a READ of ino that is sent now bring attributes? Over NFSv4 attributes need another
 * operation. One a second is enough, or as often as attributes may be believed at least. */
bool change_wants_attr(const struct fs *fs, struct inode *ino, uint64_t now);

#endif
