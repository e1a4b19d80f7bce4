/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * names: the names that the kernel has been told, and until when the kernel believes each.
 *
 * The kernel walks through a believed name without asking the daemon, for any user. So when a user
 * may have lost the right to search a directory, the believed names in the directory must be
 * invalidated: names_take_back() lists them. If a name was told without a time-out, the kernel asks
 * at each walk. names_find() lets the daemon answer from its notes.
 *
 * A name may be absent: there is no such file, and the kernel may believe the absence as well.
 * Programs can ask for any number of absent names, so there is a limit. The oldest are freed first,
 * except names that the kernel believes: the kernel must be told if such a name comes to be.
 *
 * In a complete directory (complete.h) a name that is not known is known not to exist. Servers may
 * find names that they do not list: other spellings, or names of the server's own (.snapshot). The
 * server is always asked for such names.
 *
 * A name lives as long as both of its inodes are in the inode table, which reports each inode that
 * leaves (inode_table_on_left()). A name holds no reference. One lock guards everything, with the
 * lists in the inodes; no other lock is taken under it.
 */
#ifndef RNFS_FS_KNOWN_NAMES_H
#define RNFS_FS_KNOWN_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fs/known/complete.h"
#include "fs/known/inode.h"

#define NAMES_ABSENT_MAX 32768u /* absent names that are kept */
#define NAMES_FRESH_NS	 UINT64_C(1000000000)

struct names;

/* The names of the inodes of t. NULL when out of memory. */
struct names *names_new(struct inode_table *t);
/* Accepts NULL, returns NULL. Called after inode_table_free(), which still reports inodes that
 * leave. */
struct names *names_free(struct names *n);

/* The server, asked at `seen` (clock_ns(); 0: LOOKUP must ask again), said that name in dir stands
 * for ino. The kernel may believe the name for `time` ns from now. False: the name could not be
 * kept (out of memory, or an inode has left the table), and the kernel must not believe the
 * name. */
bool names_put(struct names *n, struct inode *dir, const char *name, struct inode *ino,
	uint64_t seen, uint64_t time);
/* The same for an absent name. False also when the kernel still believes NAMES_ABSENT_MAX absent
 * names. */
bool names_put_absent(
	struct names *n, struct inode *dir, const char *name, uint64_t seen, uint64_t time);

struct name_info {
	struct inode *ino; /* a reference; NULL: the name is absent */
	uint64_t seen;
	uint64_t until; /* the kernel believes the name until then; 0 or earlier than now: the
			   kernel asks */
};
/* The file that a name stands for. False: the name is not known, or absent. */
bool names_get(struct names *n, struct inode *dir, const char *name, struct name_info *out);
/* The same, with absent names. */
bool names_find(struct names *n, struct inode *dir, const char *name, struct name_info *out);

/* The name of ino that was put last, at most size bytes with the NUL, and a reference to its
 * directory. False: no name is known. */
bool names_of(
	struct names *n, const struct inode *ino, struct inode **dir, char *name, size_t size);
/* Does the kernel believe more names of ino than ino has links? Then one of the names, not known
 * which, is from before a rename by another client. Names that are being invalidated
 * (dirnames.recalls) count: the kernel may still believe them. With unsure_too the names count
 * that names_of() passes over. */
bool names_too_many(struct names *n, const struct inode *ino, uint32_t links, bool unsure_too);
/* One of the names of ino that the kernel believes, as in names_of(); false: there is none. */
bool names_believed(
	struct names *n, const struct inode *ino, struct inode **dir, char *name, size_t size);
/* The file has another name now than names_of() returned. From now on names_of() returns a known
 * name of ino only after the name was put again. */
void names_unsure(struct names *n, struct inode *ino);

/* Frees the notes about name. */
void names_forget(struct names *n, struct inode *dir, const char *name);
/* The server has removed the name, and so does the kernel. */
void names_drop(struct names *n, struct inode *dir, const char *name);
/* The server has moved a name. The kernel moves its own belief along. */
void names_move(struct names *n, struct inode *dir, const char *name, struct inode *to_dir,
	const char *to_name);
/* One name, or all names of ino, may stand for another file by now: LOOKUP must revalidate at the
 * server. */
void names_doubt(struct names *n, struct inode *dir, const char *name);
void names_doubt_all(struct names *n, struct inode *ino);

/* Lists the names in dir that the kernel still believes, each with its NUL, in memory that the
 * caller frees. Notes that the kernel believes none of them any more. No such name: *len 0 and
 * NULL. The first *fresh bytes are names told to the kernel in the last NAMES_FRESH_NS. False when
 * out of memory: then nothing has changed. */
bool names_take_back(struct names *n, struct inode *dir, char **list, size_t *len, size_t *fresh);
/* Notes the same for one name, if the kernel believes the name. */
void names_take_back_name(struct names *n, struct inode *dir, const char *name);

/* --- complete directories: no notes are kept of a dir that has left the table --------------------
 */

/* This mount has made dir, and sent the call at `since`. */
void names_made_dir(struct names *n, struct inode *dir, uint64_t since);
/* This mount is about to make name in dir, or to move a file to name. (names_drop() and
 * names_move() report names removed by this mount.) */
void names_making(struct names *n, struct inode *dir, const char *name);
/* dir is no longer complete: names unknown to this mount may have been made there, or will be. */
void names_incomplete(struct names *n, struct inode *dir);
/* Is it known for uid that the server listed dir at *since without this name, and that this mount
 * has not made the name since? */
bool names_lacks(
	struct names *n, struct inode *dir, const char *name, uint32_t uid, uint64_t *since);
/* A listing of dir from the start. Arguments and results as of complete_list(), complete_listed()
 * and complete_list_end(). */
uint32_t names_list(struct names *n, struct inode *dir, uint64_t since, uint32_t uid, uint32_t max);
bool names_listed(struct names *n, struct inode *dir, uint32_t token, const char *name, size_t len);
void names_list_end(struct names *n, struct inode *dir, uint32_t token, bool whole);
/* A listing of dir, from which LOOKUPs will be answered, is about to be asked for, at `since`. */
void names_watch(struct names *n, struct inode *dir, uint64_t since);
/* Is it known that this mount has not changed name (NULL: any name) since such a listing was asked
 * for at `since`, and that no other client was seen to change dir? */
bool names_unchanged(struct names *n, struct inode *dir, const char *name, uint64_t since);
/* Did this mount make dir, and is dir complete as of *since? */
bool names_made_here(struct names *n, struct inode *dir, uint64_t *since);
/* As complete_missed() and complete_too_large(). */
bool names_missed(struct names *n, struct inode *dir, uint64_t time);
void names_too_large(struct names *n, struct inode *dir, uint64_t time);

#endif
