/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_claim: finds out whether locks are still held after a lost connection. For the thread of
 * nfs3_nlm.h.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_CLAIM_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_CLAIM_H

#include "nfsproto/v3/nfs3_nlm_state.h"

/* Claims all held locks again. False: some could not be decided now. */
bool nfs3_nlm_claim_all(struct nfs3_client *c);

#endif
