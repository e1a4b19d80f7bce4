/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * underway: requests of the kernel that the daemon has read and not answered, for the successor of
 * a daemon that is killed (ledger.h).
 *
 * From Linux 6.9 on the kernel can send such requests again. The number of a request that is sent
 * again has the bit REQUEST_AGAIN. A request is *noted* if it may change state at the server. Its
 * operations carry its number without that bit (nfs_op.noted), and the client keeps notes of their
 * calls. So if the kernel sends the request again, the same calls get the same answers:
 *
 *     calls noted --the answer is noted--> calls and answer --calls dropped--> answer --write(2)-->
 *     written --dropped--> nothing
 *
 * If the successor finds the answer, the kernel gets that answer, and nothing else happens. The
 * kernel may have had the answer already; then the kernel does not send the request again.
 *
 * An older kernel sends nothing again. So the numbers of all requests under way are noted, and the
 * successor answers each with EIO, and also the UNDERWAY_UNSEEN numbers that follow the highest
 * noted one, and the UNDERWAY_PASSED numbers before: the daemon may have read those requests, and
 * was killed before it noted their numbers. A thread that has read a request may be overtaken by
 * others, which note higher numbers. The kernel ignores an answer to a number that it does not
 * know.
 *
 * The functions that take fs are for any thread, and are called only with a ledger. The lock is a
 * leaf.
 */
#ifndef RNFS_FS_KERNEL_UNDERWAY_H
#define RNFS_FS_KERNEL_UNDERWAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "fs/observe/account.h"
#include "transport/err.h"
#include "transport/ledger.h"

#define UNDERWAY_UNSEEN 64u
#define UNDERWAY_PASSED 1024u

struct fs;
struct underway;

/* NULL when out of memory. */
struct underway *underway_new(struct ledger *l);
/* Accepts NULL, returns NULL. */
struct underway *underway_free(struct underway *u);

/* The number of the noted request a; 0: the request is not noted. */
uint64_t underway_noted(const struct account *a);

/* INIT is about to be answered, and fs->may_resend is known. */
void underway_begin(struct fs *fs);
/* The calling thread has read from the kernel a message of len bytes. True: the message is a
 * request that is sent again and had an answer, which the kernel has got now. */
bool underway_read(struct fs *fs, const void *message, size_t len);
/* The calling thread is about to answer a request, which account_of() finds if the request is
 * noted; and has done so. note, which is zero before, is the caller's from the one to the other. */
void underway_answers(struct fs *fs, const struct iovec *iov, int count, struct note *note);
void underway_answered(struct fs *fs, const struct iovec *iov, struct note *note);

/* The request with that number, which the calling thread has read, is not one that a successor ends
 * with EIO: another note tells of the request (again.h); and is one again. */
void underway_counts_not(struct fs *fs, uint64_t unique);
void underway_counts(struct fs *fs, uint64_t unique);

/* Takes over the answers and numbers of a daemon that was killed. 0, or -1 with *e set: a note is
 * damaged, or no memory. Before requests are served. */
int underway_former(struct fs *fs, const struct former *former, struct err *e);
/* The request with that number goes on, and underway_resend() is not to end it. Between
 * underway_former() and underway_resend(). False: no memory. */
bool underway_spares(struct fs *fs, uint64_t unique);
/* Was the request with that number answered, as far as underway_former() has found? */
bool underway_has_answer(const struct fs *fs, uint64_t noted);
/* fs->may_resend is known: has the kernel send again what the former daemon has not answered, or
 * ends those requests with EIO. Before requests are served. False: the kernel refuses. */
bool underway_resend(struct fs *fs);
/* The workers have begun to read, after underway_resend(): the time that the requests have to come
 * begins now. Before, the main thread may have waited for threads. */
void underway_waits_anew(struct fs *fs);
/* For the main thread, between underway_resend() and the first underway_tick() that is true: has
 * the kernel sent all those requests again? */
bool underway_all_came(const struct fs *fs);
/* For the main thread, about once a second. True: the requests that were sent again have ended, and
 * the client has forgotten the other noted calls of the former daemon (nfs_client_replays_end()).
 */
bool underway_tick(struct fs *fs);

#endif
