/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * filechange: tells changes of a file by this mount from changes by another client.
 *
 * The cached data of a file belongs to a *version* of the file: a change attribute and a size. The
 * server's answers bring the version (struct nfs_data_attr). If an answer brings another version
 * than the known one, there are two cases. Either this mount has changed both the file and the
 * cache, or another client has changed the file and the cache is stale. There are two kinds of
 * answers:
 *
 *     end    to a WRITE of this mount. WRITEs overlap, and their answers come in any order. So a
 *            verdict is possible only when no WRITE is in flight any more:
 *
 *                OURS     NFSv3, an append: the versions before and after each WRITE (wcc_data)
 *                         make up one chain from the known version, in whichever order the answers
 *                         came. NFSv4.2, if the server says that the change attribute counts
 *                         changes: the attribute has grown by the number of WRITEs. A file with a
 *                         write delegation for this mount during all WRITEs: no other client may
 *                         change the file.
 *                FOREIGN  the chain has a gap; the attribute has grown by more
 *                ASSUMED  no answer tells: NFSv4 has no version before a WRITE, and the GETATTR
 *                         behind the WRITE in the COMPOUND is not atomic with the WRITE
 *
 *     look   to an operation without effect on the data (READ, COMMIT, CLOSE, OPEN, GETATTR). Any
 *            difference is FOREIGN, with two exceptions:
 *
 *                PENDING  a WRITE or another change of this mount overlaps, or the server may have
 *                         answered before it lost changes: a later answer gives the verdict
 *                ASSUMED  this mount has changed the file otherwise (SETATTR, COPY, a name made or
 *                         removed, a WRITE without an answer)
 *
 * Limits of the proof. ASSUMED may hide a change by another client. So the next open must not keep
 * any data that was cached before. Even with wcc_data a server need not read the version and change
 * the file in one atomic step. Also, a server may make the change attribute from the time (NFSv3
 * always does). Then two changes within one tick of the server's clock have the same version if the
 * size stays.
 *
 * The server may answer two overlapping requests in either order. Among the answers to requests
 * that were sent before the known answer came, the larger change attribute is the newer. An older
 * answer is ignored, so no size jumps back.
 *
 * An open that must not keep cached data makes the kernel drop its pages. The kernel drops the
 * pages only after the opener has the answer, and the opener may be slow to wake up. Until the
 * opener is known to have dropped the pages (filechange_dropped()), no other open may keep the
 * pages. The answer to that other open could overtake the answer to the first.
 *
 * The thread that learns of a change drops the daemon's own cache a moment after the thread has
 * noted the version. Another thread may get the same version in that moment and find nothing new.
 * The other thread must drop the daemon's cache too before answering the kernel
 * (filechange_to_drop()).
 *
 * A restarted server may have lost changes. Then the server tells an older version. For the cache,
 * an older version is a difference like any other. Only a version no older than the known one shows
 * that another client has changed the file (filechange.replaced). This mount must not write again
 * any data from before such a change (writeback.h). Where the change attribute is a coarse time,
 * the older version may have the change attribute of the known one, and another size. Such a
 * version is a loss, too, if the file had the same size at an earlier moment of the same tick: the
 * size lies among the sizes that the server has told with this change attribute, or that WRITEs of
 * this mount have passed. If another client has cut the file to such a size within the tick, data
 * may be written again over the cut. The kernel's client always writes its data again.
 *
 * A request may be sent again after such a loss, and the answer to an earlier request may be
 * handled later. So an answer to a request from before the loss was found shows no other client's
 * change if its version is no newer than the lost one (filechange.undone). The answer is PENDING.
 *
 * Lock. filechange.lock, a leaf, guards all fields that are not atomic. Any thread may call any
 * function. Times are clock_ns().
 */
#ifndef RNFS_CACHE_FILECHANGE_H
#define RNFS_CACHE_FILECHANGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nfsproto/nfs_client.h"
#include "transport/lock.h"

enum filechange_by {
	FILECHANGE_NONE, /* nothing new */
	FILECHANGE_PENDING,
	FILECHANGE_OURS,
	FILECHANGE_ASSUMED,
	FILECHANGE_FOREIGN,
};

struct fileversion {
	uint64_t change, size;
};

/* Sizes that the server has told with one change attribute. None: least > most. */
struct filesizes {
	uint64_t change, least, most;
};

struct filechange {
	/* When this mount last changed the file other than by WRITE, and how many such changes are
	 * in flight. */
	_Atomic uint64_t touched;
	_Atomic unsigned touching;
	_Atomic uint64_t foreign; /* when a change by another client was last found; 0: never */
	/* when such a change was last found that a server's loss of changes does not explain; 0:
	 * never */
	_Atomic uint64_t replaced;
	/* Numbers of drops; changed under lock. dropping: the drop that makes the cached data
	 * whole; a new number each time that cached data is of another version. dropped: the last
	 * drop that the daemon's own cache has been through. */
	_Atomic uint64_t dropping, dropped;
	struct mutex lock;
	bool known GUARDED_BY(lock); /* there is a version */
	bool whole GUARDED_BY(lock); /* all cached data is of the known version */
	struct fileversion version GUARDED_BY(lock);
	/* Sizes with version.change since another client was last found to have changed the file.
	 */
	struct filesizes sizes GUARDED_BY(lock);
	/* The newest version that a later answer has shown to be gone, and when that answer came.
	 */
	struct fileversion undone GUARDED_BY(lock);
	uint64_t undone_at GUARDED_BY(lock);
	uint64_t asked GUARDED_BY(lock); /* when the request for the known version was sent */
	uint64_t came GUARDED_BY(lock);	 /* when the answer with the known version came */
	/* when the newest request that brought attributes was sent */
	uint64_t told GUARDED_BY(lock);
	uint64_t wrote GUARDED_BY(lock); /* when a WRITE last began or ended */
	/* A group of WRITEs: all since the last moment without any. begun: in the group; pending:
	 * in flight. */
	unsigned begun GUARDED_BY(lock), pending GUARDED_BY(lock);
	/* when the first WRITE of the group was about to be sent */
	uint64_t began GUARDED_BY(lock);
	bool blind GUARDED_BY(lock); /* an answer brought no version, or too many links were open */
	bool unproved GUARDED_BY(lock); /* an answer brought no version to compare with */
	/* an answer brought a change attribute that counts changes */
	bool counted GUARDED_BY(lock);
	struct fileversion first GUARDED_BY(lock);  /* when the group began */
	struct fileversion newest GUARDED_BY(lock); /* in answers that are unproved or counted */
	struct filesizes answered GUARDED_BY(lock); /* with newest.change */
	/* wcc_data that is not part of the chain yet; NULL: none */
	struct filechange_links *links GUARDED_BY(lock);
};

void filechange_init(struct filechange *f);
void filechange_finish(struct filechange *f);

/* filechange_begin(): a WRITE is about to be sent. filechange_end(): the WRITE was answered, or
 * will not be sent. a: the attributes after the WRITE; NULL: unknown. alone: since this time no
 * other client can have changed the file; 0: other clients can. */
void filechange_begin(struct filechange *f);
enum filechange_by filechange_end(
	struct filechange *f, const struct nfs_data_attr *a, uint64_t alone);
/* This mount has changed the file by another operation than WRITE. */
void filechange_touch(struct filechange *f);
/* Around an operation, other than WRITE, that changes the file: before the operation is sent; after
 * the operation has ended. In between, any new version may be the operation's work. */
void filechange_touch_begin(struct filechange *f);
void filechange_touch_end(struct filechange *f);
/* The server has told a version in an answer to an operation that changes no data. asked: when the
 * operation was sent. */
enum filechange_by filechange_look(
	struct filechange *f, const struct fileversion *v, uint64_t asked);
/* filechange_look() for an OPEN. Returns 0 if cached data may be kept. Otherwise the caller drops
 * the daemon's cache, makes the kernel drop its pages, and passes the returned number to
 * filechange_dropped(). */
uint64_t filechange_open(struct filechange *f, const struct fileversion *v, uint64_t asked);
/* 0: nothing to drop. Otherwise the caller must drop the daemon's cache before telling the kernel
 * the version, and then pass the returned number to filechange_cleared(). */
static inline uint64_t filechange_to_drop(const struct filechange *f)
{
	uint64_t dropping = atomic_load(&f->dropping);

	return dropping == atomic_load(&f->dropped) ? 0 : dropping;
}
void filechange_cleared(struct filechange *f, uint64_t dropping);
/* The kernel has dropped its pages for the open that got the number `dropping`. */
void filechange_dropped(struct filechange *f, uint64_t dropping);
/* When a change by another client was last found that a server's loss of changes does not explain;
 * 0: never. The other client may have written over any WRITE that was sent before the returned
 * time. */
static inline uint64_t filechange_replaced(const struct filechange *f)
{
	return atomic_load(&f->replaced);
}
/* Was a change by another client found after `since`? */
bool filechange_was_foreign(const struct filechange *f, uint64_t since);
/* Is no WRITE in flight, and has none begun or ended at or after `since`? */
bool filechange_is_quiet(struct filechange *f, uint64_t since);
/* For an open without an answer from the server, while no other client can change the file. Returns
 * a number as filechange_open() does. */
uint64_t filechange_open_alone(struct filechange *f);
/* Gives the newest known version. With `writes`, WRITEs may be in flight, and the size is the
 * largest of their answers. False: no version is known, this mount may have changed the file
 * otherwise since, or WRITEs are in flight without `writes`. */
bool filechange_newest(struct filechange *f, bool writes, struct fileversion *v);
/* The size in the known version; 0: no version is known. */
uint64_t filechange_size(struct filechange *f);
/* Was the newest request that brought attributes sent before `since`? Also true if there is
 * none. */
bool filechange_is_old(struct filechange *f, uint64_t since);

#endif
