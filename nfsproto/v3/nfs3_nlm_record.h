/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs3_nlm_record: the locks of an NFSv3 mount for a successor (nfs3_record.h).
 *
 * The successor speaks with the name, the state number and the owners' numbers of the former
 * daemon, so for the server nothing has changed. It inherits the mount's file (nfs3_nsm.h) as an
 * open descriptor: so no other mount can take the file, and nobody frees the locks as those of a
 * killed daemon. The server may have restarted meanwhile, so the successor claims all locks before
 * I/O relies on them (nfs3_nlm_claim.h).
 */
#ifndef RNFS_NFSPROTO_V3_NFS3_NLM_RECORD_H
#define RNFS_NFSPROTO_V3_NFS3_NLM_RECORD_H

#include "nfsproto/v3/nfs3_nlm_state.h"
#include "transport/rpc/xdr.h"

/* NULL: no lock request and no work of the thread is under way. Otherwise the work, for "waiting
 * for %s". */
const char *nfs3_nlm_settle(struct nfs3_nlm *n) EXCLUDES(n->lock);
/* The locks are settled, and each open file in the record has its number, from 1. The descriptor of
 * the mount's file stays open at an exec from now on, until nfs3_nlm_settle(). */
void nfs3_nlm_put_record(struct nfs3_nlm *n, struct xdr_out *x) EXCLUDES(n->lock);

/* The name, the number and a copy of the descriptor: a later attempt of the successor finds the
 * descriptor again. x becomes bad if the descriptor is not that of such a file. */
void nfs3_nlm_get_name(struct nfs3_nsm *s, struct xdr_in *x);
/* The attempt has failed: n leaves the file as it is. */
void nfs3_nlm_let_go(struct nfs3_nlm *n);
/* The rest. c->nlm has been made with that name, and has no locks; open: the nopens open files of
 * the record. On failure (x is bad, or -ENOMEM is returned) there may be some of the locks. */
int nfs3_nlm_get_record(
	struct nfs3_client *c, struct nfs_open *const open[], uint32_t nopens, struct xdr_in *x);

#endif
