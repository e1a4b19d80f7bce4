/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * opening_wait: a request that waits until the times of a file are set, or sets them (opening.h).
 */
#ifndef RNFS_FS_KERNEL_WAIT_OPENING_WAIT_H
#define RNFS_FS_KERNEL_WAIT_OPENING_WAIT_H

#include <stdbool.h>

struct request;

struct opening_wait {
	bool settles; /* the request waits for the times, and not for the removal of a name */
	/* the request that was to set the times of r->inode; r sets the times instead */
	struct request *settler;
};

#endif
