/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * order: READs that must show what a WRITE under way writes.
 *
 * The kernel copies what is written into the pages that it has, sends the WRITE, and takes it that
 * both stay the same. While a page of a WRITE is valid it does not hold it locked. So the page can
 * be dropped before the WRITE is answered: by an open that is not to keep pages, or by attributes
 * with another size or time, which who asked for them handles late. Whoever reads then has the page
 * fetched again, and if that READ is answered with what the file was before the WRITE, this is what
 * the kernel keeps: it finds the old data where it has just written, or zeros if that was behind
 * the end of the file.
 *
 * Otherwise the kernel reads nothing that it is writing: who wants a page that is in its cache
 * sends no READ, and who writes to one that is being read waits for that. So a READ meets a WRITE
 * of the same pages only if the WRITE had filled them before the READ was asked. It waits for the
 * WRITE then. If the WRITE comes when the server has been asked already, what the READ has brought
 * is not used, and it is begun anew when the WRITE has ended.
 *
 * A WRITE that is gathered at once waits for nothing, but a READ may have been sent before it, and
 * be answered behind it: so it begins and ends here, too. READs that pass the pages by (O_DIRECT)
 * may show either. WRITEs that do so fill no page, and are not waited for: with several of them
 * there may be one under way at all times. Pages that are being written back are not dropped before
 * that has ended. What nobody outside the kernel can know is that a page has been filled whose
 * WRITE is not sent yet: if it is dropped in that moment, and a READ of it answered, it stays as it
 * was before until the kernel sees another time of change, at its next look.
 */
#ifndef RNFS_FS_ORDER_H
#define RNFS_FS_ORDER_H

#include "fs/request.h"

struct orders;

/* NULL when out of memory. */
struct orders *orders_new(void);
/* Nobody may wait here. Accepts NULL, returns NULL. */
struct orders *orders_free(struct orders *o);

/* r, a WRITE of r->file that has its data, begins. It ends when r is freed. */
void order_write(struct request *r);
/* The kernel's WRITE of [off, off + len) of ino, len > 0, that may be gathered at once: it begins
 * before that, and ends when it has been gathered, or is to go another way. Between the two the
 * caller does not wait, and *g is this file's. */
struct order_gather {
	struct inode *of; /* a reference */
	LIST_ENTRY(order_gather) link;
	uint64_t first, last; /* pages */
};
void order_gather_begin(
	struct fs *fs, struct inode *ino, uint64_t off, uint32_t len, struct order_gather *g);
void order_gather_end(struct fs *fs, struct order_gather *g);
/* Is a WRITE of any page of [off, off + len) under way? */
bool order_meets(struct fs *fs, struct inode *ino, uint64_t off, uint32_t len);
/* r, a READ of r->file that has its memory, begins, or begins anew. True: it goes on with next when
 * no WRITE of its pages is under way. Nobody may call this for a READ that needs no order. */
bool order_read_waits(struct request *r, request_step_fn *next);
/* Has a WRITE of its pages come since the last order_read_waits()? Then r is to begin anew. */
bool order_overtaken(const struct request *r);

/* Ends the requests that wait here and are GONE (request.h). */
void order_end_gone(struct fs *fs);

#endif
