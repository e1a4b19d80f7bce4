/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fake-provider: a provider inside one process that watches its user. Ports are names in a
 * table; data moves by memcpy when the receiving side polls, in order.
 *
 * Rules for the user (transport/provider.h); each breach counts as a violation:
 *   - memory of a Send or RDMA Write does not change, nor is freed, before the request has ended
 *   - memory comes from the pool (as verbs requires)
 *   - a receive is posted, and large enough, for each Send; no more of anything than the depths say
 *   - poll, wait and withdraw come from one thread
 *   - a chain under PROV_MORE is not interrupted by another thread
 *   - every door is withdrawn before free()
 */
#ifndef RNFS_TEST_FAKE_PROVIDER_H
#define RNFS_TEST_FAKE_PROVIDER_H

#include <stdatomic.h>

#include "transport/provider.h"

extern const struct prov_ops
	prov_fake; /* withdraw() closes at once, and the provider knows abandoned doors, as iwarp */
extern const struct prov_ops prov_fake_async; /* ... some polls later, and the provider does not
						 know abandoned doors, as verbs */

/* Set: requests may be held back over a poll(), since a later request takes them along. */
extern bool fake_lingers;

/* Bytes that may be behind open doors together; beyond that expose() answers -ENOMEM. SIZE_MAX: no
 * limit. */
extern _Atomic size_t fake_memory;

/* Violations since the last call. Prints a sentence about the first violation on stderr. */
unsigned fake_violations(void);

/* Open doors of both ends of all connections. */
unsigned fake_doors_open(void);

/* Another thread calls poll(), wait() and withdraw() of pc from now on. */
void fake_hand_over(struct prov_conn *pc);

#endif
