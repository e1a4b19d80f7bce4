/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * late: changes of a file's data that outlive the process that asked for them.
 *
 * A killed process does not wait for the server, but a WRITE that has reached the server cannot be
 * cancelled. The server executes calls in any order, and a lost connection may deliver a call
 * twice. If this mount lost track of such a call, the server could execute the call later: over
 * bytes written and made safe since, or over bytes that another client wrote under a lock.
 *
 * So the request of a killed process is answered EINTR and goes on. The request is LATE, with its
 * memory, until its call has ended (nfs_cancel()). Until then every change of the same bytes waits.
 * So do requests that let other clients have the file: an unlock, and the close of the file, which
 * unlocks. A request that waits here can be killed. A call that cannot have reached the server ends
 * at once. Where no process is killed no request waits, and no round trip is added.
 *
 *     sends      late_begin -> request_submit -> [GONE: LATE, answered] -> late_end, request_free
 *     waits      late_waits -> next
 *
 * A soft mount gives a call up when its time is up, as the kernel's client does: the server may
 * still execute the call. At the end of the mount the daemon waits for such calls, but not for long
 * (late_drain()).
 */
#ifndef RNFS_FS_FILE_LATE_H
#define RNFS_FS_FILE_LATE_H

#include "fs/kernel/request.h"

struct lates;

/* NULL when out of memory. */
struct lates *lates_new(void);
/* No request may be known here. Accepts NULL, returns NULL. */
struct lates *lates_free(struct lates *l);

/* r is about to submit a change of the bytes first..last of ino, both included (UINT64_MAX: to the
 * end of the file), or to submit the change once more. If r becomes GONE, r is LATE. The change
 * ends when r is answered or, if r is LATE, freed. */
void late_begin(struct request *r, struct inode *ino, uint64_t first, uint64_t last);
/* The call of r has ended. r is not LATE any more, will not become LATE, and may wait for requests
 * that are. If r was LATE, r has been answered (r->fuse is NULL). Else the caller answers r. */
void late_end(struct request *r);
/* True: r waits, and goes on with next when no LATE request changes any of these bytes of ino.
 * False: no LATE request does, and next was not called. ino must stay. */
bool late_waits(
	struct request *r, struct inode *ino, uint64_t first, uint64_t last, request_step_fn *next);
/* Does a LATE request change any of these bytes? Any thread. */
bool late_meets(struct fs *fs, struct inode *ino, uint64_t first, uint64_t last);

/* Answers the requests that are GONE, and makes them LATE. Ends waiting requests that are GONE,
 * except those that close a file. */
void late_end_gone(struct fs *fs);
/* The mount ends: waits for a limited time until no request is LATE. */
void late_drain(struct fs *fs);

#endif
