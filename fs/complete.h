/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * complete: directories of which every name is known, so that nobody need be asked for another.
 *
 * A directory is complete when this mount has just made it, or has listed it to the end. What holds
 * then, at any time: each name that was in it at `since`, and each that this mount may have made in
 * it since, is in its set, but for those that this mount has removed. So a name that is not in the
 * set is not there, unless somebody else has made it after `since`. For how long that is not asked,
 * and by whom, is for the caller to say (entry.h).
 *
 * A set may hold too much: a name that could not be made, or one that was removed while it was
 * being listed. It then is asked for. It never holds too little: names are added before the server
 * is asked to make them. Names are kept as 64-bit hashes: two that meet count as one, and to be
 * wrong by that a directory would need billions of names.
 *
 * Beside that it is noted which names this mount changes while a listing is of use that is to say
 * what names stand for (listed.h): of those it says nothing any more. That is called to watch.
 *
 * All sets of a mount together have COMPLETE_SLOTS_MAX slots; the directory that was not used for
 * longest ends first. The caller serialises everything (names.h).
 */
#ifndef RNFS_FS_COMPLETE_H
#define RNFS_FS_COMPLETE_H

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
	bool is;	 /* it is complete; the rest of this paragraph is set */
	bool by_anybody; /* it was made here; else who listed it, user by_uid, may rely on it */
	uint32_t by_uid;
	uint64_t since;
	struct hash_set set;
	/* the listing that is to make it complete; token 0: none */
	uint32_t token, last_token;
	uint32_t next_uid, next_max;
	uint64_t next_since;
	struct hash_set next;
	/* names that were made, moved or removed here since then; 0: that is not known */
	uint64_t watched;
	struct hash_set changed;
	/* look-ups of names that were not there, from missed_at on; no listing beside before */
	unsigned missed;
	uint64_t missed_at, not_before;
};

/* Those of a mount. */
struct completes {
	TAILQ_HEAD(, complete) used; /* those with slots, the last used last */
	size_t slots;
};

void completes_init(struct completes *a);

/* The directory was made by this mount, which asked for that at `since`. */
void complete_made(struct completes *a, struct complete *c, uint64_t since);
/* It is not complete any more, no listing that is under way will make it so, and it is not watched.
 * Frees all. */
void complete_end(struct completes *a, struct complete *c);
/* This mount is about to make a name of that hash; this mount has removed it. */
void complete_add(struct completes *a, struct complete *c, uint64_t hash);
void complete_remove(struct completes *a, struct complete *c, uint64_t hash);
/* Was there no name of that hash at *since, and was none made since by this mount, as far as uid
 * may rely on it? */
bool complete_lacks(
	struct completes *a, struct complete *c, uint64_t hash, uint32_t uid, uint64_t *since);

/* uid is about to list the directory from its start, at `since`, and wants to know max names at
 * most. Returns a number for the following, which is never 0. A listing that was begun before and
 * has not ended does not count any more. */
uint32_t complete_list(
	struct completes *a, struct complete *c, uint64_t since, uint32_t uid, uint32_t max);
/* A name of that hash has been listed. False: the listing will not make the directory complete. */
bool complete_listed(struct completes *a, struct complete *c, uint32_t token, uint64_t hash);
/* The listing has come to its end, or with whole false: was given up. */
void complete_list_end(struct completes *a, struct complete *c, uint32_t token, bool whole);

/* From `since`, or now, on it is noted which names change. */
void complete_watch(struct completes *a, struct complete *c, uint64_t since);
/* The name of that hash was changed. complete_add() says so too. */
void complete_changed(struct completes *a, struct complete *c, uint64_t hash);
/* Is it known that this mount has not changed that name since `since`? */
bool complete_unchanged(const struct complete *c, uint64_t hash, uint64_t since);

/* The server was asked at `now` for a name that is not there. True: that has been so often enough
 * within `time` ns, and is worth a listing beside. There is no other within that time. */
bool complete_missed(struct complete *c, uint64_t now, uint64_t time);
/* The directory is too large to be listed beside: that is not tried again before `until`. */
void complete_too_large(struct complete *c, uint64_t until);

#endif
