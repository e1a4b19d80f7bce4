/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs_links: the news of several connections to one server (rpc_paths.h) as the news of one.
 *
 * The user of a mount hears that the connection is lost when the last of them is lost, and that the
 * connection is back when the first is back. In between the loss of each connection is
 * NFS_CONNECTION_MOVED. The owner's lock guards a struct nfs_links, and is held until the user has
 * been told, so that the news arrives in order.
 */
#ifndef RNFS_NFSPROTO_COMMON_NFS_LINKS_H
#define RNFS_NFSPROTO_COMMON_NFS_LINKS_H

#include "nfsproto/common/nfs_mount.h"
#include "nfsproto/common/nfs_op.h"

#define NFS_LARGE (32u << 10) /* an operation with that much data may use any connection */
/* The first attempt at a further connection takes no longer. A connection that is not there soon is
 * not worth a user's wait, and is made later (rpc_client_params.later). */
#define NFS_MORE_MS 3000u

struct nfs_links {
	unsigned n;    /* connections of the mount */
	unsigned down; /* connections that are lost, or have never been there */
};

/* One more connection, counted from before its start: the connection may be lost at any moment
 * after. later: the connection is down at first. */
static inline void nfs_links_add(struct nfs_links *l, bool later)
{
	l->n++;
	l->down += later;
}

/* A connection has ended, or never began. down: it was lost. */
static inline void nfs_links_drop(struct nfs_links *l, bool down)
{
	l->n--;
	l->down -= down;
}

/* A connection is lost. Returns the news for the user. */
static inline enum nfs_connection nfs_links_lost(struct nfs_links *l)
{
	return ++l->down < l->n ? NFS_CONNECTION_MOVED : NFS_CONNECTION_LOST;
}

/* A connection that was down is up. Is that news for the user? */
static inline bool nfs_links_back(struct nfs_links *l)
{
	return l->down-- == l->n;
}

/* Does op carry so much data that any connection may carry it (rpc_paths.h)? */
static inline bool nfs_links_large(const struct nfs_op *op)
{
	return (op->type == NFS_READ && op->u.read.to.len >= NFS_LARGE) ||
	       (op->type == NFS_WRITE && op->u.write.from.len >= NFS_LARGE);
}

#endif
