/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * view: the kernel's view of a file: the attributes that the kernel was told, those that the kernel
 * may still believe, and the pages that the kernel may hold.
 *
 * The daemon cannot ask the kernel. Several answers may be in flight, and the kernel takes the
 * first one, not the last. So the view keeps the answers since the kernel's attributes were last
 * invalidated:
 *
 *     state       the kernel                           view_believes()   view_told_this()
 *     nothing     believes no attributes               no                no
 *     one         was told the same in all answers     yes               that version
 *     several     was told different attributes        yes               no
 *
 *     event             nothing    one                  several
 *     view_told()       one        one or several       several    told to last for a time-out
 *     view_told()       nothing    one or several       several    told with time-out 0
 *     view_notifies(), view_notified()
 *                       nothing    nothing              nothing
 *     view_told() between the two
 *                       several    several              several    which came first is not known
 *
 * Sizes are finer, because the kernel also takes a size from its own writes: believed.h. Attributes
 * that are told with time-out 0 count for their size (view_told_size()): a process may handle the
 * answer at any later time.
 *
 * Any thread may call any function. Locks: `notifying`, then `lock`, then the lock of the
 * attributes (attrs.h).
 */
#ifndef RNFS_FS_KNOWN_VIEW_H
#define RNFS_FS_KNOWN_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fs/known/told.h"
#include "fs/known/attrs.h"
#include "fs/known/believed.h"
#include "transport/lock.h"

struct view {
	_Atomic uint64_t change; /* the change attribute that the kernel was last told */
	_Atomic uint64_t size;	 /* the size that the kernel believes, with its own writes */
	atomic_uint count;	 /* how often the kernel was told attributes */
	atomic_uint writes;	 /* how often the kernel learned a size from a write of its own */
	/* The kernel has read from the file since an open last invalidated the kernel's pages. So
	 * the kernel may have pages. */
	atomic_bool pages;
	/* A lock invalidated the kernel's attributes and pages. Since then the daemon has read no
	 * READ or WRITE, and has told no attributes. */
	atomic_bool blank;
	/* the kernel was made to ask for the attributes that an open, or the last WRITE before a
	 * close, has brought */
	atomic_bool renewed;
	atomic_int listener; /* the thread that was last told anything, until its next request */

	/* held while the kernel's attributes are being invalidated, if there is need */
	struct mutex notifying ACQUIRED_BEFORE(lock);
	struct mutex lock;
	/* times: how often the kernel was told attributes. lasting: times when the kernel was last
	 * told attributes with a time-out. forgot: times when the kernel's attributes were last
	 * invalidated. several: the attributes told since `forgot` were not all the same. oldest:
	 * the oldest change attribute among those that the kernel may believe. */
	unsigned times GUARDED_BY(lock), lasting GUARDED_BY(lock), forgot GUARDED_BY(lock);
	bool several GUARDED_BY(lock);
	uint64_t oldest GUARDED_BY(lock);
	uint64_t rest GUARDED_BY(lock); /* a sum of further attributes, at the last answer */
	/* Of attributes that the kernel was told with time-out 0: the last size, times at that
	 * time, and times when another size was last told. */
	uint64_t passing_size GUARDED_BY(lock);
	unsigned passing_at GUARDED_BY(lock), passing_other_at GUARDED_BY(lock);
	/* when the daemon last set out to invalidate the kernel's attributes */
	uint64_t notified_at GUARDED_BY(lock);
	struct believed believed GUARDED_BY(lock); /* the size */
	/* asking: the kernel's GETATTRs in flight. answered_at: when a GETATTR that the kernel sent
	 * after notified_at was last answered. */
	unsigned asking GUARDED_BY(lock);
	uint64_t answered_at GUARDED_BY(lock);
	/* the process that was last told to look the name up again, and count at that time */
	int renamed_for GUARDED_BY(lock);
	unsigned renamed_at GUARDED_BY(lock);
};

void view_init(struct view *v);
void view_finish(struct view *v);

/* The kernel is about to be told attributes. known: the newest attributes. open: a process has the
 * file open, so the kernel has the inode in use. *lasts: the kernel may believe the answer for a
 * while; becomes false if the attributes were invalidated since.
 *
 * False: the kernel must not be told the attributes. Either a newer version is known by now
 * (attrs_is_old()), or the kernel has written since view.writes was `writes`: the size may be from
 * before that write.
 *
 * An answer to a question from before the last notification does not count if the file is open: the
 * kernel discards such an answer. *counts: the answer counts. */
bool view_told(struct view *v, struct attrs *known, const struct told *told, bool open, bool *lasts,
	bool *counts);
/* The kernel has written up to end, and knows the size from the write. */
void view_wrote(struct view *v, uint64_t end, pid_t tid);
/* view_wrote() for mapped pages that the kernel has written back: the size that the kernel believes
 * stays, and the kernel does not ignore attributes that it has asked for before. */
void view_wrote_back(struct view *v);
/* The kernel has cut or extended the file to `size` bytes, and knows that size. */
void view_cut(struct view *v, uint64_t size, pid_t tid);
/* A SETATTR that sets the size begins; and is about to be answered to thread tid. */
void view_cut_begin(struct view *v);
void view_cut_end(struct view *v, pid_t tid);
/* The daemon has read a request of thread tid at `born`. */
void view_heard(struct view *v, pid_t tid, uint64_t born);

/* view_asked(): the kernel asks for attributes. view_answered(): the kernel is about to get an
 * error, or the answer to the GETATTR sent at `born`. */
void view_asked(struct view *v);
void view_answered(struct view *v, uint64_t born);
/* The answer to a GETATTR waits in the daemon, and is not on its way to the kernel, until
 * view_asked(). */
void view_waits(struct view *v);

/* The kernel is about to be notified. Returns `times` for view_notified(). */
unsigned view_notifies(struct view *v);
/* The kernel was notified; the notification began at `began`, 0: the kernel has no such inode.
 * times: as view_notifies() returned. */
void view_notified(struct view *v, unsigned times, uint64_t began);

/* May the kernel believe attributes, so that a notification is needed to invalidate them? An extra
 * notification does harm: the kernel also discards answers in flight, and a reader that waits for
 * such an answer goes on with the old attributes. */
bool view_believes(struct view *v);
/* view_times(): how many answers have told the kernel attributes so far. view_still_believes(): may
 * the kernel believe attributes, and was not notified since view_times() was `times`? */
unsigned view_times(struct view *v);
bool view_still_believes(struct view *v, unsigned times);
/* Does the kernel believe the change attribute, size, mode, owner and time of change in attr? True
 * only if all answers since the last invalidation were the same. */
bool view_told_this(struct view *v, const struct nfs_attr *attr);
/* Was the kernel told nothing older than this change attribute and size since the last
 * invalidation? */
bool view_told_from(struct view *v, uint64_t change, uint64_t size);
/* Did all answers with time-out 0 since the last invalidation have this size? A process may handle
 * such an answer at any later time. The kernel then takes the size in the answer, and discards
 * attributes that it asked for meanwhile. */
bool view_told_size(struct view *v, uint64_t size);
/* May the kernel believe a larger size? The kernel takes a smaller size when the process that asked
 * handles the answer. The kernel discards the answer if a write has ended meanwhile, or if the
 * kernel's attributes were invalidated. So the kernel may still believe the larger size until a
 * smaller one was told a while ago. */
bool view_shrinks(struct view *v, uint64_t size);
/* Is no attribute on its way to a thread: neither asked for, nor told and not handled yet? */
bool view_is_quiet(struct view *v);
/* The answer to the READ ends at `end`, where the file ends: believed_ignores(). */
bool view_ignores_end(
	struct view *v, uint64_t end, const struct believed_read *read, uint64_t *until);
/* The READ begins behind the end of the file, according to the server. Would the empty answer make
 * the kernel discard attributes in flight? Not if, since read.born, the kernel's attributes were
 * invalidated, or the kernel has got attributes that it asked for later: the empty answer then
 * changes nothing. The kernel has got attributes if it was answered before read.asked: the process
 * that asked has had a round trip's time to handle the answer. */
bool view_end_spoils(struct view *v, const struct believed_read *read);

/* Process pid opens the file, and the server has told attr. silly: the name is a silly one. True:
 * the kernel must look the name up again before the open. The kernel opens the file that the name
 * stood for at its lookup, but another client may have given the name to another file since. attr
 * shows whether a name may have gone. The result is not true twice in a row for one process: the
 * process may open the file without a name (/proc/self/fd). */
bool view_renew_name(struct view *v, const struct nfs_attr *attr, bool silly, int pid);
/* Process pid is told to look the name up again for another reason, which counts as a true result
 * of view_renew_name(). */
void view_renewing_name(struct view *v, int pid);

#endif
