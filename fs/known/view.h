/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * view: the kernel's view of a file: the attributes that the kernel was told, those that the kernel
 * may still believe, and the pages that the kernel may hold.
 *
 * The daemon cannot ask the kernel. Several answers may be on their way, and the kernel takes the
 * first one, not the last. So the view keeps the answers since the kernel last forgot attributes:
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
 * Sizes are finer, since the kernel also takes a size from its own writes: believed.h. Attributes
 * that are told with time-out 0 count for their size (view_told_size()): a process may handle the
 * answer at any later time.
 *
 * Any thread may call any function. Locks: `notifying`, then `lock`, then the lock of the
 * attributes (attrs.h).
 */
#ifndef RNFS_FS_KNOWN_VIEW_H
#define RNFS_FS_KNOWN_VIEW_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "fs/known/attrs.h"
#include "fs/known/believed.h"

struct view {
	_Atomic uint64_t change; /* the change attribute that the kernel was told last */
	_Atomic uint64_t size;	 /* the size that the kernel believes, with its own writes */
	atomic_uint count;	 /* how often the kernel was told attributes */
	atomic_uint writes;	 /* how often the kernel learned a size from a write of its own */
	/* the kernel has read from the file, and may have pages, since an open last made the kernel
	 * drop them */
	atomic_bool pages;
	/* a lock made the kernel forget the attributes and the pages, and since then the daemon has
	 * read no READ or WRITE, and has told no attributes */
	atomic_bool blank;
	/* the kernel was made to ask for the attributes that an open, or the last WRITE before a
	 * close, has brought */
	atomic_bool renewed;
	atomic_int listener; /* the thread that was last told something, until it is heard */

	/* held while the kernel is made to forget attributes, if there is need */
	pthread_mutex_t notifying;
	pthread_mutex_t lock; /* guards the members below */
	/* times: how often the kernel was told attributes. lasting: times when the kernel was last
	 * told attributes with a time-out. forgot: times when the kernel last forgot attributes.
	 * several: the attributes told since `forgot` were not all the same. oldest: the oldest
	 * change attribute among those that the kernel may believe. */
	unsigned times, lasting, forgot;
	bool several;
	uint64_t oldest;
	uint64_t rest; /* a sum of further attributes, at the last answer */
	/* Of attributes that the kernel was told with time-out 0: the last size, times at that
	 * time, and times when another size was last told */
	uint64_t passing_size;
	unsigned passing_at, passing_other_at;
	uint64_t notified_at;	  /* when the kernel was last to be made to forget attributes */
	struct believed believed; /* the size */
	/* asking: the kernel's GETATTRs that are not answered. answered_at: when a GETATTR that the
	 * kernel sent after notified_at was last answered. */
	unsigned asking;
	uint64_t answered_at;
	/* the process that was last told to look the name up again, and count at that time */
	int renamed_for;
	unsigned renamed_at;
};

void view_init(struct view *v);
void view_finish(struct view *v);

/* An answer with attributes, of which `known` are the newest. */
struct view_answer {
	const struct nfs_attr *attr;
	uint64_t asked;	 /* when the server was asked for attr */
	uint64_t born;	 /* when the daemon read the request */
	pid_t tid;	 /* the thread that gets the answer; 0: not known */
	unsigned writes; /* view.writes when the server was asked */
	bool open;	 /* a process has the file open, so the kernel has the inode in use */
};

/* The kernel is about to be told attributes. *lasts: the kernel may believe them for a while;
 * becomes false if they have been doubted since.
 *
 * False: the kernel must not be told the attributes. Either a newer version is known by now
 * (attrs_is_old()), or the kernel has written since view.writes was `writes`: the size may be from
 * before that write.
 *
 * An answer to a question from before the last notification does not count if the file is open: the
 * kernel throws such an answer away. *counts: the answer counts. */
bool view_told(struct view *v, struct attrs *known, const struct view_answer *answer, bool *lasts,
	bool *counts);
/* The kernel has written up to end itself, and knows the size from that write. */
void view_wrote(struct view *v, uint64_t end, pid_t tid);
/* The same for mapped pages that the kernel has written back: neither the size that the kernel
 * believes changes, nor does the kernel ignore attributes that it has asked for before. */
void view_wrote_back(struct view *v);
/* The kernel has cut or extended the file to `size` bytes itself, and knows that size. */
void view_cut(struct view *v, uint64_t size, pid_t tid);
/* A SETATTR that sets the size begins, and is about to be answered to thread tid. */
void view_cut_begin(struct view *v);
void view_cut_end(struct view *v, pid_t tid);
/* The daemon has read a request of thread tid at `born`. */
void view_heard(struct view *v, pid_t tid, uint64_t born);

/* The kernel asks for attributes; and is about to get an error, or the answer to the GETATTR that
 * it sent at `born`. */
void view_asked(struct view *v);
void view_answered(struct view *v, uint64_t born);
/* The answer to a GETATTR waits in the daemon, and is not on its way to the kernel; until
 * view_asked(). */
void view_waits(struct view *v);

/* The kernel is about to be notified. Returns `times` for view_notified(). */
unsigned view_notifies(struct view *v);
/* The kernel has been notified, after `began`; 0: the kernel has no such inode. */
void view_notified(struct view *v, unsigned times, uint64_t began);

/* May the kernel believe attributes? Then a notification can make the kernel forget them. A
 * notification also makes the kernel throw away answers on their way, and a reader that waits for
 * such an answer goes on with the old attributes. So no needless notification is sent. */
bool view_believes(struct view *v);
/* Does the kernel believe the change attribute, size, mode, owner and time of change in attr? Only
 * if all answers since the kernel last forgot attributes were the same. */
bool view_told_this(struct view *v, const struct nfs_attr *attr);
/* Was the kernel told nothing older than this change attribute and size since it last forgot
 * attributes? */
bool view_told_from(struct view *v, uint64_t change, uint64_t size);
/* A process may handle attributes with time-out 0 at any time after the answer. The kernel then
 * takes that size, and throws away attributes that it asked for meanwhile. Did all such answers
 * since the kernel last forgot attributes have this size? */
bool view_told_size(struct view *v, uint64_t size);
/* May the kernel believe a larger size? The kernel takes a smaller size when the process that asked
 * handles the answer. The kernel discards the answer if a write has ended meanwhile, or if the
 * kernel was made to forget attributes. So the kernel may still believe the larger size until a
 * smaller one was told a while ago. */
bool view_shrinks(struct view *v, uint64_t size);
/* Is no attribute on its way to a thread: neither asked for nor told but not handled yet? */
bool view_is_quiet(struct view *v);
/* The answer to the READ ends at `end`, where the file ends: believed_ignores(). */
bool view_ignores_end(
	struct view *v, uint64_t end, const struct believed_read *read, uint64_t *until);
/* The kernel has sent a READ at `born` that begins behind the end of the file, according to the
 * server, last asked at `sent`. Would the empty answer make the kernel throw away attributes on
 * their way? Not if the kernel was made to forget attributes since `born`, or has got attributes
 * that it asked for afterwards: the empty answer then changes nothing. The kernel has got
 * attributes if it was answered before `sent`: the process that asked has had a round trip's time
 * to handle the answer. */
bool view_end_spoils(struct view *v, uint64_t born, uint64_t sent);

/* Process pid opens the file, and the server has told attr. silly: the name is a silly one. True:
 * the kernel must look the name up again before the open. The kernel opens the file that the name
 * stood for at its lookup, but another client may have given the name to another file since. attr
 * shows whether a name may have gone. The result is not true twice in a row for one process: the
 * process may open the file without a name (/proc/self/fd). */
bool view_renew_name(struct view *v, const struct nfs_attr *attr, bool silly, int pid);
/* Process pid is told to look the name up again for another reason; counts as a true result of
 * view_renew_name(). */
void view_renewing_name(struct view *v, int pid);

#endif
