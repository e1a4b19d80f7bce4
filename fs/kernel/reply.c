/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * reply: sends data to the kernel from any place in memory.
 *
 * libfuse copies a struct fuse_bufvec of several pieces of memory into one piece (0.7 ms for 256
 * pages, where fuse_reply_iov() takes 1 us besides the writev). fuse_reply_iov() copies nothing,
 * but allocates the list of pieces with room for its header; for one piece fuse_reply_buf() saves
 * the allocation.
 */
#include "fs/kernel/reply.h"

int reply_data(fuse_req_t fuse, const struct seg_list *data)
{
	struct iovec iov[SEG_LIST_MAX];
	unsigned n = seg_iter_iov(seg_iter_of(data), iov, SEG_LIST_MAX);

	if (n > 1)
		return fuse_reply_iov(fuse, iov, (int)n);
	return fuse_reply_buf(fuse, n ? iov[0].iov_base : NULL, n ? iov[0].iov_len : 0);
}
