/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * arrival: requests that the kernel has sent and no worker has begun.
 */
#include "fs/kernel/arrival.h"

#include <linux/fuse.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#define STEP   2u			   /* between two numbers */
#define WINDOW (ARRIVALS * (uint64_t)STEP) /* between the numbers in one place */
#define YIELDS 8			   /* for a worker that is just about to begin */

/* Bits that the numbers in the kernel's queue lack: an INTERRUPT, a request sent anew to another
 * daemon (FUSE_UNIQUE_RESEND). */
#define OTHER (UINT64_C(1) << 63 | 1)

struct arrivals {
	_Atomic uint64_t newest; /* 0: none has come */
	_Atomic uint64_t oldest; /* all numbers from the first on and below this one have begun */
	_Atomic uint64_t begun[ARRIVALS]; /* the last number that has begun in each place */
};

/* The WRITE that the thread has read and not begun. 0: none. */
static _Thread_local uint64_t waits;

struct arrivals *arrivals_new(void)
{
	return calloc(1, sizeof(struct arrivals));
}

struct arrivals *arrivals_free(struct arrivals *a)
{
	free(a);
	return NULL;
}

static void raise_to(_Atomic uint64_t *at, uint64_t to)
{
	uint64_t is = atomic_load(at);

	while (is < to && !atomic_compare_exchange_weak(at, &is, to))
		;
}

static _Atomic uint64_t *place_of(struct arrivals *a, uint64_t number)
{
	return &a->begun[number / STEP % ARRIVALS];
}

void arrival_read(struct arrivals *a, const void *message, size_t len)
{
	const struct fuse_in_header *h = message;
	uint64_t none = 0;

	waits = 0;
	if (len < sizeof(*h) || !h->unique || h->unique & OTHER || h->opcode == FUSE_NOTIFY_REPLY)
		return;
	/* an earlier daemon may have read the numbers below */
	atomic_compare_exchange_strong(&a->oldest, &none, h->unique);
	raise_to(&a->newest, h->unique);
	if (h->opcode == FUSE_WRITE)
		waits = h->unique;
	else
		raise_to(place_of(a, h->unique), h->unique);
}

void arrival_begins(struct arrivals *a)
{
	if (waits)
		raise_to(place_of(a, waits), waits);
	waits = 0;
}

static bool is_missing(struct arrivals *a)
{
	uint64_t newest = atomic_load(&a->newest), at = atomic_load(&a->oldest);

	if (!newest)
		return false;
	if (newest >= at + WINDOW)
		at = newest - WINDOW + STEP;
	while (at <= newest && atomic_load(place_of(a, at)) >= at)
		at += STEP;
	raise_to(&a->oldest, at);
	return at <= newest;
}

bool arrival_is_missing(struct arrivals *a)
{
	for (unsigned n = 0; n < YIELDS; n++) {
		if (!is_missing(a))
			return false;
		sched_yield();
	}
	return is_missing(a);
}
