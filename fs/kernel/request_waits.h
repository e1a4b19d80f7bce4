/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * request_waits: the requests that are under way, and the end of waits that are too long. Model:
 * request.h, Interrupts.
 */
#ifndef RNFS_FS_KERNEL_REQUEST_WAITS_H
#define RNFS_FS_KERNEL_REQUEST_WAITS_H

#include <stdbool.h>
#include <stdint.h>

#include "fs/kernel/request.h"

/* Cancels requests that were interrupted a second ago or more. Cancels and marks GONE: requests of
 * processes that are being killed, after a wait of a second or more; and requests that have timed
 * out (request_pool_limit()). The main thread calls this function about once a second. True: a
 * process being killed was found in the last two seconds. Such a process may send more requests,
 * one after the other, so the main thread calls again in some 20 ms. */
bool request_check_killed(struct request_pool *p);

/* From now on a request of the kernel times out after ns; 0: never. The request is answered
 * ETIMEDOUT, also in a wait for a lock. (After EINTR the kernel restarts the call for a signal;
 * without a signal the program would get an errno without a name.) The server may have carried out
 * the operation or not, as on a soft mount. Any thread. */
void request_pool_limit(struct request_pool *p, uint64_t ns);
/* Interrupts requests that any signal would end (waits for locks). Those that then end with -EINTR
 * begin anew later (again.h): fate.put_off. Any thread. */
void request_pool_put_off(struct request_pool *p);
/* Is no request under way, neither of the kernel nor of the daemon? Any thread. */
bool request_pool_is_idle(struct request_pool *p);
/* For how long, in ns, the kernel has waited for the oldest request, waits for a lock not counted.
 * 0: there is no such request, or the lock of the pool is taken. Any thread; does not wait. */
uint64_t request_oldest_ns(struct request_pool *p);
/* A worker has waited since `since` for a request that it has not made yet. Has that wait timed
 * out? Then requests that come in the next moments time out at once: while the workers waited, no
 * worker read the kernel's requests, which may be as old. The same follows if a request times out
 * while as many are pending as the kernel sends in the background: others wait behind those. */
bool request_pool_overdue(struct request_pool *p, uint64_t since);
/* The mount ends: cancels all requests of the kernel, also requests that still come, and answers
 * ECONNABORTED. */
void request_pool_end(struct request_pool *p);

#endif
