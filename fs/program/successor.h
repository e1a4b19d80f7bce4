/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * successor: a daemon that goes on in place of a former one, in the same process (upgrade.h).
 *
 *     the record is read -> the connection, the session -> the rest of the record -> the FUSE
 *     device, INIT -> workers -> the command is told
 *
 * The kernel keeps the requests of programs until the workers begin. If the server cannot be
 * reached, the successor tries for ever, as the former daemon would have done.
 */
#ifndef RNFS_FS_PROGRAM_SUCCESSOR_H
#define RNFS_FS_PROGRAM_SUCCESSOR_H

#include "fs/program/record.h"

/* Of the environment: the descriptor of the record; or SUCCESSOR_CHECK, and the program only tells
 * whether it understands its arguments (installed.h). */
#define SUCCESSOR_VARIABLE "RNFS_RECORD"
#define SUCCESSOR_CHECK	   "check"

/* Is this process only to check its arguments? Also removes the variable. To be called first. */
bool successor_checks(void);

/* Is this process a successor? If so, *r is the record; NULL with *e set: the record is not
 * usable. To be called once, before other threads exist. */
bool successor_begin(struct record **r, struct err *e);
/* fs has been connected with r->nfs. Makes the tables, the FUSE session, and all that the record
 * tells. 0, or -1 with *e set. */
int successor_take(struct fs *fs, struct record *r, struct err *e);
/* The workers have begun: the command is told. */
void successor_ready(struct fs *fs, struct record *r);
/* There is no way to go on. Tells the command, and takes the dead mount away. */
void successor_failed(struct record *r, const char *sentence);

#endif
