/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_left: locks at the server that no process here knows any more. For the thread of
 * nfs3_nlm.h.
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_LEFT_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_LEFT_H

#include "nfsproto/v3/nfs3_nlm_state.h"

/* Are there any? */
bool nfs3_nlm_has_left(const struct nfs3_nlm *n);
/* Has the server free the left locks. Undecided locks are tried again from n->left_ns on. */
void nfs3_nlm_free_left(struct nfs3_client *c);

#endif
