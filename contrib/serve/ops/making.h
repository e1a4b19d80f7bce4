/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * making: notes of objects that CREATE, MKDIR, SYMLINK and MKNOD are about to make. The notes
 * outlive the server's process.
 *
 * An object is made in two steps: first the name, then the attributes. A server that is killed
 * between the steps leaves an object without a mark. The mark is the time of access, by which a
 * client recognises its own objects (nfsproto/common/nfs_unsure.h). So each operation with a mark
 * is noted before the first step, and the note is struck out after the last. The next run reads the
 * notes of a killed run. A client that sends the operation again finds the name taken. If the
 * operation is noted, and the object was made after the note and has not been touched since, the
 * operation itself has made the object. The operation then goes on behind its first step.
 *
 *     FREE --begin--> UNDER WAY --end--> FREE
 *                         \--killed--> LEFT --claimed, or the name is made by another--> FREE
 *
 * Two operations for one name never both get the answer that the operation made the object: the
 * first that is completed or claimed strikes out all other notes for the name.
 *
 * The notes lie in a record (state/record.h): they outlive the process, not the machine.
 *
 * One lock guards the notes, and no other module is called with the lock held. With a NULL record
 * the functions note nothing.
 */
#ifndef RNFS_SERVE_OPS_MAKING_H
#define RNFS_SERVE_OPS_MAKING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "nfsproto/wire/nfs_file.h"

struct making;

struct making_what {
	uint64_t dev, ino; /* of the directory */
	struct nfs_name name;
	uint32_t type; /* an nfs_type */
	struct timespec mark;
};

/* Opens the record at path, which need not exist. NULL, with a warning in the log: no record can be
 * kept. */
struct making *making_new(const char *path);
/* The run ends normally: strikes out all notes. Accepts NULL, returns NULL. */
struct making *making_free(struct making *m);
/* Was the previous run killed, since the machine last booted? */
bool making_was_killed(const struct making *m);

/* Notes w. Returns the note for making_end(), or -1: there is no room. */
int making_begin(struct making *m, const struct making_what *w);
/* w is made, or not. note -1: w was not noted. */
void making_end(struct making *m, int note, const struct making_what *w, bool made);
/* The name of w is taken, by an object with attributes st. True: an earlier run was killed while
 * making the object for w; the note is gone. */
bool making_claim(struct making *m, const struct making_what *w, const struct statx *st);

#endif
