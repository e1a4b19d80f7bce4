/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * hash: of names and handles, for tables. FNV-1a from a seed, so that a peer that chooses the bytes
 * cannot aim at one chain. Folded at the end, since handles of one server differ in few bytes.
 */
#ifndef RNFS_TRANSPORT_HASH_H
#define RNFS_TRANSPORT_HASH_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t hash_bytes(uint64_t seed, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	uint64_t h = seed;

	for (size_t i = 0; i < n; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	h ^= h >> 32;
	h *= 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

#endif
