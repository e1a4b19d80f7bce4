/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_exports: the exports that a server's MOUNT service lists (RFC 1813 appendix I, EXPORT).
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_EXPORTS_H
#define RNFS_NFSPROTO_V3_NFS3_EXPORTS_H

#include <sys/socket.h>

#include "nfsproto/wire/nfs_file.h"
#include "transport/err.h"
#include "transport/rpc/rpc.h"

#define NFS3_EXPORT_GROUPS 32 /* of an export; further ones are left out */

/* One export: an absolute path without NUL, and the n clients that may mount the export; none: all
 * may. The names come from the server, with any bytes, and are gone after the call. */
typedef void nfs3_export_fn(
	void *ctx, const struct nfs_name *path, const struct nfs_name *clients, unsigned n);

/* Asks the portmapper at the address for MOUNT, and MOUNT for its exports; TCP. Calls `each` for
 * one after the other, on another thread, before this function returns. 0, or -1 with *e set
 * (UNREACHABLE, VERSION: MOUNT is not served; PROTOCOL). After an error `each` may have got only
 * some exports. Blocks for 2 * ms at most. Costs two connections and two round trips. */
int nfs3_exports(const struct sockaddr *server, socklen_t len, struct mem_pool *pool, unsigned ms,
	nfs3_export_fn *each, void *ctx, struct err *e);

#endif
