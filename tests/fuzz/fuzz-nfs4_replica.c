/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: fs_locations_info as replicas, the choice among them, and fs_status. What decodes
 * must encode to the same bytes.
 */
#include "nfsproto/v4/ops/nfs4_locations.h"

#include <stdlib.h>
#include <string.h>

static void check_replicas(struct nfs4_replicas *r, bool read_only)
{
	unsigned order[NFS_PLACES_MAX], n = nfs4_replicas_order(r, read_only, order);
	char host[64];
	uint16_t port;

	if (r->n > NFS_PLACES_MAX || n > r->n || (n && !r->have_here))
		__builtin_trap();
	for (unsigned i = 0; i < n; i++) {
		const struct nfs_place *at = &r->of[order[i]].at;

		if (!nfs4_replica_suits(r, order[i], read_only) || at->path[0] != '/')
			__builtin_trap();
		if (nfs_place_host(at, host, sizeof(host), &port) && !host[0])
			__builtin_trap();
	}
}

static void check_status(const uint8_t *data, size_t size)
{
	static uint8_t buf[16 << 10];
	struct nfs4_fs_status s;
	struct xdr_out o;
	struct xdr_in x;

	xdr_in_init(&x, data, size);
	if (nfs4_get_fs_status(&x, &s))
		return;
	xdr_out_init(&o, buf, sizeof(buf));
	nfs4_put_fs_status(&o, &s);
	if (!xdr_out_ok(&o) || o.len != x.pos)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs4_opaque raw = {.data = data, .len = (uint32_t)size};
	struct nfs4_replicas *r;
	int rc = nfs4_replicas_get(&raw, &r);

	if ((rc == 0) != (r != NULL))
		__builtin_trap();
	for (unsigned status = 0; r && status <= STATUS4_REFERRAL; status++) {
		r->status = status;
		check_replicas(r, false);
		check_replicas(r, true);
	}
	free(r);
	check_status(data, size);
	return 0;
}
