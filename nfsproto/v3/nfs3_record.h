/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_record: a mount with NFSv3 for a successor (nfs_record.h). The server knows nothing of
 * opens: the successor mounts like any other daemon, and makes as many open files as there were.
 *
 * The server knows of locks: nfs3_nlm_record.h.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_RECORD_H
#define RNFS_NFSPROTO_V3_NFS3_RECORD_H

#include "nfsproto/common/nfs_record.h"
#include "nfsproto/v3/nfs3_client.h"

/* nfs_client_settle(), nfs_client_record(). */
const char *nfs3_settle(struct nfs_client *base);
void nfs3_put_record(
	struct nfs_client *base, struct nfs_open *const open[], uint32_t n, struct xdr_out *x);
/* Makes the open files and c->nlm, unless the former daemon had none. c has no connection yet.
 * *root: the root of the mount. 0, or -1 with *e set. */
int nfs3_get_record(
	struct nfs3_client *c, const struct nfs_record *rec, struct nfs_fh *root, struct err *e);

#endif
