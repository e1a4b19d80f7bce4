/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_client_record: the record of a mount with its submounts (nfs_submount.h) for a successor.
 *
 *     the mount's own part    as its back end has written that (nfs_backend.h)
 *     each submount           number, name, places, transport, address; the part of its back end
 *     each open file          the number of its client, in the user's order
 */
#ifndef RNFS_NFSPROTO_NFS_CLIENT_RECORD_H
#define RNFS_NFSPROTO_NFS_CLIENT_RECORD_H

#include "nfsproto/common/nfs_record.h"
#include "nfsproto/nfs_submount.h"

/* A record in parts. Its data stay in the memory of the record. */
struct nfs_client_parts {
	struct nfs_record own;
	uint32_t n; /* submounts, by rising numbers */
	struct nfs_submount_told sub[NFS_SUBMOUNTS_MAX];
	uint32_t nopens;
	uint16_t *number; /* of the client of each open file */
};

/* Writes the record of c and of its submounts, which are settled. open: the n open files of the
 * user. */
void nfs_client_put_parts(
	struct nfs_client *c, struct nfs_open *const open[], uint32_t n, struct xdr_out *x);

/* Reads rec. Each part has room for its open files. NULL with *e set: the record is damaged, or no
 * memory. */
struct nfs_client_parts *nfs_client_get_parts(const struct nfs_record *rec, struct err *e);
/* All parts have their open files: rec gets them. */
void nfs_client_join_parts(const struct nfs_client_parts *p, const struct nfs_record *rec);
/* Accepts NULL, returns NULL. */
struct nfs_client_parts *nfs_client_free_parts(struct nfs_client_parts *p);

#endif
