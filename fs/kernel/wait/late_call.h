/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * late_call: a request that may outlive its process, or waits for such a request (late.h). The lock
 * of late.c guards all members but lasts.
 */
#ifndef RNFS_FS_KERNEL_WAIT_LATE_CALL_H
#define RNFS_FS_KERNEL_WAIT_LATE_CALL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "fs/kernel/wait/step.h"

struct inode;

struct late_call {
	/* A request that changes the data of a file, and may have been sent: a reference on the
	 * file, and the bytes. NULL: the request is not in the list, or was answered in time. */
	struct inode *of;
	uint64_t first, last;
	bool is;	   /* LATE */
	atomic_bool lasts; /* the call may outlive the process: late.c has known the request */
	/* called first by request_take_fuse() and request_free() if the request is in the list */
	request_step_fn *answers, *freed;
	LIST_ENTRY(request) link;
	/* a request that waits until others have ended */
	struct inode *behind;
	uint64_t from, to; /* bytes */
	request_step_fn *next;
	TAILQ_ENTRY(request) wait;
};

#endif
