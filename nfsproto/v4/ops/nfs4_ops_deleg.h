/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_deleg: the kinds of op about delegations (nfs4_coder.h).
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_OPS_DELEG_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_OPS_DELEG_H

#include "nfsproto/v4/ops/nfs4_coder.h"

NFS4_CODERS(op_delegreturn);
NFS4_CODERS(op_deleg_open);
NFS4_CODERS(op_redeleg);

#endif
