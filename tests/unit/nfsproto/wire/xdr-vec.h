/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * xdr-vec: wire vectors written as hexadecimal text.
 */
#ifndef RNFS_TESTS_XDR_VEC_H
#define RNFS_TESTS_XDR_VEC_H

#include <ctype.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Decodes hex (white space ignored) to out. Returns the number of bytes. */
static inline size_t vec_bytes(const char *hex, uint8_t *out, size_t cap)
{
	size_t n = 0;
	int hi = -1;

	for (; *hex; hex++) {
		int v;

		if (isspace((unsigned char)*hex))
			continue;
		v = isdigit((unsigned char)*hex) ? *hex - '0' : tolower(*hex) - 'a' + 10;
		if (hi < 0) {
			hi = v;
		} else {
			if (n < cap)
				out[n] = (uint8_t)(hi << 4 | v);
			n++;
			hi = -1;
		}
	}
	return n;
}

/* Returns 0 if equal; else prints where the two differ. */
static inline int vec_differ(
	const char *what, const uint8_t *got, size_t ngot, const uint8_t *want, size_t nwant)
{
	size_t n = ngot < nwant ? ngot : nwant;

	for (size_t i = 0; i < n; i++) {
		if (got[i] == want[i])
			continue;
		fprintf(stderr, "%s: byte %zu is %02x, should be %02x\n", what, i, got[i], want[i]);
		return 1;
	}
	if (ngot != nwant)
		fprintf(stderr, "%s: %zu bytes, should be %zu\n", what, ngot, nwant);
	return ngot != nwant;
}

/* A small generator: the same numbers in every run. */
static inline uint32_t vec_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(*state >> 33);
}

#endif
