/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * arrival: requests that the kernel has sent and no worker has begun.
 *
 * Workers read requests from the device in the kernel's order, but a worker may lose its processor
 * behind read(). So a worker may see a READ while another worker has not begun an earlier WRITE of
 * the same pages (order.h). The kernel numbers its requests in the order of its queue, and each
 * number is 2 more than the one before. So a number that is missing below the number of a READ
 * belongs to a request that no worker has begun.
 *
 * A WRITE begins when order.c knows of the WRITE, any other request when a worker has read it. The
 * kernel never sends some numbers: those of processes that were killed while the request was in the
 * kernel's queue. A number is forgotten when ARRIVALS further numbers have come.
 *
 * No lock: the requests of all workers come by here.
 */
#ifndef RNFS_FS_KERNEL_ARRIVAL_H
#define RNFS_FS_KERNEL_ARRIVAL_H

#include <stdbool.h>
#include <stddef.h>

/* So many numbers are watched, at most. */
#define ARRIVALS 256

struct arrivals;

/* NULL when out of memory. */
struct arrivals *arrivals_new(void);
/* No worker runs any more. Accepts NULL, returns NULL. */
struct arrivals *arrivals_free(struct arrivals *a);

/* The calling thread has read message, len bytes, from the device. */
void arrival_read(struct arrivals *a, const void *message, size_t len);
/* The WRITE that the calling thread has read last begins, or began before. Does nothing after
 * another request. */
void arrival_begins(struct arrivals *a);
/* Has a worker perhaps read a request and not begun it? Asked by a worker for the request that the
 * worker has read last: a request that came later may count, too. Gives other threads the processor
 * a few times, until the answer is no. */
bool arrival_is_missing(struct arrivals *a);

#endif
