/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-deleg: the delegations of mean-nfs4. All is under mean_srv's lock.
 */
#ifndef RNFS_TESTS_MEAN_DELEG_H
#define RNFS_TESTS_MEAN_DELEG_H

#include <stdbool.h>

#include "nfsproto/wire/nfs4_xdr.h"

#define MEAN_DELEGS 5000

struct mean_delegs {
	/* how to answer an OPEN that asks for a delegation, or reclaims one */
	bool gives, gives_back;
	bool once;     /* only one is given */
	bool recalled; /* each delegation is recalled at once */
	/* the type for an OPEN that wants a read delegation; 0: a read delegation */
	enum open_delegation_type4 type;
	/* record of the calls: */
	unsigned held, claims, reclaims, revoked, freed, refused;
	uint32_t last; /* the number of the last delegation given */
	struct {
		bool used, revoked;
		uint32_t no;
		struct nfs_fh fh;
	} of[MEAN_DELEGS];
};

/* The stateid of number no. */
struct nfs4_stateid mean_deleg_id(uint32_t no);
/* OPEN of fh. Returns NFS4_OK, with the delegation in *given, or the error. */
uint32_t mean_deleg_open(struct mean_delegs *d, const struct nfs4_open_args *a,
	const struct nfs_fh *fh, struct nfs4_delegation *given);
/* Returns NFS4_OK, or the reason why id does not count. */
uint32_t mean_deleg_judge(const struct mean_delegs *d, const struct nfs4_stateid *id);
uint32_t mean_deleg_return(struct mean_delegs *d, const struct nfs4_stateid *id);
uint32_t mean_deleg_free(struct mean_delegs *d, const struct nfs4_stateid *id);
bool mean_deleg_is(const struct nfs4_stateid *id);
/* mean_deleg_revoke(): the server revokes all delegations. mean_deleg_forget(): the server
 * restarts. */
void mean_deleg_revoke(struct mean_delegs *d);
void mean_deleg_forget(struct mean_delegs *d);

#endif
