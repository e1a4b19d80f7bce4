/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * opening: files that are opened while their names go.
 *
 * The kernel says what to open by its inode, and meanwhile other processes may remove the name or
 * give it to another file. On a local file system the open then wins or finds what has the name
 * now. So here: from the moment that an open arrives its file counts as open, and its last name is
 * made a silly one; and while the name of a file that is not open is being removed, opens of it
 * wait, and then ask the server. ESTALE has the kernel look all names up again, but only once: the
 * second time what it has found is opened, whatever has happened to its names since.
 *
 * Order of locks: fs.silly_lock, then an inode's. No call of another request's step holds one.
 */
#ifndef RNFS_FS_OPENING_H
#define RNFS_FS_OPENING_H

#include "fs/request.h"

/* An open of ino begins. It ends with the file's close or with opening_end(). */
void opening_begin(struct fs *fs, struct inode *ino);
/* It is not open any more, or has not been opened: removes its silly name if it was the last. */
void opening_end(struct fs *fs, struct inode *ino);
/* Is the name of r->inode being removed? Then next(r) is called once that has ended. */
bool opening_waits(struct request *r, request_step_fn *next);

/* r is about to remove a name of ino. True: it is not open; opens wait until opening_claim_end(),
 * and r has taken over the caller's reference. False: it is open; with hold it stays so until
 * opening_end(). */
bool opening_claim(struct request *r, struct inode *ino, bool hold);
void opening_claim_end(struct request *r);

/* The open of r is answered ESTALE: its thread begins again, once. */
void opening_tell_stale(const struct request *r);
/* Does it just do so, r being one of its look-ups? Then it wants to know what the server says. */
bool opening_told_stale(const struct request *r);
/* A look-up has failed. After two (the first had the kernel drop the name that it knew) there will
 * be no open. */
void opening_not_found(const struct request *r);
/* Is r the next open of that thread? */
bool opening_take_stale(const struct request *r);

#endif
