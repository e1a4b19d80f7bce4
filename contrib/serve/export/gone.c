/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * gone: identities of objects that are gone.
 */
#include "contrib/serve/export/gone.h"

static uint64_t sum_of(const uint8_t key[HANDLE_KEY], const struct handle_id *id)
{
	uint8_t bytes[HANDLE_MAX];

	return handle_siphash(key, bytes, handle_seal(bytes, id, NULL, key));
}

void gone_add(struct gone *g, const uint8_t key[HANDLE_KEY], const struct handle_id *id)
{
	uint64_t sum;

	if (!handle_id_lasts(id))
		return;
	sum = sum_of(key, id);
	atomic_store_explicit(&g->sum[sum % GONE_MAX], sum, memory_order_relaxed);
}

void gone_clear(struct gone *g)
{
	for (unsigned i = 0; i < GONE_MAX; i++)
		atomic_store_explicit(&g->sum[i], 0, memory_order_relaxed);
}

bool gone_has(const struct gone *g, const uint8_t key[HANDLE_KEY], const struct handle_id *id)
{
	uint64_t sum = sum_of(key, id);

	return atomic_load_explicit(&g->sum[sum % GONE_MAX], memory_order_relaxed) == sum;
}
