/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * locker: the owners that may hold locks on a file, and clearing the locks that they leave behind.
 *
 * Locks live on the server. If the daemon handles lock operations, the kernel keeps no list of
 * locks, and cannot say which locks a process leaves behind. So each inode has a list of lockers: a
 * lock owner and the open file through which the owner asked. When a process closes any descriptor
 * of the file, FLUSH names the owner, and all of that owner's locks are cleared. RELEASE clears the
 * locks of the owners that came through the open file: flock's and OFD locks belong to an open
 * file.
 *
 * The kernel does not wait for RELEASE. close(2) has returned, and the next process may ask for the
 * freed lock before the server knows of the release. So a refused lock is asked for again if a
 * RELEASE clears locks of the file, or did so meanwhile. A refused lock is also asked for again,
 * for some time, after a FLUSH of an open file that may hold locks: another worker may have read
 * the RELEASE, but not begun with it (locker_moved()).
 *
 * For the same reason the next open file may get the kernel's number of an earlier one, the owner
 * of its flock and OFD locks, before the RELEASE of the earlier one. So flock has owners numbered
 * here. And a RELEASE leaves alone an owner that is also known through another open file: the
 * RELEASE of that other file clears all.
 *
 * An inode's lock guards its list and counts.
 */
#ifndef RNFS_FS_FILE_LOCKER_H
#define RNFS_FS_FILE_LOCKER_H

#include "fs/known/file.h"
#include "fs/kernel/request.h"
#include "transport/err.h"

/* The lockers of a daemon that was killed, from their notes: a locker has a note until the server
 * has cleared the owner's locks. fs has the files of that daemon. 0, or -1 with *e set: a note is
 * damaged, or no memory. Before requests are served. */
int lockers_former(struct fs *fs, const struct former *former, struct err *e);

/* False when out of memory. */
bool locker_add(struct file *f, uint64_t owner, pid_t pid);
/* May owner hold locks? *pid, unless NULL: the process that asked. */
bool locker_known(struct inode *ino, uint64_t owner, pid_t *pid);
/* May any owner hold locks on ino? */
bool locker_any(struct inode *ino);
/* The lock that owner asked for through f was granted: by this mount, while `since` was
 * deleg_alone_since(), or (0) by the server. */
void locker_granted(struct file *f, uint64_t owner, uint64_t since);
/* The granted lock of [first, last] is exclusive. */
void locker_excludes(struct file *f, uint64_t owner, uint64_t first, uint64_t last);
/* May a shared lock of [first, last] replace an exclusive one of owner? */
bool locker_may_weaken(struct inode *ino, uint64_t owner, uint64_t first, uint64_t last);
/* Does the server know of none of the locks on ino? since: deleg_alone_since(). True also without
 * any lock. */
bool locker_all_local(struct inode *ino, uint64_t since);
/* May a refused lock be free now? True if a RELEASE that cleared locks has ended since *ended,
 * which becomes the present count; or is in flight, for another open file than f; or may have been
 * sent before a request that came at `asked`, and not have begun yet. */
bool locker_moved(struct file *f, unsigned *ended, uint64_t asked);

/* A process closes f: a RELEASE may follow soon. */
void locker_flushing(struct file *f);
/* A process has closed f: may owner, the owner of the process, hold locks on the file? If so, the
 * owner is removed from the list, and the caller must call locker_clear(). */
bool locker_flush(struct file *f, uint64_t owner);
/* Clears all locks that owner holds on r->file, then calls next. */
void locker_clear(struct request *r, uint64_t owner, request_step_fn *next);
/* f is about to be released. To be called at once, before any wait. */
void locker_close_begin(struct file *f);
/* Clears the locks of all owners that came through r->file, which is being released, then calls
 * next. */
void locker_close(struct request *r, request_step_fn *next);

#endif
