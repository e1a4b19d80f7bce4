/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * filechange: whose change it was, when the server says that a file is not as it was.
 *
 * What is cached of a file belongs to a *version* of it: a change attribute and a size. Answers
 * bring the version (struct nfs_data_attr), and if it is another one, either this mount has changed
 * the file, and the cache with it, or somebody else has, and the cache is wrong. There are two
 * kinds of answers:
 *
 *     end    to a WRITE of this mount's. What was changed is known only when no WRITE is under way
 *            any more: they overlap, and their answers come in any order. Then it is
 *
 *                OURS     NFSv3, an append: the versions before and after each (wcc_data) make up
 *                         one chain, in whatever order they came, from the version that was known.
 *                         NFSv4.2, where the server says that the change attribute counts changes:
 *                         it has grown by the number of WRITEs. A file that was delegated to
 *                         this mount to write all the time: nobody else may change it.
 *                FOREIGN  the chain has a gap; it has grown by more
 *                ASSUMED  no answer tells: NFSv4 has no version before a WRITE, GETATTR comes
 *                         behind it in the COMPOUND, which is not atomic
 *
 *     look   to what changes nothing (READ, COMMIT, CLOSE, OPEN, GETATTR). Any difference is
 *            FOREIGN, unless this mount has changed something meanwhile (PENDING: the end of that
 *            tells), or has done so otherwise than by WRITE (ASSUMED: SETATTR, COPY, a name made or
 *            removed, a WRITE whose answer was lost).
 *
 * What cannot be proved. With ASSUMED a change of somebody else's may have come in between and not
 * be seen: nothing that was cached before may be taken for good at the next open, as without all
 * this. Also with wcc_data a server need not look at the file and change it in one step, and two
 * changes within one tick of its clock have the same version if it makes that from the time (NFSv3
 * always does) and the size stays. The server may answer two questions that are under way at once
 * in either order: of what was asked before the answer that is known had come the larger change
 * attribute is the newer. So an old answer is no news, whenever it comes: no size jumps back by it.
 *
 * An open that must not keep what is cached has the kernel drop its pages, but not before the
 * answer has reached whoever opens, who may be long in waking up. Until he is known to have done it
 * (filechange_dropped()) no other open may keep them either: its answer may overtake the first.
 *
 * What the daemon has cached is dropped by the thread that has learned of the change, a moment
 * after the version is known. Another that is told the same version meanwhile finds nothing new in
 * it; it must drop it too before the kernel is answered (filechange_to_drop()).
 *
 * A server that has restarted may have lost changes, and says so by a version from before them.
 * That is a difference as any other to what is cached. But only a version that is no older than the
 * known one shows that another client has written, truncated or otherwise changed the file
 * (filechange.replaced): what this mount wrote before then must not be written again
 * (writeback.h).
 *
 * Lock. filechange.lock guards all fields that are not atomic. It is a leaf. Any thread may call
 * anything. Times are clock_ns().
 */
#ifndef RNFS_CACHE_FILECHANGE_H
#define RNFS_CACHE_FILECHANGE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "nfsproto/nfs_client.h"

enum filechange_by {
	FILECHANGE_NONE, /* nothing that was not known */
	FILECHANGE_PENDING,
	FILECHANGE_OURS,
	FILECHANGE_ASSUMED,
	FILECHANGE_FOREIGN,
};

struct fileversion {
	uint64_t change, size;
};

struct filechange {
	_Atomic uint64_t touched; /* when this mount last changed it otherwise than by WRITE */
	_Atomic uint64_t foreign; /* when a change was last found to be somebody else's; 0: never */
	/* when one was last found that cannot come of a server that has lost changes; 0: never */
	_Atomic uint64_t replaced;
	/* which drop is to make whole what is cached, another each time that it is not; and which
	 * one the daemon's own cache has been through; changed under lock */
	_Atomic uint64_t dropping, dropped;
	pthread_mutex_t lock; /* what follows */
	bool known;	      /* there is a version */
	bool whole;	      /* and all that is cached is of it */
	struct fileversion version;
	uint64_t asked; /* when the server was asked that told it */
	uint64_t came;	/* and when the answer came */
	uint64_t told;	/* when it was last asked for attributes that came */
	uint64_t wrote; /* when a WRITE last began or ended */
	/* WRITEs since none was under way: */
	unsigned begun, pending;
	uint64_t began;			  /* when the first of them was to be sent */
	bool blind;			  /* an answer brought nothing */
	bool unproved;			  /* one brought nothing to compare it with */
	bool counted;			  /* one brought a version that counts */
	struct fileversion first, newest; /* the version when they began; of unproved and counted */
	struct filechange_links *links;	  /* wcc_data that is no part of the chain; NULL: none */
};

void filechange_init(struct filechange *f);
void filechange_finish(struct filechange *f);

/* A WRITE is about to be sent; it was answered, or is not to be sent after all. a: what it brought,
 * as after it; NULL: nothing is known of it. alone: since when, until now, nobody else can have
 * changed the file; 0: others can. */
void filechange_begin(struct filechange *f);
enum filechange_by filechange_end(
	struct filechange *f, const struct nfs_data_attr *a, uint64_t alone);
/* This mount changes the file otherwise, now or until now. */
void filechange_touch(struct filechange *f);
/* The server, asked at `asked` about what changes nothing, told a version. */
enum filechange_by filechange_look(
	struct filechange *f, const struct fileversion *v, uint64_t asked);
/* The same of an OPEN. 0: what is cached may be kept. Else the caller drops it, has the kernel drop
 * it, and says so by filechange_dropped() with what this has returned. */
uint64_t filechange_open(struct filechange *f, const struct fileversion *v, uint64_t asked);
/* 0: nothing. Else what the daemon has cached must be dropped before the kernel is told of the
 * version that was looked at, and filechange_cleared() be called with what this has returned. */
static inline uint64_t filechange_to_drop(const struct filechange *f)
{
	uint64_t dropping = atomic_load(&f->dropping);

	return dropping == atomic_load(&f->dropped) ? 0 : dropping;
}
void filechange_cleared(struct filechange *f, uint64_t dropping);
/* The kernel has dropped its pages, as an open was told to. */
void filechange_dropped(struct filechange *f, uint64_t dropping);
/* When another client was last found to have changed the file since the version that was known
 * before, on clock_ns(); 0: never. Any WRITE that was sent before then may have been written over.
 */
static inline uint64_t filechange_replaced(const struct filechange *f)
{
	return atomic_load(&f->replaced);
}
/* Has a change been found to be somebody else's after `since`? */
bool filechange_was_foreign(const struct filechange *f, uint64_t since);
/* Is no WRITE under way, and did none end since `since`? */
bool filechange_is_quiet(struct filechange *f, uint64_t since);
/* What is cached belongs to the file as it is, since nobody else has changed it: as
 * filechange_open(). */
uint64_t filechange_open_alone(struct filechange *f);
/* The newest version that the server has told, and the largest size where WRITEs are under way
 * (writes; else none may be). False: this mount has changed the file otherwise since, or may have.
 */
bool filechange_newest(struct filechange *f, bool writes, struct fileversion *v);
/* The size in the version that is known; 0: none is. */
uint64_t filechange_size(struct filechange *f);
/* Is what attributes were last asked for before `since`? */
bool filechange_is_old(struct filechange *f, uint64_t since);

#endif
