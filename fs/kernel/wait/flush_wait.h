/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * flush_wait: a request that waits until data written before is on the server (flush.h).
 */
#ifndef RNFS_FS_KERNEL_WAIT_FLUSH_WAIT_H
#define RNFS_FS_KERNEL_WAIT_FLUSH_WAIT_H

#include <stdbool.h>
#include <sys/queue.h>

#include "cache/writeback.h"
#include "fs/kernel/wait/step.h"
#include "nfsproto/nfs_client.h"

struct inode;

struct flush_wait {
	struct inode *of; /* NULL: the request waits for room */
	request_step_fn *next;
	struct writeback_wait wait;
	struct nfs_then then; /* of flush_waits_then() */
	struct writeback_room room;
	request_step_fn *gone;	   /* ends the request if it is GONE; NULL: request_end() does */
	bool closes;		   /* the request closes a file, and is never GONE */
	bool outlives;		   /* if the request is GONE, it is answered and goes on */
	TAILQ_ENTRY(request) link; /* under the lock of flush.c */
};

#endif
