/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_backend: NFSv4.1 and later behind nfs_client (nfs_backend.h).
 */
#ifndef RNFS_NFSPROTO_V4_NFS4_BACKEND_H
#define RNFS_NFSPROTO_V4_NFS4_BACKEND_H

#include "nfsproto/common/nfs_backend.h"

extern const struct nfs_backend nfs4_backend;

#endif
