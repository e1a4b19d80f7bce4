/* SPDX-License-Identifier: GPL-2.0-or-later
 * SPDX-FileCopyrightText: The rnfs authors
 *
 * mean-lock: the byte-range locks of mean-nfs4's one file. A local process of the server may hold
 * ranges too. mean_srv's lock guards all of this.
 */
#ifndef RNFS_TESTS_MEAN_LOCK_H
#define RNFS_TESTS_MEAN_LOCK_H

#include "nfsproto/common/lock_ranges.h"
#include "nfsproto/wire/nfs4_xdr.h"

#define MEAN_LOCKS 320

struct mean_locks {
	struct lock_ranges others; /* conflict with all clients */
	bool reclaiming;	   /* the server takes reclaims */
	struct {
		bool used;
		uint32_t id, open;
		uint8_t owner[8];
		struct lock_ranges ranges;
	} of[MEAN_LOCKS];
	uint32_t next_id;
	/* record of the calls: */
	unsigned granted, denied, reclaims, new_owners;
	uint32_t last_type; /* of the last LOCK */
	uint8_t last_owner[8];
};

/* Each puts the whole result and returns the status. open: the number of the open that the stateid
 * names, or 0 if there is none. */
uint32_t mean_lock(
	struct mean_locks *l, struct xdr_out *x, const struct nfs4_lock_args *a, uint32_t open);
uint32_t mean_locku(struct mean_locks *l, struct xdr_out *x, const struct nfs4_locku_args *a);
uint32_t mean_lockt(struct mean_locks *l, struct xdr_out *x, const struct nfs4_lockt_args *a);
uint32_t mean_lock_free(struct mean_locks *l, struct xdr_out *x, const struct nfs4_stateid *id);
bool mean_lock_known(const struct mean_locks *l, const struct nfs4_stateid *id);
/* The open is closed; open 0: the server restarts. */
void mean_lock_drop(struct mean_locks *l, uint32_t open);
/* How many ranges clients hold, and of how many lock-owners. */
unsigned mean_lock_held(const struct mean_locks *l);
unsigned mean_lock_owners(const struct mean_locks *l);
/* Does a client hold exactly this range? */
bool mean_lock_has(const struct mean_locks *l, uint64_t first, uint64_t last, bool write);

#endif
