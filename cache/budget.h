/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * budget: how many bytes a user of memory (the cache, data in flight) may have, as the machine's
 * memory grows short and comes back.
 *
 * A budget begins full, at its most. Each time that memory is short the budget becomes half of the
 * bytes in use, but no less than its least. When memory has not been short for BUDGET_CALM_NS, each
 * call of budget_grow() lets the budget grow by a step. A full budget takes BUDGET_STEPS calls:
 * memory may soon be short again.
 *
 * A budget is only a permission. A permission that no memory is left for would let the user of
 * memory take in a moment all that the system has, sooner than memory is seen to be short. So
 * budget_bound() lets a budget exceed the bytes in use by no more than there is room for.
 *
 * Pure: no clock, no memory, no lock. The caller makes sure that one thread at a time calls.
 */
#ifndef RNFS_CACHE_BUDGET_H
#define RNFS_CACHE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUDGET_CALM_NS 10000000000ull
#define BUDGET_STEPS   16 /* steps from nothing to full */

struct budget {
	size_t full;	   /* the most bytes */
	size_t least;	   /* no cut goes below; no meaning if full is less */
	size_t now;	   /* the bytes allowed now */
	uint64_t short_ns; /* when memory was last short; 0: never */
};

void budget_init(struct budget *b, size_t full, size_t least);
/* Memory is short at now_ns, with used bytes of the budget in use. */
void budget_cut(struct budget *b, size_t used, uint64_t now_ns);
/* Memory is not short at now_ns. Call about once a second. True if the budget has grown. */
bool budget_grow(struct budget *b, uint64_t now_ns);
/* Of the budget, used bytes are in use, and there is room for room bytes more. The budget becomes
 * no less than its least. True if the budget has become less. */
bool budget_bound(struct budget *b, size_t used, size_t room);
/* Sets another most. A full budget is full again; a cut budget becomes no larger. */
void budget_resize(struct budget *b, size_t full);

#endif
