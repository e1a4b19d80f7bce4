/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * believed: the size that the kernel believes a file to have.
 *
 * The daemon cannot ask the kernel. A thread handles an answer some time after the daemon has sent
 * the answer. The kernel ignores the attributes in the answer if the kernel has learned other
 * attributes since the thread asked. So the kernel may believe one of several sizes, and struct
 * believed keeps the largest.
 *
 *     larger size      an answer with a larger size counts at once
 *     smaller size     an answer with a smaller size counts when the thread has handled the answer;
 *                      never if the kernel may have learned other attributes since the thread asked
 *     write            the size becomes at least the end of the write; the kernel ignores older
 *                      answers
 *     cut              (SETATTR of the size, OPEN with O_TRUNC) the size in the answer counts at
 *                      once; but until the thread has handled the answer, the kernel may believe
 *                      the size from before the cut
 *     notification     the kernel ignores older answers
 *
 * A thread has handled an answer when the thread sends its next request, and after
 * BELIEVED_TAKEN_NS at the latest.
 *
 * The kernel also takes a short answer to a READ as the end of the file, but ignores such an end
 * after any change of the inode's attributes since the kernel made the READ: believed_ignores().
 *
 * No function takes a lock: the owner of the struct serialises the calls (view.lock). All times
 * are of clock_ns(). Thread 0 is an unknown thread.
 */
#ifndef RNFS_FS_KNOWN_BELIEVED_H
#define RNFS_FS_KNOWN_BELIEVED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fs/known/told.h"

#define BELIEVED_TAKEN_NS   100000000u
#define BELIEVED_HANDLED_NS 20000000u /* for believed_handled() */
#define BELIEVED_TOLD	    4u

/* An answer that changes the kernel's attributes: the daemon sent the answer to tid at `at`, and
 * tid has handled the answer by `until`. */
struct believed_move {
	pid_t tid;
	uint64_t at, until;
};

/* All zero: the kernel knows nothing. */
struct believed {
	uint64_t most; /* the largest size that the kernel may believe */
	/* The largest of the smaller sizes in answers since less_at, and the thread that got the
	 * answers. less_by 0: several threads. less_at 0: no such answer. */
	uint64_t less, less_at;
	pid_t less_by;
	uint64_t thrown_at;	   /* answers to earlier requests do not count */
	struct believed_move last; /* the last answer with a larger size, or to a write */
	uint64_t moves_until; /* the end of all moves before the last one, and of notifications */
	unsigned notifying;   /* notifications in flight; notify_at: when the last one began */
	uint64_t notify_at;
	unsigned cuts;		  /* SETATTRs of the size in flight */
	struct believed_move cut; /* the last answer to a cut */
	uint64_t cut_from;	  /* the largest size before the cuts that count */
	/* the last answers with attributes, also with a smaller size, each to another thread */
	struct believed_move told[BELIEVED_TOLD];
};

/* An answer to a thread also shows that the thread has handled all earlier answers.
 *
 * The daemon is about to tell a thread a size. */
void believed_told(struct believed *b, const struct told *told, uint64_t now);
/* The daemon is about to answer thread tid's write up to `end`. */
void believed_wrote(struct believed *b, uint64_t end, pid_t tid, uint64_t now);
/* The daemon is about to notify the kernel, and has notified the kernel. */
void believed_notifies(struct believed *b, uint64_t now);
void believed_notified(struct believed *b, uint64_t now);
/* A SETATTR of the size begins, and the daemon is about to answer thread tid's SETATTR. */
void believed_cut_begin(struct believed *b, uint64_t now);
void believed_cut_end(struct believed *b, pid_t tid, uint64_t now);
/* The daemon is about to tell thread tid the size after the thread's SETATTR or OPEN. */
void believed_cut(struct believed *b, uint64_t size, pid_t tid, uint64_t now);
/* The daemon has read another request of thread tid at `born`. */
void believed_heard(struct believed *b, pid_t tid, uint64_t born);

/* Has every thread handled the attributes in its last answer? Answers older than
 * BELIEVED_HANDLED_NS count as handled. So do answers to any but the last BELIEVED_TOLD threads. */
bool believed_handled(const struct believed *b, uint64_t now);
/* May the kernel believe a larger size? */
bool believed_more(struct believed *b, uint64_t size, uint64_t now);
/* A READ of thread tid, which the daemon read at `born` and the kernel made at `since` or later.
 * The daemon last asked the server at `asked`. */
struct believed_read {
	pid_t tid;
	uint64_t born, since, asked;
};
/* The answer to the READ ends at `end`, the end of the file. May the kernel believe a larger size,
 * and ignore `end`? *until: after this time a new READ can teach the kernel the end; UINT64_MAX:
 * not yet known. */
bool believed_ignores(struct believed *b, uint64_t end, const struct believed_read *read,
	uint64_t now, uint64_t *until);

#endif
