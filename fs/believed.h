/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * believed: the size that the kernel believes a file to have.
 *
 * The daemon cannot ask the kernel. A thread handles an answer some time after the daemon has sent
 * the answer, and the kernel ignores the attributes in the answer if it has learned others since
 * the thread asked. So a file may have several sizes that the kernel may believe, and this struct
 * keeps the largest.
 *
 *     told more     counts at once
 *     told less     counts when the thread has handled the answer; never if the kernel may have
 *                   learned something else since the thread asked
 *     a write       moves the size up to its end, and makes the kernel ignore older answers
 *     a cut         (SETATTR of the size, OPEN with O_TRUNC) counts at once as told; but until its
 *                   thread has handled the answer the kernel may believe the size of before
 *     notified      makes the kernel ignore older answers
 *
 * A thread has handled an answer when it sends its next request, and after BELIEVED_TAKEN_NS at the
 * latest.
 *
 * The kernel also takes a short answer to a READ as the end of the file, but ignores that end if it
 * has learned anything else since it made the READ: believed_ignores().
 *
 * No function takes a lock: the owner of the struct serialises the calls (inode.lock). All times
 * are of clock_ns(). A thread 0 is one that is not known.
 */
#ifndef RNFS_FS_BELIEVED_H
#define RNFS_FS_BELIEVED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BELIEVED_TAKEN_NS   100000000u
#define BELIEVED_HANDLED_NS 20000000u /* for believed_handled() */
#define BELIEVED_TOLD	    4u

/* An answer that makes the kernel learn something: sent to tid at `at`, handled by `until`. */
struct believed_move {
	pid_t tid;
	uint64_t at, until;
};

/* All zero: the kernel knows nothing. */
struct believed {
	uint64_t most; /* the largest size that the kernel may believe */
	/* the largest of the smaller sizes that the kernel was told since less_at, and the thread
	 * that was told last. less_at 0: none. */
	uint64_t less, less_at;
	pid_t less_by;
	uint64_t thrown_at;	   /* answers to requests made before do not count */
	struct believed_move last; /* a larger size that was told, or a write */
	uint64_t moves_until;	   /* the moves before the last one, and notifications */
	unsigned notifying;	   /* notifications under way; notify_at: when the last one began */
	uint64_t notify_at;
	unsigned cuts;		  /* SETATTRs of the size under way */
	struct believed_move cut; /* the last answer to a cut */
	uint64_t cut_from;	  /* the largest size before the cuts that count */
	/* the last answers with attributes, also with a smaller size, each to another thread */
	struct believed_move told[BELIEVED_TOLD];
};

/* An answer to thread tid also shows that the thread has handled the answers before.
 *
 * Thread tid, which has asked at `born`, is told a size. */
void believed_told(struct believed *b, uint64_t size, uint64_t born, pid_t tid, uint64_t now);
/* A write of this mount up to `end` is about to be answered to thread tid. */
void believed_wrote(struct believed *b, uint64_t end, pid_t tid, uint64_t now);
/* The kernel is about to be notified, and has been. */
void believed_notifies(struct believed *b, uint64_t now);
void believed_notified(struct believed *b, uint64_t now);
/* A SETATTR of the size begins, and is about to be answered to thread tid. */
void believed_cut_begin(struct believed *b, uint64_t now);
void believed_cut_end(struct believed *b, pid_t tid, uint64_t now);
/* Thread tid is told that its SETATTR or its OPEN has made the size this. */
void believed_cut(struct believed *b, uint64_t size, pid_t tid, uint64_t now);
/* The daemon has read another request of thread tid at `born`. */
void believed_heard(struct believed *b, pid_t tid, uint64_t born);

/* Has every thread handled the attributes that it was told? Threads that were told more than
 * BELIEVED_HANDLED_NS ago have, and so have those before the last BELIEVED_TOLD ones. */
bool believed_handled(const struct believed *b, uint64_t now);
/* May the kernel believe a larger size? */
bool believed_more(struct believed *b, uint64_t size, uint64_t now);
/* A READ of thread tid, which the daemon read at `born` and the kernel made at `since` or later. */
struct believed_read {
	pid_t tid;
	uint64_t born, since;
};
/* The answer to the READ ends at `end`, where the file ends. May the kernel believe a larger size,
 * and ignore that end? *until: the time from which on a new READ may make the kernel believe,
 * UINT64_MAX: not yet known. */
bool believed_ignores(struct believed *b, uint64_t end, const struct believed_read *read,
	uint64_t now, uint64_t *until);

#endif
