/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_layout_error: errors of data servers. Model: nfs4_layout_error.h.
 */
#include "nfsproto/v4/pnfs/nfs4_layout_error.h"

#include <string.h>

/* The end of the range of e, not included. */
static uint64_t end_of(const struct nfs4_layout_error *e)
{
	return e->length > NFS4_LENGTH_EOF - e->offset ? NFS4_LENGTH_EOF : e->offset + e->length;
}

/* Has e tell the range of `more`, too, and all between. */
static void widen(struct nfs4_layout_error *e, const struct nfs4_layout_error *more)
{
	uint64_t end = end_of(e) > end_of(more) ? end_of(e) : end_of(more);

	if (more->offset < e->offset)
		e->offset = more->offset;
	e->length = end == NFS4_LENGTH_EOF ? NFS4_LENGTH_EOF : end - e->offset;
}

static bool same_kind(const struct nfs4_device_error *a, const struct nfs4_device_error *b)
{
	return a->status == b->status && a->op == b->op &&
	       !memcmp(&a->device, &b->device, sizeof(a->device));
}

bool nfs4_layout_error_note(
	struct nfs4_layout_error *list, unsigned *n, const struct nfs4_layout_error *e)
{
	for (unsigned i = 0; i < *n; i++)
		if (same_kind(&list[i].at, &e->at)) {
			widen(&list[i], e);
			return false;
		}
	if (*n == NFS4_LAYOUT_ERRORS)
		return false;
	list[(*n)++] = *e;
	return true;
}
