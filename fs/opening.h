/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * opening: files that are opened while their names are being removed, or that are not quite made
 * yet.
 *
 * The kernel says what to open by its inode, and meanwhile other processes may remove the name or
 * give it to another file. On a local file system the open then wins or finds what has the name
 * now. So here: from the moment that an open arrives its file counts as open, and its last name is
 * not removed but made a silly one (silly.h); and while the name of a file that is not open is
 * being removed, opens of it wait, and then ask the server.
 *
 * A server may keep something of its own in the times of a file that is made exclusively, until
 * they are set. Whoever makes it need not wait for that, but what looks at the times or changes
 * them does, and whoever syncs or closes it. Mostly the same program sets times next, or writes and
 * closes, and that can set them too: so it is not done at once, but with that, or after some
 * milliseconds.
 *
 * Locks. openings.lock guards the lists of those that wait and are parked, and an inode's settler.
 * Order: openings.lock, then an inode's, which guards its nopen, unlinking and settling. No step of
 * a request is called with one of them held.
 */
#ifndef RNFS_FS_OPENING_H
#define RNFS_FS_OPENING_H

#include "fs/request.h"

/* NULL when out of memory. */
struct openings *openings_new(void);
/* No open may wait. Accepts NULL, returns NULL. */
struct openings *openings_free(struct openings *o);

/* An open of ino begins: ino counts as open until opening_end(), which follows when the open has
 * failed, or at the close. */
void opening_begin(struct fs *fs, struct inode *ino);
/* The caller then removes the silly name of ino if this was the last (silly_drop()). */
void opening_end(struct fs *fs, struct inode *ino);
/* True: the last name of r->inode is being removed, and next(r) is called once that has ended. */
bool opening_waits(struct request *r, request_step_fn *next);

/* r is about to remove a name of ino. True: ino is not open; opens of it wait until
 * opening_claim_end(), and r->unlinking is ino, with the caller's reference. False: ino is open;
 * with hold it counts as open once more, until opening_end(). */
bool opening_claim(struct request *r, struct inode *ino, bool hold);
void opening_claim_end(struct request *r);

/* The times of ino are to be set, before it is told to the kernel; and have been. */
void opening_settle_begin(struct inode *ino);
void opening_settle_end(struct fs *fs, struct inode *ino);
/* r, which is answered, is to set the times of r->inode by next(r), which is called as soon as
 * anybody waits for that, and soon in any case; or somebody takes it and sets them with what he has
 * to send himself. */
void opening_park(struct request *r, request_step_fn *next);
/* r takes the one that is parked for r->inode, if that is the same user's: r->settler. False: there
 * is none. If r does not come to opening_settled() see request_give_back(). */
bool opening_take(struct request *r);
/* r has set them. */
void opening_settled(struct request *r);
/* Those that are parked and have been for a while, or all, set them now. True: there are more. */
bool openings_tick(struct fs *fs, bool all);
/* Are they being set? */
bool opening_settling(struct inode *ino);
/* True: the times of r->inode are being set, and next(r) is called once that has ended. */
bool opening_settles(struct request *r, request_step_fn *next);

/* Takes the requests off that wait and are GONE (request.h): the caller calls next for each. */
void openings_take_gone(struct fs *fs, struct request_list *gone);

#endif
