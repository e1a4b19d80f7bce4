/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * account: the kind of each request of the kernel, and the time until its answer.
 *
 * A worker notes each request for its own thread, until the worker reads the next one. A struct
 * request takes the account along (account_take()). The answering thread gets the account just
 * before the answer (account_answers()). The answer passes through account_answered(), which adds
 * the request to the totals of its kind. So requests that are answered at once, from the cache,
 * count too.
 *
 * The cost is one reading of the clock, or two where there was none before, and some additions to
 * memory that mostly one thread uses. FORGET and INTERRUPT, which have no answer, do not count.
 */
#ifndef RNFS_FS_OBSERVE_ACCOUNT_H
#define RNFS_FS_OBSERVE_ACCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "transport/histogram.h"

#define ACCOUNT_KINDS 64u /* FUSE's opcodes are below */

/* This bit is set in the number of a request that the kernel sends again: FUSE_UNIQUE_RESEND. */
#define REQUEST_AGAIN (UINT64_C(1) << 63)

struct account {
	uint64_t unique; /* the kernel's number of the request; 0: none */
	uint64_t born;	 /* when the worker read the request, on clock_ns() */
	uint64_t node;	 /* the kernel's number of the request's inode */
	uint64_t offset; /* of data or of a directory's entries */
	uint32_t length;
	uint32_t opcode;
	uint32_t tid;  /* of the thread that sent the request; 0: not known */
	uint32_t rpcs; /* calls to the server that were made for the request */
	/* Round trips, one after the other, that the request has waited for. A call made for
	 * another request, such as a READ ahead, counts as one. */
	uint32_t waits;
};

/* rpcs and waits of a request so far. */
struct account_count {
	atomic_uint rpcs, waits;
	atomic_uint step_rpcs; /* RPCs of the part of the present step that has made the most */
};

/* Requests of one kind that were answered so far. */
struct account_sum {
	uint64_t errors; /* answered with an error; ENOENT is one */
	uint64_t bytes;	 /* of file data, read, written or copied */
	uint64_t rpcs, waits;
	struct histogram time; /* from the arrival of the request to its answer */
};

struct accounts;

/* NULL when out of memory. */
struct accounts *accounts_new(void);
/* Accepts NULL, returns NULL. */
struct accounts *accounts_free(struct accounts *all);

/* The calling thread has read from the kernel a message of len bytes. */
void account_read(const void *message, size_t len);
/* The request that the calling thread has read becomes a struct request. out->unique is 0 if the
 * thread has read none. */
void account_take(struct account *out);
/* The request with that number, if the calling thread has read it last or is about to answer it;
 * else NULL. Valid until the answer has passed through account_answered(). */
const struct account *account_of(uint64_t unique);
/* The calling thread is about to answer the request of *a. */
void account_answers(const struct account *a);
/* How a request ended. */
struct account_end {
	struct account of;
	uint64_t took_ns;
	int error;	/* 0 or a negative errno */
	uint32_t bytes; /* of file data */
};
/* The calling thread is about to send the kernel this message. False: the message answers no
 * request that counts, and *end is not set. */
bool account_answered(
	struct accounts *all, const struct iovec *iov, int count, struct account_end *end);

/* FUSE's name for a kind, such as "READ"; NULL: unknown kind. */
const char *account_name(unsigned kind);
/* Any thread; takes no lock. */
void account_total(const struct accounts *all, unsigned kind, struct account_sum *out);

#endif
