/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any bytes as the record of a mount with its submounts. The first byte is the number of open
 * files.
 */
#include <stdlib.h>

#include "nfsproto/common/nfs_places.h"
#include "nfsproto/nfs_client_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs_open *open[8] = {NULL};
	struct nfs_record rec = {.open = open, .nopens = size ? data[0] % 8 : 0};
	struct nfs_client_parts *p;
	struct err e = {0};

	rec.data = size ? data + 1 : data;
	rec.len = size ? size - 1 : 0;
	p = nfs_client_get_parts(&rec, &e);
	if (!p != !!e.msg[0])
		abort();
	for (uint32_t i = 0; p && i < p->n; i++)
		if (!p->sub[i].places->place[p->sub[i].place].server)
			abort();
	if (p)
		nfs_client_join_parts(p, &rec);
	nfs_client_free_parts(p);
	return 0;
}
