/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fault: decides which mistakes the server makes on purpose, so that clients can be tested.
 * fault_xprt.h makes the mistakes. For a status with which an operation is to fail, the caller of
 * the operation asks here.
 *
 * SPEC is a list of rules separated by commas; a rule is a list of words separated by colons:
 *
 *     rule     = word *(":" word)
 *     action   = drop | delay=TIME | error=STATUS | close | close-mid | corrupt | truncate
 *              | wrong-xid | no-credit | long-chunk | err-vers | err-chunk | err-htype | err-flag
 *              | err-reads | err-writes | err-segments | err-write-room | err-reply-room
 *              | err-system                                                     (exactly one)
 *     stage    = request | reply          (where a message is hit; default: reply)
 *     which    = op=NAME["+"NAME...]      (messages with one of these operations or procedures of
 *                                          any version; NULL: the null procedure; without op:
 *                                          every other)
 *     when     = nth=N | every=N | prob=PERCENT | after=N | count=N | seed=N
 *     TIME     = number followed by ms or s
 *     STATUS   = a name as NFS4ERR_DELAY or NFS3ERR_JUKEBOX, or a number; NFSv3 answers with its
 *                nearest own status
 *
 * Among the messages that match, after=N skips the first N, nth=N hits the Nth only, every=N each
 * Nth, prob each with that probability (from a generator started by seed), and count=N ends the
 * rule after N hits. The first rule that hits and is no delay decides. The last delay before that
 * rule is applied too.
 *
 * Examples: drop:op=WRITE:nth=3   delay=200ms:request:op=READ   error=NFS4ERR_DELAY:op=OPEN:every=2
 */
#ifndef RNFS_SERVE_FAULT_FAULT_H
#define RNFS_SERVE_FAULT_FAULT_H

#include <stdbool.h>
#include <stdint.h>

#include "contrib/serve/fault/fault_xprt.h"
#include "transport/err.h"

struct fault;

/* Parses spec. NULL with *e set (ERR_USAGE), the sentence names the word. */
struct fault *fault_new(const char *spec, struct err *e);
struct fault *fault_free(struct fault *f);

/* Operations in a message: bit n is NFSv4's operation n; bit 0 is the null procedure. A procedure
 * of another program has the bit of the operation of the same name, or one of those that NFSv4
 * leaves free (fault.c). */
struct fault_ops {
	uint64_t bits[2];
};
void fault_ops_add(struct fault_ops *ops, uint32_t op);

/* Decides the fault for a message with these operations. Any thread. */
enum fault_kind fault_message(
	struct fault *f, const struct fault_ops *ops, bool reply, unsigned *delay_ms);
/* The status with which op is to fail, or NFS4_OK. f may be NULL. Any thread. */
uint32_t fault_status(struct fault *f, uint32_t op);
/* The same for a procedure of another program than NFSv4. */
uint32_t fault_proc_status(struct fault *f, uint32_t prog, uint32_t proc);

/* For fault_xprt_wrap(); ctx is a struct fault. */
fault_ask_fn fault_ask;

#endif
