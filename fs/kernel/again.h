/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * again: requests of the kernel that wait for a lock, and are to begin anew: in a successor
 * (program/upgrade.h), or here if there is none.
 *
 *     waits --request_pool_put_off()--> the server is not asked any more --again_keep()--> kept
 *          \--the lock is granted meanwhile--> answered as usual                            |
 *                                                              begun anew <--again_begin()--/
 *
 * The kernel notices nothing: the request has the same number, and waits for its answer.
 */
#ifndef RNFS_FS_KERNEL_AGAIN_H
#define RNFS_FS_KERNEL_AGAIN_H

#include <linux/fuse.h>
#include <stdbool.h>
#include <stdint.h>

#include "transport/rpc/xdr.h"

struct err;
struct former;
struct fs;
struct agains;

/* A SETLKW as the kernel sends it. */
struct again_lock {
	struct fuse_in_header h;
	struct fuse_lk_in in;
};

/* NULL when out of memory. */
struct agains *agains_new(void);
/* Accepts NULL, returns NULL. */
struct agains *agains_free(struct agains *a);

/* Keeps the request, which came at `born` on clock_ns(), and to which no answer is sent. False when
 * out of memory. Any thread. */
bool again_keep(struct fs *fs, const struct again_lock *lock, uint64_t born);
/* Begins all kept requests anew, the first one first. The kernel has waited for them since they
 * came. */
void again_begin(struct fs *fs);

/* Notes the kept requests for a successor that the kernel does not send them again (underway.h); a
 * kernel that does needs no notes. Until again_begin(), the daemon does not count as having read
 * them. */
void again_note(struct fs *fs);
/* Keeps the noted requests of a former daemon. 0, or -1 with *e set: a note is damaged, or no
 * memory. Before requests are served. */
int again_former(struct fs *fs, const struct former *former, struct err *e);

/* The kept requests for a successor (record.h). get: on failure x is bad; false: no memory. */
void again_put_record(struct fs *fs, struct xdr_out *x);
bool again_get_record(struct fs *fs, struct xdr_in *x);

#endif
