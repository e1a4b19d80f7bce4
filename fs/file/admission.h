/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * admission: the conditions that a READ or WRITE waits for before it is sent.
 *
 * The conditions are looked at in the order of these tables, each once the one before holds. A
 * condition that does not hold has the request wait for the event, in the module in brackets. That
 * module ends the request if the request becomes GONE. No lock is held between two conditions.
 *
 *     READ        condition                                    event
 *     order       no WRITE of its pages is in flight;          such a WRITE ends (order.h)
 *                 O_DIRECT: always holds
 *     written     the server has the written bytes that        the WRITE or COMMIT of the bytes
 *                 the READ must bring (flush_before_read())    ends (flush.h)
 *     cached      the cache fetches no bytes of the READ,      the cache's READ ends (cached.h);
 *                 or the bytes are not looked for              bytes that are found answer r
 *     sends       no WRITE of its pages has come since         none: all over again, from order on
 *                 `order` held, and no data was written
 *                 again since the READ began
 *
 *     WRITE       condition                                    event
 *     late        no LATE request changes its bytes            the LATE request ends (late.h)
 *     gathered    the bytes cannot be gathered, or are         an extent in the way is on the
 *                 gathered: then r is answered                 server, or there is room (flush.h)
 *     written     the server has all data gathered before      the data's WRITEs end (flush.h)
 *
 * A WRITE that comes while a READ waits marks the READ as overtaken (order.h), and `sends` looks
 * last. So a READ waits at `written` and `cached` without another look at `order`. A WRITE counts
 * as in flight from the beginning of its admission on.
 */
#ifndef RNFS_FS_FILE_ADMISSION_H
#define RNFS_FS_FILE_ADMISSION_H

#include "fs/kernel/request.h"

/* r is a READ that has its memory and its file. The caller has just found that the server has the
 * written bytes. Answers r from the cache, or calls send(r) when all conditions hold. look: the
 * cache is fetching bytes of r. False: the cache lacks the bytes, or r is O_DIRECT. */
void admission_read(struct request *r, bool look, request_step_fn *send);
/* The same for a READ that must wait, or has brought data that does not count. */
void admission_read_anew(struct request *r, request_step_fn *send);
/* The answer to r, a READ, is out of date: calls send(r) when the server has all data written to
 * the file, and `sends` holds. */
void admission_read_again(struct request *r, request_step_fn *send);
/* Has r, a READ, missed bytes that this mount has written? A WRITE of its pages has come, or the
 * server has restarted and may have lost bytes of r. The latter counts only REPEAT_ASKS times. */
bool admission_read_misses(struct request *r);
/* r, a WRITE that has its data and its file, begins. Calls send(r) when r must send its data
 * itself, or gathers the data and answers r. */
void admission_write(struct request *r, request_step_fn *send);

#endif
