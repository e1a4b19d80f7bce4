/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * late: changes of a file's data that outlive the process that has asked for them.
 *
 * A process that is killed does not wait for the server, but a WRITE that the server has got cannot
 * be taken back. The server executes calls in any order, and a call that a lost connection has
 * carried may come to it twice. If this mount forgot such a call, the server could execute it over
 * bytes that were written and made safe since, or that another client wrote under a lock that it
 * got since.
 *
 * So the request of such a process is answered EINTR and goes on: it is LATE, with its memory,
 * until its call has ended (nfs_cancel()). Until then every change of the same bytes waits, as does
 * all that tells other clients that the file is theirs: unlocking, and closing the file, which
 * unlocks. Who waits can be killed. What the server cannot have got ends at once. Where nobody is
 * killed nothing waits, and nothing costs a round trip.
 *
 *     sends      late_begin -> request_submit -> [GONE: LATE, answered] -> late_end, request_free
 *     waits      late_waits -> next
 *
 * A soft mount forgets a call when its time is up, as the kernel's client does: the server may
 * execute it all the same. At the end of the mount such calls are waited for, but not for long
 * (late_drain()).
 */
#ifndef RNFS_FS_LATE_H
#define RNFS_FS_LATE_H

#include "fs/request.h"

struct lates;

/* NULL when out of memory. */
struct lates *lates_new(void);
/* No request may be known here. Accepts NULL, returns NULL. */
struct lates *lates_free(struct lates *l);

/* r is about to submit what changes the bytes first..last of ino, both included (UINT64_MAX: to the
 * end, wherever that is), or to do so once more. If r becomes GONE it is LATE. It ends when r is
 * answered, or freed if it is LATE. */
void late_begin(struct request *r, struct inode *ino, uint64_t first, uint64_t last);
/* What r has submitted has ended: it is not LATE any more, nor will be, and may wait for others
 * that are. If it was, it has been answered (r->fuse is NULL). Else r->fuse is r's own to answer.
 */
void late_end(struct request *r);
/* r goes on with next when no LATE request changes any of these bytes of ino. False: none does, and
 * next was not called. ino must stay. */
bool late_waits(
	struct request *r, struct inode *ino, uint64_t first, uint64_t last, request_step_fn *next);
/* Does a LATE request change any of these bytes? Any thread. */
bool late_meets(struct fs *fs, struct inode *ino, uint64_t first, uint64_t last);

/* Answers the requests that are GONE, and makes them LATE; ends those that wait and are GONE, but
 * for those that close a file. */
void late_end_gone(struct fs *fs);
/* The mount ends: waits for a while until no request is LATE. */
void late_drain(struct fs *fs);

#endif
