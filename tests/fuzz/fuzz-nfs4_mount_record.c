/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * Any bytes as the record of a mount with NFSv4: the server, the mount, its opens and locks. The
 * first byte is the number of open files.
 */
#include <stdlib.h>

#include "nfsproto/v4/mount/nfs4_deleg_table.h"
#include "nfsproto/v4/mount/nfs4_lockctx.h"
#include "nfsproto/v4/mount/nfs4_open.h"
#include "nfsproto/v4/nfs4_mount_record.h"
#include "nfsproto/v4/ops/nfs4_kinds.h"
#include "nfsproto/v4/server/nfs4_server.h"
#include "nfsproto/v4/server/nfs4_server_record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct nfs4_server srv;

static void drop(struct nfs4_client *c)
{
	struct nfs_open *o;

	nfs4_lock_finish(&c->locks);
	nfs4_deleg_finish(c);
	while ((o = TAILQ_FIRST(&c->opens))) {
		TAILQ_REMOVE(&c->opens, o, link);
		nfs4_open_unref(o);
	}
	free(c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct nfs4_client *c = calloc(1, sizeof(*c));
	struct nfs_open *open[8] = {NULL};
	struct nfs_record rec = {.open = open, .nopens = size ? data[0] % 8 : 0};
	struct err e = {0};
	struct xdr_in x;

	if (!c)
		abort();
	if (!srv.kinds)
		nfs4_server_init(&srv, nfs4_kinds);
	mutex_init(&c->lock);
	TAILQ_INIT(&c->opens);
	nfs4_deleg_init(c, false);
	nfs4_lock_init(&c->locks);
	c->srv = &srv;
	xdr_in_init(&x, data + 1, size ? size - 1 : 0);
	nfs4_server_get_record(&srv, &x);
	if (nfs4_mount_get_record(c, &rec, &x, &e) && !e.msg[0])
		abort();
	drop(c);
	return 0;
}
