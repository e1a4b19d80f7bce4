/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_ops_lock: the kinds of op about locks (nfs4_coder.h). Model: nfs4_ops_lock.c.
 */
#ifndef RNFS_NFSPROTO_V4_OPS_NFS4_OPS_LOCK_H
#define RNFS_NFSPROTO_V4_OPS_NFS4_OPS_LOCK_H

#include "nfsproto/v4/ops/nfs4_coder.h"

NFS4_CODERS(op_lock);
NFS4_CODERS(op_locku);
NFS4_CODERS(op_lockt);
NFS4_CODERS(op_lock_free);
NFS4_CODERS(op_open_more);
NFS4_CODERS(op_relock);
NFS4_CODERS(op_deleg_lock);

#endif
