/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * lost: files that may lose written data when the mount ends. The log names each file once, with
 * the number of bytes, and by path if the path is known.
 */
#ifndef RNFS_FS_KNOWN_LOST_H
#define RNFS_FS_KNOWN_LOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/lock.h"

#define LOST_NAMED    16u  /* the log does not name further files */
#define LOST_PATH_MAX 800u /* bytes of a path in the log; a line has 1024 */

struct fs;
struct inode;

struct lost {
	struct mutex lock;
	bool begun GUARDED_BY(lock), notes GUARDED_BY(lock);
	struct inode *file[LOST_NAMED] GUARDED_BY(lock); /* references */
	uint64_t bytes[LOST_NAMED] GUARDED_BY(lock);
	unsigned n GUARDED_BY(lock);
	bool more GUARDED_BY(lock); /* more files than LOST_NAMED */
};

void lost_init(struct lost *l);
void lost_finish(struct lost *l);
/* The mount ends: from now on files are noted here, and other code does not log losses. */
void lost_begin(struct lost *l);
bool lost_begun(struct lost *l);
/* Adds to the bytes written to ino that may be lost. Before lost_begin(), and after lost_say(),
 * nothing is noted. Any thread. */
void lost_note(struct lost *l, struct inode *ino, uint64_t bytes);
/* Logs the files. False: there is none. */
bool lost_say(struct fs *fs, struct lost *l);

/* Writes the path of ino below the root of the mount, as far as it is known, for the log: at most
 * size bytes with the NUL, size >= 4. A path that is not complete begins with dots. Control
 * characters become '?'. */
void lost_path(struct fs *fs, struct inode *ino, char *path, size_t size);

#endif
