/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * account: what each request of the kernel's was, and how long it took.
 *
 * A worker notes a request when it has read it: for this thread until it reads the next. Who makes
 * a struct request of it takes the account along (account_take()), and hands it to the thread that
 * answers, just before it does (account_answers()). The answer passes through account_answered(),
 * which adds the request to the totals of its kind. So requests that are answered at once, from the
 * cache, are accounted for, too.
 *
 * That costs a reading of the clock, two where there was none before, and some additions to memory
 * that a thread mostly has for itself. FORGET and INTERRUPT, which have no answer, do not count.
 */
#ifndef RNFS_FS_ACCOUNT_H
#define RNFS_FS_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "transport/histogram.h"

#define ACCOUNT_KINDS 64u /* FUSE's opcodes are below */

struct account {
	uint64_t unique; /* the kernel's number of the request; 0: there is none */
	uint64_t born;	 /* when it was read, on clock_ns() */
	uint64_t node;	 /* the kernel's number of the inode that it is about */
	uint64_t offset; /* of data or of a directory's entries */
	uint32_t length;
	uint32_t opcode;
	uint32_t tid;  /* of the thread that asks; 0: not known */
	uint32_t rpcs; /* calls to the server that were made for it */
	/* Round trips that it has waited for, one after the other; calls that were made for others,
	 * such as a READ ahead, count as one. */
	uint32_t waits;
};

/* Requests of one kind that were answered so far. */
struct account_sum {
	uint64_t errors; /* answered with one; a name that is not there is one */
	uint64_t bytes;	 /* of file data, read, written or copied */
	uint64_t rpcs, waits;
	struct histogram time; /* from the request's coming to its answer */
};

struct accounts;

/* NULL when out of memory. */
struct accounts *accounts_new(void);
/* Accepts NULL, returns NULL. */
struct accounts *accounts_free(struct accounts *all);

/* The calling thread has read this message of len bytes from the kernel. */
void account_read(const void *message, size_t len);
/* That request becomes a struct request; *out has no number if this thread has read none. */
void account_take(struct account *out);
/* The calling thread is about to answer it. */
void account_answers(const struct account *a);
/* How a request ended. */
struct account_end {
	struct account of;
	uint64_t took_ns;
	int error;	/* 0 or a negative errno */
	uint32_t bytes; /* of file data */
};
/* The calling thread answers the kernel with that. Before it is sent. False: it is no answer to a
 * request that counts, and *end is not set. */
bool account_answered(
	struct accounts *all, const struct iovec *iov, int count, struct account_end *end);

/* FUSE's name for a kind, "READ"; NULL: there is none. */
const char *account_name(unsigned kind);
/* Any thread; takes no lock. */
void account_total(const struct accounts *all, unsigned kind, struct account_sum *out);

#endif
