/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * order: READs that must show the data of a WRITE in flight.
 *
 * write(2) copies its data into the kernel's pages, and the kernel sends a WRITE. From then on the
 * kernel takes page and WRITE to hold the same data. A valid page is not locked until the answer to
 * its WRITE. So the page can be invalidated before the answer: by an open that is not to keep
 * pages, or by attributes with another size or time, handled late by some process. The next reader
 * then makes the kernel fetch the page again. The server may answer the READ with the file as it
 * was before the WRITE. The kernel then keeps old data where it has just written, or zeros if the
 * WRITE was behind the end of the file.
 *
 * In all other cases the kernel reads no page during a write to the page. A process that needs a
 * cached page sends no READ, and a process that writes to a page waits for a READ of the page to
 * end. So a READ meets a WRITE of the same pages only if the WRITE filled the pages before the READ
 * was sent. Such a READ waits for the WRITE. If the WRITE comes after the READ was sent to the
 * server, the answer to the READ is not used, and the READ is begun anew after the WRITE.
 *
 * A WRITE that is gathered at once waits for nothing. But a READ may be sent before such a WRITE
 * and answered after it, so such a WRITE begins and ends here, too. READs that bypass the pages
 * (O_DIRECT) may show either data. WRITEs that bypass the pages fill none, and no READ waits for
 * them: with several writers one such WRITE may be in flight at all times. Pages under write-back
 * are not invalidated before the write-back has ended.
 *
 * A worker may have read a WRITE and not begun the WRITE when another worker reads a later READ of
 * the same pages: arrival.h tells. Such a READ is not answered from the cache, but sent to the
 * server, so that the WRITE can overtake the READ.
 *
 * One case is left: a page was filled, but its WRITE is not sent yet, or a worker has read the
 * WRITE and has no processor for a round trip. If the page is invalidated at that moment, and a
 * READ of the page is answered, the page keeps the old data until the kernel sees another time of
 * change, at its next look.
 */
#ifndef RNFS_FS_KERNEL_ORDER_H
#define RNFS_FS_KERNEL_ORDER_H

#include "fs/kernel/request.h"

struct orders;

/* NULL when out of memory. */
struct orders *orders_new(void);
/* No request may wait here. Accepts NULL, returns NULL. */
struct orders *orders_free(struct orders *o);

/* r, a WRITE of r->file that has its data, begins. The WRITE ends when r is freed. */
void order_write(struct request *r);
/* A WRITE by the kernel of [off, off + len) of ino, len > 0, that may be gathered at once.
 * order_gather_begin(): before the gathering. order_gather_end(): the data has been gathered, or
 * the WRITE goes another way. The caller does not wait in between. *g belongs to order.c in
 * between. */
struct order_gather {
	struct inode *of; /* a reference */
	LIST_ENTRY(order_gather) link;
	uint64_t first, last; /* pages */
};
void order_gather_begin(
	struct fs *fs, struct inode *ino, uint64_t off, uint32_t len, struct order_gather *g);
void order_gather_end(struct fs *fs, struct order_gather *g);
/* Is a WRITE of any page of [off, off + len) in flight? */
bool order_meets(struct fs *fs, struct inode *ino, uint64_t off, uint32_t len);
/* r, a READ of r->file that has its memory, begins, or begins anew. True: r waits, and goes on with
 * next when no WRITE of its pages is in flight. Not to be called for a READ that needs no order. */
bool order_read_waits(struct request *r, request_step_fn *next);
/* Has a WRITE of r's pages come since the last order_read_waits()? Then r must begin anew. */
bool order_overtaken(const struct request *r);

/* Ends the requests that wait here and are GONE (request.h). */
void order_end_gone(struct fs *fs);

#endif
