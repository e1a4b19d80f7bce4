/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any bytes as the record of the locks of a mount with NFSv3: the name, or the owners. The first
 * byte is the number of open files, 0 for the name.
 */
#include <stdlib.h>
#include <unistd.h>

#include "nfsproto/v3/nfs3_nlm.h"
#include "nfsproto/v3/nfs3_nlm_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void owners(struct nfs3_client *c, struct xdr_in *x, uint32_t nopens)
{
	static const struct nfs3_nsm name = {.fd = -1, .name = "host", .state = 1};
	struct nfs_open *open[8];

	mutex_init(&c->lock);
	mutex_init(&c->news_lock);
	LIST_INIT(&c->opens);
	for (uint32_t i = 0; i < nopens; i++) {
		open[i] = nfs3_open_new(c);
		if (!open[i])
			abort();
		mutex_lock(&c->lock);
		LIST_INSERT_HEAD(&c->opens, open[i], link);
		mutex_unlock(&c->lock);
	}
	c->nlm = calloc(1, sizeof(*c->nlm));
	if (!c->nlm || nfs3_nlm_init(c->nlm, NULL, NULL, &name))
		abort();
	nfs3_nlm_get_record(c, open, nopens, x);
	nfs3_nlm_finish(c, 0);
	nfs3_open_close_all(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs3_client *c = calloc(1, sizeof(*c));
	struct nfs3_nsm name;
	struct xdr_in x;

	if (!c)
		abort();
	xdr_in_init(&x, data + 1, size ? size - 1 : 0);
	if (size && data[0] % 8) {
		owners(c, &x, data[0] % 8);
	} else if (size) {
		nfs3_nlm_get_name(&name, &x);
		if (name.fd >= 0)
			close(name.fd);
	}
	free(c);
	return 0;
}
