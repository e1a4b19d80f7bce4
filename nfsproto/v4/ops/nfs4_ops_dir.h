/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_dir: the kinds of op about names and directories (nfs4_coder.h).
 *
 * Programs trust the names that a server sends to be names. A reply is refused here as a whole if
 * one of its names is empty, is "." or "..", or has a slash or a NUL.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_OPS_DIR_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_OPS_DIR_H

#include "nfsproto/v4/ops/nfs4_coder.h"

/* The COMPOUND ends here unless the current object is that of fh. */
void nfs4_put_is_file(struct nfs4_comp *k, const struct nfs_fh *fh);

#endif
