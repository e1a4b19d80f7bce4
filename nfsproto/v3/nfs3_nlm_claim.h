/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_claim: are the locks still held after a connection was lost? For the thread of
 * nfs3_nlm.h.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_CLAIM_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_CLAIM_H

#include "nfsproto/v3/nfs3_nlm_state.h"

/* Claims everything that is held again. False: not all could be decided now. */
bool nfs3_nlm_claim_all(struct nfs3_client *c);

#endif
