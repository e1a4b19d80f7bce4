/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * flush: requests that wait until what was written to a file before is on the server
 * (cache/writeback.h).
 *
 * Everything that asks the server about a file, or changes it otherwise than by gathered writes,
 * waits until it has what was WRITTEN: GETATTR, SETATTR, OPEN, LINK, appends, direct writes, locks,
 * copies, holes, reads of bytes that it does not have. FSYNC, FLUSH, RELEASE, an unlock and a
 * SETATTR of anything but the size wait until it is STABLE. What GETATTR, SETATTR and FLUSH want of
 * the server goes with the WRITE that they wait for, if it is one (struct nfs_then). What was lost
 * on the way filedata tells (cache/filedata.h). LOOKUP and READDIR do not wait: flush_size() mends
 * what they tell.
 */
#ifndef RNFS_FS_FLUSH_H
#define RNFS_FS_FLUSH_H

#include "cache/writeback.h"
#include "fs/fs.h"
#include "fs/request.h"

struct flushes;

/* NULL when out of memory. */
struct flushes *flushes_new(void);
/* Nobody may wait here. Accepts NULL, returns NULL. */
struct flushes *flushes_free(struct flushes *f);

/* What cache/writeback.h wants of this folder; its ctx is fs. */
struct writeback_ops flush_ops(struct fs *fs);

/* r goes on with next when what was written to ino before is on the server. False: it is, and next
 * was not called. ino must stay. */
bool flush_waits(
	struct request *r, struct inode *ino, enum written_level level, request_step_fn *next);
/* The same, and set (NULL: nothing; neither size nor owner) is set behind that and the attributes
 * are asked for, if it all goes in one COMPOUND: r->flush.then.done, also if r does not wait. */
bool flush_waits_then(struct request *r, struct inode *ino, enum written_level level,
	const struct nfs_sattr *set, request_step_fn *next);
/* The same as flush_waits() when there is room for writes again, after DIRTY_FULL. False: there may
 * be some already, or there will be none. */
bool flush_waits_room(struct request *r, request_step_fn *next);

/* Must a READ of [off, off + len) wait? If bytes of it are not on the server, or if the server's
 * file may end within it and the kernel's does not: it would cut the file short. */
bool flush_before_read(struct inode *ino, uint64_t off, uint32_t len);
/* The server was asked for ino's size at `asked` and told it: what the kernel is to be told, which
 * knows of what was written and is not on the server, or was not then. */
uint64_t flush_size(struct inode *ino, uint64_t size, uint64_t asked);

/* r, a FLUSH that is GONE and waits elsewhere, is answered and goes on, as one that waits here. By
 * the owner of a lock without which r does not go on. */
void flush_outlive(struct request *r);
/* A FLUSH of f that has outlived its answer (request.flush) has ended. */
void flush_outlived(struct fs *fs, struct file *f);
/* r, the release of r->file, goes on with next when no FLUSH of it does. False: none does. */
bool flush_waits_outlived(struct request *r, request_step_fn *next);

/* Ends the requests that wait here and are GONE (request.h), but for those that close a file. */
void flush_end_gone(struct fs *fs);
/* The mount ends: waits for a while until all is safe, and tries again what fails, but not for
 * ever. False: something may be lost, and the log has said of which files. */
bool flush_end(struct fs *fs);

/* Ends r, which was killed while it waited: by request.flush.gone, or with EINTR. */
void flush_end_killed(struct request *r);

#endif
