/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * silly: names that keep unlinked files alive until their last close.
 *
 * A server need not keep an open file without a name, but programs rely on such files. So the name
 * of an open file is not removed but changed to a silly name (.nfsXXXX) in the same directory. The
 * silly name is removed at the last close. Until then no program can remove the silly name (EBUSY,
 * as with the kernel's client). Other names of the file do not count, as with the kernel's client:
 * another client may remove them. Only if the file already has a silly name is another name removed
 * at once.
 *
 * The kernel does not wait for the removal at the last close, so a directory may seem not empty
 * just after: then rmdir waits (silly_wait()) and tries again. To a successor (survivor.h) the
 * kernel may send an RMDIR again before the RELEASE of a close that came first: until the kernel
 * has sent all requests again, rmdir waits for any file that has a silly name.
 *
 * The server is asked which file a name stands for, but only while some file is open. If the name
 * was last known to stand for a file that is not open, unlink and rename over NFSv4 let REMOVE and
 * RENAME check the file themselves. A new name that is believed to be absent (entry.h) is not asked
 * for. A file that is being opened counts as open. An open of a file during the removal of its
 * name waits (opening.h).
 *
 * Locks. silly_names.lock, a leaf, guards the members that say so. An inode's lock guards its
 * silly.
 */
#ifndef RNFS_FS_FILE_SILLY_H
#define RNFS_FS_FILE_SILLY_H

#include "fs/kernel/request.h"
#include "transport/err.h"
#include "transport/ledger.h"
#include "transport/rpc/xdr.h"

struct silly {
	struct nfs_fh dir;
	struct rpc_cred cred;
	bool sure; /* the server has the name; else the server may get the name late */
	/* while a failed REMOVE waits: how often the REMOVE was sent, and when the next one is due,
	 * on clock_ns() */
	SLIST_ENTRY(silly) link;
	unsigned tries;
	uint64_t due;
	uint64_t id; /* for silly_take_begun(): the node ID of the file */
	/* request_number() of the UNLINK or RENAME that gives the name; 0: not known */
	uint64_t request;
	struct note note; /* of the owner of the name: the inode's lock, or one thread */
	char name[40];
};

/* The state of an UNLINK, RMDIR or RENAME. */
struct unlink_state {
	bool renamed; /* silly_check() has given inode a silly name */
	/* only: the server must remove the name only if the name stands for `unlinking`, which is
	 * not open. ask: if the name stands for another file, the server is to say for which. */
	bool only, ask;
	/* silly_check() has seen that a former daemon had begun with the request */
	bool begun;
	bool none;	     /* RENAME: the new name is believed to be absent */
	struct nfs_fh moved; /* RENAME: handle of the file that moves; len 0: not known */
	int error;	     /* the answer: 0 or a negative errno */
	struct silly *silly; /* the name that is being given or removed */
	unsigned tries;	     /* RMDIR: how often the call was sent again */
	uint64_t ended;	     /* RMDIR: silly_count_ended() before the last call */
};

static inline struct unlink_state *unlink_of(const struct request *r)
{
	return request_state(r, struct unlink_state);
}

/* tag tells the silly names of this mount from those of other mounts. NULL when out of memory. */
struct silly_names *silly_names_new(uint32_t tag);
/* No rmdir may wait. Accepts NULL, returns NULL. */
struct silly_names *silly_names_free(struct silly_names *s);

/* The number of a new name, and the tag of the mount. noted: the noted request (underway.h) that
 * gives the name, or 0. If the kernel sends the request again, to a successor, the number is the
 * same. */
unsigned silly_number(struct fs *fs, uint64_t noted, uint32_t *tag);
/* Makes the note (ledger.h) of s, the silly name of the inode with node ID id. */
void silly_note(struct fs *fs, struct silly *s, uint64_t id);
/* The silly name that r, which the kernel sends again, was giving to a file when the former daemon
 * was killed: the caller's, with a reference to the file in *ino. NULL: none. */
struct silly *silly_take_begun(struct request *r, struct inode **ino);
/* The kernel sends no request again any more. */
void silly_end_begun(struct fs *fs);
/* Frees s, with its note: no removal of the name is due. Accepts NULL. */
void silly_free(struct fs *fs, struct silly *s);

/* True: the server has refused a RENAME or REMOVE with `error`, and has changed nothing. (If the
 * server had carried out an earlier transmission of the same call, the answer would be ENOENT.) */
bool silly_refused(int error);
/* Makes the server remove the name s, which no inode has any more, and frees s; does not wait. ino:
 * the file, from silly_drop() only, which has counted the removal (inode.silly.going); or NULL. */
void silly_remove(struct fs *fs, struct silly *s, struct inode *ino);
/* Removes the silly name of ino if ino is no longer open; does not wait. */
void silly_drop(struct fs *fs, struct inode *ino);
/* Sends again each REMOVE that has failed, unless the server refused it. For the main thread, about
 * once a second. */
void silly_tick(struct fs *fs);
/* silly_tick() for all silly names that are left, of open files too; waits a few seconds at most.
 * For the end of the mount, after the last request. */
void silly_drop_all(struct fs *fs);

/* Silly names for a successor (record.h). put: no request is under way; forgotten: the n inodes of
 * fs_forgotten(). get: fs has the inodes of the record; on failure x is bad; false: no memory. */
void silly_put_record(
	struct fs *fs, struct inode *const forgotten[], uint32_t n, struct xdr_out *x);
bool silly_get_record(struct fs *fs, struct xdr_in *x);

/* The tag, for the notes of the mount; and the tag of the former daemon. */
uint32_t silly_tag(const struct fs *fs);
/* The silly names of a daemon that was killed, from their notes; their tag was `tag`. fs has the
 * inodes and files of that daemon. Names of files that are not open are removed by silly_tick(). 0,
 * or -1 with *e set: a note is damaged, or no memory. Before requests are served. */
int silly_former(struct fs *fs, uint32_t tag, const struct former *former, struct err *e);

/* The close of an open file of ino begins. True: the file is the last open one, and ino has a silly
 * name: the caller calls silly_drop() and then silly_close_end(). */
bool silly_close_begin(struct fs *fs, struct inode *ino);
void silly_close_end(struct fs *fs);

/* How many silly names have been removed so far. */
uint64_t silly_count_ended(struct fs *fs);
/* r has found a directory not empty; silly_count_ended() was `ended` before r asked. True: a silly
 * name has been removed since, and next(r) was called; or a silly name is being removed, or the
 * RELEASE of a file with a silly name may still come again, and next(r) will be called. */
bool silly_wait(struct request *r, uint64_t ended, request_step_fn *next);

/* The kernel has sent all requests of the former daemon again: the files that are open now were not
 * closed. Calls next for each request that waits. */
void silly_settle(struct fs *fs);

/* Moves the requests that wait and are GONE (request.h) to *gone: the caller calls next for
 * each. */
void silly_take_gone(struct fs *fs, struct request_list *gone);

#endif
