/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fields: the plain members of a struct.
 */
#include "transport/rpc/fields.h"

#include <string.h>

/* The member's bytes, in the order of this machine, in a number of 8 bytes. */
static uint64_t value_of(const void *of, const struct field *f)
{
	const uint8_t *at = (const uint8_t *)of + f->at;
	uint64_t v = 0;
	uint32_t v4;
	uint16_t v2;

	switch (f->size) {
	case 1:
		return *at;
	case 2:
		memcpy(&v2, at, 2);
		return v2;
	case 4:
		memcpy(&v4, at, 4);
		return v4;
	default:
		memcpy(&v, at, 8);
		return v;
	}
}

/* False: v does not fit. */
static bool set(void *of, const struct field *f, uint64_t v)
{
	uint8_t *at = (uint8_t *)of + f->at;
	uint32_t v4 = (uint32_t)v;
	uint16_t v2 = (uint16_t)v;

	switch (f->size) {
	case 1:
		*at = v == 1;
		return v <= 1;
	case 2:
		memcpy(at, &v2, 2);
		return v <= UINT16_MAX;
	case 4:
		memcpy(at, &v4, 4);
		return v <= UINT32_MAX;
	default:
		memcpy(at, &v, 8);
		return true;
	}
}

void fields_put(struct xdr_out *x, const void *of, const struct field *list, unsigned n)
{
	uint64_t mask = 0;

	for (unsigned i = 0; i < n; i++)
		if (value_of(of, &list[i]))
			mask |= UINT64_C(1) << i;
	xdr_put_u64(x, mask);
	for (unsigned i = 0; i < n; i++)
		if (mask & UINT64_C(1) << i)
			xdr_put_u64(x, value_of(of, &list[i]));
}

void fields_get(struct xdr_in *x, void *of, const struct field *list, unsigned n)
{
	uint64_t mask = xdr_get_u64(x);

	if (n < FIELDS_MAX && mask >> n)
		xdr_in_fail(x);
	for (unsigned i = 0; i < n; i++)
		if (!set(of, &list[i], mask & UINT64_C(1) << i ? xdr_get_u64(x) : 0))
			xdr_in_fail(x);
}
