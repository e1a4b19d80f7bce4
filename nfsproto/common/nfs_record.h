/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_record: the state of a mount for a successor, which goes on with the mount's files on its own
 * connections (nfs_client_record()); and items that such records are made of.
 *
 * Only a daemon of the same record format reads a record. Each get leaves x bad if the stream is
 * not such an item: lengths and counts are checked.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS_RECORD_H
#define RNFS_NFSPROTO_COMMON_NFS_RECORD_H

#include <sys/socket.h>

#include "nfsproto/wire/nfs_file.h"
#include "transport/rpc/rpc.h"
#include "transport/rpc/xdr.h"

struct nfs_open;

/* What a mount takes over. */
struct nfs_record {
	struct sockaddr_storage
		peer; /* nfs_client_peer(): the name may have other addresses, too */
	socklen_t peer_len;
	const void *data; /* as nfs_client_record() has written them */
	size_t len;
	uint32_t nopens;
	/* set by the mount: the open files, nopens of them, in the order of nfs_client_record() */
	struct nfs_open **open;
};

/* A handle with the number of its server (nfs_submount.h). */
void nfs_record_put_fh(struct xdr_out *x, const struct nfs_fh *fh);
void nfs_record_get_fh(struct xdr_in *x, struct nfs_fh *fh);
void nfs_record_put_cred(struct xdr_out *x, const struct rpc_cred *cred);
void nfs_record_get_cred(struct xdr_in *x, struct rpc_cred *cred);
void nfs_record_put_attr(struct xdr_out *x, const struct nfs_attr *attr);
/* Attributes may be unknown: type 0. */
void nfs_record_get_attr(struct xdr_in *x, struct nfs_attr *attr);
/* get: dst becomes a string of fewer than `size` bytes, without NULs. */
void nfs_record_put_text(struct xdr_out *x, const char *text);
void nfs_record_get_text(struct xdr_in *x, char *dst, uint32_t size);

#endif
