/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Fuzz target: fs_locations as places, as text, and the hosts of the places.
 */
#include "nfsproto/v4/ops/nfs4_locations.h"

#include <stdlib.h>
#include <string.h>

static void check_places(const struct nfs_places *p)
{
	char text[100], host[64];
	uint16_t port;

	if (p->n > NFS_PLACES_MAX || !nfs_places_equal(p, p))
		__builtin_trap();
	nfs_places_text(p, text, sizeof(text));
	if (!memchr(text, '\0', sizeof(text)))
		__builtin_trap();
	for (unsigned i = 0; i < p->n; i++) {
		if (p->place[i].path[0] != '/')
			__builtin_trap();
		if (nfs_place_host(&p->place[i], host, sizeof(host), &port) && !host[0])
			__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs4_opaque raw = {.data = data, .len = (uint32_t)size};
	struct nfs_places *p;
	int n = nfs4_locations_get(&raw, "192.0.2.1.8.1", &p);

	if ((n > 0) != (p != NULL))
		__builtin_trap();
	if (p)
		check_places(p);
	free(p);
	return 0;
}
