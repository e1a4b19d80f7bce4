/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * data: memory for READ and WRITE data, within the mount's limit.
 *
 * Messages are made of blocks of the same pool. There must always be memory to send a call and to
 * take an answer. So data may take only fs.data_limit bytes of the pool; each block given here
 * counts with its size until data_put(). Any thread may call any function.
 */
#ifndef RNFS_FS_KERNEL_DATA_H
#define RNFS_FS_KERNEL_DATA_H

#include "fs/known/fs.h"
#include "transport/rpc/seg.h"

/* A block of at least size bytes. NULL when the limit of the mount or of the pool is reached. */
struct mem_buf *data_get(struct fs *fs, size_t size);
/* The same for a block that may stay unused for long, as a worker's that waits for a request. NULL
 * also if the limit would leave less than MEM_MAX_SIZE, the memory of one request: that request
 * would wait for the unused blocks. */
struct mem_buf *data_get_idle(struct fs *fs, size_t size);
/* A block of the former daemon counts as if from data_get(). */
void data_kept(struct fs *fs, const struct mem_buf *buf);
/* Returns a block from data_get() or data_kept(). Accepts NULL. */
void data_put(struct fs *fs, struct mem_buf *buf);

/* Memory for size bytes (at most MEM_MAX_SIZE): one block. If the pool has none that is large
 * enough, several blocks of DATA_PIECE_MIN bytes and more; then the array of the list is from
 * malloc. False when there is no memory: nothing has been taken. */
#define DATA_PIECE_MIN (128u << 10)
bool data_get_list(struct fs *fs, uint32_t size, struct seg_list *l);
/* Returns all blocks of a list from data_get_list() or data_get(), and frees the array. */
void data_put_list(struct fs *fs, const struct seg_list *l);

#endif
