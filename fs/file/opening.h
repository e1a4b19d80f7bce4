/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * opening: opens of files during the removal of a name, or before the times are set.
 *
 * The kernel opens a file by its inode. Meanwhile other processes may remove the name or give the
 * name to another file. On a local file system the open then wins, or finds the file that has the
 * name now. So here: from the arrival of an open the file counts as open, and the last name is not
 * removed but changed to a silly name (silly.h). During the removal of a name of a file that is not
 * open, opens of the file wait, and then ask the server.
 *
 * A server may keep a value of its own in the times of a file made exclusively, until the times are
 * set. The process that makes the file need not wait. But requests that look at the times or change
 * the times wait, and so do a sync and a close. Mostly the same program sets times next, or writes
 * and closes, and such a call can set the file's times too. So the times are set with such a call,
 * or after some milliseconds.
 *
 * Until then other clients see times that mean nothing, as with any client before its SETATTR.
 * LOOKUP and READDIR of this mount show the time of change instead. The SETATTR overwrites times
 * that another client has set meanwhile, but no mode and no owner. If the daemon is killed before,
 * the times stay as the server left them.
 *
 * Locks. openings.lock guards the lists of waiting and parked requests, and an inode's settler.
 * Order: openings.lock, then an inode's lock, which guards inode.opens. No step of a request is
 * called with one of these locks held.
 */
#ifndef RNFS_FS_FILE_OPENING_H
#define RNFS_FS_FILE_OPENING_H

#include "fs/kernel/request.h"

/* The state of an OPEN or CREATE. */
struct open_state {
	struct part *access; /* asks for the right that OPEN does not tell */
	struct part *cut;    /* truncates again the file that CREATE opened */
	unsigned drops;	     /* of the file's cache, before OPEN */
	bool again;	     /* the kernel has looked the path up again after ESTALE */
	bool cuts;	     /* view_cut_begin() has been called */
	bool found;	     /* CREATE: the file was already known here */
	bool alone;	     /* opened without the server, and without attributes */
};

static inline struct open_state *open_of(const struct request *r)
{
	return request_state(r, struct open_state);
}

/* The state of a request that sets the times of a new file (opening_park()). */
struct settle_state {
	uint64_t parked;  /* since when the request is parked */
	uint64_t touched; /* touched of the inode, when the request began */
};

static inline struct settle_state *settle_of(const struct request *r)
{
	return request_state(r, struct settle_state);
}

/* NULL when out of memory. */
struct openings *openings_new(void);
/* No open may wait. Accepts NULL, returns NULL. */
struct openings *openings_free(struct openings *o);

/* An open of ino begins: ino counts as open until opening_end(), which follows when the open has
 * failed, or at the close. */
void opening_begin(struct fs *fs, struct inode *ino);
/* If this was the last open, the caller then removes the silly name of ino (silly_drop()). */
void opening_end(struct fs *fs, struct inode *ino);
/* True: the last name of r->inode is being removed; next(r) is called after the removal. */
bool opening_waits(struct request *r, request_step_fn *next);

/* r is about to remove a name of ino. True: ino is not open; opens of ino wait until
 * opening_claim_end(), and r->unlinking is ino, with the caller's reference. False: ino is open;
 * with hold, ino counts as open once more, until opening_end(). */
bool opening_claim(struct request *r, struct inode *ino, bool hold);
void opening_claim_end(struct request *r);

/* The times of ino will be set, before the kernel is told of ino; and have been set. */
void opening_settle_begin(struct inode *ino);
void opening_settle_end(struct fs *fs, struct inode *ino);
/* r, which is answered, will set the times of r->inode by next(r). next is called at once if
 * another request waits for the times, and soon in any case. Or another request takes r
 * (opening_take()), and sets the times with a call of its own. */
void opening_park(struct request *r, request_step_fn *next);
/* r takes the request that is parked for r->inode into r->opening.settler, if the parked request
 * belongs to the same user. False: there is none. If r does not come to opening_settled(), see
 * request_give_back(). */
bool opening_take(struct request *r);
/* r has set the times. */
void opening_settled(struct request *r);
/* Requests that have been parked for a while, or all, set the times now. True: there are more. */
bool openings_tick(struct fs *fs, bool all);
/* Are the times of ino being set? */
bool opening_settling(struct inode *ino);
/* True: the times of r->inode are being set; next(r) is called afterwards. */
bool opening_settles(struct request *r, request_step_fn *next);

/* Moves the requests that wait and are GONE (request.h) to *gone: the caller calls next for
 * each. */
void openings_take_gone(struct fs *fs, struct request_list *gone);

#endif
