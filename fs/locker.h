/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * locker: who may hold locks on a file, and clearing what they leave behind.
 *
 * Locks live on the server. The kernel keeps no list of them (where the table of operations has
 * those of locks), so it cannot say which ones a process leaves behind. Each inode has a list of
 * lockers: a lock owner and the open file through which it asked. When a process closes any
 * descriptor of the file, FLUSH names the owner, and all of that owner's locks go. At RELEASE go
 * those of the owners that came through that open file: flock's and OFD locks belong to it.
 *
 * The kernel does not wait for RELEASE: close(2) has returned, and the next process may have asked
 * for the lock that went with it, before the server knows. So a lock that is refused while a
 * RELEASE clears locks of the file, or did so meanwhile, is asked for again. So it is, for some
 * time, when there was a FLUSH of an open file that may hold locks: its RELEASE may have been read
 * by another worker, which has not begun with it (locker_moved()).
 *
 * For the same reason the kernel's number of an open file, the owner of its flock and OFD locks,
 * may come again with the next open file before the RELEASE of the one that had it. So flock has
 * owners numbered here; and a RELEASE leaves alone an owner who is known through another open file
 * too, whose RELEASE then clears all.
 *
 * An inode's lock guards its list and counts.
 */
#ifndef RNFS_FS_LOCKER_H
#define RNFS_FS_LOCKER_H

#include "fs/file.h"

/* False when out of memory. */
bool locker_add(struct file *f, uint64_t owner, pid_t pid);
/* May owner hold locks? *pid, unless NULL: the process that asked. */
bool locker_known(struct inode *ino, uint64_t owner, pid_t *pid);
/* May anybody hold locks on ino? */
bool locker_any(struct inode *ino);
/* The lock that owner asked for through f was granted: here, while since was deleg_alone_since(),
 * or (0) by the server. */
void locker_granted(struct file *f, uint64_t owner, uint64_t since);
/* Are all locks on ino local, as far as there are any, if deleg_alone_since() is since? */
bool locker_all_local(struct inode *ino, uint64_t since);
/* Has a RELEASE that cleared locks ended since *ended, which becomes the present count, or is one
 * under way, of another open file than f? Or may one have been sent before a request that came at
 * `asked`, and not have begun yet? */
bool locker_moved(struct file *f, unsigned *ended, uint64_t asked);

/* A process closes f: a RELEASE may follow soon. */
void locker_flushing(struct file *f);
/* A process has closed f: may its owner hold locks of the file? They are not looked after any more:
 * the caller must locker_clear(). */
bool locker_flush(struct file *f, uint64_t owner);
/* Clears all locks that owner holds on r->file, then next. */
void locker_clear(struct request *r, uint64_t owner, request_step_fn *next);
/* f is about to be released. To be called at once, before anything is waited for. */
void locker_close_begin(struct file *f);
/* Clears the locks of all owners that came through r->file, which is being released, then next. */
void locker_close(struct request *r, request_step_fn *next);

#endif
