/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_client_upcalls: the upcalls of a mount for its server (struct nfs4_upcalls).
 */
#ifndef RNFS_NFSPROTO_V4_NFS4_CLIENT_UPCALLS_H
#define RNFS_NFSPROTO_V4_NFS4_CLIENT_UPCALLS_H

#include "nfsproto/v4/mount/nfs4_mount.h"

extern const struct nfs4_upcalls nfs4_client_upcalls;

#endif
