/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * flush: requests that wait until data written to a file before is on the server
 * (cache/writeback.h).
 *
 * A request waits until gathered data is WRITTEN if the request asks the server about the file, or
 * changes the file otherwise than by gathered writes: GETATTR, SETATTR, OPEN, LINK, appends, direct
 * writes, locks, the target of a copy, holes, and READs of bytes that the server does not have.
 * FSYNC, FLUSH, RELEASE, an unlock, the source of a copy, and a SETATTR of anything but the size
 * wait until the data is STABLE. If GETATTR, SETATTR or FLUSH waits for a WRITE, its operations go
 * in the same COMPOUND as the WRITE (struct nfs_then). filedata reports lost data
 * (cache/filedata.h). LOOKUP and READDIR do not wait: flush_size() corrects the sizes in their
 * answers.
 */
#ifndef RNFS_FS_FILE_FLUSH_H
#define RNFS_FS_FILE_FLUSH_H

#include "cache/writeback.h"
#include "fs/known/fs.h"
#include "fs/kernel/request.h"

struct flushes;

/* NULL when out of memory. */
struct flushes *flushes_new(void);
/* No request may wait here. Accepts NULL, returns NULL. */
struct flushes *flushes_free(struct flushes *f);

/* The functions that cache/writeback.h calls; their ctx is fs. */
struct writeback_ops flush_ops(struct fs *fs);

/* True: r waits, and goes on with next when all data written to ino before is on the server. False:
 * the data is there, and next was not called. ino must stay. */
bool flush_waits(
	struct request *r, struct inode *ino, enum written_level level, request_step_fn *next);
/* r is about to be sent, and cuts data of ino: begins r->cut (written_cut_begin()). True: r waits
 * first, as in flush_waits(), and next must call again. Since the caller last waited for written
 * data, a restart of the server may have made data new again: without a wait that data would be
 * written behind the cut. */
bool flush_cut_waits(struct request *r, struct inode *ino, request_step_fn *next);
/* flush_waits() with more operations. If all fits in one COMPOUND, sets the attributes in `set`
 * (NULL: none; neither size nor owner) behind the WRITE, and asks for the attributes.
 * r->flush.then.done says whether these operations were done, also if r does not wait. */
bool flush_waits_then(struct request *r, struct inode *ino, enum written_level level,
	const struct nfs_sattr *set, request_step_fn *next);
/* After DIRTY_FULL: as flush_waits(), r goes on with next when there is room for writes again.
 * False: there may be room already, or there will be none. */
bool flush_waits_room(struct request *r, request_step_fn *next);

/* Must a READ of [off, off + len) wait? True if bytes of the range are not on the server, or may
 * have been lost in a restart of the server. True if the file may end within the range on the
 * server, but not in the kernel: the READ would cut the file short. */
bool flush_before_read(struct inode *ino, uint64_t off, uint32_t len);
/* The level for flush_waits() at which the server has the data in [off, off + len), even if the
 * server has restarted since it took the data. */
enum written_level flush_kept_level(struct inode *ino, uint64_t off, uint64_t len);
/* The server, asked at `asked`, has told `size`. Returns the size to tell the kernel. The kernel
 * knows of writes that are not on the server now, were not then, or may be lost with the server's
 * memory. */
uint64_t flush_size(struct inode *ino, uint64_t size, uint64_t asked);

/* r, a FLUSH that is GONE and waits elsewhere, is answered and goes on, like a FLUSH that waits
 * here. The caller holds a lock without which r does not go on. */
void flush_outlive(struct request *r);
/* A FLUSH of f that has outlived its answer (request.flush) has ended. */
void flush_outlived(struct fs *fs, struct file *f);
/* True: r, the release of r->file, waits, and goes on with next when no FLUSH of the file has
 * outlived its answer. False: none has. */
bool flush_waits_outlived(struct request *r, request_step_fn *next);

/* Ends the requests that wait here and are GONE (request.h), except those that close a file. */
void flush_end_gone(struct fs *fs);
/* The mount ends: waits until all data is safe, and retries failures, for a limited time. False:
 * data may be lost, and the log names the files. */
bool flush_end(struct fs *fs);

/* Ends r, which was killed while waiting, by request.flush.gone or with EINTR. */
void flush_end_killed(struct request *r);

#endif
