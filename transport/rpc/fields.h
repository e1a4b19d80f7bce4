/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * fields: the plain members of a struct, as one item of a stream (xdr.h): a mask of the members
 * that are not zero, and then those members, 8 bytes each.
 *
 * A list names the members once, for both directions. A member is an integer, an enum, a bool, or
 * an array of 8 bytes.
 */
#ifndef RNFS_TRANSPORT_RPC_FIELDS_H
#define RNFS_TRANSPORT_RPC_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/rpc/xdr.h"

#define FIELDS_MAX 64u /* members in a list */

struct field {
	uint16_t at;   /* offset in the struct */
	uint16_t size; /* 1 (a bool), 2, 4 or 8 */
};

/* For lists. */
#define FIELD(type, member)                                                                        \
	{                                                                                          \
		offsetof(type, member), sizeof(((type *)0)->member)                                \
	}
#define FIELDS(list) (list), sizeof(list) / sizeof((list)[0])

/* No other thread may change the members of `of`. n is at most FIELDS_MAX. */
void fields_put(struct xdr_out *x, const void *of, const struct field *list, unsigned n);
/* Sets all members of the list. A number that is too large for its member, or the mask of a longer
 * list, leaves x bad. */
void fields_get(struct xdr_in *x, void *of, const struct field *list, unsigned n);

#endif
