/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * turn_wait: a request that waits for the turn of another process (turn.h).
 */
#ifndef RNFS_FS_KERNEL_WAIT_TURN_WAIT_H
#define RNFS_FS_KERNEL_WAIT_TURN_WAIT_H

#include <stdint.h>
#include <sys/queue.h>

struct turn_wait {
	STAILQ_ENTRY(request) link; /* under the lock of turn.c */
	uint64_t since;		    /* when the wait began; 0: no wait */
};

#endif
