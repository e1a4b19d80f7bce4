/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * inval_wait: a request that waits until the kernel has invalidated pages (inval.h). Under the lock
 * of inval.c once the request waits. alone: only the pages of [from, from + len) are invalidated;
 * else all pages, and the attributes.
 */
#ifndef RNFS_FS_KERNEL_WAIT_INVAL_WAIT_H
#define RNFS_FS_KERNEL_WAIT_INVAL_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct inval_wait {
	STAILQ_ENTRY(request) link;
	bool alone;
	off_t from, len; /* len 0: to the end */
	/* A granted lock: the request waits for view_is_quiet() until this time at most. 0: another
	 * request, which does not wait. */
	uint64_t waits;
	unsigned told; /* view.count when the wait began */
	uint64_t most; /* until then `waits` moves on, as long as view.count stays */
	bool quiet;    /* view_is_quiet() when the wait ended */
};

#endif
