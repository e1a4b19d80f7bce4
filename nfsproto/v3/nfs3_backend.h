/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_backend: NFSv3 behind nfs_client (nfs_backend.h).
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_BACKEND_H
#define RNFS_NFSPROTO_V3_NFS3_BACKEND_H

#include "nfsproto/common/nfs_backend.h"

extern const struct nfs_backend nfs3_backend;

#endif
