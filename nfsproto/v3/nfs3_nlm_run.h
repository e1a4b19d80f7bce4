/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_run: executes one lock request. For the thread of nfs3_nlm.h.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_RUN_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_RUN_H

#include "nfsproto/v3/nfs3_nlm_state.h"

/* Runs n's current op, until it ends or is queued again. */
void nfs3_nlm_run(struct nfs3_client *c, struct nfs_op *op);

#endif
