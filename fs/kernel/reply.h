/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * reply: sends data to the kernel from any place in memory.
 */
#ifndef RNFS_FS_KERNEL_REPLY_H
#define RNFS_FS_KERNEL_REPLY_H

#define FUSE_USE_VERSION 314
#include <fuse3/fuse_lowlevel.h>

#include "transport/rpc/seg.h"

/* Answers fuse with the bytes of data, by one writev(2) that names each segment, without a copy. 0,
 * or a negative errno if the kernel did not take the answer. */
int reply_data(fuse_req_t fuse, const struct seg_list *data);

#endif
