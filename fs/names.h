/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names: which names the kernel has been given, and until when it believes each.
 *
 * The kernel walks through a name that it believes without asking anybody, whoever walks. So when
 * a directory may no longer be searched by all who could search it, the names in it that are still
 * believed must be taken back: names_take_back() says which. A name that was given without a
 * time-out is asked for at each walk; names_find() lets the daemon answer that from what it knows.
 *
 * A name may be one that there is none of (absent): the kernel believes that as well. Programs can
 * ask for any number of those, so there is a limit; the oldest go first, but for those that the
 * kernel believes, which it must be told of if they come to be.
 *
 * Of a directory that is complete (complete.h) a name that is not known at all is known not to be
 * there. Servers may find names that they do not list, by another spelling or because they are
 * theirs (.snapshot): those are always asked for.
 *
 * A name lives as long as both of its inodes are in the inode table, which says when one leaves
 * (inode_table_on_left()). It holds no reference. One lock guards everything, the lists in the
 * inodes included; no other lock is taken under it.
 */
#ifndef RNFS_FS_NAMES_H
#define RNFS_FS_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fs/complete.h"
#include "fs/inode.h"

#define NAMES_ABSENT_MAX 32768u /* names that are remembered not to be there */
#define NAMES_FRESH_NS	 UINT64_C(1000000000)

struct names;

/* Those of the inodes of t. NULL when out of memory. */
struct names *names_new(struct inode_table *t);
/* Accepts NULL, returns NULL. After inode_table_free(), which still speaks of inodes that leave. */
struct names *names_free(struct names *n);

/* name in dir stands for ino: the server said so when it was asked at `seen` (clock_ns(); 0: LOOKUP
 * must ask again), and the kernel may believe it for `time` ns from now. False when the name could
 * not be kept (out of memory, or an inode has left the table): then the kernel must not believe it.
 */
bool names_put(struct names *n, struct inode *dir, const char *name, struct inode *ino,
	uint64_t seen, uint64_t time);
/* The same of a name that there is none of. False also when there are NAMES_ABSENT_MAX that the
 * kernel still believes. */
bool names_put_absent(
	struct names *n, struct inode *dir, const char *name, uint64_t seen, uint64_t time);

struct name_info {
	struct inode *ino; /* a reference; NULL: there is no such name */
	uint64_t seen;
	uint64_t until; /* the kernel believes it until then; 0 or past: it asks */
};
/* What a name stands for; false: that is not known, or nothing. */
bool names_get(struct names *n, struct inode *dir, const char *name, struct name_info *out);
/* The same, with what is known not to be there. */
bool names_find(struct names *n, struct inode *dir, const char *name, struct name_info *out);

/* The name of ino that was put last, at most size bytes with its NUL, and a reference to the
 * directory it is in; false: none is known. */
bool names_of(
	struct names *n, const struct inode *ino, struct inode **dir, char *name, size_t size);
/* Does the kernel believe more names of ino than it has links? Then one of them, nobody knows
 * which, is from before somebody else has renamed it. Names that are being taken back
 * (inode.taking_back) it may still believe. With unsure_too those count that names_of() passes
 * over.
 */
bool names_too_many(struct names *n, const struct inode *ino, uint32_t links, bool unsure_too);
/* One of the names of ino that the kernel believes, as names_of(); false: there is none. */
bool names_believed(
	struct names *n, const struct inode *ino, struct inode **dir, char *name, size_t size);
/* The file has another name now than names_of() returned: of the names of ino that are known,
 * names_of() returns none before it is put again. */
void names_unsure(struct names *n, struct inode *ino);

/* Nothing is known of name any more. */
void names_forget(struct names *n, struct inode *dir, const char *name);
/* The server has removed the name, and so does the kernel. */
void names_drop(struct names *n, struct inode *dir, const char *name);
/* The server has moved a name (the kernel moves what it believes with it). */
void names_move(struct names *n, struct inode *dir, const char *name, struct inode *to_dir,
	const char *to_name);
/* One name, or all names of ino, may stand for something else by now: LOOKUP must ask the server.
 */
void names_doubt(struct names *n, struct inode *dir, const char *name);
void names_doubt_all(struct names *n, struct inode *ino);

/* The names in dir that the kernel still believes, each with a NUL behind it, in memory that the
 * caller frees; none of them is believed any more. *len 0 and NULL if there is none. So many bytes
 * in front as *fresh says are of those that it was told in the last NAMES_FRESH_NS. False when out
 * of memory: then nothing has changed. */
bool names_take_back(struct names *n, struct inode *dir, char **list, size_t *len, size_t *fresh);
/* The same of one name, if it is believed. */
void names_take_back_name(struct names *n, struct inode *dir, const char *name);

/* --- complete directories; dir may have left the table: then nothing is kept -------------------
 */

/* This mount has made dir, and asked for that at `since`. */
void names_made_dir(struct names *n, struct inode *dir, uint64_t since);
/* This mount is about to make name in dir, or to move something there. (That this mount has removed
 * a name, names_drop() and names_move() say.) */
void names_making(struct names *n, struct inode *dir, const char *name);
/* Names may have been made in dir, or will be, that this mount does not know of. */
void names_incomplete(struct names *n, struct inode *dir);
/* The server listed what was there at *since, and there was no such name, nor was it made since by
 * this mount; uid asks. */
bool names_lacks(
	struct names *n, struct inode *dir, const char *name, uint32_t uid, uint64_t *since);
/* A listing of dir from the start, see complete_list() and the following. */
uint32_t names_list(struct names *n, struct inode *dir, uint64_t since, uint32_t uid, uint32_t max);
bool names_listed(struct names *n, struct inode *dir, uint32_t token, const char *name, size_t len);
void names_list_end(struct names *n, struct inode *dir, uint32_t token, bool whole);
/* A listing of dir is about to be asked for, at `since`, that is to say what names stand for. */
void names_watch(struct names *n, struct inode *dir, uint64_t since);
/* Is it known that this mount has not changed name, which is NULL for any, since such a listing was
 * asked for at `since`, and that nobody else was seen to change dir? */
bool names_unchanged(struct names *n, struct inode *dir, const char *name, uint64_t since);
/* Was dir made by this mount, and is it complete as of *since? */
bool names_made_here(struct names *n, struct inode *dir, uint64_t *since);
/* complete_missed() and complete_too_large(). */
bool names_missed(struct names *n, struct inode *dir, uint64_t time);
void names_too_large(struct names *n, struct inode *dir, uint64_t time);

unsigned names_count(struct names *n);	/* for tests */
unsigned names_absent(struct names *n); /* of them, those that there are none of */

#endif
