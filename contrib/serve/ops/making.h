/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * making: what CREATE, MKDIR, SYMLINK and MKNOD are about to make, noted where the note outlives
 * the server's process.
 *
 * Making an object takes two steps: its name, then its attributes. A server that is killed between
 * them leaves an object without its mark, the time of access by which a client knows its own
 * (nfsproto/nfs_unsure.h). So each such operation that brings a mark is noted before its first
 * step, and struck out after its last. What a killed run leaves noted, the next run reads. A client
 * that sends the operation again finds the name taken; if the operation is noted, and the object
 * was made after the note and has not been touched since, the operation itself has made it, and
 * goes on behind its first step.
 *
 *     FREE --begin--> UNDER WAY --end--> FREE
 *                         \--killed--> LEFT --claimed, or the name is made by another--> FREE
 *
 * Two operations for one name are never both told that they made it: whichever is completed or
 * claimed strikes out all other notes for the name.
 *
 * The notes lie in a record (state/record.h): they outlive the process, not the machine.
 *
 * One lock guards the notes; nothing is called with it held. Functions accept a NULL record: then
 * nothing is noted.
 */
#ifndef RNFS_SERVE_OPS_MAKING_H
#define RNFS_SERVE_OPS_MAKING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "nfsproto/nfs_file.h"

struct making;

struct making_what {
	uint64_t dev, ino; /* of the directory */
	struct nfs_name name;
	uint32_t type; /* an nfs_type */
	struct timespec mark;
};

/* The record at path, which need not exist. NULL, with a warning in the log: it cannot be kept. */
struct making *making_new(const char *path);
/* This run has ended as it should; strikes out what is left. Accepts NULL, returns NULL. */
struct making *making_free(struct making *m);
/* Was the run before this one killed, under this boot of the machine? */
bool making_was_killed(const struct making *m);

/* Notes w. Returns the note for making_end(), or -1: there is no room. */
int making_begin(struct making *m, const struct making_what *w);
/* w is made, or not. note -1: it was not noted. */
void making_end(struct making *m, int note, const struct making_what *w, bool made);
/* The name of w is taken, by what looks like st. True: an earlier run was killed while it made just
 * that for w; the note is gone. */
bool making_claim(struct making *m, const struct making_what *w, const struct statx *st);

#endif
