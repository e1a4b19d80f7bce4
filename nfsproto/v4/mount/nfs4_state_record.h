/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * nfs4_state_record: the opens and locks of a mount for a successor (nfs_record.h), with their
 * stateids and owners.
 *
 * A record has no delegations: their local opens and locks would have to go with them. A mount with
 * a ledger keeps its delegations, since their notes go to the successor (nfs4_deleg_note.h).
 */
#ifndef RNFS_NFSPROTO_V4_MOUNT_NFS4_STATE_RECORD_H
#define RNFS_NFSPROTO_V4_MOUNT_NFS4_STATE_RECORD_H

#include "nfsproto/common/nfs_record.h"
#include "nfsproto/v4/mount/nfs4_mount.h"

/* Without a ledger: begins to give all delegations back, and asks for none in the next second.
 * Looks at the opens and locks. NULL: no work is under way, and there are no delegations but noted
 * ones. Otherwise the work, for "waiting for %s". */
const char *nfs4_state_settle(struct nfs4_client *c);
/* The mount is settled. open: the n opens that have a user, in the user's order. Later opens in the
 * record have no user. */
void nfs4_state_put_record(
	struct nfs4_client *c, struct nfs_open *const open[], uint32_t n, struct xdr_out *x);
/* c has no opens yet. Fills open[0..n-1]. On failure (x is bad, or -ENOMEM is returned) c may have
 * some of the opens and locks. */
int nfs4_state_get_record(
	struct nfs4_client *c, struct nfs_open *open[], uint32_t n, struct xdr_in *x);

#endif
