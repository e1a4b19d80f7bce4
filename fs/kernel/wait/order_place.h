/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * order_place: the place of a READ or WRITE among those in flight (order.h). The lock of order.c
 * guards all members.
 */
#ifndef RNFS_FS_KERNEL_WAIT_ORDER_PLACE_H
#define RNFS_FS_KERNEL_WAIT_ORDER_PLACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "fs/kernel/wait/step.h"

struct inode;

struct order_place {
	struct inode *of; /* a reference; NULL: the request is not in the list */
	/* called first by request_free() if the request is in the list */
	request_step_fn *freed;
	uint64_t first, last; /* pages */
	LIST_ENTRY(request) link;
	TAILQ_ENTRY(request) wait;
	request_step_fn *next;
	bool writes, waits;
	atomic_bool overtaken; /* by a WRITE; any thread */
};

#endif
