/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * budget: how many bytes a user of memory (the cache, data under way) may have, as the memory of
 * the machine grows short and comes back.
 *
 * It begins with all that it may ever have, full. Each time that memory is short it becomes half of
 * what is in use, but never less than the budget's least. When memory has not been short for
 * BUDGET_CALM_NS it grows again, a little with each look, so that it takes another while to be
 * full: what made memory short may come back.
 *
 * Pure: no clock, no memory, no lock. The caller sees to it that one thread at a time calls.
 */
#ifndef RNFS_CACHE_BUDGET_H
#define RNFS_CACHE_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUDGET_CALM_NS 10000000000ull
#define BUDGET_STEPS   16 /* looks that it takes to grow from nothing to full */

struct budget {
	size_t full;	   /* the most that it may be */
	size_t least;	   /* no cut goes below that; means nothing where full is less */
	size_t now;	   /* what may be had */
	uint64_t short_ns; /* when memory was short last; means nothing while now is full */
};

void budget_init(struct budget *b, size_t full, size_t least);
/* Memory is short at now_ns, when used bytes of the budget are in use. */
void budget_cut(struct budget *b, size_t used, uint64_t now_ns);
/* It is not. To be called about once a second. True if the budget has grown. */
bool budget_grow(struct budget *b, uint64_t now_ns);
/* There is to be another most than before. A budget that was full is full again; one that was cut
 * becomes no larger. */
void budget_resize(struct budget *b, size_t full);

#endif
