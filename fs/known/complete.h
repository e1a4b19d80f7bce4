/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * complete: directories with all names known, so that the server need not be asked for another
 * name.
 *
 * A directory is complete when this mount has just made the directory, or has listed all of it.
 * Then the set always has each name that was in the directory at `since`, and each name that this
 * mount may have made there since, without names removed by this mount. So a name outside the set
 * does not exist, unless another client has made the name after `since`. The caller decides for how
 * long, and for which users, the server is not asked (entry.h).
 *
 * A set may hold too much: a name that could not be made, or a name removed during the listing. The
 * server is asked for such a name. A set never holds too little: a name is added before the server
 * is asked to make the name. Names are kept as 64-bit hashes, and two names with one hash count as
 * one. For a wrong answer a directory would need billions of names.
 *
 * A directory may also be watched: the names that this mount changes are noted while a listing is
 * in use for LOOKUPs (listed.h). The listing answers for those names no more.
 *
 * All sets of a mount together have COMPLETE_SLOTS_MAX slots; the least recently used directory
 * ends first. The caller serialises all calls (names.h).
 */
#ifndef RNFS_FS_KNOWN_COMPLETE_H
#define RNFS_FS_KNOWN_COMPLETE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define COMPLETE_SLOTS_MAX (1u << 20) /* of 8 bytes */
#define COMPLETE_NAMES_MAX (1u << 16) /* in a directory */

struct hash_set {
	uint64_t *slot;	 /* 0: free */
	uint32_t nslots; /* 0 or a power of two */
	uint32_t count;
};

/* Of a directory; all zero at first. */
struct complete {
	TAILQ_ENTRY(complete) link; /* while linked */
	bool linked;
	bool is; /* the directory is complete; the members down to set are valid */
	/* This mount made the directory, so all users may rely on the set. Otherwise only user
	 * by_uid, which listed the directory, may. */
	bool by_anybody;
	uint32_t by_uid;
	uint64_t since;
	struct hash_set set;
	/* the listing that is to make the directory complete; token 0: none */
	uint32_t token, last_token;
	uint32_t next_uid, next_max;
	uint64_t next_since;
	struct hash_set next;
	/* since when `changed` holds all names that were made, moved or removed here; 0: not
	 * watched */
	uint64_t watched;
	struct hash_set changed;
	/* LOOKUPs of absent names, from missed_at on; no listing beside before not_before */
	unsigned missed;
	uint64_t missed_at, not_before;
};

/* The complete directories of a mount. */
struct completes {
	TAILQ_HEAD(, complete) used; /* directories with slots, the most recently used last */
	size_t slots;
};

void completes_init(struct completes *a);

/* This mount made the directory, and sent the call at `since`. */
void complete_made(struct completes *a, struct complete *c, uint64_t since);
/* The directory is no longer complete and no longer watched, and no listing in flight will make the
 * directory complete. Frees all. */
void complete_end(struct completes *a, struct complete *c);
/* complete_add(): this mount is about to make a name with `hash`. complete_remove(): this mount has
 * removed the name. */
void complete_add(struct completes *a, struct complete *c, uint64_t hash);
void complete_remove(struct completes *a, struct complete *c, uint64_t hash);
/* Is it known that no name with `hash` existed at *since, and that this mount has made none since?
 * Only for uid: one user's set is not for another user. */
bool complete_lacks(
	struct completes *a, struct complete *c, uint64_t hash, uint32_t uid, uint64_t *since);

/* uid is about to list the directory from its start, at `since`, and wants max names at most.
 * Returns a token for the following calls, never 0. An earlier listing that has not ended no longer
 * counts. */
uint32_t complete_list(
	struct completes *a, struct complete *c, uint64_t since, uint32_t uid, uint32_t max);
/* A name with `hash` has been listed. False: the listing will not make the directory complete. */
bool complete_listed(struct completes *a, struct complete *c, uint32_t token, uint64_t hash);
/* The listing has come to the end of the directory or, with whole false, was given up. */
void complete_list_end(struct completes *a, struct complete *c, uint32_t token, bool whole);

/* Notes changed names from `since`, or from now, on. */
void complete_watch(struct completes *a, struct complete *c, uint64_t since);
/* The name with `hash` was changed. complete_add() notes the change, too. */
void complete_changed(struct completes *a, struct complete *c, uint64_t hash);
/* Is it known that this mount has not changed the name with `hash` since `since`? */
bool complete_unchanged(const struct complete *c, uint64_t hash, uint64_t since);

/* The server, asked at `now`, has no such name. True: that has been so often enough within `time`
 * ns to list the directory beside. The next true result comes `time` ns later at the earliest. */
bool complete_missed(struct complete *c, uint64_t now, uint64_t time);
/* The directory is too large to be listed beside: no other try before `until`. */
void complete_too_large(struct complete *c, uint64_t until);

#endif
