/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_client: the life of a mount with NFSv4.1 or later, and its ops.
 */
#ifndef RNFS_NFSPROTO_V4_NFS4_CLIENT_H
#define RNFS_NFSPROTO_V4_NFS4_CLIENT_H

#include "nfsproto/v4/mount/nfs4_mount.h"

/* Mounts p->export of srv. srv has been started, and may have other mounts. The client has a
 * reference of its own. NULL with *e set, as nfs_client_new(). Blocks. */
struct nfs_client *nfs4_mount_on(
	struct nfs4_server *srv, const struct nfs_mount_params *p, struct err *e);

#endif
