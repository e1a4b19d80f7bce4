/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * cached: READs that are answered from the cache (cache/cache.h).
 *
 * In three cases a READ goes to the server in the reader's own name instead (ops_data.c): the data
 * is not in the cache and not worth a block, there is no memory for a block, or the server refused
 * the cache's READ. A request that waits for a block already has memory of its own, so that the
 * request need not wait for memory when the block does not come.
 *
 * Blocks are dropped, never mended. A WRITE by this mount drops the blocks in its range. Any other
 * change, a granted lock, and an open that may not keep pages drop all blocks of the file. So the
 * cache never answers with older data than the kernel's own pages have.
 *
 * If a program opens a small file to read, and the kernel has nothing of the file, a READ ends the
 * COMPOUND of the OPEN. The memory of that READ becomes the first block, unless blocks of the file
 * were dropped meanwhile. NFSv3 has no such COMPOUND.
 */
#ifndef RNFS_FS_FILE_CACHED_H
#define RNFS_FS_FILE_CACHED_H

#include "fs/known/fs.h"
#include "fs/known/file.h"
#include "fs/kernel/request.h"

struct cached;

/* NULL when out of memory. */
struct cached *cached_new(void);
/* No request may wait here. Accepts NULL, returns NULL. */
struct cached *cached_free(struct cached *c);

/* Sets up f->fetcher. The file of f has just been opened. */
void cached_opened(struct fs *fs, struct file *f);

/* op, an OPEN of r->inode by r, will bring the data of a small file along, if the kernel is likely
 * to read the file. The memory goes with r. */
void cached_open_begin(struct request *r, struct nfs_op *op);
/* OPEN has succeeded, and change_keeps_pages() was asked: puts the data that OPEN brought into the
 * cache. */
void cached_open_end(struct request *r, bool kept);

/* HIT: req has been answered. PENDING: a READ in flight brings the data, and the caller calls
 * cached_wait(). MISS: the caller asks the server. */
enum cache_found cached_read(fuse_req_t req, struct file *f, uint64_t off, uint32_t size);
/* r, a READ that has its memory and its file, is answered from the cache when the READ in flight
 * has ended; or ask(r) is called then. */
void cached_wait(struct request *r, request_step_fn *ask);

/* Ends the requests that wait here and are GONE (request.h). */
void cached_end_gone(struct fs *fs);

#endif
