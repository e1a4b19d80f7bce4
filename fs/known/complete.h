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
 * is asked to make it. Names are kept as 64-bit hashes, and two names with one hash count as one.
 * For a wrong answer a directory would need billions of names.
 *
 * A directory may also be watched: the names that this mount changes are noted while a listing is
 * in use for LOOKUPs (listed.h). The listing does not answer for those names any more.
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
	bool is; /* the directory is complete; the rest of this paragraph is set */
	/* this mount made the directory; else only user by_uid, which listed it, may rely on the
	 * set */
	bool by_anybody;
	uint32_t by_uid;
	uint64_t since;
	struct hash_set set;
	/* the listing that is to make it complete; token 0: none */
	uint32_t token, last_token;
	uint32_t next_uid, next_max;
	uint64_t next_since;
	struct hash_set next;
	/* names that were made, moved or removed here since then; 0: not known */
	uint64_t watched;
	struct hash_set changed;
	/* LOOKUPs of absent names, from missed_at on; no listing beside before not_before */
	unsigned missed;
	uint64_t missed_at, not_before;
};

/* The complete directories of a mount. */
struct completes {
	TAILQ_HEAD(, complete) used; /* those with slots, the most recently used last */
	size_t slots;
};

void completes_init(struct completes *a);

/* This mount made the directory, and sent that call at `since`. */
void complete_made(struct completes *a, struct complete *c, uint64_t since);
/* The directory is not complete any more, no listing under way will make it so, and it is not
 * watched. Frees all. */
void complete_end(struct completes *a, struct complete *c);
/* This mount is about to make a name with `hash`; this mount has removed it. */
void complete_add(struct completes *a, struct complete *c, uint64_t hash);
void complete_remove(struct completes *a, struct complete *c, uint64_t hash);
/* Was there no name with `hash` at *since, and has this mount made none since, as far as uid may
 * rely on that? */
bool complete_lacks(
	struct completes *a, struct complete *c, uint64_t hash, uint32_t uid, uint64_t *since);

/* uid is about to list the directory from its start, at `since`, and wants max names at most.
 * Returns a token for the following calls, never 0. A listing that was begun before and has not
 * ended does not count any more. */
uint32_t complete_list(
	struct completes *a, struct complete *c, uint64_t since, uint32_t uid, uint32_t max);
/* A name with `hash` has been listed. False: the listing will not make the directory complete. */
bool complete_listed(struct completes *a, struct complete *c, uint32_t token, uint64_t hash);
/* The listing has come to its end or, with whole false, was given up. */
void complete_list_end(struct completes *a, struct complete *c, uint32_t token, bool whole);

/* From `since`, or now, on changed names are noted. */
void complete_watch(struct completes *a, struct complete *c, uint64_t since);
/* The name with `hash` was changed. complete_add() notes that too. */
void complete_changed(struct completes *a, struct complete *c, uint64_t hash);
/* Is it known that this mount has not changed the name with `hash` since `since`? */
bool complete_unchanged(const struct complete *c, uint64_t hash, uint64_t since);

/* The server, asked at `now`, has no such name. True: that has been so often enough within `time`
 * ns for a listing beside. There is no other within that time. */
bool complete_missed(struct complete *c, uint64_t now, uint64_t time);
/* The directory is too large to be listed beside: no other try before `until`. */
void complete_too_large(struct complete *c, uint64_t until);

#endif
